//! The state file, which records finished steps so that none is repeated. It contains no secret.

use super::provision_plan::ProvisionPlan;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sluicegate_base::named_fields::parse_json;
use sluicegate_base::text::format_path;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

const SCHEMA: &str = "sluicegate.provision/v1";

/// A provisioning step, in the API document's order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProvisionStep {
    Project,
    /// The project's default warehouse connection.
    Connection,
    Secret,
    Environment,
    Repository,
}

impl ProvisionStep {
    /// All steps, in order.
    pub const ALL: [Self; 5] = [
        Self::Project,
        Self::Connection,
        Self::Secret,
        Self::Environment,
        Self::Repository,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::Connection => "connection",
            Self::Secret => "secret",
            Self::Environment => "environment",
            Self::Repository => "repository",
        }
    }
}

impl fmt::Display for ProvisionStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepMark {
    /// The request was sent; it is unknown whether the step was done.
    Begun,
    /// The platform refused the request because of a conflict, so the resource may exist.
    Refused,
    Done,
}

/// The recorded state of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepRecord {
    pub mark: StepMark,
    /// The request body of the step; never a secret.
    #[serde(rename = "madeOf")]
    pub request_body: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvisionState {
    schema: String,
    platform: String,
    pub steps: BTreeMap<ProvisionStep, StepRecord>,
}

/// An error that prevents a run from continuing with a state.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("could not read the state file {}: {reason}", format_path(path))]
    Unreadable { path: PathBuf, reason: String },
    /// The state belongs to another platform.
    #[error(
        "the state file {} belongs to the platform {state_platform}, not to {platform}",
        format_path(path)
    )]
    OtherPlatform {
        path: PathBuf,
        state_platform: String,
        platform: String,
    },
    /// The section of a finished step has changed in the file.
    #[error("the {step} was already created, but its definition in the file has changed since")]
    Changed { step: ProvisionStep },
    /// The result of a step is unknown.
    #[error("could not determine whether the {step} was created: the response was lost")]
    Unknown { step: ProvisionStep },
}

impl StateError {
    /// Creates the error for a state file that cannot be parsed.
    fn unreadable(path: &Path, reason: String) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            reason,
        }
    }
}

impl ProvisionState {
    /// Parses the state from the content of the file at `path`, or creates an empty state if there is no file yet.
    /// Fails for the state of another platform.
    pub fn parse(bytes: Option<&[u8]>, path: &Path, platform: &str) -> Result<Self, StateError> {
        let Some(bytes) = bytes else {
            return Ok(Self::new(platform));
        };
        let state: Self =
            parse_json(bytes).map_err(|error| StateError::unreadable(path, error.to_string()))?;
        if state.schema != SCHEMA {
            return Err(StateError::unreadable(
                path,
                format!("the file's schema is {:?}, not {SCHEMA}", state.schema),
            ));
        }
        if state.platform != platform {
            return Err(StateError::OtherPlatform {
                path: path.to_owned(),
                state_platform: state.platform,
                platform: platform.to_owned(),
            });
        }
        Ok(state)
    }

    fn new(platform: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            platform: platform.to_owned(),
            steps: BTreeMap::new(),
        }
    }

    /// Checks that a run can continue from this state. Fails if it is unknown whether a step was done, because an
    /// earlier run was interrupted, or if the plan now defines a finished step differently. A recorded step that the
    /// plan no longer has is accepted, as is a refused step, which the run repeats.
    pub fn check_plan(&self, plan: &ProvisionPlan) -> Result<(), StateError> {
        for (step, record) in &self.steps {
            if record.mark == StepMark::Begun {
                return Err(StateError::Unknown { step: *step });
            }
            if record.mark == StepMark::Refused {
                continue;
            }
            if plan
                .step_definition(*step)
                .is_some_and(|body| body != record.request_body)
            {
                return Err(StateError::Changed { step: *step });
            }
        }
        Ok(())
    }

    pub fn is_done(&self, step: ProvisionStep) -> bool {
        self.steps
            .get(&step)
            .is_some_and(|record| record.mark == StepMark::Done)
    }

    /// Returns the project's identifier, or `None` if the project is not created yet.
    pub fn project_id(&self) -> Option<&str> {
        self.steps.get(&ProvisionStep::Project)?.project_id.as_deref()
    }

    /// Renders the state as the content of its file.
    pub fn render(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

impl ProvisionPlan {
    /// Returns the values that define a step, without the value of a secret, or `None` if the plan has no such secret
    /// or repository. The state file keeps them, to show after an interruption whether the plan changed.
    pub fn step_definition(&self, step: ProvisionStep) -> Option<Value> {
        Some(match step {
            ProvisionStep::Project => json!(self.project),
            ProvisionStep::Connection => json!(self.connection),
            ProvisionStep::Secret => {
                let secret = self.secret.as_ref()?;
                json!([secret.agent_id, secret.name, secret.r#type, secret.key])
            }
            ProvisionStep::Environment => json!(self.environment),
            ProvisionStep::Repository => {
                let repository = self.repository.as_ref()?;
                json!([
                    repository.provider,
                    repository.owner_name,
                    repository.repository_name
                ])
            }
        })
    }

    /// Returns the plan's steps in the order in which they run. The secret and the repository are optional.
    pub fn steps(&self) -> impl Iterator<Item = ProvisionStep> {
        ProvisionStep::ALL.into_iter().filter(move |step| match step {
            ProvisionStep::Secret => self.secret.is_some(),
            ProvisionStep::Repository => self.repository.is_some(),
            _ => true,
        })
    }
}
