//! A project with one shared pipeline, and the local platform that serves it.

use crate::support::publishing::SHARED;
use crate::support::{Call, PROJECT, RULES, Served, TOKEN, World, pipeline};
use serde_json::Value;

/// Creates a pushed project and the platform that serves it.
pub fn stage() -> (World, Served) {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write("sales/load.orch.yaml", pipeline(&["Start", "Done"]));
    world.commit("first");
    world.push();
    world.git("remote set-head origin main");
    let project = format!("{PROJECT}={}", world.remote().display());
    let token = format!("{TOKEN}=admin");
    let served = Served::start(world.path(), &["--project", &project, "--token", &token]);
    (world, served)
}

pub fn call(world: &World, served: &Served) -> Call {
    Call::with_platform(&world.work(), &served.url).variable("SLUICEGATE_PREFIX", "sales")
}

/// Returns the published versions, most recent first, and whether they are enabled.
pub fn versions(world: &World, served: &Served) -> Vec<(String, bool)> {
    let listed = call(world, served).run("artifacts list -o json").expect(0).json();
    let version = |entry: &Value| {
        (
            entry["versionName"].as_str().unwrap().to_owned(),
            entry["enabled"].as_bool().unwrap(),
        )
    };
    listed["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(version)
        .collect()
}
