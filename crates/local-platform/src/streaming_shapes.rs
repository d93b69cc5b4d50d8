//! The schema of a streaming pipeline's definition (API document, "Streaming pipeline").
//!
//! The document shows only two required members; a pipeline also needs a name and an agent to run it. All other members
//! may be missing, but must have the right type if they are present.

use super::json_fields::JsonFields as _;
use super::shape::{
    Shape, ShapePart, any_object, any_text, list_of, map_of, nonempty_member, object, one_of,
    optional_member, required_member, rule, rule_checked_member, text, uuid, whole_number_from,
};
use super::vocabulary::Vocabulary;
use serde_json::{Map, Value};

/// The string members of the target, some with an example.
const TARGET_TEXT_FIELDS: [(&str, &str); 10] = [
    ("role", ""),
    ("warehouse", ""),
    ("database", ""),
    ("stageSchema", ""),
    ("stageName", ""),
    ("stagePrefix", ""),
    ("tableSchema", ""),
    ("tablePrefixType", "Such as `PREFIX`."),
    ("transformationType", "Such as `CHANGE_LOG`."),
    ("temporalMapping", "Such as `NATIVE`."),
];

/// Returns the schema of a definition; further members are stored unchanged.
pub(super) fn definition_shape(vocabulary: &Vocabulary) -> Shape {
    object(definition_members(vocabulary)).with_name(
        "StreamingDefinition",
        "The definition of a streaming pipeline; further members are stored unchanged.",
    )
}

/// Returns the schema of a stored definition.
pub(super) fn stored_definition_shape(vocabulary: &Vocabulary) -> Shape {
    let id = required_member("streamingPipelineId", uuid());
    object([id].into_iter().chain(definition_members(vocabulary))).with_name(
        "StreamingPipeline",
        "The definition of a streaming pipeline, as stored.",
    )
}

/// Returns the members of a definition and the rules about them.
fn definition_members(vocabulary: &Vocabulary) -> Vec<ShapePart> {
    vec![
        required_member("name", text()),
        required_member("agentId", uuid()).with_description(
            "The streaming agent that runs the pipeline; the local platform accepts any UUID.",
        ),
        rule_checked_member("streamingSource", source_shape(vocabulary)),
        connection_rule("streamingSource", "username", "must not be empty"),
        rule_checked_member("streamingTarget", target_shape(vocabulary)),
        connection_rule("streamingTarget", "authentication", "must not be null"),
        optional_member("advancedProperties", map_of(any_text())),
    ]
}

/// Returns the rule that the source or target has a connection. If not, the error names the member that the connection
/// needs most. A source or target that is not an object is already reported by its shape.
fn connection_rule(side: &'static str, member: &'static str, message: &'static str) -> ShapePart {
    rule(
        move |check, body| {
            if lacks_connection(body, side) {
                check.add_error(&format!("{side}.connection.{member}"), message);
            }
        },
        None,
    )
}

/// Returns whether the source or target is missing, or is an object without a connection.
fn lacks_connection(body: &Map<String, Value>, side: &str) -> bool {
    match body.find_value(side) {
        None => true,
        Some(Value::Object(members)) => members.find_value("connection").is_none(),
        Some(_) => false,
    }
}

/// Returns the schema of the source in a definition.
fn source_shape(vocabulary: &Vocabulary) -> Shape {
    let connection = object([
        nonempty_member("username", text()),
        optional_member("host", any_text()),
        optional_member("database", any_text()),
        optional_member("port", whole_number_from(1, Some(65535))),
        optional_member("password", secret_shape(vocabulary)),
        optional_member("jdbcProperties", any_object()),
    ])
    .with_name("SourceConnection", "How to reach the source.");
    let table = object([
        required_member("schema", text()),
        required_member("table", text()),
    ])
    .with_name("Table", "A table of the source.");
    object([
        optional_member("type", one_of(&[&vocabulary.source_database])),
        optional_member("tables", list_of(table)),
        rule_checked_member("connection", connection),
    ])
    .with_name("StreamingSource", "The source to capture changes from.")
}

/// Returns the schema of the target in a definition.
fn target_shape(vocabulary: &Vocabulary) -> Shape {
    let authentication = object([
        optional_member("type", any_text()).with_description("Such as `key-pair`."),
        optional_member("privateKey", secret_shape(vocabulary)),
        optional_member("passphrase", secret_shape(vocabulary)),
    ])
    .with_name("Authentication", "How to sign in at the target.");
    let connection = object([
        optional_member("accountName", any_text()),
        optional_member("username", any_text()),
        required_member("authentication", authentication),
        optional_member("jdbcProperties", any_object()),
    ])
    .with_name("TargetConnection", "How to reach the target.");
    let kind = optional_member("type", one_of(&vocabulary.lower_warehouses()));
    let texts =
        TARGET_TEXT_FIELDS.map(|(field, about)| optional_member(field, any_text()).with_description(about));
    let connection = rule_checked_member("connection", connection);
    object([kind].into_iter().chain(texts).chain([connection]))
        .with_name("StreamingTarget", "The target to write changes to.")
}

/// Returns the schema of a reference to a secret.
fn secret_shape(vocabulary: &Vocabulary) -> Shape {
    object([
        required_member("secretType", one_of(&[&vocabulary.key_vault])),
        required_member("secretLocation", text()).with_description("The vault."),
        required_member("secretName", text()),
    ])
    .with_name("SecretReference", "A secret in a cloud secrets manager.")
}
