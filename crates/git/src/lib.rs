//! Reads a git repository: commits, changes, and the files of a commit.
//!
//! No other package knows how git is read. Almost everything uses libgit2, in this process; the `git` program is used only
//! for what libgit2 cannot do: fetch a blob that a partial clone omitted, stream a large blob, expand a split or sparse
//! index, fetch more history with the user's credentials. Commits are read unless the caller requests the index or the working tree. The repository's
//! content is not trusted: depths, counts and sizes are limited, and no program that a repository's configuration names
//! is ever run.

mod attributes;
mod blobs;
mod branches;
mod changes;
mod create;
mod disk;
mod entries;
mod error;
mod fetch;
mod file;
mod history;
mod id;
mod index;
mod index_file;
mod kept;
mod lines;
mod listing;
mod merge;
mod moving;
mod open;
mod opened;
mod plain;
mod program;
mod remote_url;
mod remotes;
mod renames;
mod repository;
mod revision;
mod settings;
mod shadow;
mod similarity;
mod snapshot;
mod staging;
mod tree;

pub use branches::RemoteBranch;
pub use changes::{Change, ChangeKind, Differences};
pub use create::NewCommit;
pub use disk::{read_on_disk, regular_on_disk};
pub use entries::FileKind;
pub use error::{GitError, WHOLE_HISTORY};
pub use fetch::Wanted;
pub use file::{Content, Doubt, SnapshotFile};
pub use id::{BlobId, CommitId, is_full_id};
pub use index::Checkout;
pub use lines::FormerContent;
pub use remote_url::RemoteUrl;
pub use repository::{Head, Repository};
pub use revision::Named;
pub use sluicegate_base::text::short_id;
pub use snapshot::Snapshot;
pub use staging::StagedFile;
pub use tree::TreeFile;
