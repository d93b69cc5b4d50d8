//! The failure of a request that starts an execution.

use crate::error::Failure;
use crate::session::resource::RemoteProject;
use crate::session::resource_lookup::{ResourceKind, ResourceLookup, creation_failure};
use sluicegate_platform::api::NewExecution;
use sluicegate_platform::http::{HttpError, request_for_hint};

/// Hint to check whether an execution was started.
pub(super) const EXECUTION_CHECK_INSTRUCTION: &str = "check the list of executions on the platform";

/// Returns the failure for a response other than 404, with the next step for each cause that is known: an execution
/// with the same tag, or a disabled pipeline.
pub(super) fn start_failure(error: HttpError, tag: Option<&str>) -> Failure {
    let hint = match (error.status(), tag) {
        // A proxy may send 429 for a request that the platform has processed, so each earlier try is a possible cause.
        (Some(409), Some(tag)) if error.tries() > 1 => Some(format!(
            "an execution with the tag {tag} is running, perhaps because of an earlier try of this command: \
             {EXECUTION_CHECK_INSTRUCTION}"
        )),
        (Some(409), Some(tag)) => Some(format!(
            "an execution with the tag {tag} is running: wait until it ends, or use another tag"
        )),
        (Some(409), None) => {
            Some("another operation may prevent this execution: try again when it has ended".to_owned())
        }
        (Some(410), _) => {
            Some("the pipeline is disabled on the platform: enable it there or publish it again".to_owned())
        }
        _ => None,
    };
    let failure = creation_failure(error, EXECUTION_CHECK_INSTRUCTION);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Returns the failure for a 404 response to the start. The platform does not say whether the pipeline or the
/// environment is missing: if the pipeline is published, it is the environment.
pub(super) async fn not_found_failure(
    project: &RemoteProject,
    execution: &NewExecution,
    error: HttpError,
) -> Failure {
    let RemoteProject { platform, id } = project;
    let published_pipelines = request_for_hint(platform.fetch_published_pipelines(*id)).await;
    let published_names: Option<Vec<String>> = published_pipelines.map(|pipelines| {
        pipelines
            .into_iter()
            .filter_map(|pipeline| pipeline.value.name)
            .collect()
    });
    let pipeline_lookup = ResourceLookup {
        kind: ResourceKind::PublishedPipeline,
        name: &execution.pipeline_name,
        list_command: Some("pipelines list"),
        show_command: None,
    };
    if published_names.is_none()
        && let Some(failure) = project.find_missing_project(&error).await
    {
        return failure;
    }
    let is_published = published_names
        .as_ref()
        .is_some_and(|names| names.contains(&execution.pipeline_name));
    if !is_published {
        return pipeline_lookup.request_failure_with_names(error, published_names);
    }
    let environment_lookup = ResourceLookup {
        kind: ResourceKind::Environment,
        name: &execution.environment_name,
        list_command: Some("environments list"),
        show_command: None,
    };
    let names = async {
        let environments = platform.fetch_environments(*id).await?;
        Ok(environments
            .into_iter()
            .filter_map(|environment| environment.value.name)
            .collect())
    };
    environment_lookup.request_failure(error, names).await
}
