//! The HTTP endpoints, with one file for each resource.

pub(super) mod artifacts;
pub(super) mod connections;
pub(super) mod environments;
pub(super) mod events;
pub(super) mod executions;
pub(super) mod overrides;
pub(super) mod projects;
pub(super) mod reviews;
pub(super) mod secrets;
pub(super) mod shared_pipelines;
pub(super) mod streaming;
pub(super) mod tasks;
pub(super) mod variables;

use crate::shape::Shape;
use crate::vocabulary::Vocabulary;
use serde::Serialize;
use utoipa::ToSchema;

/// The empty response of an operation without a result.
#[derive(Debug, Serialize, ToSchema)]
struct Empty {}

/// Returns the schemas of all request bodies, with the names of the vocabulary.
pub(super) fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
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
