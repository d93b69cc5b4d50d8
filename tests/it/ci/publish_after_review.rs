//! From a review to a trusted version: `ci`, `--require-review`, `verify`, and withdrawing versions, all against the
//! local platform.

use crate::publish::merged_commits::call_of_push;
use crate::support::publishing::{caller_of_files, project_to_publish};
use crate::support::release::{publish_call, stage, versions};
use crate::support::{
    Call, Platform, ServerProcess, World, answer, at_once, in_turn, orchestration_text, passed_results,
    read_json, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;
use wiremock::ResponseTemplate;

fn publish_version(world: &World, server: &ServerProcess, version: &str) {
    publish_call(world, server)
        .run(format!("publish --version-name {version}"))
        .expect(0);
}

/// An edit that makes a receipt invalid.
type Change = fn(&mut Value);

#[test]
fn ci_publishes_only_what_passed_on_a_branch_to_publish_on() {
    let (world, server) = stage();
    world.git("checkout -q -b change");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("bad");
    world.push();
    let everywhere = "ci --publish --version-name auto --publish-on-branch **";
    publish_call(&world, &server).run(everywhere).expect(1);
    assert_eq!(versions(&world, &server), []);

    world.git("checkout -q main");
    world.write("sluicegate.yaml", "publish-on:\n  branches: [main]\n");
    let head = world.commit("configured");
    world.push();
    let args = [
        "ci",
        "--publish",
        "--version-name",
        "auto",
        "--receipt",
        "receipt.json",
        "--report",
        "json=-",
    ];
    let output = publish_call(&world, &server).run(&args).expect(0);
    assert_eq!(
        output.json()["verdict"],
        "passed",
        "standard output is the report alone"
    );
    let receipt = read_json(&world.work().join("receipt.json"));
    let review = json!({ "verdict": "passed", "engine": "remote", "head": head, "reportSha256": null });
    assert_eq!(receipt["review"], review);
    let name = format!("2026-11-20-{}", &head[..7]);
    assert_eq!(receipt["versionName"], json!(name));
    assert_eq!(versions(&world, &server), [(name, true)]);

    publish_call(&world, &server)
        .run(&args)
        .expect(0)
        .saying(&["not publishing commit", "again, because version"]);
    let second_args = (&args, "--if-exists same-content");
    publish_call(&world, &server).run(&second_args).expect(0);
    world.git("checkout -q -b other");
    world.push();
    publish_call(&world, &server)
        .run(&args)
        .expect(0)
        .saying(&["nothing is published", "other"]);
    assert_eq!(versions(&world, &server).len(), 1);
}

#[test]
fn ci_publishes_what_passes_by_the_waivers_of_its_branch() {
    let (world, server) = stage();
    world.write(
        "sales/old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("bad");
    world.push();
    let args = [
        "ci",
        "--publish",
        "--version-name",
        "1",
        "--publish-on-branch",
        "main",
    ];
    let args = (&args, "--report json=review.json");
    publish_call(&world, &server).run(&args).expect(1);
    let waiver = |about: &str| {
        format!(
            "- {{ rule: component-naming-convention, path: sales/old.orch.yaml, about: {about}, reason: legacy }}\n"
        )
    };
    world.write("sluicegate-waivers.yaml", waiver("another name"));
    world.commit("waive another");
    world.push();
    publish_call(&world, &server).run(&args).expect(1);
    assert_eq!(versions(&world, &server), []);
    world.write("sluicegate-waivers.yaml", waiver("bad name"));
    world.commit("waive");
    world.push();
    publish_call(&world, &server).run(&args).expect(0);
    let report = read_json(&world.work().join("review.json"));
    assert_eq!(
        (&report["findings"]["waived"], &report["verdict"]),
        (&json!(1), &json!("passed"))
    );
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

/// Returns a world with a pushed finding that a waiver until 2999-12-31 allows.
fn world_with_waived_finding() -> (World, ServerProcess) {
    let (world, server) = stage();
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: component-naming-convention, path: sales/load.orch.yaml, reason: legacy, until: 2999-12-31 }\n",
    );
    world.commit("waived");
    world.push();
    (world, server)
}

#[test]
fn review_whose_waivers_expired_since_is_not_accepted() {
    let (world, server) = world_with_waived_finding();
    publish_call(&world, &server)
        .run("review --all --report json=../review.json")
        .expect(0);
    let publish = |report: &str, version: &str| {
        let args = ["publish", "--version-name", version, "--require-review", report];
        publish_call(&world, &server).run(&args)
    };
    let report_file = world.path().join("review.json");
    let valid_report = fs::read_to_string(&report_file).unwrap();
    world.write(
        "../expired.json",
        valid_report.replace("2999-12-31", "2000-01-31"),
    );
    let expired_reason = "the waivers of 1 finding expired since the review";
    publish("../expired.json", "1")
        .expect(2)
        .saying(&[expired_reason]);
    assert_eq!(versions(&world, &server), []);
    let report = |file: &str| Call::new(&world.work()).run(("report --report json=-", file));
    let expired_report = report("../expired.json").expect(1).json();
    assert_eq!(expired_report["verdict"], "failed", "{expired_report}");
    assert_eq!(expired_report["findings"]["waived"], 0, "{expired_report}");
    assert!(
        expired_report["notes"].to_string().contains(expired_reason),
        "{expired_report}"
    );
    // Counterpart: the waiver is still valid.
    let valid_report = report("../review.json").expect(0).json();
    assert_eq!(valid_report["findings"]["waived"], 1, "{valid_report}");
    publish("../review.json", "1").expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

#[test]
fn report_of_expired_waivers_notes_that_their_findings_were_not_compared() {
    let (world, server) = world_with_waived_finding();
    let text = "did not record whether the base has these findings";
    for (flags, is_compared) in [("--base HEAD --new-only", true), ("", false)] {
        publish_call(&world, &server)
            .run(format!("review --all {flags} --report json=../review.json"))
            .expect(0);
        let report = fs::read_to_string(world.path().join("review.json")).unwrap();
        world.write("../expired.json", report.replace("2999-12-31", "2000-01-31"));
        let report = Call::new(&world.work())
            .run("report --report json=- ../expired.json")
            .expect(1)
            .json();
        assert_eq!(
            report["notes"].to_string().contains(text),
            is_compared,
            "{report}"
        );
    }
}

#[test]
fn publish_of_pipelines_that_report_covers_has_no_warning_about_review() {
    let (world, server) = stage();
    world.write("old/b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("sluicegate.yaml", "review: { exclude: ['old/**'] }\n");
    world.commit("left out");
    world.push();
    for (exclude, version, has_warning) in [("", "1", true), ("--exclude none", "2", false)] {
        let review = format!("review --all {exclude} --report json=review.json");
        publish_call(&world, &server).run(&review).expect(0);
        let output = publish_call(&world, &server)
            .run(("publish --require-review review.json --version-name", version))
            .expect(0);
        let warns = output.all().contains("publishing without a review");
        assert_eq!(warns, has_warning, "{}", output.all());
    }
}

/// The policy names the files, and the run reports what was not reviewed; a selection of files by the job gets no such
/// exception.
#[test]
fn ci_publishes_pipelines_that_policy_excludes_from_review() {
    let (world, server) = stage();
    world.write(
        "old/bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.write("sluicegate.yaml", "review: { exclude: ['old/**'] }\n");
    world.commit("left out");
    world.push();
    let receipt = ["--receipt", "receipt.json"];
    let args = "ci --publish --publish-on-branch main --version-name";
    let expected_text = "publishing without a review because of `review.include` or `review.exclude`: 1 pipeline (old/bad.orch.yaml)";
    let output = publish_call(&world, &server).run((args, "1", &receipt));
    output.expect(0).saying(&[expected_text]);
    let paths = |receipt: &Value| {
        let files = receipt["files"].as_array().unwrap().iter();
        files
            .map(|file| file["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert!(paths(&read_json(&world.work().join("receipt.json"))).contains(&"old/bad.orch.yaml".to_owned()));
    publish_call(&world, &server)
        .run("review --all --report json=review.json")
        .expect(0);
    let required = "publish --require-review review.json --version-name";
    publish_call(&world, &server)
        .run((required, "2"))
        .expect(0)
        .saying(&[expected_text]);
    let job = publish_call(&world, &server).variable("SLUICEGATE_EXCLUDE", "none/**");
    job.run((required, "3"))
        .expect(2)
        .saying(&["has no result for 1 pipeline of the plan: old/bad.orch.yaml"]);
    publish_call(&world, &server)
        .run((args, "4 --exclude none/**"))
        .expect(1);
    // Files that the common `exclude` key excludes from both are still not excused.
    world.write(
        "sluicegate.yaml",
        "exclude: ['old/**']\npublish: { exclude: [] }\n",
    );
    world.commit("common");
    world.push();
    publish_call(&world, &server)
        .run("review --all --report json=review.json")
        .expect(0);
    publish_call(&world, &server)
        .run((required, "5"))
        .expect(2)
        .saying(&["has no result for 1 pipeline"]);
}

#[test]
fn ci_publishes_tags_but_never_a_change_that_is_not_merged() {
    let (world, server) = stage();
    let head = world.git("rev-parse HEAD");
    world.git("tag v1.2.3");
    let host = || {
        publish_call(&world, &server)
            .variable("GITLAB_CI", "true")
            .variable("CI_COMMIT_SHA", &head)
            .variable("SLUICEGATE_VERSION_NAME", "{tag}")
    };
    let tagged = |tag: &str| {
        host()
            .variable("CI_PIPELINE_SOURCE", "push")
            .variable("CI_COMMIT_TAG", tag)
    };
    let args = ["ci", "--publish-on-tag", "v*", "--publish-on-branch", "**"];
    tagged("nightly").run(&args).expect(0).saying(&["tag nightly"]);
    let merge_request = host()
        .variable("CI_PIPELINE_SOURCE", "merge_request_event")
        .variable("CI_MERGE_REQUEST_IID", "7")
        .variable("CI_MERGE_REQUEST_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "main")
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &head);
    merge_request
        .run(&args)
        .expect(0)
        .saying(&["the job of a pull or merge request"]);
    assert_eq!(versions(&world, &server), []);
    tagged("v1.2.3").run(&args).expect(0);
    assert_eq!(versions(&world, &server), [("v1.2.3".to_owned(), true)]);
    let dry = (&args, "--dry-run");
    let output = tagged("v2").run(&dry).expect(0);
    assert!(
        output.out.contains("would review") && output.out.contains("would publish"),
        "{}",
        output.all()
    );
    assert_eq!(versions(&world, &server).len(), 1);
}

/// The commit of a merge queue may never reach the target branch.
#[test]
fn ci_publishes_nothing_of_a_merge_queue() {
    let (world, server) = stage();
    let base = world.git("rev-parse HEAD");
    world.git("checkout -q -b gh-readonly-queue/main/pr-7");
    world.write("sales/more.orch.yaml", orchestration_text(&["Start", "Done"]));
    let head = world.commit("queued");
    world.push();
    let reference = "refs/heads/gh-readonly-queue/main/pr-7";
    let payload = json!({
        "repository": { "default_branch": "main", "full_name": "o/p" },
        "merge_group": { "base_sha": base, "head_sha": head, "base_ref": "refs/heads/main", "head_ref": reference },
    });
    let file = world.path().join("event.json");
    fs::write(&file, payload.to_string()).unwrap();
    let call = publish_call(&world, &server)
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "merge_group")
        .variable("GITHUB_REF", reference)
        .variable("GITHUB_SHA", &head)
        .variable("GITHUB_EVENT_PATH", file.display().to_string());
    let args = "ci --publish --version-name 1 --publish-on-branch **";
    call.run(args)
        .expect(0)
        .saying(&["reviewing 1 pipeline", "(event merge_group)"]);
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn ci_reports_as_a_review_does_and_publishes_no_part_of_one() {
    let (world, server) = stage();
    let ci = |more: &str| {
        let args = "ci --publish --all --version-name 1 --publish-on-branch main";
        publish_call(&world, &server).run((args, more))
    };
    for dry_run in ["--dry-run", ""] {
        ci(&format!("--shard 1/2 {dry_run}"))
            .expect(0)
            .saying(&["nothing is published", "shard 1/2"]);
    }
    assert_eq!(versions(&world, &server), []);
    let comment = "--comment --report html=r.html --report sarif=r.sarif";
    ci(comment).expect(0).saying(&[
        "could not send the comment",
        "a local run has no pull or merge request",
    ]);
    let html = fs::read_to_string(world.work().join("r.html")).unwrap();
    assert!(html.contains("sales/load.orch.yaml"));
    assert_eq!(read_json(&world.work().join("r.sarif"))["version"], "2.1.0");
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

#[test]
fn ci_publishes_nothing_that_a_job_before_would_have_stopped() {
    let (world, server) = stage();
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("bad, and its job was cancelled");
    world.write("README.md", "words");
    world.commit("no pipeline");
    world.push();
    let args = [
        "ci",
        "--publish",
        "--version-name",
        "1",
        "--publish-on-branch",
        "main",
        "--base",
        "HEAD~1",
        "--report",
        "json=-",
    ];
    // Nothing changed since the base, but the files to publish still fail.
    let report = publish_call(&world, &server).run(&args).expect(1).json();
    assert_eq!(report["files"][0]["path"], "sales/load.orch.yaml");
    assert!(
        report["notes"].to_string().contains("without changes"),
        "{report}"
    );
    assert_eq!(versions(&world, &server), []);

    world.write("sales/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("good");
    world.push();
    let ci = |more: &[&str]| publish_call(&world, &server).run((&args[..], more));
    for (more, reason) in [
        (&["--fail-on", "never"][..], "--fail-on never"),
        (&["sales"], "restricted to sales"),
        (&["--shard", "1/2"], "only shard 1/2"),
    ] {
        ci(more).expect(0).saying(&["nothing is published", reason]);
    }
    assert_eq!(versions(&world, &server), []);
    // If nothing is to be published, only changed files are reviewed.
    let args = [
        "ci",
        "--publish",
        "--version-name",
        "1",
        "--publish-on-branch",
        "release/*",
        "--base",
        "HEAD",
        "--report",
        "json=-",
    ];
    let report = publish_call(&world, &server).run(&args).expect(0).json();
    assert_eq!(report["files"], json!([]));
    ci(&[]).expect(0);
    assert_eq!(versions(&world, &server), [("1".to_owned(), true)]);
}

#[test]
fn required_review_is_whole_and_platforms() {
    let (world, server) = stage();
    world.write("other.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("two");
    world.push();
    let make = |args: &[&str]| publish_call(&world, &server).run((args, "--report json=../r.json"));
    let publish = |more: &str| {
        let args = [
            "publish",
            "--version-name",
            "1",
            "--dry-run",
            "--require-review",
            "../r.json",
        ];
        publish_call(&world, &server).run((&args[..], more))
    };
    for (args, reason) in [
        (
            &["review", "--base", "HEAD~1"][..],
            "no result for 1 pipeline of the plan: sales/load.orch.yaml",
        ),
        (&["review", "--all", "sales"], "restricted to sales"),
        (
            &["review", "--all", "--exclude", "other*"],
            "no result for 1 pipeline of the plan: other.orch.yaml",
        ),
        (&["review", "--all", "--fail-on", "never"], "--fail-on never"),
        (&["check", "--all"], "not by the platform"),
    ] {
        make(args).expect(0);
        publish("").expect(2).saying(&[reason]);
    }
    // Only the engine requirement can be waived, and only by the job.
    publish("--require-review-engine any")
        .expect(2)
        .saying(&["covers no commit", "`sluicegate check --all --head HEAD "]);
    // The hint is about the engine that made the review, if the settings accept it.
    make(&["check", "--all", "--head", "HEAD", "sales"]).expect(0);
    publish("--require-review-engine any")
        .expect(2)
        .saying(&["restricted to sales", "`sluicegate check --all --head HEAD "]);
    publish("")
        .expect(2)
        .saying(&["restricted to sales", "`sluicegate review --all "]);
    make(&["check", "--all", "--head", "HEAD"]).expect(0);
    publish("").expect(2).saying(&["not by the platform"]);
    publish("--require-review-engine any").expect(0);
    world.write("sluicegate.yaml", "publish:\n  require-review-engine: any\n");
    publish("")
        .expect(2)
        .saying(&["SLUICEGATE_REQUIRE_REVIEW_ENGINE"]);
    fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    world.write("../lenient.yaml", "rules: []\n");
    make(&["check", "--all", "--head", "HEAD", "--rules", "../lenient.yaml"]).expect(0);
    publish("--require-review-engine any")
        .expect(2)
        .saying(&["the review evaluated the rules in ../lenient.yaml instead of the project's rules"]);
    make(&["review", "--all", "--project-checks", "off"]).expect(0);
    publish("")
        .expect(0)
        .saying(&["ran without project checks (--project-checks off)"]);
    make(&["review", "--all"]).expect(0);
    publish("").expect(0);
    let mut silent = read_json(&world.work().join("../r.json"));
    silent["context"]
        .as_object_mut()
        .unwrap()
        .remove("failOn")
        .unwrap();
    fs::write(world.path().join("r.json"), silent.to_string()).unwrap();
    publish("").expect(2).saying(&["failOn"]);

    // An edited report, with every command that reads it.
    world.write(
        "other.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("bad");
    world.push();
    make(&["review", "--all"]).expect(1);
    let report = world.path().join("r.json");
    let failed = fs::read_to_string(&report).unwrap();
    fs::write(
        &report,
        failed.replace("\"verdict\": \"failed\"", "\"verdict\": \"passed\""),
    )
    .unwrap();
    publish("").expect(2).saying(&["results fail the gate"]);
    publish_call(&world, &server)
        .run("report ../r.json")
        .expect(2)
        .saying(&["results fail the gate"]);
    fs::write(&report, failed.replacen('{', "{ \"reviewed\": true,", 1)).unwrap();
    publish("").expect(2).saying(&["unknown field"]);
}

#[test]
fn names_that_no_header_has_a_meaning_for_are_refused() {
    let (world, server) = stage();
    for args in [
        "publish --version-name größe",
        "publish --version-name 1 --prefix größe",
    ] {
        publish_call(&world, &server)
            .run(args)
            .expect(2)
            .saying(&["printable ASCII", "'ö'"]);
    }
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn ci_refuses_name_that_cannot_be_sent_before_its_review() {
    let world = project_to_publish();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let call = platform.call(&world);
    let args = "ci --publish --publish-on-branch main --branch main";
    for (names, expected_text) in [
        ("--prefix é --version-name 1", "only printable ASCII"),
        ("--prefix p --version-name é", "only printable ASCII"),
        ("--prefix p --version-name {nope}", "unknown placeholder `{nope}`"),
        ("--prefix p --version-name {tag}", "this run is not for a tag"),
    ] {
        call.clone().run((args, names)).expect(2).saying(&[expected_text]);
        assert_eq!(platform.requests().len(), 0, "{names}");
    }
    // A name that can be sent does not stop the review.
    call.run((args, "--prefix p --version-name 1"));
    assert!(!platform.requests().is_empty());
}

#[test]
fn undecided_review_that_may_pass_is_not_published() {
    let (world, _) = stage();
    let nowhere = Call::with_platform(&world.work(), "http://127.0.0.1:9")
        .variable("SLUICEGATE_RETRIES", "0")
        .variable("SLUICEGATE_PREFIX", "sales");
    let args = "ci --publish --all --version-name 1 --publish-on-branch **";
    nowhere.run(args).expect(3);
    nowhere
        .run((args, "--on-unavailable pass"))
        .expect(0)
        .saying(&["nothing is published: the verdict of the review is undecided"]);
}

#[test]
fn publish_can_require_review_of_the_same_commit() {
    let (world, server) = stage();
    let publish = |report: &str| {
        let args = "publish --version-name {short-sha} --receipt receipt.json";
        publish_call(&world, &server).run((args, &["--require-review", report]))
    };
    publish("none.json").expect(2).saying(&["none.json"]);
    world.write("odd.json", "{}");
    publish("odd.json").expect(2).saying(&["odd.json"]);
    publish_call(&world, &server)
        .run("review --all --report json=../good.json")
        .expect(0);
    let compare = "--compare ../good.json ../good.json --report json=../two.json";
    publish_call(&world, &server).run(("report", compare)).expect(0);
    publish("../two.json")
        .expect(2)
        .saying(&["the report is a comparison"]);
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("bad");
    world.push();
    publish("../good.json")
        .expect(2)
        .saying(&["not the commit to publish"]);
    publish_call(&world, &server)
        .run("review --all --report json=../bad.json")
        .expect(1);
    publish("../bad.json").expect(1).saying(&["did not pass"]);
    let known_args = "review --all --new-only --base HEAD --report json=../known.json";
    publish_call(&world, &server).run(known_args).expect(0);
    publish("../known.json")
        .expect(2)
        .saying(&["the review passed despite 1 known finding"]);
    world.git("checkout -q HEAD~1");
    publish_call(&world, &server)
        .run("review --all --shard 1/2 --report json=../part.json")
        .expect(0);
    publish("../part.json").expect(2).saying(&["only shard 1/2"]);
    assert_eq!(versions(&world, &server), []);

    let plan = "publish --version-name x --dry-run --require-review ../good.json";
    publish_call(&world, &server).run(plan).expect(0);
    let other_project = format!("{plan} --project-id 00000000-0000-0000-0000-000000000001");
    publish_call(&world, &server).run(other_project).expect(2);
    let unconfigured = publish_call(&world, &server).without("SLUICEGATE_BASE_URL");
    unconfigured.run(plan).expect(0);

    publish("../good.json").expect(0);
    let receipt = read_json(&world.work().join("receipt.json"));
    assert_eq!(receipt["review"]["head"], receipt["commitHash"]);
    assert!(receipt["review"]["reportSha256"].is_string());
    let from_disk = "publish --version-name x --from worktree --require-review ../good.json";
    publish_call(&world, &server)
        .run(from_disk)
        .expect(2)
        .saying(&["working tree"]);
}

#[test]
fn publish_reports_that_the_required_review_is_missing_or_undecided() {
    let (world, server) = stage();
    let publish = |report: &str| {
        publish_call(&world, &server).run(format!("publish --version-name 1 --require-review {report}"))
    };
    publish("none.json")
        .expect(2)
        .saying(&["hint: write the report with `sluicegate review --all"]);
    let review =
        |call: Call, report: &str| call.run(format!("review --all --retries 0 --report json={report}"));
    // The report of a run that ends before its review is only a placeholder.
    review(publish_call(&world, &server), "../early.json --base none").expect(7);
    publish("../early.json")
        .expect(2)
        .saying(&["early.json: it is undecided", "hint: review the commit again"]);
    let platform = Platform::new();
    platform.reviews(ResponseTemplate::new(503));
    let call = publish_call(&world, &server).variable("SLUICEGATE_BASE_URL", platform.server.uri());
    review(call, "../down.json").expect(3);
    let output = publish_call(&world, &server)
        .variable("SLUICEGATE_BASE_URL", platform.server.uri())
        .run("publish --version-name 1 --require-review ../down.json")
        .expect(1);
    let output = output.saying(&["it is undecided", "hint: review the commit again"]);
    assert!(!output.all().contains("fix the findings"), "{}", output.all());
}

/// The reviewed commit may differ from the working tree, so `ci` fails before it sends the review.
#[test]
fn ci_with_publish_from_worktree_fails_before_the_review() {
    let (world, server) = stage();
    let call = call_of_push(&world, publish_call(&world, &server));
    let ci = "ci --version-name 1 --publish-on-branch main";
    let output = call.run((ci, "--from worktree")).expect(2);
    let output = output.saying(&["a review covers a commit, not the files of the working tree"]);
    assert!(!output.all().contains("reviewing"), "{}", output.all());
    call.run((ci, "--from commit")).expect(0);
}

#[test]
fn receipt_is_verified_later() {
    let (world, server) = stage();
    let args = "publish --version-name 1 --receipt r.json";
    publish_call(&world, &server).run(args).expect(0);
    let verify = |path: &str| publish_call(&world, &server).run(&["verify", path]);
    assert!(verify("r.json").expect(0).out.contains("version 1 of sales"));
    // Without a local clone, the platform's version is still compared with the receipt.
    fs::copy(world.work().join("r.json"), world.path().join("r.json")).unwrap();
    Call::with_platform(world.path(), &server.url)
        .run("verify r.json")
        .expect(0)
        .saying(&["not compared"]);

    let changes: [(Change, &str); 6] = [
        (|receipt| receipt["digest"] = json!("sha256:0"), "digest"),
        (
            |receipt| receipt["files"][1]["sha256"] = json!("0".repeat(64)),
            "different content",
        ),
        (
            |receipt| receipt["commitHash"] = json!("0".repeat(40)),
            "the version is from commit",
        ),
        (|receipt| receipt["versionName"] = json!("2"), "no version 2"),
        (
            |receipt| receipt["sharedPipelines"][0]["id"] = json!("gone"),
            "`gone`",
        ),
        (
            |receipt| receipt["outcome"] = json!("failed"),
            "the outcome `failed`",
        ),
    ];
    for (change, words) in changes {
        let mut receipt = read_json(&world.work().join("r.json"));
        change(&mut receipt);
        world.write("changed.json", receipt.to_string());
        verify("changed.json").expect(6).saying(&[words]);
    }
    for (content, word) in [
        ("[", "not a receipt"),
        ("{}", "schema"),
        ("{\"schema\": 1}", "not a receipt"),
    ] {
        world.write("broken.json", content);
        verify("broken.json").expect(2).saying(&[word]);
    }
    let report = publish_call(&world, &server)
        .run("verify r.json -o json")
        .expect(0)
        .json();
    assert_eq!(
        (&report["verified"], &report["differences"]),
        (&json!(true), &json!([]))
    );
    publish_call(&world, &server)
        .variable("SLUICEGATE_TOKEN", "another")
        .run("verify r.json")
        .expect(4);
}

#[test]
fn versions_are_taken_back_but_never_the_last_by_mistake() {
    let (world, server) = stage();
    let artifacts = |args: &str| publish_call(&world, &server).run(("artifacts", args));
    for version in ["1", "2", "3", "4"] {
        publish_version(&world, &server, version);
    }
    let states = || {
        versions(&world, &server)
            .into_iter()
            .map(|(name, enabled)| if enabled { name } else { format!("({name})") })
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(states(), "4 3 2 1");
    let dry = artifacts("prune --keep 2").expect(0);
    assert!(
        dry.out.contains("would disable 2 versions of sales: 2, 1"),
        "{}",
        dry.all()
    );
    artifacts("prune --keep 2 --dry-run").expect(0);
    artifacts("prune --keep 0 --yes").expect(2);
    assert_eq!(states(), "4 3 2 1");
    artifacts("prune --keep 2 --yes").expect(0);
    assert_eq!(states(), "4 3 (2) (1)");

    let output = artifacts("rollback").expect(0);
    assert!(
        output.out.contains("disabled version 4") && output.out.contains("version 3 now"),
        "{}",
        output.all()
    );
    assert_eq!(states(), "(4) 3 (2) (1)");
    artifacts("rollback").expect(2).saying(&["--force"]);
    // A version that does not exist is not the last enabled one, whether another is enabled or not.
    artifacts("disable nope")
        .expect(3)
        .saying(&["the platform has no version \"nope\""]);
    artifacts("disable --version-name 3")
        .expect(2)
        .saying(&["--force"]);
    assert_eq!(states(), "(4) 3 (2) (1)");
    artifacts("disable --version-name 4").expect(0);
    artifacts("enable --version-name 1").expect(0);
    artifacts("disable --version-name 3").expect(0);
    let run_output = artifacts("rollback --force -o json")
        .expect(0)
        .saying(&["NO VERSION IS ENABLED"]);
    assert_eq!(run_output.json()["latest"], Value::Null);
    assert_eq!(states(), "(4) (3) (2) (1)");
    artifacts("rollback").expect(3);
}

#[test]
fn quarantined_version_names_what_consumers_get() {
    let (world, server) = stage();
    world.write("notes.md", "not a pipeline\n");
    world.commit("notes");
    world.push();
    let incomplete = |version: &str| {
        let include = "--include **/*.orch.yaml --include **/*.md";
        let args = format!("publish --version-name {version} --on-ignored disable");
        publish_call(&world, &server).run((&args, include)).expect(6)
    };
    incomplete("0").saying(&["NO VERSION IS ENABLED", "notes.md"]);
    publish_version(&world, &server, "1");
    incomplete("2").saying(&["consumers of [Latest] get version 1 now"]);
    let states = versions(&world, &server);
    let names: Vec<&str> = states
        .iter()
        .filter(|(_, on)| *on)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(names, ["1"]);
    // A disabled version is not a success, even if it has the same commit.
    let second_args = "publish --version-name 2 --if-exists same-content";
    publish_call(&world, &server)
        .run(second_args)
        .expect(5)
        .saying(&["the version is disabled"]);
}

#[test]
fn plan_is_data() {
    let (world, server) = stage();
    publish_version(&world, &server, "1");
    let before = world.git("rev-parse HEAD");
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.write("sales/new.orch.yaml", orchestration_text(&["Start", "Done"]));
    let head = world.commit("more");
    world.push();
    let dry = |version: &str, code: i32| {
        publish_call(&world, &server)
            .run(format!("publish --dry-run --json --version-name {version}"))
            .expect(code)
            .json()
    };
    let plan = dry("2", 0);
    assert_eq!(plan["schema"], "sluicegate.plan/v1");
    assert_eq!(
        (&plan["prefix"], &plan["versionName"], &plan["commitHash"]),
        (&json!("sales"), &json!("2"), &json!(head))
    );
    assert_eq!(plan["files"].as_array().unwrap().len(), 3);
    assert_eq!(
        plan["latest"],
        json!({ "versionName": "1", "commitHash": before })
    );
    let changes = json!({
        "since": before, "added": ["sales/new.orch.yaml"], "modified": ["sales/load.orch.yaml"], "removed": [],
    });
    assert_eq!((&plan["changes"], &plan["refused"]), (&changes, &json!([])));
    assert!(
        dry("1", 5)["refused"][0]["what"]
            .as_str()
            .unwrap()
            .contains("exists")
    );
    let closure = publish_call(&world, &server)
        .variable("SLUICEGATE_SELECT", "closure")
        .run("publish --dry-run --json --version-name 2")
        .expect(0)
        .json();
    assert_eq!(closure["files"].as_array().unwrap().len(), 2);

    // Without a platform, the plan is still printed.
    let call = Call::new(&world.work()).variable("SLUICEGATE_PREFIX", "sales");
    let plan = call
        .run("publish --dry-run --json --version-name auto")
        .expect(0)
        .json();
    assert_eq!(plan["versionName"], json!(format!("2026-11-20-{}", &head[..7])));
    assert_eq!(plan["changes"], Value::Null);

    world.write("sales/load.orch.yaml", "type: [\n");
    world.commit("broken");
    let report = call
        .run("publish --dry-run --json --version-name auto")
        .expect(2)
        .json();
    assert_eq!(report["refused"][0]["path"], "sales/load.orch.yaml");
    assert_eq!(versions(&world, &server).len(), 1);
}

#[test]
fn switch_that_platform_ignores_is_not_reported_as_made() {
    let world = World::new();
    let entry =
        |version: &str| json!({ "sharedPipelineIdPrefix": "sales", "versionName": version, "enabled": true });
    let details = json!({ "artifactDetails": entry("2"), "sharedPipelines": [] });
    let switched_as = |told: &Value| {
        let platform = Platform::new();
        let list = json!([entry("2"), entry("1")]);
        platform.respond_to("GET", "/v1/shared-pipelines/artifacts$", answer(&list));
        platform.respond_to("GET", "/artifacts/details", answer(&details));
        platform.respond_to("PATCH", "/v1/shared-pipelines/artifacts$", answer(told));
        platform
    };
    let still = &["version 2 is still enabled"][..];
    let unknown = &[
        "could not check whether version 2 of sales is disabled",
        "does not show the version as disabled",
    ];
    let disable = &["artifacts", "disable", "--version-name", "2"][..];
    let rollback = &["artifacts", "rollback"];
    let cases = [
        (entry("2"), disable, still),
        (entry("2"), rollback, still),
        (json!({}), rollback, unknown),
        (json!({}), disable, unknown),
    ];
    at_once(cases, |(told, args, expected_text)| {
        let platform = switched_as(&told);
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        call.run(args).expect(3).saying(expected_text);
    });
    // The details show the new state, and the response does not.
    let platform = switched_as(&json!({}));
    let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
    let output = call.run("artifacts enable --version-name 2").expect(0);
    assert_eq!(
        output.out,
        "enabled version 2 of sales: consumers of [Latest] get version 2 now\n"
    );
}

#[test]
fn failed_rollback_names_the_command_that_repeats_it() {
    let (world, platform) = (World::new(), Platform::new());
    let entry =
        |version: &str| json!({ "sharedPipelineIdPrefix": "sales", "versionName": version, "enabled": true });
    let details = json!({ "artifactDetails": entry("2"), "sharedPipelines": [] });
    platform.respond_to("GET", "/artifacts$", answer(&json!([entry("2"), entry("1")])));
    platform.respond_to("GET", "/artifacts/details", answer(&details));
    platform.respond_to("PATCH", "/artifacts$", ResponseTemplate::new(502));
    let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
    call.clone().run("artifacts rollback").expect(3).saying(&[
        "the request may have been processed nevertheless",
        "to repeat the rollback, run `sluicegate artifacts disable 2 --prefix sales`",
    ]);
    // Without the flag, the command would refuse to disable the last enabled version.
    call.run("artifacts rollback --force")
        .expect(3)
        .saying(&["run `sluicegate artifacts disable 2 --prefix sales --force`"]);
}

/// Returns a platform that accepts every change of a version without showing the version's new state.
fn platform_that_shows_no_state(list: &Value, details: &Value) -> Platform {
    let platform = Platform::new();
    platform.respond_to("GET", "/v1/shared-pipelines/artifacts$", answer(list));
    platform.respond_to("GET", "/artifacts/details", answer(details));
    platform.respond_to(
        "PATCH",
        "/v1/shared-pipelines/artifacts$",
        ResponseTemplate::new(204),
    );
    platform
}

#[test]
fn prune_goes_on_after_version_whose_state_is_not_shown() {
    let (world, platform) = (World::new(), Platform::new());
    let entry = |version: u8| {
        json!({ "sharedPipelineIdPrefix": "sales", "versionName": version.to_string(), "enabled": true,
            "createdAt": format!("2026-11-2{version}T09:30:00Z") })
    };
    let list = json!([entry(3), entry(2), entry(1)]);
    let details = json!({ "artifactDetails": entry(3), "sharedPipelines": [] });
    platform.respond_to("GET", "/v1/shared-pipelines/artifacts$", answer(&list));
    platform.respond_to("GET", "/artifacts/details", answer(&details));
    let answers = vec![ResponseTemplate::new(204), answer(&json!({ "enabled": false }))];
    platform.respond_to("PATCH", "/v1/shared-pipelines/artifacts$", in_turn(answers));
    let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
    let output = call
        .clone()
        .run("artifacts prune --keep 1 --yes")
        .expect(3)
        .saying(&[
            "warning",
            "could not check whether version 2 of sales is disabled",
            "error: could not check whether 1 version of sales is disabled: 2",
        ]);
    assert!(
        !output.err.contains("disabled version 2 of sales\n"),
        "{}",
        output.all()
    );
    assert!(
        output.err.contains("disabled version 1 of sales"),
        "{}",
        output.all()
    );
    assert_eq!(output.out, "disabled 1 version of sales: 1\n");
    let document = call
        .run("artifacts prune --keep 1 --yes -o json")
        .expect(0)
        .json();
    assert_eq!(document["disabled"], json!(["2", "1"]));
    assert_eq!(document.get("unconfirmed"), None);
    let document = platform_that_shows_no_state(&list, &details)
        .call(&world)
        .variable("SLUICEGATE_PREFIX", "sales")
        .run("artifacts prune --keep 1 --yes -o json")
        .expect(3)
        .json();
    assert_eq!(document["disabled"], json!([]));
    assert_eq!(document["unconfirmed"], json!(["2", "1"]));
}

#[test]
fn switch_waits_as_long_as_the_lookup_timeout_for_the_details() {
    let world = World::new();
    let entry = |is_enabled: bool| {
        let version = json!({ "sharedPipelineIdPrefix": "sales", "versionName": "2", "enabled": is_enabled });
        answer(&json!({ "artifactDetails": version, "sharedPipelines": [] }))
    };
    for (timeout, code) in [("0", 3), ("20", 0)] {
        let platform = Platform::new();
        platform.respond_to("PATCH", "/artifacts$", ResponseTemplate::new(204));
        let details = in_turn(vec![entry(false), entry(false), entry(true)]);
        platform.respond_to("GET", "/artifacts/details", details);
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        let call = call.variable("SLUICEGATE_LOOKUP_TIMEOUT", timeout);
        call.run("artifacts enable 2").expect(code);
    }
}

#[test]
fn prune_that_stops_names_version_and_what_it_did() {
    let world = World::new();
    let entry = |version: u8| {
        json!({ "sharedPipelineIdPrefix": "sales", "versionName": version.to_string(), "enabled": true,
            "createdAt": format!("2026-11-2{version}T09:30:00Z") })
    };
    let list = json!([entry(4), entry(3), entry(2), entry(1)]);
    let details = json!({ "artifactDetails": entry(4), "sharedPipelines": [] });
    let prune = |answers: Vec<ResponseTemplate>, expected_text: &[&str]| {
        let platform = Platform::new();
        platform.respond_to("GET", "/v1/shared-pipelines/artifacts$", answer(&list));
        platform.respond_to("GET", "/artifacts/details", answer(&details));
        platform.respond_to("PATCH", "/v1/shared-pipelines/artifacts$", in_turn(answers));
        let call = platform.call(&world).variable("SLUICEGATE_PREFIX", "sales");
        call.run("artifacts prune --keep 1 --yes")
            .expect(3)
            .saying(expected_text);
    };
    let done = answer(&json!({ "enabled": false }));
    prune(
        vec![done, ResponseTemplate::new(500)],
        &[
            "disabled version 3 of sales",
            "stopped after 1 of 3 versions of sales (disabled before that: 3)",
            "could not determine whether version 2 of sales was disabled",
            "500",
        ],
    );
    // The first request may have disabled its version.
    prune(
        vec![ResponseTemplate::new(502)],
        &[
            "stopped after 0 of 3 versions of sales (no version was disabled before that)",
            "the request may have been processed nevertheless",
        ],
    );
}

#[test]
fn local_ci_without_publish_flag_prints_version_and_publishes_nothing() {
    let (world, server) = stage();
    let args = "ci --version-name {next} --publish-on-branch main --receipt receipt.json";
    let output = publish_call(&world, &server).run(args).expect(0);
    let planned = "would publish version 1.0.0 of sales from branch main";
    assert!(output.out.contains(planned), "{}", output.all());
    output.saying(&["nothing is published: this is a local run", "add --publish"]);
    assert_eq!(versions(&world, &server), []);
    assert!(!world.work().join("receipt.json").exists());
    // The configuration file cannot allow it.
    world.write("sluicegate.yaml", "publish-on: { branches: [main] }\n");
    world.commit("configured");
    world.push();
    publish_call(&world, &server)
        .run("ci --version-name {next}")
        .expect(0)
        .saying(&["nothing is published: this is a local run"]);
    assert_eq!(versions(&world, &server), []);
    // The flag and the variable publish, under the usual conditions.
    publish_call(&world, &server).run((args, "--publish")).expect(0);
    assert_eq!(versions(&world, &server), [("1.0.0".to_owned(), true)]);
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "More", "Done"]),
    );
    world.commit("more");
    world.push();
    let other = "ci --publish --version-name {next} --publish-on-branch release";
    publish_call(&world, &server)
        .run(other)
        .expect(0)
        .saying(&["branch main does not match `publish-on`"]);
    publish_call(&world, &server)
        .variable("SLUICEGATE_PUBLISH", "true")
        .run(args)
        .expect(0);
    assert_eq!(versions(&world, &server).len(), 2);
}

#[test]
fn local_ci_notes_uncommitted_script_of_its_plan_with_and_without_publish_flag() {
    let (world, server) = stage();
    world.write(
        "sales/load.orch.yaml",
        caller_of_files("sales/clean", "sales/load.sql"),
    );
    world.write("sales/clean.tran.yaml", "type: transformation\npipeline: {}\n");
    world.write("sales/load.sql", "select 1;\n");
    world.commit("script");
    world.push();
    let args = "ci --version-name {next} --publish-on-branch main";
    let output = publish_call(&world, &server).run(args).expect(0);
    assert!(!output.all().contains("uncommitted"), "{}", output.all());
    world.write("sales/load.sql", "select 1, 2;\n");
    for call in [
        publish_call(&world, &server),
        publish_call(&world, &server).variable("SLUICEGATE_PUBLISH", "true"),
    ] {
        call.run(args)
            .expect(0)
            .saying(&["note: uncommitted changes to 1 file are not part of this publish: sales/load.sql"]);
    }
}

#[test]
fn local_ci_without_publish_flag_predicts_the_end_at_an_existing_version() {
    let (world, server) = stage();
    publish_version(&world, &server, "1");
    let args = "ci --version-name 1 --publish-on-branch main";
    let output = publish_call(&world, &server)
        .run(args)
        .expect(0)
        .saying(&["a publish would fail: the version `1` of `sales` already exists"]);
    // `--publish` would not help.
    assert_eq!(output.all().matches("hint: ").count(), 1, "{}", output.all());
    let output = publish_call(&world, &server)
        .run((args, "--if-exists same-content"))
        .expect(0)
        .saying(&["add --publish"]);
    output.assert_logged(&["would publish nothing: version 1 of sales is already published"]);
}

#[test]
fn local_ci_without_publish_flag_ends_as_review() {
    let (world, server) = stage();
    world.write(
        "sales/load.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("bad");
    world.push();
    let args = "ci --version-name 1 --publish-on-branch main";
    let output = publish_call(&world, &server).run(args).expect(1);
    assert!(!output.all().contains("would publish"), "{}", output.all());
    // A publish that would be refused is a warning: the review passed.
    world.write("sales/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write(
        ".platform/shared-pipelines.yaml",
        "pipelines:\n  - { pipeline: gone.orch.yaml, id: gone }\n",
    );
    world.commit("gone");
    world.push();
    publish_call(&world, &server).run(args).expect(0).saying(&[
        "a publish would fail",
        "gone.orch.yaml",
        "nothing is published",
    ]);
    assert_eq!(versions(&world, &server), []);
}

#[test]
fn ci_applies_its_flags_to_the_publish() {
    let (world, server) = stage();
    world.write("extra.orch.yaml", orchestration_text(&["Start", "Done"]));
    let first = world.commit("extra");
    world.git("push -q origin HEAD:refs/heads/side");
    world.write("more.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("more");
    world.push();
    let publish = |args: String| {
        publish_call(&world, &server)
            .run(format!(
                "ci --publish --publish-on-branch side --branch side --receipt ../receipt.json {args}"
            ))
            .expect(0);
        read_json(&world.path().join("receipt.json"))
    };
    let receipt = publish(format!(
        "--version-name 1 --head {first} --exclude extra.orch.yaml"
    ));
    assert_eq!(receipt["commitHash"], json!(first));
    assert_eq!(receipt["branch"], "side");
    let files = receipt["files"].to_string();
    assert!(files.contains("sales/load.orch.yaml"), "{files}");
    assert!(!files.contains("extra.orch.yaml"), "{files}");
    let receipt = publish(format!("--version-name 2 --head {first} --compat warn"));
    assert!(receipt["compat"].is_object(), "{receipt}");
    let receipt = publish(format!("--version-name 3 --head {first} --compat off"));
    assert_eq!(receipt.get("compat"), None);
}
