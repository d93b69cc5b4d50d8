//! What a move of files means for those that name them.
//!
//! `moves` says where each path goes, `references` what a component must say so that it leads to the same file as before. Both are
//! pure: `sluicegate mv` reads the files and writes them.

mod moves;
mod references;

pub(crate) use moves::Moves;
pub(crate) use references::{Relocation, Repair, RepairError};
