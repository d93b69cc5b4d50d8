//! The gate configuration: finds its files, selects the version in force, and describes how a change edits them.
//!
//! The checkout belongs to the change, and a change must not decide how it is reviewed, so the files are read from the
//! target branch. They are a layer of the settings, not a later check: a setting that a change may not set is never
//! read from it.

mod changes;
mod error;
mod gate_file;
mod merged_settings;
mod policy_source;
mod repository_path;
mod symlinks;

pub use changes::{
    GateFileVersion, KnownSetting, Strictness, describe_config_file_changes, describe_rules_file_changes,
    describe_waivers_file_changes,
};
pub use error::PolicyError;
pub use gate_file::{
    CheckoutFiles, GateFile, GateFileReader, MAX_FILE_BYTES, NamedText, UnusableFile, read_gate_file_version,
    read_job_file,
};
pub use merged_settings::{MergeVersions, describe_stricter_settings, merge_rules};
pub use policy_source::{PolicySource, find_policy_tip};
pub use repository_path::{
    contains_link, is_in_git_dir, links_in_path, normalize, path_in_repository, resolve_in_checkout,
    tracked_paths,
};
pub use symlinks::{ResolvedPath, resolve_path};
