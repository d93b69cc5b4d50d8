//! An environment as a file says it: API document, "Environment creation request".

use super::fields::{Fields, quoted_all};
use super::{DesiredError, Document};
use crate::platform::api::{ConnectionOverride, NewEnvironment};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The levels of access that the document knows.
const LEVELS: [&str; 5] = ["default", "admin", "runner", "readOnly", "noAccess"];

/// Connection properties that hold a secret: they name one, and never hold it.
const SECRET: [&str; 3] = ["privateKey", "passphrase", "password"];

/// What a connection property holds, each a text.
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

/// The environment that the part of the document at `path` says. Where it says nothing of `defaultConnections`,
/// `connections` are taken. Keys that the API document does not know are sent as they stand.
pub(crate) fn environment(
    document: &Document,
    path: &str,
    value: &Value,
    connections: Option<BTreeMap<String, BTreeMap<String, String>>>,
) -> Result<NewEnvironment, DesiredError> {
    let fields = Fields::of(document, path, value)?;
    let level = fields.required("defaultUserAccessLevel")?;
    if !LEVELS.contains(&level.as_str()) {
        let said = format!("{level:?} is none of {}", LEVELS.join(", "));
        return Err(fields.error("defaultUserAccessLevel", said));
    }
    let default_connections = match (fields.get("defaultConnections"), connections) {
        (None, Some(connections)) => connections,
        (None, None) => return Err(fields.error("defaultConnections", "is missing and needed")),
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
        more: fields.others(known),
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
        return Err(fields.error("connectionOverrides", "must be a list, and is needed"));
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
            let said = format!("{name:?} is none of the default connections");
            return Err(fields.error("connectionName", said));
        }
        let Some(properties) = fields.get("connectionProperties") else {
            return Err(fields.error("connectionProperties", "is missing and needed"));
        };
        let at = fields.path_of("connectionProperties");
        Ok(ConnectionOverride {
            connection_name: name,
            connection_properties: properties_of(document, &at, properties)?,
            more: fields.others(|key| ["connectionName", "connectionProperties"].contains(&key.as_str())),
        })
    };
    entries.iter().enumerate().map(one).collect()
}

/// The properties as they are sent; each holds texts.
fn properties_of(document: &Document, path: &str, value: &Value) -> Result<Map<String, Value>, DesiredError> {
    let Value::Object(properties) = value else {
        return Err(document.error(path, "must be a map"));
    };
    let one = |(name, property): (&String, &Value)| {
        let at = format!("{path}.{name}");
        let secret = SECRET.contains(&name.as_str());
        match property {
            Value::Object(fields) if secret && !is_name(fields.get("secretName")) => {
                Err(document.error(&at, "must name a secret by `secretName`"))
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
        .error(path, "a secret must not stand in the file")
        .with_hint("name it by { secretName: …, secretKey: … }")
}
