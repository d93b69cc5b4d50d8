//! A rerun of a job whose version exists, and signals during a publish with smoke runs.

use crate::support::publishing::{project_to_publish, upload_response, version_details};
use crate::support::{
    CONSUMER, Call, EXECUTION, Platform, SmokePlatform, answer, at_once, disable_request, execution, in_turn,
    job_output, send_signal, stop_signals,
};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wiremock::{Request, ResponseTemplate};

const RERUN: &str = "publish --if-exists same-content";

#[test]
fn rerun_after_success_does_not_start_a_second_execution() {
    let stage = SmokePlatform::with_statuses(&["RUNNING", "SUCCESS"]);
    stage.call().run("publish").expect(0);
    let output = stage.call().run(RERUN).expect(0);
    output.assert_logged(&[
        &format!("waiting for execution {EXECUTION}, which an earlier run started"),
        "already published version 1 of p",
        "smoke run of `load` in `test`: SUCCESS: it is SUCCESS (after 3.0 s)",
    ]);
    assert_eq!(stage.starts().len(), 1);
    let receipt = stage.receipt();
    assert_eq!(
        (&receipt["outcome"], &receipt["smoke"]["verdict"]),
        (&json!("already-published"), &json!("passed"))
    );
}

#[test]
fn rerun_waits_for_the_execution_in_the_receipt() {
    for (statuses, code) in [(["RUNNING", "SUCCESS"], 0), (["RUNNING", "FAILED"], 8)] {
        let stage = SmokePlatform::with_statuses(&["RUNNING"]);
        stage.accept_disable();
        // The first run gives up waiting, and leaves the version enabled.
        let first_run = "publish --smoke-timeout 1 --on-smoke-failure keep";
        stage.call().run(first_run).expect(8);
        stage.show(in_turn(
            statuses.iter().map(|status| answer(&execution(status))).collect(),
        ));
        let log = stage.call().run(RERUN).expect(code).all();
        assert_eq!(stage.starts().len(), 1);
        assert_eq!(stage.switches().len(), usize::from(code == 8));
        assert_eq!(log.contains("disabling version 1, because"), code == 8, "{log}");
    }
}

#[test]
fn rerun_without_receipt_exits_with_3_while_the_execution_runs() {
    let stage = SmokePlatform::new();
    let body = json!({ "error": "An execution with the same tag is running", "status": 409 });
    stage.start_with(ResponseTemplate::new(409).set_body_json(body));
    stage.accept_disable();
    stage.set_version(true, false);
    let output = stage.call().run(RERUN).expect(3);
    output.assert_logged(&[
        "an execution of a version with the same content is still in progress",
        "An execution with the same tag is running",
        "the version is unchanged",
        "run the job again when that execution has ended",
    ]);
    assert_eq!(stage.switches(), [] as [Value; 0]);
}

#[test]
fn rerun_without_receipt_starts_the_smoke_run_of_an_existing_version() {
    for (status, code) in [("SUCCESS", 0), ("FAILED", 8)] {
        let stage = SmokePlatform::with_statuses(&[status]);
        stage.accept_disable();
        stage.set_version(true, false);
        stage.call().run(RERUN).expect(code);
        assert_eq!(stage.starts().len(), 1);
        assert_eq!(stage.switches().len(), usize::from(code == 8));
    }
}

#[test]
fn rerun_whose_smoke_run_cannot_start_leaves_an_existing_version() {
    let stage = SmokePlatform::new();
    stage.start_with(ResponseTemplate::new(500));
    stage.accept_disable();
    stage.set_version(true, false);
    stage.call().run(RERUN).expect(3);
    assert_eq!(stage.switches(), [] as [Value; 0]);
}

/// Publishes version 1 with a smoke run, edits the receipt, and returns the number of executions after a rerun.
fn count_starts_after_edit(edit: impl Fn(&SmokePlatform)) -> (usize, String) {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage.call().run("publish").expect(0);
    edit(&stage);
    let output = stage.call().run(RERUN).expect(0);
    (stage.starts().len(), output.all())
}

#[test]
fn receipt_that_proves_nothing_starts_a_new_execution() {
    let (start_count, text) = count_starts_after_edit(|stage| {
        stage.world.git("add -f receipt.json");
    });
    assert_eq!(start_count, 2, "{text}");
    assert!(
        text.contains("git tracks this file, so a change may have edited it"),
        "{text}"
    );
    let replace = |stage: &SmokePlatform, old: &str, new: &str| {
        let text = stage.receipt().to_string();
        assert!(text.contains(old), "{text}");
        stage.world.write("receipt.json", text.replace(old, new));
    };
    for (old, new) in [
        ("\"versionName\":\"1\"", "\"versionName\":\"2\""),
        ("\"pipeline\":\"load\"", "\"pipeline\":\"empty\""),
        ("\"environment\":\"test\"", "\"environment\":\"other\""),
        ("\"executionTag\":\"sha256:", "\"executionTag\":\"sha256:0"),
    ] {
        let (start_count, text) = count_starts_after_edit(|stage| replace(stage, old, new));
        assert_eq!(start_count, 2, "{old}: {text}");
    }
    // An execution from before the version cannot have used it.
    let (start_count, text) = count_starts_after_edit(|stage| {
        let mut old_execution = execution("SUCCESS");
        old_execution["result"]["startedAt"] = json!("2026-11-20T09:29:00Z");
        stage.show(answer(&old_execution));
    });
    assert_eq!(start_count, 2, "{text}");
    assert!(
        text.contains("does not show that it started after the version was created"),
        "{text}"
    );
}

#[test]
fn rerun_ignores_only_an_execution_that_the_platform_does_not_have() {
    let (start_count, text) = count_starts_after_edit(|stage| {
        let responses = vec![ResponseTemplate::new(404), answer(&execution("SUCCESS"))];
        stage.show(in_turn(responses));
    });
    assert_eq!(start_count, 2, "{text}");
    assert!(
        text.contains("of an earlier run: the platform does not have it"),
        "{text}"
    );
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage.call().run("publish").expect(0);
    stage.show(ResponseTemplate::new(403));
    let output = stage.call().run(RERUN).expect(4);
    output.assert_logged(&["could not read execution"]);
    assert_eq!(stage.starts().len(), 1);
}

#[test]
fn rerun_that_cannot_read_the_execution_leaves_its_id_in_the_receipt() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage.call().run("publish").expect(0);
    stage.show(ResponseTemplate::new(503));
    stage.call().run(RERUN).expect(3);
    assert_eq!(
        stage.receipt()["smoke"]["runs"][0]["executionId"],
        json!(EXECUTION)
    );
    stage.show(answer(&execution("SUCCESS")));
    let output = stage.call().run(RERUN).expect(0);
    output.assert_logged(&[&format!(
        "waiting for execution {EXECUTION}, which an earlier run started"
    )]);
    assert_eq!(stage.starts().len(), 1);
}

/// As on a full disk, no file can get content.
#[test]
fn receipt_that_cannot_be_replaced_keeps_the_execution_id() {
    let stage = SmokePlatform::with_statuses(&["RUNNING"]);
    let first_run = "publish --smoke-timeout 1 --on-smoke-failure keep";
    stage.call().run(first_run).expect(8);
    let receipt = stage.receipt();
    let command = stage
        .call()
        .command_in_shell("trap '' XFSZ; ulimit -f 0", "publish --smoke-project sales")
        .output();
    let log = String::from_utf8(command.unwrap().stderr).unwrap();
    assert!(log.contains("could not replace the receipt "), "{log}");
    assert_eq!(stage.receipt(), receipt);
    // Counterpart: a run that can write replaces the receipt by one that keeps the id.
    let output = stage.call().run("publish --smoke-project sales").expect(2);
    assert!(!output.all().contains("could not replace the receipt "));
    assert_ne!(stage.receipt(), receipt);
    assert!(stage.receipt().to_string().contains(EXECUTION));
}

#[test]
fn rerun_that_ends_before_its_smoke_run_leaves_the_execution_id_in_the_receipt() {
    let cases = [
        (RERUN, "1", "http://127.0.0.1:1", 3, "failed"),
        // Without the platform, the name of the version is unknown.
        (RERUN, "{next}", "http://127.0.0.1:1", 3, "failed"),
        ("publish --smoke-project sales", "1", "", 2, "failed"),
        ("publish --dry-run", "1", "", 5, "planned"),
        // The commit has a version, but nothing shows that it works.
        ("publish --dry-run", "{short-sha}", "", 0, "failed"),
        ("ci --publish", "1", "http://127.0.0.1:1", 1, "failed"),
    ];
    at_once(cases, |(args, version, url, code, outcome)| {
        let stage = SmokePlatform::with_statuses(&["RUNNING"]);
        let first_run = "publish --smoke-timeout 1 --on-smoke-failure keep";
        stage.call().run(first_run).expect(8);
        let call = stage.call().variable("SLUICEGATE_RETRIES", "0");
        let second_call = match url {
            "" => call.clone(),
            url => {
                // The unreachable address stands for the same platform.
                let mut receipt = stage.receipt();
                receipt["platform"] = url.into();
                stage.world.write("receipt.json", receipt.to_string());
                call.variable("SLUICEGATE_BASE_URL", url)
            }
        };
        let second_run = second_call.variable("SLUICEGATE_VERSION_NAME", version).run(args);
        let log = second_run.expect(code).all();
        let receipt = stage.receipt();
        assert_eq!(
            receipt["smoke"]["runs"][0]["executionId"], EXECUTION,
            "{args}: {log}"
        );
        assert_eq!(receipt["smoke"]["verdict"], "undecided", "{args}: {log}");
        assert_eq!(receipt["outcome"], outcome, "{args}: {log}");
        let mut named_receipt = receipt.clone();
        named_receipt["platform"] = stage.platform.server.uri().into();
        stage.world.write("receipt.json", named_receipt.to_string());
        stage.show(answer(&execution("SUCCESS")));
        stage.call().run(RERUN).expect(0);
        assert_eq!(stage.starts().len(), 1, "{args}: {log}");
    });
}

/// Version 2 is the latest one when the execution ends, and is withdrawn before the rerun. Version 1 is enabled then.
#[test]
fn rerun_after_execution_that_proves_nothing_starts_a_new_execution() {
    let cases = [
        ("publish", "", "1"),
        ("publish --on-smoke-failure keep", "", "1"),
        ("publish --on-smoke-failure keep", "publish --dry-run", "1"),
        (
            "publish --on-smoke-failure keep",
            "publish --dry-run",
            "{short-sha}",
        ),
    ];
    at_once(cases, |(first_run, second_run, version)| {
        let stage = SmokePlatform::with_statuses(&[]);
        stage.change_latest_during_run(false);
        stage.accept_disable();
        let first_call = stage.call().variable("SLUICEGATE_LOOKUP_TIMEOUT", "0");
        first_call.run(first_run).expect(8);
        stage.withdraw_newer_version();
        stage.set_version(true, false);
        stage.show(answer(&execution("SUCCESS")));
        let call = stage.call().variable("SLUICEGATE_VERSION_NAME", version);
        if !second_run.is_empty() {
            call.run(second_run).expect(if version == "1" { 5 } else { 0 });
            assert_eq!(
                stage.receipt()["outcome"],
                if version == "1" { "planned" } else { "failed" }
            );
        }
        call.run(RERUN).expect(0).assert_logged(&[&format!(
            "ignoring execution {EXECUTION} of an earlier run: it may not have used this version"
        )]);
        assert_eq!(stage.starts().len(), 2, "{first_run}, {second_run}, {version}");
        assert_eq!(stage.receipt()["smoke"]["verdict"], "passed");
    });
}

/// The execution of the first run proves nothing, and the second run cannot start another one.
#[test]
fn rerun_after_failed_start_still_needs_an_execution() {
    let stage = SmokePlatform::new();
    let body = json!({ "error": "An execution with the same tag is running", "status": 409 });
    let conflict = ResponseTemplate::new(409).set_body_json(body);
    stage.start_with(in_turn(vec![
        answer(&json!({ "pipelineExecutionId": EXECUTION })),
        conflict.clone(),
        conflict,
    ]));
    stage.change_latest_during_run(false);
    let first_call = stage.call().variable("SLUICEGATE_LOOKUP_TIMEOUT", "0");
    first_call.run("publish --on-smoke-failure keep").expect(8);
    stage.withdraw_newer_version();
    stage.set_version(true, false);
    for start_count in [2, 3] {
        let call = stage.call().variable("SLUICEGATE_VERSION_NAME", "{short-sha}");
        call.run(RERUN).expect(3);
        assert_eq!(stage.starts().len(), start_count);
        let recorded_run = &stage.receipt()["smoke"]["runs"][0];
        assert_eq!(recorded_run["executionId"], EXECUTION);
    }
}

/// Git tracks the receipt, so a change may have edited it. A statement never keeps ids.
#[test]
fn run_that_ends_early_keeps_no_ids_in_a_tracked_receipt_or_a_statement() {
    for is_tracked in [false, true] {
        let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
        stage.call().run("publish").expect(0);
        stage.world.write("st.json", stage.receipt().to_string());
        if is_tracked {
            stage.world.git("add -f receipt.json");
        }
        stage
            .call()
            .run("publish --attestation st.json --smoke-project sales")
            .expect(2);
        let exists = |name: &str| stage.world.work().join(name).exists();
        assert_eq!((exists("receipt.json"), exists("st.json")), (!is_tracked, false));
    }
}

#[test]
fn rerun_waits_for_an_execution_that_has_not_started_yet() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage.call().run("publish").expect(0);
    let mut queued_execution = execution("QUEUED");
    let result = queued_execution["result"].as_object_mut().unwrap();
    result.remove("startedAt");
    result.remove("finishedAt");
    stage.show(in_turn(vec![
        answer(&queued_execution),
        answer(&execution("SUCCESS")),
    ]));
    stage.call().run(RERUN).expect(0);
    assert_eq!(stage.starts().len(), 1);
}

#[test]
fn rerun_with_template_does_not_succeed_if_version_is_disabled() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage.set_version(true, true);
    let rerun = stage.call().variable("SLUICEGATE_VERSION_NAME", "{short-sha}");
    let output = rerun.run("publish").expect(3);
    output.assert_logged(&["version 1 is disabled, so no execution would use it"]);
    // A smoke run may have disabled the version.
    assert!(!output.err.contains("artifacts enable"), "{}", output.all());
    assert_eq!(stage.starts(), [] as [Value; 0]);
    // Without smoke runs, a nightly job stays green after a rollback.
    rerun
        .without("SLUICEGATE_SMOKE")
        .without("SLUICEGATE_SMOKE_PROJECT")
        .without("SLUICEGATE_SMOKE_ENVIRONMENT")
        .run("publish")
        .expect(0)
        .saying(&["sluicegate artifacts enable 1"]);
}

#[test]
fn rerun_after_failed_smoke_run_records_that_version_is_disabled() {
    let stage = SmokePlatform::with_statuses(&["FAILED"]);
    stage.accept_disable();
    stage.call().run("publish").expect(8);
    let first_smoke = stage.receipt()["smoke"].clone();
    assert_eq!(first_smoke["versionDisabled"], true);
    stage.set_version(true, true);
    let rerun = stage.call().variable("SLUICEGATE_VERSION_NAME", "{short-sha}");
    for args in ["publish", "publish --if-exists same-content"] {
        rerun.run(args).expect(3);
        let smoke = stage.receipt()["smoke"].clone();
        for key in ["versionDisabled", "latestVersion"] {
            assert_eq!(smoke[key], first_smoke[key], "{key}: {smoke}");
        }
    }
    // Without the receipt, it is unknown who disabled the version.
    fs::remove_file(stage.world.work().join("receipt.json")).unwrap();
    rerun.run("publish").expect(3);
    assert_eq!(stage.receipt()["smoke"]["versionDisabled"], false);
}

#[test]
fn failed_smoke_run_is_repeated_if_version_is_enabled_and_receipt_is_removed() {
    let stage = SmokePlatform::with_statuses(&["FAILED"]);
    stage.accept_disable();
    stage.call().run("publish").expect(8);
    stage.set_version(true, false);
    stage.show(answer(&execution("SUCCESS")));
    fs::remove_file(stage.world.work().join("receipt.json")).unwrap();
    stage.call().run(RERUN).expect(0);
    assert_eq!(stage.starts().len(), 2);
    assert_eq!(stage.receipt()["smoke"]["versionDisabled"], false);
}

/// Without the receipt, nothing shows that the smoke runs of the first job succeeded.
#[test]
fn rerun_with_template_names_version_only_after_its_smoke_run() {
    for (status, code, name) in [("SUCCESS", 0, "1"), ("FAILED", 8, "")] {
        let stage = SmokePlatform::with_statuses(&[status]);
        stage.accept_disable();
        stage.set_version(true, false);
        let outputs = stage.world.path().join("outputs");
        stage
            .call()
            .variable("SLUICEGATE_VERSION_NAME", "{short-sha}")
            .variable("GITHUB_OUTPUT", outputs.display().to_string())
            .run("publish")
            .expect(code);
        assert_eq!(stage.starts().len(), 1);
        assert_eq!(stage.switches().len(), usize::from(code == 8));
        let text = fs::read_to_string(outputs).unwrap();
        assert_eq!(job_output(&text, "version-name"), name);
    }
}

/// A job of an older version, such as a nightly job of a release branch, has nothing to test.
#[test]
fn rerun_with_template_starts_no_execution_unless_consumers_get_the_version() {
    for is_latest in [false, true] {
        let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
        stage.set_version(true, false);
        if !is_latest {
            stage.publish_newer_version();
        }
        let outputs = stage.world.path().join("outputs");
        let call = stage
            .call()
            .variable("SLUICEGATE_VERSION_NAME", "{short-sha}")
            .variable("GITHUB_OUTPUT", outputs.display().to_string());
        let plan = call
            .run("publish --dry-run --receipt plan.json -o json")
            .expect(0)
            .json();
        let planned_count = plan["smoke"].as_array().unwrap().len();
        assert_eq!(planned_count, usize::from(is_latest), "{plan}");
        let started_at = Instant::now();
        let output = call.run("publish --attestation statement.json").expect(0);
        let text = "no smoke run was started, because consumers of [Latest] get version 2, not version 1";
        assert_eq!(output.err.contains(text), !is_latest, "{}", output.all());
        assert_eq!(stage.starts().len(), usize::from(is_latest));
        assert_eq!(stage.world.work().join("statement.json").exists(), is_latest);
        let name = job_output(&fs::read_to_string(outputs).unwrap(), "version-name");
        assert_eq!(name, if is_latest { "1" } else { "" });
        assert!(started_at.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn dry_run_for_disabled_version_lists_no_smoke_runs() {
    let stage = SmokePlatform::new();
    stage.set_version(true, true);
    let call = stage.call().variable("SLUICEGATE_VERSION_NAME", "{short-sha}");
    let plan = call.run("publish --dry-run -o json").expect(0).json();
    assert_eq!(plan["smoke"], json!([]), "{plan}");
}

/// Git loses a file after it was planned, so the receipt has neither files nor a digest.
#[test]
fn rerun_that_cannot_compute_the_hashes_leaves_the_execution_id_in_the_receipt() {
    let cases = [(RERUN, "1", 3), (RERUN, "{short-sha}", 3), ("publish", "1", 5)];
    at_once(cases, |(args, version, code)| {
        let stage = SmokePlatform::with_statuses(&["RUNNING"]);
        let include = "--include **";
        let first_run = "publish --smoke-timeout 1 --on-smoke-failure keep";
        stage.call().run((first_run, include)).expect(8);
        let blob = stage.world.git("rev-parse HEAD:notes.md");
        let object_path = format!(".git/objects/{}/{}", &blob[..2], &blob[2..]);
        let object_file = stage.world.work().join(object_path);
        let object_content = fs::read(&object_file).unwrap();
        stage.lose_at_lookup(object_file.clone());
        let call = stage.call().variable("SLUICEGATE_VERSION_NAME", version);
        let output = call.run((args, include, "--smoke-timeout 1")).expect(code);
        let receipt = stage.receipt();
        assert_eq!(receipt["digest"], "", "{version}: {}", output.all());
        let recorded_run = &receipt["smoke"]["runs"][0];
        assert_eq!(recorded_run["executionId"], EXECUTION, "{version}: {receipt}");
        fs::write(object_file, object_content).unwrap();
        stage.show(answer(&execution("SUCCESS")));
        stage.call().run((RERUN, include)).expect(0);
        assert_eq!(stage.starts().len(), 1, "{version}");
    });
}

/// The execution may have looked up the latest version while the version was disabled.
#[test]
fn rerun_after_version_was_disabled_starts_a_new_execution() {
    for status in ["RUNNING", "FAILED"] {
        let stage = SmokePlatform::with_statuses(&[status]);
        stage.accept_disable();
        stage.call().run("publish --smoke-timeout 1").expect(8);
        assert_eq!(stage.receipt()["smoke"]["versionDisabled"], true);
        stage.set_version(true, false);
        // A rerun that starts no execution does not hide that the version was disabled.
        stage.publish_newer_version();
        let call = stage.call().variable("SLUICEGATE_LOOKUP_TIMEOUT", "0");
        call.run(RERUN).expect(3);
        stage.withdraw_newer_version();
        stage.show(answer(&execution("SUCCESS")));
        call.run(RERUN).expect(0);
        assert_eq!(stage.starts().len(), 2, "{status}");
    }
}

/// The first smoke run has ended before the second one disables the version, so it is not repeated.
#[test]
fn rerun_after_version_was_disabled_keeps_a_smoke_run_that_succeeded() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS", "FAILED"]);
    stage.accept_disable();
    let args = "--smoke load --smoke-environment test --smoke-environment other";
    stage.call().run(&format!("publish {args}")).expect(8);
    stage.set_version(true, false);
    stage.show(answer(&execution("SUCCESS")));
    let output = stage.call().run(&format!("{RERUN} {args}")).expect(0);
    assert_eq!(stage.starts().len(), 3, "{}", output.all());
}

#[test]
fn rerun_with_template_waits_for_the_execution_of_an_earlier_run() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage.call().run("publish").expect(0);
    let outputs = stage.world.path().join("outputs");
    let output = stage
        .call()
        .variable("SLUICEGATE_VERSION_NAME", "{short-sha}")
        .variable("GITHUB_OUTPUT", outputs.display().to_string())
        .run("publish")
        .expect(0);
    assert_eq!(
        job_output(&fs::read_to_string(outputs).unwrap(), "version-name"),
        "1"
    );
    let text = format!("waiting for execution {EXECUTION}, which an earlier run started");
    output.assert_logged(&[&text]);
    assert_eq!(stage.starts().len(), 1);
}

/// Runs a publish, sends the signal after the first request with this method and path, and returns the exit code and
/// the log.
#[cfg(unix)]
fn publish_and_signal(
    stage: &SmokePlatform,
    args: &str,
    signal: &str,
    verb: &str,
    path: &str,
) -> (i32, String) {
    let is_due = |request: &Request| request.method.as_str() == verb && request.url.path().contains(path);
    run_and_signal(&stage.platform, &stage.call(), args, signal, is_due)
}

/// Runs the program, sends the signal once the platform got a request that is due, and returns the exit code and the
/// log.
#[cfg(unix)]
fn run_and_signal(
    platform: &Platform,
    call: &Call,
    args: &str,
    signal: &str,
    is_due: impl Fn(&Request) -> bool,
) -> (i32, String) {
    let mut command = call.command(args);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    platform.wait_for_requests(&mut child, |requests| requests.iter().any(&is_due));
    send_signal(signal, &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap_or(-1), log)
}

#[cfg(unix)]
#[test]
fn publish_that_is_interrupted_during_smoke_run_disables_version() {
    at_once(stop_signals(), |(signal, code)| {
        let word = if code == 130 { "interrupted" } else { "terminated" };
        let stage = SmokePlatform::with_statuses(&["RUNNING"]);
        stage.accept_disable();
        let (exit_code, log) = publish_and_signal(&stage, "publish", signal, "GET", "/pipeline-executions/");
        assert_eq!(exit_code, code, "{log}");
        assert_eq!(stage.switches(), [disable_request()], "{log}");
        for text in [
            &format!("this run was {word} before the end of the smoke runs"),
            "the version was disabled",
            EXECUTION,
        ] {
            assert!(log.contains(text), "{text}: {log}");
        }
        assert_eq!(stage.receipt()["smoke"]["runs"][0]["executionId"], EXECUTION);
    });
}

#[cfg(unix)]
#[test]
fn publish_that_is_interrupted_keeps_version_on_request() {
    let stage = SmokePlatform::with_statuses(&["RUNNING"]);
    let keep = "publish --on-smoke-failure keep";
    let (exit_code, log) = publish_and_signal(&stage, keep, "TERM", "GET", "/pipeline-executions/");
    assert_eq!(exit_code, 143, "{log}");
    assert_eq!(stage.switches(), [] as [Value; 0]);
}

#[cfg(unix)]
#[test]
fn publish_without_smoke_run_names_version_only_if_a_signal_stops_it_after_start_of_upload() {
    let world = project_to_publish();
    let slow = Duration::from_secs(20);
    let texts = [
        "version 1 of p may have been published",
        "sluicegate artifacts show 1 --prefix p",
    ];
    for (signal, code) in stop_signals() {
        for (verb, path) in [
            ("GET", "/artifacts/details"),
            ("POST", "/artifacts"),
            ("GET", "/artifacts"),
        ] {
            let platform = Platform::new();
            let is_sent = Arc::new(AtomicBool::new(false));
            let has_upload = Arc::clone(&is_sent);
            platform.respond_to("POST", "/artifacts$", move |_: &Request| {
                has_upload.store(true, Ordering::SeqCst);
                let delay = if verb == "POST" { slow } else { Duration::ZERO };
                upload_response(&json!([])).set_delay(delay)
            });
            let is_lookup_slow = path == "/artifacts/details";
            let has_upload = Arc::clone(&is_sent);
            let details = version_details(&world);
            platform.respond_to("GET", "/artifacts/details$", move |_: &Request| {
                if is_lookup_slow {
                    ResponseTemplate::new(404).set_delay(slow)
                } else if has_upload.load(Ordering::SeqCst) {
                    answer(&details)
                } else {
                    ResponseTemplate::new(404)
                }
            });
            let has_upload = Arc::clone(&is_sent);
            platform.respond_to("GET", "/artifacts$", move |_: &Request| {
                let is_slow = has_upload.load(Ordering::SeqCst);
                answer(&json!({ "results": [] })).set_delay(if is_slow { slow } else { Duration::ZERO })
            });
            let is_upload_expected = !is_lookup_slow;
            let is_due = |request: &Request| {
                let is_expected = request.method.as_str() == verb && request.url.path().ends_with(path);
                is_expected && is_sent.load(Ordering::SeqCst) == is_upload_expected
            };
            let started = Instant::now();
            let call = platform.call(&world);
            let publish = "publish --prefix p --version-name 1";
            let (exit_code, log) = run_and_signal(&platform, &call, publish, signal, is_due);
            assert_eq!(exit_code, code, "{log}");
            assert!(started.elapsed() < slow, "{log}");
            for text in texts {
                assert_eq!(
                    log.contains(text),
                    is_upload_expected,
                    "{text}: {verb} {path}: {log}"
                );
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn publish_that_a_signal_stops_shows_possible_version_on_host_only_after_start_of_upload() {
    let world = project_to_publish();
    for (signal, code) in stop_signals() {
        for verb in ["GET", "POST"] {
            let platform = Platform::new();
            let slow = Duration::from_secs(20);
            let delay = |slow_verb| if verb == slow_verb { slow } else { Duration::ZERO };
            platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
            let missing_version = ResponseTemplate::new(404).set_delay(delay("GET"));
            platform.respond_to("GET", "/artifacts/details$", missing_version);
            let upload = upload_response(&json!([])).set_delay(delay("POST"));
            platform.respond_to("POST", "/artifacts$", upload);
            let summary = world.path().join("summary");
            let _ = fs::remove_file(&summary);
            let call = platform
                .call(&world)
                .variable("SLUICEGATE_ANNOTATIONS", "github")
                .variable("GITHUB_STEP_SUMMARY", summary.display().to_string());
            let is_due = |request: &Request| {
                request.method.as_str() == verb
                    && (verb == "POST" || request.url.path().ends_with("/details"))
            };
            let publish = "publish --prefix p --version-name 1";
            let (exit_code, log) = run_and_signal(&platform, &call, publish, signal, is_due);
            assert_eq!(exit_code, code, "{log}");
            let summary = fs::read_to_string(&summary).unwrap_or_default();
            let ending = if code == 130 { "interrupted" } else { "terminated" };
            let annotation =
                format!("::error title=sluicegate was {ending}::version 1 of p may have been published");
            let heading = format!("## ❌ sluicegate was {ending} (exit code {code})");
            for (text, page) in [(&annotation, &log), (&heading, &summary)] {
                assert_eq!(page.contains(text), verb == "POST", "{text}: {verb}: {page}");
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn possible_change_at_a_signal_is_shown_in_the_requested_style() {
    let world = project_to_publish();
    let publish = "ci --publish --prefix p --version-name 1 --publish-on-branch main";
    let publish_alone = "publish --prefix p --version-name 1";
    let create = "variables create region --value x";
    let host = ("GITHUB_ACTIONS", "true");
    let none = ("SLUICEGATE_ANNOTATIONS", "none");
    let no_variable = ("UNRELATED", "1");
    for (args, policy, variables, is_annotated) in [
        (create.to_owned(), "", [host, no_variable], true),
        (create.to_owned(), "", [host, none], false),
        (
            create.to_owned(),
            "",
            [("SLUICEGATE_CI", "github"), no_variable],
            true,
        ),
        (format!("{create} --ci github"), "", [no_variable; 2], true),
        (format!("{create} --ci gitlab"), "", [host, no_variable], false),
        (
            publish_alone.to_owned(),
            "review: { annotations: github }\n",
            [no_variable; 2],
            true,
        ),
        (
            publish_alone.to_owned(),
            "review: { annotations: github }\n",
            [none, no_variable],
            false,
        ),
        (
            publish.to_owned(),
            "review: { annotations: github }\n",
            [no_variable; 2],
            true,
        ),
        (
            publish.to_owned(),
            "review: { annotations: github }\n",
            [none, no_variable],
            false,
        ),
        (
            format!("{publish} --annotations github"),
            "",
            [no_variable; 2],
            true,
        ),
        (
            format!("{publish} --annotations none"),
            "",
            [("SLUICEGATE_ANNOTATIONS", "github"), no_variable],
            false,
        ),
    ] {
        world.write("sluicegate.yaml", policy);
        let platform = Platform::new();
        let rule = json!([{ "ruleName": "rule", "status": "PASSED" }]);
        let results = json!({ "sales/load.orch.yaml": rule, "sales/clean.tran.yaml": rule });
        platform.reviews(answer(&json!({ "reviewStatus": "PASSED", "results": results })));
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
        platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(404));
        let slow_response = upload_response(&json!([])).set_delay(Duration::from_secs(20));
        platform.respond_to("POST", "/(artifacts|variables)$", slow_response);
        let call = variables
            .iter()
            .fold(platform.call(&world), |call, (name, value)| {
                call.variable(name, *value)
            });
        let is_due = |request: &Request| {
            let path = request.url.path();
            request.method.as_str() == "POST"
                && (path.ends_with("/artifacts") || path.ends_with("/variables"))
        };
        let (exit_code, log) = run_and_signal(&platform, &call, &args, "TERM", is_due);
        assert_eq!(exit_code, 143, "{log}");
        let is_shown_as_annotation = log.contains("::error title=sluicegate was terminated::");
        assert_eq!(
            is_shown_as_annotation, is_annotated,
            "{args} {variables:?}: {log}"
        );
        let message_count =
            log.matches(" may take effect").count() + log.matches("may have been published").count();
        assert_eq!(message_count, 1, "{log}");
    }
}

#[cfg(unix)]
#[test]
fn publish_that_is_interrupted_during_upload_disables_version() {
    let stage = SmokePlatform::with_statuses(&["SUCCESS"]);
    stage.accept_disable();
    let slow_upload = upload_response(&json!([]));
    stage.accept_upload_with(slow_upload.set_delay(Duration::from_millis(500)));
    let (exit_code, log) = publish_and_signal(&stage, "publish", "INT", "POST", "/artifacts");
    assert_eq!(exit_code, 130, "{log}");
    assert_eq!(stage.switches(), [disable_request()], "{log}");
    assert_eq!(stage.starts(), [] as [Value; 0]);
}

/// Adds the settings of a publish of version 1 with a smoke run.
#[cfg(unix)]
fn with_smoke_run(call: Call) -> Call {
    call.variable("SLUICEGATE_PREFIX", "p")
        .variable("SLUICEGATE_VERSION_NAME", "1")
        .variable("SLUICEGATE_SMOKE", "load")
        .variable("SLUICEGATE_SMOKE_PROJECT", CONSUMER)
        .variable("SLUICEGATE_SMOKE_ENVIRONMENT", "test")
        .variable("SLUICEGATE_LOOKUP_TIMEOUT", "1")
}

#[cfg(unix)]
fn count_uploads(platform: &Platform) -> usize {
    let requests = platform.requests();
    requests.iter().filter(|request| request.method == "POST").count()
}

#[cfg(unix)]
#[test]
fn publish_with_smoke_run_that_is_interrupted_before_upload_sends_nothing() {
    let world = project_to_publish();
    let slow = Duration::from_secs(20);
    for (signal, code) in stop_signals() {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
        platform.respond_to("POST", "/artifacts$", upload_response(&json!([])));
        let is_of_version =
            |request: &Request| request.url.query().unwrap_or_default().contains("versionName");
        platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
            let delay = if is_of_version(request) {
                slow
            } else {
                Duration::ZERO
            };
            ResponseTemplate::new(404).set_delay(delay)
        });
        let started = Instant::now();
        let call = with_smoke_run(platform.call(&world));
        let (exit_code, log) = run_and_signal(&platform, &call, "publish", signal, is_of_version);
        assert_eq!(exit_code, code, "{log}");
        assert!(started.elapsed() < slow, "{log}");
        assert!(!log.contains("may have been published"), "{log}");
        assert_eq!(count_uploads(&platform), 0, "{log}");
    }
}

#[cfg(unix)]
#[test]
fn publish_with_smoke_run_that_is_interrupted_does_not_upload_again() {
    let world = project_to_publish();
    for (status, retry_after) in [(502, ""), (503, "1"), (429, "1")] {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
        platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(404));
        let response = ResponseTemplate::new(status).set_delay(Duration::from_millis(500));
        platform.respond_to(
            "POST",
            "/artifacts$",
            match retry_after {
                "" => response,
                seconds => response.insert_header("retry-after", seconds),
            },
        );
        let call = with_smoke_run(platform.call(&world)).variable("SLUICEGATE_RETRIES", "2");
        let is_upload = |request: &Request| request.method == "POST";
        let (exit_code, log) = run_and_signal(&platform, &call, "publish", "INT", is_upload);
        assert_eq!(exit_code, 130, "{status}: {log}");
        assert_eq!(count_uploads(&platform), 1, "{status}: {log}");
        // The counterpart: without a signal, the files are sent again.
        call.run("publish").expect(3);
        assert!(count_uploads(&platform) > 2, "{status}");
    }
}

#[cfg(unix)]
#[test]
fn publish_that_is_interrupted_before_the_execution_has_an_id_disables_version() {
    for is_published in [false, true] {
        let stage = SmokePlatform::new();
        stage.start_with(ResponseTemplate::new(200).set_delay(Duration::from_secs(60)));
        stage.accept_disable();
        stage.set_version(is_published, false);
        let (exit_code, log) = publish_and_signal(&stage, RERUN, "INT", "POST", "/pipeline-executions");
        assert_eq!(exit_code, 130, "{log}");
        assert_eq!(stage.switches(), [disable_request()], "{log}");
        assert!(
            log.contains("it is unknown whether the pipeline was started"),
            "{log}"
        );
    }
}

#[cfg(unix)]
#[test]
fn publish_that_is_interrupted_and_cannot_disable_version_exits_with_6() {
    let stage = SmokePlatform::with_statuses(&["RUNNING"]);
    stage
        .platform
        .respond_to("PATCH", "/artifacts$", ResponseTemplate::new(500));
    let (exit_code, log) = publish_and_signal(&stage, "publish", "INT", "GET", "/pipeline-executions/");
    assert_eq!(exit_code, 6, "{log}");
    assert!(log.contains("VERSION 1 OF p IS STILL ENABLED"), "{log}");
}
