//! The interface of shared pipelines: the names that consumers use, and the changes that would break them.
//!
//! Consumers refer to a shared pipeline by prefix and id and usually take the latest version, so a removed id or a
//! renamed parameter breaks them unnoticed. This module compares two sides before anything is published, with one table
//! of the effects of each change ([`interface_change_kind`]).
//!
//! Names are compared as written; order is ignored.

mod changed_kinds;
mod compat_summary;
mod compatibility;
mod consumer;
mod interface_change;
mod interface_change_kind;
mod interface_comparison;
mod offered_interface;
mod semantic_version;

pub use changed_kinds::ChangedKinds;
pub use compat_summary::{
    FILE_CHANGES_HEADING, describe_new_pipelines, list_breaking_changes, list_changes, summarize_changes,
};
pub use compatibility::{ComparedVersion, CompatMode, Compatibility, find_acceptance_by_version_names};
pub use consumer::{Consumer, find_consumers};
pub use interface_change::InterfaceChange;
pub use interface_change_kind::{ChangeClass, InterfaceChangeKind};
pub use interface_comparison::{compare_interfaces, find_unlisted_removals};
pub use offered_interface::Interface;
pub use semantic_version::{NextNameError, compare_version_names, has_next_version_name, next_version_name};

#[cfg(test)]
mod tests;
