//! What can go wrong with a repository, and what to do about it.

use super::CommitId;
use std::path::PathBuf;

/// A repository that cannot be read as asked. Each case carries the facts; [`GitError::hint`] has the remedy.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No git repository in the folder or any folder above it.
    #[error("no git repository at {} or above it", from.display())]
    NotARepository {
        /// The folder that the search started from.
        from: PathBuf,
    },
    /// The repository, or the branch that is checked out, has no commit yet.
    #[error("the repository {} has no commit yet", root.display())]
    NoCommit {
        /// The repository's root.
        root: PathBuf,
    },
    /// A revision that names no commit of the repository.
    #[error("the revision `{revision}` names no commit of this repository: {why}")]
    UnknownRevision {
        /// The revision as it was asked for.
        revision: String,
        /// Why, in libgit2's words.
        why: String,
    },
    /// A name that several references answer to, none of them the branch of a remote.
    #[error("`{name}` is ambiguous: {} answer to it", answers.join(" and "))]
    Ambiguous {
        /// The name as it was asked for.
        name: String,
        /// The full names of the references, and the commit where the name is also the start of an id.
        answers: Vec<String>,
    },
    /// The history that would tell the merge-base is cut off by a shallow clone.
    #[error("the clone is shallow: its history does not tell where {one} and {other} parted")]
    ShallowHistory { one: CommitId, other: CommitId },
    /// More merge-bases than any real history has.
    #[error("{one} and {other} have {count} merge-bases")]
    TooManyBases {
        one: CommitId,
        other: CommitId,
        count: usize,
    },
    /// An object that the repository refers to and does not have.
    #[error("the {kind} {id} is missing from the repository{}", if *partial { ", which is a partial clone" } else { "" })]
    MissingObject {
        /// What it is: commit, tree or blob.
        kind: &'static str,
        id: String,
        /// Whether the repository is a partial clone, which leaves objects out on purpose.
        partial: bool,
    },
    /// A file that would be taken, with a name that is not UTF-8 and so cannot be sent.
    #[error("the name of the file `{path}` is not UTF-8")]
    PathNotUtf8 {
        /// The path with `\u{fffd}` for what is not UTF-8.
        path: String,
    },
    /// A repository format that cannot be read.
    #[error("the repository {} cannot be read: {what}", root.display())]
    Unsupported { root: PathBuf, what: String },
    /// The repository has no remote to fetch from.
    #[error("the repository {} has no remote", root.display())]
    NoRemote {
        /// The repository's root.
        root: PathBuf,
    },
    /// A fetch into a repository of somebody else.
    #[error("the repository {} belongs to another user, whose settings would decide what a fetch runs", root.display())]
    NotOurs {
        /// The repository's root.
        root: PathBuf,
    },
    /// There is no working tree, and so no index either.
    #[error("the repository {} is bare: it has no working tree and no index", root.display())]
    NoWorkTree { root: PathBuf },
    /// A merge or the like left conflicts in the index, so it is not known what the staged files are.
    #[error("the index has conflicts: {}", paths.join(", "))]
    Conflicts { paths: Vec<String> },
    /// A blob larger than its reader accepts.
    #[error("the blob {blob} has {size} bytes, over the limit of {limit}")]
    TooLarge {
        blob: String,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// A tree that no git program writes: broken, or made to do harm.
    #[error("the tree {id} is not sound: {why}")]
    BadTree { id: String, why: &'static str },
    /// The `git` program failed, was missing, or took too long.
    #[error("`git {arguments}` failed: {why}")]
    Program {
        arguments: String,
        /// Its own words, or the system's.
        why: String,
    },
    /// A file of the git folder could not be read, or a helper file not be written.
    #[error("cannot {doing} {}: {source}", path.display())]
    Io {
        doing: &'static str,
        path: PathBuf,
        source: std::io::Error,
    },
    /// Any other failure of libgit2.
    #[error("cannot {doing}: {}", source.message())]
    Library {
        doing: &'static str,
        /// libgit2's words.
        source: git2::Error,
    },
}

/// How to get the whole history, for each kind of place: actions/checkout
/// (<https://github.com/actions/checkout#usage>), GitLab
/// (<https://docs.gitlab.com/ci/runners/configure_runners/#shallow-cloning>), and a plain clone.
pub const WHOLE_HISTORY: &str = "fetch the whole history: `fetch-depth: 0` in the `with:` of actions/checkout on GitHub, \
     the variable `GIT_DEPTH: 0` on GitLab, `git fetch --unshallow` elsewhere";

impl GitError {
    /// What the user can do, where there is something.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::NotARepository { .. } => {
                "run it inside a clone, or name one with --repo, as a bare one must be"
            }
            Self::NoCommit { .. } => "make a first commit, or check out a branch that has one",
            Self::UnknownRevision { .. } => {
                "check the spelling; in CI the clone may lack it: fetch it, or use `fetch-depth: 0` on GitHub, \
                 `GIT_DEPTH: 0` on GitLab"
            }
            Self::Ambiguous { .. } => {
                "give the full name of the reference, such as refs/remotes/origin/main, or a full commit id"
            }
            Self::ShallowHistory { .. } => WHOLE_HISTORY,
            Self::TooManyBases { .. } => {
                "merge the target branch into the branch, which leaves one merge-base"
            }
            Self::MissingObject { partial: true, .. } => {
                "fetch it with the git program (`git fetch --refetch` brings everything), or clone without --filter"
            }
            Self::MissingObject { partial: false, .. } => {
                "`git fsck` tells what is broken; in CI, clone anew or fetch with more depth"
            }
            Self::PathNotUtf8 { .. } => {
                "rename it with `git mv`, or delete it: no --exclude leaves it out, as no report could name it"
            }
            Self::Unsupported { what, .. } if what.contains("sha256") => {
                "only repositories with SHA-1 object ids can be read: `git fast-export --all`, piped into `git \
                 fast-import` in a new repository, makes one of the same history"
            }
            Self::Unsupported { .. } => {
                "clone it anew with `git clone --ref-format=files` and SHA-1 object ids"
            }
            Self::NoRemote { .. } => "name one with `git remote add origin URL`",
            Self::NotOurs { .. } => {
                "fetch in a step before this one, or declare the checkout safe: `git config --global --add \
                 safe.directory PATH`"
            }
            Self::NoWorkTree { .. } => "take the files of a commit: --head, or `--from commit` of a publish",
            Self::Conflicts { .. } => "resolve them and stage the files (`git add`)",
            Self::Program { .. } => "check that the git program is installed and can reach the remote",
            Self::TooLarge { .. } | Self::BadTree { .. } | Self::Io { .. } | Self::Library { .. } => {
                return None;
            }
        };
        Some(hint.to_owned())
    }

    /// Wraps an error of libgit2 with what was tried.
    pub(super) fn library(doing: &'static str) -> impl Fn(git2::Error) -> Self {
        move |source| Self::Library { doing, source }
    }

    /// Wraps an error of the system with what was tried on which file.
    pub(super) fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source }
    }
}
