//! A platform that evaluated nothing is not trusted, and a contradictory response does not pass.

use crate::support::{
    Platform, ProgramOutput, RULES, World, answer, change, finding_values, one_change, orchestration_text,
    requested_pipelines,
};
use serde_json::{Value, json};
use wiremock::ResponseTemplate;

/// Runs a review by a platform with this result for `b.orch.yaml`, the only changed pipeline.
fn review_with_response(world: &World, status: &str, results: &Value, excluded: &Value) -> ProgramOutput {
    let body = json!({ "reviewStatus": status, "results": results, "excludedFiles": excluded });
    let platform = Platform::new();
    platform.reviews(answer(&body));
    platform.call(world).run("review --report json=-")
}

fn passed_by(rules: &[&str]) -> Value {
    rules
        .iter()
        .map(|rule| json!({ "ruleName": rule, "status": "PASSED" }))
        .collect()
}

const BOTH: [&str; 2] = ["component-naming-convention", "maximum-components"];

#[test]
fn pipeline_without_any_rule_result_was_not_judged() {
    let world = one_change();
    let output = review_with_response(&world, "PASSED", &json!({ "b.orch.yaml": [] }), &json!([])).expect(3);
    let report = output.json();
    assert_eq!(report["verdict"], "undecided");
    assert_eq!(report["unreviewed"], json!(["b.orch.yaml"]));
    // Counterparts: both rules have a result; and there is nothing to review.
    review_with_response(
        &world,
        "PASSED",
        &json!({ "b.orch.yaml": passed_by(&BOTH) }),
        &json!([]),
    )
    .expect(0);
    for rules in [
        "rules: []\n".to_owned(),
        RULES.replace("enabled: true", "enabled: false"),
        "rules: [{ id: maximum-outputs, enabled: true, enforcementLevel: error, config: { maxOutputs: 1 } }]\n".to_owned(),
    ] {
        let world = change(&[
            ("b.orch.yaml", &orchestration_text(&["Start", "Done"])),
            (crate::support::RULES_FILE, &rules),
        ]);
        let platform = Platform::new();
        platform.reviews(|request: &wiremock::Request| {
            let results: serde_json::Map<String, Value> =
                requested_pipelines(request).into_iter().map(|path| (path, json!([]))).collect();
            answer(&json!({ "reviewStatus": "PASSED", "results": results, "excludedFiles": [] }))
        });
        let output = platform.call(&world).run("review");
        assert_eq!(output.code, 0, "{rules}: {}", output.all());
    }
}

#[test]
fn ci_without_reviewed_pipelines_publishes_nothing_and_trusts_no_report() {
    let world = one_change();
    let empty = |request: &wiremock::Request| {
        let results: serde_json::Map<String, Value> = requested_pipelines(request)
            .into_iter()
            .map(|path| (path, json!([])))
            .collect();
        answer(&json!({ "reviewStatus": "PASSED", "results": results, "excludedFiles": [] }))
    };
    world.write(
        ".platform/shared-pipelines.yaml",
        "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true, parameters: {} }\n",
    );
    world.commit("share");
    world.push();
    let platform = Platform::new();
    platform.reviews(empty);
    let call = || {
        platform
            .call(&world)
            .variable("SLUICEGATE_PREFIX", "p")
            .variable("SLUICEGATE_VERSION_NAME", "v1")
            .variable("SLUICEGATE_COMPAT", "off")
    };
    call()
        .variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "change")
        .run("ci")
        .expect(3);
    assert!(
        platform
            .requests()
            .iter()
            .all(|request| request.url.path().ends_with("/reviews"))
    );
    // A report of another program, or of an older version, that claims a pass.
    let report = call().run("review --all --report json=-").expect(3);
    let mut document = report.json();
    document["verdict"] = json!("passed");
    let paths: Vec<Value> = document["unreviewed"].as_array().unwrap().clone();
    document["files"] = paths
        .iter()
        .map(|path| json!({ "path": path, "results": [] }))
        .collect();
    document["counts"]["files"] = json!(paths.len());
    document["counts"]["unreviewed"] = json!(0);
    document["unreviewed"] = json!([]);
    for key in ["unreviewedReasons", "notes", "open"] {
        if let Some(report) = document.as_object_mut() {
            report.remove(key);
        }
    }
    let file = world.path().join("claimed.json");
    std::fs::write(&file, document.to_string()).unwrap();
    let required = file.display().to_string();
    let output = call().run(&["publish", "--require-review", &required]);
    assert_eq!(output.code, 2, "{}", output.all());
    output.saying(&["has no result for"]);
}

#[test]
fn passed_beside_violations_or_an_error_is_not_believed() {
    let world = one_change();
    let violated = json!([
        { "ruleName": "component-naming-convention", "status": "PASSED", "violations": ["component \"Load\" is wrong"] },
        { "ruleName": "maximum-components", "status": "PASSED" },
    ]);
    let output =
        review_with_response(&world, "PASSED", &json!({ "b.orch.yaml": violated }), &json!([])).expect(1);
    let report = output.json();
    assert_eq!(report["files"][0]["results"][0]["status"], "FAILED");
    assert!(
        report["notes"].to_string().contains("as PASSED despite"),
        "{report}"
    );
    for status in ["PASSED", "FAILED"] {
        let document = json!([
            { "ruleName": "component-naming-convention", "status": status, "errorDetail": { "type": "designer/empty-regex-pattern" } },
            { "ruleName": "maximum-components", "status": "PASSED" },
        ]);
        let results = json!({ "b.orch.yaml": document });
        let output = review_with_response(&world, status, &results, &json!([])).expect(1);
        let result = &output.json()["files"][0]["results"][0];
        assert_eq!(
            (&result["status"], &result["errorType"]),
            (&json!("ERROR"), &json!("designer/empty-regex-pattern"))
        );
    }
    // Counterpart: empty lists and nulls have no meaning.
    let plain = json!([
        { "ruleName": "component-naming-convention", "status": "PASSED", "violations": [], "errorDetail": null },
        { "ruleName": "maximum-components", "status": "PASSED", "violations": null },
    ]);
    let output =
        review_with_response(&world, "PASSED", &json!({ "b.orch.yaml": plain }), &json!([])).expect(0);
    assert_eq!(output.json()["notes"], json!([]));
}

#[test]
fn rule_without_result_and_rules_that_nobody_knows_are_notes() {
    let world = one_change();
    let one = review_with_response(
        &world,
        "PASSED",
        &json!({ "b.orch.yaml": passed_by(&BOTH[..1]) }),
        &json!([]),
    )
    .expect(0);
    let notes = one.json()["notes"].to_string();
    assert!(
        notes.contains("maximum-components in 1 pipeline, such as b.orch.yaml"),
        "{notes}"
    );
    // A rule that only this program knows is known.
    let results = json!({ "b.orch.yaml": passed_by(&["unused-components"]) });
    let other = review_with_response(&world, "PASSED", &results, &json!([])).expect(0);
    let notes = other.json()["notes"].to_string();
    assert!(
        notes.contains("maximum-components in 1 pipeline, such as b.orch.yaml"),
        "{notes}"
    );
    // The only enabled rule.
    let rule = "rules: [{ id: maximum-components, enabled: true, enforcementLevel: warn, config: { maxComponents: 9 } }]\n";
    let pipeline = orchestration_text(&["Start", "Done"]);
    let world_with_rule = change(&[("b.orch.yaml", &pipeline), (crate::support::RULES_FILE, rule)]);
    let platform = Platform::new();
    platform.reviews(|request: &wiremock::Request| {
        let paths = requested_pipelines(request).into_iter();
        let results: serde_json::Map<String, Value> = paths
            .map(|path| (path, passed_by(&["unused-components"])))
            .collect();
        answer(&json!({ "reviewStatus": "PASSED", "results": results, "excludedFiles": [] }))
    });
    let single = platform
        .call(&world_with_rule)
        .run("review --report json=-")
        .expect(0);
    let notes = single.json()["notes"].to_string();
    assert!(
        notes.contains("no result for the enabled rule maximum-components"),
        "{notes}"
    );
    let strange = review_with_response(
        &world,
        "PASSED",
        &json!({ "b.orch.yaml": passed_by(&["brand-new-rule"]) }),
        &json!([]),
    )
    .expect(0);
    let notes = strange.json()["notes"].to_string();
    assert!(
        notes.contains("brand-new-rule")
            && notes.contains("neither in the rules file nor known to this program"),
        "{notes}"
    );
}

#[test]
fn pipeline_that_platform_excludes_was_not_judged() {
    let world = one_change();
    let output = review_with_response(&world, "PASSED", &json!({}), &json!(["b.orch.yaml"])).expect(3);
    assert_eq!(output.json()["unreviewed"], json!(["b.orch.yaml"]));
    let both = json!({ "b.orch.yaml": passed_by(&BOTH) });
    review_with_response(&world, "PASSED", &both, &json!(["b.orch.yaml"])).expect(3);
    // Its findings count nevertheless.
    let failed =
        json!({ "b.orch.yaml": [{ "ruleName": BOTH[0], "status": "FAILED", "violations": ["wrong"] }] });
    let output = review_with_response(&world, "FAILED", &failed, &json!(["b.orch.yaml"])).expect(1);
    let report = output.json();
    assert_eq!(report["unreviewed"], json!(["b.orch.yaml"]));
    assert_eq!(report["files"][0]["results"][0]["status"], "FAILED");
    // Counterpart: a file that is not a pipeline by its name.
    let world = change(&[("note.txt", "words")]);
    let platform = Platform::new();
    let body = json!({ "reviewStatus": "PASSED", "results": {}, "excludedFiles": ["note.txt"] });
    platform.reviews(answer(&body));
    platform.call(&world).run("review --include **/*.txt").expect(0);
}

#[test]
fn response_with_duplicate_path_or_rule_is_undecided() {
    let world = one_change();
    let twice = |first: &str, second: &str| {
        let path = r#""b.orch.yaml""#;
        let result = |status: &str| {
            format!(
                r#"[{{ "ruleName": "maximum-components", "status": "{status}" }},
                {{ "ruleName": "component-naming-convention", "status": "PASSED" }}]"#
            )
        };
        format!(
            r#"{{ "reviewStatus": "PASSED", "results": {{ {path}: {}, {path}: {} }}, "excludedFiles": [] }}"#,
            result(first),
            result(second)
        )
    };
    let review = |body: String| {
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(200).set_body_raw(body, "application/json"));
        platform.call(&world).run("review --report json=-")
    };
    for (first, second) in [("FAILED", "PASSED"), ("PASSED", "FAILED"), ("PASSED", "PASSED")] {
        let output = review(twice(first, second)).expect(3);
        assert_eq!(output.json()["unreviewed"], json!(["b.orch.yaml"]));
    }
    let rule = json!([
        { "ruleName": "maximum-components", "status": "FAILED" },
        { "ruleName": "maximum-components", "status": "PASSED" },
    ]);
    review_with_response(&world, "PASSED", &json!({ "b.orch.yaml": rule }), &json!([])).expect(3);
}

/// Returns a platform that finds too many components, with different messages for the base and for head.
fn platform_with_counts(world: &World, words: [&[&str]; 2]) -> Platform {
    let head = world.git("rev-parse HEAD");
    let [at_base, at_head] = words.map(|words| {
        json!([{ "ruleName": "maximum-components", "status": "FAILED", "violations": words },
        { "ruleName": "component-naming-convention", "status": "PASSED" }])
    });
    let platform = Platform::new();
    platform.reviews(move |request: &wiremock::Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let result = if body["commitId"] == head {
            &at_head
        } else {
            &at_base
        };
        let results: serde_json::Map<String, Value> = requested_pipelines(request)
            .into_iter()
            .map(|path| (path, result.clone()))
            .collect();
        answer(&json!({ "reviewStatus": "FAILED", "results": results, "excludedFiles": [] }))
    });
    platform
}

#[test]
fn count_of_rule_is_compared_without_text_of_platform() {
    let grown = |from: &[&str], to: &[&str]| {
        let world = crate::support::project();
        let rules = RULES.replace("enforcementLevel: warn", "enforcementLevel: error");
        world.write(crate::support::RULES_FILE, rules);
        world.write("b.orch.yaml", orchestration_text(from));
        world.commit("before");
        world.push();
        world.git("checkout -q -b change");
        world.write("b.orch.yaml", format!("# edited\n{}", orchestration_text(to)));
        world.commit("after");
        world.push();
        world
    };
    let (four, five) = (["Start", "A", "B", "Done"], ["Start", "A", "B", "C", "Done"]);
    let new = |world: &World, words| {
        let output = platform_with_counts(world, words)
            .call(world)
            .run("review --new-only --report json=-");
        let report = output.json();
        (
            output.code,
            report["findings"]["new"].clone(),
            Value::from(finding_values(&report["files"][0]["results"][0], "size")),
        )
    };
    let worse = grown(&four, &five);
    let same = grown(&four, &four);
    for words in [
        [&[][..], &[][..]],
        [&["too many"], &[]],
        [&[], &["too many"]],
        [&["has 4"], &["has 5"]],
    ] {
        assert_eq!(new(&worse, words), (1, json!(1), json!([5])), "{words:?}");
        assert_eq!(new(&same, words), (0, json!(0), json!([4])), "{words:?}");
    }
    // The size in a waiver is enforced, too.
    let waived = |size: u64| {
        let world = grown(&four, &five);
        world.git("checkout -q main");
        world.write(
            "sluicegate-waivers.yaml",
            format!("- {{ rule: maximum-components, path: b.orch.yaml, size: {size}, reason: r }}\n"),
        );
        world.commit("waive");
        world.push();
        world.git("checkout -q change");
        platform_with_counts(&world, [&[], &[]])
            .call(&world)
            .run("review --policy base")
            .code
    };
    assert_eq!((waived(5), waived(4)), (0, 1));
}

#[test]
fn result_with_any_error_detail_is_not_passed() {
    let world = one_change();
    let review = |detail: &str| {
        let body = format!(
            r#"{{ "reviewStatus": "PASSED", "excludedFiles": [], "results": {{ "b.orch.yaml": [
                {{ "ruleName": "maximum-components", "status": "PASSED", "errorDetail": {detail} }},
                {{ "ruleName": "component-naming-convention", "status": "PASSED" }} ] }} }}"#
        );
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(200).set_body_raw(body, "application/json"));
        platform.call(&world).run("review")
    };
    for detail in [
        "{}",
        r#"{ "type": null }"#,
        r#"{ "type": "designer/x" }"#,
        r#""text""#,
        "[]",
        "false",
    ] {
        review(detail).expect(1);
    }
    review("null").expect(0);
}

#[test]
fn response_with_duplicate_key_anywhere_is_undecided() {
    let world = one_change();
    let review = |fields: &str| {
        let body = format!(
            r#"{{ {fields}, "excludedFiles": [], "results": {{ "b.orch.yaml": [
                {{ "ruleName": "maximum-components", "status": "PASSED" }},
                {{ "ruleName": "component-naming-convention", "status": "PASSED" }} ] }} }}"#
        );
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(200).set_body_raw(body, "application/json"));
        platform.call(&world).run("review")
    };
    review(r#""reviewStatus": "FAILED", "reviewStatus": "PASSED""#)
        .expect(3)
        .saying(&["duplicate key `reviewStatus`"]);
    review(r#""reviewStatus": "PASSED", "new": [{ "a": 1, "\u0061": 2 }]"#).expect(3);
    review(r#""reviewStatus": "PASSED", "new": [{ "a": 1 }, { "a": 2 }]"#).expect(0);
}

#[test]
fn response_with_array_in_place_of_object_is_undecided() {
    let world = one_change();
    let review = |results: &str, is_array: bool| {
        let results = format!(r#"{{ "b.orch.yaml": [{results}] }}"#);
        let body = if is_array {
            format!(r#"["PASSED", {results}, []]"#)
        } else {
            format!(r#"{{ "reviewStatus": "PASSED", "results": {results}, "excludedFiles": [] }}"#)
        };
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(200).set_body_raw(body, "application/json"));
        platform.call(&world).run("review")
    };
    let objects = BOTH.map(|rule| json!({ "ruleName": rule, "status": "PASSED" }).to_string());
    let arrays = BOTH.map(|rule| json!([rule, "PASSED"]).to_string());
    review(&objects.join(","), true)
        .expect(3)
        .saying(&["invalid type: sequence, expected an object"]);
    review(&arrays.join(","), false)
        .expect(3)
        .saying(&["expected an object"]);
    review(&objects.join(","), false).expect(0);
}

#[test]
fn answer_about_another_spelling_of_a_path_is_undecided() {
    let world = one_change();
    let both = json!({ "b.orch.yaml": passed_by(&BOTH) });
    for spelling in [
        "./b.orch.yaml",
        "/b.orch.yaml",
        "B.orch.yaml",
        "b",
        " b.orch.yaml ",
    ] {
        let output = review_with_response(&world, "PASSED", &both, &json!([spelling]));
        assert_eq!(output.code, 3, "{spelling}: {}", output.all());
        assert_eq!(output.json()["unreviewed"], json!(["b.orch.yaml"]), "{spelling}");
    }
    // Several spellings are one unreviewed file, so `report` accepts the report.
    let spellings = json!(["./b.orch.yaml", "/b.orch.yaml"]);
    let output = review_with_response(&world, "PASSED", &both, &spellings).expect(3);
    assert_eq!(output.json()["unreviewed"], json!(["b.orch.yaml"]));
    world.write("r.json", &output.out);
    crate::support::Call::new(&world.work())
        .run("report r.json")
        .expect(3);
    let failed = json!([{ "ruleName": BOTH[0], "status": "FAILED", "violations": ["it is bad"] }]);
    let results = json!({ "b.orch.yaml": passed_by(&BOTH), "./b.orch.yaml": failed });
    let output = review_with_response(&world, "PASSED", &results, &json!([])).expect(3);
    let reasons = output.json()["unreviewedReasons"].to_string();
    assert!(
        reasons.contains("another spelling of this file's path"),
        "{reasons}"
    );
    // An unknown path is only reported.
    let output = review_with_response(&world, "PASSED", &both, &json!(["other.orch.yaml"])).expect(0);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("excludes other.orch.yaml, which was not requested"),
        "{notes}"
    );
}

#[test]
fn counting_rule_without_evaluation_has_no_size() {
    let results = json!({ "b.orch.yaml": [
        { "ruleName": "maximum-components", "status": "ERROR" },
        { "ruleName": "component-naming-convention", "status": "PASSED" },
    ] });
    let report = review_with_response(&one_change(), "FAILED", &results, &json!([])).json();
    let results = report["files"][0]["results"].as_array().unwrap();
    let counted = results
        .iter()
        .find(|result| result["rule"] == "maximum-components");
    assert_eq!(finding_values(counted.unwrap(), "size"), [Value::Null]);
}
