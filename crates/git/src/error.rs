//! Errors of reading a repository, with hints about how to fix them.

use super::CommitId;
use sluicegate_base::text::{format_path, join_with_and, shorten_name, to_single_line};
use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// An error of reading a repository. Each case carries the facts; [`GitError::hint`] returns the hint.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git repository in the directory or any directory above it.
    #[error("no git repository at {} or above it", format_path(from))]
    NotARepository {
        /// The directory that the search started from.
        from: PathBuf,
    },
    /// The directory is in a bare repository, which is opened only if it is named.
    #[error("{} is a bare repository, which has no working tree", format_path(repository))]
    BareRepository {
        /// The directory of the repository.
        repository: PathBuf,
    },
    /// The repository, or the checked-out branch, has no commit yet.
    #[error("the repository {} has no commit yet", format_path(root))]
    NoCommit {
        /// The repository's root.
        root: PathBuf,
    },
    /// A revision that does not resolve to a commit of the repository.
    #[error(
        "the revision `{}` does not resolve to a commit of this repository: {}",
        shorten_name(revision),
        to_single_line(reason)
    )]
    UnknownRevision {
        /// The requested revision.
        revision: String,
        /// The reason, usually libgit2's message.
        reason: String,
    },
    /// A name that matches several references, but no branch of a remote.
    #[error("`{name}` is ambiguous: it matches {}", join_with_and(matches))]
    AmbiguousName {
        /// The requested name.
        name: String,
        /// The full names of the references, and the commit if the name is also the start of an id.
        matches: Vec<String>,
    },
    /// A shallow clone lacks the history that is needed to find the merge-base.
    #[error("could not find the merge-base of {first} and {second}: the clone is shallow")]
    ShallowHistory { first: CommitId, second: CommitId },
    /// More merge-bases than any real history has.
    #[error("commits {first} and {second} have {count} merge-bases, which is too many")]
    TooManyMergeBases {
        first: CommitId,
        second: CommitId,
        count: usize,
    },
    /// An object that the repository refers to but does not have.
    #[error("{kind} {id} is missing from the repository{}", if *partial { ", which is a partial clone" } else { "" })]
    MissingObject {
        /// The kind of object: commit, tree or blob.
        kind: &'static str,
        id: String,
        /// Whether the repository is a partial clone, which omits objects on purpose.
        partial: bool,
    },
    /// An object that the repository has, but whose bytes are damaged or those of another object.
    #[error("object {id} is corrupt: {reason}")]
    CorruptObject { id: String, reason: String },
    /// A wanted file whose name is not UTF-8 and so cannot be sent.
    #[error("the file name `{path}` is not UTF-8")]
    PathNotUtf8 {
        /// The path, with `\u{fffd}` in place of bytes that are not UTF-8.
        path: String,
    },
    /// A repository format that cannot be read.
    #[error("could not read the repository {}: {reason}", format_path(root))]
    Unsupported { root: PathBuf, reason: String },
    /// A file of the clone that gives commits other parents than they record.
    #[error("the file {} changes the history that the commits record", format_path(path))]
    Grafts { path: PathBuf },
    /// The repository has no remote to fetch from.
    #[error("the repository {} has no remote", format_path(root))]
    NoRemote {
        /// The repository's root.
        root: PathBuf,
    },
    /// A fetch into a repository that belongs to another user.
    #[error(
        "the repository {} belongs to another user, and a fetch would run programs from that user's settings",
        format_path(root)
    )]
    ForeignRepository {
        /// The repository's root.
        root: PathBuf,
    },
    /// The repository has no working tree and so no index.
    #[error(
        "the repository {} is bare: it has no working tree and no index",
        format_path(root)
    )]
    NoWorkTree { root: PathBuf },
    /// An index that neither libgit2 nor the git program can read.
    #[error("could not read the index {}: {reason}", format_path(path))]
    Index {
        path: PathBuf,
        /// libgit2's message.
        reason: String,
        /// The reason why the git program could not expand it.
        source: Box<GitError>,
    },
    /// The index has conflicts, for example after a merge, so the staged files are undetermined.
    #[error("the index has conflicts: {}", paths.join(", "))]
    Conflicts { paths: Vec<String> },
    /// A tree that git would not write: damaged or malicious.
    #[error("invalid tree {id}: {reason}")]
    InvalidTree { id: String, reason: &'static str },
    /// A commit whose time is before or after the years that dates can have.
    #[error("the time of commit {commit} is out of range")]
    TimeOutOfRange { commit: CommitId },
    /// The `git` program failed, was missing, or took too long.
    #[error("`git {arguments}` failed: {reason}")]
    Program {
        arguments: String,
        /// The message of the program or the system.
        reason: String,
    },
    /// A file of the git directory could not be read, or a helper file could not be written.
    #[error("could not {action} {}: {source}", format_path(path))]
    Io {
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// No temporary directory could be created.
    #[error("could not create a temporary directory in {}: {source}", format_path(&std::env::temp_dir()))]
    TemporaryDirectory { source: io::Error },
    /// A file in a temporary directory could not be written.
    #[error("could not write to the temporary directory {}: {source}", format_path(&std::env::temp_dir()))]
    TemporaryFile { source: io::Error },
    /// A directory without git that has more files than are searched for pipelines.
    #[error(
        "the directory {} contains more than {limit} files and directories",
        format_path(root)
    )]
    TooManyFiles { root: PathBuf, limit: usize },
    /// A directory without git whose files are nested deeper than is searched for pipelines.
    #[error(
        "the directory {} contains files nested more than {limit} levels deep",
        format_path(root)
    )]
    TooDeep { root: PathBuf, limit: usize },
    /// Any other failure of libgit2.
    #[error("could not {action}: {}", source.message())]
    Library {
        action: &'static str,
        /// libgit2's message.
        source: git2::Error,
    },
}

/// How to get the full history, for each environment: actions/checkout
/// (<https://github.com/actions/checkout#usage>), GitLab
/// (<https://docs.gitlab.com/ci/runners/configure_runners/#shallow-cloning>), and a plain clone.
pub const FULL_HISTORY_HINT: &str = "fetch the full history: set `fetch-depth: 0` in the `with:` of \
     actions/checkout on GitHub, set the variable `GIT_DEPTH: 0` on GitLab, or run `git fetch --unshallow` \
     elsewhere";

/// The steps that replace a damaged object.
const CORRUPT_OBJECT_HINT: &str = "run `git fsck` to list the damaged objects, and clone the repository again; in CI, \
     delete the cached checkout";

const TEMPORARY_DIRECTORY_HINT: &str =
    "set TMPDIR to a directory in which you can create files, and that has enough space";

/// Returns the id of the object whose content does not match it, from libgit2's message.
fn find_mismatched_id(error: &git2::Error) -> Option<&str> {
    let words = error.message().split_once("object hash mismatch - expected ")?.1;
    words.split(' ').next()
}

/// Returns the hint for a temporary file that could not be written.
fn choose_temporary_file_hint(source: &io::Error) -> &'static str {
    if source.kind() == ErrorKind::FileTooLarge {
        "raise the limit on the size of files, such as that of `ulimit -f`"
    } else {
        TEMPORARY_DIRECTORY_HINT
    }
}

impl GitError {
    /// Returns a hint about how the user can fix the error. Returns `None` if no general hint helps.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotARepository { from } if !from.exists() => {
                "correct the path of the repository: the directory does not exist"
            }
            Self::NotARepository { .. } => {
                "run the command inside a clone, or pass the directory of a clone with --repo"
            }
            Self::BareRepository { .. } => {
                "run the command inside a clone, or pass the bare repository with --repo"
            }
            Self::NoCommit { .. } => "create a first commit, or check out a branch that has a commit",
            Self::UnknownRevision { .. } => {
                "check the spelling of the revision. If the clone of a CI job lacks the revision, fetch the \
                 revision, or set `fetch-depth: 0` on GitHub or `GIT_DEPTH: 0` on GitLab"
            }
            Self::AmbiguousName { .. } => {
                "pass the full name of the reference, such as refs/remotes/origin/main, or a full commit id"
            }
            Self::ShallowHistory { .. } => FULL_HISTORY_HINT,
            Self::TooManyMergeBases { .. } => {
                "merge the target branch into your branch, so that only one merge-base remains"
            }
            Self::MissingObject { partial: true, .. } => {
                "fetch the missing objects with `git fetch --refetch --no-filter`, or clone without --filter"
            }
            Self::MissingObject { partial: false, .. } => {
                "run `git fsck` to find damaged objects; in CI, clone the repository again or increase the \
                 fetch depth"
            }
            Self::CorruptObject { .. } => CORRUPT_OBJECT_HINT,
            Self::PathNotUtf8 { .. } => {
                "rename the file with `git mv`, or delete it; --exclude cannot skip it, because reports cannot show \
                 its name"
            }
            Self::Unsupported { reason, .. } => find_unsupported_hint(reason)?,
            Self::Grafts { path } => choose_grafts_hint(path),
            Self::NoRemote { .. } => "add a remote: `git remote add origin URL`",
            Self::ForeignRepository { .. } => {
                "fetch the history in an earlier step, or declare the checkout safe: `git config --global --add \
                 safe.directory PATH`"
            }
            Self::NoWorkTree { .. } => {
                "run the command in a clone; `check`, `diff` and `publish` can also use the files of a commit (--head)"
            }
            Self::Conflicts { .. } => "resolve the conflicts and stage the files (`git add`)",
            Self::Index { .. } => {
                "check that the git program is installed and that `git status` works in this repository. To check the \
                 files of the commit without the index, run `sluicegate check --head HEAD`"
            }
            Self::Program { .. } => "check that the git program is installed and can reach the remote",
            Self::TooManyFiles { .. } | Self::TooDeep { .. } => {
                "run the command in the project's directory, and pass `.` or a file in that directory"
            }
            Self::Library { source, .. } => find_lock_hint(source.message())?,
            Self::TemporaryDirectory { .. } => TEMPORARY_DIRECTORY_HINT,
            Self::TemporaryFile { source } => choose_temporary_file_hint(source),
            Self::InvalidTree { .. } | Self::TimeOutOfRange { .. } | Self::Io { .. } => return None,
        };
        Some(hint.to_owned())
    }

    /// Returns the error that the content of an object is not that of its id.
    pub(super) fn content_mismatch(id: impl fmt::Display) -> Self {
        Self::CorruptObject {
            id: id.to_string(),
            reason: "its content does not match its id".to_owned(),
        }
    }

    /// Returns a function that wraps an error of libgit2 with the attempted action, for `map_err`. libgit2 compares the
    /// content of each object with its id.
    pub(super) fn library(action: &'static str) -> impl Fn(git2::Error) -> Self {
        move |source| match find_mismatched_id(&source) {
            Some(id) => Self::content_mismatch(id),
            None => Self::Library { action, source },
        }
    }

    /// Returns a function that wraps an error of the system with the attempted action and the file, for `map_err`.
    pub(super) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

/// Returns the hint for a file that gives commits other parents.
fn choose_grafts_hint(path: &Path) -> &'static str {
    if path.ends_with("shallow") {
        "clone the repository again, because git writes only one commit id in each line of this file"
    } else {
        "delete the file, or convert it with `git replace --convert-graft-file`: replacements are ignored"
    }
}

/// Returns the hint for an error of libgit2 about a lock file; `None` for any other one. The error's code does not show
/// this, because libgit2 uses the code `Locked` for a lack of permissions, too.
fn find_lock_hint(message: &str) -> Option<&'static str> {
    message.starts_with("failed to lock file").then_some(
        "wait until the other git command has ended. If no git command is running, delete the lock file that the \
         message names",
    )
}

/// Returns the hint for a repository that cannot be read for this reason. Nothing general helps against a file or a
/// path that cannot be read.
fn find_unsupported_hint(reason: &str) -> Option<&'static str> {
    // The reason contains the unsupported setting, here `objectformat = sha256`.
    if reason.contains("sha256") {
        return Some(
            "convert the repository to SHA-1 object ids: pipe `git fast-export --all` into `git \
             fast-import` in a new repository",
        );
    }
    ["`refstorage =", "`objectformat ="]
        .iter()
        .any(|extension| reason.contains(extension))
        .then_some("clone the repository again with `git clone --ref-format=files` and SHA-1 object ids")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hint_to_clone_again_is_only_about_formats() {
        let unsupported = |reason: &str| GitError::Unsupported {
            root: PathBuf::new(),
            reason: reason.to_owned(),
        };
        let extension = "the repository uses the unsupported git extension `refstorage = reftable`";
        assert!(unsupported(extension).hint().is_some());
        let other_extension = "the repository uses the unsupported git extension `newformat = 2`";
        assert_eq!(unsupported(other_extension).hint(), None);
        assert_eq!(unsupported("the file is too large").hint(), None);
    }
}
