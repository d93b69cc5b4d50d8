//! Runs the remaining steps in order and keeps the state file up to date: before a request it records that the step was
//! started, and afterwards its result. So a run that is killed at any point can be continued correctly.

use super::check::ProvisionPlan;
use super::state::{Mark, ProvisionState, ProvisionStep, Record};
use crate::api::{NewSecret, Platform};
use crate::http::HttpError;
use secrecy::SecretString;
use serde_json::Value;
use std::io;
use uuid::Uuid;

/// The progress of a step.
#[derive(Debug)]
pub enum StepTold<'a> {
    /// An earlier run finished the step.
    Already,
    /// The step was finished now, with the platform's response.
    Done(&'a Value),
}

/// The reason why not all steps were finished.
#[derive(Debug, thiserror::Error)]
pub enum Stopped {
    /// A request failed, or its response was lost.
    #[error("{}: {error}", outcome(*step, error))]
    Failed { step: ProvisionStep, error: HttpError },
    /// The response has no usable project identifier.
    #[error("the project was created, but the response contains no usable projectId: {0}")]
    NoProject(String),
    /// The state could not be written.
    #[error("could not write the state: {0}")]
    Unsaved(io::Error),
}

/// Describes a failed step; after a lost response it is open whether the request had its effect.
fn outcome(step: ProvisionStep, error: &HttpError) -> String {
    if error.is_maybe_processed() {
        format!("could not determine whether the {step} was created")
    } else {
        format!("the {step} was not created")
    }
}

/// Runs the remaining steps. Calls `save` to store the state, and `told` for each step.
pub async fn apply(
    platform: &Platform,
    plan: &ProvisionPlan,
    secret: Option<&SecretString>,
    state: &mut ProvisionState,
    save: impl Fn(&ProvisionState) -> io::Result<()>,
    mut told: impl FnMut(ProvisionStep, StepTold<'_>),
) -> Result<(), Stopped> {
    for step in plan.steps() {
        if state.is_done(step) {
            told(step, StepTold::Already);
            continue;
        }
        mark(state, plan, step, Mark::Begun, None);
        save(state).map_err(Stopped::Unsaved)?;
        let answer = match one(platform, plan, secret, state, step).await {
            Ok(answer) => answer,
            Err(error) => {
                if let Stopped::Failed { error, .. } = &error
                    && !error.is_maybe_processed()
                {
                    state.steps.remove(&step);
                    save(state).map_err(Stopped::Unsaved)?;
                }
                return Err(error);
            }
        };
        let id = answer.get("projectId").and_then(Value::as_str).map(str::to_owned);
        mark(
            state,
            plan,
            step,
            Mark::Done,
            id.filter(|_| step == ProvisionStep::Project),
        );
        save(state).map_err(Stopped::Unsaved)?;
        told(step, StepTold::Done(&answer));
    }
    Ok(())
}

fn mark(
    state: &mut ProvisionState,
    plan: &ProvisionPlan,
    step: ProvisionStep,
    mark: Mark,
    project_id: Option<String>,
) {
    let made_of = plan.body(step).unwrap_or_default();
    state.steps.insert(
        step,
        Record {
            mark,
            made_of,
            project_id,
        },
    );
}

async fn one(
    platform: &Platform,
    plan: &ProvisionPlan,
    secret: Option<&SecretString>,
    state: &ProvisionState,
    step: ProvisionStep,
) -> Result<Value, Stopped> {
    let failed = |error| Stopped::Failed { step, error };
    if step == ProvisionStep::Project {
        let made = platform.create_project(&plan.project).await.map_err(failed)?;
        let named = made.project_id.as_deref().map(Uuid::parse_str);
        return match named {
            Some(Ok(_)) => Ok(made.raw),
            _ => Err(Stopped::NoProject(made.raw.to_string())),
        };
    }
    let project = state.project_id().unwrap_or_default();
    let project = Uuid::parse_str(project).map_err(|_| Stopped::NoProject(project.to_owned()))?;
    let answer = match (step, &plan.secret, secret, &plan.repository) {
        (ProvisionStep::Connection, ..) => platform.create_connection(project, &plan.connection).await,
        (ProvisionStep::Environment, ..) => platform.create_environment(project, &plan.environment).await,
        (ProvisionStep::Secret, Some(it), Some(value), _) => {
            let new = NewSecret {
                name: it.name.clone(),
                r#type: it.r#type.clone(),
                key: it.key.clone(),
                value: value.clone(),
            };
            platform
                .create_secret(&it.agent_id, &new)
                .await
                .map(|answer| answer.raw)
        }
        (ProvisionStep::Repository, _, _, Some(repository)) => {
            platform.create_repository(project, repository).await
        }
        _ => Ok(Value::Null),
    };
    answer.map_err(failed)
}
