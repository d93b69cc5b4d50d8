//! Reads a git repository: commits, changes, and the files of a commit.
//!
//! No other package knows how git is read. Almost everything uses libgit2, in this process; the `git` program is used
//! only for what libgit2 cannot do: fetch a blob that a partial clone omitted, stream a large blob, expand a split or
//! sparse index, fetch more history with the user's credentials. Commits are read unless the caller requests the index
//! or the working tree. The repository's content is not trusted: depths, counts and sizes are limited, and no program
//! that a repository's configuration names is ever run.

mod attributes;
mod blobs;
mod branches;
mod changes;
mod content_files;
mod directory_walk;
mod discovery;
mod disk_file;
mod environment_settings;
mod equal_contents;
mod error;
mod fetch;
mod git_config;
mod git_environment;
mod git_program;
mod git_secrets;
mod history;
mod id;
mod index_file;
mod index_state;
mod index_update;
mod listed_file;
mod listed_place;
mod loose_objects;
mod merge;
mod missing_blobs;
mod new_commit;
mod object_cache;
mod object_checks;
mod object_header;
mod old_content;
mod opened_repository;
mod path_components;
mod plain_directory;
mod program_output;
mod remotes;
mod rename_candidates;
mod rename_certainty;
mod rename_search;
mod renames;
mod repository;
mod revision;
mod similarity;
mod snapshot;
mod snapshot_file;
mod stand_in;
mod tree;
mod tree_difference;
mod tree_entries;
mod url_replacement;
mod wanted_files;

pub use branches::{RemoteBranch, USUAL_DEFAULT_BRANCHES};
pub use changes::{Change, ChangeKind, Differences};
pub use discovery::{is_repository_root, skip_object_checks};
pub use disk_file::{is_missing, is_missing_file_error, read_disk_file, read_regular_file_metadata};
pub use error::{FULL_HISTORY_HINT, GitError};
pub use fetch::FetchTarget;
pub use id::{BlobId, CommitId, is_full_id};
pub use index_state::IndexState;
pub use index_update::StagedFile;
pub use new_commit::NewCommit;
pub use object_header::is_panic_expected;
pub use old_content::{OldContent, find_changed_lines};
pub use repository::{Head, Repository};
pub use revision::ResolvedRevision;
pub use sluicegate_base::remote_url::RemoteUrl;
pub use sluicegate_base::text::short_id;
pub use snapshot::Snapshot;
pub use snapshot_file::{ContentDoubt, FileContent, SnapshotFile};
pub use tree::TreeFile;
pub use tree_entries::FileKind;
