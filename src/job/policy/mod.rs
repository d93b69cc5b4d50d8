//! The gate's own files: where they lie, which version of them counts, and what a change does to them.
//!
//! What the checkout holds belongs to the change, so the change must not say how it is judged: the files are read as
//! the branch has them that the change goes to. They are a layer of the settings, not a check afterwards; a setting
//! that a change may not say has no way in.

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
pub use place::{in_checkout, in_repository, is_in_git_folder, links_on_the_way, names_in_repository, plain};
pub use version::{GateFile, SIZE_LIMIT, Text, of_the_job, read};
