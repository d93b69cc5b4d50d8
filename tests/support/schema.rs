//! JSON held to a JSON schema.

use boon::{Compiler, Schemas};
use serde_json::Value;

const PLACE: &str = "http://localhost/schema.json";

/// Holds a value to a schema, which must be one itself, and says what does not fit.
#[track_caller]
pub fn hold(schema: &Value, value: &Value) -> Result<(), String> {
    let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
    compiler.enable_format_assertions();
    compiler.add_resource(PLACE, schema.clone()).unwrap();
    let index = compiler.compile(PLACE, &mut schemas).unwrap();
    let held = schemas.validate(value, index);
    held.map_err(|why| format!("{why:#}\n{value:#}"))
}
