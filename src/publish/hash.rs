//! Content hashes, computed while a file is read for sending, so that no file is read twice.

use super::PublishError;
use super::plan::Plan;
use sha2::{Digest, Sha256};
use sluicegate_base::text::hex;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Returns the digest of files given as (path, SHA-256 in hex): `sha256:` and the SHA-256, in hex, of a line
/// `<hash>  <path>` for each file, sorted by path. It is the hash of the output of `sha256sum`.
pub fn digest(files: &[(&str, &str)]) -> String {
    let mut sorted = files.to_vec();
    sorted.sort_unstable();
    let mut hasher = Sha256::new();
    for (path, sha256) in sorted {
        hasher.update(format!("{sha256}  {path}\n"));
    }
    format!("sha256:{}", hex(&hasher.finalize()))
}

/// Returns the SHA-256 of a content, in hex.
pub fn content_hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// The hashes of the plan's files, filled while the files are read.
#[derive(Clone)]
pub(super) struct Hashes(Arc<Mutex<Vec<Option<String>>>>);

impl Hashes {
    pub(super) fn new(files: usize) -> Self {
        Self(Arc::new(Mutex::new(vec![None; files])))
    }

    pub(super) fn set(&self, file: usize, hash: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = all.get_mut(file) {
            *slot = Some(hex(hash));
        }
    }

    /// Returns the hashes so far, in the order of the files.
    pub(super) fn known(&self) -> Vec<Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns all hashes of the plan's files; reads the files that were not read completely before.
    pub(super) fn complete(&self, plan: &Plan) -> Result<Vec<String>, PublishError> {
        let mut hashes = self.known();
        for (hash, file) in hashes.iter_mut().zip(&plan.files) {
            if hash.is_none() {
                let content = plan.contents.open(&file.content, file.bytes)?;
                *hash = Some(of(content, &file.path)?);
            }
        }
        Ok(hashes.into_iter().flatten().collect())
    }
}

impl Plan {
    /// Returns the SHA-256 in hex of each file, in the order of [`Plan::files`]; reads them all.
    pub fn hash_all(&self) -> Result<Vec<String>, PublishError> {
        Hashes::new(self.files.len()).complete(self)
    }

    /// Returns the digest of the plan's files, given their hashes.
    pub fn digest(&self, hashes: &[String]) -> String {
        let pairs = self
            .files
            .iter()
            .zip(hashes)
            .map(|(file, hash)| (file.path.as_str(), hash.as_str()));
        digest(&pairs.collect::<Vec<_>>())
    }
}

/// Returns the SHA-256 in hex of a content; `path` is for errors.
pub(super) fn of(mut content: impl Read, path: &str) -> Result<String, PublishError> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(size) => hasher.update(&buffer[..size]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(PublishError::Io {
                    path: Path::new(path).to_owned(),
                    source,
                });
            }
        }
    }
}

/// A reader that hashes its content and stores the hash once the complete length was read.
pub(super) struct Hashing {
    content: Box<dyn Read + Send>,
    hasher: Sha256,
    missing: u64,
    file: usize,
    hashes: Hashes,
}

impl Hashing {
    pub(super) fn new(content: Box<dyn Read + Send>, file: usize, length: u64, hashes: Hashes) -> Self {
        let hashing = Self {
            content,
            hasher: Sha256::new(),
            missing: length,
            file,
            hashes,
        };
        hashing.keep_if_whole();
        hashing
    }

    fn keep_if_whole(&self) {
        if self.missing == 0 {
            self.hashes.set(self.file, &self.hasher.clone().finalize());
        }
    }
}

impl Read for Hashing {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        let size = self.content.read(space)?;
        if size > 0 {
            self.hasher.update(space.get(..size).unwrap_or_default());
            self.missing = self.missing.saturating_sub(size as u64);
            self.keep_if_whole();
        }
        Ok(size)
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
        hashes.known().remove(0)
    }

    #[test]
    fn file_is_hashed_while_it_is_read() {
        assert_eq!(hashed(0, 0).unwrap(), EMPTY);
        assert_eq!(
            hashed(3, 3).unwrap(),
            "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"
        );
    }

    #[test]
    fn file_that_was_not_read_to_its_end_has_no_hash() {
        assert_eq!(hashed(3, 2), None);
    }

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn digest_does_not_depend_on_order() {
        let forward = digest(&[("a", ABC), ("b", EMPTY)]);
        assert_eq!(forward, digest(&[("b", EMPTY), ("a", ABC)]));
        assert_ne!(forward, digest(&[("a", EMPTY), ("b", ABC)]));
        assert_eq!(digest(&[]), format!("sha256:{EMPTY}"));
    }
}
