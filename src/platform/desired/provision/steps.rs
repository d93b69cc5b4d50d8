//! Does the steps that are not done, in order, and keeps the state on disk in step: before a request it says that the
//! step was begun, after it how it ended. So a run that is killed at any point is gone on from truthfully.

use super::check::ProvisionPlan;
use super::state::{Mark, ProvisionState, ProvisionStep, Record};
use crate::platform::api::{NewSecret, Platform};
use crate::platform::http::HttpError;
use secrecy::SecretString;
use serde_json::Value;
use std::io;
use uuid::Uuid;

/// What is told of a step.
#[derive(Debug)]
pub(crate) enum StepTold<'a> {
    /// It was done by an earlier run.
    Already,
    /// It is done now; the platform's answer.
    Done(&'a Value),
}

/// Why the steps did not come to their end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stopped {
    /// A request failed, or its answer was lost.
    #[error("{}: {error}", outcome(*step, error))]
    Failed { step: ProvisionStep, error: HttpError },
    /// The answer has no identifier to go on with.
    #[error("the project was made, but the answer names no projectId that can be used: {0}")]
    NoProject(String),
    /// The state could not be written.
    #[error("the state cannot be written: {0}")]
    Unsaved(io::Error),
}

/// A lost answer leaves open whether the request had its effect.
fn outcome(step: ProvisionStep, error: &HttpError) -> String {
    if error.may_have_been_processed() {
        format!("it is not known whether the {step} was made")
    } else {
        format!("the {step} was not made")
    }
}

/// Does what is not done. `save` keeps the state, `told` hears of each step.
pub(crate) async fn apply(
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
                    && !error.may_have_been_processed()
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
