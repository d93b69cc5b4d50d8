//! Each row of the verdict rules, against a platform with scripted responses.

use crate::support::{
    Arguments, Platform, answer, change, finding_values, orchestration_text, passed_results,
    requested_pipelines, respond_for_each,
};
use serde_json::{Value, json};
use wiremock::{Request, ResponseTemplate};

const FILE: &str = "b.orch.yaml";

/// Reviews one changed file with this response from the platform; returns exit code, report and JUnit.
fn judge(respond: impl wiremock::Respond + 'static, args: impl Arguments) -> (i32, Value, String) {
    let world = change(&[(FILE, &orchestration_text(&["Start", "load it", "Done"]))]);
    let platform = Platform::new();
    platform.reviews(respond);
    let output = platform.call(&world).run((
        "review --report json=out/report.json --report junit=out/junit.xml",
        args,
    ));
    let read = |name: &str| std::fs::read_to_string(world.work().join("out").join(name)).unwrap();
    (
        output.code,
        serde_json::from_str(&read("report.json")).unwrap(),
        read("junit.xml"),
    )
}

fn rule(status: &str) -> Value {
    let violations = if status == "PASSED" {
        json!([])
    } else {
        json!(["load it is badly named"])
    };
    json!([{ "ruleName": "component-naming-convention", "status": status, "violations": violations }])
}

fn is_all_green(junit: &str) -> bool {
    !junit.contains("<failure") && !junit.contains("<error")
}

#[track_caller]
fn expect(review: &(i32, Value, String), code: i32, verdict: &str) {
    assert_eq!(
        (review.0, review.1["verdict"].as_str().unwrap()),
        (code, verdict),
        "{:#}",
        review.1
    );
    if code == 1 || code == 3 {
        assert!(
            !is_all_green(&review.2),
            "JUnit is all green at exit {code}: {}",
            review.2
        );
    }
}

#[test]
fn passed_review_passes() {
    let review = judge(
        respond_for_each("PASSED", json!([{ "ruleName": "r", "status": "PASSED" }])),
        "",
    );
    expect(&review, 0, "passed");
    assert_eq!(review.1["schema"], "sluicegate.report/v2");
    assert_eq!(review.1["engine"], "remote");
    let counts = json!({ "files": 1, "passed": 1, "failed": 0, "errors": 0, "warnings": 0, "excluded": 0, "unreviewed": 0 });
    assert_eq!(review.1["counts"], counts);
    assert!(is_all_green(&review.2));
}

#[test]
fn failed_rule_of_error_enforcement_fails() {
    let review = judge(respond_for_each("FAILED", rule("FAILED")), "");
    expect(&review, 1, "failed");
    let result = &review.1["files"][0]["results"][0];
    assert_eq!(result["enforcement"], "error");
    assert_eq!(finding_values(result, "message"), ["load it is badly named"]);
    assert_eq!(
        result["findings"][0]["line"], 11,
        "the line of the component that the violation names"
    );
    assert_eq!(result["errorType"], Value::Null);
}

#[test]
fn warning_passes_unless_fail_on_is_warn() {
    let warning = || {
        respond_for_each(
            "PASSED",
            json!([{ "ruleName": "maximum-components", "status": "FAILED", "violations": ["too many"] }]),
        )
    };
    let review = judge(warning(), "");
    expect(&review, 0, "passed");
    assert_eq!(review.1["counts"]["warnings"], 1);
    expect(&judge(warning(), "--fail-on warn"), 1, "failed");
}

#[test]
fn unknown_rule_has_level_of_review() {
    let unknown = |status: &str| {
        respond_for_each(
            status,
            json!([{ "ruleName": "house-rule", "status": "FAILED", "violations": [] }]),
        )
    };
    let failed = judge(unknown("FAILED"), "");
    expect(&failed, 1, "failed");
    assert_eq!(failed.1["counts"]["warnings"], 0);
    assert_eq!(failed.1["files"][0]["results"][0]["enforcement"], Value::Null);
    let passed = judge(unknown("PASSED"), "");
    expect(&passed, 0, "passed");
    assert_eq!(passed.1["counts"]["warnings"], 1);
}

#[test]
fn rules_file_outweighs_passed_review() {
    expect(
        &judge(respond_for_each("PASSED", rule("FAILED")), ""),
        1,
        "failed",
    );
}

#[test]
fn failed_review_without_failed_rule_fails() {
    expect(
        &judge(respond_for_each("FAILED", rule("PASSED")), ""),
        1,
        "failed",
    );
    expect(
        &judge(respond_for_each("FAILED", rule("PASSED")), "--fail-on never"),
        0,
        "passed",
    );
}

#[test]
fn evaluation_error_fails() {
    let error = || {
        let detail = json!({ "type": "designer/something-new" });
        respond_for_each(
            "PASSED",
            json!([{ "ruleName": "r", "status": "ERROR", "errorDetail": detail }]),
        )
    };
    let review = judge(error(), "");
    expect(&review, 1, "failed");
    assert_eq!(
        review.1["files"][0]["results"][0]["errorType"],
        "designer/something-new"
    );
    assert!(
        review.2.contains("type=\"designer/something-new\""),
        "{}",
        review.2
    );
    expect(&judge(error(), "--fail-on never"), 0, "passed");
}

#[test]
fn fail_on_never_only_reports() {
    let review = judge(respond_for_each("FAILED", rule("FAILED")), "--fail-on never");
    expect(&review, 0, "passed");
    assert_eq!(review.1["counts"]["failed"], 1);
}

#[test]
fn unknown_result_is_never_a_pass() {
    let results = json!({ FILE: [{ "ruleName": "r", "status": "PASSED" }] });
    let odd: Vec<(&str, Value)> = vec![
        (
            "no reviewStatus",
            json!({ "results": results, "excludedFiles": [] }),
        ),
        (
            "null reviewStatus",
            json!({ "reviewStatus": null, "results": results }),
        ),
        (
            "unknown reviewStatus",
            json!({ "reviewStatus": "MAYBE", "results": results }),
        ),
        (
            "no results",
            json!({ "reviewStatus": "PASSED", "excludedFiles": [] }),
        ),
        (
            "null results",
            json!({ "reviewStatus": "PASSED", "results": null }),
        ),
        (
            "file not answered",
            json!({ "reviewStatus": "PASSED", "results": {}, "excludedFiles": [] }),
        ),
        (
            "another file answered",
            json!({ "reviewStatus": "PASSED", "results": { "x.orch.yaml": [] } }),
        ),
        (
            "unknown rule status",
            json!({ "reviewStatus": "PASSED", "results": { FILE: [{ "ruleName": "r", "status": "SKIPPED" }] } }),
        ),
        (
            "no rule status",
            json!({ "reviewStatus": "PASSED", "results": { FILE: [{ "ruleName": "r" }] } }),
        ),
        ("wrong shape", json!({ "reviewStatus": "PASSED", "results": [] })),
        (
            "wrong shape inside",
            json!({ "reviewStatus": "PASSED", "results": { FILE: "fine" } }),
        ),
        ("not an object", json!([])),
    ];
    for (label, body) in odd {
        // A body that cannot be parsed is no response, and the local check finds the bad name.
        let is_response = !label.starts_with("wrong shape") && label != "not an object";
        let (code, verdict) = if is_response {
            (3, "undecided")
        } else {
            (1, "failed")
        };
        let review = judge(answer(&body), "");
        assert_eq!(
            (review.0, review.1["verdict"].as_str().unwrap()),
            (code, verdict),
            "{label}: {:#}",
            review.1
        );
        assert!(!is_all_green(&review.2), "{label}: JUnit is all green");
        expect(&judge(answer(&body), "--fail-on never"), 3, "undecided");
        // The platform responded, if only with a body that cannot be read.
        expect(&judge(answer(&body), "--on-unavailable pass"), code, verdict);
    }
}

#[test]
fn empty_results_are_no_review_where_rules_are_enabled() {
    expect(&judge(respond_for_each("PASSED", json!([])), ""), 3, "undecided");
    expect(
        &judge(respond_for_each("PASSED", passed_results()), ""),
        0,
        "passed",
    );
}

#[test]
fn pipeline_that_platform_excludes_was_not_reviewed() {
    let review = judge(
        answer(&json!({ "reviewStatus": "PASSED", "results": {}, "excludedFiles": [FILE] })),
        "",
    );
    expect(&review, 3, "undecided");
    assert_eq!(review.1["unreviewed"], json!([FILE]));
}

#[test]
fn failed_gate_outweighs_undecided_pipelines() {
    let world = change(&[
        (FILE, &orchestration_text(&["Start", "x", "Done"])),
        ("c.orch.yaml", &orchestration_text(&["Start", "Done"])),
    ]);
    let platform = Platform::new();
    platform.reviews(
        |request: &Request| match requested_pipelines(request)[0].as_str() {
            FILE => answer(&json!({ "reviewStatus": "FAILED", "results": { FILE: rule("FAILED") } })),
            _ => ResponseTemplate::new(500),
        },
    );
    let call = platform.call(&world);
    let output = call.run("review --batch-size 1 --report json=-").expect(1);
    let report = output.json();
    assert_eq!(report["unreviewed"], json!(["c.orch.yaml"]));
    assert_eq!(report["verdict"], "failed");
    let pass = "review --batch-size 1 --on-unavailable pass";
    let output = call.run(pass).expect(1);
    assert!(!output.all().contains("passes regardless"), "{}", output.all());
}

#[test]
fn platform_that_responded_to_one_batch_is_available() {
    let world = change(&[
        (FILE, &orchestration_text(&["Start", "Done"])),
        ("c.orch.yaml", &orchestration_text(&["Start", "Done"])),
    ]);
    let run = |odd: ResponseTemplate| {
        let platform = Platform::new();
        platform.reviews(
            move |request: &Request| match requested_pipelines(request)[0].as_str() {
                FILE => odd.clone(),
                _ => ResponseTemplate::new(503),
            },
        );
        let pass = "review --batch-size 1 --on-unavailable pass";
        let output = platform.call(&world).run(pass).expect(3);
        assert!(!output.all().contains("passes regardless"), "{}", output.all());
    };
    let results = json!({ FILE: rule("PASSED") });
    run(answer(&json!({ "reviewStatus": "PASSED", "results": results })));
    run(answer(&json!({ "reviewStatus": "MAYBE", "results": results })));
    run(answer(&json!({ "reviewStatus": "PASSED", "results": {} })));
    run(ResponseTemplate::new(404));
}

#[test]
fn refused_token_outweighs_failed_gate() {
    for status in [401, 403] {
        let world = change(&[
            (FILE, &orchestration_text(&["Start", "x", "Done"])),
            ("c.orch.yaml", &orchestration_text(&["Start", "Done"])),
        ]);
        let platform = Platform::new();
        platform.reviews(
            move |request: &Request| match requested_pipelines(request)[0].as_str() {
                FILE => answer(&json!({ "reviewStatus": "FAILED", "results": { FILE: rule("FAILED") } })),
                _ => ResponseTemplate::new(status),
            },
        );
        let call = platform.call(&world);
        let args = "review --batch-size 1 --on-unavailable pass --report json=-";
        let output = call.run(args).expect(4);
        assert_eq!(output.json()["unreviewed"], json!(["c.orch.yaml"]), "{status}");
    }
}

#[test]
fn undecided_review_ends_with_hint_and_servers_own_words() {
    let full = json!({ FILE: [{ "ruleName": "r", "status": "PASSED" }] });
    let answers = [
        json!({ "reviewStatus": "PASSED", "results": {}, "excludedFiles": [] }),
        json!({ "reviewStatus": "PASSED", "results": { "x/a.orch.yaml": full[FILE] }, "excludedFiles": [] }),
        json!({ "reviewStatus": "PASSED", "results": { FILE: [] }, "excludedFiles": [] }),
        json!({ "reviewStatus": "PASSED", "results": null }),
        json!({ "reviewStatus": "PASSED", "results": {}, "excludedFiles": [FILE] }),
        json!({ "reviewStatus": "MAYBE", "results": full }),
        json!({ "results": full }),
        json!({}),
        json!({ "error": "Review service is down", "status": 500 }),
        json!([]),
    ];
    for body in answers {
        let world = change(&[(FILE, &orchestration_text(&["Start", "Done"]))]);
        let platform = Platform::new();
        platform.reviews(answer(&body));
        let markdown = world.path().join("r.md");
        let flag = format!("--report=markdown={}", markdown.display());
        let log = platform.call(&world).run(&["review", &flag]).expect(3).all();
        assert!(log.contains("hint: "), "{body}: {log}");
        assert!(
            std::fs::read_to_string(markdown).unwrap().contains("To do: "),
            "{body}"
        );
        if let Some(words) = body["error"].as_str() {
            assert!(log.contains(words), "{log}");
        }
    }
}
