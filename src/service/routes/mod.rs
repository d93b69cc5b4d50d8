//! What goes over the wire, one file for each resource.

pub mod artifacts;
pub mod reviews;
pub mod shared_pipelines;
