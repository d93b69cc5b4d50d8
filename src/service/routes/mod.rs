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

use crate::service::shape::Shape;
use crate::service::vocabulary::Vocabulary;
use serde::Serialize;
use utoipa::ToSchema;

/// The answer of what has nothing to tell but that it was done.
#[derive(Debug, Serialize, ToSchema)]
struct Empty {}

/// The shapes of all bodies, in the names of the vocabulary.
pub fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    let shapes = [
        artifacts::shapes,
        connections::shapes,
        environments::shapes,
        executions::shapes,
        overrides::shapes,
        projects::shapes,
        reviews::shapes,
        secrets::shapes,
        streaming::shapes,
        tasks::shapes,
        variables::shapes,
    ];
    shapes.into_iter().flat_map(|shapes| shapes(vocabulary)).collect()
}
