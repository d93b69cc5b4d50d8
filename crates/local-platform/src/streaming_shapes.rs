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

/// The string members of the target, some with an example as their description.
const TARGET_TEXT_FIELDS: [(&str, &str); 10] = [
    ("role", ""),
    ("warehouse", ""),
    ("database", ""),
    ("stageSchema", ""),
    ("stageName", ""),
    ("stagePrefix", ""),
    ("tableSchema", ""),
    ("tablePrefixType", "For example `PREFIX`."),
    ("transformationType", "For example `CHANGE_LOG`."),
    ("temporalMapping", "For example `NATIVE`."),
];

/// Returns the shape of a streaming pipeline's definition; further members are stored unchanged.
pub(super) fn streaming_definition_shape(vocabulary: &Vocabulary) -> Shape {
    object(definition_members(vocabulary)).with_name_and_description(
        "StreamingDefinition",
        "The definition of a streaming pipeline; further members are stored unchanged.",
    )
}

/// Returns the shape of a streaming pipeline's stored definition, which also has the pipeline's ID.
pub(super) fn stored_streaming_definition_shape(vocabulary: &Vocabulary) -> Shape {
    let id = required_member("streamingPipelineId", uuid());
    object([id].into_iter().chain(definition_members(vocabulary))).with_name_and_description(
        "StreamingPipeline",
        "The definition of a streaming pipeline, as stored.",
    )
}

/// Returns the members of a streaming pipeline's definition and the rules about them.
fn definition_members(vocabulary: &Vocabulary) -> Vec<ShapePart> {
    vec![
        required_member("name", text()),
        required_member("agentId", uuid()).with_description(
            "The ID of the streaming agent that runs the pipeline; the local platform accepts any UUID.",
        ),
        rule_checked_member("streamingSource", source_shape(vocabulary)),
        connection_rule("streamingSource", "username", "must not be empty"),
        rule_checked_member("streamingTarget", target_shape(vocabulary)),
        connection_rule("streamingTarget", "authentication", "must not be null"),
        optional_member("advancedProperties", map_of(any_text())),
    ]
}

/// Returns the rule that `endpoint`, the source or the target, has a connection. If the connection is missing, the
/// error names the `member` that the API document requires in a connection. Ignores an endpoint that is not an object,
/// because the shape of the endpoint reports this.
fn connection_rule(endpoint: &'static str, member: &'static str, message: &'static str) -> ShapePart {
    // The schema of the members already requires the endpoint and its connection.
    let json_schema = None;
    rule(
        move |check, body| {
            if lacks_connection(body, endpoint) {
                check.add_error(&format!("{endpoint}.connection.{member}"), message);
            }
        },
        json_schema,
    )
}

/// Returns whether the source or target in the member `endpoint` is missing, or is an object without a connection.
fn lacks_connection(body: &Map<String, Value>, endpoint: &str) -> bool {
    match body.find_value(endpoint) {
        None => true,
        Some(Value::Object(members)) => members.find_value("connection").is_none(),
        Some(_) => false,
    }
}

/// Returns the shape of the source in a streaming pipeline's definition.
fn source_shape(vocabulary: &Vocabulary) -> Shape {
    let connection = object([
        nonempty_member("username", text()),
        optional_member("host", any_text()),
        optional_member("database", any_text()),
        optional_member("port", whole_number_from(1, Some(65535))),
        optional_member("password", secret_shape(vocabulary)),
        optional_member("jdbcProperties", any_object()),
    ])
    .with_name_and_description("SourceConnection", "The connection to the source.");
    let table = object([
        required_member("schema", text()),
        required_member("table", text()),
    ])
    .with_name_and_description("Table", "A table in the source.");
    object([
        optional_member("type", one_of(&[&vocabulary.source_database])),
        optional_member("tables", list_of(table)),
        rule_checked_member("connection", connection),
    ])
    .with_name_and_description("StreamingSource", "The source to capture changes from.")
}

/// Returns the shape of the target in a streaming pipeline's definition.
fn target_shape(vocabulary: &Vocabulary) -> Shape {
    let authentication = object([
        optional_member("type", any_text()).with_description("For example `key-pair`."),
        optional_member("privateKey", secret_shape(vocabulary)),
        optional_member("passphrase", secret_shape(vocabulary)),
    ])
    .with_name_and_description("Authentication", "The credentials for the target.");
    let connection = object([
        optional_member("accountName", any_text()),
        optional_member("username", any_text()),
        required_member("authentication", authentication),
        optional_member("jdbcProperties", any_object()),
    ])
    .with_name_and_description("TargetConnection", "The connection to the target.");
    let kind = optional_member("type", one_of(&vocabulary.lowercase_warehouses()));
    let text_members = TARGET_TEXT_FIELDS
        .map(|(field, description)| optional_member(field, any_text()).with_description(description));
    let connection = rule_checked_member("connection", connection);
    object([kind].into_iter().chain(text_members).chain([connection]))
        .with_name_and_description("StreamingTarget", "The target to write changes to.")
}

/// Returns the shape of a reference to a secret.
fn secret_shape(vocabulary: &Vocabulary) -> Shape {
    object([
        required_member("secretType", one_of(&[&vocabulary.key_vault])),
        required_member("secretLocation", text()).with_description("The vault that contains the secret."),
        required_member("secretName", text()),
    ])
    .with_name_and_description("SecretReference", "A secret in a cloud secrets manager.")
}
