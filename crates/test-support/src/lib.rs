//! Code that the tests of several packages share. Other packages depend on this package only for their tests, and it is
//! not published.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::missing_panics_doc,
    reason = "a test fails by panicking"
)]

mod arguments;
pub mod dice;
pub mod json_schema;
mod library_git;
pub mod picture_geometry;
mod pipeline;
pub mod platform_requests;
pub mod repository;
pub mod sample_report;
pub mod scratch;
pub mod tls_server;

pub use arguments::Arguments;
pub use pipeline::orchestration_text;
pub use repository::World;
