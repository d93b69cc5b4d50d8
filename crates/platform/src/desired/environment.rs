//! An environment from a file: API document, "Environment creation request".

use super::fields::{Fields, quoted_all};
use super::{DesiredError, Document};
use crate::api::{ConnectionOverride, NewEnvironment};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The access levels that the document defines.
const LEVELS: [&str; 5] = ["default", "admin", "runner", "readOnly", "noAccess"];

/// Connection properties for secrets: they refer to a secret, and never contain it.
const SECRET: [&str; 3] = ["privateKey", "passphrase", "password"];

/// The fields of a connection property, each a string.
const TEXTS: [&str; 3] = ["value", "secretName", "secretKey"];

const KEYS: [&str; 7] = [
    "name",
    "displayName",
    "description",
    "defaultAgentId",
    "defaultUserAccessLevel",
    "defaultConnections",
    "connectionOverrides",
];

/// Reads the environment from the part of the document at `path`. If it has no `defaultConnections`, `connections` are
/// used. Keys that the API document does not define are sent unchanged.
pub fn environment(
    document: &Document,
    path: &str,
    value: &Value,
    connections: Option<BTreeMap<String, BTreeMap<String, String>>>,
) -> Result<NewEnvironment, DesiredError> {
    let fields = Fields::of(document, path, value)?;
    let level = fields.required("defaultUserAccessLevel")?;
    if !LEVELS.contains(&level.as_str()) {
        let said = format!("{level:?} is not one of {}", LEVELS.join(", "));
        return Err(fields.error("defaultUserAccessLevel", said));
    }
    let default_connections = match (fields.get("defaultConnections"), connections) {
        (None, Some(connections)) => connections,
        (None, None) => return Err(fields.error("defaultConnections", "is required")),
        (Some(given), _) => defaults(&fields, given)?,
    };
    let known = |key: &String| KEYS.contains(&key.as_str());
    Ok(NewEnvironment {
        name: fields.required("name")?,
        display_name: fields.text("displayName")?,
        description: fields.any_text("description")?,
        default_agent_id: fields.uuid("defaultAgentId")?,
        default_user_access_level: level,
        connection_overrides: overrides(document, &fields, &default_connections)?,
        default_connections,
        other_fields: fields.others(known),
    })
}

fn defaults(
    fields: &Fields<'_>,
    given: &Value,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, DesiredError> {
    serde_json::from_value(given.clone()).map_err(|_| {
        fields.error(
            "defaultConnections",
            "must be like { DWH: { <warehouse kind>: <connection name> } }",
        )
    })
}

fn overrides(
    document: &Document,
    fields: &Fields<'_>,
    connections: &BTreeMap<String, BTreeMap<String, String>>,
) -> Result<Vec<ConnectionOverride>, DesiredError> {
    let Some(Value::Array(entries)) = fields.get("connectionOverrides") else {
        return Err(fields.error("connectionOverrides", "is required and must be a list"));
    };
    let one = |(index, entry): (usize, &Value)| {
        let path = fields.path_of(&format!("connectionOverrides[{index}]"));
        let fields = Fields::of(document, &path, entry)?;
        let name = fields.required("connectionName")?;
        if !connections
            .values()
            .flat_map(BTreeMap::values)
            .any(|known| *known == name)
        {
            let said = format!("{name:?} is not one of the default connections");
            return Err(fields.error("connectionName", said));
        }
        let Some(properties) = fields.get("connectionProperties") else {
            return Err(fields.error("connectionProperties", "is required"));
        };
        let at = fields.path_of("connectionProperties");
        Ok(ConnectionOverride {
            connection_name: name,
            connection_properties: properties_of(document, &at, properties)?,
            other_fields: fields
                .others(|key| ["connectionName", "connectionProperties"].contains(&key.as_str())),
        })
    };
    entries.iter().enumerate().map(one).collect()
}

/// Returns the properties as they are sent; each consists of strings.
fn properties_of(document: &Document, path: &str, value: &Value) -> Result<Map<String, Value>, DesiredError> {
    let Value::Object(properties) = value else {
        return Err(document.error(path, "must be a map"));
    };
    let one = |(name, property): (&String, &Value)| {
        let at = format!("{path}.{name}");
        let secret = SECRET.contains(&name.as_str());
        match property {
            Value::Object(fields) if secret && !is_name(fields.get("secretName")) => {
                Err(document.error(&at, "must refer to a secret with `secretName`"))
            }
            Value::Object(fields) if secret && fields.contains_key("value") => Err(held(document, &at)),
            Value::Object(fields) => {
                quoted_all(document, &at, fields, &TEXTS)?;
                Ok((name.clone(), property.clone()))
            }
            _ if secret => Err(held(document, &at)),
            _ => Err(document.error(&at, "must be like { value: … }")),
        }
    };
    properties.iter().map(one).collect()
}

fn is_name(value: Option<&Value>) -> bool {
    value
        .and_then(Value::as_str)
        .is_some_and(|name| !name.trim().is_empty())
}

fn held(document: &Document, path: &str) -> DesiredError {
    document
        .error(path, "the file must not contain a secret")
        .with_hint("refer to it with { secretName: …, secretKey: … }")
}
