//! A content that is hashed while it is read.
//!
//! A large file is hashed by a thread of its own, so that the reader, who feeds the upload, does not wait for it.

use super::hash::Hashes;
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{Builder, JoinHandle};

/// Files from this size on are hashed by a thread of their own, in bytes: less is done sooner than a thread starts.
const LARGE: u64 = 1024 * 1024;
/// How many pieces may wait for that thread.
const WAITING: usize = 8;

/// Hashes what passes through, and keeps the hash once the whole length has.
pub(super) struct Hashing {
    content: Box<dyn Read + Send>,
    hasher: Hasher,
    missing: u64,
}

enum Hasher {
    Here(HashedFile),
    Apart(Worker),
}

impl Hashing {
    pub fn new(content: Box<dyn Read + Send>, file: usize, length: u64, hashes: Hashes) -> Self {
        let file = HashedFile {
            hasher: Sha256::new(),
            missing: length,
            index: file,
            hashes,
        };
        Self {
            content,
            hasher: Hasher::new(file, length),
            missing: length,
        }
    }
}

impl Read for Hashing {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let size = self.content.read(space)?;
        if size > 0 && self.missing > 0 {
            self.missing = self.missing.saturating_sub(size as u64);
            match &mut self.hasher {
                Hasher::Here(file) => file.update(&space[..size]),
                Hasher::Apart(worker) => worker.update(&space[..size]),
            }
        }
        Ok(size)
    }
}

impl Hasher {
    fn new(mut file: HashedFile, length: u64) -> Self {
        if length == 0 {
            file.update(&[]);
        }
        if length < LARGE {
            return Self::Here(file);
        }
        let copy = HashedFile {
            hasher: Sha256::new(),
            hashes: file.hashes.clone(),
            ..file
        };
        Worker::start(copy).map_or(Self::Here(file), Self::Apart)
    }
}

/// The hash of one file, as far as it has come.
struct HashedFile {
    hasher: Sha256,
    missing: u64,
    index: usize,
    hashes: Hashes,
}

impl HashedFile {
    fn update(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.missing = self.missing.saturating_sub(piece.len() as u64);
        if self.missing == 0 {
            self.hashes.set(self.index, &self.hasher.finalize_reset());
        }
    }
}

/// A thread that hashes copies of the pieces. It is waited for when the reader is dropped, so that the hash is there.
struct Worker {
    pieces: Option<SyncSender<Vec<u8>>>,
    used: Receiver<Vec<u8>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    fn start(mut file: HashedFile) -> Option<Self> {
        let (pieces, waiting) = mpsc::sync_channel::<Vec<u8>>(WAITING);
        let (recycle, used) = mpsc::channel();
        let hash = move || {
            for piece in waiting {
                file.update(&piece);
                let _ = recycle.send(piece);
            }
        };
        Some(Self {
            pieces: Some(pieces),
            used,
            thread: Some(Builder::new().name("hash".to_owned()).spawn(hash).ok()?),
        })
    }

    fn update(&self, piece: &[u8]) {
        let mut copy = self.used.try_recv().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(piece);
        // The thread ends only after this sender does.
        let _ = self.pieces.as_ref().map(|pieces| pieces.send(copy));
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.pieces = None;
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn hashed(length: usize, read: usize) -> Option<String> {
        let content = vec![b'a'; length];
        let hashes = Hashes::new(1);
        let mut content = Hashing::new(Box::new(Cursor::new(content)), 0, length as u64, hashes.clone());
        io::copy(&mut content.by_ref().take(read as u64), &mut io::sink()).unwrap();
        drop(content);
        hashes.known().remove(0)
    }

    #[test]
    fn a_file_is_hashed_while_it_is_read_whatever_its_size() {
        assert_eq!(
            hashed(0, 0).unwrap(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(
            hashed(3, 3).unwrap(),
            "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"
        );
        assert_eq!(
            hashed(1_500_000, 1_500_000).unwrap(),
            "f30207a92765493dcdd80a5a2b541b3f67073c413676ab523b30c4feb12fac90"
        );
    }

    #[test]
    fn a_file_that_was_not_read_to_its_end_has_no_hash() {
        assert_eq!(hashed(3, 2), None);
        assert_eq!(hashed(1_500_000, 1_499_999), None);
    }
}
