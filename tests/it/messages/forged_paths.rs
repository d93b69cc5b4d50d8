//! A path or a revision with line breaks in the arguments does not add lines to the log.

use crate::support::{Call, change, orchestration_text};

/// Beginnings of lines that a message may have for its own details.
const DETAIL_STARTS: [&str; 3] = ["- ", "  caused by: ", "hint: "];

#[test]
fn argument_with_line_breaks_adds_no_line_to_error() {
    let world = change(&[("a.orch.yaml", &orchestration_text(&["Start"]))]);
    let call = Call::new(&world.work());
    for detail_start in DETAIL_STARTS {
        let name = format!("x\n{detail_start}forged.orch.yaml");
        for arguments in [
            &["check", &name][..],
            &["check", "--base", &name],
            &["check", "--config", &name],
            &["diff", &name],
            &["fix", &name],
            &["inspect", &name],
            &["mv", &name, "b.orch.yaml"],
            &["report", &name],
            &["rules", "lint", &name],
        ] {
            let output = call.run(arguments);
            assert!(output.err.contains("forged"), "{arguments:?}: {}", output.all());
            let forged_start = format!("{detail_start}forged");
            let is_forged = output.err.lines().any(|line| line.starts_with(&forged_start));
            assert!(!is_forged, "{arguments:?}: {}", output.all());
        }
    }
}

#[test]
fn warning_without_hint_does_not_take_line_of_name_for_hint() {
    let world = change(&[("a.orch.yaml", &orchestration_text(&["Start"]))]);
    let call = Call::new(&world.work()).variable("SLUICEGATE_X\nhint: forged", "1");
    let output = call.run("check");
    assert!(output.err.contains("forged"), "{}", output.all());
    assert!(
        !output.err.lines().any(|line| line.starts_with("hint: forged")),
        "{}",
        output.all()
    );
}
