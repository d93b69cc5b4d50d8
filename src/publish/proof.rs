//! Proves later that what is published is what a receipt says.

use super::{PublishError, Receipt, digest, hash, verify};
use crate::api::ArtifactDetails;
use crate::git::Repository;

impl Receipt {
    /// What the receipt itself speaks against, a sentence each: it tells of no whole version, or its digest is not that
    /// of its files.
    pub fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        if !matches!(self.outcome.as_str(), "published" | "already-published") {
            found.push(format!(
                "the receipt is of a publish that ended as `{}`",
                self.outcome
            ));
        }
        let pairs: Vec<(&str, &str)> = self
            .files
            .iter()
            .map(|file| (file.path.as_str(), file.sha256.as_str()))
            .collect();
        let made = digest(&pairs);
        if made != self.digest {
            found.push(format!(
                "the receipt's digest is {}, that of its files {made}",
                self.digest
            ));
        }
        found
    }

    /// In what the published version differs from the receipt.
    pub fn against_details(&self, details: &ArtifactDetails) -> Vec<String> {
        let shared = self.shared_pipelines.iter();
        let pairs = shared.map(|shared| (shared.id.as_str(), shared.path.as_str()));
        verify::differences_from(details, &self.commit_hash, pairs)
    }

    /// In what the commit's files differ from the receipt; none if the repository does not have the commit.
    pub fn against_commit(&self, repository: &Repository) -> Result<Option<Vec<String>>, PublishError> {
        let is_full =
            self.commit_hash.len() == 40 && self.commit_hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !is_full || !repository.has_commit(&self.commit_hash) {
            return Ok(None);
        }
        let commit = repository.resolve(&self.commit_hash)?;
        let mut differences = Vec::new();
        for file in &self.files {
            let path = &file.path;
            match repository.find_file(&commit, path)? {
                None => differences.push(format!("`{path}` is not in the commit {}", commit.short())),
                Some(found) => {
                    let bytes = repository.blob_size(&found.blob)?;
                    let sha256 = hash::of(repository.open_blob(&found.blob, bytes)?, path)?;
                    if (bytes, &sha256) != (file.bytes, &file.sha256) {
                        differences.push(format!(
                            "`{path}` has other content in the commit {} than in the receipt",
                            commit.short()
                        ));
                    }
                }
            }
        }
        Ok(Some(differences))
    }
}
