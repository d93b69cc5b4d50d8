//! Smoke runs after a publish: what runs, and what becomes of the version.

use crate::support::{
    CONSUMER, EXECUTION, SmokePlatform, answer, at_once, disable_request, execution, in_turn, job_output,
};
use serde_json::{Value, json};
use std::fs;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use wiremock::{Request, ResponseTemplate};

#[test]
fn publish_with_successful_smoke_run_keeps_version_enabled() {
    let stage = SmokePlatform::with_statuses(&["QUEUED", "RUNNING", "SUCCESS"]);
    let output = stage.call().run("publish --junit publish.xml").expect(0);
    output.assert_logged(&[
        "published version 1 of p: 4 files, verified",
        &format!("started the smoke run of `load` in `test`: execution {EXECUTION}"),
        "smoke run of `load` in `test`: SUCCESS: it is SUCCESS (after 3.0 s)",
        "consumers of [Latest] get version 1 now",
    ]);
    let receipt = stage.receipt();
    let digest = &receipt["digest"];
    let start = json!({ "pipelineName": "load", "environmentName": "test", "executionTag": digest });
    assert_eq!(stage.starts(), [start]);
    assert_eq!(stage.switches(), [] as [Value; 0]);
    let run = json!({
        "projectId": CONSUMER, "pipeline": "load", "environment": "test", "executionTag": digest,
        "executionId": EXECUTION, "status": "SUCCESS", "message": "it is SUCCESS",
        "startedAt": "2026-11-20T09:31:00Z", "finishedAt": "2026-11-20T09:31:03Z", "problem": null,
    });
    let smoke = json!({ "verdict": "passed", "versionDisabled": false, "latestVersion": "1", "runs": [run] });
    assert_eq!(
        (&receipt["outcome"], &receipt["smoke"]),
        (&json!("published"), &smoke)
    );
    let junit = fs::read_to_string(stage.world.work().join("publish.xml")).unwrap();
    assert!(
        junit.contains("smoke run of `load` in `test`")
            && junit.contains("failures=\"0\"")
            && junit.contains("name=\"version 1 of p: published\""),
        "{junit}"
    );
    let document = roxmltree::Document::parse(&junit).unwrap();
    let time_of = |name: &str| {
        let mut nodes = document.descendants();
        let case = nodes.find(|node| node.attribute("name").is_some_and(|text| text.starts_with(name)));
        case.and_then(|case| case.attribute("time")).unwrap().to_owned()
    };
    assert_eq!(time_of("smoke run of").parse::<f64>(), Ok(3.0), "{junit}");
}

#[test]
fn publish_without_smoke_settings_starts_no_execution() {
    let stage = SmokePlatform::with_statuses(&["FAILED"]);
    let call = stage
        .call()
        .without("SLUICEGATE_SMOKE")
        .without("SLUICEGATE_SMOKE_PROJECT")
        .without("SLUICEGATE_SMOKE_ENVIRONMENT");
    call.run("publish").expect(0);
    assert_eq!(stage.starts(), [] as [Value; 0]);
    assert_eq!(stage.receipt()["smoke"], Value::Null);
}

#[test]
fn publish_whose_smoke_run_fails_disables_version_and_exits_with_8() {
    at_once(["FAILED", "CANCELLED", "EXPLODED"], |status| {
        let stage = SmokePlatform::with_statuses(&["RUNNING", status]);
        stage.accept_disable();
        let file = |name: &str| stage.world.path().join(name).display().to_string();
        let output = stage
            .call()
            .variable("GITHUB_OUTPUT", file("outputs"))
            .variable("GITHUB_STEP_SUMMARY", file("summary"))
            .run("publish --junit publish.xml")
            .expect(8);
        let ended = format!("execution {EXECUTION} ended in {status}: it is {status} (after 3.0 s)");
        let facts = [
            "the smoke run of version 1 of p did not succeed: the version was disabled",
            &ended,
            "consumers of [Latest] get version 0 now",
        ];
        output.assert_logged(&facts);
        assert_eq!(stage.switches(), [disable_request()], "{}", output.all());
        let receipt = stage.receipt();
        assert_eq!(receipt["outcome"], "failed");
        let smoke = &receipt["smoke"];
        assert_eq!(
            (
                &smoke["verdict"],
                &smoke["versionDisabled"],
                &smoke["latestVersion"]
            ),
            (&json!("failed"), &json!(true), &json!("0"))
        );
        assert_eq!(smoke["runs"][0]["status"], status);
        let read = |name: &str| fs::read_to_string(stage.world.path().join(name)).unwrap();
        assert_eq!(job_output(&read("outputs"), "version-name"), "");
        let junit = fs::read_to_string(stage.world.work().join("publish.xml")).unwrap();
        let summary = read("summary");
        for text in facts {
            assert!(junit.contains(text), "{text}: {junit}");
        }
        // The case has the outcome of the receipt.
        assert!(junit.contains("name=\"version 1 of p: failed\""), "{junit}");
        for text in ["the version was disabled", &ended, "get version 0 now"] {
            assert!(summary.contains(text), "{text}: {summary}");
        }
    });
}

const FIX_CAUSE: &str = "hint: fix the cause, then publish under another version name";
const CHECK_EXECUTIONS: &str = "hint: check on the platform whether the pipeline was started, and with which result, \
     then publish under another version name";

#[test]
fn smoke_run_that_does_not_start_disables_version() {
    let cases = [
        (
            ResponseTemplate::new(404),
            8,
            "the pipeline was not started",
            FIX_CAUSE,
        ),
        (
            ResponseTemplate::new(500),
            8,
            "could not determine whether the pipeline was started",
            CHECK_EXECUTIONS,
        ),
        (
            answer(&json!({})),
            8,
            "the response contains no usable execution id",
            CHECK_EXECUTIONS,
        ),
        (
            answer(&json!({ "pipelineExecutionId": ".." })),
            8,
            "the response contains no usable execution id",
            CHECK_EXECUTIONS,
        ),
        (
            ResponseTemplate::new(403),
            4,
            "the pipeline was not started",
            FIX_CAUSE,
        ),
    ];
    at_once(cases, |(response, code, text, hint)| {
        let stage = SmokePlatform::new();
        stage.start_with(response);
        stage.accept_disable();
        let output = stage.call().run("publish").expect(code);
        output.assert_logged(&[text, "the version was disabled", "version 0 now", hint]);
        assert_eq!(stage.switches(), [disable_request()]);
        let smoke = &stage.receipt()["smoke"];
        assert_eq!(
            (&smoke["verdict"], &smoke["runs"][0]["executionId"]),
            (&json!("failed"), &Value::Null)
        );
    });
}

fn conflict() -> ResponseTemplate {
    ResponseTemplate::new(409).set_body_json(json!({ "error": "it runs", "status": 409 }))
}

/// Another job publishes the same content at the same time, and has started its execution first.
#[test]
fn smoke_run_starts_after_the_execution_of_another_job_has_ended() {
    // A request that got the status 429 has not started an execution.
    let busy = ResponseTemplate::new(429).insert_header("Retry-After", "0");
    for first_response in [conflict(), busy] {
        let stage = SmokePlatform::new();
        let started = answer(&json!({ "pipelineExecutionId": EXECUTION }));
        stage.start_with(in_turn(vec![first_response, conflict(), started]));
        stage.show(answer(&execution("SUCCESS")));
        stage.accept_disable();
        let call = stage.call().variable("SLUICEGATE_RETRIES", "1");
        let output = call.run("publish").expect(0);
        let waiting = "waiting to start the smoke run of `load` in `test`";
        assert_eq!(output.err.matches(waiting).count(), 1, "{}", output.all());
        output.assert_logged(&["smoke run of `load` in `test`: SUCCESS"]);
        assert_eq!(stage.starts().len(), 3);
        assert_eq!(stage.switches(), [] as [Value; 0]);
        assert_eq!(stage.receipt()["smoke"]["verdict"], "passed");
    }
}

/// The first try of the request may have started the execution, so a second one must not decide instead.
#[test]
fn smoke_run_whose_start_was_repeated_is_not_started_again_after_a_conflict() {
    let stage = SmokePlatform::new();
    let unavailable = ResponseTemplate::new(503).insert_header("Retry-After", "0");
    let started = answer(&json!({ "pipelineExecutionId": EXECUTION }));
    stage.start_with(in_turn(vec![unavailable, conflict(), started]));
    stage.show(answer(&execution("SUCCESS")));
    stage.accept_disable();
    let call = stage.call().variable("SLUICEGATE_RETRIES", "1");
    let output = call.run("publish").expect(3);
    output.assert_logged(&[
        "an execution of a version with the same content is still in progress",
        "the version was disabled",
    ]);
    assert_eq!(stage.starts().len(), 2);
    assert_eq!(stage.switches(), [disable_request()]);
}

/// A killed rerun leaves the receipt as it is during the smoke run.
#[test]
fn receipt_during_continued_smoke_run_names_the_platform() {
    let stage = SmokePlatform::with_statuses(&["RUNNING"]);
    let first_run = "publish --smoke-timeout 1 --on-smoke-failure keep";
    stage.call().run(first_run).expect(8);
    let path = stage.world.work().join("receipt.json");
    let seen_platforms = Arc::new(Mutex::new(Vec::new()));
    let platforms = Arc::clone(&seen_platforms);
    let statuses = Mutex::new(vec!["SUCCESS", "SUCCESS", "RUNNING", "RUNNING"]);
    stage.show(move |_: &Request| {
        let receipt: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        platforms.lock().unwrap().push(receipt["platform"].clone());
        answer(&execution(statuses.lock().unwrap().pop().unwrap_or("SUCCESS")))
    });
    // The list of versions shows that the commit is published, so nothing is uploaded.
    let call = stage.call().variable("SLUICEGATE_VERSION_NAME", "{short-sha}");
    call.run("publish").expect(0);
    let platforms = seen_platforms.lock().unwrap();
    let address = json!(stage.platform.server.uri());
    assert!(
        platforms.iter().all(|platform| *platform == address),
        "{platforms:?}"
    );
    assert!(platforms.len() > 1, "{platforms:?}");
}

#[test]
fn smoke_runs_in_the_receipt_of_another_platform_are_not_continued() {
    for (is_other_platform, start_count) in [(true, 2), (false, 1)] {
        let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
        stage.call().run("publish").expect(0);
        if is_other_platform {
            let mut receipt = stage.receipt();
            receipt["platform"] = "https://other.example.com/".into();
            stage.world.write("receipt.json", receipt.to_string());
        }
        let output = stage.call().run("publish --if-exists same-content").expect(0);
        assert_eq!(stage.starts().len(), start_count, "{}", output.all());
        let warning = "the receipt is about the version at https://other.example.com/";
        assert_eq!(
            output.err.matches(warning).count(),
            usize::from(is_other_platform),
            "{}",
            output.all()
        );
    }
}

/// The other job starts its second execution after this job's first one.
#[test]
fn rerun_does_not_disable_version_because_of_an_execution_of_another_job() {
    let stage = SmokePlatform::new();
    stage.set_version(true, false);
    let started = answer(&json!({ "pipelineExecutionId": EXECUTION }));
    stage.start_with(in_turn(vec![started.clone(), conflict(), started]));
    stage.show(answer(&execution("SUCCESS")));
    stage.accept_disable();
    let args = "publish --if-exists same-content --smoke load --smoke second";
    stage.call().run(args).expect(0);
    assert_eq!(stage.starts().len(), 3);
    assert_eq!(stage.switches(), [] as [Value; 0]);
}

#[test]
fn version_is_disabled_if_the_execution_of_another_job_does_not_end_in_time() {
    let stage = SmokePlatform::new();
    stage.start_with(conflict());
    stage.accept_disable();
    let output = stage.call().run("publish --smoke-timeout 1").expect(3);
    output.assert_logged(&[
        "an execution of a version with the same content is still in progress",
        "the version was disabled",
        "version 0 now",
        "hint: wait until that execution has ended, then publish under another version name",
    ]);
    // Another run could not test the disabled version.
    assert!(!output.all().contains("run the job again"), "{}", output.all());
    assert_eq!(stage.switches(), [disable_request()]);
    let smoke = &stage.receipt()["smoke"];
    assert_eq!(
        (&smoke["verdict"], &smoke["runs"][0]["executionId"]),
        (&json!("failed"), &Value::Null)
    );
}

#[test]
fn smoke_run_does_not_start_after_another_job_has_disabled_the_version() {
    let stage = SmokePlatform::new();
    stage.disable_at_start_with(conflict());
    stage.accept_disable();
    let output = stage
        .call()
        .variable("SLUICEGATE_LOOKUP_TIMEOUT", "0")
        .run("publish")
        .expect(8);
    output.assert_logged(&[
        "the smoke run was not started: consumers of [Latest] get version 0, not version 1",
        "the version was disabled",
    ]);
    assert_eq!(stage.starts().len(), 1);
}

#[test]
fn smoke_start_is_repeated_only_after_request_to_try_again() {
    for (status, code, start_count) in [(503, 0, 2), (502, 8, 1)] {
        let stage = SmokePlatform::new();
        stage.show(answer(&execution("SUCCESS")));
        let busy = ResponseTemplate::new(status).insert_header("retry-after", "0");
        let started = answer(&json!({ "pipelineExecutionId": EXECUTION }));
        stage.start_with(in_turn(vec![busy, started]));
        stage.accept_disable();
        let call = stage.call().variable("SLUICEGATE_RETRIES", "1");
        let output = call.run("publish").expect(code);
        assert_eq!(stage.starts().len(), start_count, "{}", output.all());
        assert_eq!(stage.switches().len(), usize::from(code == 8), "{status}");
    }
}

#[test]
fn execution_that_the_platform_does_not_show_disables_version() {
    let stage = SmokePlatform::new();
    stage.start_with(answer(&json!({ "pipelineExecutionId": EXECUTION })));
    stage.show(ResponseTemplate::new(404));
    stage.accept_disable();
    let output = stage
        .call()
        .variable("SLUICEGATE_POLL_INTERVAL", "0.3")
        .run("publish")
        .expect(8);
    output.assert_logged(&[
        &format!("execution {EXECUTION} was started, but its state could not be read"),
        "the version was disabled",
        &format!("run `sluicegate executions show {EXECUTION} --project-id {CONSUMER}`"),
    ]);
    assert_eq!(stage.switches(), [disable_request()]);
}

#[test]
fn smoke_run_over_its_time_limit_disables_version() {
    let stage = SmokePlatform::with_statuses(&["RUNNING"]);
    stage.accept_disable();
    let output = stage.call().run("publish --smoke-timeout 1").expect(8);
    output.assert_logged(&[
        "did not end within 1 s: its status is RUNNING",
        "the version was disabled",
        "to see whether the execution is still running",
    ]);
    assert_eq!(stage.switches(), [disable_request()]);
}

#[test]
fn failed_smoke_run_leaves_version_enabled_only_on_request() {
    let stage = SmokePlatform::with_statuses(&["FAILED"]);
    stage.accept_disable();
    let output = stage.call().run("publish --on-smoke-failure keep").expect(8);
    output.assert_logged(&[
        "the version stays enabled (--on-smoke-failure keep)",
        "run `sluicegate artifacts disable 1 --prefix p --force` to disable the version",
    ]);
    assert_eq!(stage.switches(), [] as [Value; 0]);
    let receipt = stage.receipt();
    assert_eq!(
        (&receipt["outcome"], &receipt["smoke"]["latestVersion"]),
        (&json!("failed"), &json!("1"))
    );
}

#[test]
fn version_that_cannot_be_disabled_is_reported_in_capitals_with_exit_code_6() {
    // The third response is accepted, but the version stays the latest one.
    let responses = [
        ResponseTemplate::new(500),
        answer(&json!({ "enabled": true })),
        answer(&json!({})),
    ];
    at_once(responses, |response| {
        let stage = SmokePlatform::with_statuses(&["FAILED"]);
        stage.platform.respond_to("PATCH", "/artifacts$", response);
        let output = stage.call().run("publish --junit publish.xml").expect(6);
        output.assert_logged(&[
            "VERSION 1 OF p IS STILL ENABLED, AND CONSUMERS MAY USE IT",
            "could not disable the version: ",
            &format!("execution {EXECUTION} ended in FAILED"),
            "hint: run `sluicegate artifacts disable 1 --prefix p --force` now",
        ]);
        let smoke = &stage.receipt()["smoke"];
        assert_eq!(
            (
                &smoke["verdict"],
                &smoke["versionDisabled"],
                &smoke["latestVersion"]
            ),
            (&json!("failed"), &json!(false), &Value::Null)
        );
        let junit = fs::read_to_string(stage.world.work().join("publish.xml")).unwrap();
        assert!(junit.contains("IS STILL ENABLED"), "{junit}");
    });
}

/// Another job publishes a newer version, so the latest version does not show whether version 1 is disabled.
#[test]
fn version_behind_newer_one_counts_as_disabled_only_if_platform_shows_it() {
    let cases = [
        (answer(&json!({})), 6),
        (ResponseTemplate::new(204), 6),
        (answer(&json!({ "enabled": false })), 8),
    ];
    at_once(cases, |(response, code)| {
        let stage = SmokePlatform::with_statuses(&["FAILED"]);
        stage.publish_newer_version();
        stage.platform.respond_to("PATCH", "/artifacts$", response);
        let output = stage
            .call()
            .variable("SLUICEGATE_LOOKUP_TIMEOUT", "0")
            .run("publish")
            .expect(code);
        let is_disabled = code == 8;
        assert_eq!(
            output.err.contains("IS STILL ENABLED"),
            !is_disabled,
            "{}",
            output.all()
        );
        assert_eq!(stage.receipt()["smoke"]["versionDisabled"], json!(is_disabled));
    });
}

#[test]
fn smoke_run_proves_nothing_if_latest_version_changed_before_its_end() {
    for (is_disabled, latest) in [(false, "2"), (true, "0")] {
        let stage = SmokePlatform::with_statuses(&[]);
        stage.change_latest_during_run(is_disabled);
        stage.accept_disable();
        let output = stage
            .call()
            .variable("SLUICEGATE_LOOKUP_TIMEOUT", "0")
            .run("publish --smoke load --smoke second")
            .expect(8);
        output.assert_logged(&[
            &format!(
                "the execution may not have used this version: consumers of [Latest] get version {latest}, not \
                 version 1"
            ),
            "hint: the version may work: unless a newer version contains this commit, publish it again",
            &format!("consumers of [Latest] get version {latest} now"),
        ]);
        assert_eq!(stage.starts().len(), 1, "{}", output.all());
        let smoke = &stage.receipt()["smoke"];
        assert_eq!(
            (&smoke["verdict"], &smoke["latestVersion"]),
            (&json!("failed"), &json!(latest))
        );
        let verification = stage.call().run("verify receipt.json").expect(6);
        verification.saying(&["the smoke run of `load` in `test` proves nothing: the execution may not"]);
    }
}

/// The latest version is still that of before, or has no name, so the details of the version itself are awaited.
#[test]
fn version_that_is_shown_as_disabled_late_is_disabled() {
    at_once([json!("1"), Value::Null], |latest_name| {
        let stage = SmokePlatform::with_statuses(&["FAILED"]);
        stage.accept_disable_late(Duration::from_millis(300), &latest_name);
        let output = stage
            .call()
            .variable("SLUICEGATE_LOOKUP_TIMEOUT", "2")
            .run("publish")
            .expect(8);
        output.assert_logged(&["the version was disabled"]);
        let smoke = &stage.receipt()["smoke"];
        assert_eq!(
            (&smoke["versionDisabled"], &smoke["latestVersion"]),
            (&json!(true), &Value::Null)
        );
    });
}

#[test]
fn several_smoke_runs_stop_at_the_first_that_fails() {
    for (statuses, start_count) in [(["FAILED", "SUCCESS"], 1), (["SUCCESS", "FAILED"], 2)] {
        let stage = SmokePlatform::with_statuses(&statuses);
        stage.accept_disable();
        let output = stage
            .call()
            .run("publish --smoke load --smoke 'sales/load orders' --junit publish.xml")
            .expect(8);
        assert_eq!(stage.starts().len(), start_count, "{}", output.all());
        assert_eq!(stage.switches(), [disable_request()]);
        let runs = &stage.receipt()["smoke"]["runs"];
        let second_status = if start_count == 1 {
            Value::Null
        } else {
            json!("FAILED")
        };
        assert_eq!(
            (&runs[1]["pipeline"], &runs[1]["status"]),
            (&json!("sales/load orders"), &second_status)
        );
        let junit = fs::read_to_string(stage.world.work().join("publish.xml")).unwrap();
        assert_eq!(junit.contains("<skipped"), start_count == 1, "{junit}");
    }
}

#[test]
fn several_smoke_runs_that_succeed_run_one_after_the_other() {
    let stage = SmokePlatform::with_statuses(&["RUNNING", "SUCCESS"]);
    let output = stage
        .call()
        .run("publish --smoke-environment test --smoke-environment staging")
        .expect(0);
    output.assert_logged(&["smoke run of `load` in `staging`: SUCCESS"]);
    let environments: Vec<Value> = stage
        .starts()
        .iter()
        .map(|start| start["environmentName"].clone())
        .collect();
    assert_eq!(environments, ["test", "staging"]);
}

#[test]
fn smoke_run_that_would_use_another_version_does_not_start() {
    for (is_published, code) in [(false, 8), (true, 3)] {
        let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
        stage.accept_disable();
        stage.set_version(is_published, false);
        stage.publish_newer_version();
        let output = stage.call().run("publish --if-exists same-content").expect(code);
        output
            .assert_logged(&["no smoke run was started: consumers of [Latest] get version 2, not version 1"]);
        assert_eq!(stage.starts(), [] as [Value; 0]);
        // This run did not publish the existing version, so it stays as it is.
        assert_eq!(stage.switches().len(), usize::from(!is_published));
    }
}

#[test]
fn incomplete_version_is_disabled_once_and_only_if_smoke_runs_are_due() {
    let cases = [
        ("publish", true, 1),
        ("publish --on-ignored disable", true, 1),
        ("publish --on-smoke-failure keep", true, 0),
        ("publish", false, 0),
    ];
    at_once(cases, |(args, has_smoke_runs, switch_count)| {
        let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
        stage.accept_disable();
        let ignored = json!({ "versionName": "1", "ignoredResources": ["sql/it.sql"] });
        stage.accept_upload_with(answer(&ignored));
        let call = if has_smoke_runs {
            stage.call()
        } else {
            stage
                .call()
                .without("SLUICEGATE_SMOKE")
                .without("SLUICEGATE_SMOKE_PROJECT")
                .without("SLUICEGATE_SMOKE_ENVIRONMENT")
        };
        let output = call.run(args).expect(6);
        assert_eq!(stage.starts(), [] as [Value; 0], "{}", output.all());
        assert_eq!(
            stage.switches(),
            vec![disable_request(); switch_count],
            "{}",
            output.all()
        );
    });
}

/// The platform accepts the request to disable the version, but the details still show it as enabled.
#[test]
fn incomplete_version_that_stays_enabled_is_not_reported_as_disabled() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage
        .platform
        .respond_to("PATCH", "/artifacts$", answer(&json!({})));
    let ignored = json!({ "versionName": "1", "ignoredResources": ["sql/it.sql"] });
    stage.accept_upload_with(answer(&ignored));
    let output = stage
        .call()
        .variable("SLUICEGATE_LOOKUP_TIMEOUT", "0")
        .run("publish --on-ignored disable")
        .expect(6);
    output.assert_logged(&["the incomplete version could not be disabled, so consumers may use it"]);
    assert!(
        !output.all().contains("was disabled to protect"),
        "{}",
        output.all()
    );
}

/// The version is not listed, but it may still appear.
#[test]
fn version_that_may_still_appear_is_disabled_if_smoke_runs_are_due() {
    at_once([true, false], |is_disable_accepted| {
        let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
        stage.lose_uploads();
        if is_disable_accepted {
            stage.accept_disable();
        }
        let output = stage.call().run("publish").expect(3);
        output.assert_logged(&["could not determine whether version 1 of p was published"]);
        assert_eq!(stage.starts(), [] as [Value; 0], "{}", output.all());
        assert_eq!(stage.switches(), [disable_request()]);
        for text in [
            "the version was disabled to protect consumers",
            "consumers of [Latest] get version 0 now",
        ] {
            assert_eq!(
                output.err.contains(text),
                is_disable_accepted,
                "{text}: {}",
                output.all()
            );
        }
        // The version probably does not exist.
        assert!(!output.err.contains("could not be disabled"), "{}", output.all());
    });
}

#[test]
fn smoke_settings_that_do_not_fit_send_nothing() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    let cases = [
        ("publish --smoke-project sales", "is not a UUID"),
        ("publish --no-verify", "which --no-verify skips"),
        ("publish --smoke ''", "a value of --smoke is empty"),
        ("publish --smoke load --smoke load", "is listed twice"),
        (
            "publish --smoke a --smoke b --smoke c --smoke-environment d --smoke-environment e",
            "--smoke-environment has 2 values for 3 smoke runs",
        ),
        (
            "publish --smoke-timeout 0",
            "the smoke timeout 0 is not in the range",
        ),
    ];
    for (args, text) in cases {
        stage.call().run(args).expect(2).saying(&[text]);
    }
    for variable in [
        "SLUICEGATE_SMOKE",
        "SLUICEGATE_SMOKE_PROJECT",
        "SLUICEGATE_SMOKE_ENVIRONMENT",
    ] {
        let output = stage.call().without(variable).run("publish").expect(2);
        output.saying(&["the smoke runs need a value for", variable]);
    }
    assert_eq!(stage.platform.requests().len(), 0);
}

#[test]
fn flag_without_the_flag_that_it_needs_is_refused() {
    let stage = SmokePlatform::with_statuses(&[]);
    let call = || {
        stage
            .call()
            .without("SLUICEGATE_SMOKE")
            .without("SLUICEGATE_SMOKE_PROJECT")
            .without("SLUICEGATE_SMOKE_ENVIRONMENT")
    };
    for (flag, value, needed_flag) in [
        ("--smoke-timeout", "5", "--smoke"),
        ("--on-smoke-failure", "keep", "--smoke"),
        ("--require-review-engine", "any", "--require-review"),
    ] {
        let output = call().run(&["publish", "--dry-run", flag, value]).expect(2);
        let reason = format!("{flag} has no effect without {needed_flag}");
        output.saying(&[&reason, &format!("hint: pass {needed_flag} or set")]);
    }
    // A variable may be set for several commands.
    for command in ["publish --dry-run", "ci --dry-run"] {
        call()
            .variable("SLUICEGATE_SMOKE_TIMEOUT", "5")
            .variable("SLUICEGATE_ON_SMOKE_FAILURE", "keep")
            .variable("SLUICEGATE_REQUIRE_REVIEW_ENGINE", "any")
            .run(command)
            .expect(0);
    }
}

#[test]
fn dry_run_lists_smoke_runs_and_starts_none() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    let output = stage.call().run("publish --dry-run").expect(0);
    let line = format!("would then run `load` in `test` of project {CONSUMER}");
    assert!(output.out.contains(&line), "{}", output.all());
    let plan = stage.call().run("publish --dry-run -o json").expect(0).json();
    assert_eq!(
        plan["smoke"],
        json!([{ "projectId": CONSUMER, "pipeline": "load", "environment": "test" }])
    );
    assert_eq!(stage.starts(), [] as [Value; 0]);
}

#[test]
fn verify_reports_smoke_run_that_did_not_succeed() {
    let stage = SmokePlatform::new();
    stage.start_with(answer(&json!({ "pipelineExecutionId": EXECUTION })));
    let statuses = ["SUCCESS", "SUCCESS", "SUCCESS", "FAILED"];
    stage.show(in_turn(
        statuses.iter().map(|status| answer(&execution(status))).collect(),
    ));
    stage.call().run("publish").expect(0);
    stage.call().run("verify receipt.json").expect(0);
    let mut edited_receipt = stage.receipt();
    edited_receipt["smoke"]["verdict"] = json!("failed");
    stage.world.write("edited.json", edited_receipt.to_string());
    stage.call().run("verify edited.json").expect(6);
    // The platform shows another status now.
    stage
        .call()
        .run("verify receipt.json")
        .expect(6)
        .saying(&["differ between the platform and the receipt"]);
    let text = stage.receipt().to_string().replace("\"SUCCESS\"", "\"FAILED\"");
    stage.world.write("edited.json", text);
    stage
        .call()
        .run("verify edited.json")
        .expect(6)
        .saying(&["the smoke run of `load` in `test` did not succeed: its status is FAILED"]);
    stage.show(ResponseTemplate::new(404));
    stage
        .call()
        .run("verify receipt.json")
        .expect(6)
        .saying(&["the platform has no execution"]);
    stage.show(ResponseTemplate::new(403));
    stage.call().run("verify receipt.json").expect(4);
}

#[test]
fn dry_run_that_publishes_nothing_lists_no_smoke_runs() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage.call().run("publish").expect(0);
    let output = stage.call().run("publish --dry-run").expect(5);
    assert!(!output.out.contains("would then run"), "{}", output.all());
    let plan = stage.call().run("publish --dry-run -o json").expect(5).json();
    assert_eq!(plan["smoke"], json!([]));
}
