//! What the definition of a streaming pipeline must be (API document, "Streaming pipeline").
//!
//! Of what must be there, the document shows two members; a pipeline also needs a name and an agent to run it. All
//! other members may be missing, but what is there must be of its kind.

use super::check::{Check, given, whole};
use super::vocabulary::Vocabulary;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;
use uuid::Uuid;

const EMPTY: &str = "must not be empty";

/// The members of the target that are texts.
const TARGET_TEXTS: [&str; 10] = [
    "role",
    "warehouse",
    "database",
    "stageSchema",
    "stageName",
    "stagePrefix",
    "tableSchema",
    "tablePrefixType",
    "transformationType",
    "temporalMapping",
];

/// Notes everything that is wrong with a definition and gives its name.
pub fn check_definition(check: &mut Check, body: &Map<String, Value>, vocabulary: &Vocabulary) -> String {
    let name = check.text(body, "name");
    check.uuid(body, "agentId");
    check_source(check, body, vocabulary);
    check_target(check, body, vocabulary);
    check.optional_object(body, "advancedProperties", |check, properties| {
        for (key, value) in properties {
            if !value.is_string() {
                check.note(key, "must be a string");
            }
        }
    });
    name
}

fn check_source(check: &mut Check, body: &Map<String, Value>, vocabulary: &Vocabulary) {
    let source = check.optional_object(body, "streamingSource", |check, source| {
        check.optional_one_of(source, "type", &[&vocabulary.source_database]);
        check_tables(check, source);
        check.optional_object(source, "connection", |check, connection| {
            check_username(check, connection);
            for text in ["host", "database"] {
                check.any_text(connection, text);
            }
            check_port(check, connection);
            check_secret(check, connection, "password", vocabulary);
            check.optional_object(connection, "jdbcProperties", |_, _| ());
        })
    });
    if let (None | Some(None), true) = (source, is_missing(body, "streamingSource")) {
        check.note("streamingSource.connection.username", EMPTY);
    }
}

/// Whether the side has no connection at all; one of another kind than object is a finding of its own.
fn is_missing(body: &Map<String, Value>, side: &str) -> bool {
    match given(body, side) {
        None => true,
        Some(Value::Object(side)) => given(side, "connection").is_none(),
        Some(_) => false,
    }
}

fn check_username(check: &mut Check, connection: &Map<String, Value>) {
    match given(connection, "username") {
        None => check.note("username", EMPTY),
        Some(_) => {
            check.text(connection, "username");
        }
    }
}

fn check_port(check: &mut Check, connection: &Map<String, Value>) {
    let port = given(connection, "port");
    let is_port = |value: &Value| whole(value).is_some_and(|port| (1..=65535).contains(&port));
    if port.is_some_and(|value| !is_port(value)) {
        check.note("port", "must be an integer from 1 to 65535");
    }
}

fn check_tables(check: &mut Check, source: &Map<String, Value>) {
    check.optional_objects(source, "tables", |check, table| {
        check.text(table, "schema");
        check.text(table, "table");
    });
}

fn check_target(check: &mut Check, body: &Map<String, Value>, vocabulary: &Vocabulary) {
    let kinds = vocabulary.lower_warehouses();
    let target = check.optional_object(body, "streamingTarget", |check, target| {
        check.optional_one_of(target, "type", &kinds.each_ref().map(String::as_str));
        for text in TARGET_TEXTS {
            check.any_text(target, text);
        }
        check.optional_object(target, "connection", |check, connection| {
            for text in ["accountName", "username"] {
                check.any_text(connection, text);
            }
            check.object(connection, "authentication", |check, authentication| {
                check.any_text(authentication, "type");
                for secret in ["privateKey", "passphrase"] {
                    check_secret(check, authentication, secret, vocabulary);
                }
            });
            check.optional_object(connection, "jdbcProperties", |_, _| ());
        })
    });
    if let (None | Some(None), true) = (target, is_missing(body, "streamingTarget")) {
        check.note("streamingTarget.connection.authentication", "must not be null");
    }
}

fn check_secret(check: &mut Check, object: &Map<String, Value>, field: &str, vocabulary: &Vocabulary) {
    check.optional_object(object, field, |check, secret| {
        check.one_of(secret, "secretType", &[&vocabulary.key_vault]);
        check.text(secret, "secretLocation");
        check.text(secret, "secretName");
    });
}

/// The definition of a streaming pipeline; further members are kept as they are.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
pub struct StreamingDefinition {
    #[schema(pattern = r"\S")]
    name: String,
    /// The streaming agent that runs the pipeline; any identifier is that of one.
    #[schema(value_type = String, format = "uuid")]
    agent_id: Uuid,
    streaming_source: StreamingSource,
    streaming_target: StreamingTarget,
    advanced_properties: Option<BTreeMap<String, String>>,
}

/// A definition as it is stored.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(
    dead_code,
    reason = "it describes an answer, which is made from what was stored"
)]
pub struct StreamingPipeline {
    #[schema(rename = "streamingPipelineId", value_type = String, format = "uuid")]
    id: Uuid,
    #[schema(pattern = r"\S")]
    name: String,
    #[schema(value_type = String, format = "uuid")]
    agent_id: Uuid,
    streaming_source: StreamingSource,
    streaming_target: StreamingTarget,
    advanced_properties: Option<BTreeMap<String, String>>,
}

/// What changes are captured from.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct StreamingSource {
    #[schema(inline)]
    r#type: Option<SourceType>,
    connection: SourceConnection,
    tables: Option<Vec<Table>>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a value")]
enum SourceType {
    #[schema(rename = "source_db_a")]
    A,
}

/// How to reach the source.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct SourceConnection {
    host: Option<String>,
    #[schema(minimum = 1, maximum = 65535)]
    port: Option<u16>,
    database: Option<String>,
    #[schema(pattern = r"\S")]
    username: String,
    password: Option<SecretReference>,
    jdbc_properties: Option<BTreeMap<String, Value>>,
}

/// A table of the source.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct Table {
    #[schema(pattern = r"\S")]
    schema: String,
    #[schema(pattern = r"\S")]
    table: String,
}

/// A secret in a cloud secrets manager.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct SecretReference {
    #[schema(rename = "secretType", inline)]
    kind: SecretType,
    /// The vault.
    #[schema(rename = "secretLocation", pattern = r"\S")]
    location: String,
    #[schema(rename = "secretName", pattern = r"\S")]
    name: String,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a value")]
enum SecretType {
    #[schema(rename = "CLOUD_A_KEY_VAULT")]
    A,
}

/// Where changes are written to.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct StreamingTarget {
    #[schema(inline)]
    r#type: Option<TargetType>,
    connection: TargetConnection,
    role: Option<String>,
    warehouse: Option<String>,
    database: Option<String>,
    stage_schema: Option<String>,
    stage_name: Option<String>,
    stage_prefix: Option<String>,
    table_schema: Option<String>,
    /// Such as `PREFIX`.
    table_prefix_type: Option<String>,
    /// Such as `CHANGE_LOG`.
    transformation_type: Option<String>,
    /// Such as `NATIVE`.
    temporal_mapping: Option<String>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a value")]
enum TargetType {
    #[schema(rename = "warehouse_a")]
    A,
    #[schema(rename = "warehouse_b")]
    B,
}

/// How to reach the target.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct TargetConnection {
    account_name: Option<String>,
    username: Option<String>,
    authentication: Authentication,
    jdbc_properties: Option<BTreeMap<String, Value>>,
}

/// How to sign in at the target.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "it describes the body, which is read field by field")]
struct Authentication {
    /// Such as `key-pair`.
    r#type: Option<String>,
    private_key: Option<SecretReference>,
    passphrase: Option<SecretReference>,
}
