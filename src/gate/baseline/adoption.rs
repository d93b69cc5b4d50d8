//! Finds the commit by which a repository adopted `new-only`: the findings of that commit are known until a first
//! version is published.

use crate::job::policy::{self, MAX_FILE_BYTES, NamedText};
use crate::job::settings;
use crate::workspace::Workspace;
use sluicegate_git::{BlobId, CommitId, FileContent, GitError};
use std::collections::HashMap;

/// Result of the search for the adoption in the history of the default branch.
pub(crate) enum Adoption {
    /// The earliest commit whose configuration file has `new-only`.
    AtCommit(CommitId),
    /// No commit has `new-only`; the job sets it by a flag or variable.
    NotInHistory,
    /// The clone does not have the full history.
    Unknown,
}

impl Workspace<'_> {
    /// Searches the first-parent history of `head` for the earliest commit whose configuration file sets `new-only`:
    /// its findings are known until a first version is published. Returns `Unknown` if the clone lacks a part of the
    /// history, because an earlier commit may be in that part.
    pub(crate) fn find_new_only_adoption(&self, head: &CommitId) -> Result<Adoption, GitError> {
        let Some(path) = &self.config_file else {
            return Ok(Adoption::NotInHistory);
        };
        let mut has_new_only_by_blob: HashMap<BlobId, bool> = HashMap::new();
        let mut adoption_commit = None;
        // The walk begins at `head`, so the last commit that is set is the earliest one. The closure returns true to
        // continue with the next commit.
        let is_complete = self.repo.walk_first_parents(head, |commit| {
            let resolved_path = policy::follow_links(&self.repo, &self.repo.snapshot(commit.clone()), path)?;
            let Some(FileContent::Blob(blob)) = resolved_path.file.map(|file| file.content) else {
                return Ok(true);
            };
            let has_new_only = match has_new_only_by_blob.get(&blob) {
                Some(has_new_only) => *has_new_only,
                None => self.has_new_only(&blob)?,
            };
            has_new_only_by_blob.insert(blob, has_new_only);
            if has_new_only {
                adoption_commit = Some(commit.clone());
            }
            Ok(true)
        })?;
        Ok(match adoption_commit {
            _ if !is_complete => Adoption::Unknown,
            Some(commit) => Adoption::AtCommit(commit),
            None => Adoption::NotInHistory,
        })
    }

    /// Returns whether this version of the configuration file sets `new-only`. A file that is too large or that cannot
    /// be parsed does not. Fails if the version cannot be read, because it may be the adoption.
    fn has_new_only(&self, blob: &BlobId) -> Result<bool, GitError> {
        let bytes = self.repo.read_blob(blob, MAX_FILE_BYTES)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.is_some_and(|text| {
            settings::sets_new_only(&NamedText {
                // The name appears only in error messages, which are not shown here.
                name: String::new(),
                text,
            })
        }))
    }
}
