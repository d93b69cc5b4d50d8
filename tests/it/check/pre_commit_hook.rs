//! The hook of `.pre-commit-hooks.yaml`, with the file names that pre-commit would pass to it.

use crate::support::{Call, ProgramOutput, World, orchestration_text, project};
use regex::Regex;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A rules file, a caller, a called pipeline that is also shared, and project checks of level error.
fn shared_project() -> World {
    let world = project();
    world.write("called.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write(
        ".platform/shared-pipelines.yaml",
        "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: called.orch.yaml, id: called, \
         displayName: called, enabled: true, parameters: {} }\n",
    );
    world.write(
        "sluicegate.yaml",
        "project-checks: { call: error, shared: error }\n",
    );
    world.commit("share a pipeline");
    world.push();
    world
}

/// Runs the hook for the staged files as pre-commit does: it passes the names that match `files`, never those of
/// deleted files, and skips the hook without a match unless `always_run` is set. Returns `None` if the hook is skipped.
fn run_hook(world: &World) -> Option<ProgramOutput> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".pre-commit-hooks.yaml");
    let hooks: Value = serde_yaml::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let hook = &hooks[0];
    let pattern = Regex::new(hook["files"].as_str().unwrap()).unwrap();
    let staged = world.git("diff --cached --name-only --diff-filter=ACMRTUXB");
    let names: Vec<&str> = staged.lines().filter(|name| pattern.is_match(name)).collect();
    if names.is_empty() && hook["always_run"] != true {
        return None;
    }
    let entry = hook["entry"].as_str().unwrap().split(' ').skip(1);
    let options = hook["args"].as_array().unwrap().iter();
    let options = options.map(|option| option.as_str().unwrap());
    let arguments: Vec<&str> = entry.chain(options).chain(names).collect();
    Some(Call::new(&world.work()).run(&arguments))
}

#[test]
fn hook_refuses_a_commit_that_only_deletes_a_shared_pipeline() {
    let world = shared_project();
    world.git("rm -q called.orch.yaml");
    let output = run_hook(&world).unwrap().expect(1).all();
    assert!(
        output.contains("project/shared") && output.contains("called.orch.yaml"),
        "{output}"
    );
}

#[test]
fn hook_refuses_a_commit_that_only_breaks_the_shared_pipelines_file() {
    let world = shared_project();
    let file = world.work().join(".platform/shared-pipelines.yaml");
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("called.orch", "gone.orch");
    world.write(".platform/shared-pipelines.yaml", &text);
    world.git("add -A");
    let output = run_hook(&world).unwrap().expect(1).all();
    assert!(
        output.contains("project/shared") && output.contains("gone.orch.yaml"),
        "{output}"
    );
}

#[test]
fn hook_passes_a_commit_without_pipelines_and_one_with_a_good_pipeline() {
    let world = shared_project();
    world.write("note.txt", "text");
    world.git("add -A");
    run_hook(&world).unwrap().expect(0);
    world.write("other.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.git("add -A");
    run_hook(&world).unwrap().expect(0);
}

#[test]
fn hook_takes_no_option_from_a_file_name() {
    let world = shared_project();
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.write("--exclude=*.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.git("add -A");
    let output = run_hook(&world).unwrap().expect(1).all();
    assert!(output.contains("bad.orch.yaml"), "{output}");
}
