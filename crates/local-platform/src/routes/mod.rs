//! The HTTP endpoints, with one file for each resource.

mod artifacts;
mod connections;
mod environments;
mod events;
mod executions;
mod overrides;
mod projects;
mod reviews;
mod secrets;
mod shared_pipelines;
mod streaming;
mod tasks;
mod variables;

use crate::app::App;
use crate::shape::Shape;
use crate::vocabulary::Vocabulary;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;

/// The routes and the schemas that a file in this directory adds to the API.
struct Resource {
    routes: fn() -> OpenApiRouter<Arc<App>>,
    /// The shapes of the request bodies, with the names of the vocabulary.
    shapes: fn(&Vocabulary) -> Vec<Shape>,
}

/// All resources, in the order of the description.
const RESOURCES: [Resource; 13] = [
    reviews::RESOURCE,
    shared_pipelines::RESOURCE,
    artifacts::RESOURCE,
    projects::RESOURCE,
    connections::RESOURCE,
    secrets::RESOURCE,
    environments::RESOURCE,
    variables::RESOURCE,
    overrides::RESOURCE,
    executions::RESOURCE,
    streaming::RESOURCE,
    tasks::RESOURCE,
    events::RESOURCE,
];

/// The empty response of an operation without a result.
#[derive(Debug, Serialize, ToSchema)]
struct Empty {}

/// Adds the routes of all resources to the router.
pub(super) fn add_routes(router: OpenApiRouter<Arc<App>>) -> OpenApiRouter<Arc<App>> {
    RESOURCES
        .iter()
        .fold(router, |router, resource| router.merge((resource.routes)()))
}

/// Returns the shapes of all request bodies. Some of them contain values from the vocabulary, such as warehouse kinds.
pub(super) fn shapes(vocabulary: &Vocabulary) -> Vec<Shape> {
    RESOURCES
        .iter()
        .flat_map(|resource| (resource.shapes)(vocabulary))
        .collect()
}
