//! The variables file: variables by name.
//!
//! ```yaml
//! variables:
//!   region:
//!     type: TEXT
//!     behaviour: SHARED
//!     description: Where the orders come from
//!     value: eu
//!     supportsDoubleResolution: false
//!     overrides:
//!       production: us
//! ```
//!
//! Fields that an entry does not contain stay unchanged on the platform.

use super::typed_value::validate_value;
use crate::api::{Override, VariableFields};
use crate::definitions::document::ROOT_PATH;
use crate::definitions::fields::FieldReader;
use crate::definitions::{DefinitionError, Document};
use crate::http;
use serde_json::Value;

/// Maximum number of variables in a file.
const MAX_VARIABLES: usize = 10_000;

const VARIABLE_KEYS: [&str; 6] = [
    "type",
    "behaviour",
    "description",
    "value",
    "supportsDoubleResolution",
    "overrides",
];

/// A variable as defined in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableDefinition {
    pub name: String,
    /// The fields that the file defines.
    pub fields: VariableFields,
    /// Overrides; `None` if the file has no such key.
    pub overrides: Option<Vec<Override>>,
    pub(super) path: String,
}

/// Reads the definitions of the variables, in the order of the file.
pub fn read_variables(document: &Document) -> Result<Vec<VariableDefinition>, DefinitionError> {
    let root = FieldReader::new(document, ROOT_PATH, &document.value)?;
    root.reject_unknown_keys(&["variables"])?;
    let Some(Value::Object(entries)) = root.get("variables") else {
        return Err(root.error_at(
            "variables",
            "must be a map of variables by name; use `{}` for no variables",
        ));
    };
    if entries.len() > MAX_VARIABLES {
        return Err(root.error_at("variables", format!("has more than {MAX_VARIABLES} entries")));
    }
    entries
        .iter()
        .map(|(name, entry)| read_variable(document, name, entry, &root.field_path("variables")))
        .collect()
}

/// Reads the definition of a variable from its entry in the map at the path `parent_path` of the document. Fails if the
/// name cannot be a segment of a URL, because the URLs of requests contain the name.
fn read_variable(
    document: &Document,
    name: &str,
    entry: &Value,
    parent_path: &str,
) -> Result<VariableDefinition, DefinitionError> {
    let path = format!("{parent_path}.{name}");
    if let Some(reason) = http::find_segment_problem(name) {
        return Err(document.error_at(
            parent_path,
            format!("{name:?} cannot be the name of a variable: {reason}"),
        ));
    }
    let fields = FieldReader::new(document, &path, entry)?;
    fields.reject_unknown_keys(&VARIABLE_KEYS)?;
    let variable_type = fields.find_text("type")?;
    // A missing key leaves the value unchanged. A null is an error: `validate_value` rejects it for every type.
    let value = match entry.get("value") {
        None => None,
        Some(value) => Some(
            validate_value(variable_type.as_deref(), value)
                .map_err(|reason| fields.error_at("value", reason))?,
        ),
    };
    let overrides = read_overrides(&fields, variable_type.as_deref())?;
    Ok(VariableDefinition {
        name: name.to_owned(),
        fields: VariableFields {
            behaviour: fields.find_text("behaviour")?,
            description: fields.find_possibly_empty_text("description")?,
            value,
            supports_double_resolution: fields.find_boolean("supportsDoubleResolution")?,
            r#type: variable_type,
        },
        overrides,
        path,
    })
}

/// Reads the overrides of a variable of the type `variable_type`; returns `None` if the file has no `overrides` for the
/// variable. Fails if the name of an environment cannot be a segment of a URL, because requests contain it there.
fn read_overrides(
    fields: &FieldReader<'_>,
    variable_type: Option<&str>,
) -> Result<Option<Vec<Override>>, DefinitionError> {
    match fields.get("overrides") {
        None if fields.has_key("overrides") => Err(fields.error_at(
            "overrides",
            "must be a map from environment to value; use `{}` for no overrides",
        )),
        None => Ok(None),
        Some(Value::Object(entries)) => {
            let mut overrides = Vec::with_capacity(entries.len());
            for (environment, value) in entries {
                if let Some(reason) = http::find_segment_problem(environment) {
                    let message = format!("{environment:?} cannot be the name of an environment: {reason}");
                    return Err(fields.error_at("overrides", message));
                }
                let value = validate_value(variable_type, value)
                    .map_err(|reason| fields.error_at(&format!("overrides.{environment}"), reason))?;
                overrides.push(Override {
                    environment_name: environment.clone(),
                    value,
                });
            }
            Ok(Some(overrides))
        }
        Some(_) => Err(fields.error_at("overrides", "must be a map from environment to value")),
    }
}
