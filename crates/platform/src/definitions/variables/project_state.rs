//! Reads the current variables of a project.

use super::type_change::is_type_changed;
use super::variables_file::VariableDefinition;
use crate::api::{ApiValue, Override, Platform, Variable};
use crate::http::HttpError;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Number of overrides that are read at the same time.
const MAX_CONCURRENT_REQUESTS: usize = 8;

/// The current state of the project.
#[derive(Debug, Clone, Default)]
pub struct ProjectState {
    pub variables: BTreeMap<String, Variable>,
    /// Overrides of the variables whose overrides or type the file changes.
    pub overrides: BTreeMap<String, Vec<Override>>,
    /// Names of the environments, if the file has overrides; `None` if the token may not list them.
    pub environments: Option<BTreeSet<String>>,
}

/// Requests the project's variables. If the file has `overrides` or a new type for a variable, also requests the
/// variable's current overrides. If the file defines at least one override, also requests the names of the
/// environments.
pub async fn fetch_project_state(
    platform: &Platform,
    project: Uuid,
    definitions: &[VariableDefinition],
) -> Result<ProjectState, HttpError> {
    let variables: BTreeMap<String, Variable> = platform
        .fetch_variables(project)
        .await?
        .into_iter()
        .filter_map(|ApiValue { value, .. }| Some((value.name.clone()?, value)))
        .collect();
    let overridden_definitions = definitions.iter().filter(|definition| {
        variables
            .get(&definition.name)
            .is_some_and(|variable| definition.overrides.is_some() || is_type_changed(definition, variable))
    });
    let overrides = stream::iter(
        overridden_definitions.map(|definition| fetch_overrides(platform, project, definition.name.clone())),
    )
    .buffer_unordered(MAX_CONCURRENT_REQUESTS)
    .try_collect()
    .await?;
    // The list `overrides` of a definition can be empty.
    let has_override = definitions
        .iter()
        .any(|definition| definition.overrides.iter().flatten().next().is_some());
    let environments = if has_override {
        fetch_environment_names(platform, project).await?
    } else {
        None
    };
    Ok(ProjectState {
        variables,
        overrides,
        environments,
    })
}

/// Requests the names of the environments, or returns `None` if the token may not list them. Such a token may still set
/// overrides; the platform then checks the names.
async fn fetch_environment_names(
    platform: &Platform,
    project: Uuid,
) -> Result<Option<BTreeSet<String>>, HttpError> {
    match platform.fetch_environments(project).await {
        Ok(environments) => {
            let names = environments
                .into_iter()
                .filter_map(|environment| environment.value.name);
            Ok(Some(names.collect()))
        }
        Err(error) if matches!(error.status(), Some(403 | 404)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Requests the overrides of a variable in all environments. Returns them with the variable's name, to collect them by
/// name.
async fn fetch_overrides(
    platform: &Platform,
    project: Uuid,
    name: String,
) -> Result<(String, Vec<Override>), HttpError> {
    let all_environments = None;
    let response = platform
        .fetch_variable_overrides(project, &name, all_environments)
        .await?;
    Ok((name, response.value.overrides))
}
