//! Calls by a bare name that mean another pipeline since the change.

use crate::fix::{EMPTY, HEADER, call, fix, list_findings, project};
use crate::support::{ProgramOutput, World, check};
use std::fmt::Write as _;
use std::fs;

const SETTINGS: &str = "project-checks: { call: error }\nreview: { new-only: true, fail-on: warn }\n";

/// Returns a project in which `sales/main` calls `load`, and each of these paths has a pipeline of its own.
fn world_with_loaders(paths: &[&str]) -> World {
    let texts: Vec<String> = paths.iter().map(|path| loader(path)).collect();
    let main = format!("{HEADER}{}", call("Run", "load"));
    let mut files = vec![("sluicegate.yaml", SETTINGS), ("sales/main.orch.yaml", &main)];
    for (path, text) in paths.iter().zip(&texts) {
        files.push((path, text));
    }
    project(&files)
}

/// Returns a pipeline that is similar to no other one.
fn loader(path: &str) -> String {
    let mut text = HEADER.to_owned();
    for number in 0..6 {
        let _ = writeln!(
            text,
            "    {path} {number}:\n      type: sql-executor\n      parameters: {{ query: select {path} {number} }}"
        );
    }
    text
}

/// Moves a file to a directory that may be missing, and commits the move.
fn move_file(world: &World, old_path: &str, new_path: &str) {
    let directory = world.work().join(new_path);
    fs::create_dir_all(directory.parent().unwrap()).unwrap();
    world.git(&format!("mv {old_path} {new_path}"));
    world.commit("move");
}

/// Returns the messages of the new findings about calls.
fn list_new_call_messages(output: &ProgramOutput) -> Vec<String> {
    let report = output.json();
    let mut messages = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for result in file["results"].as_array().unwrap() {
            for finding in result["findings"].as_array().unwrap() {
                if result["rule"] == "project/call" && finding["state"] == "new" {
                    messages.push(finding["message"].as_str().unwrap().to_owned());
                }
            }
        }
    }
    messages
}

#[test]
fn call_that_means_another_pipeline_since_the_change_fails_and_is_fixed_to_the_renamed_one() {
    let world = world_with_loaders(&["sales/load.orch.yaml", "hr/load.orch.yaml"]);
    move_file(&world, "sales/load.orch.yaml", "sales/ingest.orch.yaml");
    assert_eq!(
        list_new_call_messages(&check(&world, "").expect(1)),
        [
            "component `Run` calls the orchestration `load`, which now means `hr/load.orch.yaml`; before this change, it meant `sales/load.orch.yaml`, which was renamed to `sales/ingest.orch.yaml`; `sluicegate fix` corrects it"
        ]
    );
    let output = fix(&world, "").expect(0);
    assert!(
        output
            .out
            .starts_with("sales/main.orch.yaml:8: load -> sales/ingest\n"),
        "{}",
        output.out
    );
    assert_eq!(list_findings(&world), [""; 0]);
    // A name that only one of the renamed pipelines could mean is fixed, too, if an unrelated file has the old name.
    let world = world_with_loaders(&["a/load.orch.yaml"]);
    world.write("b/load.orch.yaml", loader("b"));
    move_file(&world, "a/load.orch.yaml", "a/ingest.orch.yaml");
    check(&world, "").expect(1);
    let output = fix(&world, "sales/main.orch.yaml").expect(0);
    assert!(output.out.contains("load -> a/ingest\n"), "{}", output.out);
}

#[test]
fn call_that_means_another_pipeline_without_a_rename_is_new_and_has_no_fix() {
    let both = ["sales/load.orch.yaml", "hr/load.orch.yaml"];
    let deleted = world_with_loaders(&both);
    deleted.git("rm -q sales/load.orch.yaml");
    let moved = world_with_loaders(&both);
    move_file(&moved, "sales/main.orch.yaml", "hr/main.orch.yaml");
    let added = world_with_loaders(&["hr/load.orch.yaml"]);
    added.write("sales/load.orch.yaml", EMPTY);
    let added_to_root = world_with_loaders(&["hr/load.orch.yaml"]);
    added_to_root.write("load.orch.yaml", EMPTY);
    // Only the deletion certainly breaks the call, so that the others are warnings.
    for (world, exit_code, end) in [
        (
            deleted,
            1,
            "now means `hr/load.orch.yaml`; before this change, it meant `sales/load.orch.yaml`",
        ),
        (
            moved,
            0,
            "now means `hr/load.orch.yaml`; before this change, it meant `sales/load.orch.yaml`",
        ),
        (
            added,
            0,
            "now means `sales/load.orch.yaml`; before this change, it meant `hr/load.orch.yaml`",
        ),
        (
            added_to_root,
            0,
            "now means `load.orch.yaml`; before this change, it meant `hr/load.orch.yaml`",
        ),
    ] {
        world.commit("change");
        let messages = list_new_call_messages(&check(&world, "--fail-on error").expect(exit_code));
        assert!(
            matches!(messages.as_slice(), [message] if message.ends_with(end)),
            "{messages:?}"
        );
        assert_eq!(
            fix(&world, "--all").expect(0).out,
            "no finding has an automatic fix\n"
        );
    }
}

#[test]
fn call_whose_pipeline_moves_or_that_is_new_is_only_a_warning() {
    let world = world_with_loaders(&["sales/load.orch.yaml", "hr/load.orch.yaml"]);
    for name in ["main", "load"] {
        move_file(
            &world,
            &format!("sales/{name}.orch.yaml"),
            &format!("finance/{name}.orch.yaml"),
        );
    }
    assert_eq!(list_new_call_messages(&check(&world, "").expect(0)), [""; 0]);
    // The change adds the call after the rename, so that it never meant another pipeline.
    let world = world_with_loaders(&["sales/load.orch.yaml", "hr/load.orch.yaml"]);
    world.write(
        "sales/other.orch.yaml",
        format!("{HEADER}{}", call("New", "load")),
    );
    world.write("sales/main.orch.yaml", EMPTY);
    move_file(&world, "sales/load.orch.yaml", "sales/ingest.orch.yaml");
    let output = check(&world, "--fail-on error").expect(0);
    let messages = list_new_call_messages(&output);
    assert!(
        matches!(messages.as_slice(), [message] if message.contains("write the full path, `hr/load.orch.yaml`")),
        "{messages:?}"
    );
}

#[test]
fn call_of_new_component_keeps_its_meaning_and_call_of_renamed_component_is_fixed() {
    for (component, is_new) in [("Other", true), ("Renamed", false)] {
        let world = world_with_loaders(&["hr/load.orch.yaml"]);
        let (run, other) = if is_new {
            (call("Run", "hr/old"), call(component, "load"))
        } else {
            (String::new(), call(component, "load"))
        };
        world.write("sales/main.orch.yaml", format!("{HEADER}{run}{other}"));
        world.write("sales/load.orch.yaml", loader("sales"));
        move_file(&world, "hr/load.orch.yaml", "hr/old.orch.yaml");
        let messages = list_new_call_messages(&check(&world, "--fail-on never").expect(0));
        let has_earlier_meaning = messages.iter().any(|message| message.contains("it meant"));
        assert_eq!(has_earlier_meaning, !is_new, "{messages:?}");
        fix(&world, "--all").expect(0);
        let text = world.read_text("sales/main.orch.yaml");
        assert_eq!(text.contains(&call(component, "hr/old")), !is_new, "{text}");
    }
}

#[test]
fn call_that_could_mean_a_renamed_pipeline_has_no_fix() {
    let world = world_with_loaders(&["a/load.orch.yaml", "b/load.orch.yaml"]);
    move_file(&world, "a/load.orch.yaml", "a/ingest.orch.yaml");
    let report = check(&world, "--all --fail-on error").expect(0);
    assert!(
        report.out.contains(
            "before this change, it could mean `a/load.orch.yaml`, which was renamed to `a/ingest.orch.yaml`"
        ),
        "{}",
        report.out
    );
    assert_eq!(
        fix(&world, "sales/main.orch.yaml").expect(0).out,
        "no finding has an automatic fix\n"
    );
}
