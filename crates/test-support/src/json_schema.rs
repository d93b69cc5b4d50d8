//! Validation of JSON against a JSON schema.

use boon::{Compiler, Schemas};
use serde_json::Value;

const PLACE: &str = "http://localhost/schema.json";

/// Validates a value against a schema, which must itself be valid; the error describes the mismatch.
#[track_caller]
pub fn hold(schema: &Value, value: &Value) -> Result<(), String> {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.enable_format_assertions();
    compiler.add_resource(PLACE, schema.clone()).unwrap();
    let index = compiler.compile(PLACE, &mut schemas).unwrap();
    let held = schemas.validate(value, index);
    held.map_err(|why| format!("{why:#}\n{value:#}"))
}
