//! The interface of shared pipelines: the names that consumers use, and the changes that would break them.
//!
//! Consumers refer to a shared pipeline by prefix and id and usually take the latest version, so a removed id or a
//! renamed parameter breaks them unnoticed. This room compares two sides before anything is published, with one table
//! of the effects of each change ([`table`]).
//!
//! Names are compared as written; order is ignored.

mod between;
mod change;
mod compare;
mod compat;
mod impact;
mod notes;
mod offer;
mod semantic;
mod side;
mod table;

pub use between::{between, beyond_the_commit};
pub use change::Change;
pub use compat::{Against, Compat, Mode, accepted_by_name};
pub use impact::{Consumer, consumers};
pub use notes::{breaks_told, describe_new_pipelines, in_short, told};
pub use offer::Offer;
pub use semantic::{NextError, has_next, next};
pub use side::{Interface, LoadedInterface, read};
pub use table::{Class, What};

#[cfg(test)]
pub(crate) use between::between_entries;

#[cfg(test)]
mod tests;
