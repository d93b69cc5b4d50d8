//! The policy: finds and reads the files of the gate configuration, and describes how a change edits them.
//!
//! The *policy revision* is the revision that these files are read from. In CI, it is the newest commit of the target
//! branch: the checkout belongs to the change, and a change must not decide how it is reviewed. Elsewhere, it is the
//! checkout. The files are a layer of the settings, not a later check: a setting that a change may not set is never
//! read from it.

mod changes;
mod checkout_version;
mod config_document;
mod deciding_version;
mod error;
mod gate_file;
mod merged_settings;
mod policy_source;
mod repository_path;
mod symlinks;

pub use changes::{
    ChangeDescription, Difference, DifferenceScope, GateFileVersion, KnownSetting, Strictness,
    UnknownEffects, compare_config_files, compare_rules_files, compare_team_rules_files,
    compare_waivers_files, describe_missing_rules_file,
};
pub use checkout_version::{CheckoutFiles, is_omitted_from_disk, leaves_repository};
pub use config_document::parse_config_document;
pub use deciding_version::{DecidingVersion, NamedText};
pub use error::PolicyError;
pub use gate_file::{
    FilePresence, GateFile, GateFileReader, MAX_CONFIG_BYTES, UnusableFile, read_gate_file_version,
    read_job_file,
};
pub use merged_settings::{MergeVersions, describe_stricter_settings, format_changed_rules};
pub use policy_source::{PolicySource, find_policy_revision};
pub use repository_path::{
    contains_link, find_links_in_path, find_path_in_repository, is_in_git_dir, list_tracked_paths,
    normalize_path, place_in_checkout, reject_invalid_parts, resolve_in_checkout, resolve_links,
};
pub use symlinks::{ResolvedPath, follow_links};

/// The phrase, after the noun of the file, that the version of the policy revision is not used. A report has no field
/// for this fact, so the notes about the reviewed version look for the phrase in the limits of the verdict.
pub const UNUSABLE_POLICY_FILE: &str = "that applies to this run cannot be used";
