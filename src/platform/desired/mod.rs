//! Files that say how the platform should be: read with their places, checked, compared, carried out.
//!
//! Such a file is YAML or JSON. It is checked as a whole before the first request, and each complaint names its line,
//! also where the complaint is the platform's. No file holds a secret: a text where a secret belongs is refused.

mod document;
mod environment;
mod error;
mod fields;
mod number;
pub(crate) mod provision;
mod streaming;
pub(crate) mod variables;

pub(crate) use document::Document;
pub(crate) use environment::environment;
pub(crate) use error::DesiredError;
pub(crate) use streaming::streaming;
