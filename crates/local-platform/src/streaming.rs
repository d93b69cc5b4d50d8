//! The schema of a streaming pipeline's definition (API document, "Streaming pipeline").
//!
//! The document shows only two required members; a pipeline also needs a name and an agent to run it. All other members
//! may be missing, but must have the right type if they are present.

use super::check::BodyCheck;
use super::fields::Fields as _;
use super::shape::{
    Shape, ShapePart, any_object, any_text, fills, list_of, map_of, may, needs, object, one_of, rule, ruled,
    text, uuid, whole_from,
};
use super::vocabulary::Vocabulary;
use serde_json::{Map, Value};

/// The string members of the target, some with an example.
const TARGET_TEXTS: [(&str, &str); 10] = [
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
pub(super) fn definition(vocabulary: &Vocabulary) -> Shape {
    object(list_members(vocabulary)).named(
        "StreamingDefinition",
        "The definition of a streaming pipeline; further members are stored unchanged.",
    )
}

/// Returns the schema of a stored definition.
pub(super) fn stored(vocabulary: &Vocabulary) -> Shape {
    let id = needs("streamingPipelineId", uuid());
    object([id].into_iter().chain(list_members(vocabulary))).named(
        "StreamingPipeline",
        "The definition of a streaming pipeline, as stored.",
    )
}

/// Returns the fields of a streaming pipeline.
fn list_members(vocabulary: &Vocabulary) -> Vec<ShapePart> {
    vec![
        needs("name", text()),
        needs("agentId", uuid())
            .about("The streaming agent that runs the pipeline; the local platform accepts any UUID."),
        ruled("streamingSource", source_shape(vocabulary)),
        require_connection("streamingSource", "username", "must not be empty"),
        ruled("streamingTarget", target_shape(vocabulary)),
        require_connection("streamingTarget", "authentication", "must not be null"),
        may("advancedProperties", map_of(any_text())),
    ]
}

/// Checks that the source or target has a connection. If not, the error names the member that the connection needs
/// most. A source or target that is not an object is already reported by its shape.
fn require_connection(side: &'static str, member: &'static str, message: &'static str) -> ShapePart {
    let check = move |check: &mut BodyCheck, body: &Map<String, Value>| {
        let is_missing = match body.given(side) {
            None => true,
            Some(Value::Object(side)) => side.given("connection").is_none(),
            Some(_) => false,
        };
        if is_missing {
            check.note(&format!("{side}.connection.{member}"), message);
        }
    };
    rule(check, None)
}

/// Returns the shape of the source that changes are captured from.
fn source_shape(vocabulary: &Vocabulary) -> Shape {
    let connection = object([
        fills("username", text()),
        may("host", any_text()),
        may("database", any_text()),
        may("port", whole_from(1, Some(65535))),
        may("password", secret_shape(vocabulary)),
        may("jdbcProperties", any_object()),
    ])
    .named("SourceConnection", "How to reach the source.");
    let table =
        object([needs("schema", text()), needs("table", text())]).named("Table", "A table of the source.");
    object([
        may("type", one_of(&[&vocabulary.source_database])),
        may("tables", list_of(table)),
        ruled("connection", connection),
    ])
    .named("StreamingSource", "The source to capture changes from.")
}

/// Returns the shape of the target that changes are written to.
fn target_shape(vocabulary: &Vocabulary) -> Shape {
    let authentication = object([
        may("type", any_text()).about("Such as `key-pair`."),
        may("privateKey", secret_shape(vocabulary)),
        may("passphrase", secret_shape(vocabulary)),
    ])
    .named("Authentication", "How to sign in at the target.");
    let connection = object([
        may("accountName", any_text()),
        may("username", any_text()),
        needs("authentication", authentication),
        may("jdbcProperties", any_object()),
    ])
    .named("TargetConnection", "How to reach the target.");
    let kind = may("type", one_of(&vocabulary.lower_warehouses()));
    let texts = TARGET_TEXTS.map(|(field, about)| may(field, any_text()).about(about));
    let connection = ruled("connection", connection);
    object([kind].into_iter().chain(texts).chain([connection]))
        .named("StreamingTarget", "The target to write changes to.")
}

/// Returns the shape of a reference to a secret.
fn secret_shape(vocabulary: &Vocabulary) -> Shape {
    object([
        needs("secretType", one_of(&[&vocabulary.key_vault])),
        needs("secretLocation", text()).about("The vault."),
        needs("secretName", text()),
    ])
    .named("SecretReference", "A secret in a cloud secrets manager.")
}
