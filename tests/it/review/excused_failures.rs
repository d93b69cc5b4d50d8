//! The findings that excuse a review that the platform reports as FAILED.

use crate::support::{
    NAMING, Platform, RULES, RULES_FILE, World, answer, orchestration_text, project, requested_pipelines,
};
use serde_json::{Map, Value, json};
use std::fs;
use wiremock::{Request, ResponseTemplate};

const MAXIMUM: &str = "maximum-components";

/// Creates a `main` with these waived rules, and a branch `change` that adds `b.orch.yaml` and `c.orch.yaml`.
fn world_with_waivers(rules: &[&str]) -> World {
    let world = project();
    let entry = |rule: &&str| format!("- {{ rule: {rule}, path: b.orch.yaml, reason: legacy }}\n");
    world.write(
        "sluicegate-waivers.yaml",
        rules.iter().map(entry).collect::<String>(),
    );
    world.commit("waivers");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "b.orch.yaml",
        orchestration_text(&["Start", "bad name", "Load", "Done"]),
    );
    world.write("c.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("change");
    world.push();
    world
}

/// Responds to a review with this status, in which `b.orch.yaml` fails these rules.
fn review_failing(request: &Request, status: &str, failed: &[&str]) -> ResponseTemplate {
    let result = |rule: &str, is_failed: bool| {
        let (status, violations) = if is_failed {
            ("FAILED", json!(["component \"bad name\" is wrong"]))
        } else {
            ("PASSED", json!([]))
        };
        json!({ "ruleName": rule, "status": status, "violations": violations })
    };
    let results: Map<String, Value> = requested_pipelines(request)
        .into_iter()
        .map(|path| {
            let is_failed = |rule: &str| path == "b.orch.yaml" && failed.contains(&rule);
            let results = [NAMING, MAXIMUM].map(|rule| result(rule, is_failed(rule)));
            (path, json!(results))
        })
        .collect();
    answer(&json!({ "reviewStatus": status, "results": results, "excludedFiles": [] }))
}

fn platform_failing_rules(failed: &'static [&'static str]) -> Platform {
    let platform = Platform::new();
    platform.reviews(move |request: &Request| review_failing(request, "FAILED", failed));
    platform
}

const UNEXPLAINED: &str = "no finding of level error explains the failure";

#[test]
fn failed_review_is_not_excused_by_waived_warning() {
    let world = world_with_waivers(&[NAMING, MAXIMUM]);
    let platform = platform_failing_rules(&[MAXIMUM]);
    for command in ["review", "ci"] {
        let output = platform
            .call(&world)
            .run(&[command, "--report", "json=review.json"])
            .expect(1);
        output.assert_logged(&[UNEXPLAINED, "b.orch.yaml"]);
    }
    let output = platform
        .call(&world)
        .run("report review.json --report junit=-")
        .expect(1);
    output.assert_logged(&[UNEXPLAINED, "<error"]);
    platform.call(&world).run("review --fail-on never").expect(0);
    let publish = "publish --require-review review.json --version-name 1";
    let output = platform
        .call(&world)
        .variable("SLUICEGATE_PREFIX", "sales")
        .run(publish);
    assert_ne!(output.code, 0, "{}", output.all());
}

#[test]
fn failed_review_is_excused_by_waived_error() {
    let world = world_with_waivers(&[NAMING, MAXIMUM]);
    for failed in [&[NAMING][..], &[NAMING, MAXIMUM]] {
        let platform = platform_failing_rules(failed);
        platform
            .call(&world)
            .run("review --report json=review.json")
            .expect(0);
        platform.call(&world).run("report review.json").expect(0);
    }
    // A warning that is not waived fails the gate neither.
    platform_failing_rules(&[NAMING, MAXIMUM])
        .call(&world_with_waivers(&[NAMING]))
        .run("review")
        .expect(0);
}

#[test]
fn failed_review_is_not_excused_by_error_of_another_batch() {
    let world = world_with_waivers(&[NAMING]);
    let platform = platform_failing_rules(&[NAMING]);
    let apart = "review --batch-size 1 --report json=review.json";
    let output = platform.call(&world).run(apart).expect(1);
    output.assert_logged(&[UNEXPLAINED, "c.orch.yaml"]);
    let shard = |index: u32| {
        let (shard, report) = (format!("{index}/2"), format!("json={index}.json"));
        platform
            .call(&world)
            .run(&["review", "--shard", &shard, "--report", &report])
            .code
    };
    let codes = [shard(1), shard(2)];
    let reports = "report 1.json 2.json --report json=merged.json";
    let merged = platform.call(&world).run(reports);
    assert_eq!(merged.code, codes.into_iter().max().unwrap(), "{}", merged.all());
    platform
        .call(&world)
        .run("report merged.json")
        .expect(merged.code);
}

/// Reviews the same finding twice, in an older review with this status and in one that failed, and compares them.
#[test]
fn failed_review_is_excused_by_report_only_if_its_review_failed() {
    for (status, code) in [("PASSED", 1), ("FAILED", 0)] {
        let world = world_with_waivers(&[]);
        let old = Platform::new();
        old.reviews(move |request: &Request| review_failing(request, status, &[NAMING]));
        let new = platform_failing_rules(&[NAMING]);
        let all = |platform: &Platform, name: &str| {
            let report = format!("json={name}");
            let output = platform
                .call(&world)
                .run(&["review", "--all", "--report", &report]);
            assert_eq!(output.code, 1, "{}", output.all());
        };
        all(&old, "old.json");
        all(&new, "new.json");
        let compare = "report --compare old.json new.json --report json=both.json";
        let output = new.call(&world).run(compare).expect(code);
        let report: Value =
            serde_json::from_slice(&fs::read(world.work().join("both.json")).unwrap()).unwrap();
        assert_eq!(report["findings"]["new"], 0, "{}", output.all());
        new.call(&world).run("report both.json").expect(code);
    }
}

/// A local report has no batches. Each of its files with an error is treated as a failed batch, whether it has other
/// results or not.
#[test]
fn failed_review_is_excused_by_local_report_with_the_same_error() {
    let world = world_with_waivers(&[]);
    let only_naming: Vec<&str> = RULES.lines().take(2).collect();
    world.write(RULES_FILE, only_naming.join("\n") + "\n");
    world.commit("one rule");
    world.push();
    let platform = platform_failing_rules(&[NAMING]);
    for args in [
        "check --all --head HEAD --report json=old.json",
        "review --all --report json=new.json",
    ] {
        platform.call(&world).run(args).expect(1);
    }
    platform
        .call(&world)
        .run("report --compare old.json new.json")
        .expect(0);
}
