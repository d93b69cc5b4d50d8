//! Files with the conflict markers of a merge that was not finished.

use crate::support::{Call, RULES, RULES_FILE, good_pipeline, orchestration_text, project};

const PIPELINE: &str = "b.orch.yaml";
const REASON: &str = "contains the conflict markers of a merge";
const STEP: &str = "resolve the conflict and commit the file";

/// Returns the text with a conflict in the line at `line_index`, from 0.
fn conflicting_text(text: &str, line_index: usize) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let line = lines.remove(line_index);
    let conflict = format!("<<<<<<< HEAD\n{line}\n=======\n{line} x\n>>>>>>> other");
    lines.insert(line_index, &conflict);
    lines.join("\n")
}

fn check_with_file(path: &str, text: &str) -> String {
    let world = project().with_file(PIPELINE, good_pipeline());
    world.write(path, text);
    Call::new(&world.work()).run("check").all()
}

#[test]
fn conflict_in_any_file_is_named_with_its_first_line() {
    let shared = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines: []\n";
    let waivers = "- rule: x\n  path: b.orch.yaml\n  reason: because\n";
    let team_rules = "rules:\n- id: no-x\n  level: warn\n  for: pipeline\n  when: 'true'\n  message: no\n";
    let pipeline = orchestration_text(&["Start", "Done"]);
    for (path, text) in [
        (PIPELINE, pipeline.as_str()),
        (RULES_FILE, RULES),
        (".platform/shared-pipelines.yaml", shared),
        ("sluicegate.yaml", "timeout: 3\nreview:\n  comment: true\n"),
        ("sluicegate-waivers.yaml", waivers),
        ("sluicegate-rules.yaml", team_rules),
    ] {
        for line_index in [0, 1] {
            let log = check_with_file(path, &conflicting_text(text, line_index));
            assert!(log.contains(REASON) && log.contains(STEP), "{path}: {log}");
            let place = format!("{path}:{}", line_index + 1);
            assert!(log.contains(&place), "{place}: {log}");
        }
    }
}

#[test]
fn markers_in_valid_file_are_accepted() {
    let conflict = "# a\n# b\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n".replace('\n', "\n    ");
    let text = format!("{}notes: |\n    {conflict}\n", good_pipeline());
    let log = check_with_file(PIPELINE, &text);
    assert!(!log.contains(REASON), "{log}");
    // Another mistake keeps its own reason.
    let log = check_with_file("sluicegate.yaml", "timeout: soon\n");
    assert!(log.contains("`timeout` must be a number"), "{log}");
}
