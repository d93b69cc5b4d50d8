//! Project checks: references between files.

mod broken_references;
mod suggestions;
