//! Requests to a platform: paths, bodies and forms. The tests of the program use them, too.

use crate::World;
use reqwest::Client;
use serde_json::{Value, json};

/// Path of the endpoints for artifacts of shared pipelines.
pub const ARTIFACTS: &str = "/v1/shared-pipelines/artifacts";
/// Path of the endpoint for the details of an artifact.
pub const DETAILS: &str = "/v1/shared-pipelines/artifacts/details";

/// Delimiter between the parts of [`build_form`].
pub const BOUNDARY: &str = "the-boundary";
/// Content type of the output of [`build_form`].
pub const FORM: &str = "multipart/form-data; boundary=the-boundary";

/// Creates an HTTP client without certificates and proxies, which its tests do not need.
pub fn build_test_client() -> Client {
    // If an earlier test in this process has installed the provider, this returns an error.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

/// Returns the body of a multipart form with these parts, given as names and contents.
pub fn build_form(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut form = Vec::new();
    for (name, content) in parts {
        let head = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
        form.extend([head.as_bytes(), content.as_bytes(), b"\r\n"].concat());
    }
    form.extend(format!("--{BOUNDARY}--\r\n").bytes());
    form
}

/// A shared-pipelines file with one enabled pipeline, one without a part, and one that is disabled.
pub const CONFIGURATION: &str = "
version: \"1.0\"
type: shared-pipelines-config
pipelines:
  - { pipeline: folder/load it.orch.yaml, displayName: load it, id: load, description: Loads it, enabled: true, parameters: {} }
  - { pipeline: clean.tran.yaml, displayName: clean, id: clean, enabled: true, parameters: {} }
  - { pipeline: old.orch.yaml, displayName: old, id: old, enabled: false, parameters: {} }
";

/// Path of the shared-pipelines file in the directory of the platform.
pub const SHARED_PIPELINES_PART: &str = ".any/shared-pipelines.yaml";

/// The parts of a valid publish.
pub const PUBLISH_PARTS: [(&str, &str); 3] = [
    (SHARED_PIPELINES_PART, CONFIGURATION),
    ("folder/load it.orch.yaml", "type: orchestration"),
    ("clean.tran.yaml", "x"),
];

/// A streaming pipeline with every member.
pub const STREAMING_PIPELINE_DOCUMENT: &str =
    include_str!("../../../tests/fixtures/api/streaming-pipeline.json");

/// Returns a streaming pipeline's definition with every member in the API document, except its ID.
pub fn streaming_definition() -> Value {
    let mut definition: Value = serde_json::from_str(STREAMING_PIPELINE_DOCUMENT).unwrap();
    definition
        .as_object_mut()
        .unwrap()
        .shift_remove("streamingPipelineId");
    definition
}

/// Returns the body of a request to create a task in this project.
pub fn task_request_body(project: &str, mode: &str, message: &str, granted_tools: &[&str]) -> Value {
    json!({
        "message": message,
        "agentConfig": {"name": "data_engineer_agent", "mode": mode, "projectId": project, "sourceBranchName": "main",
            "environmentName": "production", "targetBranchName": "work", "graphId": "g", "workingDirectory": "sales"},
        "grantedPermissions": granted_permissions(granted_tools),
    })
}

/// Returns the list of granted tools in a request, with these names.
pub fn granted_permissions(names: &[&str]) -> Value {
    names.iter().map(|name| json!({"toolName": name})).collect()
}

/// Returns the body of a request to create a variable of type TEXT.
pub fn text_variable(name: &str, value: &str) -> Value {
    json!({"name": name, "type": "TEXT", "behaviour": "SHARED", "value": value})
}

/// The runner of all environments in these tests.
pub const AGENT: &str = "b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";

/// Returns the body of a request to create a connection with the first warehouse kind.
pub fn connection_request(name: &str) -> Value {
    json!({"name": name, "platformConnectionType": "dwh", "authProvider": "warehouse_a", "authType": "key_pair"})
}

/// Returns the body of a request to create an environment that uses the connection `main`.
pub fn environment_request(name: &str) -> Value {
    json!({
        "name": name, "displayName": "Shown", "description": "d", "defaultAgentId": AGENT,
        "defaultUserAccessLevel": "default", "defaultConnections": {"DWH": {"warehouse_a": "main"}},
        "connectionOverrides": [{"connectionName": "main", "connectionProperties": {
            "account": {"value": "a"}, "username": {"value": "u"}, "defaultRole": {"value": "r"},
            "defaultWarehouse": {"value": "w"}, "defaultDatabase": {"value": "d"}, "defaultSchema": {"value": "s"},
            "privateKey": {"secretName": "key"}, "passphrase": {"secretName": "p", "secretKey": "k"},
        }}],
    })
}

/// Creates a repository whose remote has the pipeline `a` on its default branch.
pub fn world_with_pipeline() -> World {
    let world = World::new();
    world.write(
        "a.orch.yaml",
        "type: orchestration\npipeline: { components: { S: { type: start } } }",
    );
    world.commit("first");
    world.push();
    world
}
