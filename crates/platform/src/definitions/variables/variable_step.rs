//! The difference between a file and a project, as data that is printed and applied.

use crate::api::{Override, VariableFields};
use serde::Serialize;
use serde_json::Value;

/// A request that brings the project closer to the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum VariableStep {
    Create {
        variable: String,
        to: VariableFields,
    },
    Update {
        variable: String,
        differences: Vec<FieldDifference>,
        /// The fields to send: those that differ, and always type and behaviour.
        #[serde(skip)]
        sent: VariableFields,
        /// The overrides that do not fit the new type, and that a later step replaces.
        #[serde(skip)]
        unfit_overrides: Vec<Override>,
    },
    SetOverrides {
        variable: String,
        overrides: Vec<OverrideChange>,
    },
    /// Removes an override that the file does not have.
    UnsetOverride {
        variable: String,
        #[serde(flatten)]
        was: Override,
    },
    /// Deletes a variable that the file does not have, with its overrides.
    Delete {
        variable: String,
        from: VariableFields,
        overrides: Vec<Override>,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldDifference {
    /// Field name of the platform.
    pub field: String,
    /// Current value; null if the platform returned none.
    pub from: Value,
    pub to: Value,
}

impl FieldDifference {
    pub(super) fn new(field: &str, old: impl Into<Value>, new: impl Into<Value>) -> Self {
        Self {
            field: field.to_owned(),
            from: old.into(),
            to: new.into(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OverrideChange {
    pub environment_name: String,
    /// Current value; `None` if there is no override.
    pub from: Option<Value>,
    pub to: Value,
}

impl VariableStep {
    /// Returns the name of the variable that the step changes.
    pub(crate) fn variable(&self) -> &str {
        match self {
            Self::Create { variable, .. }
            | Self::Update { variable, .. }
            | Self::SetOverrides { variable, .. }
            | Self::UnsetOverride { variable, .. }
            | Self::Delete { variable, .. } => variable,
        }
    }

    /// Returns whether the overrides of the variable can only be set after the step: it creates the variable, or
    /// changes its type.
    pub(super) fn is_required_by_overrides(&self) -> bool {
        match self {
            Self::Create { .. } => true,
            Self::Update { differences, .. } => {
                differences.iter().any(|difference| difference.field == "type")
            }
            _ => false,
        }
    }

    /// Returns the number of changes that the step makes: one for each line that describes it.
    pub fn count_changes(&self) -> usize {
        match self {
            Self::SetOverrides { overrides, .. } => overrides.len(),
            Self::Delete { overrides, .. } => 1 + overrides.len(),
            _ => 1,
        }
    }

    /// Returns the part of the step that sets overrides in these environments, or the complete step if it sets none.
    #[must_use]
    pub fn select_overrides_in(&self, environments: &[&str]) -> Self {
        let mut step = self.clone();
        if let Self::SetOverrides { overrides, .. } = &mut step
            && overrides
                .iter()
                .any(|change| environments.contains(&change.environment_name.as_str()))
        {
            overrides.retain(|change| environments.contains(&change.environment_name.as_str()));
        }
        step
    }

    /// Describes the step for people, with a line for each change: `+` is created, `~` is changed, `-` is removed.
    pub fn describe_lines(&self) -> Vec<String> {
        match self {
            Self::Create { variable, to } => {
                vec![format!("+ {variable}  {}", describe_fields(to).join(", "))]
            }
            Self::Delete {
                variable,
                from,
                overrides,
            } => {
                let mut lines = vec![format!("- {variable}  {}", describe_fields(from).join(", "))];
                lines.extend(
                    overrides
                        .iter()
                        .map(|entry| describe_unset_override(variable, entry)),
                );
                lines
            }
            Self::Update {
                variable,
                differences,
                ..
            } => {
                let descriptions: Vec<String> = differences
                    .iter()
                    .map(|FieldDifference { field, from, to }| format!("{field}: {from} -> {to}"))
                    .collect();
                vec![format!("~ {variable}  {}", descriptions.join(", "))]
            }
            Self::SetOverrides { variable, overrides } => overrides
                .iter()
                .map(|change| match &change.from {
                    None => format!("+ {variable} in {}: {}", change.environment_name, change.to),
                    Some(from) => format!(
                        "~ {variable} in {}: {from} -> {}",
                        change.environment_name, change.to
                    ),
                })
                .collect(),
            Self::UnsetOverride { variable, was } => vec![describe_unset_override(variable, was)],
        }
    }
}

fn describe_unset_override(variable: &str, entry: &Override) -> String {
    format!("- {variable} in {}: {}", entry.environment_name, entry.value)
}

/// Returns the fields that have a value, each as `name: value`, in the order of the API document.
fn describe_fields(fields: &VariableFields) -> Vec<String> {
    match serde_json::to_value(fields) {
        Ok(Value::Object(fields)) => fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect(),
        _ => Vec::new(),
    }
}
