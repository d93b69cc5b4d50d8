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
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};

/// The answer of what has nothing to tell but that it was done.
#[derive(Debug, Serialize, ToSchema)]
struct Empty {}

/// The schema of a list of texts that is not empty, and none of which is.
fn texts() -> Schema {
    let text = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1));
    ArrayBuilder::new().items(text).min_items(Some(1)).into()
}
