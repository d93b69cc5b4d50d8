//! Project checks: references between files.

mod broken_references;
mod publish_selection;
mod suggestions;
