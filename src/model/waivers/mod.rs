//! The findings that `sluicegate-waivers.yaml` allows: reads the file, marks what it allows, edits it in place.
//!
//! The file is part of the policy, so which version of it counts is for the room `policy` and the commands to say. Here
//! a text is read strictly, as a waiver that is misread would let something pass or block everybody, and what the text
//! says is held against findings. The day is given from outside.

mod edit;
mod entry;
mod matching;
mod read;

pub use edit::{EditError, add, remove};
pub use entry::WaiverEntry;
pub use matching::{Former, Standing, There, Waivers};
pub use read::{PlacedWaiver, read};

/// The file's name at the repository root.
pub const FILE_NAME: &str = "sluicegate-waivers.yaml";

#[cfg(test)]
mod tests;
