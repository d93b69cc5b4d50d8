//! Content hashes: taken while a file is read for sending, so that nothing is read twice.

use super::PublishError;
use super::plan::Plan;
use crate::text::hex;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sha2::{Digest, Sha256};
use std::io::{self, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The digest of files given as (path, SHA-256 in hex): `sha256:` and the SHA-256, in hex, of one line
/// `<hash>  <path>` for each file, sorted by path. It is what `sha256sum` prints, hashed once more.
pub fn digest(files: &[(&str, &str)]) -> String {
    let mut sorted = files.to_vec();
    sorted.sort_unstable();
    let mut hasher = Sha256::new();
    for (path, sha256) in sorted {
        hasher.update(format!("{sha256}  {path}\n"));
    }
    format!("sha256:{}", hex(&hasher.finalize()))
}

/// The SHA-256 of a content, in hex.
pub fn content_hash(content: &[u8]) -> String {
    hex(&Sha256::digest(content))
}

/// The hashes of the plan's files, filled as they are read.
#[derive(Clone)]
pub(super) struct Hashes(Arc<Mutex<Vec<Option<String>>>>);

impl Hashes {
    pub fn new(files: usize) -> Self {
        Self(Arc::new(Mutex::new(vec![None; files])))
    }

    pub fn set(&self, file: usize, hash: &[u8]) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = all.get_mut(file) {
            *slot = Some(hex(hash));
        }
    }

    /// The hashes so far, in the order of the files.
    pub fn known(&self) -> Vec<Option<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All hashes of the plan's files; those of files that were not read to their end are made now.
    pub fn complete(&self, plan: &Plan) -> Result<Vec<String>, PublishError> {
        let mut hashes = self.known();
        let files = plan.files.iter().enumerate();
        let missing: Vec<_> = files.filter(|(at, _)| hashes.get(*at) == Some(&None)).collect();
        let order = plan
            .contents
            .reading_order(missing.iter().map(|(_, file)| &file.content));
        let made = order
            .into_par_iter()
            .filter_map(|place| missing.get(place))
            .map(|(at, file)| {
                Ok((
                    *at,
                    of(plan.contents.open(&file.content, file.bytes)?, &file.path)?,
                ))
            })
            .collect::<Result<Vec<_>, PublishError>>()?;
        for (at, hash) in made {
            hashes[at] = Some(hash);
        }
        Ok(hashes.into_iter().flatten().collect())
    }
}

impl Plan {
    /// The SHA-256 in hex of each file, in the order of [`Plan::files`]; reads them all.
    pub fn hash_all(&self) -> Result<Vec<String>, PublishError> {
        Hashes::new(self.files.len()).complete(self)
    }

    /// The digest of the plan's files with these hashes.
    pub fn digest(&self, hashes: &[String]) -> String {
        let pairs = self
            .files
            .iter()
            .zip(hashes)
            .map(|(file, hash)| (file.path.as_str(), hash.as_str()));
        digest(&pairs.collect::<Vec<_>>())
    }
}

/// The SHA-256 in hex of a content; `path` names it in an error.
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

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn the_digest_does_not_depend_on_the_order() {
        let forward = digest(&[("a", ABC), ("b", EMPTY)]);
        assert_eq!(forward, digest(&[("b", EMPTY), ("a", ABC)]));
        assert_ne!(forward, digest(&[("a", EMPTY), ("b", ABC)]));
        assert_eq!(digest(&[]), format!("sha256:{EMPTY}"));
    }
}
