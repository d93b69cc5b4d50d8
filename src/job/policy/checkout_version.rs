//! The version of the checkout's files that a run reads.

use super::{follow_links, is_in_git_dir};
use crate::job::ci::CiContext;
use sluicegate_git::{CommitId, GitError, Repository, Snapshot, is_missing};
use std::path::{Path, PathBuf};

/// The version of the files that a run reads from the checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutFiles {
    /// The files on disk, in a local run.
    OnDisk,
    /// The staged files, in a local run that checks them. The path is that of the index that git passes to its hooks.
    Staged(Option<PathBuf>),
    /// The files of the checked-out commit, in CI: an earlier step of the job may have changed the files on disk.
    Committed(CommitId),
}

impl CheckoutFiles {
    /// Returns which version of the checkout a run reads: a local run uses `local_files`, but in a directory without
    /// git the files on disk. A CI run uses the checked-out commit, or the files on disk if there is no commit. If the
    /// CI context is not known, the run is treated as a CI run.
    pub fn for_run(repo: &Repository, ci: Option<&CiContext>, local_files: &Self) -> Result<Self, GitError> {
        if ci.is_some_and(|ci| ci.host.is_local()) && !repo.is_plain_directory() {
            return Ok(local_files.clone());
        }
        match repo.head() {
            Ok(head) => Ok(Self::Committed(head.commit)),
            Err(GitError::NoCommit { .. }) => Ok(Self::OnDisk),
            Err(error) => Err(error),
        }
    }

    /// Returns the version of the file at this path: instead of a file on disk that a sparse checkout omits, the staged
    /// file.
    pub(super) fn choose_for_file(&self, repo: &Repository, path: &str) -> Result<Self, GitError> {
        match self {
            Self::OnDisk if is_omitted_from_disk(repo, path)? => Ok(Self::Staged(None)),
            _ => Ok(self.clone()),
        }
    }

    /// Returns the files as git stores them; `None` for the files on disk.
    fn open_snapshot<'r>(&self, repo: &'r Repository) -> Result<Option<Snapshot<'r>>, GitError> {
        Ok(match self {
            Self::OnDisk => None,
            Self::Staged(index) => Some(repo.read_staged_snapshot(index.as_deref())?),
            Self::Committed(commit) => Some(repo.snapshot(commit.clone())),
        })
    }

    /// Returns whether the checkout has a file or a link at this path, even a link that is broken or leads out of the
    /// repository. On disk, a directory is found, too.
    pub fn has_file(&self, repo: &Repository, path: &str) -> Result<bool, GitError> {
        let Some(snapshot) = self.choose_for_file(repo, path)?.open_snapshot(repo)? else {
            return Ok(!is_missing(&repo.root().join(path)));
        };
        let resolved_path = follow_links(repo, &snapshot, path)?;
        Ok(resolved_path.file.is_some()
            || resolved_path.leaves_repository
            || snapshot.find_file(path)?.is_some())
    }

    /// Returns whether a symbolic link in the path leads out of the repository.
    pub(super) fn leaves_repository(&self, repo: &Repository, path: &str) -> Result<bool, GitError> {
        match self.choose_for_file(repo, path)?.open_snapshot(repo)? {
            Some(snapshot) => Ok(follow_links(repo, &snapshot, path)?.leaves_repository),
            None => Ok(leaves_repository(repo, &repo.root().join(path))),
        }
    }
}

/// Returns whether a sparse checkout omits the file at this path, or the file that a link at this path leads to.
pub fn is_omitted_from_disk(repo: &Repository, path: &str) -> Result<bool, GitError> {
    let full_path = repo.root().join(path);
    if repo.is_plain_directory() || !full_path.is_symlink() || full_path.exists() {
        return repo.omits_from_disk(path);
    }
    let snapshot = repo.read_staged_snapshot(None)?;
    match follow_links(repo, &snapshot, path)?.file {
        Some(file) => repo.omits_from_disk(&file.path),
        None => Ok(false),
    }
}

/// Returns whether the file is outside the repository after its links are followed. A git directory is outside, too:
/// its configuration may contain the credentials of the checkout. A missing file is not outside.
pub fn leaves_repository(repo: &Repository, file: &Path) -> bool {
    let (Ok(file), Ok(root)) = (file.canonicalize(), repo.root().canonicalize()) else {
        return false;
    };
    match file.strip_prefix(&root) {
        Ok(path) => is_in_git_dir(path) || is_in_common_dir(repo, &root, &file),
        Err(_) => true,
    }
}

/// Returns whether the file is in the git directory, which may have any name in the working tree.
fn is_in_common_dir(repo: &Repository, root: &Path, file: &Path) -> bool {
    let common_dir = repo.common_dir().and_then(|dir| dir.canonicalize().ok());
    // A bare repository is its own git directory, and a working tree may be in one.
    common_dir.is_some_and(|dir| file.starts_with(&dir) && !root.starts_with(&dir))
}
