//! A streaming pipeline as a file says it: API document, "Streaming pipeline".
//!
//! The definition goes out as it stands, so that the platform judges it; what it complains of is shown at its line.

use super::{DesiredError, Document};
use crate::http::Violation;
use serde_json::Value;

/// Keys that hold a reference to a secret.
const SECRETS: [&str; 3] = ["password", "privatekey", "passphrase"];

const ID: &str = "streamingPipelineId";

/// A definition, ready to be sent.
#[derive(Debug, Clone)]
pub struct StreamingDefinition {
    /// What is sent.
    pub body: Value,
    /// What was done to the file's content, each a sentence.
    pub notes: Vec<String>,
}

/// The definition in the document. A reference to a secret that does not say its type gets `key_vault`; the platform's
/// identifier is left out, as it makes its own; advanced properties are texts, also where the file has numbers.
pub fn streaming(document: &Document, key_vault: &str) -> Result<StreamingDefinition, DesiredError> {
    let mut body = document.value.clone();
    let Value::Object(fields) = &mut body else {
        return Err(document.error("", "must be a map"));
    };
    let mut notes = Vec::new();
    if fields.shift_remove(ID).is_some() {
        notes.push(format!("{ID} is left out: the platform makes its own"));
    }
    if let Some(Value::Object(properties)) = fields.get_mut("advancedProperties") {
        for value in properties
            .values_mut()
            .filter(|value| value.is_number() || value.is_boolean())
        {
            *value = Value::String(value.to_string());
        }
    }
    let mut walk = Walk {
        document,
        key_vault,
        notes,
    };
    walk.map(&mut body, "")?;
    Ok(StreamingDefinition {
        notes: walk.notes,
        body,
    })
}

struct Walk<'a> {
    document: &'a Document,
    key_vault: &'a str,
    notes: Vec<String>,
}

impl Walk<'_> {
    fn map(&mut self, value: &mut Value, path: &str) -> Result<(), DesiredError> {
        let Value::Object(fields) = value else {
            return Ok(());
        };
        for (key, value) in fields {
            let path = super::document::joined(path, key);
            if SECRETS.contains(&key.to_ascii_lowercase().as_str()) {
                self.reference(value, &path)?;
            } else {
                self.map(value, &path)?;
            }
        }
        Ok(())
    }

    fn reference(&mut self, value: &mut Value, path: &str) -> Result<(), DesiredError> {
        match value {
            Value::Null => Ok(()),
            Value::Object(fields) => {
                if fields.get("secretType").is_none_or(Value::is_null) {
                    fields.insert("secretType".to_owned(), self.key_vault.into());
                    self.notes
                        .push(format!("{path}.secretType is {}", self.key_vault));
                }
                Ok(())
            }
            _ => Err(self
                .document
                .error(path, "a secret must not stand in the file")
                .with_hint("refer to it by { secretType: …, secretLocation: …, secretName: … }")),
        }
    }
}

impl Document {
    /// The platform's complaints, each at the line of its field.
    pub fn complaints(&self, violations: &[Violation]) -> Vec<String> {
        let shown = |it: &Violation| self.error(&it.field, &it.message).to_string();
        violations.iter().map(shown).collect()
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
    fn the_definition_goes_out_as_it_stands() {
        let document = read(
            "streamingPipelineId: x\nname: n\nadvancedProperties: { max.batch.size: 2048 }\nnew: [1]\n\
             streamingSource:\n  connection:\n    password: { secretLocation: v, secretName: s }\n",
        );
        let definition = streaming(&document, "VAULT").unwrap();
        assert_eq!(
            definition.body,
            json!({ "name": "n", "advancedProperties": { "max.batch.size": "2048" }, "new": [1],
                "streamingSource": { "connection": { "password":
                    { "secretLocation": "v", "secretName": "s", "secretType": "VAULT" } } } })
        );
        assert_eq!(
            definition.notes,
            [
                "streamingPipelineId is left out: the platform makes its own",
                "streamingSource.connection.password.secretType is VAULT"
            ]
        );
    }

    #[test]
    fn a_secret_in_the_file_is_refused_and_not_repeated() {
        for text in [
            "a:\n  password: s3cret\n",
            "a: { jdbcProperties: { Password: s3cret } }",
            "privateKey: [s3cret]",
        ] {
            let said = streaming(&read(text), "VAULT").unwrap_err().to_string();
            assert!(
                said.contains("a secret must not stand in the file") && !said.contains("s3cret"),
                "{said}"
            );
        }
        assert!(streaming(&read("password:\n"), "VAULT").is_ok());
    }

    #[test]
    fn complaints_stand_at_the_line_of_their_field() {
        let document = read("name: n\nstreamingSource:\n  connection:\n    host: h\n    username: ''\n");
        let violation = |field: &str| Violation {
            field: field.to_owned(),
            message: "must not be empty".to_owned(),
        };
        let violations = [
            "streamingSource.connection.username",
            "streamingTarget.connection.authentication",
        ]
        .map(violation);
        assert_eq!(
            document.complaints(&violations),
            [
                "s.yaml:5:5: streamingSource.connection.username: must not be empty",
                "s.yaml:1:1: streamingTarget.connection.authentication: must not be empty"
            ]
        );
    }
}
