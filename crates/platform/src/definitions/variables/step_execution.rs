//! Applies changes independently: a failed change does not prevent the next ones from being tried.

use super::variable_step::{OverrideChange, VariableStep};
use crate::api::{NewVariable, Override, OverridesSet, Platform, VariableFields};
use crate::http::{ErrorKind, HttpError};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::mem;
use uuid::Uuid;

#[derive(Debug)]
pub enum StepOutcome {
    Done,
    /// The request failed. Overrides that an earlier request removed are not set again.
    Failed {
        error: HttpError,
        lost_overrides: Vec<Override>,
    },
    /// The request succeeded, but some overrides were not set: environment and reason.
    Partial(Vec<(String, String)>),
    /// Not tried, because an earlier change failed.
    Skipped,
}

/// Executes the steps in order and calls `report_step` after each. If a variable could not be created, or its type
/// could not be changed, its other steps are skipped. If the platform is unreachable or rejects the token, all
/// remaining steps are skipped. Calls `report_removal` with a variable and its overrides that are or may be removed and
/// not set again, before a request removes one and after each step. After a failed step, there are none: the outcome of
/// the step contains them.
pub async fn execute_steps(
    platform: &Platform,
    project: Uuid,
    steps: &[VariableStep],
    report_removal: &dyn Fn(&str, &[Override]),
    mut report_step: impl FnMut(&VariableStep, &StepOutcome),
) -> Vec<StepOutcome> {
    let mut unusable_variables: HashSet<&str> = HashSet::new();
    // The overrides that a change of the type removed, and that are not set yet.
    let mut removed_overrides: HashMap<&str, Vec<Override>> = HashMap::new();
    let mut is_aborted = false;
    let mut outcomes = Vec::new();
    for step in steps {
        let outcome = if is_aborted || unusable_variables.contains(step.variable()) {
            StepOutcome::Skipped
        } else {
            let mut variable = ChangedVariable {
                platform,
                project,
                name: step.variable(),
                removed_overrides: removed_overrides.entry(step.variable()).or_default(),
                report_removal,
            };
            let outcome = match variable.execute_step(step).await {
                Ok(outcome) => outcome,
                Err(error) => StepOutcome::Failed {
                    error,
                    lost_overrides: mem::take(variable.removed_overrides),
                },
            };
            report_removal(variable.name, variable.removed_overrides);
            outcome
        };
        if let StepOutcome::Failed { error, .. } = &outcome {
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

/// Returns whether every further step would fail for the same reason. Of the permanent errors, 403 may concern only one
/// change; without a connection, in contrast, every change would wait in vain.
const fn prevents_every_step(kind: ErrorKind) -> bool {
    match kind {
        ErrorKind::Forbidden => false,
        ErrorKind::Unreachable | ErrorKind::Timeout => true,
        _ => kind.is_permanent(),
    }
}

/// A variable while its steps are executed.
struct ChangedVariable<'v> {
    platform: &'v Platform,
    project: Uuid,
    name: &'v str,
    /// The overrides of the variable that were removed and not set again.
    removed_overrides: &'v mut Vec<Override>,
    report_removal: &'v dyn Fn(&str, &[Override]),
}

impl ChangedVariable<'_> {
    /// Sends the request of one step. A failed request is an error, which the caller turns into the outcome `Failed`.
    async fn execute_step(&mut self, step: &VariableStep) -> Result<StepOutcome, HttpError> {
        let (platform, project, name) = (self.platform, self.project, self.name);
        match step {
            VariableStep::Create { variable, to } => {
                let new_variable = NewVariable {
                    name: variable.clone(),
                    fields: to.clone(),
                };
                platform.create_variable(project, &new_variable).await?;
            }
            VariableStep::Update {
                sent,
                unfit_overrides,
                ..
            } => self.update(sent, unfit_overrides).await?,
            VariableStep::SetOverrides { overrides, .. } => {
                return self.set_and_confirm_overrides(overrides).await;
            }
            VariableStep::UnsetOverride { was, .. } => {
                platform
                    .delete_override(project, name, &was.environment_name)
                    .await?;
            }
            VariableStep::Delete { .. } => platform.delete_variable(project, name).await?,
        }
        Ok(StepOutcome::Done)
    }

    /// Updates the variable. If the platform refuses a new type because of overrides that do not fit it, removes these
    /// overrides and tries again. A later step sets them in their new form; until then, they are removed.
    async fn update(
        &mut self,
        fields: &VariableFields,
        unfit_overrides: &[Override],
    ) -> Result<(), HttpError> {
        let (platform, project, name) = (self.platform, self.project, self.name);
        match platform.update_variable(project, name, fields).await {
            Err(error) if error.kind() == ErrorKind::Conflict && !unfit_overrides.is_empty() => {}
            result => return result,
        }
        // From here on, the overrides may be removed.
        (self.report_removal)(name, unfit_overrides);
        let mut result = self.remove_overrides(unfit_overrides).await;
        if result.is_ok() {
            result = platform.update_variable(project, name, fields).await;
        }
        if result.is_err() {
            self.restore_overrides().await;
        }
        result
    }

    /// Removes overrides, and records each that is or may be removed.
    async fn remove_overrides(&mut self, unfit_overrides: &[Override]) -> Result<(), HttpError> {
        for unfit_override in unfit_overrides {
            let environment = &unfit_override.environment_name;
            let result = self
                .platform
                .delete_override(self.project, self.name, environment)
                .await;
            match result {
                Ok(()) => self.removed_overrides.push(unfit_override.clone()),
                // Somebody else has removed it meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    if error.is_maybe_processed() || error.has_maybe_processed_try() {
                        self.removed_overrides.push(unfit_override.clone());
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Sets the removed overrides again. Those that the response does not confirm stay removed.
    async fn restore_overrides(&mut self) {
        if self.removed_overrides.is_empty() {
            return;
        }
        let response = self
            .platform
            .set_overrides(self.project, self.name, self.removed_overrides)
            .await;
        // The caller reports the error that made this necessary, and the overrides that remain removed.
        if let Ok(response) = response {
            let unconfirmed_overrides = list_unconfirmed_overrides(self.removed_overrides, &response);
            self.removed_overrides.retain(|entry| {
                unconfirmed_overrides
                    .iter()
                    .any(|(environment, _)| *environment == entry.environment_name)
            });
        }
    }

    /// Sets overrides with one request. The outcome is partial if the response does not confirm all of them; the
    /// reasons then name the values of those that are now removed.
    async fn set_and_confirm_overrides(
        &mut self,
        override_changes: &[OverrideChange],
    ) -> Result<StepOutcome, HttpError> {
        let requested_overrides: Vec<Override> = override_changes
            .iter()
            .map(|override_change| Override {
                environment_name: override_change.environment_name.clone(),
                value: override_change.to.clone(),
            })
            .collect();
        let response = self
            .platform
            .set_overrides(self.project, self.name, &requested_overrides)
            .await?;
        let mut unconfirmed_overrides = list_unconfirmed_overrides(&requested_overrides, &response);
        for entry in mem::take(self.removed_overrides) {
            let unconfirmed_override = unconfirmed_overrides
                .iter_mut()
                .find(|(environment, _)| *environment == entry.environment_name);
            if let Some((_, reason)) = unconfirmed_override {
                *reason = format!("{reason}; {}", describe_lost_override(&entry));
            }
        }
        Ok(if unconfirmed_overrides.is_empty() {
            StepOutcome::Done
        } else {
            StepOutcome::Partial(unconfirmed_overrides)
        })
    }
}

/// Describes an override that was removed and is not set again.
pub fn describe_lost_override(lost_override: &Override) -> String {
    let Override {
        environment_name,
        value,
    } = lost_override;
    format!(
        "the override in {environment_name} was {value} and may be removed: {environment_name} then uses the variable's \
         value"
    )
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
