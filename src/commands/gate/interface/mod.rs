//! Determines changes for consumers of shared pipelines outside of a publish: between two commits, two versions, or in
//! the reviewed change.

mod breaks;
pub(crate) mod impact;
mod published;
mod sides;
pub(crate) mod versions;

pub(crate) use breaks::in_change;
pub(crate) use published::{FETCH, IdsOnly, OfferedSide};
pub(crate) use sides::{Between, between};
