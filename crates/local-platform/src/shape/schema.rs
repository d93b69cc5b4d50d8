//! Describes a shape as a JSON schema for the API description.

use super::{Object, Presence, Shape, ShapeKind, ShapePart};
use serde_json::{Value, json};

impl Shape {
    /// Returns the JSON schema of the shape. If the shape has a name, its schema is added to `named_schemas`, and the
    /// result is a reference to it.
    pub(crate) fn to_schema(&self, named_schemas: &mut Object) -> Value {
        let mut schema = self.value_schema(named_schemas);
        if let Some(about) = self.description {
            schema["description"] = about.into();
        }
        let Some(name) = self.name else {
            return schema;
        };
        named_schemas.insert(name.to_owned(), schema);
        json!({"$ref": format!("#/components/schemas/{name}")})
    }

    /// Returns the JSON schema of the shape itself, without its name and description. Adds the schemas of named shapes
    /// inside it to `named_schemas`.
    fn value_schema(&self, named_schemas: &mut Object) -> Value {
        match &self.kind {
            ShapeKind::Text => json!({"type": "string", "pattern": r"\S"}),
            ShapeKind::AnyText => json!({"type": "string"}),
            ShapeKind::Uuid => json!({"type": "string", "format": "uuid"}),
            ShapeKind::Boolean => json!({"type": "boolean"}),
            ShapeKind::OneOf(names) => json!({"type": "string", "enum": names}),
            ShapeKind::Whole(first, None) => json!({"type": "integer", "minimum": first}),
            ShapeKind::Whole(first, Some(last)) => {
                json!({"type": "integer", "minimum": first, "maximum": last})
            }
            ShapeKind::TextOrNumber => json!({"type": ["string", "number"]}),
            ShapeKind::Texts => {
                json!({"type": "array", "minItems": 1, "items": {"type": "string", "minLength": 1}})
            }
            ShapeKind::List(item) => json!({"type": "array", "items": item.to_schema(named_schemas)}),
            ShapeKind::Map(None) => json!({"type": "object"}),
            ShapeKind::Map(Some(item)) => {
                json!({"type": "object", "additionalProperties": item.to_schema(named_schemas)})
            }
            ShapeKind::Object(parts) => object_schema(parts, named_schemas),
            ShapeKind::AtLeastOneOf(parts) => {
                let mut schema = object_schema(parts, named_schemas);
                schema["minProperties"] = 1.into();
                schema
            }
            ShapeKind::Variants(_, variants) => {
                let schemas: Vec<Value> = variants
                    .iter()
                    .map(|(_, shape)| shape.to_schema(named_schemas))
                    .collect();
                json!({"oneOf": schemas})
            }
        }
    }
}

/// Returns the JSON schema of an object. The schemas of the object's rules, if there are any, are combined with the
/// schema of the members in an `allOf`, because a value must match all of them.
fn object_schema(parts: &[ShapePart], named_schemas: &mut Object) -> Value {
    let (mut properties, mut required_fields) = (Object::new(), Vec::new());
    let mut schemas = Vec::new();
    for part in parts {
        match part {
            ShapePart::Rule(rule) => schemas.extend(rule.schema.clone()),
            ShapePart::Member(member) => {
                let mut schema = member.shape.to_schema(named_schemas);
                match member.presence {
                    Presence::Optional => schema = nullable_schema(schema),
                    Presence::Required(_) | Presence::CheckedByRule => {
                        required_fields.push(member.field.clone());
                    }
                }
                if let Some(description) = member.description {
                    schema["description"] = description.into();
                }
                properties.insert(member.field.clone(), schema);
            }
        }
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required_fields.is_empty() {
        schema["required"] = required_fields.into();
    }
    if schemas.is_empty() {
        return schema;
    }
    schemas.push(schema);
    json!({"allOf": schemas})
}

/// Returns the JSON schema of a value that may also be null. A schema without a `type`, such as a reference, has no
/// types to extend, so the result is a choice between null and this schema.
fn nullable_schema(mut schema: Value) -> Value {
    let Some(kind) = schema.get_mut("type") else {
        return json!({"oneOf": [{"type": "null"}, schema]});
    };
    match kind {
        Value::Array(kinds) => kinds.push("null".into()),
        kind => *kind = json!([kind.take(), "null"]),
    }
    if let Some(Value::Array(names)) = schema.get_mut("enum") {
        names.push(Value::Null);
    }
    schema
}
