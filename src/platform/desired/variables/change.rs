//! The difference between a file and a project, as data: it prints, and it is what is carried out.

use crate::platform::api::{Override, VariableFields};
use serde::Serialize;
use serde_json::Value;

/// One request that brings the project nearer to the file.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub(crate) enum VariableStep {
    Create {
        variable: String,
        to: VariableFields,
    },
    Update {
        variable: String,
        differences: Vec<Difference>,
        /// What is sent: the fields that differ, and type and behaviour in any case.
        #[serde(skip)]
        sent: VariableFields,
    },
    SetOverrides {
        variable: String,
        overrides: Vec<OverrideChange>,
    },
    /// An override that the file does not have is taken away.
    UnsetOverride {
        variable: String,
        #[serde(flatten)]
        was: Override,
    },
    /// A variable that the file does not have is deleted, with its overrides.
    Delete {
        variable: String,
        from: VariableFields,
    },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Difference {
    /// The field, as the platform names it.
    pub field: String,
    /// What it is; null where the platform says nothing.
    pub from: Value,
    pub to: Value,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OverrideChange {
    pub environment_name: String,
    /// What it is; none where there is none.
    pub from: Option<Value>,
    pub to: Value,
}

impl VariableStep {
    pub(crate) fn variable(&self) -> &str {
        match self {
            Self::Create { variable, .. }
            | Self::Update { variable, .. }
            | Self::SetOverrides { variable, .. }
            | Self::UnsetOverride { variable, .. }
            | Self::Delete { variable, .. } => variable,
        }
    }

    /// The difference for people, a line for each part: `+` is made, `~` changed, `-` taken away.
    pub(crate) fn lines(&self) -> Vec<String> {
        match self {
            Self::Create { variable, to } => vec![format!("+ {variable}  {}", said(to).join(", "))],
            Self::Delete { variable, from } => vec![format!("- {variable}  {}", said(from).join(", "))],
            Self::Update {
                variable,
                differences,
                ..
            } => {
                let arrow = |it: &Difference| format!("{}: {} -> {}", it.field, it.from, it.to);
                let shown: Vec<String> = differences.iter().map(arrow).collect();
                vec![format!("~ {variable}  {}", shown.join(", "))]
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
            Self::UnsetOverride { variable, was } => {
                vec![format!("- {variable} in {}: {}", was.environment_name, was.value)]
            }
        }
    }
}

/// The fields that are there, `name: value` each, in the API document's order.
fn said(fields: &VariableFields) -> Vec<String> {
    match serde_json::to_value(fields) {
        Ok(Value::Object(fields)) => fields
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect(),
        _ => Vec::new(),
    }
}
