//! The interface of shared pipelines: what consumers name, and what of it a change would break.
//!
//! Consumers name a shared pipeline by prefix and id and mostly take the latest version, so a removed id or a renamed
//! parameter breaks them where nobody looks. Here two sides are compared, by one table of what matters how much
//! ([`table`]), before anything is published.
//!
//! Names are compared as they are written; order is nothing.

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
pub use notes::{breaks_told, in_short, told};
pub use offer::Offer;
pub use semantic::{NextError, has_next, next};
pub use side::{Interface, Side, read};
pub use table::{Class, What};

#[cfg(test)]
pub(crate) use between::between_entries;

#[cfg(test)]
mod tests;
