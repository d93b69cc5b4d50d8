//! A finding is known by the component or variable that it is about, and fixed only if its rule was evaluated.

use crate::support::{
    Call, NAMING, Platform, ProgramOutput, RULES, World, answer, finding_values, orchestration_text, project,
    requested_pipelines,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use wiremock::Request;

const FILE: &str = "old.orch.yaml";

/// Returns a pipeline with these components and variables.
fn with_variables(components: &[&str], variables: &[&str]) -> String {
    let mut text = orchestration_text(components) + "  variables:\n";
    for name in variables {
        let _ = writeln!(text, "    {name:?}: {{ metadata: {{ type: TEXT }} }}");
    }
    text
}

/// Creates a `main` with the first content of the file, and a branch `change` with the second one.
fn change_of_file(before: &str, after: &str) -> World {
    let world = project();
    world.write(FILE, before);
    world.commit("before");
    world.push();
    world.git("checkout -q -b change");
    world.write(FILE, format!("# edited\n{after}"));
    world.commit("after");
    world.push();
    world
}

/// Reviews only new findings on a platform that finds these messages of a rule of its own at the base and at head.
fn review_with_messages(world: &World, at_base: &[&str], at_head: &[&str]) -> ProgramOutput {
    let base = world.git("rev-parse origin/main");
    let head = world.git("rev-parse HEAD");
    let mut messages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (commit, texts) in [(base, at_base), (head, at_head)] {
        messages.insert(commit, texts.iter().map(|text| (*text).to_owned()).collect());
    }
    let platform = Platform::new();
    platform.reviews(move |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let violations = &messages[body["commitId"].as_str().unwrap()];
        let status = if violations.is_empty() { "PASSED" } else { "FAILED" };
        let own = json!({ "ruleName": "own-rule", "status": status, "violations": violations });
        let naming = json!({ "ruleName": NAMING, "status": "PASSED" });
        let results: serde_json::Map<String, Value> = requested_pipelines(request)
            .into_iter()
            .map(|path| (path, json!([own, naming])))
            .collect();
        answer(&json!({ "reviewStatus": status, "results": results, "excludedFiles": [] }))
    });
    platform.call(world).run("review --new-only --report json=-")
}

#[test]
fn new_finding_of_component_is_not_hidden_by_variable_of_its_name() {
    let both = with_variables(&["Start", "Load", "Done"], &["Load"]);
    let world = change_of_file(&both, &both);
    let (variable, component) = ("variable \"Load\" is wrong", "component \"Load\" is wrong");
    let output = review_with_messages(&world, &[variable], &[component]).expect(1);
    assert_eq!(output.json()["findings"]["new"], 1);
    review_with_messages(&world, &[component], &[variable]).expect(1);
    review_with_messages(&world, &[variable], &[variable, component]).expect(1);
    for known in [variable, component] {
        let output = review_with_messages(&world, &[known], &[known]).expect(0);
        assert_eq!(output.json()["findings"]["known"], 1);
    }
    // The kind is unknown from the text, but only a variable had the name.
    let unnamed = "\"Load\" is wrong";
    let world = change_of_file(&with_variables(&["Start", "Done"], &["Load"]), &both);
    review_with_messages(&world, &[unnamed], &[unnamed]).expect(1);
}

#[test]
fn trimmed_name_is_compared_as_written() {
    let content = |name: &str| orchestration_text(&["Start", name, "Done"]);
    let text = "component \"Load\" is wrong";
    let world = change_of_file(&content("Load"), &content("Load "));
    let output = review_with_messages(&world, &[text], &[text]).expect(1);
    let about = &output.json()["files"][0]["results"][0]["findings"][0]["about"];
    assert_eq!(about, "Load ");
    let world = change_of_file(
        &content("Load"),
        &orchestration_text(&["Start", "Load", "Load ", "Done"]),
    );
    review_with_messages(&world, &[text], &[text, text]).expect(1);
    // The same component in a message with other words.
    let world = change_of_file(&content("Load "), &content("Load "));
    review_with_messages(&world, &[text], &["component \"Load\" is not right"]).expect(0);
}

#[test]
fn finding_of_component_renamed_in_moved_file_is_known() {
    let names = |name| {
        orchestration_text(&[
            "Start", name, "Two", "Three", "Four", "Five", "Six", "Seven", "Done",
        ])
    };
    for path in [FILE, "moved.orch.yaml"] {
        let world = change_of_file(&names("load orders"), &names("load orders"));
        if path != FILE {
            world.git(format!("mv {FILE} {path}"));
        }
        world.write(path, names("read orders"));
        world.commit("rename");
        let report = Call::new(&world.work())
            .run("check --new-only --report json=-")
            .expect(0)
            .json();
        assert_eq!(report["files"][0]["path"], path);
        assert_eq!(report["findings"]["new"], 0, "{path}");
    }
}

#[test]
fn report_keeps_whether_finding_is_about_component_or_variable() {
    let both = with_variables(&["Start", "Load", "Done"], &["Load"]);
    let world = change_of_file(&both, &both);
    let (variable, component) = ("variable \"Load\" is wrong", "component \"Load\" is wrong");
    let write = |text: &str, name: &str| {
        let report = review_with_messages(&world, &[], &[text]).json();
        assert_eq!(
            finding_values(&report["files"][0]["results"][0], "about"),
            ["Load"]
        );
        world.write(name, report.to_string());
    };
    write(variable, "old.json");
    write(component, "new.json");
    let compare =
        |old: &str, new: &str| Call::new(&world.work()).run(format!("report --compare {old} {new}"));
    compare("old.json", "new.json").expect(1);
    compare("new.json", "new.json").expect(0);
}

#[test]
fn finding_of_rule_without_result_is_not_fixed() {
    let world = change_of_file(
        &orchestration_text(&["Start", "bad name", "Done"]),
        &orchestration_text(&["Start", "Good name", "Done"]),
    );
    let praise = "Well done: 1 existing finding is fixed";
    for (rule, fixed) in [("maximum-components", 0), (NAMING, 1)] {
        let platform = Platform::new();
        let result = json!([{ "ruleName": rule, "status": "PASSED" }]);
        platform.reviews(answer(
            &json!({ "reviewStatus": "PASSED", "results": { FILE: result } }),
        ));
        let output = platform
            .call(&world)
            .run("review --new-only --report json=- --report markdown=m.md")
            .expect(0);
        assert_eq!(output.json()["findings"]["fixed"], fixed, "{rule}");
        let markdown = std::fs::read_to_string(world.work().join("m.md")).unwrap();
        assert_eq!(markdown.contains(praise), fixed == 1, "{markdown}");
    }
}

#[test]
fn finding_of_disabled_rule_is_not_fixed() {
    let before = orchestration_text(&["Start", "bad name", "Done"]);
    let world = change_of_file(&before, &orchestration_text(&["Start", "Good name", "Done"]));
    let checked = || {
        let args = "check --new-only --report json=-";
        Call::new(&world.work()).run(args).json()["findings"]["fixed"].clone()
    };
    assert_eq!(checked(), 1);
    let disabled = RULES.replacen("enabled: true", "enabled: false", 1);
    world.write(".platform/config/pipeline_quality_rules.yaml", disabled);
    world.commit("disabled");
    assert_eq!(checked(), 0);
}

#[test]
fn fixed_reference_is_not_in_the_number_of_fixed_findings() {
    let call = |target: &str| {
        format!(
            "type: orchestration\npipeline:\n  components:\n    Start:\n      type: start\n      transitions:\n        \
             unconditional: [Call]\n    Call:\n      type: run-orchestration\n      parameters:\n        \
             orchestrationJob: {target}\n      transitions:\n        success: [Done]\n    Done:\n      type: \
             end-success\n"
        )
    };
    let twice = call("missing")
        + "    Again:\n      type: run-orchestration\n      parameters:\n        orchestrationJob: lost\n";
    for (before, after) in [
        (call("missing"), call("a")),
        (twice.clone(), twice.replace("missing", "a")),
    ] {
        let world = change_of_file(&before, &after);
        let args = "check --new-only --report json=-";
        let output = Call::new(&world.work()).run(args);
        assert_eq!(output.json()["findings"]["fixed"], 0, "{}", output.all());
    }
}
