//! The gate's own files: where they lie, and which version of them counts.

mod links;
mod place;

pub use links::{Followed, follow};
pub use place::{in_repository, plain};
