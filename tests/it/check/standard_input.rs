//! `sluicegate check -`: a pipeline from standard input.

use crate::support::{Call, change, orchestration_text};

/// Returns a report without the parts that differ between two runs.
fn comparable(output: &crate::support::ProgramOutput) -> serde_json::Value {
    let mut report = output.json();
    report["startedAt"] = serde_json::Value::Null;
    report["elapsedNanos"] = 0.into();
    report
}

#[test]
fn standard_input_is_checked_as_if_it_were_saved_at_its_path() {
    let world = change(&[("sales/b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let bad = orchestration_text(&["Start", "load it", "Done"]);
    let call = || Call::new(&world.work());
    world.write("../input.yaml", &bad);
    let input = world.work().join("../input.yaml");
    let given = "check - --stdin-path sales/b.orch.yaml --report json=-";
    let from_input = call().input(&input).run(given).expect(1);
    let status = world.git("status --porcelain");
    assert!(
        !status.contains("sales/b.orch.yaml"),
        "nothing is written: {status}"
    );
    world.write("sales/b.orch.yaml", &bad);
    let output = call().run("check sales/b.orch.yaml --report json=-").expect(1);
    assert_eq!(comparable(&from_input), comparable(&output));
    let result = &from_input.json()["files"][0]["results"][0];
    assert_eq!(
        result["docs"],
        "sluicegate rules explain component-naming-convention"
    );
    assert!(
        result["help"]
            .as_str()
            .unwrap()
            .starts_with("Rename the component"),
        "{result}"
    );
    let new = ["check", "-", "--stdin-path", "new.orch.yaml", "--show", "concise"];
    let run_output = call().input(&input).run(&new).expect(1);
    assert!(
        run_output
            .out
            .starts_with("new.orch.yaml:11:5: error: component \"load it\""),
        "{}",
        run_output.all()
    );
}

#[test]
fn standard_input_needs_a_path_and_a_path_needs_standard_input() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let call = || Call::new(&world.work());
    call().run("check -").expect(2).saying(&["--stdin-path PATH"]);
    call()
        .run("check --stdin-path b.orch.yaml")
        .expect(2)
        .saying(&["sluicegate check - --stdin-path PATH"]);
    call()
        .run("check - --stdin-path ../b.orch.yaml")
        .expect(2)
        .saying(&["outside the repository"]);
}
