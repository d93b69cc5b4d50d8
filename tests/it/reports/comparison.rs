//! `report --compare`: new, known and fixed findings of two reports, without a repository.

use crate::support::{
    Arguments, Call, NAMING, Platform, ProgramOutput, RULES, World, answer, change, finding_values, offer,
    orchestration_text, parameter, project, read_json, requested_pipelines,
};
use serde_json::{Value, json};
use std::fs;
use wiremock::{Request, ResponseTemplate};

/// Creates reports of all pipelines before and after these changes of files.
fn two(before: &[(&str, &str)], after: &[(&str, Option<&str>)]) -> World {
    let world = change(before);
    write_check_report(&world, "old.json");
    for (path, content) in after {
        match content {
            Some(content) => world.write(path, content),
            None => fs::remove_file(world.work().join(path)).unwrap(),
        }
    }
    write_check_report(&world, "new.json");
    world
}

fn write_check_report(world: &World, name: &str) {
    let report = format!("json=../{name}");
    let args = ["check", "--all", "--fail-on", "warn", "--report", &report];
    assert!(Call::new(&world.work()).run(&args).code < 2);
}

fn compare_reports(world: &World, extra_args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("report --compare ../old.json ../new.json", extra_args))
}

fn edit_report(world: &World, name: &str, edit: impl FnOnce(&mut Value)) {
    let mut report = read_json(&world.work().join("..").join(name));
    edit(&mut report);
    world.write(&format!("../{name}"), report.to_string());
}

fn numbers(report: &Value) -> [u64; 3] {
    ["new", "known", "fixed"].map(|key| report["findings"][key].as_u64().unwrap())
}

fn pipeline_with_names(names: &[&str]) -> String {
    orchestration_text(&[&["Start"], names, &["Done"]].concat())
}

#[test]
fn findings_of_a_copy_are_new_and_those_of_a_renamed_file_are_known() {
    for (command, expected_numbers) in [("copy", [1, 0]), ("rename", [0, 1])] {
        let world = project();
        let content = pipeline_with_names(&["one bad"]);
        world.write("a.orch.yaml", &content);
        world.commit("before");
        world.push();
        write_check_report(&world, "old.json");
        world.write("b.orch.yaml", &content);
        if command == "rename" {
            fs::remove_file(world.work().join("a.orch.yaml")).unwrap();
        }
        world.commit("after");
        let args = "check --base HEAD~1 --fail-on warn --report json=../new.json";
        assert!(Call::new(&world.work()).run(args).code < 2);
        let report = read_json(&world.work().join("../new.json"));
        assert_eq!(report["changes"][0]["previousPath"], "a.orch.yaml", "{report}");
        let [new, known, _] = numbers(&compare_reports(&world, "--report json=-").json());
        assert_eq!([new, known], expected_numbers, "{command}");
    }
}

#[test]
fn new_known_and_fixed_are_in_every_report() {
    let world = two(
        &[
            ("a.orch.yaml", &pipeline_with_names(&["one bad", "two bad"])),
            ("b.orch.yaml", &pipeline_with_names(&["gone bad"])),
        ],
        &[
            (
                "a.orch.yaml",
                Some(&pipeline_with_names(&["two bad", "three bad"])),
            ),
            ("b.orch.yaml", None),
        ],
    );
    let output = compare_reports(&world, "--report json=compared.json --annotations github").expect(1);
    output.assert_logged(&[
        "1 new error (2 known, 1 fixed)",
        "with a report of a working tree",
        "::error",
        "three bad",
    ]);
    let report: Value =
        serde_json::from_str(&fs::read_to_string(world.work().join("compared.json")).unwrap()).unwrap();
    assert_eq!(numbers(&report), [1, 2, 1]);
    assert_eq!(report["context"]["comparedWith"], json!({ "head": null }));
    let results = report["files"][0]["results"].as_array().unwrap();
    let naming = results.iter().find(|result| result["rule"] == NAMING).unwrap();
    assert_eq!(finding_values(naming, "about"), ["two bad", "three bad"]);
    assert_eq!(finding_values(naming, "state"), ["known", "new"]);
    // The result is a valid report, but it is not compared again and is not a review.
    let call = Call::new(&world.work());
    call.run("report compared.json")
        .expect(1)
        .assert_logged(&["1 new error (2 known, 1 fixed)"]);
    call.run("report --compare ../old.json compared.json")
        .expect(2)
        .saying(&["hint: compare the report that the review wrote"]);
}

#[test]
fn renamed_file_is_new_unless_the_report_has_its_former_name() {
    let content = pipeline_with_names(&["one bad"]);
    let world = two(
        &[("a.orch.yaml", &content)],
        &[("a.orch.yaml", None), ("b.orch.yaml", Some(&content))],
    );
    let report = compare_reports(&world, "--report json=-").expect(1).json();
    assert_eq!(numbers(&report), [1, 0, 0]);
    let none = json!({ "added": 0, "removed": 0, "renamed": 0, "modified": 0 });
    let moved = json!({ "path": "b.orch.yaml", "previousPath": "a.orch.yaml", "change": "renamed", "components": none,
        "links": none, "variables": none, "other": 0, "layout": false, "calledBy": null });
    edit_report(&world, "new.json", |new| new["changes"] = json!([moved]));
    let report = compare_reports(&world, "--report json=-").expect(0).json();
    assert_eq!(
        (numbers(&report), &report["verdict"]),
        ([0, 1, 0], &json!("passed"))
    );
}

#[test]
fn old_report_without_subjects_of_findings_excuses_none() {
    let content = pipeline_with_names(&["one bad"]);
    let world = two(&[("a.orch.yaml", &content)], &[("a.orch.yaml", Some(&content))]);
    edit_report(&world, "old.json", |old| {
        for result in old["files"][0]["results"].as_array_mut().unwrap() {
            for finding in result["findings"].as_array_mut().unwrap() {
                let finding = finding.as_object_mut().unwrap();
                finding.remove("about");
                finding.remove("size");
            }
        }
    });
    let output = compare_reports(&world, "--report json=-").expect(1);
    assert_eq!(numbers(&output.json()), [1, 0, 1]);
}

#[test]
fn comparison_with_incomplete_old_report_is_undecided() {
    let content = pipeline_with_names(&["one bad"]);
    let world = two(&[("a.orch.yaml", &content)], &[("b.orch.yaml", Some(&content))]);
    for (key, value) in [
        ("base", json!("1111111111111111111111111111111111111111")),
        ("paths", json!(["a.orch.yaml"])),
    ] {
        write_check_report(&world, "new.json");
        edit_report(&world, "old.json", |old| {
            old["context"]["base"] = Value::Null;
            old["context"][key] = value;
        });
        let output = compare_reports(&world, "--report json=open.json").expect(3);
        output.assert_logged(&["The old report cannot show which findings are new in 1 file: b.orch.yaml"]);
    }
    Call::new(&world.work()).run("report open.json").expect(3);
    // The new report did not evaluate this rule, so none of its findings are reported as fixed.
    write_check_report(&world, "old.json");
    let others: Vec<&str> = RULES.lines().filter(|line| !line.contains(NAMING)).collect();
    world.write(".platform/config/pipeline_quality_rules.yaml", others.join("\n"));
    write_check_report(&world, "new.json");
    let output = compare_reports(&world, "--report json=-").expect(0);
    assert_eq!(output.json()["findings"]["fixed"], 0);
    output.assert_logged(&["are not treated as fixed", NAMING]);
}

#[test]
fn known_findings_do_not_excuse_unexplained_failure() {
    let content = pipeline_with_names(&["one bad"]);
    let world = two(&[("a.orch.yaml", &content)], &[("a.orch.yaml", Some(&content))]);
    compare_reports(&world, "")
        .expect(0)
        .assert_logged(&["no new findings (1 known)"]);
    let whole = read_json(&world.work().join("..").join("new.json"));
    edit_report(&world, "new.json", |new| new["open"] = json!(true));
    compare_reports(&world, "").expect(3);
    world.write("../new.json", whole.to_string());
    // Only the platform's status fails, because the only finding is a warning.
    edit_report(&world, "new.json", |new| {
        new["context"]["failOn"] = json!("error");
        let results = new["files"][0]["results"].as_array_mut().unwrap();
        for result in results.iter_mut().filter(|result| result["status"] == "FAILED") {
            result["enforcement"] = json!("warn");
            result["severity"] = json!("warning");
        }
        new["counts"]["warnings"] = new["counts"]["failed"].clone();
        new["findings"]["warnings"] = json!(1);
        new["findings"]["errors"] = json!(0);
    });
    compare_reports(&world, "").expect(1);
}

#[test]
fn known_findings_do_not_excuse_break_of_consumers() {
    let shared = ".platform/shared-pipelines.yaml";
    let world = project();
    world.write(shared, offer(&[("a", &parameter("day", ""))]));
    world.write("b.orch.yaml", pipeline_with_names(&["one bad"]));
    world.commit("offer");
    world.push();
    write_check_report(&world, "old.json");
    world.git("checkout -q -b change");
    world.write(
        "b.orch.yaml",
        format!("# edited\n{}", pipeline_with_names(&["one bad"])),
    );
    let again = |content: &str| {
        world.write(shared, content);
        world.commit("edit");
        let args = "check --head HEAD --base main --project-checks off";
        let extra_args = "--compat fail --report json=../new.json";
        Call::new(&world.work()).run((args, extra_args)).expect(1);
    };
    again(&offer(&[("clean", &parameter("day", ""))]));
    let output = compare_reports(&world, "--report json=both.json").expect(1);
    output.assert_logged(&["no new findings (1 known)", "breaks consumers"]);
    Call::new(&world.work()).run("report both.json").expect(1);
    // It does not excuse unknown breaking changes either.
    again("pipelines: [\n");
    compare_reports(&world, "").expect(3);
}

/// Returns a failed status if the request contains a known or a secret finding, but lists only the known ones.
fn half_silent(request: &Request) -> ResponseTemplate {
    let result = |path: &String| {
        let (status, violations) = match path.as_str() {
            "known.orch.yaml" => ("FAILED", json!(["component \"one bad\" is bad"])),
            _ => ("PASSED", json!([])),
        };
        let result = json!({ "ruleName": NAMING, "status": status, "violations": violations });
        (path.clone(), json!([result]))
    };
    let paths = requested_pipelines(request);
    let fails = |path: &String| path == "known.orch.yaml" || path == "secret.orch.yaml";
    let status = if paths.iter().any(fails) {
        "FAILED"
    } else {
        "PASSED"
    };
    let results: serde_json::Map<String, Value> = paths.iter().map(result).collect();
    answer(&json!({ "reviewStatus": status, "results": results, "excludedFiles": [] }))
}

#[test]
fn known_finding_of_one_batch_does_not_explain_another_that_failed() {
    let platform = Platform::new();
    platform.reviews(half_silent);
    let world = change(&[("known.orch.yaml", &pipeline_with_names(&["one bad"]))]);
    let review = |name: &str| {
        let report = format!("json=../{name}");
        let call = platform.call(&world).variable("SLUICEGATE_BATCH_SIZE", "1");
        call.run(&["review", "--all", "--report", &report]).expect(1);
    };
    review("old.json");
    review("new.json");
    compare_reports(&world, "").expect(0);
    world.write("secret.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("secret");
    world.push();
    review("new.json");
    assert_eq!(
        read_json(&world.work().join("..").join("new.json"))["failedWithoutFinding"],
        true
    );
    let output = compare_reports(&world, "--report json=both.json").expect(1);
    output.assert_logged(&["no new findings (1 known)"]);
    Call::new(&world.work()).run("report both.json").expect(1);
    // A report that was edited to look passed is invalid.
    edit_report(&world, "new.json", |new| {
        new["verdict"] = json!("undecided");
        new["files"][1] = new["files"][0].clone();
        new["files"][1]["path"] = json!("b.orch.yaml");
        new["counts"]["failed"] = json!(0);
        new["counts"]["passed"] = json!(3);
        new["findings"]["errors"] = json!(0);
    });
    let output = compare_reports(&world, "").expect(2);
    output.assert_logged(&["the platform reports a failure that no finding of level error explains"]);
}

#[test]
fn comparison_of_incompatible_reports_is_refused() {
    let content = pipeline_with_names(&["one bad"]);
    let world = two(&[("a.orch.yaml", &content)], &[("a.orch.yaml", Some(&content))]);
    let call = Call::new(&world.work());
    call.run("report --compare ../old.json ../new.json ../new.json")
        .expect(2)
        .saying(&[
            "--compare requires exactly one new report, but 2 were given",
            "hint: merge the shards into one report first",
        ]);
    let old = read_json(&world.work().join("..").join("old.json"));
    let huge = format!("{{\"schema\": {}", "[".repeat(1_000_000));
    let mut other = old.clone();
    other["schema"] = json!("sluicegate.diff/v1");
    let mut part = old.clone();
    part["context"]["shard"] = json!("1/2");
    let mut uneven = old.clone();
    uneven["files"][0]["results"][0]["findings"] = json!([{ "message": null }, { "message": "x" }]);
    uneven["files"][0]["results"][0]["status"] = json!("FAILED");
    for (text, says) in [
        (huge, "not a valid report"),
        ("no JSON".to_owned(), "old.json"),
        (other.to_string(), "the schema is"),
        (part.to_string(), "covers only shard 1/2"),
        (
            uneven.to_string(),
            "has several findings, and one finding has no message",
        ),
    ] {
        world.write("../old.json", text);
        compare_reports(&world, "").expect(2).saying(&[says]);
    }
    fs::remove_file(world.work().join("../old.json")).unwrap();
    compare_reports(&world, "").expect(2).saying(&["old.json"]);
}

/// Known and new are states relative to a base, but a waiver is not.
#[test]
fn comparison_replaces_states_of_own_base_and_keeps_waived_findings() {
    let world = project();
    write_check_report(&world, "old.json");
    let known = pipeline_with_names(&["known bad"]);
    world.write("known.orch.yaml", &known);
    world.write(
        "sluicegate-waivers.yaml",
        format!("- {{ rule: {NAMING}, path: waived.orch.yaml, reason: legacy }}\n"),
    );
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    world.write("known.orch.yaml", format!("# edited\n{known}"));
    world.write("waived.orch.yaml", pipeline_with_names(&["waived bad"]));
    world.commit("change");
    Call::new(&world.work())
        .run("check --new-only --fail-on warn --report json=../new.json")
        .expect(0)
        .assert_logged(&["1 known"]);
    let report = compare_reports(&world, "--report json=-").expect(1).json();
    assert_eq!(numbers(&report), [1, 0, 0]);
    assert_eq!(report["findings"]["waived"], 1);
    assert!(!report["notes"].to_string().contains("not treated as fixed"));
    // Without a result of the file in the older report, nothing is known.
    edit_report(&world, "old.json", |old| {
        old["context"]["paths"] = json!(["a.orch.yaml"]);
    });
    let report = compare_reports(&world, "--report json=-").expect(3).json();
    assert_eq!(numbers(&report)[1], 0, "{report:#}");
}

/// A former path is that of the same file only if the older report lacks the file and the newer one lacks that path.
#[test]
fn renamed_file_is_new_if_one_of_the_reports_has_both_paths() {
    let bad = pipeline_with_names(&["one bad"]);
    let good = orchestration_text(&["Start", "Done"]);
    let both_before = two(
        &[("a2.orch.yaml", &bad), ("b.orch.yaml", &good)],
        &[("a2.orch.yaml", None), ("b.orch.yaml", Some(&bad))],
    );
    let both_after = two(
        &[("a2.orch.yaml", &bad)],
        &[("a2.orch.yaml", Some(&bad)), ("b.orch.yaml", Some(&bad))],
    );
    let none = json!({ "added": 0, "removed": 0, "renamed": 0, "modified": 0 });
    let moved = json!({ "path": "b.orch.yaml", "previousPath": "a2.orch.yaml", "change": "renamed", "components": none,
        "links": none, "variables": none, "other": 0, "layout": false, "calledBy": null });
    for (world, expected) in [(both_before, [1, 0, 0]), (both_after, [1, 1, 0])] {
        edit_report(&world, "new.json", |new| new["changes"] = json!([moved]));
        let report = compare_reports(&world, "--report json=-").expect(1).json();
        assert_eq!(numbers(&report), expected);
    }
}

#[test]
fn comparison_fails_only_above_the_limit_of_known_findings() {
    let content = pipeline_with_names(&["one bad"]);
    let world = two(&[("a.orch.yaml", &content)], &[("a.orch.yaml", Some(&content))]);
    for (max_known, code) in [(0, 1), (1, 0), (2, 0)] {
        edit_report(&world, "new.json", |new| {
            new["context"]["maxKnown"] = json!(max_known);
        });
        let output = compare_reports(&world, "").expect(code);
        let message = format!("1 finding is known, but the limit is {max_known} (--max-known)");
        assert_eq!(output.all().contains(&message), code == 1, "{}", output.all());
    }
}

/// The platform's finding is folded into the broken link, which then explains the failed batch.
#[test]
fn comparison_with_same_broken_link_passes_although_platform_finding_is_folded() {
    let platform = Platform::new();
    platform.reviews(|request: &Request| {
        let mut results = serde_json::Map::new();
        for path in requested_pipelines(request) {
            let (status, violations) = match path.as_str() {
                "b.orch.yaml" => ("FAILED", json!(["component \"Load\" is not used"])),
                _ => ("PASSED", json!([])),
            };
            let result =
                json!({ "ruleName": "unused-components", "status": status, "violations": violations });
            results.insert(path, json!([result]));
        }
        answer(&json!({ "reviewStatus": "FAILED", "results": results, "excludedFiles": [] }))
    });
    let world = project();
    let rules = "rules:\n  - { id: unused-components, enabled: true, enforcementLevel: error }\n";
    world.write(".platform/config/pipeline_quality_rules.yaml", rules);
    let text = orchestration_text(&["Start", "Load", "Done"]).replace("- \"Load\"", "- \"Laod\"");
    world.write("b.orch.yaml", text);
    world.commit("typo");
    world.push();
    for name in ["old", "new"] {
        let report = format!("json=../{name}.json");
        platform
            .call(&world)
            .run(&["review", "--all", "--report", &report])
            .expect(1);
    }
    let report = read_json(&world.work().join("..").join("new.json"));
    let link = report["files"][1]["results"].as_array().unwrap().last().unwrap();
    assert_eq!(finding_values(link, "folded"), [1], "{report}");
    compare_reports(&world, "").expect(0);
    // Nothing explains the failure if the run did not find an explanation.
    edit_report(&world, "new.json", |new| {
        new["failedWithoutFinding"] = json!(true);
    });
    compare_reports(&world, "").expect(1);
}

#[test]
fn comparison_with_fixed_link_does_not_report_project_check_as_unevaluated() {
    let good = orchestration_text(&["Start", "Load", "Done"]);
    let bad = good.replace("- \"Load\"", "- \"Nowhere\"");
    let world = two(&[("a.orch.yaml", &bad)], &[("a.orch.yaml", Some(&good))]);
    let notes = compare_reports(&world, "--report json=-").expect(0).json()["notes"].to_string();
    assert!(!notes.contains("were not evaluated"), "{notes}");
}

#[test]
fn comparison_with_renamed_file_reports_rule_that_was_not_evaluated() {
    let content = pipeline_with_names(&["one bad"]);
    let world = two(
        &[("a.orch.yaml", &content)],
        &[("a.orch.yaml", None), ("b.orch.yaml", Some(&content))],
    );
    let other_rules: Vec<&str> = RULES.lines().filter(|line| !line.contains(NAMING)).collect();
    world.write(
        ".platform/config/pipeline_quality_rules.yaml",
        other_rules.join("\n"),
    );
    write_check_report(&world, "new.json");
    let none = json!({ "added": 0, "removed": 0, "renamed": 0, "modified": 0 });
    let moved = json!({ "path": "b.orch.yaml", "previousPath": "a.orch.yaml", "change": "renamed", "components": none,
        "links": none, "variables": none, "other": 0, "layout": false, "calledBy": null });
    edit_report(&world, "new.json", |new| new["changes"] = json!([moved]));
    compare_reports(&world, "")
        .expect(0)
        .assert_logged(&["are not treated as fixed", NAMING]);
}

#[test]
fn call_by_bare_name_that_is_broken_now_is_new() {
    let pipeline = |target: &str| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    Call: {{ type: run-orchestration, parameters: {{ orchestrationJob: {target} }} }}\n"
        )
    };
    let empty = "type: orchestration\npipeline:\n  components: {}\n";
    let before = [("a.orch.yaml", &*pipeline("load")), ("b/load.orch.yaml", empty)];
    let call_states = |world: &World| {
        let report = compare_reports(world, "--report json=-").json();
        let files = report["files"].as_array().unwrap().iter();
        let results = files.flat_map(|file| file["results"].as_array().unwrap());
        let calls = results.filter(|result| result["rule"] == "project/call");
        calls
            .flat_map(|result| finding_values(result, "state"))
            .collect::<Vec<_>>()
    };
    let world = two(&before, &[("b/load.orch.yaml", None)]);
    assert_eq!(call_states(&world), ["new"]);
    let world = two(&before, &[("c.orch.yaml", Some(empty))]);
    assert_eq!(call_states(&world), ["known"]);
}

#[test]
fn comparison_drops_the_note_about_the_missing_base_of_the_new_report() {
    let world = change(&[("a.orch.yaml", &pipeline_with_names(&["one bad"]))]);
    let check = |name: &str| {
        let report = format!("json=../{name}");
        Call::new(&world.work())
            .run(&["check", "--all", "--new-only", "--report", &report])
            .expect(1)
    };
    check("old.json");
    check("new.json");
    let note = "every finding is treated as new, because there is no base";
    let alone = Call::new(&world.work())
        .run("report ../new.json --report json=-")
        .expect(1)
        .json();
    assert!(alone["notes"].to_string().contains(note), "{alone}");
    assert_eq!(alone["limits"][0]["kind"], "no-base");
    let output = compare_reports(&world, "--report json=- --report markdown=../trend.md").expect(0);
    let compared = output.json();
    assert!(!compared.to_string().contains(note), "{compared}");
    assert_eq!(compared.get("limits"), None, "{compared}");
    assert!(!output.err.contains(note), "{}", output.err);
    let page = fs::read_to_string(world.path().join("trend.md")).unwrap();
    assert!(!page.contains("there is no base"), "{page}");
}

#[test]
fn comparison_lists_checks_that_only_one_report_has() {
    let world = change(&[("a.orch.yaml", &pipeline_with_names(&["one bad"]))]);
    let check = |name: &str, arguments: &str| {
        let report = format!("json=../{name}");
        Call::new(&world.work())
            .run((&["check", "--all", "--report", &report][..], arguments))
            .expect(1);
    };
    let compare = |old: &str, new: &str| {
        let call = Call::new(&world.work());
        let output = call.run(format!("report --compare ../{old} ../{new} --report json=-"));
        output.expect(0).json()["notes"].to_string()
    };
    check("all.json", "");
    for (name, flag) in [
        ("project checks", "--project-checks off"),
        ("team rules", "--team-rules off"),
    ] {
        check("part.json", flag);
        let notes = compare("part.json", "all.json");
        assert!(
            notes.contains(&format!("the {name} were turned off for the older report")),
            "{notes}"
        );
        let notes = compare("all.json", "part.json");
        assert!(
            notes.contains(&format!("the {name} were turned off for the new report")),
            "{notes}"
        );
        let notes = compare("part.json", "part.json");
        assert!(!notes.contains("were turned off for"), "{notes}");
    }
}

#[test]
fn standard_input_is_read_as_only_one_report() {
    let world = project();
    write_check_report(&world, "new.json");
    let report = world.path().join("new.json");
    let call = Call::new(&world.work()).input(&report);
    for args in [
        "report - -",
        "report - --compare -",
        "report ../new.json - --compare -",
    ] {
        call.run(args)
            .expect(2)
            .saying(&["standard input (`-`) can be read only once"]);
    }
    call.run("report -").expect(0);
    call.run("report - --compare ../new.json").expect(0);
    call.run("report ../new.json --compare -").expect(0);
}
