//! Describes a pipeline as expressions see it: JSON for other programs, and lines for people.

use super::expression_value::{ExpressionValue, Record};
use super::number_value::format_scalar;
use super::pipeline_record::PipelineRecords;
use super::record_field::{FieldType, RecordKind};
use crate::findings::LINK_ARROW;
use crate::pipelines::{LAYOUT_KEY, Pipeline, PipelineFiles};
use serde_json::{Map, Value, json};
use sluicegate_yaml::{DocumentError, NodeRef, Tree};
use std::fmt::Write as _;

/// The schema of the description of a pipeline.
pub const PIPELINE_SCHEMA: &str = "sluicegate.pipeline/v1";

/// Maximum depth of a value of the document; deeper parts are null.
const MAX_DEPTH: usize = 64;

/// Returns the values of a pipeline that an expression can use, in the form of the schema `sluicegate.pipeline/v1`.
/// Each part of the pipeline also has its line, and the subject that a finding about this part has. `files` contains
/// the project's pipelines, so that calls can be resolved.
pub fn describe_pipeline(
    path: &str,
    bytes: &[u8],
    files: &PipelineFiles<'_>,
) -> Result<Value, DocumentError> {
    let tree = Tree::parse_without(bytes, LAYOUT_KEY)?;
    let pipeline = Pipeline::from_tree(&tree)?;
    let records = PipelineRecords::new(path, &tree, &pipeline, files);
    let mut description = Map::new();
    description.insert("schema".to_owned(), PIPELINE_SCHEMA.into());
    if let ExpressionValue::Record(record) = &records.pipeline {
        description.extend(fields_to_json(record));
    }
    Ok(Value::Object(description))
}

/// Renders the description as text: a line for each value, with its path in the syntax of an expression.
pub fn render_description(description: &Value) -> String {
    let mut lines = String::new();
    push_record_lines(&mut lines, "pipeline", RecordKind::Pipeline, description);
    lines
}

/// Adds the lines of a record, for the fields that an expression can read. Omits the other keys of its description,
/// such as `schema`, `subject` and `line`.
fn push_record_lines(lines: &mut String, path: &str, kind: RecordKind, record: &Value) {
    for (name, value) in record.as_object().into_iter().flatten() {
        let path = format!("{path}.{name}");
        let field = kind.fields().iter().find(|field| field.name == name);
        match (field.map(|field| field.field_type), value) {
            (Some(FieldType::Records(part_kind)), Value::Array(parts)) if !parts.is_empty() => {
                for (index, part) in parts.iter().enumerate() {
                    push_record_lines(lines, &format!("{path}[{index}]"), part_kind, part);
                }
            }
            (Some(_), value) => push_lines(lines, &path, value),
            (None, _) => {}
        }
    }
}

/// Adds a line for each scalar and each empty list or map in `value`, with its path in the syntax of an expression.
fn push_lines(lines: &mut String, path: &str, value: &Value) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                // Any other name is quoted, in brackets.
                if is_identifier(name) {
                    push_lines(lines, &format!("{path}.{name}"), value);
                } else {
                    push_lines(lines, &format!("{path}[{}]", Value::from(name.as_str())), value);
                }
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                push_lines(lines, &format!("{path}[{index}]"), item);
            }
        }
        value => {
            let _ = writeln!(lines, "{path} = {value}");
        }
    }
}

/// Returns whether the name can follow a period in an expression.
fn is_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !["true", "false", "null", "in"].contains(&name)
}

/// Converts the documented fields of a record to JSON. Returns each field's name and value.
fn fields_to_json(record: &Record<'_>) -> Vec<(String, Value)> {
    let fields = record.kind.fields().iter().zip(&record.fields);
    fields
        .map(|(field, value)| (field.name.to_owned(), value_to_json(value)))
        .collect()
}

/// Converts a part of the pipeline to JSON, with its line and the subject of findings about it. The subject is the one
/// that [`TeamRuleSet::evaluate`](super::TeamRuleSet::evaluate) gives to a finding.
fn record_to_json(record: &Record<'_>) -> Value {
    let mut description: Map<String, Value> = fields_to_json(record).into_iter().collect();
    let subject = match record.kind {
        RecordKind::Component | RecordKind::Variable => record.text_field("name").to_owned(),
        RecordKind::Call => record.text_field("from").to_owned(),
        RecordKind::Link => format!(
            "{}{LINK_ARROW}{}",
            record.text_field("from"),
            record.text_field("to")
        ),
        RecordKind::Pipeline | RecordKind::Project => String::new(),
    };
    description.insert("subject".to_owned(), subject.into());
    description.insert("line".to_owned(), record.line.into());
    Value::Object(description)
}

/// Converts a value of an expression to JSON.
fn value_to_json(value: &ExpressionValue<'_>) -> Value {
    match value {
        ExpressionValue::Null => Value::Null,
        ExpressionValue::Boolean(value) => (*value).into(),
        ExpressionValue::Integer(number) => (*number).into(),
        ExpressionValue::Unsigned(number) => (*number).into(),
        ExpressionValue::Double(number) => double_to_json(*number),
        ExpressionValue::Text(text) => text.as_ref().into(),
        ExpressionValue::List(items) => items.iter().map(value_to_json).collect(),
        ExpressionValue::Map(entries) => entries
            .iter()
            .map(|(key, value)| (format_scalar(key).unwrap_or_default(), value_to_json(value)))
            .collect::<Map<String, Value>>()
            .into(),
        ExpressionValue::Record(record) => record_to_json(record),
        ExpressionValue::Node(node) => node_to_json(*node, 0),
        ExpressionValue::Paths(files) => files.paths().iter().copied().collect(),
    }
}

/// Converts a decimal number to JSON, or to text if JSON cannot represent it (infinity and NaN).
fn double_to_json(number: f64) -> Value {
    serde_json::Number::from_f64(number).map_or_else(|| number.to_string().into(), Value::Number)
}

/// Converts a node of the document to JSON. Nodes below [`MAX_DEPTH`] become null, to limit the recursion.
fn node_to_json(node: NodeRef<'_, '_>, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    if let Some(items) = node.items() {
        return items.map(|item| node_to_json(item, depth + 1)).collect();
    }
    if node.is_map() {
        let entries = node.entries();
        return entries
            .map(|(key, _, value)| (key.to_owned(), node_to_json(value, depth + 1)))
            .collect::<Map<String, Value>>()
            .into();
    }
    // A node without a value must not become `ExpressionValue::Node` again, which would lead back here without an end.
    node.value()
        .map_or(Value::Null, |_| value_to_json(&ExpressionValue::from_node(node)))
}

/// Returns the JSON schema of the output of [`describe_pipeline`].
pub fn pipeline_schema() -> Value {
    let mut pipeline = record_schema(RecordKind::Pipeline);
    pipeline["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    pipeline["title"] = PIPELINE_SCHEMA.into();
    pipeline["description"] = "A pipeline in the form that the expressions of team rules read.".into();
    pipeline["properties"]["schema"] = json!({ "const": PIPELINE_SCHEMA });
    pipeline["definitions"] = [
        RecordKind::Component,
        RecordKind::Link,
        RecordKind::Variable,
        RecordKind::Call,
    ]
    .into_iter()
    .map(|kind| (kind.name().to_owned(), part_schema(kind)))
    .collect::<Map<String, Value>>()
    .into();
    pipeline
}

/// Returns the JSON schema of a part of a pipeline, which has a subject and a line in addition to its fields.
fn part_schema(kind: RecordKind) -> Value {
    let mut schema = record_schema(kind);
    schema["properties"]["subject"] =
        json!({ "type": "string", "description": "The subject of a finding about this part." });
    schema["properties"]["line"] =
        json!({ "type": "integer", "minimum": 1, "description": "The line in the file." });
    schema
}

/// Returns the JSON schema of a record, with its documented fields.
fn record_schema(kind: RecordKind) -> Value {
    let fields = kind.fields();
    let properties: Map<String, Value> = fields
        .iter()
        .map(|field| {
            let mut schema = field_schema(field.field_type);
            schema["description"] = field.meaning.into();
            (field.name.to_owned(), schema)
        })
        .collect();
    let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
    json!({ "type": "object", "required": names, "properties": properties })
}

/// Returns the JSON schema of a documented field. The schema of a list of records refers to a definition.
fn field_schema(field_type: FieldType) -> Value {
    match field_type {
        FieldType::Text => json!({ "type": "string" }),
        FieldType::Boolean => json!({ "type": "boolean" }),
        FieldType::Map => json!({ "type": "object" }),
        FieldType::Any => json!({}),
        FieldType::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        FieldType::Records(kind) => {
            json!({ "type": "array", "items": { "allOf": [{ "$ref": format!("#/definitions/{kind}") }] } })
        }
    }
}
