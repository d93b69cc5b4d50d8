//! Reads the current variables of a project.

use super::type_change::is_type_changed;
use super::variables_file::VariableDefinition;
use crate::api::{ApiValue, Override, Platform, Variable};
use crate::http::{ErrorKind, HttpError};
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

/// Number of overrides that are read at the same time.
const MAX_CONCURRENT_REQUESTS: usize = 8;

/// The current state of the project.
#[derive(Debug, Clone, Default)]
pub struct ProjectState {
    pub variables: BTreeMap<String, Variable>,
    /// Overrides of the variables whose overrides or type the file changes, or which are deleted.
    pub overrides: BTreeMap<String, Vec<Override>>,
    /// Names of the environments, if the file has overrides; `None` if the token may not list them.
    pub environments: Option<BTreeSet<String>>,
}

/// Requests the project's variables. If the file has `overrides` or a new type for a variable, also requests the
/// variable's current overrides; with `--prune`, also those of the variables that the file does not define. If the file
/// defines at least one override, also requests the names of the environments.
pub async fn fetch_project_state(
    platform: &Platform,
    project: Uuid,
    definitions: &[VariableDefinition],
    is_pruned: bool,
) -> Result<ProjectState, HttpError> {
    let variables: BTreeMap<String, Variable> = platform
        .fetch_variables(project)
        .await?
        .into_iter()
        .filter_map(|ApiValue { value, .. }| Some((value.name.clone()?, value)))
        .collect();
    let mut overridden_names = Vec::new();
    for (name, variable) in &variables {
        let definition = definitions.iter().find(|definition| definition.name == *name);
        let needs_overrides = definition.map_or(is_pruned, |definition| {
            definition.overrides.is_some() || is_type_changed(definition, variable)
        });
        if needs_overrides {
            let is_deleted = definition.is_none();
            overridden_names.push((name.clone(), is_deleted));
        }
    }
    let overrides = stream::iter(
        overridden_names
            .into_iter()
            .map(|(name, is_deleted)| fetch_overrides(platform, project, name, is_deleted)),
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
/// name. If the platform does not return the overrides of a variable that is deleted, returns none, because they are
/// only printed.
async fn fetch_overrides(
    platform: &Platform,
    project: Uuid,
    name: String,
    is_deleted: bool,
) -> Result<(String, Vec<Override>), HttpError> {
    let all_environments = None;
    let response = platform
        .fetch_variable_overrides(project, &name, all_environments)
        .await;
    match response {
        Ok(response) => Ok((name, response.value.overrides)),
        Err(error)
            if is_deleted
                && matches!(
                    error.kind(),
                    ErrorKind::InvalidName | ErrorKind::Forbidden | ErrorKind::NotFound
                ) =>
        {
            Ok((name, Vec::new()))
        }
        Err(error) => Err(error),
    }
}
