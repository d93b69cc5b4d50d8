//! Content hashes, computed while a file is read for sending, so that no file is read twice.
//!
//! They also detect that a document on disk (a pipeline or the shared-pipelines file) changes between its check and its
//! upload, which its size alone would not show. Of any other file, only the size is checked.
//! After such a failure, the rest of the form, including its end, is not sent: the platform has nothing complete to
//! publish.

use super::PublishError;
use super::content_reader::{ContentHash, to_publish_error};
use super::plan::Plan;
use sha2::{Digest, Sha256};
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_base::text::to_hex;
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Returns the digest of files, given by path and SHA-256: `sha256:` and the SHA-256, in hex, of the lines of the files,
/// sorted by path. A line is the hash, two spaces, the path and a line feed. The command `sha256sum` writes these lines,
/// so the digest can be checked without this program.
pub fn compute_digest(files: &[(&str, &str)]) -> String {
    let mut sorted_files = files.to_vec();
    sorted_files.sort_unstable();
    let mut hasher = Sha256::new();
    for (path, sha256) in sorted_files {
        hasher.update(format!("{sha256}  {path}\n"));
    }
    format!("sha256:{}", to_hex(&hasher.finalize()))
}

/// Returns the SHA-256 of these bytes, in hex.
pub fn hash_bytes(content: &[u8]) -> String {
    to_hex(&Sha256::digest(content))
}

/// The hashes of the plan's files, filled while the files are read.
#[derive(Clone)]
pub(super) struct FileHashes(Arc<Mutex<Vec<Option<String>>>>);

impl FileHashes {
    /// Creates the table for this number of files, without any hash yet.
    pub(super) fn new(file_count: usize) -> Self {
        Self(Arc::new(Mutex::new(vec![None; file_count])))
    }

    /// Stores the hash of the file with this index. An index beyond the files is ignored.
    pub(super) fn record(&self, file_index: usize, hash: &[u8]) {
        let mut hashes = lock_mutex(&self.0);
        if let Some(recorded_hash) = hashes.get_mut(file_index) {
            *recorded_hash = Some(to_hex(hash));
        }
    }

    /// Returns the hashes in the order of the files; `None` for a file that was not read yet.
    pub(super) fn to_vec(&self) -> Vec<Option<String>> {
        lock_mutex(&self.0).clone()
    }

    /// Returns the hashes of all files of the plan. Reads the files that the upload did not read completely.
    pub(super) fn collect_all_hashes(&self, plan: &Plan) -> Result<Vec<String>, PublishError> {
        let mut hashes = self.to_vec();
        for (hash, file) in hashes.iter_mut().zip(&plan.files) {
            if hash.is_none() {
                let content = plan.reader.open_content(&file.content, file.bytes)?;
                *hash = Some(hash_reader(content, &file.path)?);
            }
        }
        Ok(hashes.into_iter().flatten().collect())
    }
}

impl Plan {
    /// Returns the SHA-256 in hex of each file, in the order of [`Plan::files`]; reads them all.
    pub fn hash_all_files(&self) -> Result<Vec<String>, PublishError> {
        FileHashes::new(self.files.len()).collect_all_hashes(self)
    }

    /// Returns the digest of the plan's files with these hashes.
    pub fn compute_digest(&self, hashes: &[String]) -> String {
        let files: Vec<(&str, &str)> = self
            .files
            .iter()
            .zip(hashes)
            .map(|(file, hash)| (file.path.as_str(), hash.as_str()))
            .collect();
        compute_digest(&files)
    }
}

/// Reads the content to its end, and returns its SHA-256 in hex. `path` names the file in errors.
pub(super) fn hash_reader(mut content: impl Read, path: &str) -> Result<String, PublishError> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        match content.read(&mut buffer) {
            Ok(0) => return Ok(to_hex(&hasher.finalize())),
            Ok(size) => hasher.update(&buffer[..size]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(to_publish_error(error, Path::new(path))),
        }
    }
}

/// A reader that hashes its content. Records the hash when the complete length has been read, and fails at the end if
/// the content differs from the checked content.
pub(super) struct HashingReader {
    content: Box<dyn Read + Send>,
    hasher: Sha256,
    /// The hash that the content must have.
    checked_hash: Option<ContentHash>,
    recorder: Option<HashRecorder>,
}

/// Records the hash of one file.
pub(super) struct HashRecorder {
    pub hashes: FileHashes,
    pub file_index: usize,
    /// The number of bytes that were not yet read.
    pub remaining_bytes: u64,
}

impl HashingReader {
    /// Creates a reader that hashes what it reads. At the end of the content, it passes the hash to `recorder`, and
    /// reading fails if the hash is not `checked_hash`.
    pub(super) fn new(
        content: Box<dyn Read + Send>,
        checked_hash: Option<ContentHash>,
        recorder: Option<HashRecorder>,
    ) -> Self {
        let reader = Self {
            content,
            hasher: Sha256::new(),
            checked_hash,
            recorder,
        };
        // An empty file is complete before the first read.
        reader.record_if_complete();
        reader
    }

    /// Passes the hash of the file to the recorder if the whole content was read.
    fn record_if_complete(&self) {
        if let Some(recorder) = &self.recorder
            && recorder.remaining_bytes == 0
        {
            let hash = self.hasher.clone().finalize();
            recorder.hashes.record(recorder.file_index, &hash);
        }
    }
}

impl Read for HashingReader {
    /// Reads from the content and adds the bytes to the hash. At the end of the content, fails if the hash is not that
    /// of the checked file.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.content.read(buffer)?;
        if size > 0 {
            self.hasher.update(buffer.get(..size).unwrap_or_default());
            if let Some(recorder) = &mut self.recorder {
                recorder.remaining_bytes = recorder.remaining_bytes.saturating_sub(size as u64);
            }
            self.record_if_complete();
        } else if !buffer.is_empty()
            && let Some(checked_hash) = self.checked_hash
            && self.hasher.clone().finalize().as_slice() != checked_hash
        {
            return Err(io::Error::other("the file changed after it was checked"));
        }
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn hash_of_partly_read_file(length: usize, read: usize) -> Option<String> {
        let content = vec![b'a'; length];
        let hashes = FileHashes::new(1);
        let mut content = HashingReader::new(
            Box::new(Cursor::new(content)),
            None,
            Some(HashRecorder {
                hashes: hashes.clone(),
                file_index: 0,
                remaining_bytes: length as u64,
            }),
        );
        io::copy(&mut content.by_ref().take(read as u64), &mut io::sink()).unwrap();
        hashes.to_vec().remove(0)
    }

    #[test]
    fn file_is_hashed_while_it_is_read() {
        assert_eq!(hash_of_partly_read_file(0, 0).unwrap(), EMPTY);
        assert_eq!(
            hash_of_partly_read_file(3, 3).unwrap(),
            "9834876dcfb05cb167a5c24953eba58c4ac89b1adf57f28f2f9d09af107ee8f0"
        );
    }

    #[test]
    fn file_not_read_to_its_end_has_no_hash() {
        assert_eq!(hash_of_partly_read_file(3, 2), None);
    }

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn hash_of_bytes_is_their_sha_256() {
        assert_eq!(hash_bytes(b"abc"), ABC);
        assert_eq!(hash_bytes(b""), EMPTY);
    }

    #[test]
    fn digest_does_not_depend_on_order() {
        let forward = compute_digest(&[("a", ABC), ("b", EMPTY)]);
        assert_eq!(forward, compute_digest(&[("b", EMPTY), ("a", ABC)]));
        assert_ne!(forward, compute_digest(&[("a", EMPTY), ("b", ABC)]));
        assert_eq!(compute_digest(&[]), format!("sha256:{EMPTY}"));
    }
}
