//! `--on-unavailable pass` is for a platform that is down, not for a change that makes it fail.

use crate::support::{
    Arguments, Call, Job, Platform, ProgramOutput, World, change, good_pipeline, orchestration_text,
    passed_results, requested_pipelines, respond_for_each,
};
use serde_json::json;
use std::io::Read as _;
use std::net::TcpListener;
use std::thread;
use std::time::Duration;
use wiremock::{Request, Respond as _, ResponseTemplate};

const BAD: &str = "poison.orch.yaml";
const NOT_APPLIED: &str = "--on-unavailable pass does not apply";
const APPLIED: &str = "passes regardless";

/// Creates a change of eight good pipelines and the poisoned one.
fn world_with_poisoned_file(content: &str) -> World {
    let paths: Vec<String> = (0..8).map(|number| format!("p{number}.orch.yaml")).collect();
    let good = good_pipeline();
    let mut files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), good.as_str())).collect();
    files.push((BAD, content));
    change(&files)
}

/// Returns a platform that sends this response to each review of the poisoned pipeline.
fn platform_failing_bad_file(response: ResponseTemplate) -> Platform {
    let platform = Platform::new();
    platform.reviews(move |request: &Request| {
        if requested_pipelines(request).iter().any(|path| path == BAD) {
            return response.clone();
        }
        respond_for_each("PASSED", passed_results()).respond(request)
    });
    platform
}

fn review_despite_outage(call: &Call, extra_args: impl Arguments) -> ProgramOutput {
    let args = "review --on-unavailable pass --report json=-";
    call.run((args, extra_args))
}

fn assert_output_contains(output: &ProgramOutput, text: &str) {
    assert!(output.all().contains(text), "{text}: {}", output.all());
}

#[test]
fn pipeline_that_breaks_the_platform_does_not_pass_its_batch() {
    for status in [500, 502, 503] {
        let world = world_with_poisoned_file(&good_pipeline());
        let platform = platform_failing_bad_file(ResponseTemplate::new(status));
        let output = review_despite_outage(&platform.call(&world), "").expect(3);
        assert_output_contains(&output, NOT_APPLIED);
        let report = output.json();
        assert_eq!(report["unreviewed"], json!([BAD]), "{status}");
        assert_eq!(report["verdict"], "undecided");
        assert!(platform.requests().len() <= 12, "{}", platform.requests().len());
    }
}

#[test]
fn pages_of_undecided_run_show_applied_setting_next_to_verdict() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let platform = Platform::new();
    platform.is_down();
    for (action, code) in [("pass", 0), ("fail", 3)] {
        let args = [
            "review",
            "--on-unavailable",
            action,
            "--report",
            "html=r.html",
            "--report",
            "markdown=r.md",
        ];
        platform.call(&world).run(&args).expect(code);
        let page = world.read_text("r.html");
        let top = page.split_once("<main>").unwrap().0;
        let comment = world.read_text("r.md");
        let start = comment.split_once("###").unwrap().0;
        assert_eq!(
            (top.contains(APPLIED), start.contains(APPLIED)),
            (code == 0, code == 0),
            "{start}{top}"
        );
        assert!(
            !page.contains("<h2>Fails the gate</h2>") && page.contains("<h2>Not decided</h2>"),
            "{page}"
        );
    }
}

#[test]
fn report_of_undecided_run_in_each_format_shows_applied_setting() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let platform = Platform::new();
    platform.is_down();
    let formats = [
        "junit",
        "json",
        "sarif",
        "gitlab",
        "markdown",
        "html",
        "checkstyle",
        "rdjson",
        "github",
    ];
    let reports = formats.map(|format| format!("--report {format}=r.{format}"));
    for (action, code) in [("pass", 0), ("fail", 3)] {
        let args = format!("review --on-unavailable {action} {}", reports.join(" "));
        platform.call(&world).run(&args).expect(code);
        for format in formats {
            let report = world.read_text(&format!("r.{format}"));
            let is_applied = report.contains("on-unavailable pass");
            assert_eq!(is_applied, code == 0, "{format}: {report}");
            // The other formats have their own elements for a run without a verdict.
            let is_annotation = ["gitlab", "checkstyle", "rdjson", "github"].contains(&format);
            if is_annotation && is_applied {
                assert!(report.contains("The review is undecided."), "{format}: {report}");
            }
        }
    }
}

#[test]
fn report_of_excused_run_does_not_claim_that_later_run_passes() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let platform = Platform::new();
    platform.is_down();
    for name in ["1", "2"] {
        let args = format!("review --on-unavailable pass --shard {name}/2 --report json=part-{name}.json");
        platform.call(&world).run(&args).expect(0);
    }
    let parts = ["part-1.json", "part-2.json"];
    let is_excused = |name: &&&str| world.read_text(name).contains(APPLIED);
    assert_eq!(parts.iter().filter(is_excused).count(), 1);
    let outputs = "--report json=r.json --report github=r.github --report markdown=r.md";
    for files in ["part-1.json part-2.json", "part-1.json", "part-2.json"] {
        let output = platform
            .call(&world)
            .run(format!("report {files} {outputs}"))
            .expect(3);
        let texts = ["r.json", "r.github", "r.md"]
            .map(|name| world.read_text(name))
            .concat();
        assert!(!(output.all() + &texts).contains(APPLIED), "{files}: {texts}");
    }
}

#[test]
fn pipeline_that_breaks_the_platform_is_checked_locally() {
    let world = world_with_poisoned_file(&orchestration_text(&["Start", "bad name", "Done"]));
    let platform = platform_failing_bad_file(ResponseTemplate::new(500));
    for (action, is_noted) in [("pass", true), ("fail", false)] {
        let args = ["review", "--on-unavailable", action, "--report", "json=-"];
        let output = platform.call(&world).run(&args).expect(1);
        assert_eq!(output.all().contains(NOT_APPLIED), is_noted, "{}", output.all());
        assert_output_contains(&output, "locally with the rules file of the commit");
        let report = output.json();
        assert_eq!(report["unreviewed"], json!([BAD]));
        assert_eq!(report["findings"]["errors"], 1);
    }
}

#[test]
fn pipeline_that_is_too_large_for_the_platform_is_checked_locally_and_rejected_one_is_not() {
    let world = change(&[(BAD, &orchestration_text(&["Start", "bad name", "Done"]))]);
    for (status, code, finding_count) in [(413, 1, 1), (400, 3, 0)] {
        let platform = platform_failing_bad_file(ResponseTemplate::new(status));
        let ended = review_despite_outage(&platform.call(&world), "").expect(code);
        assert_eq!(ended.json()["findings"]["errors"], finding_count, "{status}");
    }
}

#[test]
fn only_pipeline_of_a_change_does_not_pass_by_breaking_the_platform() {
    let world = change(&[(BAD, &good_pipeline())]);
    let slow = ResponseTemplate::new(200).set_delay(Duration::from_secs(30));
    let unreadable = ResponseTemplate::new(200).set_body_string("<html>");
    for response in [
        ResponseTemplate::new(500),
        ResponseTemplate::new(413),
        ResponseTemplate::new(429),
        ResponseTemplate::new(400),
        unreadable,
        slow,
    ] {
        let platform = platform_failing_bad_file(response);
        let call = platform.call(&world).variable("SLUICEGATE_TIMEOUT", "1");
        let output = review_despite_outage(&call, "").expect(3);
        assert!(!output.all().contains(APPLIED), "{}", output.all());
    }
}

/// Closes each connection whose request names the poisoned pipeline, and responds with 404 to the others.
fn start_resetting_server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { continue };
            thread::spawn(move || {
                let mut request = Vec::new();
                let mut part = [0; 4096];
                let is_complete = |request: &[u8]| {
                    let text = String::from_utf8_lossy(request);
                    text.starts_with("GET") && text.contains("\r\n\r\n") || text.contains("]}")
                };
                while !is_complete(&request) {
                    match stream.read(&mut part) {
                        Ok(0) | Err(_) => return,
                        Ok(size) => request.extend_from_slice(&part[..size]),
                    }
                }
                if !String::from_utf8_lossy(&request).contains(BAD) {
                    let response =
                        b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                    let _ = std::io::Write::write_all(&mut stream, response);
                }
            });
        }
    });
    url
}

#[test]
fn reset_connection_of_one_pipeline_is_not_an_unavailable_platform() {
    let world = change(&[(BAD, &good_pipeline())]);
    let call =
        Call::with_platform(&world.work(), &start_resetting_server()).variable("SLUICEGATE_RETRIES", "0");
    let output = review_despite_outage(&call, "").expect(3);
    assert_output_contains(&output, NOT_APPLIED);
}

#[test]
fn one_failed_batch_of_four_does_not_pass() {
    let world = world_with_poisoned_file(&good_pipeline());
    let platform = platform_failing_bad_file(ResponseTemplate::new(503));
    let extra_args = "--batch-size 3 --concurrency 1";
    let output = review_despite_outage(&platform.call(&world), extra_args).expect(3);
    assert_output_contains(&output, NOT_APPLIED);
    assert_eq!(output.json()["counts"]["files"], 9);
}

#[test]
fn platform_that_is_down_passes_a_change_without_local_findings() {
    let world = world_with_poisoned_file(&good_pipeline());
    let platform = Platform::new();
    platform.is_down();
    let output = review_despite_outage(&platform.call(&world), "--batch-size 2 --concurrency 1").expect(0);
    assert_output_contains(&output, APPLIED);
    assert!(!output.all().contains(NOT_APPLIED), "{}", output.all());
    let report = output.json();
    assert_eq!(report["verdict"], "undecided");
    assert_eq!(report["unreviewed"].as_array().unwrap().len(), 9);
    // One batch and the two requests of the probe.
    assert_eq!(platform.requests().len(), 3);
    platform.call(&world).run("review").expect(3);
    let nowhere =
        Call::with_platform(&world.work(), "http://127.0.0.1:9").variable("SLUICEGATE_RETRIES", "0");
    assert_output_contains(&review_despite_outage(&nowhere, "").expect(0), APPLIED);
}

#[test]
fn review_without_failed_request_does_not_mention_unavailability() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let output = review_despite_outage(&platform.call(&world), "").expect(0);
    for text in [APPLIED, NOT_APPLIED] {
        assert!(!output.all().contains(text), "{}", output.all());
    }
}

/// Such a pipeline was evaluated neither by the platform nor on this machine.
#[cfg(unix)]
#[test]
fn platform_that_is_down_does_not_pass_a_pipeline_that_cannot_be_reviewed() {
    let world = world_with_poisoned_file(&good_pipeline());
    std::os::unix::fs::symlink("a.orch.yaml", world.work().join("link.orch.yaml")).unwrap();
    world.commit("link");
    world.push();
    let platform = Platform::new();
    platform.is_down();
    let ended = review_despite_outage(&platform.call(&world), "").expect(3);
    let report = ended.json();
    let reason = report["unreviewedReasons"]["link.orch.yaml"].as_str().unwrap();
    assert!(reason.contains("symbolic link"), "{report:#}");
}

#[test]
fn platform_that_is_down_does_not_pass_a_local_finding() {
    let world = world_with_poisoned_file(&orchestration_text(&["Start", "bad name", "Done"]));
    let nowhere =
        Call::with_platform(&world.work(), "http://127.0.0.1:9").variable("SLUICEGATE_RETRIES", "0");
    let output = review_despite_outage(&nowhere, "").expect(1);
    assert!(!output.all().contains(APPLIED), "{}", output.all());
    nowhere.run("review").expect(1);
    review_despite_outage(&nowhere, "--fail-on never").expect(0);
}

#[test]
fn platform_that_is_down_passes_known_findings_only() {
    let world = crate::support::project();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("old");
    world.push();
    world.git("checkout -q -b change");
    let edit = |names: &[&str]| {
        world.write(
            "old.orch.yaml",
            format!("# edited\n{}", orchestration_text(names)),
        );
        world.commit("edit");
        world.push();
    };
    let nowhere =
        Call::with_platform(&world.work(), "http://127.0.0.1:9").variable("SLUICEGATE_RETRIES", "0");
    edit(&["Start", "bad name", "Done"]);
    let output = review_despite_outage(&nowhere, "--new-only").expect(0);
    let findings = &output.json()["findings"];
    assert_eq!((&findings["known"], &findings["fixed"]), (&json!(1), &json!(0)));
    edit(&["Start", "bad name", "worse name", "Done"]);
    review_despite_outage(&nowhere, "--new-only").expect(1);
}

/// Each of these batches can be split until it has only one file, but the number of additional requests is limited.
#[test]
fn batches_without_response_are_split_a_limited_number_of_times() {
    let paths: Vec<String> = (0..160)
        .map(|number| format!("p{number:03}{}.orch.yaml", ["", "-poison"][number % 2]))
        .collect();
    let good = good_pipeline();
    let files: Vec<(&str, &str)> = paths.iter().map(|path| (path.as_str(), good.as_str())).collect();
    let world = change(&files);
    let platform = Platform::new();
    platform.reviews(|request: &Request| {
        if requested_pipelines(request)
            .iter()
            .any(|path| path.contains("poison"))
        {
            return ResponseTemplate::new(503);
        }
        respond_for_each("PASSED", passed_results()).respond(request)
    });
    let call = platform.call(&world);
    let extra_args = "--batch-size 500 --concurrency 1";
    let output = review_despite_outage(&call, extra_args).expect(3);
    let request_count = platform.requests().len();
    // At most the first batch, two halves of each of the 64 splits, and the requests of the probe.
    assert!(
        (100..=132).contains(&request_count),
        "{request_count}: {}",
        output.err
    );
    let unreviewed = output.json()["unreviewed"].to_string();
    assert!(unreviewed.contains("p158.orch.yaml"), "{unreviewed}");
    assert!(!unreviewed.contains("p000.orch.yaml"), "{unreviewed}");
}

/// The start of the statement about a file that only the local check reviewed.
const LOCALLY_CHECKED: &str = "The file was checked locally, but not reviewed by the platform";

#[test]
fn reports_state_that_unreviewed_files_were_checked_locally() {
    let second = "second.orch.yaml";
    let world = change(&[(BAD, &good_pipeline()), (second, &good_pipeline())]);
    let reports = ["r.sarif", "r.gitlab", "r.xml"];
    let run = |platform: &Platform, code: i32| {
        let args = "review --report sarif=r.sarif --report gitlab=r.gitlab --report junit=r.xml";
        let job = Job::github().pull_request();
        job.extend(&world, platform.call(&world)).run(args).expect(code)
    };
    let platform = Platform::new();
    platform.is_down();
    run(&platform, 3);
    for report in reports {
        let text = world.read_text(report);
        assert!(
            text.contains(LOCALLY_CHECKED) && !text.contains("The file was not reviewed"),
            "{report}: {text}"
        );
    }
    // If the platform refuses the run, nothing checks the files.
    let refusing_platform = Platform::new();
    refusing_platform.reviews(ResponseTemplate::new(403));
    run(&refusing_platform, 4);
    for report in reports {
        let text = world.read_text(report);
        assert!(
            text.contains("The file was not reviewed") && !text.contains(LOCALLY_CHECKED),
            "{report}: {text}"
        );
    }
}

/// Runs a review with several outputs. Returns its log, and the texts of the outputs in the order Markdown, JUnit, step
/// outputs.
fn review_with_outputs(world: &World, call: Call, code: i32) -> (String, [String; 3]) {
    let outputs = world.work().join("outputs");
    let log = call
        .variable("GITHUB_OUTPUT", outputs.display().to_string())
        .run("review --report markdown=r.md --report junit=r.xml")
        .expect(code)
        .all();
    let texts = ["r.md", "r.xml", "outputs"].map(|name| world.read_text(name));
    std::fs::remove_file(outputs).unwrap();
    (log, texts)
}

#[test]
fn pipeline_without_response_is_unreviewed_in_headline_and_outputs() {
    let world = change(&[(BAD, &good_pipeline())]);
    let platform = Platform::new();
    platform.is_down();
    let (log, [page, junit, outputs]) = review_with_outputs(&world, platform.call(&world), 3);
    let headline = "Review undecided: the platform did not review 1 file; the local check found no error\n";
    for text in [&log, &page] {
        assert!(text.contains(headline), "{text}");
    }
    assert!(page.contains("passed in 1 pipeline (checked locally)"), "{page}");
    // Each format has the hint of the failed request.
    for text in [&log, &page, &junit] {
        assert!(
            text.contains("try again later: the platform has a problem"),
            "{text}"
        );
    }
    let reviewed_count = |outputs: &str| {
        let mut lines = outputs.lines().skip_while(|line| !line.starts_with("reviewed"));
        lines.nth(1).map(str::to_owned)
    };
    assert_eq!(reviewed_count(&outputs).as_deref(), Some("0"), "{outputs}");
    let names = "name=\"poison: component-naming-convention\"";
    let suite = "<testsuite id=\"1\" name=\"poison.orch.yaml\"";
    assert!(junit.contains(names) && junit.contains(suite), "{junit}");
    assert!(
        junit.contains("name=\"poison: unreviewed\"") && !junit.contains("yaml (2)"),
        "{junit}"
    );
    assert!(junit.contains(LOCALLY_CHECKED), "{junit}");

    // A reviewed pipeline has the same suite and cases.
    let reviewing_platform = Platform::new();
    reviewing_platform.reviews(respond_for_each("PASSED", passed_results()));
    let (log, [page, junit, outputs]) = review_with_outputs(&world, reviewing_platform.call(&world), 0);
    assert!(
        log.contains("Review passed: ") && !page.contains("To do"),
        "{log}{page}"
    );
    assert_eq!(reviewed_count(&outputs).as_deref(), Some("1"), "{outputs}");
    assert!(
        junit.contains("name=\"poison: ") && junit.contains("name=\"poison.orch.yaml\""),
        "{junit}"
    );
}

/// The local check cannot read a link.
#[cfg(unix)]
#[test]
fn headline_of_partial_local_check_has_the_number_of_checked_files() {
    let world = change(&[(BAD, &good_pipeline())]);
    std::os::unix::fs::symlink(BAD, world.work().join("link.orch.yaml")).unwrap();
    world.commit("link");
    world.push();
    let platform = Platform::new();
    platform.is_down();
    let headline =
        "Review undecided: the platform did not review 2 files; the local check of 1 of them found no error";
    platform
        .call(&world)
        .run("review")
        .expect(3)
        .assert_logged(&[headline]);
}

#[test]
fn local_finding_without_response_has_its_origin_and_one_retry_line() {
    let world = change(&[(BAD, &orchestration_text(&["Start", "bad name", "Done"]))]);
    let call = Call::with_platform(&world.work(), "http://127.0.0.1:9").variable("SLUICEGATE_RETRIES", "1");
    let (log, [page, ..]) = review_with_outputs(&world, call, 1);
    let headline = "Review failed: 1 error (local check; 1 file not reviewed by the platform)";
    for text in [&log, &page] {
        assert!(text.contains(headline), "{text}");
    }
    assert!(page.contains("To do: check the base URL"), "{page}");
    assert_eq!(log.matches("retrying in").count(), 1, "{log}");
    assert!(
        log.contains("cannot connect to http://127.0.0.1:9: connection refused; retrying in"),
        "{log}"
    );
}

#[test]
fn file_that_only_the_local_check_reviewed_was_not_reviewed_by_the_platform() {
    let world = change(&[("new.orch.yaml", &good_pipeline())]);
    let platform = Platform::new();
    platform.reviews(ResponseTemplate::new(503));
    let output = platform.call(&world).run("review --retries 0").expect(3);
    assert_output_contains(
        &output,
        "new.orch.yaml: The file was not reviewed by the platform",
    );
    assert_output_contains(&output, "checked 1 pipeline locally");
}
