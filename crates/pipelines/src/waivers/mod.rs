//! The findings that `sluicegate-waivers.yaml` allows: reads the file, marks allowed findings, edits the file in place.
//!
//! The file is part of the policy, so the module `policy` and the commands decide which version of it is used. The
//! file is read strictly, because a misread waiver would let a finding pass or block everybody. The current day is a
//! parameter.

mod edited_file;
mod entry_groups;
mod matching;
mod path_index;
mod waiver_entry;
mod waivers_file;

pub use crate::pipelines::WAIVERS_FILE as FILE_NAME;
pub use edited_file::{EditError, add_entries, remove_entries};
pub use matching::{ExistingFiles, OldNames, WaiverGlobsError, WaiverStatus, Waivers};
pub use waiver_entry::{WaiverEffect, WaiverEntry};
pub use waivers_file::{PlacedWaiver, parse_waivers_file};

#[cfg(test)]
mod tests;
