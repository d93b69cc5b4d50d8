//! Reads a file of the gate configuration in the version in force.

use super::{PolicyError, follow};
use crate::base::git::{CommitId, Content, GitError, Repository};
use crate::base::input;
use crate::job::context::PolicyTip;
use std::path::Path;

/// Maximum size of a configuration file, in bytes.
pub const SIZE_LIMIT: u64 = 1024 * 1024;

const LEAVES: &str = "a symbolic link in its path leads out of the repository";

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
}

/// Reads a file of the gate configuration of at most `limit` bytes. `path` is relative to the repository root. If the
/// file was `named` by the job, it must exist.
pub fn read(
    repo: &Repository,
    tip: &PolicyTip,
    path: &str,
    named: bool,
    limit: u64,
) -> Result<GateFile, PolicyError> {
    let disk = repo.root().join(path);
    let here = |needed: bool| inside(repo, &disk, needed, limit);
    match tip {
        PolicyTip::Head { .. } => Ok(GateFile {
            counts: match stored(repo, path, limit)? {
                Some(text) => Some(text),
                None => on_disk(&disk, named, limit)?,
            },
            ..GateFile::default()
        }),
        PolicyTip::At { commit, branch, .. } => match at(repo, commit, (branch, path), limit)? {
            Some(text) => Ok(GateFile {
                counts: Some(text),
                checkout: if leaves(repo, &disk) { None } else { here(false)? },
                missing: None,
            }),
            None => Ok(GateFile {
                counts: None,
                checkout: here(named)?,
                missing: Some(format!("`{branch}` has no {path} yet ({})", commit.short())),
            }),
        },
        PolicyTip::Unknown { why } => Ok(GateFile {
            counts: None,
            checkout: here(named)?,
            missing: Some(format!("{path} cannot be read from the target branch: {why}")),
        }),
    }
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
    let found = follow(repo, &repo.snapshot(commit.clone()), path)?;
    if found.leaves {
        return Err(unreadable(name, LEAVES.to_owned()));
    }
    let Some(Content::Blob(blob)) = found.file.map(|file| file.content) else {
        return Ok(None);
    };
    let bytes = match repo.read_blob(&blob, limit) {
        Err(GitError::TooLarge { .. }) => {
            return Err(unreadable(name, format!("it has more than {limit} bytes")));
        }
        read => read?,
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(Text { name, text })),
        Err(_) => Err(unreadable(name, "it is not UTF-8".to_owned())),
    }
}

const fn unreadable(name: String, why: String) -> PolicyError {
    PolicyError::Unreadable { name, why }
}
