//! A pipeline without a start component: its findings have no subject, and each engine words them in its own way.

use crate::support::{Call, Platform, RULES_FILE, World, answer, finding_values, requested_pipelines};
use serde_json::{Value, json};
use wiremock::Request;

const WAIVERS: &str = "sluicegate-waivers.yaml";

const NO_START: &str = "type: orchestration\npipeline:\n  components:\n    Load: { type: sql-executor }\n    Other: { type: end-success }\n";

/// Returns the rules that need a start component, with another rule whose limit is `limit`.
fn rules(limit: usize) -> String {
    let rule = |id: &str| format!("  - {{ id: {id}, enabled: true, enforcementLevel: error }}\n");
    format!(
        "rules:\n{}{}  - {{ id: maximum-components, enabled: true, enforcementLevel: error, config: {{ maxComponents: {limit} }} }}\n",
        rule("start-and-end-components"),
        rule("unused-components")
    )
}

/// Creates a `main` with the pipeline, and a branch that edits the rules file and the pipeline, so that a review
/// evaluates the base on this machine.
fn world_with_edited_rules() -> World {
    let world = World::new()
        .with_file(RULES_FILE, &rules(8))
        .with_file("n.orch.yaml", NO_START);
    world.commit("first");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world.write(RULES_FILE, rules(9));
    world.write("n.orch.yaml", format!("# edited\n{NO_START}"));
    world.commit("change");
    world.push();
    world
}

/// Returns a platform that words the findings of a pipeline without a start component in its own way. `violations` are
/// those of the rule about start and end components.
fn platform(violations: &'static [&'static str]) -> Platform {
    let platform = Platform::new();
    platform.reviews(move |request: &Request| {
        let results = json!([
            { "ruleName": "start-and-end-components", "status": "FAILED", "violations": violations },
            { "ruleName": "unused-components", "status": "ERROR", "errorDetail":
                { "type": "designer/no-start-component", "message": "Start component missing" } },
            { "ruleName": "maximum-components", "status": "PASSED", "violations": [] },
        ]);
        let files: serde_json::Map<String, Value> = requested_pipelines(request)
            .into_iter()
            .map(|path| (path, results.clone()))
            .collect();
        answer(&json!({ "reviewStatus": "FAILED", "results": files, "excludedFiles": [] }))
    });
    platform
}

/// Returns the state of each finding, also of one about a rule that could not be evaluated.
fn list_states(report: &Value) -> Vec<String> {
    let results = report["files"][0]["results"].as_array().unwrap();
    let states = results.iter().flat_map(|result| finding_values(result, "state"));
    states.map(|state| state.as_str().unwrap().to_owned()).collect()
}

#[test]
fn missing_start_is_known_although_engines_word_it_in_different_ways() {
    let world = world_with_edited_rules();
    let own_words = platform(&["Orchestration pipelines must contain a start component"]);
    let report = own_words
        .call(&world)
        .run("review --new-only --report json=-")
        .json();
    assert!(
        report["notes"].to_string().contains("the rules differ"),
        "{report}"
    );
    assert_eq!(list_states(&report), ["known", "known"], "{report}");
    // Beside a second violation without a subject, it is unknown which one is about the start.
    for (violations, new_count) in [
        (&["no start component", "another problem"][..], 2),
        (&["component \"Load\" is the last step of its branch"], 1),
        (
            &[
                "no start component",
                "component \"Load\" is the last step of its branch",
            ],
            1,
        ),
    ] {
        let report = platform(violations)
            .call(&world)
            .run("review --new-only --report json=-")
            .expect(1)
            .json();
        let states = list_states(&report);
        let new_states = states.iter().filter(|state| *state == "new");
        assert_eq!(new_states.count(), new_count, "{report}");
    }
}

#[test]
fn known_missing_start_counts_as_known_everywhere() {
    let world = world_with_edited_rules();
    let call = Call::new(&world.work());
    let output = call.run("check --new-only --report json=-").expect(0);
    let findings = &output.json()["findings"];
    assert_eq!(findings["known"], 2, "{}", output.all());
    assert_eq!(findings["notEvaluated"], 0, "{}", output.all());
    output.saying(&["no new findings (2 known)"]);
    call.run("check --new-only --max-known 2").expect(0);
    call.run("check --new-only --max-known 1").expect(1);
    call.run("check --new-only --report gitlab=q.json").expect(0);
    assert!(!world.read_text("q.json").contains("critical"));
}

/// An earlier version counted a known finding of a rule without evaluation as not evaluated.
#[test]
fn report_with_earlier_count_of_known_missing_start_is_read() {
    let world = world_with_edited_rules();
    let call = Call::new(&world.work());
    let mut report = call.run("check --new-only --report json=-").expect(0).json();
    for (not_evaluated, known, exit_code) in [(0, 2, 0), (1, 1, 0), (2, 0, 2), (0, 1, 2)] {
        report["findings"]["notEvaluated"] = not_evaluated.into();
        report["findings"]["known"] = known.into();
        world.write("r.json", report.to_string());
        call.run("report r.json").expect(exit_code);
    }
}

#[test]
fn waiver_of_missing_start_applies_in_both_engines_and_survives_a_prune() {
    let world = world_with_edited_rules();
    let own_words = platform(&["Orchestration pipelines must contain a start component"]);
    own_words
        .call(&world)
        .run("review --report json=r.json")
        .expect(1);
    for source in ["--all", "--from r.json"] {
        let call = Call::new(&world.work());
        call.run(format!("waivers add {source} --reason legacy"))
            .expect(0);
        call.run("waivers prune").expect(0).saying(&["nothing to remove"]);
        call.run("check --all").expect(0);
        let report = own_words
            .call(&world)
            .run("review --all --policy head --report json=-")
            .json();
        assert_eq!(list_states(&report), ["waived", "waived"], "{source}: {report}");
        std::fs::remove_file(world.work().join(WAIVERS)).unwrap();
    }
}

#[test]
fn waiver_of_missing_start_waives_no_other_finding_without_a_subject() {
    let world = world_with_edited_rules();
    Call::new(&world.work())
        .run("waivers add --all --reason legacy")
        .expect(0);
    let review = "review --all --policy head --report json=-";
    for (violations, exit_code, waived) in [
        // The other waived finding is that of the rule that needs a start component.
        (&["must contain a start component"][..], 0, 2),
        (
            &["must contain a start component", "must end with an end component"],
            1,
            1,
        ),
    ] {
        let report = platform(violations)
            .call(&world)
            .run(review)
            .expect(exit_code)
            .json();
        assert_eq!(report["findings"]["waived"], waived, "{report}");
    }
}

/// An earlier version wrote the words of the platform, which a local run cannot compare.
#[test]
fn waiver_in_the_words_of_the_platform_is_kept_while_the_start_is_missing() {
    let world = world_with_edited_rules();
    world.write(
        WAIVERS,
        "- { rule: start-and-end-components, path: n.orch.yaml, about: words of the platform, reason: legacy }\n",
    );
    let call = Call::new(&world.work());
    let list = call.run("waivers list -o json").expect(0).json();
    assert_eq!(list[0]["state"], "not judged");
    call.run("waivers prune").expect(0).saying(&["nothing to remove"]);
    let same_words = platform(&["words of the platform"]);
    let report = same_words
        .call(&world)
        .run("review --all --policy head --report json=-")
        .json();
    assert_eq!(report["findings"]["waived"], 1, "{report}");
    world.write("n.orch.yaml", NO_START.replace("sql-executor", "start"));
    call.run("waivers prune").expect(0).logging(&["1 waiver removed"]);
}
