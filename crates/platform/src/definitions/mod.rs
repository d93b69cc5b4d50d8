//! Files that define the desired state of the platform: read with positions, checked, compared, applied.
//!
//! Such a file is YAML or JSON. It is checked completely before the first request, and each error shows its line, also
//! an error that the platform reports. No file contains a secret: a value in the place of a secret is rejected.

mod document;
mod environment;
mod error;
mod fields;
mod grid;
mod number;
pub mod provision;
mod streaming;
pub mod variables;

pub use document::Document;
pub use environment::{describe_unknown_environment_keys, read_environment};
pub use error::DefinitionError;
pub use grid::read_grid;
pub use streaming::read_streaming_definition;
