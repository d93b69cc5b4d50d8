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

use super::value::typed;
use crate::api::{Override, VariableFields};
use crate::desired::fields::Fields;
use crate::desired::{DesiredError, Document};
use crate::http;
use serde_json::Value;

/// Maximum number of variables in a file.
const MOST: usize = 10_000;

const KEYS: [&str; 6] = [
    "type",
    "behaviour",
    "description",
    "value",
    "supportsDoubleResolution",
    "overrides",
];

/// A variable as defined in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct WantedVariable {
    pub name: String,
    /// The fields that the file defines.
    pub fields: VariableFields,
    /// Overrides; `None` if the file has no such key.
    pub overrides: Option<Vec<Override>>,
    pub(super) path: String,
}

/// Reads the variables, in file order.
pub fn read(document: &Document) -> Result<Vec<WantedVariable>, DesiredError> {
    let root = Fields::of(document, "", &document.value)?;
    root.known(&["variables"])?;
    let Some(Value::Object(entries)) = root.get("variables") else {
        return Err(root.error(
            "variables",
            "must be a map of variables by name; use `{}` for no variables",
        ));
    };
    if entries.len() > MOST {
        return Err(root.error("variables", format!("has more than {MOST} entries")));
    }
    entries
        .iter()
        .map(|(name, entry)| wanted(document, name, entry, &root.path_of("variables")))
        .collect()
}

fn wanted(
    document: &Document,
    name: &str,
    entry: &Value,
    parent: &str,
) -> Result<WantedVariable, DesiredError> {
    let path = format!("{parent}.{name}");
    if let Some(why) = http::find_segment_problem(name) {
        return Err(document.error(
            parent,
            format!("{name:?} cannot be the name of a variable: {why}"),
        ));
    }
    let fields = Fields::of(document, &path, entry)?;
    fields.known(&KEYS)?;
    let kind = fields.text("type")?;
    let value = match entry.get("value") {
        None => None,
        Some(value) => Some(typed(kind.as_deref(), value).map_err(|why| fields.error("value", why))?),
    };
    let overrides = overrides(&fields, kind.as_deref())?;
    Ok(WantedVariable {
        name: name.to_owned(),
        fields: VariableFields {
            behaviour: fields.text("behaviour")?,
            description: fields.any_text("description")?,
            value,
            supports_double_resolution: fields.switch("supportsDoubleResolution")?,
            r#type: kind,
        },
        overrides,
        path,
    })
}

fn overrides(fields: &Fields<'_>, kind: Option<&str>) -> Result<Option<Vec<Override>>, DesiredError> {
    match fields.get("overrides") {
        None => Ok(None),
        Some(Value::Object(entries)) => {
            let read = |(environment, value): (&String, &Value)| {
                let at = format!("overrides.{environment}");
                if let Some(why) = http::find_segment_problem(environment) {
                    let said = format!("{environment:?} cannot be the name of an environment: {why}");
                    return Err(fields.error("overrides", said));
                }
                Ok(Override {
                    environment_name: environment.clone(),
                    value: typed(kind, value).map_err(|why| fields.error(&at, why))?,
                })
            };
            entries.iter().map(read).collect::<Result<_, _>>().map(Some)
        }
        Some(_) => Err(fields.error("overrides", "must be a map from environment to value")),
    }
}
