//! Which findings a report contains if a limit omits some.

use crate::support::{Call, Job, World, orchestration_text, project};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;

const RULES: &str = "rules:
  - { id: component-naming-convention, enabled: true, enforcementLevel: warn, config: { regexMatchPattern: '[A-Z].*' } }
  - { id: unused-components, enabled: true, enforcementLevel: error }
";

const PIPELINE: &str = "type: orchestration
pipeline:
  components:
    Start: { type: start, transitions: { unconditional: [Done] } }
    Done: { type: end-success }
";

/// Creates a change whose lines cause `file_count` times 95 warnings. The only error is on an unchanged line of a
/// changed file.
fn change_with_warnings_near_and_error_elsewhere(file_count: usize) -> World {
    let world = project();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write(
        "lost.orch.yaml",
        format!("{PIPELINE}    Lost: {{ type: send-email }}\n"),
    );
    world.commit("rules");
    world.push();
    world.git("checkout -q -b change");
    let mut pipeline = PIPELINE.to_owned();
    for number in 0..95 {
        let next = if number == 94 {
            "Done".to_owned()
        } else {
            format!("step {}", number + 1)
        };
        let _ = writeln!(
            pipeline,
            "    step {number}: {{ type: send-email, transitions: {{ success: [{next}] }} }}"
        );
    }
    let pipeline = pipeline.replacen("[Done]", "[step 0]", 1);
    for number in 0..file_count {
        world.write(&format!("{number:02}.orch.yaml"), &pipeline);
    }
    world.write(
        "lost.orch.yaml",
        format!("{PIPELINE}    Lost: {{ type: send-email }}\n# note\n"),
    );
    world.commit("change");
    world.push();
    world
}

#[test]
fn sarif_limit_of_github_keeps_error_elsewhere_and_omits_warnings_on_changed_lines() {
    let world = change_with_warnings_near_and_error_elsewhere(55);
    let job = Job::github().pull_request().call(&world);
    job.run("check --report sarif=s.sarif")
        .expect(1)
        .saying(&["the SARIF report omits the 226 least severe findings"]);
    let log: Value =
        serde_json::from_str(&fs::read_to_string(world.work().join("s.sarif")).unwrap()).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let error_count = results.iter().filter(|result| result["level"] == "error").count();
    assert_eq!((results.len(), error_count), (5_000, 1));
    // What remains has the order of all reports: findings on changed lines come first.
    assert_eq!(
        (&results[0]["level"], &results[4_999]["level"]),
        (&"warning".into(), &"error".into())
    );
}

#[test]
fn error_elsewhere_is_listed_before_limit_omits_warnings_on_changed_lines() {
    let world = change_with_warnings_near_and_error_elsewhere(55);
    for show in ["1", "50"] {
        let args = format!("check --show {show} --report markdown=r.md");
        let output = Call::new(&world.work()).run(&args).expect(1);
        output.assert_logged(&["error[unused-components]: component \"Lost\""]);
        let comment = fs::read_to_string(world.work().join("r.md")).unwrap();
        assert!(comment.contains("component \"Lost\" never runs"), "{comment}");
    }
}

#[test]
fn listed_findings_below_limit_have_findings_on_changed_lines_first() {
    let world = change_with_warnings_near_and_error_elsewhere(1);
    let output = Call::new(&world.work()).run("check --show all").expect(1);
    let warning = output.out.find("warning[component-naming-convention]").unwrap();
    let error = output.out.find("error[unused-components]").unwrap();
    assert!(warning < error, "{}", output.out);
}

#[test]
fn counts_of_comment_add_up_if_space_limits_its_findings() {
    for (file_count, has_omission) in [(1, false), (55, true)] {
        let world = change_with_warnings_near_and_error_elsewhere(file_count);
        Call::new(&world.work())
            .run("check --show 500 --report markdown=r.md")
            .expect(1);
        let comment = fs::read_to_string(world.work().join("r.md")).unwrap();
        let listed_count = comment.matches("Each of 95 components").count() * 95;
        let omission = comment
            .split_once("- and ")
            .and_then(|(_, rest)| rest.split_once(" more findings in "));
        let omitted_count = omission.map_or(0, |(count, _)| count.replace(',', "").parse().unwrap());
        assert_eq!(listed_count + omitted_count, 95 * file_count, "{comment}");
        assert_eq!(omitted_count > 0, has_omission, "{comment}");
        // A list of findings may use half of the page.
        assert!(!has_omission || comment.len() > 30_000, "{}", comment.len());
        assert!(comment.len() < 65_000, "{}", comment.len());
    }
}

#[test]
fn page_lists_all_new_errors_by_default_and_the_number_of_the_flag() {
    let world = project();
    for number in 10..70 {
        let pipeline = PIPELINE.replace("Done", &format!("low{number}"));
        world.write(&format!("p{number}.orch.yaml"), pipeline);
    }
    world.commit("base");
    world.push();
    world.git("checkout -q -b change");
    for number in 10..70 {
        let pipeline = PIPELINE.replace("Done", &format!("low{number}"));
        let new_component = format!("{pipeline}    new{number}: {{ type: send-email }}\n");
        world.write(&format!("p{number}.orch.yaml"), new_component);
    }
    world.commit("change");
    for (show, listed_count, has_known) in [("", 60, true), ("--show 5", 5, true), ("--show new", 60, false)]
    {
        let output = Call::new(&world.work())
            .run(format!(
                "check --new-only --base main --report markdown=r.md {show}"
            ))
            .expect(1);
        let page = fs::read_to_string(world.work().join("r.md")).unwrap();
        let new_count = (10..70)
            .filter(|number| page.contains(&format!("component \"new{number}\"")))
            .count();
        assert_eq!(new_count, listed_count, "{show}: {page}");
        assert_eq!(page.contains("component \"low10\""), has_known, "{show}: {page}");
        // The log has its own limit.
        assert_eq!(
            output.out.contains("Not listed: 1"),
            show.is_empty(),
            "{}",
            output.all()
        );
    }
}

#[test]
fn annotations_have_missing_rules_file_once_with_hint_and_each_other_finding() {
    let world = World::new();
    world.write("sluicegate.yaml", "project-checks: { call: error }\n");
    world.commit("base");
    world.push();
    world.git("checkout -q -b change");
    for number in 0..12 {
        world.write(
            &format!("{number:02}.orch.yaml"),
            orchestration_text(&["Start", "Done"]),
        );
    }
    let call = "    Call: { type: run-orchestration, parameters: { orchestrationJob: gone.orch.yaml } }\n";
    world.write("12.orch.yaml", format!("{PIPELINE}{call}"));
    world.commit("change");
    world.push();
    let output = Job::github().pull_request().call(&world).run("check").expect(1);
    let errors: Vec<&str> = output
        .out
        .lines()
        .filter(|line| line.starts_with("::error"))
        .collect();
    let causes: Vec<&&str> = errors
        .iter()
        .filter(|error| error.contains("the rules file is missing"))
        .collect();
    assert_eq!(causes.len(), 1, "{}", output.all());
    for text in ["This affects 13 files", "sluicegate rules init"] {
        assert!(causes[0].contains(text), "{text}: {}", causes[0]);
    }
    assert!(
        errors.iter().any(|error| error.contains("gone.orch.yaml")),
        "{}",
        output.all()
    );
    assert!(!output.all().contains("errors omitted"), "{}", output.all());
}
