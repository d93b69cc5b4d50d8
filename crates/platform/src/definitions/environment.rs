//! An environment from a file: API document, "Environment creation request".

use super::document::join_path;
use super::fields::{FieldReader, is_nonempty_text, reject_unquoted_fields};
use super::{DefinitionError, Document};
use crate::api::{ConnectionOverride, NewEnvironment};
use crate::http;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The access levels that the document defines.
const ACCESS_LEVELS: [&str; 5] = ["default", "admin", "runner", "readOnly", "noAccess"];

/// Connection properties that must refer to a secret and must not contain it.
const SECRET_PROPERTIES: [&str; 3] = ["privateKey", "passphrase", "password"];

/// The property for a secret whose reference has no key.
const KEYLESS_PROPERTY: &str = "privateKey";

/// The fields of a connection property, each a string.
const PROPERTY_FIELDS: [&str; 3] = ["value", "secretName", "secretKey"];

const KNOWN_KEYS: [&str; 7] = [
    "name",
    "displayName",
    "description",
    "defaultAgentId",
    "defaultUserAccessLevel",
    "defaultConnections",
    "connectionOverrides",
];

/// The keys of an override of a connection's properties.
const OVERRIDE_KEYS: [&str; 2] = ["connectionName", "connectionProperties"];

/// Describes the keys of this environment, which was read from `path` in the document, that the API document does not
/// define: such a key may be misspelled, and an environment cannot be changed later. Connection properties may have any
/// name.
pub fn describe_unknown_environment_keys(
    document: &Document,
    path: &str,
    environment: &NewEnvironment,
) -> Vec<String> {
    let mut descriptions = document.describe_unknown_keys(path, environment.other_fields.keys(), &KNOWN_KEYS);
    for (index, connection_override) in environment.connection_overrides.iter().enumerate() {
        let override_path = join_path(path, &format!("connectionOverrides[{index}]"));
        let other_keys = connection_override.other_fields.keys();
        descriptions.extend(document.describe_unknown_keys(&override_path, other_keys, &OVERRIDE_KEYS));
    }
    descriptions
}

/// Reads the definition of an environment from `value`, which is at `path` in the document. A definition without
/// `defaultConnections` gets `connections`, and is an error if that is `None`. Keys that the API document does not
/// define are kept, to be sent unchanged.
pub fn read_environment(
    document: &Document,
    path: &str,
    value: &Value,
    connections: Option<BTreeMap<String, BTreeMap<String, String>>>,
) -> Result<NewEnvironment, DefinitionError> {
    let fields = FieldReader::new(document, path, value)?;
    let level = fields.required_text("defaultUserAccessLevel")?;
    if !ACCESS_LEVELS.contains(&level.as_str()) {
        let message = format!("{level:?} is not one of {}", ACCESS_LEVELS.join(", "));
        return Err(fields.error_at("defaultUserAccessLevel", message));
    }
    let default_connections = match (fields.get("defaultConnections"), connections) {
        (None, Some(connections)) => connections,
        (None, None) => return Err(fields.error_at("defaultConnections", "is required")),
        (Some(definition), _) => read_default_connections(&fields, definition)?,
    };
    let name = fields.required_text("name")?;
    // Later requests contain the name in their URL.
    if let Some(reason) = http::find_segment_problem(&name) {
        return Err(fields.error_at(
            "name",
            format!("{name:?} cannot be the name of an environment: {reason}"),
        ));
    }
    let is_known = |key: &String| KNOWN_KEYS.contains(&key.as_str());
    Ok(NewEnvironment {
        name,
        display_name: fields.find_text("displayName")?,
        description: fields.find_possibly_empty_text("description")?,
        default_agent_id: fields.required_uuid("defaultAgentId")?,
        default_user_access_level: level,
        connection_overrides: read_connection_overrides(document, &fields, &default_connections)?,
        default_connections,
        other_fields: fields.unknown_fields(is_known),
    })
}

/// Reads the default connections: for each connection type, such as `DWH`, a map from the kind of warehouse, which
/// becomes lower case, to the name of a connection.
fn read_default_connections(
    fields: &FieldReader<'_>,
    definition: &Value,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, DefinitionError> {
    let connections: BTreeMap<String, BTreeMap<String, String>> = serde_json::from_value(definition.clone())
        .map_err(|_| {
            fields.error_at(
                "defaultConnections",
                "must have the form { DWH: { <warehouse kind>: <connection name> } }",
            )
        })?;
    let mut sent_connections = BTreeMap::new();
    for (connection_type, names) in connections {
        let sent_names = sent_connections
            .entry(connection_type.clone())
            .or_insert_with(BTreeMap::new);
        for (warehouse, name) in names {
            // The platform names the warehouse of a connection in lower case.
            let sent_warehouse = warehouse.to_lowercase();
            if sent_names.insert(sent_warehouse.clone(), name).is_some() {
                let message = format!("{connection_type} has two connections for {sent_warehouse}");
                return Err(fields.error_at("defaultConnections", message));
            }
        }
    }
    Ok(sent_connections)
}

/// Reads the overrides of connection properties in this environment. Each overridden connection must be one of the
/// default connections.
fn read_connection_overrides(
    document: &Document,
    fields: &FieldReader<'_>,
    connections: &BTreeMap<String, BTreeMap<String, String>>,
) -> Result<Vec<ConnectionOverride>, DefinitionError> {
    let Some(Value::Array(entries)) = fields.get("connectionOverrides") else {
        return Err(fields.error_at("connectionOverrides", "is required and must be a list"));
    };
    let mut overrides = Vec::with_capacity(entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let path = fields.field_path(&format!("connectionOverrides[{index}]"));
        let entry_fields = FieldReader::new(document, &path, entry)?;
        let name = entry_fields.required_text("connectionName")?;
        let mut connection_names = connections.values().flat_map(BTreeMap::values);
        if !connection_names.any(|connection_name| *connection_name == name) {
            let message = format!("{name:?} is not one of the default connections");
            return Err(entry_fields.error_at("connectionName", message));
        }
        let Some(properties) = entry_fields.get("connectionProperties") else {
            return Err(entry_fields.error_at("connectionProperties", "is required"));
        };
        let properties_path = entry_fields.field_path("connectionProperties");
        overrides.push(ConnectionOverride {
            connection_name: name,
            connection_properties: read_connection_properties(document, &properties_path, properties)?,
            other_fields: entry_fields.unknown_fields(|key| OVERRIDE_KEYS.contains(&key.as_str())),
        });
    }
    Ok(overrides)
}

/// Returns the properties of a connection unchanged, after a check. Each property must be a map in which none of the
/// [`PROPERTY_FIELDS`] is a number or boolean. A property for a secret must contain the secret's name and, except
/// [`KEYLESS_PROPERTY`], its key, and must not contain its value.
fn read_connection_properties(
    document: &Document,
    path: &str,
    value: &Value,
) -> Result<Map<String, Value>, DefinitionError> {
    let Value::Object(properties) = value else {
        return Err(document.error_at(path, "must be a map"));
    };
    for (name, property) in properties {
        let property_path = format!("{path}.{name}");
        let is_secret = SECRET_PROPERTIES
            .iter()
            .any(|secret_name| name.eq_ignore_ascii_case(secret_name));
        let Value::Object(fields) = property else {
            // A property for a secret that is not a map may be the secret itself.
            return Err(if is_secret {
                secret_error(document, &property_path)
            } else {
                document.error_at(&property_path, "must have the form { value: … }")
            });
        };
        if is_secret && !is_nonempty_text(fields.get("secretName")) {
            return Err(document.error_at(&property_path, "must refer to a secret with `secretName`"));
        }
        if is_secret && fields.contains_key("value") {
            return Err(secret_error(document, &property_path));
        }
        reject_unquoted_fields(document, &property_path, fields, &PROPERTY_FIELDS)?;
        let needs_key = is_secret && !name.eq_ignore_ascii_case(KEYLESS_PROPERTY);
        if needs_key && !is_nonempty_text(fields.get("secretKey")) {
            return Err(document.error_at(&property_path, "must name the key in the secret with `secretKey`"));
        }
    }
    Ok(properties.clone())
}

/// Creates the error that the file contains a secret, with the form of a reference as the hint.
fn secret_error(document: &Document, path: &str) -> DefinitionError {
    document
        .error_at(path, "the file must not contain a secret")
        .with_hint("refer to the secret with { secretName: …, secretKey: … }")
}
