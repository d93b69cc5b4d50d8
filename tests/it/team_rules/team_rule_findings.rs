//! Findings of team rules: levels, known and waived ones, errors of the evaluation, both engines.

use super::{FILE, commit_files, list_team_findings, python_pipeline, python_rule, world_with_files};
use crate::support::{
    Call, Job, Platform, RULES_FILE, World, check, head, orchestration_text, respond_for_each,
};
use serde_json::json;

/// Returns a platform that passes the only enabled rule of each pipeline.
fn passing_platform() -> Platform {
    let platform = Platform::new();
    let result = json!([{ "ruleName": "minimum-components", "status": "PASSED" }]);
    platform.reviews(respond_for_each("PASSED", result));
    platform
}

#[test]
fn violated_rule_of_level_error_fails_check() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(
        &world,
        &[
            ("prod/a.orch.yaml", &python_pipeline(&["Run"])),
            ("dev/a.orch.yaml", &python_pipeline(&["Run"])),
        ],
    );
    let report = check(&world, "").expect(1).json();
    assert_eq!(
        list_team_findings(&report),
        ["team/no-python FAILED - prod/a.orch.yaml:6 `Run` is a Python script"]
    );
    assert_eq!(report["findings"]["errors"], 1);
    let result = report["files"][1]["results"]
        .as_array()
        .unwrap()
        .iter()
        .find(|result| result["rule"] == "team/no-python")
        .unwrap();
    assert_eq!(result["findings"][0]["about"], "Run");
    assert_eq!(result["enforcement"], "error");
}

#[test]
fn rule_of_level_warn_passes_and_rule_that_is_off_has_no_result() {
    let world = world_with_files(&[(FILE, &python_rule("warn"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let report = check(&world, "").expect(0).json();
    assert_eq!(
        (&report["findings"]["warnings"], &report["verdict"]),
        (&json!(1), &json!("passed"))
    );
    check(&world, "--fail-on warn").expect(1);
    world.write(FILE, &python_rule("off"));
    assert_eq!(list_team_findings(&check(&world, "").expect(0).json()).len(), 0);
    let off = Call::new(&world.work())
        .run("check --team-rules off --fail-on warn")
        .expect(0);
    assert!(!off.all().contains("no-python"), "{}", off.all());
}

#[test]
fn passing_rule_has_result_and_passes() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(
        &world,
        &[(
            "prod/a.orch.yaml",
            "type: orchestration\npipeline: { components: { Start: { type: start } } }\n",
        )],
    );
    let report = check(&world, "").expect(0).json();
    let results = report["files"][0]["results"].as_array().unwrap();
    assert!(
        results
            .iter()
            .any(|result| result["rule"] == "team/no-python" && result["status"] == "PASSED")
    );
    assert_eq!(
        report["counts"]["passed"], 1,
        "results of team rules are no results of the rules file"
    );
}

#[test]
fn new_only_knows_findings_of_base_by_their_subject() {
    let world = world_with_files(&[
        (FILE, &python_rule("error")),
        ("prod/a.orch.yaml", &python_pipeline(&["Run"])),
        ("prod/gone.orch.yaml", &python_pipeline(&["Run", "Other"])),
    ]);
    commit_files(
        &world,
        &[
            ("prod/a.orch.yaml", &python_pipeline(&["Added", "Run"])),
            ("prod/gone.orch.yaml", &python_pipeline(&["Run"])),
        ],
    );
    let report = check(&world, "--new-only").expect(1).json();
    assert_eq!(
        list_team_findings(&report),
        [
            "team/no-python FAILED new prod/a.orch.yaml:6 `Added` is a Python script",
            "team/no-python FAILED known prod/a.orch.yaml:8 `Run` is a Python script",
            "team/no-python FAILED known prod/gone.orch.yaml:6 `Run` is a Python script",
        ]
    );
    let findings = &report["findings"];
    assert_eq!(
        (&findings["new"], &findings["known"], &findings["fixed"]),
        (&json!(1), &json!(2), &json!(1))
    );
    commit_files(
        &world,
        &[(
            "prod/a.orch.yaml",
            &python_pipeline(&["Run"]).replace("1.0", "1.1"),
        )],
    );
    check(&world, "--new-only").expect(0);
    check(&world, "--new-only --max-known 2").expect(0);
    check(&world, "--new-only --max-known 1").expect(1);
}

#[test]
fn finding_about_pipeline_stays_known_if_its_message_changes() {
    let rule = "rules:\n  - id: small\n    level: error\n    for: pipeline\n    when: size(pipeline.components) > 1\n    message: \"{size(pipeline.components)} components\"\n";
    let world = world_with_files(&[(FILE, rule), ("a.orch.yaml", &python_pipeline(&["Run"]))]);
    commit_files(&world, &[("a.orch.yaml", &python_pipeline(&["Run", "More"]))]);
    let report = check(&world, "--new-only").expect(0).json();
    assert_eq!(
        list_team_findings(&report),
        ["team/small FAILED known a.orch.yaml:1 3 components"]
    );
}

#[test]
fn waiver_of_team_rule_allows_its_finding() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(
        &world,
        &[("prod/a.orch.yaml", &python_pipeline(&["Run", "Other"]))],
    );
    let call = Call::new(&world.work());
    call.run("waivers add team/no-python prod/a.orch.yaml Run --reason legacy")
        .expect(0);
    let report = check(&world, "").expect(1).json();
    assert_eq!(
        list_team_findings(&report),
        [
            "team/no-python FAILED waived prod/a.orch.yaml:6 `Run` is a Python script",
            "team/no-python FAILED - prod/a.orch.yaml:8 `Other` is a Python script",
        ]
    );
    call.run("waivers add --all --reason legacy").expect(0);
    check(&world, "").expect(0);
    let unknown = call
        .run("waivers add team/no-pyton prod/a.orch.yaml --reason legacy")
        .expect(2);
    assert!(unknown.all().contains("team/no-pyton"), "{}", unknown.all());
    world.write("prod/a.orch.yaml", &python_pipeline(&[]));
    call.run("waivers list").expect(0).logging(&["unused"]);
}

#[test]
fn error_of_evaluation_fails_and_is_never_known() {
    let rule = "rules:\n  - id: limit\n    level: warn\n    for: component\n    when: component.parameters.limit > 5\n    message: m\n";
    let world = world_with_files(&[(FILE, rule), ("a.orch.yaml", &python_pipeline(&["Run"]))]);
    commit_files(&world, &[("a.orch.yaml", &python_pipeline(&["Run", "More"]))]);
    for args in ["", "--new-only"] {
        let report = check(&world, args).expect(1).json();
        assert_eq!(report["findings"]["notEvaluated"], 1, "{args}");
        let findings = list_team_findings(&report);
        assert!(
            findings[0].contains("team/limit ERROR") && findings[0].contains("the field `limit` is missing"),
            "{findings:?}"
        );
    }
    world.write(
        FILE,
        &rule.replace("when: ", "when: has(component.parameters.limit) && "),
    );
    check(&world, "").expect(0);
}

#[test]
fn cost_limit_fails_the_gate() {
    let rule = "rules:\n  - id: pairs\n    level: warn\n    for: component\n    when: pipeline.components.exists(c, c.name == component.name + 'x')\n    message: m\n";
    let world = world_with_files(&[(FILE, rule)]);
    let names: Vec<String> = (0..1500).map(|index| format!("component {index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    commit_files(&world, &[("a.orch.yaml", &python_pipeline(&names))]);
    let report = check(&world, "").expect(1).json();
    assert!(report.to_string().contains("team/cost-limit"), "{report}");
}

#[test]
fn review_evaluates_team_rules_on_this_machine() {
    let world = world_with_files(&[
        (FILE, &python_rule("error")),
        ("prod/a.orch.yaml", &python_pipeline(&["Run"])),
    ]);
    commit_files(
        &world,
        &[
            ("prod/a.orch.yaml", &python_pipeline(&["Run", "More"])),
            ("dev/b.orch.yaml", &python_pipeline(&["Run"])),
        ],
    );
    let platform = passing_platform();
    let call = Job::github().pull_request().extend(&world, platform.call(&world));
    let report = call.run("review --report json=-").expect(1).json();
    assert_eq!(list_team_findings(&report).len(), 2);
    assert_eq!(report["counts"]["passed"], 2, "the platform's results");
    let report = call.run("review --new-only --report json=-").expect(1).json();
    assert_eq!(
        list_team_findings(&report),
        [
            "team/no-python FAILED known prod/a.orch.yaml:6 `Run` is a Python script",
            "team/no-python FAILED new prod/a.orch.yaml:8 `More` is a Python script",
        ]
    );
    commit_files(
        &world,
        &[(
            "prod/a.orch.yaml",
            &python_pipeline(&["Run"]).replace("1.0", "1.1"),
        )],
    );
    let call = Job::github().pull_request().extend(&world, platform.call(&world));
    call.run("review --new-only").expect(0);
}

#[test]
fn finding_fails_review_although_platform_is_unavailable() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let platform = Platform::new();
    platform.is_down();
    let call = Job::github().pull_request().extend(&world, platform.call(&world));
    call.run("review --on-unavailable pass")
        .expect(1)
        .logging(&["no-python"]);
}

#[test]
fn missing_result_of_platform_is_not_replaced_by_team_rules() {
    let world = world_with_files(&[(FILE, &python_rule("warn"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", json!([])));
    let call = Job::github().pull_request().extend(&world, platform.call(&world));
    call.run("review").expect(3);
}

#[test]
fn shards_cover_all_team_findings_once() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    let text = python_pipeline(&["Run"]);
    let paths: Vec<String> = (0..12).map(|index| format!("prod/p{index}.orch.yaml")).collect();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), text.as_str())).collect();
    commit_files(&world, &files);
    let call = Call::new(&world.work());
    for shard in 1..=2 {
        call.run(format!("check --shard {shard}/2 --report json=s{shard}.json").as_str())
            .expect(1);
    }
    let report = call
        .run("report s1.json s2.json --report json=-")
        .expect(1)
        .json();
    assert_eq!(list_team_findings(&report).len(), 12);
}

#[test]
fn compared_report_knows_team_findings() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let call = Call::new(&world.work());
    call.run("check --report json=old.json").expect(1);
    commit_files(
        &world,
        &[("prod/a.orch.yaml", &python_pipeline(&["Run", "More"]))],
    );
    let head = head(&world);
    call.run(format!("check --head {head} --report json=new.json").as_str())
        .expect(1);
    let report = call
        .run("report new.json --compare old.json --report json=-")
        .expect(1)
        .json();
    assert_eq!(
        list_team_findings(&report),
        [
            "team/no-python FAILED known prod/a.orch.yaml:6 `Run` is a Python script",
            "team/no-python FAILED new prod/a.orch.yaml:8 `More` is a Python script",
        ]
    );
}

/// The platform may read the target of a link, but the rules of the team are evaluated on files only.
#[cfg(unix)]
#[test]
fn link_is_unreviewed_if_team_rule_applies_to_it() {
    for (path, code) in [("prod/link.orch.yaml", 3), ("dev/link.orch.yaml", 0)] {
        let world = world_with_files(&[(FILE, &python_rule("error"))]);
        let pipeline = python_pipeline(&[]);
        commit_files(
            &world,
            &[("prod/a.orch.yaml", &pipeline), ("dev/a.orch.yaml", &pipeline)],
        );
        std::os::unix::fs::symlink("a.orch.yaml", world.work().join(path)).unwrap();
        commit_files(&world, &[]);
        let platform = passing_platform();
        let report = platform
            .call(&world)
            .run("review --report json=-")
            .expect(code)
            .json();
        let is_unreviewed = report["unreviewedReasons"] == json!({ path: "a symbolic link, not a file" });
        assert_eq!(is_unreviewed, code == 3, "{report:#}");
    }
}

/// A rule that reports every link to a component of this type.
const LINK_RULE: &str = r#"rules:
  - id: link
    level: error
    for: link
    when: link.kind == "unconditional"
    message: "{link.from} leads to {link.to}"
"#;

/// Creates a repository with these files besides the rule about links, and a branch that changes the pipeline.
fn world_with_changed_link(files: &[(&str, &str)], before: &[&str], after: &[&str]) -> World {
    let mut all_files = vec![(FILE, LINK_RULE)];
    all_files.extend(files);
    let pipeline = orchestration_text(before);
    all_files.push(("a.orch.yaml", &pipeline));
    let world = world_with_files(&all_files);
    commit_files(&world, &[("a.orch.yaml", &orchestration_text(after))]);
    world
}

#[test]
fn finding_of_link_is_known_if_only_its_component_is_renamed() {
    let before = ["Start", "Load", "Check", "Done"];
    for (after, new_count) in [
        (["Start", "Load orders", "Check", "Done"], 0),
        (["Start", "Check", "Load", "Done"], 3),
        // The type of the last component differs, so its name proves nothing.
        (["Start", "Load", "Done", "Check"], 2),
    ] {
        let world = world_with_changed_link(&[], &before, &after);
        let report = check(&world, "--new-only").json();
        assert_eq!(report["findings"]["new"], new_count, "{after:?}: {report}");
    }
}

#[test]
fn waiver_of_link_applies_to_its_renamed_component_and_note_has_the_new_link() {
    let waivers = "- { rule: team/link, path: a.orch.yaml, about: Start -> Load, reason: legacy }\n\
                   - { rule: team/link, path: a.orch.yaml, about: Load -> Done, reason: legacy }\n";
    let files = [("sluicegate-waivers.yaml", waivers)];
    let before = ["Start", "Load", "Done"];
    let renamed = world_with_changed_link(&files, &before, &["Start", "Load orders", "Done"]);
    let report = check(&renamed, "").expect(0).json();
    assert_eq!(report["findings"]["waived"], 2, "{report}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("Start -> Load orders"), "{notes}");
    let other = world_with_changed_link(&files, &before, &["Start", "Load", "Check", "Done"]);
    let report = check(&other, "").expect(1).json();
    assert_eq!(report["findings"]["waived"], 1, "{report}");
}

/// The job that turns the team rules off must not lose the waivers of other rules.
#[test]
fn waivers_of_team_rules_stay_valid_if_the_job_reads_no_team_rules() {
    let waivers = "- { rule: minimum-components, path: '**', reason: legacy }\n\
                   - { rule: team/no-python, path: 'prod/**', reason: legacy }\n";
    let rules = "rules:\n  - { id: minimum-components, enabled: true, enforcementLevel: error, config: { minComponents: 9 } }\n";
    let world = world_with_files(&[
        (RULES_FILE, rules),
        (FILE, &python_rule("error")),
        ("other-rules.yaml", "rules: []\n"),
        ("sluicegate-waivers.yaml", waivers),
    ]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    for team_rules in ["sluicegate-rules.yaml", "off", "other-rules.yaml"] {
        let job = Job::github().pull_request().call(&world);
        let report = job
            .variable("SLUICEGATE_TEAM_RULES", team_rules)
            .run("check --report json=-");
        let waived = if team_rules == FILE { 2 } else { 1 };
        assert_eq!(
            report.expect(0).json()["findings"]["waived"],
            waived,
            "{team_rules}"
        );
        Call::new(&world.work())
            .run(format!("check --all --team-rules {team_rules}"))
            .expect(0);
        let list = Call::new(&world.work())
            .run(format!("waivers list -o json --team-rules {team_rules}"))
            .expect(0)
            .json();
        let state = if team_rules == FILE { "used" } else { "not judged" };
        assert_eq!(
            (&list[0]["state"], &list[1]["state"]),
            (&json!("used"), &json!(state))
        );
    }
    // Without the option, a waiver of an unknown rule is still an error, and with it, one without the form of an id.
    for (rule, option) in [
        ("team/no-pythons", ""),
        ("team/No", "--team-rules off"),
        ("no-python", "--team-rules off"),
    ] {
        world.write(
            "sluicegate-waivers.yaml",
            format!("- {{ rule: {rule}, path: '**', reason: r }}\n"),
        );
        Call::new(&world.work())
            .run(format!("check --all {option}"))
            .expect(2)
            .saying(&["there is no rule"]);
    }
}

#[test]
fn change_that_turns_team_rules_off_does_not_make_waivers_unusable() {
    let world = world_with_files(&[
        (FILE, &python_rule("error")),
        (
            "sluicegate-waivers.yaml",
            "- { rule: team/no-python, path: 'prod/**', reason: legacy }\n",
        ),
    ]);
    commit_files(&world, &[("sluicegate.yaml", "review: { team-rules: 'off' }\n")]);
    let output = Job::github().pull_request().call(&world).run("check").expect(0);
    assert!(!output.all().contains("unusable"), "{}", output.all());
    commit_files(
        &world,
        &[
            ("sluicegate.yaml", "review: { fail-on: error }\n"),
            (FILE, "rules: []\n"),
        ],
    );
    Job::github()
        .pull_request()
        .call(&world)
        .run("check")
        .expect(1)
        .logging(&["unusable", "there is no rule `team/no-python`"]);
}

/// Returns a world with a call that sets a variable twice and a grid variable, and a rule about each call.
fn world_with_call_and_condition(condition: &str) -> World {
    let rule = format!(
        "rules:\n  - id: r\n    level: error\n    for: call\n    when: '{condition}'\n    message: found\n"
    );
    let world = world_with_files(&[(FILE, &rule)]);
    let pipeline = "type: orchestration\npipeline:\n  components:\n    Run:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: b\n        setScalarVariables: [[day, \"1\"], [day, \"2\"]]\n        setGridVariables: [{ variable: g, status: values, gridValues: [[x]] }]\n";
    commit_files(&world, &[("a.orch.yaml", pipeline)]);
    world
}

#[test]
fn condition_sees_last_value_of_variable_that_call_sets_twice() {
    for (condition, is_finding) in [
        ("call.arguments.day == \"2\"", true),
        ("call.arguments.day == \"1\"", false),
        ("size(call.arguments) == 2", true),
        ("call.arguments.g.gridValues == [[\"x\"]]", true),
    ] {
        let world = world_with_call_and_condition(condition);
        let report = check(&world, "--fail-on never").expect(0).json();
        assert_eq!(
            !list_team_findings(&report).is_empty(),
            is_finding,
            "{condition}: {report:#}"
        );
        let inspection = Call::new(&world.work()).run("inspect a.orch.yaml").expect(0);
        inspection.logging(&["pipeline.calls[0].arguments.day = \"2\""]);
    }
}

#[test]
fn lists_of_numbers_are_compared_by_value() {
    for (condition, is_finding) in [
        ("[1, 2] == [1.0, 2.0]", true),
        ("{\"a\": [1]} == {\"a\": [1u]}", true),
        ("[1] in [[2.0], [1.0]]", true),
        ("[1, 2] == [1.0, 3.0]", false),
    ] {
        let world = world_with_call_and_condition(condition);
        let report = check(&world, "--fail-on never").expect(0).json();
        assert_eq!(
            !list_team_findings(&report).is_empty(),
            is_finding,
            "{condition}: {report:#}"
        );
    }
}

#[test]
fn comparison_that_is_never_true_is_refused_with_its_types() {
    for (condition, message) in [
        (
            "[1] == [\"a\"]",
            "a list of integers is never equal to a list of strings",
        ),
        (
            "[[1]] == [[\"a\"]]",
            "a list of lists of integers is never equal to a list of lists of strings",
        ),
        ("[] == {}", "a list is never equal to a map"),
        ("call.target == null", "a string is never equal to null"),
        ("null != pipeline.calls", "null is never equal to a list of calls"),
    ] {
        let world = world_with_call_and_condition(condition);
        let output = Call::new(&world.work()).run("rules lint").expect(1);
        let text = output.all();
        assert!(text.contains(message), "{text}");
        let has_hint = text.contains("compare with an empty value: `");
        assert_eq!(has_hint, condition.contains("null"), "{text}");
    }
    // A value of the document may be null.
    let world = world_with_call_and_condition("call.arguments.day == null || pipeline.document == null");
    Call::new(&world.work()).run("rules lint").expect(0);
}

#[test]
fn waiver_about_missing_subject_is_unused_although_rule_is_about_pipeline() {
    let rule = |subject: &str| {
        format!("rules: [{{ id: small, level: error, for: {subject}, when: 'true', message: too small }}]\n")
    };
    let waivers = "- { rule: team/small, path: '**', about: Gone, reason: r }\n";
    for subject in ["pipeline", "component"] {
        let world = world_with_files(&[(FILE, &rule(subject)), ("sluicegate-waivers.yaml", waivers)]);
        commit_files(&world, &[("a.orch.yaml", &orchestration_text(&["Start"]))]);
        let call = Call::new(&world.work());
        let list = call.run("waivers list -o json").expect(0).json();
        assert_eq!(list[0]["state"], "unused", "{subject}");
        call.run("waivers prune").expect(0).logging(&["1 waiver removed"]);
    }
}
