//! A failing platform: exit codes and messages.

use crate::support::{
    Call, PROJECT, Platform, TOKEN, answer, change, in_turn, orchestration_text, passed_results,
    requested_pipelines, respond_for_each, send_signal,
};
use serde_json::json;
use std::net::TcpListener;
use wiremock::{Request, Respond as _, ResponseTemplate};

const FILE: &str = "b.orch.yaml";

fn change_of_one_file() -> crate::support::World {
    change(&[(FILE, &orchestration_text(&["Start", "Done"]))])
}

#[test]
fn each_status_has_its_exit_code() {
    let cases = [
        (400, 3),
        (401, 4),
        (403, 4),
        (404, 3),
        (409, 3),
        (418, 3),
        (422, 3),
        (500, 3),
        (503, 3),
    ];
    for (status, code) in cases {
        let platform = Platform::new();
        let body =
            json!({ "title": "No", "detail": "because \u{1b}[31mof\n::error::this", "status": status });
        platform.reviews(
            ResponseTemplate::new(status)
                .set_body_json(body)
                .insert_header("x-request-id", "req-7"),
        );
        let output = platform.call(&change_of_one_file()).run("review").expect(code);
        let output = output.saying(&["POST", "/reviews", &status.to_string(), "req-7", "because"]);
        assert!(
            !output.all().contains('\u{1b}'),
            "a terminal escape came through: {}",
            output.all()
        );
        assert!(
            !output
                .all()
                .lines()
                .any(|line| line.trim_start().starts_with("::")),
            "{}",
            output.all()
        );
    }
}

/// Creates a review in which the response for `b0.orch.yaml` has no result and the token is rejected for the others.
fn refused_after_the_first() -> (crate::support::World, Platform) {
    let content = orchestration_text(&["Start", "Done"]);
    let names = ["b0.orch.yaml", "b1.orch.yaml", "b2.orch.yaml"];
    let world = change(&names.map(|name| (name, content.as_str())));
    let platform = Platform::new();
    platform.reviews(
        |request: &Request| match requested_pipelines(request)[0].as_str() {
            "b0.orch.yaml" => answer(&json!({ "reviewStatus": "PASSED", "results": {} })),
            _ => ResponseTemplate::new(401),
        },
    );
    (world, platform)
}

#[test]
fn failure_with_one_cause_has_one_annotation() {
    let (world, platform) = refused_after_the_first();
    let annotated = |style: &str, paths: &[&str]| -> String {
        let args = format!("review --batch-size 1 --annotations {style}");
        let output = platform.call(&world).run((&args, paths)).expect(4);
        let lines = output.err.lines().chain(output.out.lines());
        let lines = lines.filter(|line| line.starts_with(['#', ':']));
        let lines: Vec<String> = lines
            .map(|line| {
                line.replace(&platform.server.uri(), "https://p")
                    .replace(PROJECT, "ID")
            })
            .collect();
        lines.join("\n")
    };
    let together = ["b1.orch.yaml", "b2.orch.yaml"];
    insta::assert_snapshot!(annotated("github", &together), @"
    ::error title=review::POST https://p/v1/projects/ID/reviews: 401 Unauthorized: the response contains no text%0Ahint: check the token: it may have expired, or belong to another account or region than the base URL
    ::notice title=review::2 files were not reviewed (b1.orch.yaml, b2.orch.yaml)
    ");
    insta::assert_snapshot!(annotated("azure", &together), @"
    ##vso[task.logissue type=error;code=review;]POST https://p/v1/projects/ID/reviews: 401 Unauthorized: the response contains no text%0Ahint: check the token: it may have expired, or belong to another account or region than the base URL
    ##vso[task.logissue type=warning;code=review;]2 files were not reviewed (b1.orch.yaml, b2.orch.yaml)
    ");
    // A different reason is reported at its own file.
    insta::assert_snapshot!(annotated("github", &[]), @"
    ::error title=review::POST https://p/v1/projects/ID/reviews: 401 Unauthorized: the response contains no text%0Ahint: check the token: it may have expired, or belong to another account or region than the base URL
    ::error file=b0.orch.yaml,line=1,title=unreviewed::The file was not reviewed: the platform's response has no result for this file
    ::notice title=review::2 files were not reviewed (b1.orch.yaml, b2.orch.yaml)
    ");
}

/// Reviews two files: one fails, and the request for the other has this response. Returns the Markdown report, the HTML
/// report and the JUnit report.
fn reports_of_failed_review(response: &ResponseTemplate, code: i32) -> [String; 3] {
    let content = orchestration_text(&["Start", "Done"]);
    let world = change(&[(FILE, content.as_str()), ("c.orch.yaml", content.as_str())]);
    let platform = Platform::new();
    let response = response.clone();
    platform.reviews(
        move |request: &Request| match requested_pipelines(request)[0].as_str() {
            FILE => {
                let failed = json!([{ "ruleName": "r", "status": "FAILED", "violations": ["no"] }]);
                answer(&json!({ "reviewStatus": "FAILED", "results": { FILE: failed } }))
            }
            _ => response.clone(),
        },
    );
    let names = ["o.md", "o.html", "o.xml"];
    let args = "review --batch-size 1 --report markdown=o.md --report html=o.html --report junit=o.xml";
    platform.call(&world).run(args).expect(code);
    names.map(|name| world.read_text(name))
}

#[test]
fn failed_review_with_rejected_token_shows_next_step_once() {
    let step = "To do: check the token: it may have expired";
    // A case of JUnit has its text in an attribute and in its content.
    let reports = reports_of_failed_review(&ResponseTemplate::new(401), 4);
    for (report, count) in reports.iter().zip([1, 1, 2]) {
        assert_eq!(report.matches(step).count(), count, "{report}");
    }
    let passed = json!({ "reviewStatus": "PASSED", "results": { "c.orch.yaml": [{ "ruleName": "r", "status": "PASSED" }] } });
    for report in reports_of_failed_review(&answer(&passed), 1) {
        assert!(!report.contains("To do:"), "{report}");
    }
}

/// Bitbucket's annotations all belong to a file, so the report contains the common cause.
#[test]
fn failure_with_one_cause_is_reported_once_on_bitbucket() {
    let (world, platform) = refused_after_the_first();
    let proxy = Platform::new();
    for method in ["DELETE", "PUT", "POST"] {
        proxy.respond_to(method, "", ResponseTemplate::new(200).set_body_json(json!({})));
    }
    let call = platform
        .call(&world)
        .variable("BITBUCKET_BUILD_NUMBER", "9")
        .variable("BITBUCKET_COMMIT", world.git("rev-parse HEAD"))
        .variable("BITBUCKET_BRANCH", "change")
        .variable("BITBUCKET_REPO_FULL_NAME", "w/r")
        .variable("SLUICEGATE_BITBUCKET_PROXY", proxy.server.uri());
    call.run("review --batch-size 1").expect(4);
    let requests = proxy.requests();
    let report: serde_json::Value = serde_json::from_slice(&requests[1].body).unwrap();
    let details = report["details"].as_str().unwrap();
    assert_eq!(details.matches("401 Unauthorized").count(), 1, "{details}");
    assert!(
        details.contains("2 files were not reviewed (b1.orch.yaml, b2.orch.yaml): POST "),
        "{details}"
    );
    let annotations: serde_json::Value = serde_json::from_slice(&requests[2].body).unwrap();
    let paths: Vec<_> = annotations
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry["path"])
        .collect();
    assert_eq!(paths, ["b0.orch.yaml", "b1.orch.yaml", "b2.orch.yaml"]);
}

#[test]
fn platform_that_is_not_there_is_undecided() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let world = change_of_one_file();
    let call =
        Call::with_platform(&world.work(), &format!("http://{free}")).variable("SLUICEGATE_RETRIES", "0");
    let output = call.run("review --report junit=-").expect(3);
    assert!(output.out.contains("<error"), "{}", output.all());
    call.run("review --on-unavailable pass").expect(0);
}

#[test]
fn passing_fault_is_tried_again() {
    let platform = Platform::new();
    let passed = json!({ "reviewStatus": "PASSED", "results": { FILE: passed_results() } });
    platform.reviews(in_turn(vec![
        ResponseTemplate::new(503).insert_header("retry-after", "0"),
        ResponseTemplate::new(429).insert_header("retry-after", "0"),
        answer(&passed),
    ]));
    let world = change_of_one_file();
    platform
        .call(&world)
        .variable("SLUICEGATE_RETRIES", "2")
        .run("review")
        .expect(0);
    assert_eq!(platform.requests().len(), 3);
}

#[test]
fn batch_that_is_too_large_is_split() {
    let files: Vec<(String, String)> = (0..9)
        .map(|n| (format!("p{n}.orch.yaml"), orchestration_text(&["Start", "Done"])))
        .collect();
    let world = change(
        &files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect::<Vec<_>>(),
    );
    let platform = Platform::new();
    platform.reviews(|request: &Request| match requested_pipelines(request).len() {
        0..3 => respond_for_each("PASSED", passed_results()).respond(request),
        _ => ResponseTemplate::new(413),
    });
    let output = platform.call(&world).run("review --report json=-").expect(0);
    assert_eq!(output.json()["counts"]["files"], 9);
}

#[test]
fn one_file_that_is_too_large_is_unreviewed() {
    let platform = Platform::new();
    platform.reviews(ResponseTemplate::new(413));
    let output = platform
        .call(&change_of_one_file())
        .run("review --report json=-")
        .expect(3);
    assert_eq!(output.json()["unreviewed"], json!([FILE]));
}

#[test]
fn each_file_is_in_one_batch() {
    let files: Vec<(String, String)> = (0..23)
        .map(|n| {
            (
                format!("p{n:02}.orch.yaml"),
                orchestration_text(&["Start", "Done"]),
            )
        })
        .collect();
    let world = change(
        &files
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect::<Vec<_>>(),
    );
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    platform
        .call(&world)
        .run("review --batch-size 5 --concurrency 3")
        .expect(0);
    let mut paths: Vec<String> = platform.requests().iter().flat_map(requested_pipelines).collect();
    paths.sort();
    assert_eq!(paths, files.into_iter().map(|(path, _)| path).collect::<Vec<_>>());
    assert_eq!(platform.requests().len(), 5);
}

#[test]
fn review_asks_for_right_thing() {
    let world = change_of_one_file();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    platform.call(&world).run("review").expect(0);
    let request = &platform.requests()[0];
    let header = |name: &str| request.headers.get(name).unwrap().to_str().unwrap().to_owned();
    assert_eq!(request.url.path(), format!("/v1/projects/{PROJECT}/reviews"));
    assert_eq!(header("agent-version"), "9.0.0");
    assert_eq!(header("authorization"), format!("Bearer {TOKEN}"));
    let body: serde_json::Value = serde_json::from_slice(&request.body).unwrap();
    let head = world.git("rev-parse HEAD");
    assert_eq!(
        body,
        json!({ "branchName": "change", "commitId": head, "pipelines": [FILE] })
    );
}

#[test]
fn redirect_to_another_origin_gets_no_token() {
    let (platform, other) = (Platform::new(), Platform::new());
    let target = format!("{}/v1/elsewhere", other.server.uri());
    platform.reviews(ResponseTemplate::new(307).insert_header("location", target.as_str()));
    platform.call(&change_of_one_file()).run("review").expect(3);
    assert!(other.requests().is_empty());
}

#[test]
fn echoed_token_is_not_shown() {
    let world = change_of_one_file();
    let hex: Vec<String> = TOKEN.bytes().map(|byte| format!("{byte:02X}")).collect();
    let percent: Vec<String> = TOKEN.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let (start, end) = TOKEN.split_at(10);
    for spelling in [
        TOKEN,
        &hex.concat(),
        &percent.concat(),
        &format!("{start}\n{end}"),
        // The base64 of the token, and of `x:` and the token.
        "czNjcmV0LXRva2VuLTBmLXRoZS10ZXN0",
        "eDpzM2NyZXQtdG9rZW4tMGYtdGhlLXRlc3Q=",
    ] {
        let platform = Platform::new();
        let text = format!("bad header: {spelling}");
        platform.reviews(ResponseTemplate::new(400).set_body_string(text));
        let output = platform
            .call(&world)
            .run("-vv review --report json=-")
            .expect(3)
            .saying(&["bad header", "***"]);
        assert!(!output.all().contains(spelling), "{}", output.all());
        assert!(!output.all().contains(end), "{}", output.all());
    }
    // Another text is shown as it is.
    let platform = Platform::new();
    platform.reviews(ResponseTemplate::new(400).set_body_string("bad header: czNjcmV0LXRva2Vu"));
    platform
        .call(&world)
        .run("review")
        .expect(3)
        .saying(&["bad header: czNjcmV0LXRva2Vu"]);
}

#[test]
fn token_in_answer_that_is_used_is_shown_nowhere() {
    let (world, platform) = (change_of_one_file(), Platform::new());
    let expected_text = format!("debug: request had Bearer {TOKEN}");
    let rule =
        json!([{ "ruleName": format!("rule {TOKEN}"), "status": "FAILED", "violations": [expected_text] }]);
    let results = json!({ FILE: rule, format!("{TOKEN}.orch.yaml"): rule });
    let body =
        json!({ "reviewStatus": "FAILED", "results": results, "excludedFiles": [format!("{TOKEN}.yaml")] });
    platform.reviews(answer(&body));
    let summary = world.path().join("summary.md");
    let reports = [
        "json",
        "junit",
        "junit-strict",
        "sarif",
        "gitlab",
        "markdown",
        "html",
    ];
    let asked: Vec<String> = reports
        .iter()
        .map(|name| format!("--report={name}={name}.out"))
        .collect();
    let args: Vec<&str> = ["-vv", "review"]
        .into_iter()
        .chain(asked.iter().map(String::as_str))
        .collect();
    let call = platform
        .call(&world)
        .variable("GITHUB_STEP_SUMMARY", summary.to_string_lossy());
    let output = call.run(&args);
    assert!(output.all().contains("Bearer ***"), "{}", output.all());
    let reports = reports.map(|name| world.work().join(format!("{name}.out")));
    for file in reports.iter().chain([&summary]) {
        let text = std::fs::read_to_string(file).unwrap();
        assert!(!text.contains(TOKEN), "{}: {text}", file.display());
    }
}

#[test]
fn short_token_may_stand_in_names_that_answer_has() {
    let (world, platform) = (change_of_one_file(), Platform::new());
    let rule = json!([{ "ruleName": "rule", "status": "PASSED" }]);
    platform.reviews(answer(
        &json!({ "reviewStatus": "PASSED", "results": { FILE: rule } }),
    ));
    let call = platform.call(&world).variable("SLUICEGATE_TOKEN", "orch");
    call.run("review").expect(0);
}

#[cfg(unix)]
#[test]
fn signal_ends_waiting_review_with_its_code() {
    use std::io::Read as _;
    use std::process::Stdio;
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let world = change_of_one_file();
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(200).set_delay(std::time::Duration::from_secs(60)));
        let mut command = platform.call(&world).command("review");
        let mut child = command
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        platform.wait_for_requests(&mut child, |requests| !requests.is_empty());
        send_signal(signal, &child.id().to_string());
        assert_eq!(child.wait().unwrap().code(), Some(code), "{signal}");
        let mut text = String::new();
        child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
        assert!(
            text.contains(if code == 130 { "interrupted" } else { "terminated" }),
            "{text}"
        );
    }
}

/// A refusal applies to every batch, and after three failures in a row, the next batch would fail, too. Files that were
/// not sent are checked locally, unless the platform refused the run.
#[test]
fn batches_after_refusal_or_three_failures_are_not_sent() {
    let content = orchestration_text(&["Start", "Done"]);
    let paths: Vec<String> = (0..6).map(|number| format!("p{number}.orch.yaml")).collect();
    let files: Vec<(&str, &str)> = paths
        .iter()
        .map(|path| (path.as_str(), content.as_str()))
        .collect();
    let world = change(&files);
    for (status, code, request_count) in [(401, 4, 1), (403, 4, 1), (400, 3, 3), (422, 3, 3)] {
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(status));
        let output = platform
            .call(&world)
            .run("review --batch-size 1 --concurrency 1 --report json=-")
            .expect(code);
        assert_eq!(platform.requests().len(), request_count, "{status}");
        assert_eq!(
            output.all().contains("locally with the rules file of the commit"),
            code == 3,
            "{status}: {}",
            output.all()
        );
        // The refusal is also the reason for the files that were not sent.
        if code == 4 {
            let errors = output.err.lines().filter(|line| line.starts_with("error: "));
            assert_eq!(errors.count(), 1, "{status}: {}", output.all());
        }
    }
}
