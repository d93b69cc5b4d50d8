//! The effects of moving files on the files that refer to them.
//!
//! `path_move` computes the new paths, and `reference_repair` the new text of each reference, so that it leads to the
//! same file as before. Both work without file access: `sluicegate mv` reads and writes the files.

mod path_move;
mod reference_repair;

pub use path_move::PathMove;
pub use reference_repair::{ReferenceRepair, Relocation, RepairError};
