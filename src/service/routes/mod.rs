//! What goes over the wire, a file for each resource.

pub mod artifacts;
pub mod connections;
pub mod environments;
pub mod events;
pub mod executions;
pub mod overrides;
pub mod projects;
pub mod reviews;
pub mod secrets;
pub mod shared_pipelines;
pub mod streaming;
pub mod tasks;
pub mod variables;

use serde::Serialize;
use utoipa::ToSchema;

/// The answer of what has nothing to tell but that it was done.
#[derive(Debug, Serialize, ToSchema)]
struct Empty {}
