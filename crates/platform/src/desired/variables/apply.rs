//! Applies changes independently: a failed change does not prevent the next ones from being tried.

use super::change::VariableStep;
use crate::api::{NewVariable, Override, OverridesSet, Platform};
use crate::http::{ErrorKind, HttpError};
use serde_json::Value;
use std::collections::HashSet;
use uuid::Uuid;

#[derive(Debug)]
pub enum Applied {
    Done,
    Failed(HttpError),
    /// The request succeeded, but some overrides were not set: environment and reason.
    Partly(Vec<(String, String)>),
    /// Not tried, as an earlier change failed.
    Skipped,
}

/// Applies the changes in order; calls `told` for each. Changes that need a variable that could not be created are
/// skipped, and so are all remaining ones once the platform is unreachable or rejects the token.
pub async fn apply(
    platform: &Platform,
    project: Uuid,
    changes: &[VariableStep],
    mut told: impl FnMut(&VariableStep, &Applied),
) -> Vec<Applied> {
    let mut missing: HashSet<&str> = HashSet::new();
    let mut out_of_reach = false;
    let mut ended = Vec::new();
    for change in changes {
        let applied = if out_of_reach || missing.contains(change.variable()) {
            Applied::Skipped
        } else {
            one(platform, project, change)
                .await
                .unwrap_or_else(Applied::Failed)
        };
        if let Applied::Failed(error) = &applied {
            out_of_reach = ends_everything(error.kind());
            if matches!(change, VariableStep::Create { .. }) {
                missing.insert(change.variable());
            }
        }
        told(change, &applied);
        ended.push(applied);
    }
    ended
}

const fn ends_everything(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Unauthorized
            | ErrorKind::Unreachable
            | ErrorKind::Timeout
            | ErrorKind::Certificate
            | ErrorKind::Configuration
    )
}

async fn one(platform: &Platform, project: Uuid, change: &VariableStep) -> Result<Applied, HttpError> {
    match change {
        VariableStep::Create { variable, to } => {
            let new = NewVariable {
                name: variable.clone(),
                fields: to.clone(),
            };
            platform.create_variable(project, &new).await?;
        }
        VariableStep::Update { variable, sent, .. } => {
            platform.update_variable(project, variable, sent).await?;
        }
        VariableStep::SetOverrides { variable, overrides } => {
            let wanted: Vec<Override> = overrides
                .iter()
                .map(|change| Override {
                    environment_name: change.environment_name.clone(),
                    value: change.to.clone(),
                })
                .collect();
            let answer = platform.set_overrides(project, variable, &wanted).await?;
            let refused = refused_overrides(&wanted, &answer);
            if !refused.is_empty() {
                return Ok(Applied::Partly(refused));
            }
        }
        VariableStep::UnsetOverride { variable, was } => {
            platform
                .delete_override(project, variable, &was.environment_name)
                .await?;
        }
        VariableStep::Delete { variable, .. } => platform.delete_variable(project, variable).await?,
    }
    Ok(Applied::Done)
}

/// Returns the requested overrides that are not certain to be set, with the reason. The API document does not define an
/// entry of the response: entries are searched for the environment's name, and an override without an entry is not
/// treated as a success. A failure that matches no requested override is kept with its message.
pub fn refused_overrides(asked: &[Override], answer: &OverridesSet) -> Vec<(String, String)> {
    let failed = answer.failed_overrides.as_deref().unwrap_or_default();
    let done = answer.successful_overrides.as_deref().unwrap_or_default();
    let names: Vec<&str> = asked.iter().map(|it| it.environment_name.as_str()).collect();
    let mut refused = Vec::new();
    for name in &names {
        if let Some(entry) = failed.iter().find(|entry| meant(entry, &names) == Some(name)) {
            refused.push(((*name).to_owned(), reason(entry)));
        } else if !done.iter().any(|entry| meant(entry, &names) == Some(name)) {
            refused.push(((*name).to_owned(), "the response does not mention it".to_owned()));
        }
    }
    let nameless = failed.iter().filter(|entry| meant(entry, &names).is_none());
    refused.extend(nameless.map(|entry| ("(unknown environment)".to_owned(), reason(entry))));
    refused
}

/// Returns the requested environment that an entry is about: by a field, or the longest name that occurs in its text.
fn meant<'a>(entry: &Value, names: &[&'a str]) -> Option<&'a str> {
    let field = ["environmentName", "environment", "name"]
        .iter()
        .find_map(|key| entry.get(key)?.as_str());
    if let Some(field) = field {
        return names.iter().find(|name| **name == field).copied();
    }
    let text = entry.as_str()?;
    let said = names.iter().filter(|name| names_word(text, name));
    said.max_by_key(|name| name.len()).copied()
}

/// Returns whether the text contains this name as a separate word.
fn names_word(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    !name.is_empty()
        && text
            .match_indices(name)
            .any(|(at, _)| !text[..at].ends_with(part) && !text[at + name.len()..].starts_with(part))
}

/// Returns the message of an entry.
fn reason(entry: &Value) -> String {
    let said = ["reason", "message", "error", "detail"]
        .iter()
        .find_map(|key| entry.get(key)?.as_str());
    said.or(entry.as_str())
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
        let refused: Vec<String> = refused_overrides(&asked, &answer)
            .into_iter()
            .map(|(name, why)| format!("{name}: {why}"))
            .collect();
        assert_eq!(
            refused,
            [
                "c: no such environment",
                "d: the response does not mention it",
                "(unknown environment): {\"code\":7}"
            ]
        );
        assert_eq!(refused_overrides(&asked, &OverridesSet::default()).len(), 4);
    }
}
