//! The files that are reviewed, and the destinations of the result.

use crate::support::{
    Arguments, Call, PROJECT, Platform, ProgramOutput, RULES, ServerProcess, TOKEN, World, change,
    good_pipeline, orchestration_text, passed_results, project, requested_pipelines, respond_for_each,
};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use wiremock::ResponseTemplate;

/// Returns the files that a review of this world requests.
fn reviewed_paths(world: &World, args: impl Arguments) -> Vec<String> {
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    platform.call(world).run(("review", args)).expect(0);
    let mut paths: Vec<String> = platform.requests().iter().flat_map(requested_pipelines).collect();
    paths.sort();
    paths
}

#[test]
fn changed_pipelines_are_sent_and_nothing_else() {
    let world = project();
    world.write("gone.orch.yaml", good_pipeline());
    world.write(
        "sales/old name.orch.yaml",
        good_pipeline() + "# a longer file, so that the new name is seen as a rename\n",
    );
    world.commit("more");
    world.push();
    world.git("checkout -q -b change");
    world.git("rm -q gone.orch.yaml");
    world.git("mv 'sales/old name.orch.yaml' 'sales/new name.orch.yaml'");
    world.write("new.tran.yaml", "type: transformation\npipeline: {}\n");
    world.write(".hidden/h.orch.yaml", good_pipeline());
    world.write("notes.yaml", "x: 1\n");
    world.commit("change");
    world.push();
    // The file is not committed, so it is not reviewed.
    world.write("dirty.orch.yaml", good_pipeline());
    assert_eq!(
        reviewed_paths(&world, ""),
        [".hidden/h.orch.yaml", "new.tran.yaml", "sales/new name.orch.yaml"]
    );
    assert_eq!(reviewed_paths(&world, "sales"), ["sales/new name.orch.yaml"]);
    assert_eq!(
        reviewed_paths(&world, "--exclude sales/** --exclude .hidden/**"),
        ["new.tran.yaml"]
    );
    assert_eq!(
        reviewed_paths(&world, "--include **/*.tran.yaml"),
        ["new.tran.yaml"]
    );
    assert_eq!(reviewed_paths(&world, "--all").len(), 4);
}

#[test]
fn change_of_rules_selects_all_and_is_named() {
    let rules = format!("{RULES}# stricter soon\n");
    let world = change(&[(".platform/config/pipeline_quality_rules.yaml", &rules)]);
    assert_eq!(reviewed_paths(&world, ""), ["a.orch.yaml"]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let output = platform.call(&world).run("review --report json=-").expect(0);
    assert_eq!(
        output.json()["gateChanges"],
        json!([".platform/config/pipeline_quality_rules.yaml"])
    );
}

#[test]
fn change_of_configuration_is_named() {
    let world = change(&[
        ("sluicegate.yaml", "retries: 1\n"),
        ("b.orch.yaml", &good_pipeline()),
    ]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let output = platform
        .call(&world)
        .run("review --report json=report.json")
        .expect(0);
    let report: Value = serde_json::from_slice(&fs::read(world.work().join("report.json")).unwrap()).unwrap();
    assert_eq!(report["gateChanges"], json!(["sluicegate.yaml"]));
    assert!(output.out.contains("sluicegate.yaml"), "{}", output.all());
}

#[test]
fn run_without_pipelines_passes_and_writes_reports() {
    let world = change(&[("README.md", "words\n")]);
    // No address, project, token or agent version: no request is sent to the platform.
    let call = Call::new(&world.work()).variable(
        "GITHUB_STEP_SUMMARY",
        world.path().join("summary.md").display().to_string(),
    );
    let reports = "--report junit=out/j.xml --report json=out/j.json";
    call.run(("ci", reports)).expect(0);
    let output = call.run(("review", reports)).expect(0);
    assert!(output.out.contains("nothing to review"), "{}", output.all());
    let report: Value = serde_json::from_slice(&fs::read(world.work().join("out/j.json")).unwrap()).unwrap();
    assert_eq!(
        (report["verdict"].as_str(), report["counts"]["files"].as_u64()),
        (Some("passed"), Some(0))
    );
    let notes = report["notes"].to_string();
    assert!(notes.contains("nothing to review: "), "{notes}");
    assert!(
        fs::read_to_string(world.work().join("out/j.xml"))
            .unwrap()
            .contains("<testsuites")
    );
    assert!(
        fs::read_to_string(world.path().join("summary.md"))
            .unwrap()
            .contains("othing to review")
    );
}

#[test]
fn unpushed_commit_is_not_reviewed() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", good_pipeline());
    world.commit("not pushed");
    let call = Call::with_platform(&world.work(), "http://127.0.0.1:9");
    call.run("review").expect(7).saying(&["push", "sluicegate check"]);
    let output = call.run("review --dry-run").expect(0);
    assert!(
        output.out.starts_with("would review 1 pipeline"),
        "{}",
        output.all()
    );
    output.saying(&["the review would fail", "push"]);
}

#[test]
fn name_that_is_not_utf8_is_never_passed_and_hint_helps() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = project();
    let name = OsStr::from_bytes(b"\xff\xfe.orch.yaml");
    fs::write(world.work().join(name), good_pipeline()).unwrap();
    world.commit("odd name");
    world.push();
    for args in [
        &["check", "--all"][..],
        &["review", "--all"],
        &["waivers", "list"],
    ] {
        for more in [&[][..], &["--exclude", "*"]] {
            if more.is_empty() || args[0] != "waivers" {
                let output = Call::with_platform(&world.work(), "http://127.0.0.1:9").run((args, more));
                output.expect(7).saying(&[
                    "is not UTF-8",
                    "hint: rename the file with `git mv`",
                    "--exclude cannot skip it",
                ]);
            }
        }
    }
}

#[test]
fn dry_run_sends_nothing() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let output = Call::new(&world.work()).run("review --dry-run").expect(0);
    assert!(
        output.out.contains("b.orch.yaml") && output.out.contains("change"),
        "{}",
        output.all()
    );
}

#[test]
fn github_gets_annotations_summary_and_outputs() {
    let world = change(&[(
        "b,c:.orch.yaml",
        &orchestration_text(&["Start", "load\nit", "Done"]),
    )]);
    let platform = Platform::new();
    let text = "load\nit is wrong\n::set-output name=verdict::passed";
    platform.reviews(respond_for_each(
        "FAILED",
        json!([{ "ruleName": "component-naming-convention", "status": "FAILED", "violations": [text] }]),
    ));
    let (summary, outputs) = (world.path().join("summary.md"), world.path().join("outputs.txt"));
    let call = platform
        .call(&world)
        .variable("SLUICEGATE_CI", "none")
        .variable("GITHUB_STEP_SUMMARY", summary.display().to_string())
        .variable("GITHUB_OUTPUT", outputs.display().to_string());
    let output = call
        .run("review --annotations github --report junit=j.xml")
        .expect(1);
    let commands: Vec<&str> = output
        .out
        .lines()
        .filter(|line| line.trim_start().starts_with("::"))
        .collect();
    assert!(
        commands[0].starts_with("::error file=b%2Cc%3A.orch.yaml,line="),
        "{commands:?}"
    );
    assert!(
        commands.iter().all(|line| !line.starts_with("::set-output")),
        "{commands:?}"
    );
    assert!(fs::read_to_string(&summary).unwrap().contains("failed"));
    let outputs = fs::read_to_string(&outputs).unwrap();
    for name in [
        "verdict",
        "reviewed",
        "errors",
        "warnings",
        "not-evaluated",
        "new",
        "known",
        "waived",
        "junit",
    ] {
        assert!(
            outputs.lines().any(|line| line.starts_with(&format!("{name}<<"))),
            "{name}: {outputs}"
        );
    }
}

#[test]
fn unwritable_report_does_not_affect_others() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.write("a-file", "in the way\n");
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let args = "review --report json=a-file/x.json --report junit=good.xml";
    platform.call(&world).run(args).expect(2).saying(&["a-file"]);
    assert!(world.work().join("good.xml").is_file());
}

#[test]
fn report_on_standard_output_is_alone_there() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "FAILED",
        json!([{ "ruleName": "r", "status": "FAILED", "violations": ["##[error]no"] }]),
    ));
    let output = platform
        .call(&world)
        .run("review --annotations github --report json=-")
        .expect(1);
    assert_eq!(
        output.json()["files"][0]["results"][0]["findings"][0]["message"],
        "##[error]no"
    );
    assert!(!output.all().contains("##["), "{}", output.all());
}

#[test]
fn progress_of_many_batches_is_brief_in_ci_and_not_on_stdout() {
    let content = orchestration_text(&["Start", "Done"]);
    let names: Vec<String> = (0..90).map(|index| format!("p{index:02}.orch.yaml")).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), content.as_str()))
        .collect();
    let world = change(&files);
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "PASSED",
        json!([{ "ruleName": "r", "status": "PASSED" }]),
    ));
    let args = [
        "review",
        "--batch-size",
        "1",
        "--concurrency",
        "1",
        "--report",
        "json=-",
    ];
    let lines = |output: &ProgramOutput| output.err.matches("reviewing: ").count();
    let output = platform.call(&world).variable("CI", "true").run(&args).expect(0);
    assert_eq!(output.json()["verdict"], "passed");
    assert!((10..=20).contains(&lines(&output)), "{}", output.err);
    assert!(
        output.err.contains("reviewing: 45 of 90 files\n"),
        "{}",
        output.err
    );
    let quiet: Vec<&str> = args.iter().copied().chain(["-q"]).collect();
    let output = platform.call(&world).variable("CI", "true").run(&quiet).expect(0);
    assert_eq!(lines(&output), 0);
    // With a single request, no progress is printed.
    let output = platform
        .call(&world)
        .variable("CI", "true")
        .run("review")
        .expect(0);
    assert_eq!(lines(&output), 0);
}

#[test]
fn review_reports_why_all_pipelines_are_selected() {
    let world = project();
    world.git("checkout -q -b new");
    world.git("push -q origin new");
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let expected_text = "all pipelines are selected: head is already in the default branch `origin/main`";
    platform
        .call(&world)
        .run("review")
        .expect(0)
        .saying(&[expected_text]);
    let asked_for = platform.call(&world).run("review --all").expect(0);
    assert!(
        !asked_for.all().contains("all pipelines are selected"),
        "{}",
        asked_for.all()
    );
}

/// Starts a platform that follows the other public description of the review endpoint.
fn with_file_paths(world: &World) -> ServerProcess {
    let project = format!("{PROJECT}={}", world.remote().display());
    let token = format!("--token={TOKEN}=admin");
    let fields = "--review-request file-paths";
    ServerProcess::start(world.path(), (&["--project", &project, &token], fields))
}

#[test]
fn fields_of_request_are_setting() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let server = with_file_paths(&world);
    let call = |variables: &[(&str, &str)], args: &str| {
        let call = Call::with_platform(&world.work(), &server.url).variable("SLUICEGATE_RETRIES", "0");
        let set = |call: Call, (name, value): &(&str, &str)| call.variable(name, value);
        variables.iter().fold(call, set).run(args)
    };
    let hint = "hint: this platform expects other fields in a review request: set --review-request file-paths and --data-warehouse TYPE";
    call(&[], "review").expect(3).saying(&["400", "filePaths", hint]);
    let doctor = call(&[], "doctor").expect(3).all();
    assert!(
        doctor.contains("review-request") && doctor.contains("--data-warehouse TYPE"),
        "{doctor}"
    );

    let fields = ("SLUICEGATE_REVIEW_REQUEST", "file-paths");
    let warehouse = ("SLUICEGATE_DATA_WAREHOUSE", "snowflake");
    call(&[fields], "review")
        .expect(2)
        .saying(&["needs the data warehouse type", "--data-warehouse"]);
    call(&[warehouse], "review")
        .expect(2)
        .saying(&["--review-request file-paths"]);
    call(&[fields, ("SLUICEGATE_DATA_WAREHOUSE", "a b")], "review")
        .expect(2)
        .saying(&["the value of SLUICEGATE_DATA_WAREHOUSE is not a name"]);
    let report = call(&[fields, warehouse], "review --report json=-")
        .expect(0)
        .json();
    assert_eq!(report["files"][0]["path"], "b.orch.yaml");
    let doctor = call(&[fields, warehouse], "doctor").all();
    assert!(
        doctor.contains("the platform accepts reviews with `filePaths` for SNOWFLAKE"),
        "{doctor}"
    );
    let flags = "review --review-request file-paths --data-warehouse DATABRICKS";
    call(&[], flags).expect(0);
    world.write(
        "sluicegate.yaml",
        "review: { request: file-paths, data-warehouse: REDSHIFT }\n",
    );
    world.commit("settings");
    world.push();
    call(&[("SLUICEGATE_POLICY", "head")], "review --all").expect(0);
}

#[test]
fn request_with_other_fields_than_platforms_names_setting() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let said = |body: Value, args: &str| {
        let platform = Platform::new();
        platform.reviews(ResponseTemplate::new(400).set_body_json(body));
        platform.call(&world).run(("review", args)).expect(3).all()
    };
    let other = "--review-request file-paths --data-warehouse SNOWFLAKE";
    for body in [
        json!({ "title": "Bad Request", "detail": "dataWarehouseType must not be null" }),
        json!({ "violations": [{ "field": "filePaths", "message": "must not be empty" }] }),
    ] {
        let text = said(body, "");
        assert!(text.contains("--review-request file-paths"), "{text}");
    }
    let refused = said(json!({ "detail": "dataWarehouseType: X is unknown" }), other);
    assert!(refused.contains("check the data warehouse type"), "{refused}");
    let refused = said(
        json!({ "detail": "required property 'pipelines' is missing" }),
        other,
    );
    assert!(refused.contains("--review-request pipelines"), "{refused}");
    let refused = said(
        json!({ "violations": [{ "field": "pipelines", "message": "must not be empty" }] }),
        other,
    );
    assert!(refused.contains("--review-request pipelines"), "{refused}");
    // Only complete field names count, not paths that happen to contain them.
    let refused = said(
        json!({ "detail": "the commit has no pipelines, nor allfilePaths" }),
        "",
    );
    assert!(!refused.contains("--review-request"), "{refused}");
    let refused = said(json!({ "detail": "the commit has no pipelines" }), other);
    assert!(!refused.contains("--review-request"), "{refused}");
    let other_field = json!({ "violations": [{ "field": "branchName", "message": "is unknown" }] });
    for args in ["", other] {
        let refused = said(other_field.clone(), args);
        assert!(!refused.contains("--review-request"), "{refused}");
    }
}

#[test]
fn unset_token_is_reported_with_setting_before_any_request() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    let call = || platform.call(&world).without("SLUICEGATE_TOKEN");
    let review = |call: Call, from: &str| call.run("review").expect(2).saying(&[from, "hint: "]);
    for token in [
        "$(SLUICEGATE_TOKEN)",
        "$TOKEN",
        "${{ secrets.TOKEN }}",
        "\"abc\"",
        "x y",
        "%TOKEN%",
        "x$y",
    ] {
        let text = review(
            call().variable("SLUICEGATE_TOKEN", token),
            "the token from SLUICEGATE_TOKEN",
        );
        assert!(!text.err.contains(token), "{}", text.all());
    }
    let file = world.path().join("token");
    fs::write(&file, "$TOKEN\n").unwrap();
    let named_call = call().variable("SLUICEGATE_TOKEN_FILE", file.to_str().unwrap());
    review(named_call, "(--token-file, SLUICEGATE_TOKEN_FILE)");
    fs::write(&file, [&[0xff, 0xfe][..], b"t\0"].concat()).unwrap();
    let named_call = call().variable("SLUICEGATE_TOKEN_FILE", file.to_str().unwrap());
    review(named_call, "is UTF-16");
    let command = call().variable("SLUICEGATE_TOKEN_COMMAND", "echo '${TOKEN}'");
    review(command, "(--token-command, SLUICEGATE_TOKEN_COMMAND)");
    assert_eq!(platform.requests().len(), 0);
}

#[test]
fn failed_gate_outweighs_unusable_token() {
    let world = change(&[
        ("b.orch.yaml", &orchestration_text(&["Start", "Done"])),
        ("sluicegate.yaml", "exclude: [old/**]\n"),
    ]);
    let platform = Platform::new();
    let call = platform.call(&world).without("SLUICEGATE_TOKEN");
    let file = world.path().join("token");
    fs::write(&file, "$TOKEN\n").unwrap();
    let call = call.variable("SLUICEGATE_TOKEN_FILE", file.to_str().unwrap());
    call.run("review").expect(2);
    call.run("review --gate-changes fail").expect(1);
}

#[test]
fn description_of_a_token_error_is_shown() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let body = json!({ "error": "invalid_client", "error_description": "no such client\u{1b}[2J" });
    for status in [200, 400, 401] {
        let platform = Platform::new();
        platform.respond_to(
            "POST",
            "^/token$",
            ResponseTemplate::new(status).set_body_json(&body),
        );
        let call = platform
            .call(&world)
            .without("SLUICEGATE_TOKEN")
            .variable("SLUICEGATE_CLIENT_ID", "me")
            .variable("SLUICEGATE_CLIENT_SECRET", "s3cret")
            .variable("SLUICEGATE_TOKEN_URL", format!("{}/token", platform.server.uri()));
        let output = call.run("review").expect(4).saying(&[
            r"invalid_client: no such client\u{1b}[2J",
            "hint: check the client id, the client secret and the audience",
        ]);
        assert_eq!(platform.requests().len(), 1, "{}", output.all());
    }
}

#[test]
fn wrong_token_url_has_a_hint_about_the_url() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    for (response, hint, code) in [
        (
            ResponseTemplate::new(404),
            "hint: check the token URL (SLUICEGATE_TOKEN_URL)",
            4,
        ),
        (
            ResponseTemplate::new(200).set_body_string("{}"),
            "hint: check that the token URL",
            3,
        ),
        (
            ResponseTemplate::new(403),
            "hint: check the client id, the client secret and the audience",
            4,
        ),
    ] {
        let platform = Platform::new();
        platform.respond_to("POST", "^/token$", response);
        platform
            .call(&world)
            .without("SLUICEGATE_TOKEN")
            .variable("SLUICEGATE_CLIENT_ID", "me")
            .variable("SLUICEGATE_CLIENT_SECRET", "s3cret")
            .variable("SLUICEGATE_TOKEN_URL", format!("{}/token", platform.server.uri()))
            .run("review")
            .expect(code)
            .saying(&[hint]);
    }
}

#[test]
fn byte_order_mark_before_answer_is_no_part_of_it() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    let body = json!({ "reviewStatus": "PASSED", "results": { "b.orch.yaml": passed_results() }, "excludedFiles": [] });
    platform.reviews(ResponseTemplate::new(200).set_body_raw(format!("\u{feff}{body}"), "application/json"));
    platform.call(&world).run("review").expect(0);
    let platform = Platform::new();
    let body = json!({ "title": "No such branch" });
    platform.reviews(ResponseTemplate::new(404).set_body_raw(format!("\u{feff}{body}"), "application/json"));
    platform
        .call(&world)
        .run("review")
        .expect(3)
        .saying(&["404 Not Found: No such branch"]);
}
