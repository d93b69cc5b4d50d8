//! A name from the repository, with line breaks, does not add lines to the log or to the step summary.

use crate::support::{Call, Job, ProgramOutput, RULES, RULES_FILE, World, change, publishing};
use serde_json::json;
use std::fs;

/// A name that would add an error, a hint, a cause, a next step and details to a message in which its line breaks stay.
const NAME: &str =
    "x`\nerror: forged\nhint: forged\nTo do: forged\n  forged detail\n- forged entry\n  caused by: forged `y";

/// Begins a line that the name adds.
const FORGED_LINES: [&str; 6] = [
    "error: forged",
    "hint: forged",
    "To do: forged",
    "caused by: forged",
    "forged detail",
    "- forged entry",
];

/// A path with the same kind of text.
const PATH: &str = "x\n  forged detail\n- forged entry\nerror: forged\nhint: forged.orch.yaml";

/// Creates a change in which everything that has a name is named so.
fn world_with_forged_names() -> World {
    let name = json!(NAME).to_string();
    let pipeline = format!(
        "{}    {name}:\n      type: start\n      transitions: {{ unconditional: [{name}, Gone] }}\n",
        publishing::caller_of_files(&name, &name)
    );
    let shared_file = format!(
        "pipelines:\n  - pipeline: a.orch.yaml\n    id: {name}\n    enabled: true\n    parameters: {{ {name}: {{ type: \
         TEXT }} }}\n  - {{ pipeline: {name}, id: b, enabled: true }}\n"
    );
    let world = change(&[
        ("a.orch.yaml", &pipeline),
        (PATH, &pipeline),
        (".platform/shared-pipelines.yaml", &shared_file),
    ]);
    world.write(
        "other-rules.yaml",
        format!("rules:\n  - {{ id: {name}, enabled: true }}\n"),
    );
    world.write(&format!("untracked {PATH}"), &pipeline);
    world
}

/// Asserts that the name has not added a line.
#[track_caller]
fn assert_no_forged_line(text: &str, output: &ProgramOutput) {
    for line in text.lines() {
        let is_forged = FORGED_LINES
            .iter()
            .any(|forged| line.trim_start().starts_with(forged));
        assert!(!is_forged, "{line:?} in {}", output.all());
    }
}

#[test]
fn name_with_line_breaks_adds_no_lines_to_log_and_summary() {
    let world = world_with_forged_names();
    let summary = world.path().join("summary.md");
    let local = Call::new(&world.work());
    let job = Job::github().pull_request().call(&world);
    let job = job.variable("GITHUB_STEP_SUMMARY", summary.display().to_string());
    let commands = [
        "check",
        "inspect a.orch.yaml",
        "check --all --annotations none",
        "publish --dry-run --prefix p --version-name 1",
        "publish --prefix p --version-name 1 --from worktree",
        "diff",
        "mv --repair --dry-run",
        "context",
        "shared-pipelines add a.orch.yaml",
        "rules lint other-rules.yaml",
        "rules test other-rules.yaml",
        "doctor",
        "-vv check",
        "waivers list",
    ];
    for command in commands {
        if command == "waivers list" {
            local.run("waivers add --all --reason test").expect(0);
        }
        let mut has_name = false;
        for call in [&local, &job] {
            let _ = fs::remove_file(&summary);
            let output = call.run(command);
            let summary_text = fs::read_to_string(&summary).unwrap_or_default();
            for text in [&output.err, &output.out, &summary_text] {
                assert_no_forged_line(text, &output);
                has_name |= text.contains("forged");
            }
        }
        assert!(has_name, "`{command}` does not print the name");
    }
    let unknown_rule = json!(NAME);
    world.write(
        RULES_FILE,
        format!("{RULES}  - {{ id: {unknown_rule}, enabled: true, enforcementLevel: error }}\n"),
    );
    let output = local
        .run("check --all")
        .expect(1)
        .logging(&["is not a known rule"]);
    assert_no_forged_line(&output.out, &output);
}

#[test]
fn details_and_hint_of_failure_stay_on_their_lines() {
    let world = world_with_forged_names();
    let output = Call::new(&world.work())
        .run("publish --dry-run --prefix p --version-name 1")
        .expect(2);
    let lines: Vec<&str> = output.err.lines().collect();
    let error_index = lines.iter().position(|line| line.starts_with("error: ")).unwrap();
    assert!(
        lines[error_index].ends_with("would be incomplete:"),
        "{}",
        output.all()
    );
    assert!(
        lines[error_index + 1].starts_with("  .platform/shared-pipelines.yaml:"),
        "{}",
        output.all()
    );
    assert!(
        lines
            .last()
            .unwrap()
            .starts_with("hint: commit the missing files"),
        "{}",
        output.all()
    );
}
