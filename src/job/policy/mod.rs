//! The gate configuration: finds its files, selects the version in force, and describes how a change edits them.
//!
//! The checkout belongs to the change, and a change must not decide how it is reviewed, so the files are read from the
//! target branch. They are a layer of the settings, not a later check: a setting that a change may not set is never
//! read from it.

mod changes;
mod choice;
mod error;
mod links;
mod outdated;
mod place;
mod version;

pub use changes::{GateFileSide, KnownSetting, Strictness, of_rules, of_settings, of_waivers};
pub use choice::{Choice, tip};
pub use error::PolicyError;
pub use links::{Followed, follow};
pub use outdated::{rules_after_merge, stricter_at_tip};
pub use place::{
    in_checkout, in_repository, is_in_git_folder, leads_through_link, links_on_the_way, names_in_repository,
    plain,
};
pub use version::{
    CheckoutFiles, GateFile, GateReader, SIZE_LIMIT, Text, UnusableFile, of_the_job, read_version,
};
