//! Applies changes independently: a failed change does not prevent the next ones from being tried.

use super::variable_step::{OverrideChange, VariableStep};
use crate::api::{NewVariable, Override, OverridesSet, Platform, VariableFields};
use crate::http::{ErrorKind, HttpError};
use serde_json::Value;
use std::collections::HashSet;
use uuid::Uuid;

#[derive(Debug)]
pub enum StepOutcome {
    Done,
    Failed(HttpError),
    /// The request succeeded, but some overrides were not set: environment and reason.
    Partial(Vec<(String, String)>),
    /// Not tried, because an earlier change failed.
    Skipped,
}

/// Executes the steps in order and calls `report_step` after each. If a variable could not be created, or its type could
/// not be changed, its other steps are skipped. If the platform is unreachable or rejects the token, all remaining steps are skipped.
pub async fn execute_steps(
    platform: &Platform,
    project: Uuid,
    steps: &[VariableStep],
    mut report_step: impl FnMut(&VariableStep, &StepOutcome),
) -> Vec<StepOutcome> {
    let mut unusable_variables: HashSet<&str> = HashSet::new();
    let mut is_aborted = false;
    let mut outcomes = Vec::new();
    for step in steps {
        let outcome = if is_aborted || unusable_variables.contains(step.variable()) {
            StepOutcome::Skipped
        } else {
            execute_step(platform, project, step)
                .await
                .unwrap_or_else(StepOutcome::Failed)
        };
        if let StepOutcome::Failed(error) = &outcome {
            is_aborted = prevents_every_step(error.kind());
        }
        if !matches!(outcome, StepOutcome::Done) && step.is_required_by_overrides() {
            unusable_variables.insert(step.variable());
        }
        report_step(step, &outcome);
        outcomes.push(outcome);
    }
    outcomes
}

/// Returns whether every further step would fail for the same reason.
const fn prevents_every_step(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unauthorized
            | ErrorKind::Unreachable
            | ErrorKind::Timeout
            | ErrorKind::Certificate
            | ErrorKind::Configuration
    )
}

/// Sends the request of one step. A failed request is an error, which the caller turns into the outcome `Failed`.
async fn execute_step(
    platform: &Platform,
    project: Uuid,
    step: &VariableStep,
) -> Result<StepOutcome, HttpError> {
    match step {
        VariableStep::Create { variable, to } => {
            let new_variable = NewVariable {
                name: variable.clone(),
                fields: to.clone(),
            };
            platform.create_variable(project, &new_variable).await?;
        }
        VariableStep::Update {
            variable,
            sent,
            unfit_overrides,
            ..
        } => return update_variable(platform, project, variable, sent, unfit_overrides).await,
        VariableStep::SetOverrides { variable, overrides } => {
            return set_and_confirm_overrides(platform, project, variable, overrides).await;
        }
        VariableStep::UnsetOverride { variable, was } => {
            platform
                .delete_override(project, variable, &was.environment_name)
                .await?;
        }
        VariableStep::Delete { variable, .. } => platform.delete_variable(project, variable).await?,
    }
    Ok(StepOutcome::Done)
}

/// Updates a variable. If the platform refuses a new type because of overrides that do not fit it, removes these
/// overrides and tries again. A later step sets them in their new form.
async fn update_variable(
    platform: &Platform,
    project: Uuid,
    variable: &str,
    fields: &VariableFields,
    unfit_overrides: &[Override],
) -> Result<StepOutcome, HttpError> {
    match platform.update_variable(project, variable, fields).await {
        Err(error) if error.kind() == ErrorKind::Conflict && !unfit_overrides.is_empty() => {}
        result => return result.map(|()| StepOutcome::Done),
    }
    let mut removed_overrides = Vec::new();
    let mut result = Ok(());
    for unfit_override in unfit_overrides {
        let environment = &unfit_override.environment_name;
        result = platform.delete_override(project, variable, environment).await;
        if result.is_err() {
            break;
        }
        removed_overrides.push(unfit_override.clone());
    }
    if result.is_ok() {
        result = platform.update_variable(project, variable, fields).await;
    }
    match result {
        Ok(()) => Ok(StepOutcome::Done),
        Err(error) => restore_overrides(platform, project, variable, removed_overrides, error).await,
    }
}

/// Sets the removed overrides again after the type could not be changed because of `error`. The outcome is partial if an
/// override remains removed, with the value that it had.
async fn restore_overrides(
    platform: &Platform,
    project: Uuid,
    variable: &str,
    removed_overrides: Vec<Override>,
    error: HttpError,
) -> Result<StepOutcome, HttpError> {
    if removed_overrides.is_empty() {
        return Err(error);
    }
    let response = platform
        .set_overrides(project, variable, &removed_overrides)
        .await;
    let lost_overrides: Vec<Override> = match response {
        Err(_) => removed_overrides,
        Ok(response) => {
            let unconfirmed_overrides = list_unconfirmed_overrides(&removed_overrides, &response);
            removed_overrides
                .into_iter()
                .filter(|entry| {
                    unconfirmed_overrides
                        .iter()
                        .any(|(environment, _)| *environment == entry.environment_name)
                })
                .collect()
        }
    };
    if lost_overrides.is_empty() {
        return Err(error);
    }
    let reasons = lost_overrides.into_iter().map(|entry| {
        let reason = format!(
            "the override was {} and may be removed, because the type could not be changed: {error}",
            entry.value
        );
        (entry.environment_name, reason)
    });
    Ok(StepOutcome::Partial(reasons.collect()))
}

/// Sets overrides of a variable with one request. The outcome is partial if the response does not confirm all of them.
async fn set_and_confirm_overrides(
    platform: &Platform,
    project: Uuid,
    variable: &str,
    override_changes: &[OverrideChange],
) -> Result<StepOutcome, HttpError> {
    let requested_overrides: Vec<Override> = override_changes
        .iter()
        .map(|override_change| Override {
            environment_name: override_change.environment_name.clone(),
            value: override_change.to.clone(),
        })
        .collect();
    let response = platform
        .set_overrides(project, variable, &requested_overrides)
        .await?;
    let unconfirmed_overrides = list_unconfirmed_overrides(&requested_overrides, &response);
    Ok(if unconfirmed_overrides.is_empty() {
        StepOutcome::Done
    } else {
        StepOutcome::Partial(unconfirmed_overrides)
    })
}

/// Returns the environments whose overrides the response does not confirm, each with the reason. The API document does
/// not define the entries of the response, so each entry is searched for the name of a requested environment. A failed
/// entry without such a name is included as an unknown environment.
pub fn list_unconfirmed_overrides(
    requested_overrides: &[Override],
    response: &OverridesSet,
) -> Vec<(String, String)> {
    let failed_entries = response.failed_overrides.as_deref().unwrap_or_default();
    let successful_entries = response.successful_overrides.as_deref().unwrap_or_default();
    let environments: Vec<&str> = requested_overrides
        .iter()
        .map(|entry| entry.environment_name.as_str())
        .collect();
    let mut unconfirmed_overrides = Vec::new();
    for &environment in &environments {
        let failed_entry = failed_entries
            .iter()
            .find(|entry| find_environment_in(entry, &environments) == Some(environment));
        let is_successful = successful_entries
            .iter()
            .any(|entry| find_environment_in(entry, &environments) == Some(environment));
        if let Some(entry) = failed_entry {
            unconfirmed_overrides.push((environment.to_owned(), describe_failed_entry(entry)));
        } else if !is_successful {
            let reason = "the response does not mention this environment";
            unconfirmed_overrides.push((environment.to_owned(), reason.to_owned()));
        }
    }
    for entry in failed_entries {
        if find_environment_in(entry, &environments).is_none() {
            unconfirmed_overrides.push(("(unknown environment)".to_owned(), describe_failed_entry(entry)));
        }
    }
    unconfirmed_overrides
}

/// Returns the requested environment that an entry of the response is about. If a field names an environment, only this
/// name is compared. Otherwise, the longest name in the entry's text is used, because `prod` also occurs in `prod eu`.
fn find_environment_in<'a>(entry: &Value, names: &[&'a str]) -> Option<&'a str> {
    let field = ["environmentName", "environment", "name"]
        .iter()
        .find_map(|key| entry.get(key)?.as_str());
    if let Some(field) = field {
        return names.iter().find(|name| **name == field).copied();
    }
    let text = entry.as_str()?;
    let mentioned_names = names.iter().filter(|name| contains_word(text, name));
    mentioned_names.max_by_key(|name| name.len()).copied()
}

/// Returns whether the text contains this name as a separate word. A word may contain `_` and `-`: `prod` is not a
/// separate word in `prod-eu`.
fn contains_word(text: &str, name: &str) -> bool {
    let is_word_character = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !name.is_empty()
        && text.match_indices(name).any(|(index, _)| {
            !text[..index].ends_with(is_word_character)
                && !text[index + name.len()..].starts_with(is_word_character)
        })
}

/// Returns the message of a failed entry, or the entry's JSON if no known field contains a message.
fn describe_failed_entry(entry: &Value) -> String {
    let message = ["reason", "message", "error", "detail"]
        .iter()
        .find_map(|key| entry.get(key)?.as_str());
    message
        .or(entry.as_str())
        .map_or_else(|| entry.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_the_answer_names_as_done_is_done() {
        let asked: Vec<Override> = ["a", "b", "c", "d"]
            .map(|name| Override {
                environment_name: name.to_owned(),
                value: json!(1),
            })
            .into();
        let answer: OverridesSet = serde_json::from_value(json!({
            "successfulOverrides": ["a", { "environmentName": "b" }],
            "failedOverrides": [{ "environmentName": "c", "reason": "no such environment" }, { "code": 7 }],
        }))
        .unwrap();
        let refused: Vec<String> = list_unconfirmed_overrides(&asked, &answer)
            .into_iter()
            .map(|(name, reason)| format!("{name}: {reason}"))
            .collect();
        assert_eq!(
            refused,
            [
                "c: no such environment",
                "d: the response does not mention this environment",
                "(unknown environment): {\"code\":7}"
            ]
        );
        assert_eq!(
            list_unconfirmed_overrides(&asked, &OverridesSet::default()).len(),
            4
        );
    }
}
