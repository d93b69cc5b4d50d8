//! `sluicegate fix`: which findings it fixes, what it proves, and what it leaves unchanged.

mod fixed_values;
mod generated_projects;
mod offered_fixes;
mod proof;
mod staged_files;
mod uncertain_renames;
mod unevaluated_files;

use crate::support::{Arguments, Call, ProgramOutput, World};
use std::fs;

pub const HEADER: &str = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n";
pub const EMPTY: &str = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components: {}\n";

/// Returns a component that runs the orchestration at `target`, which is written as YAML.
pub fn call(component: &str, target: &str) -> String {
    format!(
        "    {component}:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: {target}\n"
    )
}

/// Returns a component with the script at `path`, which is written as YAML.
pub fn script(component: &str, path: &str) -> String {
    format!(
        "    {component}:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        fileName: {path}\n"
    )
}

/// Creates a project with these files on its default branch, and a branch for a change. No rule is enabled.
pub fn project(files: &[(&str, &str)]) -> World {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", "rules: []\n");
    for (path, text) in files {
        world.write(path, text);
    }
    world.commit("the past");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world
}

pub fn fix(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("fix", args))
}

/// Appends the text to a file.
pub fn append(world: &World, path: &str, text: &str) {
    world.write(path, world.read_text(path) + text);
}

/// Returns the findings of the project checks in all pipelines, each as path, check and component.
pub fn list_findings(world: &World) -> Vec<String> {
    let report = Call::new(&world.work())
        .run("check --all --fail-on never --report json=-")
        .expect(0)
        .json();
    let mut findings = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for result in file["results"].as_array().unwrap() {
            for finding in result["findings"].as_array().unwrap() {
                let parts = [&file["path"], &result["rule"], &finding["about"]];
                findings.push(parts.map(|part| part.as_str().unwrap_or_default()).join(" "));
            }
        }
    }
    findings
}

/// Returns the content of every file of the working tree, and the index.
pub fn read_all(world: &World) -> (Vec<(String, Vec<u8>)>, String) {
    let paths = world.git("-c core.quotePath=false ls-files --cached --others");
    let files = paths.lines().map(|path| {
        let path = path.trim_matches('"').to_owned();
        let bytes = fs::read(world.work().join(&path)).unwrap_or_default();
        (path, bytes)
    });
    (files.collect(), world.git("ls-files --stage"))
}
