//! Reads a file of the gate configuration in the version in force.

use super::{GateFileSide, PolicyError, follow};
use crate::job::ci::CiContext;
use crate::job::context::PolicyTip;
use sluicegate_base::input;
use sluicegate_git::{CommitId, Content, GitError, Repository, Snapshot, read_on_disk};
use std::path::Path;

/// Maximum size of a configuration file, in bytes.
pub const SIZE_LIMIT: u64 = 1024 * 1024;

const LEAVES: &str = "a symbolic link in its path leads out of the repository";

/// The treatment of a configuration file that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusableFile {
    /// Reports an error: in a local run, and for a file of the job.
    Reject,
    /// Treats the file as missing: in CI, where a merged file must not stop every later change.
    TreatAsMissing,
}

/// A file's text, and its name in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The path and the version of the file.
    pub name: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateFile {
    /// The version in force, or `None` if there is no file.
    pub counts: Option<Text>,
    /// The checkout's version, if it is not the one in force.
    pub checkout: Option<Text>,
    /// Why the target branch has no such file. From the checkout's version, only settings that cannot hide findings are
    /// then used.
    pub missing: Option<String>,
    /// Reason why the version in force cannot be read, if such a file is treated as missing.
    pub unusable: Option<String>,
}

/// The version of the files that a run reads from the checkout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckoutFiles {
    /// The files on disk, in a local run.
    OnDisk,
    /// The files of the checked-out commit, in CI: an earlier step of the job may have changed those on disk.
    Committed(CommitId),
}

impl CheckoutFiles {
    /// Returns the version that a run uses. Without the CI host's context, the run is in CI.
    pub fn of(repo: &Repository, ci: Option<&CiContext>) -> Result<Self, GitError> {
        if ci.is_some_and(|ci| ci.host.is_local()) {
            return Ok(Self::OnDisk);
        }
        match repo.head() {
            Ok(head) => Ok(Self::Committed(head.commit)),
            Err(GitError::NoCommit { .. }) => Ok(Self::OnDisk),
            Err(error) => Err(error),
        }
    }

    fn has(&self, repo: &Repository, path: &str) -> Result<bool, GitError> {
        Ok(match self {
            Self::OnDisk => repo.root().join(path).symlink_metadata().is_ok(),
            Self::Committed(commit) => {
                let way = follow(repo, &repo.snapshot(commit.clone()), path)?;
                way.file.is_some() || way.leaves || repo.find_file(commit, path)?.is_some()
            }
        })
    }

    /// Returns whether a symbolic link in the path leads out of the repository.
    fn leaves(&self, repo: &Repository, path: &str) -> Result<bool, GitError> {
        Ok(match self {
            Self::OnDisk => leaves(repo, &repo.root().join(path)),
            Self::Committed(commit) => follow(repo, &repo.snapshot(commit.clone()), path)?.leaves,
        })
    }
}

/// The source of the gate configuration's files, and what happens to those that cannot be used.
pub struct GateReader<'r> {
    pub repo: &'r Repository,
    pub tip: &'r PolicyTip,
    pub checkout: CheckoutFiles,
    pub on_unusable: UnusableFile,
}

impl GateReader<'_> {
    /// Reads a file of the gate configuration of at most `limit` bytes. `path` is relative to the repository root. If the
    /// file was `named` by the job, it must exist.
    pub fn read(&self, path: &str, named: bool, limit: u64) -> Result<GateFile, PolicyError> {
        let repo = self.repo;
        let exists = !named || self.checkout.has(repo, path)?;
        let may_be_unusable = exists && self.on_unusable == UnusableFile::TreatAsMissing;
        let checkout = |needed: bool| match self.unused(path, needed, limit) {
            // The change that adds such a file fails for it, whether the file is in force or not.
            Err(PolicyError::Unreadable { .. }) if may_be_unusable => Ok(None),
            read => read,
        };
        match self.tip {
            PolicyTip::Head { .. } => match self.reviewed(path, named, limit) {
                Err(PolicyError::Unreadable { name, why }) if may_be_unusable => Ok(GateFile {
                    unusable: Some(format!("{name} cannot be read: {why}")),
                    ..GateFile::default()
                }),
                read => Ok(GateFile {
                    counts: read?,
                    ..GateFile::default()
                }),
            },
            PolicyTip::At { commit, branch, .. } => match at(repo, commit, (branch, path), limit) {
                Err(PolicyError::Unreadable { name, why })
                    if self.on_unusable == UnusableFile::TreatAsMissing =>
                {
                    Ok(GateFile {
                        checkout: checkout(named)?,
                        unusable: Some(format!("{name} cannot be read: {why}")),
                        ..GateFile::default()
                    })
                }
                Err(error) => Err(error),
                Ok(Some(text)) => Ok(GateFile {
                    counts: Some(text),
                    checkout: if self.checkout.leaves(repo, path)? {
                        None
                    } else {
                        checkout(false)?
                    },
                    ..GateFile::default()
                }),
                Ok(None) => Ok(GateFile {
                    checkout: checkout(named)?,
                    missing: Some(format!("`{branch}` has no {path} yet ({})", commit.short())),
                    ..GateFile::default()
                }),
            },
            PolicyTip::Unknown { why } => Ok(GateFile {
                checkout: checkout(named)?,
                missing: Some(format!("{path} cannot be read from the target branch: {why}")),
                ..GateFile::default()
            }),
        }
    }

    /// Reads the version of the reviewed commit itself.
    fn reviewed(&self, path: &str, named: bool, limit: u64) -> Result<Option<Text>, PolicyError> {
        let (repo, disk) = (self.repo, self.repo.root().join(path));
        match &self.checkout {
            CheckoutFiles::Committed(commit) => committed(repo, commit, path, named, limit),
            CheckoutFiles::OnDisk => match stored(repo, path, limit)? {
                Some(text) => Ok(Some(text)),
                None if self.on_unusable == UnusableFile::TreatAsMissing => inside(repo, &disk, named, limit),
                None => on_disk(&disk, named, limit),
            },
        }
    }

    /// Reads the checkout's version if another one is in force. The change may have written it, so an error must not show
    /// content from outside the repository.
    fn unused(&self, path: &str, needed: bool, limit: u64) -> Result<Option<Text>, PolicyError> {
        let repo = self.repo;
        match &self.checkout {
            CheckoutFiles::Committed(commit) => committed(repo, commit, path, needed, limit),
            CheckoutFiles::OnDisk => inside(repo, &repo.root().join(path), needed, limit),
        }
    }
}

fn committed(
    repo: &Repository,
    commit: &CommitId,
    path: &str,
    needed: bool,
    limit: u64,
) -> Result<Option<Text>, PolicyError> {
    let text = at(repo, commit, ("HEAD", path), limit)?;
    if needed && text.is_none() {
        let name = format!("{path} of `HEAD` ({})", commit.short());
        let why = "the commit has no such file, and in CI the files of the commit are used".to_owned();
        return Err(unreadable(name, why));
    }
    Ok(text)
}

/// Reads a file outside the repository, or without a repository. It belongs to the job and is used unchanged.
pub fn of_the_job(file: &Path, named: bool) -> Result<GateFile, PolicyError> {
    Ok(GateFile {
        counts: on_disk(file, named, SIZE_LIMIT)?,
        ..GateFile::default()
    })
}

/// Returns the committed version if an attribute makes git check out other bytes than it stores. A reader of the commit
/// must see the version in force.
fn stored(repo: &Repository, path: &str, limit: u64) -> Result<Option<Text>, PolicyError> {
    if repo.is_bare() {
        return Ok(None);
    }
    match repo.head() {
        // Attributes are read last, because libgit2 reads the complete index for them.
        Ok(head) if !repo.is_as_committed(&head.commit, path) && repo.is_converted(path) => {
            at(repo, &head.commit, ("HEAD", path), limit)
        }
        _ => Ok(None),
    }
}

/// Reads the checkout's version, which the change may have written. An error must not show content from outside the
/// repository.
fn inside(repo: &Repository, file: &Path, needed: bool, limit: u64) -> Result<Option<Text>, PolicyError> {
    if leaves(repo, file) {
        return Err(unreadable(file.display().to_string(), LEAVES.to_owned()));
    }
    on_disk(file, needed, limit)
}

/// Returns whether a symbolic link leads out of the repository.
fn leaves(repo: &Repository, file: &Path) -> bool {
    match (file.canonicalize(), repo.root().canonicalize()) {
        (Ok(file), Ok(root)) => !file.starts_with(root),
        _ => false,
    }
}

fn on_disk(file: &Path, needed: bool, limit: u64) -> Result<Option<Text>, PolicyError> {
    if !needed && !file.exists() {
        return Ok(None);
    }
    let name = file.display().to_string();
    match input::text_file(file, limit) {
        Ok(text) => Ok(Some(Text { name, text })),
        Err(why) => Err(unreadable(name, why.to_string())),
    }
}

/// Reads the file from a commit. A symbolic link that leads out of the repository is an error.
fn at(
    repo: &Repository,
    commit: &CommitId,
    (branch, path): (&str, &str),
    limit: u64,
) -> Result<Option<Text>, PolicyError> {
    let name = format!("{path} of `{branch}` ({})", commit.short());
    match read_version(repo, &repo.snapshot(commit.clone()), path, limit)? {
        GateFileSide::Missing => Ok(None),
        GateFileSide::Unreadable(why) => Err(unreadable(name, why)),
        GateFileSide::Text(bytes) => match input::utf_8(bytes) {
            Ok(text) => Ok(Some(Text { name, text })),
            Err(reason) => Err(unreadable(name, reason.to_owned())),
        },
    }
}

/// Reads a file of the gate configuration from this commit, the index or the disk. Follows symbolic links within the
/// repository.
pub fn read_version(
    repo: &Repository,
    snapshot: &Snapshot<'_>,
    path: &str,
    limit: u64,
) -> Result<GateFileSide, GitError> {
    let found = follow(repo, snapshot, path)?;
    if found.leaves {
        return Ok(GateFileSide::Unreadable(LEAVES.to_owned()));
    }
    let Some(file) = found.file else {
        return Ok(GateFileSide::Missing);
    };
    let too_large = || GateFileSide::Unreadable(format!("it has more than {limit} bytes"));
    Ok(match &file.content {
        Content::Blob(blob) => match repo.read_blob(blob, limit) {
            Err(GitError::TooLarge { .. }) => too_large(),
            read => GateFileSide::Text(read?),
        },
        Content::Disk(full) => match read_on_disk(full, limit) {
            Ok(Some(bytes)) => GateFileSide::Text(bytes),
            Ok(None) => too_large(),
            Err(error) => GateFileSide::Unreadable(error.to_string()),
        },
    })
}

const fn unreadable(name: String, why: String) -> PolicyError {
    PolicyError::Unreadable { name, why }
}
