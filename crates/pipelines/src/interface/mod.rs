//! The interface of shared pipelines: the names that consumers use, and the changes that would break them.
//!
//! Consumers refer to a shared pipeline by prefix and id and usually take the latest version, so a removed id or a
//! renamed parameter breaks them unnoticed. This room compares two sides before anything is published, with one table
//! of the effects of each change ([`table`]).
//!
//! Names are compared as written; order is ignored.

mod change;
mod compare;
mod compat;
mod impact;
mod kinds;
mod notes;
mod semantic;
mod side;
mod table;

pub use change::Change;
pub use compare::{beyond_the_commit, compare};
pub use compat::{Against, Compat, Mode, accepted_by_name};
pub use impact::{Consumer, consumers};
pub use kinds::ChangedKinds;
pub use notes::{breaks_told, describe_new_pipelines, in_short, told};
pub use semantic::{NextError, has_next, next};
pub use side::Interface;
pub use table::{Class, What};

#[cfg(test)]
mod tests;
