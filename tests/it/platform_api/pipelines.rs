//! `pipelines` and `executions`: waits, ends, interrupts.

use crate::support::{
    Arguments, Platform, World, answer, at_once, in_turn, polling_call, send_signal, stop_signals,
};
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::time::Duration;
use wiremock::{Request, ResponseTemplate};

const ID: &str = "7b6a5c4d-3e2f-4a1b-8c9d-0e1f2a3b4c5d";
const START: &str = "/pipeline-executions$";
const ONE: &str = "/pipeline-executions/[^/]+$";
const RUN: [&str; 5] = [
    "pipelines",
    "run",
    "sales/load orders",
    "--environment",
    "production",
];

fn status(status: &str) -> Value {
    let finished = (status != "RUNNING").then_some("2026-11-20T09:30:03Z");
    json!({ "result": { "status": status, "message": format!("it is {status}"),
        "startedAt": "2026-11-20T09:30:00Z", "finishedAt": finished, "new": "field" }, "queue": "q1" })
}

fn script_execution_start(platform: &Platform) {
    platform.respond_to("POST", START, answer(&json!({ "pipelineExecutionId": ID })));
}

fn script_statuses_of_execution(platform: &Platform, words: &[&str]) {
    platform.respond_to(
        "GET",
        ONE,
        in_turn(words.iter().map(|word| answer(&status(word))).collect()),
    );
}

fn run_args(args: impl Arguments) -> Vec<String> {
    (&RUN, args).into_list()
}

fn bodies_by_verb(platform: &Platform, verb: &str) -> Vec<Value> {
    let all = platform.requests();
    let those = all
        .iter()
        .filter(|request: &&Request| request.method.as_str() == verb);
    those
        .map(|request| serde_json::from_slice(&request.body).unwrap_or_default())
        .collect()
}

#[test]
fn list_shows_when_each_was_published() {
    let (world, platform) = (World::new(), Platform::new());
    let body = json!({ "results": [{ "name": "sales/load orders", "publishedTime": "2020-01-02T00:00:00Z" }],
        "page": 0, "size": 100, "total": 1 });
    platform.respond_to("GET", "/published-pipelines$", answer(&body));
    let output = platform.call(&world).run("pipelines list").expect(0);
    let days = output.out.lines().nth(1).unwrap();
    assert!(
        days.starts_with("sales/load orders  2020-01-02T00:00:00Z (") && days.ends_with(" d ago)"),
        "{days}"
    );
    let json = platform
        .call(&world)
        .run("pipelines list -o json")
        .expect(0)
        .json();
    assert_eq!(json["results"], body["results"]);
}

#[test]
fn run_without_wait_only_starts() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    let output = polling_call(&platform, &world)
        .run(run_args("--tag nightly"))
        .expect(0);
    assert_eq!(output.out, format!("started execution {ID}\n"));
    let body = json!({ "pipelineName": "sales/load orders", "environmentName": "production", "executionTag": "nightly" });
    assert_eq!(bodies_by_verb(&platform, "POST"), [body]);
    let json = polling_call(&platform, &world)
        .run(run_args("-o json"))
        .expect(0)
        .json();
    assert_eq!(json, json!({ "pipelineExecutionId": ID }));
}

#[test]
fn run_with_wait_follows_to_a_success() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    script_statuses_of_execution(&platform, &["QUEUED", "RUNNING", "RUNNING", "SUCCESS"]);
    let output = polling_call(&platform, &world)
        .run(run_args("--wait --timeout 60 --junit out/run.xml"))
        .expect(0);
    for word in [
        ID,
        "SUCCESS",
        "it is SUCCESS",
        "3.0 s",
        "2026-11-20T09:30:03Z",
        "field",
    ] {
        assert!(output.out.contains(word), "{word}: {}", output.all());
    }
    let lines: Vec<&str> = output.err.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "QUEUED: it is QUEUED",
            "RUNNING: it is RUNNING",
            "SUCCESS: it is SUCCESS"
        ]
    );
    let junit = fs::read_to_string(world.work().join("out/run.xml")).unwrap();
    assert!(
        junit.contains("failures=\"0\"") && junit.contains("time=\"3\""),
        "{junit}"
    );
    assert!(
        junit.contains("timestamp=\"2026-11-20T09:30:00Z\""),
        "the platform's start time: {junit}"
    );
}

#[test]
fn run_that_ends_badly_is_exit_8() {
    for word in ["FAILED", "CANCELLED", "ERROR", "SKIPPED", "EXPLODED"] {
        let (world, platform) = (World::new(), Platform::new());
        script_execution_start(&platform);
        script_statuses_of_execution(&platform, &["RUNNING", word]);
        let output = polling_call(&platform, &world)
            .run(run_args("--wait -o json --junit run.xml"))
            .expect(8);
        assert_eq!(output.json()["result"]["status"], word);
        assert_eq!(output.json()["pipelineExecutionId"], ID);
        let junit = fs::read_to_string(world.work().join("run.xml")).unwrap();
        assert!(junit.contains("<failure"), "{junit}");
        output.saying(&[&format!("ended in {word}: it is {word}")]);
    }
}

#[test]
fn run_that_does_not_end_in_time_is_exit_8() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    script_statuses_of_execution(&platform, &["RUNNING"]);
    let output = polling_call(&platform, &world)
        .run(run_args("--wait --timeout 0 --junit run.xml"))
        .expect(8);
    output.saying(&[
        "has not ended: its status is RUNNING",
        "hint:",
        "executions cancel",
    ]);
    let junit = fs::read_to_string(world.work().join("run.xml")).unwrap();
    assert!(junit.contains("<error"), "{junit}");
}

#[test]
fn run_with_a_running_tag_is_exit_5_in_the_servers_words() {
    let (world, platform) = (World::new(), Platform::new());
    let conflict: Value = serde_json::from_str(include_str!("../../fixtures/api/conflict.json")).unwrap();
    platform.respond_to("POST", START, ResponseTemplate::new(409).set_body_json(conflict));
    polling_call(&platform, &world)
        .run(run_args("--tag nightly --wait"))
        .expect(5)
        .saying(&["An execution with the same tag is running"]);
}

#[test]
fn run_that_loses_platform_reports_how_to_continue() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    platform.respond_to("GET", ONE, ResponseTemplate::new(500));
    let output = polling_call(&platform, &world)
        .run(run_args("--wait --junit run.xml"))
        .expect(3);
    output.saying(&[&format!("sluicegate executions show {ID} --wait")]);
    let report = fs::read_to_string(world.work().join("run.xml")).unwrap();
    assert!(report.contains("<error"), "{report}");
    // The duration is the time until the wait failed.
    assert!(!report.contains("time=\"0.000000\""), "{report}");
}

#[test]
fn wait_that_a_refusal_ends_names_its_cause_first() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    platform.respond_to("GET", ONE, ResponseTemplate::new(401));
    let show = ["executions", "show", ID, "--wait"].map(str::to_owned).to_vec();
    for args in [run_args("--wait"), show] {
        let output = polling_call(&platform, &world).run(args).expect(4);
        output.saying(&[
            "hint: check the token: it may have expired",
            &format!("the execution may still be running: run `sluicegate executions show {ID} --wait`"),
        ]);
    }
}

#[test]
fn junit_report_of_a_run_that_does_not_start_contains_the_reason() {
    let conflict =
        ResponseTemplate::new(409).set_body_json(json!({ "error": "the tag runs", "status": 409 }));
    let cases = [
        (conflict, "--tag nightly", 5, "the tag runs"),
        (ResponseTemplate::new(404), "", 3, "404"),
        (ResponseTemplate::new(502), "", 3, "502"),
        (answer(&json!({})), "", 3, "contains no usable execution id"),
        (
            answer(&json!({})),
            "--variable a=1 --variable a=2",
            2,
            "sets a more than once",
        ),
    ];
    for (response, args, code, reason) in cases {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("POST", START, response);
        polling_call(&platform, &world)
            .run(run_args(format!("{args} --wait --junit run.xml")))
            .expect(code);
        let report = fs::read_to_string(world.work().join("run.xml")).unwrap();
        assert!(
            report.contains("<error") && report.contains(reason),
            "{reason}: {report}"
        );
    }
}

/// The platform's response is at fault, so this is not a usage error.
#[test]
fn run_with_unusable_execution_id_exits_with_3() {
    for id in ["", " ", ".", "..", "a\tb"] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("POST", START, answer(&json!({ "pipelineExecutionId": id })));
        polling_call(&platform, &world)
            .run(run_args("--wait"))
            .expect(3)
            .saying(&["contains no usable execution id"]);
    }
}

#[test]
fn run_that_no_answer_names_is_not_to_be_repeated_blindly() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("POST", START, answer(&json!({})));
    let output = polling_call(&platform, &world).run(run_args("--wait")).expect(3);
    output.saying(&["hint: before you repeat the command, check the list of executions on the platform"]);
}

#[test]
fn time_to_wait_begins_with_the_first_request() {
    let (world, platform) = (World::new(), Platform::new());
    let never = || ResponseTemplate::new(200).set_delay(Duration::from_secs(60));
    platform.respond_to("POST", START, never());
    platform.respond_to("PATCH", ONE, never());
    let wait = "--wait --timeout 0";
    let late = "no response arrived within the timeout";
    let perhaps = "hint: the request may have been processed nevertheless: ";
    let list = "check the list of executions on the platform".to_owned();
    let show = format!("run `sluicegate executions show {ID}` to check");
    let cancel = ("executions cancel", ID, wait).into_list();
    at_once([(run_args(wait), list), (cancel, show)], |(args, look)| {
        let output = polling_call(&platform, &world).run(&args).expect(3);
        output.saying(&[late, &format!("{perhaps}{look}")]);
    });
}

#[test]
fn execution_with_unknown_status_is_not_reported_as_running() {
    for (status, hint) in [
        (
            json!("RUNNING"),
            "the execution is still running; run `sluicegate executions cancel",
        ),
        (
            json!("queued"),
            "the execution is still running; run `sluicegate executions cancel",
        ),
        (json!("CANCELED"), "run `sluicegate executions show"),
        (json!(null), "run `sluicegate executions show"),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("GET", ONE, answer(&json!({ "result": { "status": status } })));
        let args = ["executions", "show", ID, "--wait", "--timeout", "0"];
        polling_call(&platform, &world)
            .run(&args)
            .expect(8)
            .saying(&[&format!("hint: {hint} {ID}`")]);
    }
}

#[test]
fn id_from_the_platform_is_quoted_in_the_command_of_a_hint() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to(
        "POST",
        START,
        answer(&json!({ "pipelineExecutionId": "1;touch pwn" })),
    );
    platform.respond_to(
        "GET",
        "/pipeline-executions/",
        answer(&json!({ "result": { "status": "RUNNING" } })),
    );
    polling_call(&platform, &world)
        .run(run_args("--wait --timeout 0"))
        .expect(8)
        .saying(&["sluicegate executions cancel '1;touch pwn'`"]);
}

#[test]
fn conflict_after_repeated_start_may_be_with_the_own_execution() {
    for (first_response, hint) in [
        (
            ResponseTemplate::new(503).insert_header("retry-after", "0"),
            "perhaps because of an earlier try of this command: check the list",
        ),
        (
            ResponseTemplate::new(429).insert_header("retry-after", "0"),
            "perhaps because of an earlier try of this command: check the list",
        ),
        (
            ResponseTemplate::new(409),
            "wait until it ends, or use another tag",
        ),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to(
            "POST",
            START,
            in_turn(vec![first_response, ResponseTemplate::new(409)]),
        );
        polling_call(&platform, &world)
            .variable("SLUICEGATE_RETRIES", "1")
            .run(run_args("--tag nightly"))
            .expect(5)
            .saying(&["an execution with the tag nightly is running", hint]);
    }
}

#[test]
fn disabled_pipeline_is_named_as_the_cause() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("POST", START, ResponseTemplate::new(410));
    polling_call(&platform, &world)
        .run(run_args(""))
        .expect(3)
        .saying(&["410 Gone", "hint: the pipeline is disabled on the platform"]);
}

#[test]
fn missing_pipeline_is_found_by_its_path_or_the_end_of_its_name() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("POST", START, ResponseTemplate::new(404));
    let names = [
        "sales/load",
        "sales/clean",
        "stock/clean",
        "Report",
        "sales/report",
    ]
    .map(|name| json!({ "name": name }));
    platform.respond_to(
        "GET",
        "/published-pipelines$",
        answer(&json!({ "results": names })),
    );
    let cases = [
        ("sales/load.orch.yaml", Some("sales/load")),
        ("load", Some("sales/load")),
        ("load.orch.yaml", Some("sales/load")),
        ("Sales/Load", Some("sales/load")),
        ("stock/clean.tran.yaml", Some("stock/clean")),
        // Another name ends in this one, but differs in more than its case.
        ("report", Some("Report")),
        ("REPORT", Some("Report")),
        // Two pipelines have this name.
        ("clean", None),
        ("ad", None),
        ("", None),
    ];
    for (name, nearest) in cases {
        let args = ["pipelines", "run", name, "--environment", "prod"];
        let output = polling_call(&platform, &world).run(&args);
        assert_ne!(output.code, 0);
        match nearest {
            Some(nearest) => {
                output.saying(&[&format!("did you mean `{nearest}`?")]);
            }
            None => assert!(!output.err.contains("did you mean"), "{}", output.all()),
        }
    }
}

#[test]
fn run_needs_an_environment_from_flag_variable_or_file() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    let bare = "pipelines run p";
    polling_call(&platform, &world)
        .run(bare)
        .expect(2)
        .saying(&["--environment", "SLUICEGATE_ENVIRONMENT"]);
    world.write("sluicegate.yaml", "environment: from-file\npoll-interval: 0.01\n");
    polling_call(&platform, &world).run(bare).expect(0);
    polling_call(&platform, &world)
        .variable("SLUICEGATE_ENVIRONMENT", "from-variable")
        .run(bare)
        .expect(0);
    let asked: Vec<Value> = bodies_by_verb(&platform, "POST")
        .iter()
        .map(|body| body["environmentName"].clone())
        .collect();
    assert_eq!(asked, ["from-file", "from-variable"]);
}

#[test]
fn both_timeouts_have_their_flag() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    let refusal = |args: Vec<String>| polling_call(&platform, &world).run(args).expect(2);
    // Before the command, the flag sets the request timeout, which is at least a second; after it, the timeout of the
    // wait.
    refusal(("--timeout 0", &RUN).into_list()).saying(&["the timeout 0"]);
    refusal(run_args("--request-timeout 0")).saying(&["the timeout 0"]);
    polling_call(&platform, &world)
        .run(run_args("--timeout 1"))
        .expect(0);
    // Without a wait, the flag after the command sets the request timeout, too.
    refusal(run_args("--timeout 0")).saying(&["the timeout 0"]);
    refusal(run_args("--wait --poll-interval 0")).saying(&["poll interval"]);
}

/// Starts the program, waits until the platform has received `requests` of its requests, and sends the signal.
#[cfg(unix)]
pub(super) fn run_and_interrupt(
    platform: &Platform,
    world: &World,
    args: impl Arguments,
    signal: &str,
) -> (i32, String) {
    let mut command = polling_call(platform, world).command(args);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let polled = |request: &Request| request.method.as_str() == "GET";
    platform.wait_for_requests(&mut child, |requests| requests.iter().any(polled));
    send_signal(signal, &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    let stdout =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    (output.status.code().unwrap_or(-1), stdout)
}

#[test]
fn run_with_unwritable_report_starts_no_pipeline() {
    let (world, platform) = (World::new(), Platform::new());
    world.write("file", "");
    for path in ["file/run.xml", ".."] {
        platform
            .call(&world)
            .run(run_args(&["--wait", "--junit", path]))
            .expect(2)
            .saying(&["could not write the report"]);
    }
    assert_eq!(bodies_by_verb(&platform, "POST"), [] as [Value; 0]);
}

#[cfg(unix)]
#[test]
fn run_that_is_interrupted_terminates_the_execution_and_awaits_it() {
    for (signal, code) in stop_signals() {
        let (world, platform) = (World::new(), Platform::new());
        script_execution_start(&platform);
        let patched = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let seen = std::sync::Arc::clone(&patched);
        platform.respond_to("PATCH", ONE, move |_: &Request| {
            seen.store(1, std::sync::atomic::Ordering::SeqCst);
            answer(&json!({ "pipelineExecutionId": ID }))
        });
        platform.respond_to("GET", ONE, move |_: &Request| {
            // The execution continues for a while after its termination was requested.
            let looks = patched.load(std::sync::atomic::Ordering::SeqCst);
            if looks > 0 {
                patched.store(looks + 1, std::sync::atomic::Ordering::SeqCst);
            }
            answer(&status(if looks > 2 { "CANCELLED" } else { "RUNNING" }))
        });
        let args = run_args("--wait --cancel-on-interrupt --junit run.xml");
        let (output, text) = run_and_interrupt(&platform, &world, &args, signal);
        assert_eq!(output, code, "{text}");
        assert!(text.contains("CANCELLED"), "{text}");
        assert_eq!(
            bodies_by_verb(&platform, "PATCH"),
            [json!({ "forceUpdate": false, "status": "CANCELLED" })]
        );
        let report = world.read_text("run.xml");
        assert!(
            report.contains("interrupted") && report.contains("CANCELLED"),
            "{report}"
        );
        assert!(
            !report.contains("UNKNOWN") && report.contains("<failure"),
            "{report}"
        );
    }
}

#[cfg(unix)]
#[test]
fn interrupted_run_with_failed_termination_shows_the_state() {
    let warning = format!("nothing was canceled: execution {ID} had already ended in SUCCESS");
    let failure = format!("could not terminate execution {ID}");
    let hint = format!("hint: the execution is still running; run `sluicegate executions cancel {ID}`");
    let texts = [&warning, &failure, &hint];
    for (code, last_status, expected_texts) in [
        (409, "SUCCESS", [true, false, false]),
        (403, "RUNNING", [false, true, true]),
        // The platform may have processed the request, so this run waits for the end.
        (500, "CANCELLED", [false, false, false]),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        script_execution_start(&platform);
        let read_count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let termination = std::sync::Arc::clone(&read_count);
        platform.respond_to("PATCH", ONE, move |_: &Request| {
            termination.store(1, std::sync::atomic::Ordering::SeqCst);
            ResponseTemplate::new(code)
        });
        platform.respond_to("GET", ONE, move |_: &Request| {
            let count = read_count.load(std::sync::atomic::Ordering::SeqCst);
            if count > 0 {
                read_count.store(count + 1, std::sync::atomic::Ordering::SeqCst);
            }
            let has_ended = count > 2 || (count > 0 && code != 500);
            answer(&status(if has_ended { last_status } else { "RUNNING" }))
        });
        let args = run_args("--wait --cancel-on-interrupt --junit run.xml");
        let (exit_code, text) = run_and_interrupt(&platform, &world, &args, "TERM");
        assert_eq!(exit_code, 143, "{text}");
        assert_eq!(texts.map(|part| text.contains(part)), expected_texts, "{text}");
        assert!(text.contains(&format!("status      {last_status}")), "{text}");
        let report = world.read_text("run.xml");
        let property = format!("name=\"status\" value=\"{last_status}\"");
        assert!(report.contains(&property), "{report}");
    }
}

#[cfg(unix)]
#[test]
fn run_without_cancel_that_is_interrupted_names_command_to_cancel() {
    for (signal, code) in stop_signals() {
        let (world, platform) = (World::new(), Platform::new());
        script_execution_start(&platform);
        platform.respond_to("GET", ONE, answer(&status("RUNNING")));
        let (output, text) = run_and_interrupt(&platform, &world, &run_args("--wait"), signal);
        assert_eq!(output, code, "{text}");
        let words = format!("the execution continues; run `sluicegate executions cancel {ID}` to cancel it");
        assert!(text.contains(&words), "{text}");
        assert!(bodies_by_verb(&platform, "PATCH").is_empty());
    }
}

/// The last state cannot be printed.
#[cfg(target_os = "linux")]
#[test]
fn interrupted_run_with_full_output_keeps_exit_code_and_report() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    let is_terminated = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let termination = std::sync::Arc::clone(&is_terminated);
    platform.respond_to("PATCH", ONE, move |_: &Request| {
        termination.store(true, std::sync::atomic::Ordering::SeqCst);
        answer(&json!({ "pipelineExecutionId": ID }))
    });
    platform.respond_to("GET", ONE, move |_: &Request| {
        let has_ended = is_terminated.load(std::sync::atomic::Ordering::SeqCst);
        answer(&status(if has_ended { "CANCELLED" } else { "RUNNING" }))
    });
    let args = run_args("--wait --cancel-on-interrupt --junit run.xml");
    let mut command = polling_call(&platform, &world).command(&args);
    let full_device = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = command
        .stdout(full_device)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    platform.wait_for_requests(&mut child, |requests| requests.len() >= 2);
    send_signal("INT", &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let report = fs::read_to_string(world.work().join("run.xml")).unwrap();
    assert!(report.contains("is CANCELLED"), "{report}");
}

#[cfg(unix)]
#[test]
fn run_that_is_interrupted_before_it_is_refused_ends_with_the_signal() {
    let (world, platform) = (World::new(), Platform::new());
    let refusal = ResponseTemplate::new(400).set_delay(Duration::from_secs(1));
    platform.respond_to("POST", START, refusal);
    let args = run_args("--wait --cancel-on-interrupt");
    let mut command = polling_call(&platform, &world).command(&args);
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    platform.wait_for_requests(&mut child, |requests| !requests.is_empty());
    send_signal("INT", &child.id().to_string());
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("400"), "{text}");
}

#[cfg(unix)]
#[test]
fn run_that_is_interrupted_without_the_flag_leaves_the_execution() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    platform.respond_to("GET", ONE, answer(&status("RUNNING")));
    let (output, text) = run_and_interrupt(&platform, &world, &run_args("--wait"), "INT");
    assert_eq!(output, 130, "{text}");
    assert!(bodies_by_verb(&platform, "PATCH").is_empty());
}

#[test]
fn show_prints_all_fields_and_waits_on_request() {
    let (world, platform) = (World::new(), Platform::new());
    script_statuses_of_execution(&platform, &["RUNNING", "FAILED"]);
    let output = polling_call(&platform, &world)
        .run(&["executions", "show", ID])
        .expect(0);
    assert!(output.out.contains("new         field"), "{}", output.all());
    assert!(output.out.contains("queue       q1"), "{}", output.all());
    polling_call(&platform, &world)
        .run(&["executions", "show", ID, "--wait"])
        .expect(8)
        .saying(&["ended in FAILED"]);
    let json = polling_call(&platform, &world)
        .run(&["executions", "show", ID, "-o", "json"])
        .expect(0)
        .json();
    assert_eq!(json, status("FAILED"));
}

#[test]
fn cancel_sends_the_status_that_is_set() {
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("PATCH", ONE, answer(&json!({ "pipelineExecutionId": ID })));
    script_statuses_of_execution(&platform, &["RUNNING", "RUNNING", "CANCELLED"]);
    let cancel = ["executions", "cancel", ID];
    let output = polling_call(&platform, &world).run(&cancel).expect(0);
    assert_eq!(
        output.out,
        format!("requested the termination of execution {ID}\n")
    );
    polling_call(&platform, &world)
        .variable("SLUICEGATE_CANCEL_STATUS", "TERMINATED")
        .run((&cancel[..], "--force --wait"))
        .expect(0);
    assert_eq!(
        bodies_by_verb(&platform, "PATCH"),
        [
            json!({ "forceUpdate": false, "status": "CANCELLED" }),
            json!({ "forceUpdate": true, "status": "TERMINATED" })
        ]
    );
}

#[test]
fn cancel_with_response_without_body_prints_the_state() {
    for response in [ResponseTemplate::new(204), ResponseTemplate::new(200)] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("PATCH", ONE, response);
        script_statuses_of_execution(&platform, &["RUNNING", "CANCELLED"]);
        let output = polling_call(&platform, &world)
            .run(&["executions", "cancel", ID])
            .expect(0)
            .saying(&[&format!("requested the termination of execution {ID}")]);
        assert!(output.out.contains("CANCELLED"), "{}", output.all());
        assert!(!output.err.contains("nothing was canceled"), "{}", output.all());
    }
    // Without a state, the failure still says that the termination was requested.
    let (world, platform) = (World::new(), Platform::new());
    platform.respond_to("PATCH", ONE, ResponseTemplate::new(204));
    platform.respond_to("GET", ONE, ResponseTemplate::new(403));
    polling_call(&platform, &world)
        .run(&["executions", "cancel", ID])
        .expect(4)
        .saying(&[&format!(
            "requested the termination of execution {ID}, but could not read its state"
        )]);
}

#[test]
fn cancel_of_ended_execution_warns_that_nothing_was_canceled() {
    for (statuses, is_canceled, request_count) in [
        (["SUCCESS", "SUCCESS"], false, 0),
        (["FAILED", "FAILED"], false, 0),
        // Ended between the first lookup and the termination.
        (["RUNNING", "SUCCESS"], false, 1),
        (["RUNNING", "CANCELLED"], true, 1),
        (["RUNNING", "FAILED"], true, 1),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("PATCH", ONE, answer(&json!({ "pipelineExecutionId": ID })));
        script_statuses_of_execution(&platform, &statuses);
        let output = polling_call(&platform, &world)
            .run(&["executions", "cancel", ID, "--wait", "-o", "json"])
            .expect(0);
        let warning = format!(
            "nothing was canceled: execution {ID} had already ended in {}",
            statuses[1]
        );
        assert_eq!(output.err.contains(&warning), !is_canceled, "{}", output.all());
        assert_eq!(output.json()["result"]["status"], statuses[1]);
        assert_eq!(
            bodies_by_verb(&platform, "PATCH").len(),
            request_count,
            "{statuses:?}"
        );
    }
}

#[test]
fn cancel_that_is_refused_after_the_end_exits_with_0() {
    let refusal = || ResponseTemplate::new(409);
    let lost_response = || ResponseTemplate::new(500);
    for (responses, statuses, flag, has_warning) in [
        (vec![refusal()], ["RUNNING", "SUCCESS"], "--output=text", true),
        (vec![refusal()], ["RUNNING", "CANCELLED"], "--wait", true),
        // The first try may have terminated the execution.
        (
            vec![lost_response(), refusal()],
            ["RUNNING", "CANCELLED"],
            "--output=text",
            false,
        ),
        (
            vec![lost_response(), refusal()],
            ["RUNNING", "CANCELLED"],
            "--wait",
            false,
        ),
        (
            vec![lost_response(), refusal()],
            ["RUNNING", "SUCCESS"],
            "--wait",
            true,
        ),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("PATCH", ONE, in_turn(responses));
        script_statuses_of_execution(&platform, &statuses);
        let output = polling_call(&platform, &world)
            .variable("SLUICEGATE_RETRIES", "1")
            .run(&["executions", "cancel", ID, flag])
            .expect(0);
        assert!(output.out.contains(statuses[1]), "{}", output.all());
        let warning = format!("nothing was canceled: execution {ID} had already ended");
        assert_eq!(output.err.contains(&warning), has_warning, "{}", output.all());
    }
    // Counterpart: an execution that has not ended.
    for flag in ["--output=text", "--wait"] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("PATCH", ONE, refusal());
        script_statuses_of_execution(&platform, &["RUNNING"]);
        polling_call(&platform, &world)
            .run(&["executions", "cancel", ID, flag])
            .expect(5)
            .saying(&[&format!("hint: run `sluicegate executions show {ID}` to check")]);
    }
}

#[test]
fn run_polls_again_while_the_platform_does_not_show_the_execution_yet() {
    for missing in [
        ResponseTemplate::new(404),
        ResponseTemplate::new(200),
        answer(&json!({})),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        script_execution_start(&platform);
        let text = answer(&status("SUCCESS"));
        platform.respond_to("GET", ONE, in_turn(vec![missing.clone(), missing, text]));
        polling_call(&platform, &world).run(run_args("--wait")).expect(0);
        assert_eq!(bodies_by_verb(&platform, "POST").len(), 1);
        // An id that the user typed may be wrong.
        let platform = Platform::new();
        platform.respond_to("GET", ONE, ResponseTemplate::new(404));
        let show = ["executions", "show", ID, "--wait"];
        polling_call(&platform, &world).run(&show).expect(3);
        // The second request lists the projects, in case the project is missing.
        assert_eq!(platform.requests().len(), 2);
    }
}

#[test]
fn run_whose_execution_never_appears_does_not_advise_a_second_start() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    platform.respond_to("GET", ONE, ResponseTemplate::new(404));
    let output = platform
        .call(&world)
        .variable("SLUICEGATE_POLL_INTERVAL", "0.3")
        .run(run_args("--wait"))
        .expect(3)
        .saying(&[
            &format!("execution {ID} was started, but its state could not be read"),
            &format!("run `sluicegate executions show {ID} --wait` to wait again"),
        ]);
    assert!(
        !output.err.contains("the platform has no execution"),
        "{}",
        output.all()
    );
}

#[test]
fn wait_for_execution_that_does_not_appear_is_reported_once() {
    for (missing_count, is_reported) in [(3, true), (0, false)] {
        let (world, platform) = (World::new(), Platform::new());
        script_execution_start(&platform);
        let mut responses = vec![ResponseTemplate::new(404); missing_count];
        responses.push(answer(&status("SUCCESS")));
        platform.respond_to("GET", ONE, in_turn(responses));
        let output = platform
            .call(&world)
            .variable("SLUICEGATE_POLL_INTERVAL", "0.9")
            .run(run_args("--wait"))
            .expect(0);
        let notice = format!("waiting for the platform to show execution {ID}, at most 10 s");
        let notice_count = output.err.matches(&notice).count();
        assert_eq!(notice_count, usize::from(is_reported), "{}", output.all());
    }
}

#[test]
fn empty_message_of_execution_is_not_shown() {
    for (message, shown_text) in [("", "ended in FAILED\n"), ("boom", "ended in FAILED: boom\n")] {
        let (world, platform) = (World::new(), Platform::new());
        let state = json!({ "result": { "status": "FAILED", "message": message } });
        platform.respond_to("GET", ONE, answer(&state));
        let output = polling_call(&platform, &world)
            .run(&["executions", "show", ID, "--wait"])
            .expect(8);
        assert!(output.err.contains(shown_text), "{}", output.all());
        assert!(!output.all().contains("FAILED: \n"), "{}", output.all());
    }
}

#[test]
fn cancel_that_does_not_end_in_time_advises_another_wait() {
    for (verb, advice) in [
        (
            "cancel",
            format!("run `sluicegate executions show {ID} --wait` to wait again"),
        ),
        (
            "show",
            format!("run `sluicegate executions cancel {ID}` to cancel it"),
        ),
    ] {
        let (world, platform) = (World::new(), Platform::new());
        platform.respond_to("PATCH", ONE, answer(&json!({ "pipelineExecutionId": ID })));
        platform.respond_to("GET", ONE, answer(&status("RUNNING")));
        let args = ["executions", verb, ID, "--wait", "--timeout", "1"];
        polling_call(&platform, &world)
            .run(&args)
            .expect(8)
            .saying(&[&advice]);
    }
}

#[test]
fn run_sends_variables_only_if_they_are_given() {
    let (world, platform) = (World::new(), Platform::new());
    script_execution_start(&platform);
    world.write("tables.yaml", "- [orders, full]\n- [\"1\", \"\"]\n");
    let variables = [
        "--variable",
        "region=eu=west",
        "--variable",
        "empty=",
        "--grid",
        "tables=tables.yaml",
    ];
    polling_call(&platform, &world)
        .run(run_args(&variables))
        .expect(0);
    polling_call(&platform, &world).run(&RUN).expect(0);
    let plain = json!({ "pipelineName": "sales/load orders", "environmentName": "production" });
    let mut full = plain.clone();
    full["scalarVariables"] = json!({ "empty": "", "region": "eu=west" });
    full["gridVariables"] = json!({ "tables": [["orders", "full"], ["1", ""]] });
    assert_eq!(bodies_by_verb(&platform, "POST"), [full, plain]);
}

#[test]
fn run_with_unusable_variables_is_refused_before_any_request() {
    let (world, platform) = (World::new(), Platform::new());
    for (rows, message) in [
        ("a: b", "grid.yaml:1:1: must be a list of rows"),
        ("- a", "grid.yaml:1:3: [0]: must be a row"),
        (
            "- [a, 1.10]",
            "grid.yaml:1:7: [0][1]: is a number but must be a string: put the value in quotes",
        ),
        ("- [a, ]\n- [b, null]", "grid.yaml:2:7: [1][1]: must be a string"),
        (
            "- [a, b]\n- [c]",
            "grid.yaml:2:3: [1]: has 1 cell, but the first row has 2",
        ),
    ] {
        world.write("grid.yaml", rows);
        let run = run_args("--grid tables=grid.yaml");
        polling_call(&platform, &world)
            .run(&run)
            .expect(2)
            .saying(&[message]);
    }
    let twice = run_args("--variable a=1 --variable a=2");
    polling_call(&platform, &world)
        .run(&twice)
        .expect(2)
        .saying(&["--variable sets a more than once"]);
    for wrong in ["a", "=1"] {
        polling_call(&platform, &world)
            .run(run_args(&["--variable", wrong]))
            .expect(2);
    }
    assert!(platform.requests().is_empty());
}
