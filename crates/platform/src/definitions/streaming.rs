//! A streaming pipeline from a file: API document, "Streaming pipeline".
//!
//! The definition is sent unchanged, so that the platform validates it; the platform's errors are shown at their lines.

use super::document::{ROOT_PATH, join_path};
use super::fields::{is_nonempty_text, reject_unquoted_fields};
use super::{DefinitionError, Document};
use crate::http::FieldViolation;
use serde_json::Value;

/// Keys that contain a reference to a secret.
const SECRET_KEYS: [&str; 3] = ["password", "privatekey", "passphrase"];

/// The keys of a reference to a secret. Another key could contain the secret itself.
const REFERENCE_KEYS: [&str; 4] = ["secretType", "secretLocation", "secretName", "secretKey"];

/// The maps of the API document, each with its keys that are strings and its other keys.
const DEFINED_KEYS: [(&[&str], &[&str], &[&str]); 6] = [
    (
        &[],
        &["name", "agentId"],
        &[
            ID_FIELD,
            "streamingSource",
            "streamingTarget",
            ADVANCED_PROPERTIES,
        ],
    ),
    (&["streamingSource"], &["type"], &["connection", "tables"]),
    (
        &["streamingSource", "connection"],
        &["host", "database", "username"],
        &["port", "password", "jdbcProperties"],
    ),
    (
        &["streamingTarget"],
        &[
            "type",
            "role",
            "warehouse",
            "database",
            "stageSchema",
            "stageName",
            "stagePrefix",
            "tableSchema",
            "tablePrefixType",
            "transformationType",
            "temporalMapping",
        ],
        &["connection"],
    ),
    (
        &["streamingTarget", "connection"],
        &["accountName", "username"],
        &["authentication", "jdbcProperties"],
    ),
    (
        &["streamingTarget", "connection", "authentication"],
        &["type"],
        &["privateKey", "passphrase"],
    ),
];

/// The keys of a table in the source, each a string.
const TABLE_KEYS: [&str; 2] = ["schema", "table"];

const ADVANCED_PROPERTIES: &str = "advancedProperties";

const ID_FIELD: &str = "streamingPipelineId";

/// A definition that is ready to be sent.
#[derive(Debug, Clone)]
pub struct StreamingDefinition {
    pub body: Value,
    /// The changes to the file's content, each a sentence.
    pub notes: Vec<String>,
    /// The keys that the API document does not define, each with its position: such a key may be misspelled.
    pub unknown_keys: Vec<String>,
}

/// Reads the definition from the document. Sets `secretType` to the value of `key_vault` in each reference to a secret
/// that has no `secretType`. Removes the identifier of an existing pipeline, because the platform assigns a new one,
/// and sends the kinds of the source and the target in lower case.
/// Fails if the file contains a secret, an unquoted value where the platform expects a string, or a driver property
/// with a number that would be sent in another notation.
pub fn read_streaming_definition(
    document: &Document,
    key_vault: &str,
) -> Result<StreamingDefinition, DefinitionError> {
    let mut body = document.value.clone();
    let Value::Object(fields) = &mut body else {
        return Err(document.error_at(ROOT_PATH, "must be a map"));
    };
    let mut notes = Vec::new();
    if fields.shift_remove(ID_FIELD).is_some() {
        notes.push(format!("{ID_FIELD} is omitted: the platform assigns a new ID"));
    }
    for section in ["streamingSource", "streamingTarget"] {
        if let Some(Value::String(kind)) = fields
            .get_mut(section)
            .and_then(|section| section.get_mut("type"))
            .filter(|kind| kind.as_str().is_some_and(|kind| kind.to_lowercase() != kind))
        {
            // The platform names databases and warehouses of streaming pipelines in lower case.
            *kind = kind.to_lowercase();
            notes.push(format!("{section}.type is sent in lower case: {kind}"));
        }
    }
    let mut walk = SecretReferenceWalk {
        document,
        key_vault,
        notes,
    };
    walk.complete_all_references(&mut body, ROOT_PATH)?;
    check_text_fields(document, &body)?;
    check_driver_numbers(document, &body)?;
    Ok(StreamingDefinition {
        notes: walk.notes,
        unknown_keys: list_unknown_keys(document),
        body,
    })
}

struct SecretReferenceWalk<'a> {
    document: &'a Document,
    key_vault: &'a str,
    notes: Vec<String>,
}

impl SecretReferenceWalk<'_> {
    /// Sets a missing `secretType` in each reference to a secret, in a map or a list and in everything below it. Fails
    /// if a secret is there instead of a reference. `path` is the path of `value` in the document.
    fn complete_all_references(&mut self, value: &mut Value, path: &str) -> Result<(), DefinitionError> {
        if let Value::Array(items) = value {
            for (index, item) in items.iter_mut().enumerate() {
                self.complete_all_references(item, &format!("{path}[{index}]"))?;
            }
        }
        let Value::Object(fields) = value else {
            return Ok(());
        };
        for (key, value) in fields {
            let path = join_path(path, key);
            // Keys of driver properties may be in another case, such as `Password`.
            if SECRET_KEYS.contains(&key.to_ascii_lowercase().as_str()) {
                self.complete_reference(value, &path)?;
            } else {
                self.complete_all_references(value, &path)?;
            }
        }
        Ok(())
    }

    /// Adds the type of the key vault to a reference to a secret that has no `secretType`, and records this in the
    /// notes. Rejects anything but a map with the name of a secret and no other key, because it may contain the secret
    /// itself. A null is accepted.
    fn complete_reference(&mut self, value: &mut Value, path: &str) -> Result<(), DefinitionError> {
        let fields = match value {
            Value::Null => return Ok(()),
            Value::Object(fields) => fields,
            _ => return Err(self.secret_error(path)),
        };
        if !fields.keys().all(|key| REFERENCE_KEYS.contains(&key.as_str())) {
            return Err(self.secret_error(path));
        }
        reject_unquoted_fields(self.document, path, fields, &REFERENCE_KEYS)?;
        if !is_nonempty_text(fields.get("secretName")) {
            let message = "must refer to a secret with `secretName`";
            return Err(self.document.error_at(path, message));
        }
        if fields.get("secretType").is_none_or(Value::is_null) {
            fields.insert("secretType".to_owned(), self.key_vault.into());
            self.notes
                .push(format!("{path}.secretType is set to {}", self.key_vault));
        }
        Ok(())
    }

    /// Creates the error that the file contains a secret, with the form of a reference as the hint.
    fn secret_error(&self, path: &str) -> DefinitionError {
        self.document
            .error_at(path, "the file must not contain a secret")
            .with_hint("refer to the secret with { secretType: …, secretLocation: …, secretName: … }")
    }
}

/// Describes the keys that the API document does not define. The properties of drivers and the advanced properties may
/// have any name.
fn list_unknown_keys(document: &Document) -> Vec<String> {
    let mut unknown_keys = Vec::new();
    for (parent_keys, text_keys, other_keys) in DEFINED_KEYS {
        if let Value::Object(map) = value_at(&document.value, parent_keys) {
            let known_keys = [text_keys, other_keys].concat();
            let path = parent_keys.join(".");
            unknown_keys.extend(document.describe_unknown_keys(&path, map.keys(), &known_keys));
        }
    }
    let tables = document.value["streamingSource"]["tables"].as_array();
    for (index, table) in tables.into_iter().flatten().enumerate() {
        if let Value::Object(map) = table {
            let path = format!("streamingSource.tables[{index}]");
            unknown_keys.extend(document.describe_unknown_keys(&path, map.keys(), &TABLE_KEYS));
        }
    }
    unknown_keys
}

/// Checks that each field that the API document defines as a string is a string in the file, not a number or boolean.
fn check_text_fields(document: &Document, body: &Value) -> Result<(), DefinitionError> {
    for (parent_keys, text_keys, _) in DEFINED_KEYS {
        if let Value::Object(map) = value_at(body, parent_keys) {
            reject_unquoted_fields(document, &parent_keys.join("."), map, text_keys)?;
        }
    }
    if let Value::Object(map) = &body[ADVANCED_PROPERTIES] {
        let keys: Vec<&str> = map.keys().map(String::as_str).collect();
        reject_unquoted_fields(document, ADVANCED_PROPERTIES, map, &keys)?;
    }
    let tables = body["streamingSource"]["tables"].as_array();
    for (index, table) in tables.into_iter().flatten().enumerate() {
        if let Value::Object(map) = table {
            let path = format!("streamingSource.tables[{index}]");
            reject_unquoted_fields(document, &path, map, &TABLE_KEYS)?;
        }
    }
    Ok(())
}

/// Rejects a number in the driver properties (`jdbcProperties`) that would be sent in another notation, such as `007`
/// as `7`. A driver may read the number as text, and these texts differ.
fn check_driver_numbers(document: &Document, body: &Value) -> Result<(), DefinitionError> {
    for section in ["streamingSource", "streamingTarget"] {
        let parent_keys = [section, "connection", "jdbcProperties"];
        for (key, value) in value_at(body, &parent_keys).as_object().into_iter().flatten() {
            let path = join_path(&parent_keys.join("."), key);
            if let Some(original) = document.original_notation(&path) {
                let message = format!("is the number {original}, which would be sent as {value}");
                return Err(document
                    .error_at(&path, message)
                    .with_hint(format!("write {value}, or put the number in quotes")));
            }
        }
    }
    Ok(())
}

/// Returns the value at the end of this chain of keys; null if one of them is missing.
fn value_at<'v>(body: &'v Value, keys: &[&str]) -> &'v Value {
    keys.iter().fold(body, |value, key| &value[*key])
}

impl Document {
    /// Describes each violation that the platform reported, with the nearest position of its field in this file. A
    /// field of which the file contains no part has no position.
    pub fn describe_violations(&self, violations: &[FieldViolation]) -> Vec<String> {
        violations
            .iter()
            .map(|FieldViolation { field, message }| {
                if self.contains_start_of(field) {
                    self.error_at(field, message).to_string()
                } else if field.is_empty() {
                    message.clone()
                } else {
                    format!("{field}: {message}")
                }
            })
            .collect()
    }

    /// Returns whether this file contains the first key of the path.
    pub fn contains_start_of(&self, path: &str) -> bool {
        let first_key = path.split(['.', '[']).next().unwrap_or_default();
        self.value.get(first_key).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::path::Path;

    fn read(text: &str) -> Document {
        Document::parse(text.as_bytes(), Path::new("s.yaml")).unwrap()
    }

    #[test]
    fn definition_goes_out_as_it_stands() {
        let document = read(
            "streamingPipelineId: x\nname: n\nadvancedProperties: { max.batch.size: '2048' }\nnew: [1]\n\
             streamingSource:\n  connection:\n    password: { secretLocation: v, secretName: s }\n",
        );
        let definition = read_streaming_definition(&document, "VAULT").unwrap();
        assert_eq!(
            definition.body,
            json!({ "name": "n", "advancedProperties": { "max.batch.size": "2048" }, "new": [1],
                "streamingSource": { "connection": { "password":
                    { "secretLocation": "v", "secretName": "s", "secretType": "VAULT" } } } })
        );
        assert_eq!(
            definition.notes,
            [
                "streamingPipelineId is omitted: the platform assigns a new ID",
                "streamingSource.connection.password.secretType is set to VAULT"
            ]
        );
    }

    #[test]
    fn secret_in_file_is_refused_and_not_repeated() {
        for text in [
            "a:\n  password: s3cret\n",
            "a: { jdbcProperties: { Password: s3cret } }",
            "privateKey: [s3cret]",
            "password: { value: s3cret }",
            "a: { password: { secretName: n, Value: s3cret } }",
            "a: [{ b: [{ password: s3cret }] }]",
        ] {
            let said = read_streaming_definition(&read(text), "VAULT")
                .unwrap_err()
                .to_string();
            assert!(
                said.contains("the file must not contain a secret") && !said.contains("s3cret"),
                "{said}"
            );
        }
        assert!(read_streaming_definition(&read("password:\n"), "VAULT").is_ok());
    }

    #[test]
    fn reference_without_secret_name_is_refused() {
        for text in [
            "password: {}",
            "a: { passphrase: { secretLocation: v, secretName: ' ' } }",
        ] {
            let error = read_streaming_definition(&read(text), "VAULT")
                .unwrap_err()
                .to_string();
            assert!(
                error.ends_with("must refer to a secret with `secretName`"),
                "{error}"
            );
        }
    }

    #[test]
    fn streaming_value_that_would_be_sent_differently_is_refused() {
        for (text, said) in [
            ("name: 007", "name: is a number"),
            (
                "streamingSource: { connection: { username: true } }",
                "username: is a boolean",
            ),
            (
                "streamingSource: { tables: [{ schema: s, table: 1.10 }] }",
                "tables[0].table: is a number",
            ),
            (
                "streamingSource: { connection: { password: { secretName: 1e5 } } }",
                "secretName: is a number",
            ),
            (
                "streamingTarget: { connection: { authentication: { type: 1 } } }",
                "type: is a number",
            ),
            ("streamingTarget: { role: 0x1F }", "role: is a number"),
            (
                "advancedProperties: { max.batch.size: 2048 }",
                "max.batch.size: is a number",
            ),
            ("advancedProperties: { a: true }", "a: is a boolean"),
        ] {
            let error = read_streaming_definition(&read(text), "VAULT")
                .unwrap_err()
                .to_string();
            assert!(error.starts_with("s.yaml:1:") && error.contains(said), "{error}");
        }
    }

    #[test]
    fn driver_gets_number_that_file_has() {
        let jdbc = |value: &str| {
            let text = format!("streamingTarget: {{ connection: {{ jdbcProperties: {{ a: {value} }} }} }}");
            read_streaming_definition(&read(&text), "VAULT").map(|it| {
                value_at(&it.body, &["streamingTarget", "connection", "jdbcProperties"])["a"].to_string()
            })
        };
        for (written, sent) in [
            ("007", "7"),
            (".5", "0.5"),
            ("+1.10", "1.10"),
            ("1e5", "1e+5"),
            ("0x1F", "31"),
        ] {
            let error = jdbc(written).unwrap_err().to_string();
            assert!(
                error.ends_with(&format!(
                    "a: is the number {written}, which would be sent as {sent}"
                )),
                "{error}"
            );
        }
        for written in [
            "30",
            "-1",
            "1.5",
            "1.10",
            "1e+5",
            "true",
            "9007199254740995",
            "null",
            "\"007\"",
        ] {
            assert_eq!(jdbc(written).unwrap(), written);
        }
    }

    #[test]
    fn complaints_stand_at_the_line_of_their_field() {
        let document = read("name: n\nstreamingSource:\n  connection:\n    host: h\n    username: ''\n");
        let violation = |field: &str| FieldViolation {
            field: field.to_owned(),
            message: "must not be empty".to_owned(),
        };
        let violations = [
            "streamingSource.connection.username",
            "streamingTarget.connection.authentication",
        ]
        .map(violation);
        assert_eq!(
            document.describe_violations(&violations),
            [
                "s.yaml:5:5: streamingSource.connection.username: must not be empty",
                "streamingTarget.connection.authentication: must not be empty"
            ]
        );
    }
}
