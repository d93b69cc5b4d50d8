//! Project checks: references between files.

mod broken_references;
mod consequences;
mod publish_selection;
mod redirected_calls;
mod suggestions;
