//! The repository: its location, its head, and its commits.

use super::{
    CommitId, GitError,
    id::is_full_id,
    kept::{KeptObjects, KeptTrees},
    opened::Opened,
    program::Program,
};
use git2::{Commit, ErrorCode, Oid};
use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

/// An opened repository. It can be sent to another thread, but not shared between threads.
pub struct Repository {
    pub(super) library: git2::Repository,
    pub(super) shallow: HashSet<Oid>,
    pub(super) partial: bool,
    pub(super) program: Program,
    root: PathBuf,
    /// The configuration file of this clone.
    pub(super) configuration: PathBuf,
    bare: bool,
    plain: bool,
    /// Whether renames of a path are found by its file name alone.
    pub(super) paired_by_name: fn(&str) -> bool,
    pub(super) kept_blobs: RefCell<KeptObjects>,
    pub(super) kept_trees: RefCell<KeptTrees>,
    /// Dropped with the repository, because `library` reads it.
    _stand_in: Option<tempfile::TempDir>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub commit: CommitId,
    /// The branch, without `refs/heads/`; `None` if the head is detached.
    pub branch: Option<String>,
}

impl Repository {
    pub(super) fn from_parts(opened: Opened, shallow: HashSet<Oid>, partial: bool) -> Self {
        let remotes = opened.library.remotes();
        let remotes = remotes
            .iter()
            .flat_map(|names| names.iter().flatten().flatten().map(str::to_owned));
        let remotes = remotes.collect();
        Self {
            shallow,
            partial,
            program: Program::new(opened.git_dir, partial, opened.foreign, remotes),
            configuration: opened.common_dir.join("config"),
            root: opened.root,
            bare: opened.bare,
            plain: opened.plain,
            paired_by_name: |_| false,
            kept_blobs: RefCell::default(),
            kept_trees: RefCell::default(),
            library: opened.library,
            _stand_in: opened.stand_in,
        }
    }

    /// Turns off the cache of blobs: for a reader that reads each blob once, copies would only take memory.
    #[must_use]
    pub fn without_cache(mut self) -> Self {
        self.kept_blobs = RefCell::new(KeptObjects::none());
        self
    }

    /// Finds renames of these paths also by their file name alone: a file that moved and changed completely is the same
    /// file if no other file of that name came or went.
    #[must_use]
    pub fn with_renames_by_name(mut self, is_paired: fn(&str) -> bool) -> Self {
        self.paired_by_name = is_paired;
        self
    }

    /// Returns the root of the working tree, or the git directory of a bare repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns whether the repository has no working tree.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// Returns whether this is a directory that is in no git repository.
    pub const fn is_plain(&self) -> bool {
        self.plain
    }

    /// Returns whether the clone omits part of the history.
    pub fn is_shallow(&self) -> bool {
        !self.shallow.is_empty()
    }

    /// Returns the checked-out commit and branch, or [`GitError::NoCommit`] if the branch has no commit.
    pub fn head(&self) -> Result<Head, GitError> {
        let head = self.library.head().map_err(|error| match error.code() {
            ErrorCode::UnbornBranch | ErrorCode::NotFound => GitError::NoCommit {
                root: self.root.clone(),
            },
            _ => GitError::library("read HEAD")(error),
        })?;
        let commit = head
            .peel_to_commit()
            .map_err(GitError::library("read the commit of HEAD"))?;
        let name = head.name().ok().and_then(|name| name.strip_prefix("refs/heads/"));
        Ok(Head {
            commit: CommitId::new(commit.id()),
            branch: name.map(str::to_owned),
        })
    }

    /// Returns whether the clone has the commit with this full id.
    pub fn has_commit(&self, id: &str) -> bool {
        self.commit_with_id(id).is_some()
    }

    /// Returns the commit with this full id if the clone has it.
    pub fn commit_with_id(&self, id: &str) -> Option<CommitId> {
        let oid = Oid::from_str(id).ok().filter(|_| is_full_id(id))?;
        let commit = self.library.find_commit(oid).ok()?;
        Some(CommitId::new(commit.id()))
    }

    /// Returns the committer's time of the commit.
    pub fn commit_time(&self, commit: &CommitId) -> Result<jiff::Timestamp, GitError> {
        let seconds = self.commit(commit)?.time().seconds();
        jiff::Timestamp::from_second(seconds).map_err(|_| GitError::BadTree {
            id: commit.to_string(),
            why: "the commit's time is out of range",
        })
    }

    pub(super) fn commit(&self, id: &CommitId) -> Result<Commit<'_>, GitError> {
        let found = id.oid().and_then(|oid| self.library.find_commit(oid));
        found.map_err(|error| match error.code() {
            ErrorCode::NotFound => self.missing("commit", id),
            _ => GitError::library("read a commit")(error),
        })
    }

    pub(super) fn missing(&self, kind: &'static str, id: &dyn fmt::Display) -> GitError {
        GitError::MissingObject {
            kind,
            id: id.to_string(),
            partial: self.partial,
        }
    }
}
