//! A project to publish, and a platform with scripted responses to its upload.

use crate::support::{Platform, World, answer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wiremock::{Request, ResponseTemplate};

pub const SHARED: &str = "pipelines:\n  - { pipeline: sales/load.orch.yaml, id: load, enabled: true }\n";

/// Creates a pushed project: one shared pipeline that runs a script and another pipeline.
pub fn project_to_publish() -> World {
    let world = World::new();
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write(
        "sales/load.orch.yaml",
        caller_of_files("sales/clean", "sql/it.sql"),
    );
    world.write("sales/clean.tran.yaml", "type: transformation\npipeline: {}\n");
    world.write("sql/it.sql", "select 1;\r\n");
    world.commit("first");
    world.push();
    world
}

/// Returns a shared-pipelines file with these entries: path, ID, enabled.
pub fn shared_pipelines_file(entries: &[(&str, &str, bool)]) -> String {
    let entry = |(path, id, enabled): &(&str, &str, bool)| {
        format!("  - pipeline: \"{path}\"\n    id: {id}\n    enabled: {enabled}\n    parameters: {{}}\n")
    };
    let list: String = entries.iter().map(entry).collect();
    format!("version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n{list}")
}

pub fn caller_of_files(transformation: &str, script: &str) -> String {
    format!(
        "type: orchestration\npipeline:\n  components:\n    Run:\n      type: run-transformation\n      parameters:\n        \
         transformationJob: {transformation}\n    Script:\n      type: sql-executor\n      parameters:\n        \
         scriptLocation: File\n        fileName: {script}\n"
    )
}

pub fn version_details(world: &World) -> Value {
    json!({
        "artifactDetails": {
            "sharedPipelineIdPrefix": "p", "versionName": "1", "enabled": true,
            "createdAt": "2026-11-20T09:30:00Z", "provider": "public-api",
            "commitHash": world.git(&["rev-parse", "HEAD"]), "branch": "main",
        },
        "sharedPipelines": [{ "sharedPipelineId": "load", "sourcePipeline": "sales/load", "description": "" }],
    })
}

/// Returns a platform without the version, which sends this response to the upload and has the version afterwards.
pub fn publish_platform(world: &World, published: ResponseTemplate) -> Platform {
    platform_taking_uploads(published, answer(&version_details(world)))
}

/// Returns a platform that responds with these details after an upload, and with a 404 before. Its list shows no other
/// version.
pub fn platform_taking_uploads(published: ResponseTemplate, details: ResponseTemplate) -> Platform {
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
    let uploaded = Arc::new(AtomicBool::new(false));
    let there = Arc::clone(&uploaded);
    platform.respond_to("POST", "/artifacts$", move |_: &Request| {
        uploaded.store(true, Ordering::SeqCst);
        published.clone()
    });
    platform.respond_to("GET", "/artifacts/details$", move |_: &Request| {
        if there.load(Ordering::SeqCst) {
            details.clone()
        } else {
            ResponseTemplate::new(404)
        }
    });
    platform
}

pub fn upload_response(ignored: &Value) -> ResponseTemplate {
    answer(&json!({ "versionName": "1", "ignoredResources": ignored }))
}
