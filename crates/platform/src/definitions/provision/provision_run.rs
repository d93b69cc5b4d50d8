//! Runs the remaining steps in order and keeps the state file up to date: before a request it records that the step was
//! started, and afterwards its result. A run that is killed at any point can therefore be continued correctly.

use super::provision_plan::{ProvisionPlan, SecretPlan};
use super::provision_state::{ProvisionState, ProvisionStep, StepMark, StepRecord};
use crate::api::{NewProject, NewSecret, Platform};
use crate::http::{ErrorKind, HttpError};
use secrecy::SecretString;
use serde_json::Value;
use std::io;
use uuid::Uuid;

/// The progress of a step.
#[derive(Debug)]
pub enum StepProgress<'a> {
    /// An earlier run finished the step.
    DoneEarlier,
    /// The step was finished now, with the platform's response.
    Done(&'a Value),
}

/// The reason why not all steps were finished.
#[derive(Debug, thiserror::Error)]
pub enum ProvisionError {
    /// A request failed, or its response was lost.
    #[error("{}: {}", describe_failure(*step, error), error.summary())]
    Failed { step: ProvisionStep, error: HttpError },
    /// The response has no usable project identifier.
    #[error("the project was created, but the response does not contain a usable projectId: {0}")]
    NoProject(String),
    /// The state could not be written.
    #[error("could not write the state file: {0}")]
    UnsavedState(io::Error),
    /// The result of a request could not be written to the state file, which still contains that the step has begun.
    #[error("{result}, but this could not be written to the state file: {error}")]
    UnsavedResult {
        step: ProvisionStep,
        result: String,
        /// The value with which the user resolves the step.
        resolution: String,
        error: io::Error,
    },
}

impl ProvisionError {
    /// Returns the violations that the platform lists; they are not part of the message.
    pub fn list_violations(&self) -> Vec<String> {
        match self {
            Self::Failed { error, .. } => error.list_violations(),
            _ => Vec::new(),
        }
    }
}

/// Describes a failed step. If the platform may have processed the request, it is unknown whether the resource exists.
fn describe_failure(step: ProvisionStep, error: &HttpError) -> String {
    if error.is_maybe_processed() {
        format!("could not determine whether the {step} was created")
    } else {
        format!("the {step} was not created")
    }
}

/// Runs the remaining steps. Calls `save` to store the state before and after each request, and `report_step` for each
/// step. A step whose request certainly had no effect is not kept as begun, so that the next run tries it again.
/// If the effect is unknown, the step remains begun, and [`ProvisionState::check_plan`] rejects the state until the
/// user resolves it.
pub async fn run_steps(
    platform: &Platform,
    plan: &ProvisionPlan,
    secret: Option<&SecretString>,
    state: &mut ProvisionState,
    save: impl Fn(&ProvisionState) -> io::Result<()>,
    mut report_step: impl FnMut(ProvisionStep, StepProgress<'_>),
) -> Result<(), ProvisionError> {
    for step in plan.steps() {
        if state.is_done(step) {
            report_step(step, StepProgress::DoneEarlier);
            continue;
        }
        let unknown_project_id = None;
        record_step(state, plan, step, StepMark::Begun, unknown_project_id);
        save(state).map_err(ProvisionError::UnsavedState)?;
        let response = match run_step(platform, plan, secret, state, step).await {
            Ok(response) => response,
            Err(error) => {
                if is_without_effect(&error) {
                    record_failed_step(state, plan, step, &error);
                    save(state).map_err(|save_error| ProvisionError::UnsavedResult {
                        step,
                        result: error.to_string(),
                        resolution: "again".to_owned(),
                        error: save_error,
                    })?;
                }
                return Err(error);
            }
        };
        // Later steps, also those of a later run, need the identifier of the new project.
        let project_id = match step {
            ProvisionStep::Project => response
                .get("projectId")
                .and_then(Value::as_str)
                .map(str::to_owned),
            _ => None,
        };
        let resolution = project_id.clone().unwrap_or_else(|| "done".to_owned());
        record_step(state, plan, step, StepMark::Done, project_id);
        save(state).map_err(|error| ProvisionError::UnsavedResult {
            step,
            result: format!("the {step} was created"),
            resolution,
            error,
        })?;
        report_step(step, StepProgress::Done(&response));
    }
    Ok(())
}

/// Returns whether the request of the failed step certainly created nothing on the platform.
fn is_without_effect(error: &ProvisionError) -> bool {
    matches!(error, ProvisionError::Failed { error, .. } if !error.is_maybe_processed())
}

/// Removes a step whose request had no effect from the state. A step that the platform refused because of a conflict
/// is recorded instead: the resource may exist, and only then the user can resolve the step as done.
fn record_failed_step(
    state: &mut ProvisionState,
    plan: &ProvisionPlan,
    step: ProvisionStep,
    error: &ProvisionError,
) {
    if matches!(error, ProvisionError::Failed { error, .. } if error.kind() == ErrorKind::Conflict) {
        let unknown_project_id = None;
        record_step(state, plan, step, StepMark::Refused, unknown_project_id);
    } else {
        state.steps.remove(&step);
    }
}

/// Records the progress of a step, and the step's definition in the plan. The next run fails if its plan defines the
/// step differently. Only [`ProvisionStep::Project`] has a `project_id`.
fn record_step(
    state: &mut ProvisionState,
    plan: &ProvisionPlan,
    step: ProvisionStep,
    mark: StepMark,
    project_id: Option<String>,
) {
    let request_body = plan.step_definition(step).unwrap_or_default();
    state.steps.insert(
        step,
        StepRecord {
            mark,
            request_body,
            project_id,
        },
    );
}

/// Sends the request of a step and returns the response. `secret` is the value of the plan's secret. Returns null
/// without a request if the plan has no such secret or repository, or if `secret` is missing.
async fn run_step(
    platform: &Platform,
    plan: &ProvisionPlan,
    secret: Option<&SecretString>,
    state: &ProvisionState,
    step: ProvisionStep,
) -> Result<Value, ProvisionError> {
    if step == ProvisionStep::Project {
        return create_new_project(platform, &plan.project).await;
    }
    let project_id = state.project_id().unwrap_or_default();
    let project =
        Uuid::parse_str(project_id).map_err(|_| ProvisionError::NoProject(project_id.to_owned()))?;
    let response = match step {
        ProvisionStep::Connection => platform.create_connection(project, &plan.connection).await,
        ProvisionStep::Environment => platform.create_environment(project, &plan.environment).await,
        ProvisionStep::Secret => match (&plan.secret, secret) {
            (Some(secret_plan), Some(value)) => store_secret(platform, secret_plan, value).await,
            _ => Ok(Value::Null),
        },
        ProvisionStep::Repository => match &plan.repository {
            Some(repository) => platform.create_repository(project, repository).await,
            None => Ok(Value::Null),
        },
        // The project was created above.
        ProvisionStep::Project => Ok(Value::Null),
    };
    response.map_err(|error| ProvisionError::Failed { step, error })
}

/// Creates the project and returns the response. Fails if the response has no valid identifier of the project, because
/// all later steps need it.
async fn create_new_project(platform: &Platform, new_project: &NewProject) -> Result<Value, ProvisionError> {
    let step = ProvisionStep::Project;
    let project = platform
        .create_project(new_project)
        .await
        .map_err(|error| ProvisionError::Failed { step, error })?;
    let project_id = project.project_id.as_deref().map(Uuid::parse_str);
    match project_id {
        Some(Ok(_)) => Ok(project.raw),
        _ => Err(ProvisionError::NoProject(project.raw.to_string())),
    }
}

/// Stores the secret with this value for the runner of the project, and returns the response.
async fn store_secret(
    platform: &Platform,
    secret_plan: &SecretPlan,
    value: &SecretString,
) -> Result<Value, HttpError> {
    let new_secret = NewSecret {
        name: secret_plan.name.clone(),
        r#type: secret_plan.r#type.clone(),
        key: secret_plan.key.clone(),
        value: value.clone(),
    };
    let stored_secret = platform.create_secret(&secret_plan.agent_id, &new_secret).await?;
    Ok(stored_secret.raw)
}
