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
