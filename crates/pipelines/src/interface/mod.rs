//! The interface of shared pipelines: the names that consumers use, and the changes that would break them.
//!
//! Consumers refer to a shared pipeline by prefix and id and usually take the latest version, so a removed id or a
//! renamed parameter breaks them unnoticed. This room compares two sides before anything is published, with one table
//! of the effects of each change ([`change_kind`]).
//!
//! Names are compared as written; order is ignored.

mod change_kind;
mod changed_kinds;
mod compat;
mod compat_summary;
mod consumer;
mod interface_change;
mod interface_comparison;
mod offered_interface;
mod semantic_version;

pub use change_kind::{Class, What};
pub use changed_kinds::ChangedKinds;
pub use compat::{Against, Compat, Mode, accepted_by_name};
pub use compat_summary::{breaks_told, describe_new_pipelines, in_short, told};
pub use consumer::{Consumer, consumers};
pub use interface_change::Change;
pub use interface_comparison::{beyond_the_commit, compare};
pub use offered_interface::Interface;
pub use semantic_version::{NextError, has_next, next};

#[cfg(test)]
mod tests;
