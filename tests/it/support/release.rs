//! A project with one shared pipeline, and the local platform that serves it.

use crate::support::publishing::SHARED;
use crate::support::{Call, PROJECT, RULES, ServerProcess, TOKEN, World, orchestration_text};
use serde_json::Value;

/// Creates a pushed project and the platform that serves it.
pub fn stage() -> (World, ServerProcess) {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write("sales/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    world.push();
    world.git("remote set-head origin main");
    let project = format!("{PROJECT}={}", world.remote().display());
    let token = format!("{TOKEN}=admin");
    let server = ServerProcess::start(world.path(), &["--project", &project, "--token", &token]);
    (world, server)
}

pub fn publish_call(world: &World, server: &ServerProcess) -> Call {
    Call::with_platform(&world.work(), &server.url).variable("SLUICEGATE_PREFIX", "sales")
}

/// Returns the published versions, most recent first, and whether they are enabled.
pub fn versions(world: &World, server: &ServerProcess) -> Vec<(String, bool)> {
    let report = publish_call(world, server)
        .run("artifacts list -o json")
        .expect(0)
        .json();
    let version = |entry: &Value| {
        (
            entry["versionName"].as_str().unwrap().to_owned(),
            entry["enabled"].as_bool().unwrap(),
        )
    };
    report["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(version)
        .collect()
}
