//! The repository: its location, its head, and its commits.

use super::{
    CommitId, GitError,
    git_program::GitProgram,
    id::is_full_id,
    loose_objects::LooseObjects,
    object_cache::{ObjectCache, TreeCache},
    opened_repository::OpenedRepository,
    url_replacement::UrlReplacement,
};
use git2::{Commit, ErrorCode, Oid};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};

/// An opened repository. It can be sent to another thread, but not shared between threads.
pub struct Repository {
    pub(super) library: git2::Repository,
    pub(super) shallow: HashSet<Oid>,
    pub(super) partial: bool,
    pub(super) program: GitProgram,
    root: PathBuf,
    /// The directory with the files that all working trees of this clone share.
    pub(super) common_dir: PathBuf,
    /// Recognizes the path of a document.
    pub(super) is_document: fn(&str) -> bool,
    /// The documents that were listed or compared in a partial clone, and will probably be read.
    pub(super) expected_blobs: RefCell<BTreeSet<Oid>>,
    /// True once a search for renames did not compare all files, because there were too many.
    pub(super) has_limited_renames: Cell<bool>,
    bare: bool,
    is_plain_directory: bool,
    pub(super) blob_cache: RefCell<ObjectCache>,
    pub(super) tree_cache: RefCell<TreeCache>,
    pub(super) loose_objects: LooseObjects,
    /// The commits whose content matches their id, and so does that of their ancestors.
    pub(super) verified_commits: RefCell<HashSet<Oid>>,
    /// The temporary git directory that `library` reads and writes in place of the real one, or of its objects; `None`
    /// if it uses the real one. Dropped with the repository.
    stand_in: Option<tempfile::TempDir>,
    /// The files with the settings of git's environment that `library` reads. Deleted with the repository.
    pub(super) settings_dir: Option<tempfile::TempDir>,
    /// The replacements of URLs in the settings of git's environment.
    pub(super) url_replacements: Vec<UrlReplacement>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub commit: CommitId,
    /// The branch, without `refs/heads/`; `None` if the head is detached.
    pub branch: Option<String>,
}

/// Returns the remote that has the blobs that a partial clone omits: the one that git marked as the promisor, otherwise
/// `origin` or the first remote. Returns an empty name without a remote.
fn find_promisor_remote(opened_repository: &OpenedRepository) -> String {
    let remotes: Vec<String> = opened_repository
        .library
        .remotes()
        .iter()
        .flat_map(|names| names.iter().flatten().flatten().map(str::to_owned))
        .collect();
    let config = git2::Config::open(&opened_repository.common_dir.join("config")).ok();
    let mut promisors = remotes.clone();
    promisors.retain(|name| {
        let setting = format!("remote.{name}.promisor");
        config
            .as_ref()
            .is_some_and(|config| config.get_bool(&setting).unwrap_or(false))
    });
    // Git also marks a remote from which a filtered fetch came once, so `origin` is preferred.
    let candidates = if promisors.is_empty() {
        &remotes
    } else {
        &promisors
    };
    let usual_remote = candidates.iter().find(|name| *name == "origin");
    usual_remote.or(candidates.first()).cloned().unwrap_or_default()
}

impl Repository {
    /// Creates the repository from what was opened. `shallow` contains the commits whose parents the clone omits;
    /// `is_partial` says that the clone omits blobs.
    pub(super) fn from_opened(
        opened_repository: OpenedRepository,
        shallow: HashSet<Oid>,
        is_partial: bool,
    ) -> Self {
        let promisor_remote = find_promisor_remote(&opened_repository);
        Self {
            shallow,
            partial: is_partial,
            program: GitProgram::new(
                opened_repository.git_dir,
                is_partial,
                opened_repository.foreign,
                promisor_remote,
            ),
            common_dir: opened_repository.common_dir,
            root: opened_repository.root,
            bare: opened_repository.bare,
            is_plain_directory: opened_repository.plain,
            is_document: |_| false,
            expected_blobs: RefCell::default(),
            has_limited_renames: Cell::default(),
            blob_cache: RefCell::default(),
            tree_cache: RefCell::default(),
            loose_objects: LooseObjects::default(),
            verified_commits: RefCell::default(),
            library: opened_repository.library,
            stand_in: opened_repository.stand_in,
            settings_dir: None,
            url_replacements: Vec::new(),
        }
    }

    /// Turns off the cache of blobs: for a reader that reads each blob once, copies would only take memory.
    #[must_use]
    pub fn without_cache(mut self) -> Self {
        self.blob_cache = RefCell::new(ObjectCache::with_zero_capacity());
        self
    }

    /// Sets the predicate that decides whether a path is that of a document. If a document moves to another directory
    /// and its content changes completely, this is still a rename, provided that no other file of that name was added
    /// or deleted. A partial clone fetches its missing documents together.
    #[must_use]
    pub fn with_document_predicate(mut self, is_document: fn(&str) -> bool) -> Self {
        self.is_document = is_document;
        self
    }

    /// Returns the root of the working tree, or the git directory of a bare repository.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the git directory of this working tree; `None` for a directory without git.
    pub fn git_dir(&self) -> Option<&Path> {
        (!self.is_plain_directory).then(|| self.program.git_dir())
    }

    /// Returns the git directory that linked worktrees share, which is the git directory itself if there are none;
    /// `None` for a directory without git.
    pub fn common_dir(&self) -> Option<&Path> {
        (!self.is_plain_directory).then_some(self.common_dir.as_path())
    }

    /// Returns whether the repository has no working tree.
    pub fn is_bare(&self) -> bool {
        self.bare
    }

    /// Returns whether this is a directory that is not in a git repository.
    pub const fn is_plain_directory(&self) -> bool {
        self.is_plain_directory
    }

    /// Returns whether libgit2 writes objects to a temporary git directory.
    pub(super) const fn has_stand_in(&self) -> bool {
        self.stand_in.is_some()
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
        self.check_reference(&head)?;
        let commit = head.peel_to_commit().map_err(|error| match head.target() {
            // The message does not name the object.
            Some(id) if error.code() == ErrorCode::HashsumMismatch => GitError::content_mismatch(id),
            _ => GitError::library("read the commit of HEAD")(error),
        })?;
        let branch = head.name().ok().and_then(|name| name.strip_prefix("refs/heads/"));
        Ok(Head {
            commit: CommitId::new(commit.id()),
            branch: branch.map(str::to_owned),
        })
    }

    /// Returns whether the clone has the commit with this full id and can read it.
    pub fn has_commit(&self, id: &str) -> bool {
        matches!(self.find_commit_with_id(id), Ok(Some(_)))
    }

    /// Returns the commit with this full id, or `None` if the clone does not have it. A commit that the clone has but
    /// cannot read is an error.
    pub fn find_commit_with_id(&self, id: &str) -> Result<Option<CommitId>, GitError> {
        let Some(oid) = Oid::from_str(id).ok().filter(|_| is_full_id(id)) else {
            return Ok(None);
        };
        self.check_object(oid)?;
        match self.library.find_commit(oid) {
            Ok(commit) => Ok(Some(CommitId::new(commit.id()))),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(GitError::library("read a commit")(error)),
        }
    }

    /// Returns the committer date of the commit: the time at which the commit was created. A commit may contain any
    /// number as its time, so a time that is no date is an error.
    pub fn commit_time(&self, commit: &CommitId) -> Result<jiff::Timestamp, GitError> {
        let seconds = self.find_commit(commit)?.time().seconds();
        jiff::Timestamp::from_second(seconds).map_err(|_| GitError::TimeOutOfRange {
            commit: commit.clone(),
        })
    }

    /// Returns the commit with this id, or [`GitError::MissingObject`] if the clone lacks it.
    pub(super) fn find_commit(&self, id: &CommitId) -> Result<Commit<'_>, GitError> {
        if let Ok(oid) = id.oid() {
            self.check_object(oid)?;
        }
        id.oid()
            .and_then(|oid| self.library.find_commit(oid))
            .map_err(|error| match error.code() {
                ErrorCode::NotFound => self.missing_object_error("commit", id),
                _ => GitError::library("read a commit")(error),
            })
    }

    /// Returns the error that the clone lacks an object of this kind.
    pub(super) fn missing_object_error(&self, kind: &'static str, id: &dyn fmt::Display) -> GitError {
        GitError::MissingObject {
            kind,
            id: id.to_string(),
            partial: self.partial,
        }
    }
}
