//! Validation of JSON against a JSON schema.

use boon::{Compiler, Schemas};
use serde_json::Value;

const SCHEMA_URL: &str = "http://localhost/schema.json";

/// Validates a value against a schema; the error describes the mismatch. Panics if the schema itself is invalid.
#[track_caller]
pub fn validate(schema: &Value, value: &Value) -> Result<(), String> {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.enable_format_assertions();
    compiler.add_resource(SCHEMA_URL, schema.clone()).unwrap();
    let index = compiler.compile(SCHEMA_URL, &mut schemas).unwrap();
    schemas
        .validate(value, index)
        .map_err(|error| format!("{error:#}\n{value:#}"))
}

/// Validates a document that this program writes: like [`validate`], but a key that the schema does not describe is an
/// error. Alternatives (`anyOf`, `oneOf`) and objects with values of one kind (`additionalProperties`) stay open.
#[track_caller]
pub fn validate_output(schema: &Value, value: &Value) -> Result<(), String> {
    let mut closed_schema = schema.clone();
    close_objects(&mut closed_schema);
    validate(&closed_schema, value)
}

/// Rejects unknown keys in each object that the schema describes.
fn close_objects(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close_objects),
        Value::Object(fields) => {
            for (key, field) in fields.iter_mut() {
                if !matches!(key.as_str(), "anyOf" | "oneOf" | "allOf") {
                    close_objects(field);
                }
            }
            // A property may itself have the name `properties`.
            if fields.contains_key("type") && fields.get("properties").is_some_and(Value::is_object) {
                fields.entry("additionalProperties").or_insert(Value::Bool(false));
            }
        }
        _ => {}
    }
}
