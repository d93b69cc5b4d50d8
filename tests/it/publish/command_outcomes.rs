//! `sluicegate publish` and `sluicegate artifacts` against a platform with scripted responses.

use crate::support::publishing::{
    SHARED, platform_taking_uploads, project_to_publish, publish_platform, upload_response, version_details,
};
use crate::support::{
    Call, Job, PROJECT, Platform, Shop, SmokePlatform, TOKEN, World, answer, disable_request, head, in_turn,
    job_output, orchestration_text, read_json, repository, send_signal,
};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wiremock::{Request, ResponseTemplate};

const PUBLISH: [&str; 7] = [
    "publish",
    "--prefix",
    "p",
    "--version-name",
    "1",
    "--receipt",
    "out/receipt.json",
];

fn uploads(platform: &Platform) -> usize {
    platform
        .requests()
        .iter()
        .filter(|r| r.method.as_str() == "POST")
        .count()
}

#[test]
fn every_file_is_sent_once_under_its_path() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    let output = platform.call(&world).run(&PUBLISH).expect(0);
    let upload = platform
        .requests()
        .into_iter()
        .find(|r| r.method.as_str() == "POST")
        .unwrap();
    let body = String::from_utf8(upload.body).unwrap();
    let mut names: Vec<&str> = body
        .split("name=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    names.sort_unstable();
    let expected = [
        ".platform/shared-pipelines.yaml",
        "sales/clean.tran.yaml",
        "sales/load.orch.yaml",
        "sql/it.sql",
    ];
    assert_eq!(names, expected, "{}", output.all());
    assert!(
        body.contains("select 1;\r\n\r\n--"),
        "the script came through byte for byte: {body}"
    );
    let header = |name: &str| upload.headers[name].to_str().unwrap().to_owned();
    assert_eq!(
        (header("sharedpipelineidprefix"), header("versionname")),
        ("p".to_owned(), "1".to_owned())
    );
    assert_eq!(
        (header("commithash"), header("branch")),
        (world.git(&["rev-parse", "HEAD"]), "main".to_owned())
    );
    let receipt = read_json(&world.work().join("out/receipt.json"));
    let files: Vec<&str> = receipt["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["path"].as_str().unwrap())
        .collect();
    assert_eq!(files, expected);
    assert_eq!(receipt["files"][3]["bytes"], 11);
    assert!(receipt["digest"].as_str().unwrap().starts_with("sha256:"));
}

#[test]
fn dirty_working_tree_is_not_published() {
    let world = project_to_publish();
    world.write("sql/it.sql", "drop table everything;\n");
    let platform = publish_platform(&world, upload_response(&json!([])));
    platform.call(&world).run(&PUBLISH).expect(0);
    let upload = platform
        .requests()
        .into_iter()
        .find(|r| r.method.as_str() == "POST")
        .unwrap();
    assert!(!String::from_utf8_lossy(&upload.body).contains("drop table"));
}

#[test]
fn token_that_platform_repeats_is_not_in_receipt() {
    let world = project_to_publish();
    let reason = format!("debug: Bearer {TOKEN}");
    let platform = publish_platform(
        &world,
        upload_response(&json!([{ "name": "x.md", "reason": reason }])),
    );
    let output = platform.call(&world).run(&PUBLISH).expect(6);
    assert!(output.all().contains("Bearer ***"), "{}", output.all());
    let hidden = json!([{ "name": "x.md", "reason": "debug: Bearer ***" }]);
    assert_eq!(
        read_json(&world.work().join("out/receipt.json"))["ignoredResources"],
        hidden
    );
}

#[test]
fn ignored_resources_make_it_incomplete() {
    for ignored in [
        json!(["x.md"]),
        json!([{ "name": "x.md", "reason": "unsupported" }]),
        json!([{ "odd": true }]),
    ] {
        let world = project_to_publish();
        let platform = publish_platform(&world, upload_response(&ignored));
        platform.call(&world).run(&PUBLISH).expect(6);
        let receipt = read_json(&world.work().join("out/receipt.json"));
        assert_eq!(
            (&receipt["outcome"], &receipt["ignoredResources"]),
            (&json!("incomplete"), &ignored)
        );
    }
}

#[test]
fn receipt_with_host_command_in_file_name_is_printed_without_the_command() {
    let shop = Shop::new();
    let path = "##vso[task.setvariable variable=x]y.orch.yaml";
    shop.world.write(path, orchestration_text(&["Start", "Done"]));
    shop.push();
    let output = shop.publish("1.0.0 --json").expect(0);
    assert!(!output.out.contains("##"), "{}", output.all());
    let printed_receipt = output.json();
    assert_eq!(printed_receipt, shop.receipt());
    assert_eq!(printed_receipt["files"][0]["path"], path);
    let receipt_path = shop.world.path().join("receipt.json").display().to_string();
    shop.call().run(("verify", &[receipt_path])).expect(0);
}

#[test]
fn upload_whose_response_names_another_version_exits_with_6() {
    let world = project_to_publish();
    for (name, code) in [("2", 6), ("1", 0)] {
        let response = answer(&json!({ "versionName": name, "ignoredResources": [] }));
        for args in ["--no-verify", ""] {
            let platform = publish_platform(&world, response.clone());
            let output = platform.call(&world).run((&PUBLISH[..5], args)).expect(code);
            let text = "names the version `2`, not the one that was sent";
            assert_eq!(output.err.contains(text), code == 6, "{args}: {}", output.all());
        }
    }
}

#[test]
fn incomplete_version_can_be_disabled_at_once() {
    let stage = SmokePlatform::new();
    stage.accept_disable();
    stage.accept_upload_with(upload_response(&json!(["x.md"])));
    stage
        .call()
        .without("SLUICEGATE_SMOKE")
        .without("SLUICEGATE_SMOKE_PROJECT")
        .without("SLUICEGATE_SMOKE_ENVIRONMENT")
        .run("publish --on-ignored disable")
        .expect(6)
        .saying(&[
            "the version was disabled",
            "[Latest]",
            "hint: publish under another version name",
        ]);
    assert_eq!(stage.switches(), [disable_request()]);
}

#[test]
fn ignored_resources_can_be_a_warning() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!(["x.md"])));
    platform
        .call(&world)
        .run((&PUBLISH[..], "--on-ignored warn"))
        .expect(0)
        .saying(&["x.md"]);
}

/// The entries need not be files of the publish.
#[test]
fn number_of_ignored_resources_does_not_reduce_the_number_of_files() {
    let world = project_to_publish();
    let ignored = json!(["a", "a", "b", "c", "d", "e", "f", "g", "h", "i"]);
    let platform = publish_platform(&world, upload_response(&ignored));
    let output = platform
        .call(&world)
        .run((&PUBLISH[..], "--on-ignored warn"))
        .expect(0);
    let receipt = read_json(&world.work().join("out/receipt.json"));
    let file_count = receipt["files"].as_array().unwrap().len();
    let files = format!("{file_count} files sent, 10 ignored by the platform");
    assert!(output.out.contains(&files), "{}", output.all());
}

#[test]
fn rerun_of_publish_with_ignored_files_is_incomplete_again() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!(["sql/it.sql"])));
    platform.call(&world).run(&PUBLISH).expect(6);
    let receipt = || read_json(&world.work().join("out/receipt.json"));
    let rerun = |args: &str| {
        platform
            .call(&world)
            .run((&PUBLISH[..], "--if-exists same-content", args))
    };
    // The other servers stand for the same platform: an older receipt does not name it.
    let remove_address = || {
        let mut older_receipt = receipt();
        older_receipt.as_object_mut().unwrap().remove("platform").unwrap();
        world.write("out/receipt.json", older_receipt.to_string());
    };
    // A rerun that ends before a comparison, and one that is refused at once, keep the list.
    platform.call(&world).run(&PUBLISH).expect(5);
    assert_eq!(receipt()["ignoredResources"], json!(["sql/it.sql"]));
    remove_address();
    let unreachable = Platform::new();
    unreachable.is_down();
    let output = unreachable.call(&world).run(&PUBLISH);
    assert_ne!(output.code, 0, "{}", output.all());
    assert_eq!(receipt()["ignoredResources"], json!(["sql/it.sql"]));
    remove_address();
    for _ in 0..2 {
        let text = "the platform ignored `sql/it.sql`";
        platform
            .call(&world)
            .variable("SLUICEGATE_BRANCH", "release")
            .run((&PUBLISH[..], "--if-exists same-content --attestation s.json"))
            .expect(6)
            .saying(&[text]);
        // The branch of the version, not of the rerun.
        assert_eq!(receipt()["branch"], "main");
        assert_eq!(
            (&receipt()["outcome"], &receipt()["ignoredResources"]),
            (&json!("incomplete"), &json!(["sql/it.sql"]))
        );
        assert!(!world.work().join("s.json").exists());
    }
    // A version name from a template finds the version in the list.
    let other_route = Platform::new();
    let details = version_details(&world);
    let list = json!({ "results": [details["artifactDetails"]] });
    remove_address();
    other_route.respond_to("GET", "/artifacts$", answer(&list));
    other_route.respond_to("GET", "/artifacts/details$", answer(&details));
    let template = "publish --prefix p --version-name {short-sha} --receipt out/receipt.json";
    other_route.call(&world).run(template).expect(6).saying(&[
        "this commit is already published as version 1 of p, but that version is incomplete",
        "the platform ignored `sql/it.sql`",
    ]);
    assert_eq!(receipt()["ignoredResources"], json!(["sql/it.sql"]));
    remove_address();
    // The job may accept the ignored files, but there is no statement about them.
    rerun("--on-ignored warn --attestation s.json")
        .expect(0)
        .saying(&["the platform ignored `sql/it.sql`"]);
    assert!(!world.work().join("s.json").exists());
    let warning = "ignoring the receipt of an earlier run";
    fs::write(world.work().join("out/receipt.json"), "{").unwrap();
    rerun("")
        .expect(0)
        .saying(&[warning, "out/receipt.json: EOF while parsing an object"]);
    fs::remove_file(world.work().join("out/receipt.json")).unwrap();
    let output = rerun("")
        .expect(0)
        .saying(&["cannot check whether files were ignored"]);
    assert!(!output.err.contains(warning), "{}", output.err);
}

#[test]
fn rerun_ignores_receipt_of_publish_to_another_platform() {
    let world = project_to_publish();
    let staging = publish_platform(&world, upload_response(&json!(["sql/it.sql"])));
    let production = publish_platform(&world, upload_response(&json!([])));
    let call_production = |args: &str| production.call(&world).run(args);
    call_production("publish --prefix p --version-name 1").expect(0);
    staging.call(&world).run(&PUBLISH).expect(6);
    let receipt_path = world.work().join("out/receipt.json");
    assert_eq!(read_json(&receipt_path)["platform"], staging.server.uri());
    call_production("verify out/receipt.json")
        .expect(6)
        .saying(&["the version was published at"]);
    let rerun = "publish --prefix p --version-name 1 --receipt out/receipt.json --if-exists same-content";
    let warning = format!("the receipt is about the version at {}", staging.server.uri());
    call_production(rerun)
        .expect(0)
        .saying(&["ignoring the receipt of an earlier run", &warning]);
    let receipt = read_json(&receipt_path);
    assert_eq!(
        (&receipt["platform"], &receipt["ignoredResources"]),
        (&json!(production.server.uri()), &json!([]))
    );
}

#[test]
fn upload_answered_by_web_page_is_published_only_if_version_exists() {
    let world = project_to_publish();
    let page = || ResponseTemplate::new(200).set_body_string("<html>");
    for is_listed in [false, true] {
        let details = if is_listed {
            answer(&version_details(&world))
        } else {
            ResponseTemplate::new(404)
        };
        let output = platform_taking_uploads(page(), details)
            .call(&world)
            .run(&PUBLISH)
            .expect(6);
        for (text, is_expected) in [
            (
                "could not determine whether version 1 of p was published",
                !is_listed,
            ),
            ("to check whether the version exists", !is_listed),
            (
                "version 1 of p was published, but could not be verified",
                is_listed,
            ),
            ("the platform accepted the artifact", false),
        ] {
            assert_eq!(output.err.contains(text), is_expected, "{text}: {}", output.all());
        }
    }
}

#[test]
fn each_answer_has_its_exit_code() {
    let cases = [
        (ResponseTemplate::new(409), 5, "conflict"),
        (ResponseTemplate::new(401), 4, "failed"),
        (ResponseTemplate::new(403), 4, "failed"),
        (ResponseTemplate::new(400), 3, "failed"),
        (ResponseTemplate::new(413), 3, "failed"),
        (
            ResponseTemplate::new(200).set_body_string("<html>"),
            6,
            "incomplete",
        ),
        (answer(&json!({ "versionName": "1" })), 6, "incomplete"),
    ];
    for (response, code, outcome) in cases {
        let world = project_to_publish();
        let text = format!("{response:?}");
        let platform = publish_platform(&world, response);
        let output = platform.call(&world).run(&PUBLISH);
        assert_eq!(output.code, code, "{text}: {}", output.all());
        assert_eq!(
            read_json(&world.work().join("out/receipt.json"))["outcome"],
            outcome,
            "{text}"
        );
        assert_eq!(uploads(&platform), 1, "{text}");
    }
}

#[test]
fn publish_that_is_too_large_names_the_flags_that_make_it_smaller() {
    let world = project_to_publish();
    publish_platform(&world, ResponseTemplate::new(413))
        .call(&world)
        .run(&PUBLISH)
        .expect(3)
        .saying(&[
            "hint: the platform limits the size of a publish",
            "--select closure",
        ]);
    let output = publish_platform(&world, ResponseTemplate::new(413))
        .call(&world)
        .run((&PUBLISH[..], &["--select", "closure"][..]))
        .expect(3)
        .saying(&["leave out files with --exclude"]);
    assert!(!output.err.contains("--select closure"), "{}", output.all());
}

#[cfg(unix)]
#[test]
fn conflict_after_refused_token_disables_no_version() {
    let world = plain_project();
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
    // Another run of the same commit publishes the version while the platform refuses the token of this one.
    let missing = ResponseTemplate::new(404);
    let details = in_turn(vec![missing, answer(&fresh(&world))]);
    platform.respond_to("GET", "/artifacts/details$", details);
    let uploads = in_turn(vec![ResponseTemplate::new(401), ResponseTemplate::new(409)]);
    platform.respond_to("POST", "/artifacts$", uploads);
    platform.respond_to("PATCH", "/artifacts$", ResponseTemplate::new(204));
    let runs = world.work().join("../token-runs");
    // Each call returns another token.
    let command = format!("printf x >> '{0}'; printf token-; cat '{0}'", runs.display());
    platform
        .call(&world)
        .without("SLUICEGATE_TOKEN")
        .variable("SLUICEGATE_TOKEN_COMMAND", command)
        .run((&PUBLISH[..], &["--on-ignored", "disable"][..]))
        .expect(5);
    let outcome = &read_json(&world.work().join("out/receipt.json"))["outcome"];
    assert_eq!(outcome, "conflict");
    let methods: Vec<_> = platform
        .requests()
        .iter()
        .map(|request| request.method.to_string())
        .collect();
    assert!(!methods.contains(&"PATCH".to_owned()), "{methods:?}");
}

#[test]
fn forbidden_publish_names_role() {
    let world = project_to_publish();
    publish_platform(&world, ResponseTemplate::new(403))
        .call(&world)
        .run(&PUBLISH)
        .expect(4)
        .saying(&["Admin"]);
}

#[test]
fn publish_without_proof_in_details_is_incomplete() {
    let world = project_to_publish();
    let wrong: Vec<ResponseTemplate> = vec![
        ResponseTemplate::new(404),
        ResponseTemplate::new(500),
        ResponseTemplate::new(200).set_body_string("?"),
        answer(
            &json!({ "artifactDetails": version_details(&world)["artifactDetails"], "sharedPipelines": [] }),
        ),
        answer(
            &json!({ "artifactDetails": { "versionName": "1", "commitHash": "0".repeat(40) }, "sharedPipelines": version_details(&world)["sharedPipelines"] }),
        ),
    ];
    for response in wrong {
        let text = format!("{response:?}");
        let platform = platform_taking_uploads(upload_response(&json!([])), response);
        let output = platform.call(&world).run(&PUBLISH);
        assert_eq!(output.code, 6, "{text}: {}", output.all());
        assert_eq!(
            read_json(&world.work().join("out/receipt.json"))["verified"],
            false,
            "{text}"
        );
    }
    let unverified = publish_platform(&world, upload_response(&json!([])));
    unverified
        .call(&world)
        .run((&PUBLISH[..], "--no-verify"))
        .expect(0);
    assert_eq!(
        read_json(&world.work().join("out/receipt.json"))["verified"],
        false
    );
}

#[test]
fn publish_with_missing_file_sends_nothing() {
    let cases: Vec<(&str, Option<String>, &str)> = vec![
        (".platform/shared-pipelines.yaml", None, "shared-pipelines.yaml"),
        (
            ".platform/shared-pipelines.yaml",
            Some("pipelines: 7\n".to_owned()),
            "shared-pipelines.yaml:1",
        ),
        (
            ".platform/shared-pipelines.yaml",
            Some(SHARED.replace("load.orch", "gone.orch")),
            "sales/gone.orch.yaml",
        ),
        (
            ".platform/shared-pipelines.yaml",
            Some(format!("{SHARED}{}", &SHARED[11..])),
            "load",
        ),
        ("sales/load.orch.yaml", None, "sales/load.orch.yaml"),
        ("sales/clean.tran.yaml", None, "sales/clean"),
        ("sql/it.sql", None, "sql/it.sql"),
        (
            "sales/load.orch.yaml",
            Some("type: [\n".to_owned()),
            "sales/load.orch.yaml",
        ),
    ];
    for (path, content, word) in cases {
        let world = project_to_publish();
        match &content {
            Some(text) => world.write(path, text),
            None => fs::remove_file(world.work().join(path)).unwrap(),
        }
        world.commit("broken");
        world.push();
        let platform = publish_platform(&world, upload_response(&json!([])));
        let output = platform
            .call(&world)
            .variable("SLUICEGATE_CONFIG_DIR", ".platform")
            .run((&PUBLISH, "--json"));
        assert_eq!(output.code, 2, "{path} {content:?}: {}", output.all());
        assert_eq!(output.out, "", "only a dry run prints a plan");
        assert!(
            output.err.contains(word),
            "{path}: {word} is not said: {}",
            output.all()
        );
        assert_eq!(uploads(&platform), 0, "{path}");
    }
}

#[test]
fn dry_run_prints_plan_and_uploads_nothing() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    let output = platform
        .call(&world)
        .run((&PUBLISH[..], "--dry-run -v"))
        .expect(0);
    assert!(
        output.out.contains("sales/clean.tran.yaml") && output.out.contains("sha256:"),
        "{}",
        output.all()
    );
    assert_eq!(uploads(&platform), 0);
    assert_eq!(
        read_json(&world.work().join("out/receipt.json"))["outcome"],
        "planned"
    );
}

#[test]
fn dry_run_asks_only_a_platform_with_token_and_does_not_guess_whether_the_version_exists() {
    let world = project_to_publish();
    let dry_run = "publish --prefix p --version-name 1 --compat off --dry-run --json";
    let platform = Platform::new();
    let without_token = platform.call(&world).without("SLUICEGATE_TOKEN");
    without_token.run(dry_run).expect(0);
    assert!(platform.requests().is_empty());
    for (status, is_unknown) in [(404, false), (500, true)] {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
        platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
            let names_version = request.url.query_pairs().any(|(key, _)| key == "versionName");
            ResponseTemplate::new(if names_version { status } else { 404 })
        });
        let ended = platform.call(&world).run(dry_run).expect(0);
        let warning = "could not determine the published version";
        assert_eq!(ended.err.contains(warning), is_unknown, "{}", ended.all());
    }
}

/// Returns the details of a version that was created just now.
fn fresh(world: &World) -> Value {
    let mut details = version_details(world);
    details["artifactDetails"]["createdAt"] = json!(jiff::Timestamp::now().to_string());
    details
}

/// Creates a project with only one shared pipeline, so that the details prove its version complete.
fn plain_project() -> World {
    let world = World::new();
    world.write(".platform/shared-pipelines.yaml", SHARED);
    world.write("sales/load.orch.yaml", "type: orchestration\npipeline: {}\n");
    world.commit("first");
    world.push();
    world
}

#[test]
fn lost_answer_is_looked_up() {
    let lost = || ResponseTemplate::new(502);
    let (plain, scripted) = (plain_project(), project_to_publish());
    let mut anothers = fresh(&plain);
    anothers["artifactDetails"]["commitHash"] = json!("7".repeat(40));
    let mut lacking = fresh(&plain);
    lacking["sharedPipelines"] = json!([]);
    let cases = [
        (&plain, answer(&fresh(&plain)), 0, "published", 1),
        (&plain, answer(&lacking), 6, "incomplete", 1),
        (&scripted, answer(&fresh(&scripted)), 6, "incomplete", 1),
        (&plain, answer(&anothers), 5, "conflict", 1),
        (&plain, ResponseTemplate::new(404), 3, "failed", 1),
        (&plain, ResponseTemplate::new(503), 3, "failed", 1),
    ];
    for (world, details, code, outcome, sent) in cases {
        let text = format!("{details:?}");
        let platform = platform_taking_uploads(lost(), details);
        let output = platform.call(world).run(&PUBLISH);
        assert_eq!(output.code, code, "{text}: {}", output.all());
        assert_eq!(
            read_json(&world.work().join("out/receipt.json"))["outcome"],
            outcome,
            "{text}"
        );
        assert_eq!(uploads(&platform), sent, "{text}");
    }
}

#[test]
fn version_after_unexpected_success_is_reported_with_the_status_that_arrived() {
    let (plain, scripted) = (plain_project(), project_to_publish());
    for (world, code) in [(&plain, 0), (&scripted, 6)] {
        for (status, reason) in [(202, "202 Accepted"), (502, "502 Bad Gateway")] {
            let platform = platform_taking_uploads(ResponseTemplate::new(status), answer(&fresh(world)));
            let output = platform
                .call(world)
                .run(&PUBLISH)
                .expect(code)
                .saying(&["the upload got no usable response, ", reason]);
            assert!(!output.all().contains("was lost"), "{}", output.all());
        }
    }
}

#[test]
fn upload_that_is_redirected_to_another_origin_is_looked_up() {
    let world = plain_project();
    let redirect_upload = |status: u16, details: ResponseTemplate| {
        let redirect = ResponseTemplate::new(status).insert_header("location", "https://other.test/v1");
        let platform = platform_taking_uploads(redirect, details);
        let output = platform.call(&world).run(&PUBLISH);
        assert_eq!(uploads(&platform), 1, "{}", output.all());
        output
    };
    let hint = "to check whether the version exists; if this origin is the platform, set it as the base URL";
    // A proxy may redirect the client after the platform stored the version.
    for status in [303, 307, 308] {
        redirect_upload(status, answer(&fresh(&world))).expect(0);
        let missing = redirect_upload(status, ResponseTemplate::new(404)).expect(3);
        let output = missing.saying(&["does not list the version", "https://other.test"]);
        assert_eq!(output.err.contains(hint), status != 303, "{}", output.all());
    }
}

#[test]
fn upload_whose_version_is_not_found_is_repeated_as_often_as_retries_allow() {
    let world = plain_project();
    for (retries, sent) in [("0", 1), ("1", 2), ("2", 3), ("4", 3)] {
        let platform = platform_taking_uploads(ResponseTemplate::new(502), ResponseTemplate::new(404));
        let output = platform
            .call(&world)
            .run((&PUBLISH, format!("--retries {retries}")))
            .expect(3);
        assert_eq!(uploads(&platform), sent, "--retries {retries}: {}", output.all());
    }
}

#[test]
fn upload_that_the_client_did_not_repeat_is_sent_again_despite_retry_after() {
    let world = plain_project();
    for (status, sent) in [(502, 3), (504, 3), (500, 3), (503, 3)] {
        let busy = ResponseTemplate::new(status).insert_header("retry-after", "0");
        let platform = platform_taking_uploads(busy, ResponseTemplate::new(404));
        let output = platform.call(&world).run((&PUBLISH, "--retries 2")).expect(3);
        assert_eq!(uploads(&platform), sent, "{status}: {}", output.all());
    }
}

/// Returns a platform that already has the version, and that removes this file when the version is looked up.
fn platform_that_removes(world: &World, file: PathBuf) -> Platform {
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
    let details = answer(&version_details(world));
    platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
        if request.url.query_pairs().any(|(key, _)| key == "versionName") {
            let _ = fs::remove_file(&file);
            details.clone()
        } else {
            ResponseTemplate::new(404)
        }
    });
    platform
}

#[test]
fn file_that_cannot_be_read_for_its_hash_fails_the_publish() {
    let world = project_to_publish();
    // Pipelines and scripts are also read when the publish is planned.
    world.write("notes.md", "not a pipeline\n");
    world.commit("notes");
    world.push();
    let blob = world.git("rev-parse HEAD:notes.md");
    let object = world
        .work()
        .join(".git/objects")
        .join(&blob[..2])
        .join(&blob[2..]);
    assert!(object.exists());
    for (file, code, has_files) in [(world.path().join("nothing"), 0, true), (object, 7, false)] {
        let platform = platform_that_removes(&world, file);
        let flags = "--if-exists same-content --compat off --include **";
        let output = platform.call(&world).run((&PUBLISH, flags)).expect(code);
        assert_eq!(
            output.err.contains("could not compute the content hashes"),
            code != 0,
            "{}",
            output.all()
        );
        let receipt = read_json(&world.work().join("out/receipt.json"));
        assert_eq!(receipt["outcome"], "already-published");
        assert_eq!(!receipt["files"].as_array().unwrap().is_empty(), has_files);
        assert_eq!(!receipt["digest"].as_str().unwrap().is_empty(), has_files);
    }
}

#[test]
fn version_of_another_run_after_lost_response_is_reported_with_one_difference() {
    let world = plain_project();
    let mut other_commit = fresh(&world);
    other_commit["artifactDetails"]["commitHash"] = json!("7".repeat(40));
    for (details, difference) in [
        (other_commit, "the version is from commit 7777"),
        (version_details(&world), "before this run"),
    ] {
        let platform = platform_taking_uploads(ResponseTemplate::new(502), answer(&details));
        let ended = platform.call(&world).run(&PUBLISH).expect(5);
        assert_eq!(ended.err.matches(difference).count(), 1, "{}", ended.all());
    }
}

/// An abbreviated or missing commit is no proof that the version is of another commit, nor that it is of this one.
#[test]
fn version_whose_commit_is_unclear_is_unverified_and_stays_enabled() {
    let world = plain_project();
    let commit = head(&world);
    for (reported_commit, accepted_code, lost_code) in [
        (json!(commit), 0, 0),
        (json!(commit[..10]), 6, 3),
        (json!(""), 6, 3),
        (json!(null), 6, 3),
    ] {
        let mut details = fresh(&world);
        details["artifactDetails"]["commitHash"] = reported_commit.clone();
        let responses = [
            (upload_response(&json!([])), accepted_code),
            (ResponseTemplate::new(502), lost_code),
        ];
        for (response, code) in responses {
            let platform = platform_taking_uploads(response, answer(&details));
            let output = platform
                .call(&world)
                .run((&PUBLISH, "--on-ignored disable"))
                .expect(code);
            let text = "it is incomplete";
            assert!(!output.err.contains(text), "{reported_commit}: {}", output.all());
            let methods: Vec<String> = platform.requests().iter().map(|r| r.method.to_string()).collect();
            assert!(
                !methods.contains(&"PATCH".to_owned()),
                "{reported_commit}: {methods:?}"
            );
        }
    }
}

/// Smoke runs are due, and none can run. The version may be that of another run.
#[test]
fn version_of_unclear_origin_after_lost_response_stays_enabled_without_smoke_runs() {
    let world = plain_project();
    let mut details = fresh(&world);
    details["artifactDetails"]["commitHash"] = json!(head(&world)[..10]);
    let platform = platform_taking_uploads(ResponseTemplate::new(502), answer(&details));
    let output = platform
        .call(&world)
        .variable("SLUICEGATE_SMOKE", "load")
        .variable("SLUICEGATE_SMOKE_PROJECT", PROJECT)
        .variable("SLUICEGATE_SMOKE_ENVIRONMENT", "test")
        .run(&PUBLISH)
        .expect(3);
    let output = output.saying(&["the platform reports only the abbreviated commit"]);
    let requests = platform.requests();
    let switch_count = requests
        .iter()
        .filter(|request| request.method == "PATCH")
        .count();
    assert_eq!(switch_count, 0, "{}", output.all());
}

#[test]
fn lookup_before_upload_names_the_refused_token_or_the_unknown_version() {
    let world = project_to_publish();

    for (status, code, is_unknown) in [(401, 4, false), (403, 4, false), (500, 3, true)] {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
        platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
            let names_version = request.url.query_pairs().any(|(key, _)| key == "versionName");
            ResponseTemplate::new(if names_version { status } else { 404 })
        });
        let ended = platform.call(&world).run((&PUBLISH, "--compat off")).expect(code);
        ended.assert_logged(&["nothing was sent"]);
        let unknown = "could not determine whether the version exists";
        assert_eq!(ended.err.contains(unknown), is_unknown, "{}", ended.all());
        assert_eq!(uploads(&platform), 0);
    }
}

#[test]
fn version_that_is_not_shown_yet_is_not_waited_for_in_silence() {
    let world = plain_project();
    let platform = platform_taking_uploads(upload_response(&json!([])), ResponseTemplate::new(404));
    let call = platform.call(&world).variable("SLUICEGATE_LOOKUP_TIMEOUT", "4");
    call.run(&PUBLISH)
        .expect(6)
        .saying(&["waiting for the platform to update version", ", at most 4 s"]);
}

#[test]
fn nothing_is_sent_before_it_is_known_whether_the_version_exists() {
    let world = project_to_publish();
    let cases = [
        (answer(&version_details(&world)), 5, "conflict"),
        (ResponseTemplate::new(500), 3, "failed"),
        (ResponseTemplate::new(409), 3, "failed"),
        (answer(&json!({ "odd": true })), 3, "failed"),
        (
            answer(&json!({ "artifactDetails": { "versionName": "2" }, "sharedPipelines": [] })),
            3,
            "failed",
        ),
        (ResponseTemplate::new(401), 4, "failed"),
        (ResponseTemplate::new(403), 4, "failed"),
    ];
    for (details, code, outcome) in cases {
        let shown = format!("{details:?}");
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts/details$", details);
        let ended = platform.call(&world).run(&PUBLISH);
        assert_eq!(ended.code, code, "{shown}: {}", ended.all());
        assert_eq!(
            read_json(&world.work().join("out/receipt.json"))["outcome"],
            outcome,
            "{shown}"
        );
        assert_eq!(uploads(&platform), 0, "{shown}");
    }
}

#[test]
fn receipt_of_undetermined_publish_names_the_version_that_is_known() {
    let world = project_to_publish();
    let short = world.git("rev-parse HEAD")[..7].to_owned();
    for (template, name) in [("{short-sha}", short.as_str()), ("{next}", "{next}")] {
        let platform = Platform::new();
        platform.is_down();
        let args =
            format!("publish --prefix p --version-name {template} --compat fail --receipt out/receipt.json");
        platform.call(&world).run(args).expect(3);
        assert_eq!(
            read_json(&world.work().join("out/receipt.json"))["versionName"],
            name
        );
        assert_eq!(uploads(&platform), 0);
    }
}

/// Returns a platform that has no version and responds with this status to a question about the latest one.
fn platform_refusing_the_latest(status: u16) -> Platform {
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
    platform.respond_to("GET", "/artifacts/details$", move |request: &Request| {
        let names_version = request.url.query_pairs().any(|(key, _)| key == "versionName");
        ResponseTemplate::new(if names_version { 404 } else { status })
    });
    platform.respond_to("POST", "/artifacts$", upload_response(&json!([])));
    platform
}

#[test]
fn failed_comparison_is_a_warning_if_it_is_optional_and_access_is_allowed() {
    let world = project_to_publish();
    for (status, mode, is_warning) in [
        (500, "warn", true),
        (500, "fail", false),
        (403, "warn", false),
        (401, "warn", false),
        (403, "fail", false),
    ] {
        let platform = platform_refusing_the_latest(status);
        let args = format!("publish --prefix p --version-name 1 --dry-run --compat {mode}");
        let ended = platform.call(&world).run(args);
        let warning = "warning: could not determine the changes for consumers";
        assert_eq!(
            ended.err.contains(warning),
            is_warning,
            "{status} {mode}: {}",
            ended.all()
        );
        assert_eq!(ended.code == 0, is_warning, "{status} {mode}: {}", ended.all());
    }
}

#[test]
fn publish_ends_if_the_latest_version_is_unknown_and_dry_run_warns() {
    let world = project_to_publish();
    let publish = |platform: &Platform, args: &str| {
        let publish = "publish --prefix p --version-name {short-sha} --compat off";
        platform.call(&world).run((publish, args))
    };
    let warning = "could not determine the latest version";
    for (status, code) in [(500, 3), (403, 4)] {
        let platform = platform_refusing_the_latest(status);
        publish(&platform, "").expect(code).saying(&[warning]);
        assert_eq!(uploads(&platform), 0);
    }
    let platform = platform_refusing_the_latest(500);
    publish(&platform, "--dry-run").expect(0).saying(&[warning]);
    let platform = platform_refusing_the_latest(403);
    publish(&platform, "--dry-run").expect(4);
}

#[test]
fn list_of_versions_that_fails_ends_publish_and_is_a_warning_of_dry_run() {
    let world = project_to_publish();
    for (status, code, dry_code) in [(500, 3, 0), (403, 4, 4)] {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", ResponseTemplate::new(status));
        platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(404));
        platform.respond_to("POST", "/artifacts$", upload_response(&json!([])));
        let publish = "publish --prefix p --version-name 1 --compat off";
        let call = platform.call(&world);
        call.run(publish).expect(code);
        let dry = call.run((publish, "--dry-run")).expect(dry_code);
        assert!(
            dry.err.contains("could not read the published versions"),
            "{}",
            dry.all()
        );
        assert_eq!(uploads(&platform), 0);
    }
}

#[test]
fn undecided_publish_is_an_error_in_junit_and_conflict_is_a_failure() {
    let world = project_to_publish();
    for (details, code, element) in [
        (ResponseTemplate::new(500), 3, "<error"),
        (answer(&version_details(&world)), 5, "<failure"),
    ] {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts/details$", details);
        platform
            .call(&world)
            .run((&PUBLISH, "--junit out/junit.xml"))
            .expect(code);

        let junit = world.read_text("out/junit.xml");
        assert!(junit.contains(element), "{junit}");
    }
}

#[test]
fn rerun_of_the_same_commit_is_green_if_asked() {
    let world = project_to_publish();
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts/details$", answer(&version_details(&world)));
    let same = (&PUBLISH, "--if-exists same-content");
    platform.call(&world).run(&same).expect(0);
    assert_eq!(
        read_json(&world.work().join("out/receipt.json"))["outcome"],
        "already-published"
    );
    world.write(
        "sales/clean.tran.yaml",
        "type: transformation\npipeline: {}\n# more\n",
    );
    let old = world.git("rev-parse HEAD");
    let new = world.commit("second");
    world.push();
    platform
        .call(&world)
        .run(&same)
        .expect(5)
        .saying(&[&format!("the version is from commit {old}, not {new}")]);
    assert_eq!(uploads(&platform), 0);
}

#[test]
fn names_that_cannot_be_headers_are_refused() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    let cases: [(&[&str], &str); 6] = [
        (&["publish", "--prefix", "p\nq", "--version-name", "1"], "prefix"),
        (
            &["publish", "--prefix", "p", "--version-name", "1\r\nx: y"],
            "version",
        ),
        (&["publish", "--prefix", "p", "--version-name", " "], "version"),
        (&["publish", "--prefix", "p", "--version-name", "{tag}"], "tag"),
        (&["publish", "--prefix", "p", "--version-name", "{sah}"], "sha"),
        (&["publish", "--prefix", "p"], "--version-name"),
    ];
    for (args, word) in cases {
        platform.call(&world).run(args).expect(2).saying(&[word]);
    }
    assert!(platform.requests().is_empty());
}

#[test]
fn version_name_is_the_same_in_rerun() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    let args = "publish --prefix p --version-name {branch}-{date}-{datetime}-{short-sha} --dry-run";
    let output = platform.call(&world).run(args).expect(0);
    let short = &world.git("rev-parse HEAD")[..7];
    let expected = format!("main-2026-11-20-20261120T093000Z-{short}");
    assert!(output.out.contains(&expected), "{expected}: {}", output.all());
}

#[test]
fn publish_with_unwritable_file_sends_nothing() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    world.write(".git/info/exclude", "file\n");
    world.write("file", "");
    for (args, text) in [
        ("--receipt file/r.json", "could not write the receipt"),
        ("--receipt ..", "could not write the receipt"),
        ("--junit file/j.xml", "could not write the report"),
        ("--attestation file/s.json", "could not write the statement"),
        (
            "--attestation-predicate file/p.json",
            "could not write the predicate",
        ),
    ] {
        let publish = "publish --prefix p --version-name 1";
        let output = platform.call(&world).run((publish, args)).expect(2);
        output.saying(&[text]);
    }
    let outputs = world.path().display().to_string();
    let call = platform.call(&world).variable("GITHUB_OUTPUT", outputs);
    call.run(&PUBLISH).expect(2).saying(&["GITHUB_OUTPUT"]);
    assert!(platform.requests().is_empty());
    // The directory of the receipt need not exist.
    platform.call(&world).run(&PUBLISH).expect(0);
}

#[test]
fn publish_whose_junit_report_is_lost_exits_with_2() {
    let world = project_to_publish();
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "after": head(&world) });
    for (path, code) in [("/dev/full", 2), ("out/junit.xml", 0)] {
        let platform = publish_platform(&world, upload_response(&json!([])));
        let output = Job::github()
            .event("push", "refs/heads/main", &payload)
            .extend(&world, platform.call(&world))
            .run((&PUBLISH, &*format!("--junit {path}")))
            .expect(code);
        assert_eq!(
            output.all().contains("title=A file was not written"),
            code == 2,
            "{}",
            output.all()
        );
        assert!(!output.all().contains("Publish failed"), "{}", output.all());
        assert_eq!(
            read_json(&world.work().join("out/receipt.json"))["outcome"],
            "published"
        );
    }
}

/// The run ends only when the receipt has a reader. The report before it shows that a signal is now too late.
#[cfg(unix)]
#[test]
fn publish_that_a_signal_interrupts_after_the_upload_writes_its_records() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    let [junit_pipe, receipt_pipe] = ["junit", "receipt"].map(|name| world.path().join(name));
    for pipe in [&junit_pipe, &receipt_pipe] {
        let status = std::process::Command::new("mkfifo").arg(pipe).status();
        assert!(status.unwrap().success());
    }
    let mut child = platform
        .call(&world)
        .command("publish --prefix p --version-name 1 --junit ../junit --receipt ../receipt")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let junit = fs::read_to_string(&junit_pipe).unwrap();
    assert!(junit.contains("failures=\"0\""), "{junit}");
    send_signal("TERM", &child.id().to_string());
    let receipt: Value = serde_json::from_str(&fs::read_to_string(&receipt_pipe).unwrap()).unwrap();
    assert_eq!(receipt["outcome"], "published");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn outputs_name_version_and_digest() {
    let world = project_to_publish();
    let platform = publish_platform(&world, upload_response(&json!([])));
    let outputs = world.path().join("outputs.txt");
    let call = platform
        .call(&world)
        .variable("GITHUB_OUTPUT", outputs.display().to_string());
    call.run(&PUBLISH).expect(0);
    let outputs = fs::read_to_string(outputs).unwrap();
    let digest = read_json(&world.work().join("out/receipt.json"))["digest"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        (
            job_output(&outputs, "version-name"),
            job_output(&outputs, "digest")
        ),
        ("1".to_owned(), digest)
    );
}

#[test]
fn verdict_of_invalid_call_is_that_of_its_command() {
    let world = project_to_publish();
    for (command, has_verdict) in [
        ("--config report publish --bad", false),
        ("--config publish report --bad", true),
        ("--quiet review --bad", true),
        ("--config=x verify --bad", false),
    ] {
        let outputs = world.path().join("outputs.txt");
        fs::write(&outputs, "").unwrap();
        Call::new(&world.work())
            .variable("GITHUB_ACTIONS", "true")
            .variable("GITHUB_OUTPUT", outputs.display().to_string())
            .run(command)
            .expect(2);
        let verdict = job_output(&fs::read_to_string(outputs).unwrap(), "verdict");
        assert_eq!(verdict == "undecided", has_verdict, "{command}: {verdict:?}");
    }
}

#[test]
fn artifacts_are_listed_shown_and_switched() {
    let world = project_to_publish();
    let platform = Platform::new();
    let version = version_details(&world)["artifactDetails"].clone();
    let mut other = version.clone();
    other["versionName"] = json!("0");
    let details = version_details(&world);
    let mut later_details = details.clone();
    later_details["artifactDetails"] = other.clone();
    platform.respond_to(
        "GET",
        "/artifacts$",
        answer(&json!({ "results": [version, other], "page": 0, "size": 20, "total": 2 })),
    );
    let responses = [&details, &details, &later_details].map(answer);
    platform.respond_to("GET", "/artifacts/details$", in_turn(responses.into()));
    platform.respond_to("PATCH", "/artifacts$", |request: &Request| {
        let change: Value = serde_json::from_slice(&request.body).unwrap();
        answer(&json!({ "enabled": change["enabled"] }))
    });
    let item = json!({ "sharedPipelineIdPrefix": "p", "sharedPipelineId": "load", "description": "d", "latestVersionName": "1" });
    platform.respond_to(
        "GET",
        "/shared-pipelines$",
        answer(&json!({ "results": [item], "page": 0, "size": 20, "total": 1 })),
    );
    let call = platform
        .call(&world)
        .without("SLUICEGATE_PROJECT_ID")
        .without("SLUICEGATE_AGENT_VERSION");
    assert!(
        call.run(&["artifacts", "list"])
            .expect(0)
            .out
            .contains("public-api")
    );
    assert_eq!(
        call.run(&["artifacts", "show", "--prefix", "p", "-o", "json"])
            .expect(0)
            .json(),
        version_details(&world)
    );
    assert!(
        call.run(&["artifacts", "show", "--prefix", "p"])
            .expect(0)
            .out
            .contains("sales/load")
    );
    call.run("artifacts enable --prefix p --version-name 1").expect(0);
    call.run("artifacts disable --prefix p --version-name 1")
        .expect(0);
    call.run("artifacts disable --version-name 1")
        .expect(2)
        .saying(&["--prefix"]);
    assert!(
        call.run(&["shared-pipelines", "list"])
            .expect(0)
            .out
            .contains("load")
    );
    let show = platform
        .requests()
        .into_iter()
        .find(|r| r.url.path().ends_with("/details"))
        .unwrap();
    assert!(
        !show.url.query().unwrap().contains("versionName"),
        "[Latest] is asked for by leaving the version out"
    );
}

/// A refused lookup of a version is not repeated, because the next one would be refused, too.
#[test]
fn lookup_after_lost_response_is_repeated_unless_it_is_refused() {
    let world = plain_project();
    for (status, is_repeated) in [(403, false), (401, false), (503, true)] {
        let platform = platform_taking_uploads(ResponseTemplate::new(502), ResponseTemplate::new(status));
        let call = platform.call(&world).variable("SLUICEGATE_LOOKUP_TIMEOUT", "1");
        let output = call.run((&PUBLISH, "--compat off"));
        let requests = platform.requests();
        let after_upload = requests
            .iter()
            .skip_while(|request| request.method.as_str() != "POST");
        let is_lookup = |request: &&Request| request.url.path().ends_with("/details");
        let lookup_count = after_upload.filter(is_lookup).count();
        assert_eq!(
            lookup_count > 1,
            is_repeated,
            "{status} {lookup_count}: {}",
            output.all()
        );
    }
}

#[test]
fn summary_of_repeated_publish_reports_earlier_version() {
    let world = plain_project();
    let platform = publish_platform(&world, upload_response(&json!([])));
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "after": head(&world) });
    for title in ["Published version 1 of p", "Version 1 of p was published before"] {
        let summary = world.path().join("summary.md");
        let _ = fs::remove_file(&summary);
        Job::github()
            .event("push", "refs/heads/main", &payload)
            .extend(&world, platform.call(&world))
            .variable("GITHUB_STEP_SUMMARY", summary.to_str().unwrap())
            .run((&PUBLISH, "--if-exists same-content"))
            .expect(0);
        let text = fs::read_to_string(&summary).unwrap();
        assert!(text.contains(title), "{title}: {text}");
    }
}

/// Returns a platform whose clock shows this time. It loses the response to the upload, and shows these details later.
fn platform_at_time(time: jiff::Timestamp, details: &Value) -> Platform {
    let date = time.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let platform = Platform::new();
    platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
    platform.respond_to("PATCH", "/artifacts$", answer(&json!({})));
    let is_uploaded = Arc::new(AtomicBool::new(false));
    let is_visible = Arc::clone(&is_uploaded);
    platform.respond_to("POST", "/artifacts$", move |_: &Request| {
        is_uploaded.store(true, Ordering::SeqCst);
        ResponseTemplate::new(502)
    });
    let version = answer(details);
    platform.respond_to("GET", "/artifacts/details$", move |_: &Request| {
        let response = if is_visible.load(Ordering::SeqCst) {
            version.clone()
        } else {
            ResponseTemplate::new(404)
        };
        response.insert_header("date", date.as_str())
    });
    platform
}

/// The local clock is 30 minutes ahead of the platform's.
#[test]
fn version_after_lost_response_is_dated_by_the_clock_of_the_platform() {
    let (plain, scripted) = (plain_project(), project_to_publish());
    let time = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(30);
    let earlier_time = time - jiff::SignedDuration::from_mins(15);
    for flags in ["", "--if-exists same-content", "--on-ignored disable"] {
        for (world, created_at, code) in [(&plain, time, 0), (&scripted, time, 6), (&plain, earlier_time, 5)]
        {
            let mut details = version_details(world);
            details["artifactDetails"]["createdAt"] = json!(created_at.to_string());
            let platform = platform_at_time(time, &details);
            let output = platform.call(world).run((&PUBLISH, flags));
            // The same content is accepted, whoever published it.
            let is_accepted = code == 5 && flags.contains("same-content");
            let expected_code = if is_accepted { 0 } else { code };
            assert_eq!(
                output.code,
                expected_code,
                "{flags} {created_at}: {}",
                output.all()
            );
        }
    }
}

#[test]
fn failed_hash_does_not_replace_the_reason_of_an_undecided_publish() {
    let world = project_to_publish();
    world.write("notes.md", "not a pipeline\n");
    world.commit("notes");
    world.push();
    let blob = world.git("rev-parse HEAD:notes.md");
    let object = world
        .work()
        .join(".git/objects")
        .join(&blob[..2])
        .join(&blob[2..]);
    for (file, has_files) in [(world.path().join("nothing"), true), (object, false)] {
        let platform = Platform::new();
        platform.respond_to("GET", "/artifacts$", answer(&json!({ "results": [] })));
        platform.respond_to("GET", "/artifacts/details$", move |_: &Request| {
            let _ = fs::remove_file(&file);
            ResponseTemplate::new(500)
        });
        let flags = "--compat fail --include ** --junit out/junit.xml";
        let output = platform.call(&world).run((&PUBLISH, flags)).expect(3);
        assert_eq!(
            output.err.contains("could not compute the content hashes"),
            !has_files,
            "{}",
            output.all()
        );
        let receipt = read_json(&world.work().join("out/receipt.json"));
        assert_eq!(!receipt["files"].as_array().unwrap().is_empty(), has_files);
        let junit = fs::read_to_string(world.work().join("out/junit.xml")).unwrap();
        assert!(junit.contains("nothing was sent"), "{junit}");
    }
}
