//! A file of the gate in the version that counts.

use super::{PolicyError, follow};
use crate::base::git::{CommitId, Content, GitError, Repository};
use crate::base::input;
use crate::job::context::PolicyTip;
use std::path::Path;

/// The largest configuration file that is read, in bytes.
pub const SIZE_LIMIT: u64 = 1024 * 1024;

const LEAVES: &str = "a link on the way leads out of the repository";

/// A file's text, and what it is called in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// Its path, and of which version it is.
    pub name: String,
    pub text: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GateFile {
    /// The version that counts; none where there is no file.
    pub counts: Option<Text>,
    /// The checkout's, where that is not the version that counts.
    pub checkout: Option<Text>,
    /// Why the base has no such file; then of the checkout's only what can hide nothing counts.
    pub missing: Option<String>,
}

/// Reads a file of the gate of at most `limit` bytes. `path` starts from the repository root; a file that was `named`
/// must be there.
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
            missing: Some(format!(
                "{path} cannot be read from the branch that the change goes to: {why}"
            )),
        }),
    }
}

/// A file that lies outside the repository, or where there is none: it is the job's, and counts as it is.
pub fn of_the_job(file: &Path, named: bool) -> Result<GateFile, PolicyError> {
    Ok(GateFile {
        counts: on_disk(file, named, SIZE_LIMIT)?,
        ..GateFile::default()
    })
}

/// The committed version, if an attribute makes git check out other bytes than it stores: those who read the commit
/// must see what is in force.
fn stored(repo: &Repository, path: &str, limit: u64) -> Result<Option<Text>, PolicyError> {
    if repo.is_bare() {
        return Ok(None);
    }
    match repo.head() {
        // Attributes are asked last: for them libgit2 reads the whole index.
        Ok(head) if !repo.is_as_committed(&head.commit, path) && repo.is_converted(path) => {
            at(repo, &head.commit, ("HEAD", path), limit)
        }
        _ => Ok(None),
    }
}

/// The checkout's version where the change may have made it: an error must not show what lies elsewhere.
fn inside(repo: &Repository, file: &Path, needed: bool, limit: u64) -> Result<Option<Text>, PolicyError> {
    if leaves(repo, file) {
        return Err(unreadable(file.display().to_string(), LEAVES.to_owned()));
    }
    on_disk(file, needed, limit)
}

/// Whether a link leads out of the repository.
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

/// The file as the commit has it. A link that leads out of the repository has no version there.
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
