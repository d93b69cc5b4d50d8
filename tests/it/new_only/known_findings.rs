//! `--new-only`: existing findings do not fail the gate, new ones do.

use super::published_version::project_with_shared_pipeline;
use crate::support::{
    Arguments, Call, NAMING, PROJECT, Platform, ProgramOutput, RULES, ServerProcess, TOKEN, World, answer,
    failing_platform, finding_values, orchestration_text, passed_results, project, requested_pipelines,
    respond_for_each,
};
use serde_json::{Value, json};
use std::process::Command;
use wiremock::{Request, Respond as _, ResponseTemplate};

/// Creates a `main` with a pipeline with a bad name and too many components; `change` is checked out.
fn past() -> World {
    let world = project();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Two", "Done"]),
    );
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    world
}

fn check_with_warnings(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("check --report json=- --fail-on warn", args))
}

/// Returns rule and state of each finding.
fn states(report: &Value) -> Vec<(String, String)> {
    let mut lines = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for result in file["results"].as_array().unwrap() {
            for state in finding_values(result, "state").iter().filter_map(Value::as_str) {
                let rule = result["rule"].as_str().unwrap();
                lines.push((
                    format!("{} {rule}", file["path"].as_str().unwrap()),
                    state.to_owned(),
                ));
            }
        }
    }
    lines
}

fn state_of<'s>(states: &'s [(String, String)], label: &str) -> Vec<&'s str> {
    let matches = states.iter().filter(|(name, _)| name == label);
    matches.map(|(_, state)| state.as_str()).collect()
}

#[test]
fn findings_of_base_pass_and_findings_of_change_fail() {
    let world = past();
    // The same findings on other lines, one of them smaller.
    world.write(
        "old.orch.yaml",
        format!(
            "# moved\n# down\n{}",
            orchestration_text(&["Start", "bad name", "Two", "Done"])
        ),
    );
    world.commit("edit");
    check_with_warnings(&world, "").expect(1);
    let output = check_with_warnings(&world, "--new-only").expect(0);
    let report = output.json();
    assert_eq!(report["findings"]["known"], 2);
    assert_eq!(
        (&report["findings"]["new"], &report["findings"]["errors"]),
        (&json!(0), &json!(0))
    );
    output.saying(&["no new findings (2 known)"]);

    // One more finding of another name, and the counted one gets worse.
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "worse name", "Two", "Done"]),
    );
    world.commit("worse");
    let report = check_with_warnings(&world, "--new-only").expect(1).json();
    let states = states(&report);
    assert_eq!(
        state_of(&states, &format!("old.orch.yaml {NAMING}")),
        ["known", "new"]
    );
    assert_eq!(state_of(&states, "old.orch.yaml maximum-components"), ["new"]);
    assert_eq!(report["findings"]["fixed"], 0);

    // A smaller finding is known, and a removed one is fixed.
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "Two", "Three", "Four", "Done"]),
    );
    world.commit("mixed");
    let report = check_with_warnings(&world, "--new-only").expect(1).json();
    assert_eq!(report["findings"]["fixed"], 1, "the bad name is gone");
}

#[test]
fn test_case_is_about_what_is_new_and_marks_the_rest() {
    let world = past();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "worse name", "worst name", "Done"]),
    );
    world.commit("worse");
    let formats = "--report junit=j.xml --report junit-strict=s.xml";
    check_with_warnings(&world, ("--new-only", formats)).expect(1);
    let read = |name: &str| std::fs::read_to_string(world.work().join(name)).unwrap();
    let case = |xml: &str| {
        let start = xml.find(&format!("<testcase name=\"old: {NAMING}\"")).unwrap();
        let case = xml[start..].split_once("</testcase>").unwrap().0;
        case.split_once(" file=").unwrap_or((case, case)).1.to_owned()
    };
    let (hosts, strict) = (case(&read("j.xml")), case(&read("s.xml")));
    insta::assert_snapshot!(hosts, @r#"
    "old.orch.yaml" line="17"><failure type="error" message="component &quot;worse name&quot; does not match the naming convention [A-Z].*: rename it (and 1 more: worst name)">old.orch.yaml:17: component "worse name" does not match the naming convention [A-Z].*: rename it
    line 23: component "worst name" does not match the naming convention [A-Z].*: rename it
    line 11: known: component "bad name" does not match the naming convention [A-Z].*: rename it</failure>
    "#);
    let told = |case: &str| case[case.find("<failure").unwrap()..].to_owned();
    assert_eq!(told(&strict), told(&hosts));
    // Without the comparison, no finding has a state.
    check_with_warnings(&world, formats).expect(1);
    insta::assert_snapshot!(case(&read("j.xml")), @r#"
    "old.orch.yaml" line="11"><failure type="error" message="component &quot;bad name&quot; does not match the naming convention [A-Z].*: rename it (and 2 more: worse name, worst name)">old.orch.yaml:11: component "bad name" does not match the naming convention [A-Z].*: rename it
    line 17: component "worse name" does not match the naming convention [A-Z].*: rename it
    line 23: component "worst name" does not match the naming convention [A-Z].*: rename it</failure>
    "#);
}

#[test]
fn renamed_file_keeps_known_findings_and_copy_has_new_ones() {
    let world = past();
    world.git("mv old.orch.yaml moved.orch.yaml");
    world.commit("move");
    let report = check_with_warnings(&world, "--new-only").expect(0).json();
    assert_eq!(report["findings"]["known"], 2);
    world.git("mv moved.orch.yaml old.orch.yaml");
    world.write(
        "twin.orch.yaml",
        orchestration_text(&["Start", "bad name", "Two", "Done"]),
    );
    world.commit("twin");
    let report = check_with_warnings(&world, "--new-only").expect(1).json();
    assert_eq!(
        state_of(&states(&report), &format!("twin.orch.yaml {NAMING}")),
        ["new"]
    );
}

/// The selection then has no comparison, and so cannot detect moves.
#[test]
fn base_with_named_rules_file_is_still_the_base() {
    let world = past();
    world.git("mv old.orch.yaml moved.orch.yaml");
    world.commit("move");
    let named_args = "--new-only .platform/config/pipeline_quality_rules.yaml";
    let report = check_with_warnings(&world, named_args).expect(0).json();
    assert_eq!(
        (&report["findings"]["known"], &report["findings"]["new"]),
        (&json!(2), &json!(0))
    );
}

#[test]
fn tightened_rules_judge_both_sides() {
    let world = past();
    world.write(
        ".platform/config/pipeline_quality_rules.yaml",
        RULES.replace("maxComponents: 3", "maxComponents: 1"),
    );
    world.commit("tighten");
    let report = check_with_warnings(&world, "--new-only").expect(0).json();
    assert_eq!(
        state_of(&states(&report), "a.orch.yaml maximum-components"),
        ["known"]
    );
}

#[test]
fn unevaluated_file_is_new_and_base_without_pipeline_has_no_findings() {
    let world = past();
    world.write("old.orch.yaml", "type: orchestration\npipeline: [broken\n");
    world.commit("break");
    check_with_warnings(&world, "--new-only").expect(1);
    world.push();
    // With a broken base, every finding is new.
    world.git("checkout -q -b later");
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("mend");
    let report = check_with_warnings(&world, "--new-only --base change")
        .expect(1)
        .json();
    assert_eq!(
        state_of(&states(&report), &format!("old.orch.yaml {NAMING}")),
        ["new"]
    );
    assert_eq!(report["findings"]["fixed"], 0, "{report}");
}

#[test]
fn pipeline_that_stays_unreadable_has_new_findings() {
    let world = past();
    world.write("old.orch.yaml", "type: orchestration\npipeline: ]\n");
    world.commit("break");
    world.push();
    world.git("checkout -q -b later");
    world.write("old.orch.yaml", "type: orchestration\npipeline: ]\n# edited\n");
    world.commit("edit");
    let report = check_with_warnings(&world, "--new-only --base change")
        .expect(1)
        .json();
    let states = states(&report);
    assert!(!states.is_empty());
    for (finding, state) in states {
        assert_eq!(state, "new", "{finding}");
    }
}

#[test]
fn run_without_base_reports_every_finding_as_new() {
    let world = past();
    let output = check_with_warnings(&world, "--new-only --all").expect(1);
    let report = output.json();
    assert_eq!(report["findings"]["new"], Value::Null);
    assert!(
        report["notes"]
            .to_string()
            .contains("no base to compare with (--new-only): all pipelines were requested"),
        "{report}"
    );
}

#[test]
fn new_only_is_set_by_flag_variable_and_file() {
    let world = past();
    world.write(
        "old.orch.yaml",
        format!("# moved\n{}", orchestration_text(&["Start", "bad name", "Done"])),
    );
    world.commit("edit");
    let check = |call: &Call| call.run("check");
    let call = Call::new(&world.work());
    check(&call).expect(1);
    check(&Call::new(&world.work()).variable("SLUICEGATE_NEW_ONLY", "true")).expect(0);
    world.write("sluicegate.yaml", "review: { new-only: true }\n");
    check(&call).expect(0);
}

/// Returns a platform that reports names with a lowercase first letter, in the commit of the request.
fn platform_by_pipeline_content(world: &World) -> Platform {
    let platform = Platform::new();
    let work = world.work();
    platform.reviews(move |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let commit = body["commitId"].as_str().unwrap().to_owned();
        let mut failed = false;
        let files: serde_json::Map<String, Value> = requested_pipelines(request)
            .into_iter()
            .map(|path| {
                let message = Command::new("git")
                    .args(["show", &format!("{commit}:{path}")])
                    .current_dir(&work)
                    .output()
                    .unwrap();
                let text = String::from_utf8(message.stdout).unwrap();
                let bad: Vec<String> = ["bad name", "worse name"]
                    .into_iter()
                    .filter(|name| text.contains(&format!("{name:?}:")))
                    .map(|name| format!("the component \"{name}\" is wrong"))
                    .collect();
                let status = if bad.is_empty() { "PASSED" } else { "FAILED" };
                failed |= !bad.is_empty();
                (
                    path,
                    json!([{ "ruleName": NAMING, "status": status, "violations": bad }]),
                )
            })
            .collect();
        let status = if failed { "FAILED" } else { "PASSED" };
        ResponseTemplate::new(200)
            .set_body_json(json!({ "reviewStatus": status, "results": files, "excludedFiles": [] }))
    });
    platform
}

#[test]
fn platform_is_asked_about_base_of_files_with_findings() {
    let world = past();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Two", "Three", "Done"]),
    );
    world.write("good.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("edit");
    world.push();
    let platform = platform_by_pipeline_content(&world);
    let args = "review --new-only --report json=-";
    let report = platform.call(&world).run(args).expect(0).json();
    assert_eq!(
        (&report["findings"]["new"], &report["findings"]["known"]),
        (&json!(0), &json!(1))
    );
    let requests = platform.requests();
    assert_eq!(requests.len(), 2);
    assert_eq!(
        requested_pipelines(&requests[1]),
        ["old.orch.yaml"],
        "only files with findings"
    );
    let body: Value = serde_json::from_slice(&requests[1].body).unwrap();
    assert_eq!(
        body["commitId"],
        world.git(&["merge-base", "main", "change"]).as_str()
    );

    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "worse name", "Done"]),
    );
    world.commit("worse");
    world.push();
    let report = platform.call(&world).run(args).expect(1).json();
    assert_eq!(
        state_of(&states(&report), &format!("old.orch.yaml {NAMING}")),
        ["known", "new"]
    );
}

#[test]
fn finding_that_is_gone_in_all_files_of_change_is_fixed() {
    let world = past();
    world.git("checkout -q main");
    world.write(
        "clean.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.write(
        "kept.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("more past");
    world.push();
    world.git("checkout -q -B change");
    // One file without a finding, also renamed, one with fewer findings, and one that the change does not touch.
    world.git("mv clean.orch.yaml moved.orch.yaml");
    world.write("moved.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("fixes");
    world.push();
    let project = format!("{PROJECT}={}", world.remote().display());
    let server = ServerProcess::start(
        world.path(),
        &["--project", &project, &format!("--token={TOKEN}=admin")],
    );
    let args = "--new-only --report json=- --fail-on warn";
    let fixed = |command: &str| {
        let call = Call::with_platform(&world.work(), &server.url);
        let report = call.run((&[command], args)).expect(0).json();
        (
            report["findings"]["fixed"].clone(),
            report["findings"]["known"].clone(),
        )
    };
    assert_eq!(fixed("check"), (json!(2), json!(1)));
    assert_eq!(fixed("review"), fixed("check"));
}

#[test]
fn base_that_platform_does_not_judge_leaves_verdict_open() {
    let world = past();
    world.write(
        "old.orch.yaml",
        format!("# moved\n{}", orchestration_text(&["Start", "bad name", "Done"])),
    );
    world.commit("edit");
    world.push();
    let head = world.git("rev-parse HEAD");
    let known = found_bad("MAYBE", "old.orch.yaml", NAMING);
    let mut without_status = known.clone();
    without_status.as_object_mut().unwrap().remove("reviewStatus");
    let answers = [
        ResponseTemplate::new(503),
        answer(&known),
        answer(&without_status),
        ResponseTemplate::new(200).set_body_json(
            json!({ "reviewStatus": "PASSED", "results": {}, "excludedFiles": ["old.orch.yaml"] }),
        ),
        ResponseTemplate::new(200).set_body_json(json!({ "reviewStatus": "PASSED", "excludedFiles": [],
            "results": { "old.orch.yaml": [{ "ruleName": NAMING, "status": "ODD", "violations": [] }] } })),
    ];
    let at_head = answer(&found_bad("FAILED", "old.orch.yaml", NAMING));
    for at_base in answers {
        let platform = platform_by_commit(&head, at_head.clone(), at_base);
        let output = platform.call(&world).run("review --new-only").expect(3);
        assert!(
            output.out.contains(
                "Could not determine which findings in 1 file are new, because the base was not evaluated"
            ),
            "{}",
            output.all()
        );
    }
    // A rejected token is an error, regardless of the commit.
    let platform = platform_by_commit(&head, at_head, ResponseTemplate::new(401));
    platform.call(&world).run("review --new-only").expect(4);
}

/// Returns the response of a review that found this rule violated.
fn found_bad(status: &str, path: &str, rule: &str) -> Value {
    let document = json!([{ "ruleName": rule, "status": "FAILED", "violations": ["\"bad name\""] }]);
    json!({ "reviewStatus": status, "results": { path: document }, "excludedFiles": [] })
}

/// Returns a platform with one response for the head and another one for its base.
fn platform_by_commit(head: &str, at_head: ResponseTemplate, at_base: ResponseTemplate) -> Platform {
    let (platform, head) = (Platform::new(), head.to_owned());
    platform.reviews(move |request: &Request| {
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        if body["commitId"] == head.as_str() {
            at_head.clone()
        } else {
            at_base.clone()
        }
    });
    platform
}

/// Returns `past` with an edit without new findings, and its head.
fn push_of_moved_finding() -> (World, String) {
    let world = past();
    let same = orchestration_text(&["Start", "bad name", "Two", "Done"]);
    world.write("old.orch.yaml", format!("# moved\n{same}"));
    world.commit("edit");
    world.push();
    let head = world.git("rev-parse HEAD");
    (world, head)
}

#[test]
fn failed_review_passes_only_if_known_errors_failed_base() {
    let (world, head) = push_of_moved_finding();
    let rule = NAMING;
    let at_head = answer(&found_bad("FAILED", "old.orch.yaml", rule));
    let passed = json!([{ "ruleName": rule, "status": "PASSED", "violations": [] }]);
    let passed =
        json!({ "reviewStatus": "PASSED", "results": { "old.orch.yaml": passed }, "excludedFiles": [] });
    for (at_base, code, verdict) in [
        (answer(&passed), 1, "failed"),
        (ResponseTemplate::new(404), 3, "undecided"),
        (answer(&found_bad("PASSED", "old.orch.yaml", rule)), 1, "failed"),
        (answer(&found_bad("FAILED", "old.orch.yaml", rule)), 0, "passed"),
    ] {
        let platform = platform_by_commit(&head, at_head.clone(), at_base);
        let args = "--report json=- --report junit=j.xml";
        let review = |more: &str| platform.call(&world).run(("review", args, more));
        let output = review("--new-only").expect(code);
        assert_eq!(output.json()["verdict"], verdict, "{}", output.all());
        let junit = std::fs::read_to_string(world.work().join("j.xml")).unwrap();
        let is_green = !junit.contains("<failure") && !junit.contains("<error");
        assert_eq!(is_green, code == 0, "{junit}");
        review("--new-only --fail-on never").expect(0);
        review("").expect(1);
    }
}

#[test]
fn base_without_review_is_not_an_unavailable_platform() {
    let (world, head) = push_of_moved_finding();
    let at_head = answer(&found_bad("FAILED", "old.orch.yaml", NAMING));
    for (status, code) in [(400, 3), (401, 4), (404, 3), (503, 3)] {
        let platform = platform_by_commit(&head, at_head.clone(), ResponseTemplate::new(status));
        let args = "review --new-only --on-unavailable pass";
        let output = platform.call(&world).run(args).expect(code);
        assert!(!output.all().contains(ALL_THE_SAME), "{}", output.all());
        assert!(output.err.contains("error:"), "{}", output.all());
    }
}

/// The text if an undecided review lets the change pass.
const ALL_THE_SAME: &str = "passes regardless";

#[test]
fn reports_are_written_if_published_version_is_unavailable() {
    let world = project_with_shared_pipeline();
    let platform = Platform::new();
    platform.reviews(ResponseTemplate::new(503));
    platform.is_down();
    let ci = "ci --all --new-only --publish-on-branch main --prefix sales --version-name 2 --report json=-";
    let ci: Vec<&str> = ci.split(' ').collect();
    let output = platform.call(&world).run(&ci).expect(3);
    let notes = output.json()["notes"].to_string();
    assert!(notes.contains("could not query the published version"), "{notes}");
    let pass = (&ci, "--on-unavailable pass");
    let output = platform.call(&world).run(&pass).expect(0);
    output.saying(&[
        "nothing is published: the verdict of the review is undecided",
        ALL_THE_SAME,
    ]);
}

/// A platform that refuses to show the version is available, so no review without a baseline follows.
#[test]
fn new_only_publish_ends_before_its_review_if_access_to_version_is_denied() {
    let world = project_with_shared_pipeline();
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "PASSED",
        json!([{ "ruleName": NAMING, "status": "PASSED" }]),
    ));
    platform.respond_to("GET", "/artifacts/details$", ResponseTemplate::new(403));
    let ci = "ci --all --new-only --publish-on-branch main --prefix sales --version-name 2";
    platform.call(&world).run(ci).expect(4);
    let requests = platform.requests();
    assert!(
        requests.iter().all(|request| request.method == "GET"),
        "{requests:?}"
    );
}

/// An earlier push added a finding and failed or was not reviewed; the next one must not publish it as known.
#[test]
fn new_only_publish_compares_with_last_published_version() {
    let world = project();
    world.write(
        ".platform/shared-pipelines.yaml",
        "pipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true }\n",
    );
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    let published = world.commit("published");
    world.write(
        "other.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    let red = world.commit("red");
    world.write(
        "old.orch.yaml",
        format!("# moved\n{}", orchestration_text(&["Start", "bad name", "Done"])),
    );
    world.commit("next");
    world.push();
    let platform = platform_by_pipeline_content(&world);
    let details = json!({ "sharedPipelines": [], "artifactDetails": {
        "sharedPipelineIdPrefix": "sales", "versionName": "1", "commitHash": published, "enabled": true } });
    platform.respond_to(
        "GET",
        "/artifacts/details$",
        ResponseTemplate::new(200).set_body_json(details),
    );
    let event = json!({ "ref": "refs/heads/main", "before": red, "after": world.git(&["rev-parse", "HEAD"]),
        "repository": { "default_branch": "main", "full_name": "o/p" } });
    let file = world.path().join("event.json");
    std::fs::write(&file, event.to_string()).unwrap();
    let call = platform
        .call(&world)
        .variable("CI", "true")
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "push")
        .variable("GITHUB_REF", "refs/heads/main")
        .variable("GITHUB_SHA", world.git("rev-parse HEAD"))
        .variable("GITHUB_EVENT_PATH", file.display().to_string());
    let args = "--new-only --report json=-";
    // Since the previous push, nothing is new.
    let report = call.run(("review", args)).expect(0).json();
    assert_eq!(report["findings"]["known"], 1);
    let ci = "ci --publish-on-branch main --prefix sales --version-name 2";
    let report = call.run((ci, args)).expect(1).json();
    let states = states(&report);
    assert_eq!(state_of(&states, &format!("other.orch.yaml {NAMING}")), ["new"]);
    assert_eq!(state_of(&states, &format!("old.orch.yaml {NAMING}")), ["known"]);
    assert!(
        platform
            .requests()
            .iter()
            .all(|request| request.url.path().contains("reviews") || request.method == "GET")
    );
}

#[test]
fn finding_that_is_known_by_name_excuses_no_other_component() {
    let world = past();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "bad name", "evil", "evil\t bad name", "Done"]),
    );
    world.commit("edit");
    world.push();
    let base = world.git("merge-base main change");
    let reviewed = |words: &str| {
        let (base, words) = (base.clone(), words.to_owned());
        let platform = Platform::new();
        platform.reviews(move |request: &Request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let is_base = body["commitId"] == base.as_str();
            let words = if is_base {
                "component \"bad name\" is bad"
            } else {
                &words
            };
            let document = json!([{ "ruleName": NAMING, "status": "FAILED", "violations": [words] }]);
            respond_for_each("FAILED", document).respond(request)
        });
        let args = "review --new-only --report json=-";
        platform.call(&world).run(args)
    };
    let output = reviewed("component \"bad name\" does not match \"[A-Z].*\"").expect(0);
    assert_eq!(output.json()["findings"]["known"], 1);
    for other in [
        "component \"evil\" must not come after \"bad name\"",
        "component \"evil\\t bad name\" is bad",
        "component \"evil bad name\" is bad",
    ] {
        let output = reviewed(other).expect(1);
        let report = output.json();
        let numbers = (&report["findings"]["new"], &report["findings"]["known"]);
        assert_eq!(numbers, (&json!(1), &json!(0)), "{other}");
    }
}

#[test]
fn failed_review_without_finding_is_never_excused() {
    let world = past();
    world.write("good.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("edit");
    world.push();
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "FAILED",
        json!([{ "ruleName": NAMING, "status": "PASSED", "violations": [] }]),
    ));
    platform.call(&world).run("review --new-only").expect(1);
}

#[test]
fn base_is_evaluated_locally_if_rules_changed() {
    let world = past();
    world.write(
        "old.orch.yaml",
        format!("# moved\n{}", orchestration_text(&["Start", "bad name", "Done"])),
    );
    world.write(
        ".platform/config/pipeline_quality_rules.yaml",
        RULES.replace("maxComponents: 3", "maxComponents: 30"),
    );
    world.commit("edit");
    world.push();
    let platform = platform_by_pipeline_content(&world);
    let output = platform
        .call(&world)
        .run("review --new-only --report json=-")
        .expect(0);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("the rules differ between head and base"),
        "{notes}"
    );
    let commits: Vec<Value> = platform
        .requests()
        .iter()
        .map(|request| serde_json::from_slice::<Value>(&request.body).unwrap()["commitId"].clone())
        .collect();
    assert!(
        commits
            .iter()
            .all(|commit| *commit == world.git(&["rev-parse", "HEAD"]).as_str()),
        "{commits:?}"
    );
}

/// Returns the output of `--show` and the reports of the same run.
fn check_with_all_reports(world: &World, args: impl Arguments) -> (ProgramOutput, String) {
    let files = ["junit=j.xml", "html=r.html", "markdown=r.md", "sarif=s.json"];
    let reports: Vec<&str> = files.iter().flat_map(|file| ["--report", file]).collect();
    let output = check_with_warnings(world, (&reports[..], args));
    let read = |file: &&str| {
        let path = file.split_once('=').unwrap().1;
        let text = std::fs::read_to_string(world.work().join(path)).unwrap();
        text.replace("&#58;", ":")
            .replace("&#40;", "(")
            .replace("&#41;", ")")
    };
    let all = files.iter().map(read).collect::<Vec<_>>().join("\n----\n");
    (output, all)
}

#[test]
fn verdict_line_names_the_exceeded_limit_of_known_findings() {
    let world = past();
    let check = |limit: &str| {
        Call::new(&world.work()).run((
            "check --all --base HEAD --new-only --fail-on warn --report markdown=- --max-known",
            limit,
        ))
    };
    let output = check("1").expect(1);
    for text in [&output.out, &output.err] {
        assert!(
            text.contains("Check failed: 2 known findings, 1 allowed (--max-known); no new findings\n"),
            "{}",
            output.all()
        );
    }
    check("0")
        .expect(1)
        .saying(&["Check failed: 2 known findings, 0 allowed (--max-known); no new findings\n"]);
    let output = check("2").expect(0);
    // Known findings do not have the mark of errors, which fail the gate.
    assert!(output.out.contains("- ⚪ "), "{}", output.all());
    assert!(!output.out.contains("- ❌ "), "{}", output.all());
    assert!(
        output.all().contains("Check passed: no new findings"),
        "{}",
        output.all()
    );
}

#[test]
fn number_of_known_findings_can_only_fall() {
    let world = past();
    let all = ["--all", "--base", "HEAD", "--new-only", "--max-known"];
    let (output, _) = check_with_all_reports(&world, (&all[..], "2"));
    let report = output.expect(0).json();
    assert_eq!(
        (&report["findings"]["known"], &report["notes"]),
        (&json!(2), &json!([]))
    );
    // More known findings: every report contains the message, and none passes.
    let expected_text = "2 findings are known, but the limit is 1 (--max-known)";
    let (output, reports) = check_with_all_reports(&world, (&all[..], "1"));
    let output = output.expect(1);
    let report = output.json();
    assert_eq!(report["verdict"], "failed");
    assert!(
        report["notes"][0].as_str().unwrap().starts_with(expected_text),
        "{report}"
    );
    assert!(output.err.contains(expected_text), "{}", output.all());
    for format in reports.split("\n----\n") {
        assert!(format.contains(expected_text), "{format}");
    }
    assert!(reports.contains("type=\"max-known\""), "{reports}");
    std::fs::write(world.work().join("r.json"), &output.out).unwrap();
    Call::new(&world.work()).run("report r.json").expect(1);
    let passed = output
        .out
        .replace("\"verdict\": \"failed\"", "\"verdict\": \"passed\"");
    std::fs::write(world.work().join("r.json"), passed).unwrap();
    Call::new(&world.work())
        .run("report r.json")
        .expect(2)
        .saying(&["more known findings than the job allows"]);
    // Fewer known findings: the job should lower its limit.
    let lower = "set --max-known to 2";
    let (output, _) = check_with_all_reports(&world, (&all[..], "5"));
    let output = output.expect(0);
    assert!(output.json()["notes"].to_string().contains(lower));
    std::fs::write(world.work().join("r.json"), &output.out).unwrap();
    let second_run = Call::new(&world.work()).run("report r.json --report json=-");
    assert_eq!(second_run.expect(0).json()["notes"], output.json()["notes"]);
    let compared = Call::new(&world.work()).run("report --compare r.json r.json --report json=-");
    let notes = compared.expect(0).json()["notes"].to_string();
    assert!(
        notes.contains("compared with a report of") && !notes.contains(lower),
        "{notes}"
    );
    // A shard cannot know the total.
    world.write(
        "old.orch.yaml",
        format!(
            "# moved\n{}",
            orchestration_text(&["Start", "bad name", "Two", "Done"])
        ),
    );
    world.commit("edit");
    let part = check_with_warnings(&world, "--new-only --max-known 5").expect(0);
    assert_eq!(part.json()["notes"], json!([]));
    let variable = Call::new(&world.work())
        .variable("SLUICEGATE_MAX_KNOWN", "1")
        .variable("SLUICEGATE_NEW_ONLY", "true");
    variable.run("check").expect(1);
    variable.run("check --fail-on never --all --base HEAD").expect(1);
    check_with_warnings(&world, "--max-known 5")
        .expect(2)
        .saying(&["--max-known", "hint: pass --new-only"]);
}

#[test]
fn merged_shards_respect_limit_of_known_findings() {
    let world = past();
    for n in 0..6 {
        world.write(
            &format!("{n}.orch.yaml"),
            orchestration_text(&["Start", "bad name", "Done"]),
        );
    }
    world.commit("many");
    let known = |index: u32| {
        let shard = format!("{index}/2");
        let args = [
            "--all",
            "--base",
            "HEAD",
            "--new-only",
            "--max-known",
            "6",
            "--shard",
            &shard,
        ];
        let output = check_with_warnings(&world, &args).expect(0);
        std::fs::write(world.work().join(format!("{index}.json")), &output.out).unwrap();
        output.json()["findings"]["known"].as_u64().unwrap()
    };
    assert_eq!(known(1) + known(2), 8);
    let merged = Call::new(&world.work()).run("report 1.json 2.json --report json=-");
    let notes = merged.expect(1).json()["notes"].to_string();
    assert_eq!(
        notes.matches("8 findings are known, but the limit is 6").count(),
        1,
        "{notes}"
    );
}

/// A shard without pipelines has no number of known findings.
#[test]
fn merged_shards_respect_limit_if_shard_is_empty() {
    let world = past();
    let shards: Vec<String> = (1..=8)
        .map(|index| {
            let file = format!("{index}.json");
            let args =
                format!("--all --base HEAD --new-only --max-known 1 --shard {index}/8 --report json={file}");
            let code = Call::new(&world.work())
                .run(("check --fail-on warn", args.as_str()))
                .code;
            assert!(code == 0 || code == 1, "{index}");
            file
        })
        .collect();
    let empty_count = shards
        .iter()
        .filter(|file| world.read_text(file).contains("\"files\": []"))
        .count();
    assert!(empty_count > 0);
    let merged = Call::new(&world.work()).run(format!("report {} --report json=-", shards.join(" ")));
    let notes = merged.expect(1).json()["notes"].to_string();
    assert!(notes.contains("but the limit is 1"), "{notes}");
}

#[test]
fn reports_count_fixed_findings_and_page_starts_with_baseline() {
    let world = past();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "Two", "Three", "Done"]),
    );
    world.commit("mend");
    let (run_output, reports) = check_with_all_reports(&world, "--new-only");
    let run_output = run_output.expect(0);
    let praise = "Well done: 1 existing finding is fixed.";
    assert!(run_output.err.contains(praise), "{}", run_output.all());
    let page = reports
        .split("\n----\n")
        .find(|report| report.starts_with("<!--"))
        .unwrap();
    assert!(
        page.contains("\n## ✅ Check passed: no new findings (1 known, 1 fixed)\n"),
        "{page}"
    );
    assert_eq!(reports.matches(praise).count(), 2, "in the page and in markdown");
    let summary = world.path().join("summary.md");
    let call = Call::new(&world.work()).variable("GITHUB_STEP_SUMMARY", summary.display().to_string());
    let plain = call.run("check --new-only").expect(0);
    let summary = std::fs::read_to_string(summary).unwrap();
    assert!(
        summary.starts_with("## ✅ Check passed: no new findings (1 known, 1 fixed)\n")
            && summary.contains(praise),
        "{summary}"
    );
    assert!(plain.out.contains(praise), "{}", plain.all());
    // A failed run prints the number, and no praise.
    world.write(
        "worse.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    let (failed, reports) = check_with_all_reports(&world, "--new-only");
    let failure = failed.expect(1);
    assert!(
        failure.err.contains("1 new error (1 known, 1 fixed)"),
        "{}",
        failure.all()
    );
    assert!(
        !format!("{}{reports}", failure.err).contains("Well done"),
        "{}",
        failure.all()
    );
    std::fs::remove_file(world.work().join("worse.orch.yaml")).unwrap();
    // Without a comparison, the output does not mention one.
    let plain = call.run("check").expect(0);
    assert!(
        !plain.out.contains(" new,") && !plain.out.contains("Well done"),
        "{}",
        plain.all()
    );
}

/// If the same report is merged twice, the numbers are those of one.
#[test]
fn report_given_twice_counts_once() {
    let world = past();
    world.write(
        "old.orch.yaml",
        orchestration_text(&["Start", "Two", "Three", "Done"]),
    );
    world.commit("mend");
    let one = check_with_warnings(&world, "--new-only").expect(0);
    std::fs::write(world.work().join("r.json"), &one.out).unwrap();
    let twice = Call::new(&world.work()).run("report r.json r.json --report json=-");
    assert_eq!(twice.expect(0).json()["findings"], one.json()["findings"]);
}

/// Without a finding in head, there is nothing to look up at the base.
#[test]
fn review_without_findings_sends_no_request_about_the_base() {
    let looser = RULES.replace("maxComponents: 3", "maxComponents: 9");
    for rules in [RULES, &looser] {
        let world = past();
        world.write(".platform/config/pipeline_quality_rules.yaml", rules);
        world.write("new.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
        world.commit("change");
        world.push();
        let platform = Platform::new();
        platform.reviews(respond_for_each("PASSED", passed_results()));
        let output = platform
            .call(&world)
            .run("review --new-only --report json=-")
            .expect(0);
        assert_eq!(platform.requests().len(), 1, "{}", output.all());
        for text in ["with the base", "the rules differ between head and base"] {
            assert!(!output.all().contains(text), "{text}: {}", output.all());
        }
    }
}

#[test]
fn review_with_finding_reports_how_the_base_was_compared() {
    let looser = RULES.replace("maxComponents: 3", "maxComponents: 9");
    for (rules, text) in [
        (RULES, "comparing 1 pipeline with base"),
        (&looser, "the rules differ between head and base"),
    ] {
        let world = past();
        world.write(".platform/config/pipeline_quality_rules.yaml", rules);
        let old = orchestration_text(&["Start", "bad name", "Two", "Done"]);
        world.write("old.orch.yaml", format!("# edited\n{old}"));
        world.commit("change");
        world.push();
        let platform = failing_platform("component \"bad name\" is wrong");
        platform
            .call(&world)
            .run("review --new-only")
            .assert_logged(&[text]);
    }
}

#[test]
fn new_findings_on_touched_lines_are_listed_first() {
    let world = project();
    let call = orchestration_text(&["Start", "Call", "Done"])
        .replace("type: sql-executor", "type: run-orchestration")
        .replace(
            "componentName: \"Call\"",
            "componentName: \"Call\", orchestrationJob: \"gone.orch.yaml\"",
        );
    world.write("a.orch.yaml", call);
    world.write("gone.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("sluicegate.yaml", "project-checks: { call: error }\n");
    world.commit("call");
    world.push();
    world.git("checkout -q -b change");
    world.git("rm -q gone.orch.yaml");
    world.write("b.orch.yaml", orchestration_text(&["Start", "bad name", "Done"]));
    world.commit("delete");
    // The broken call is in a file that the change does not touch.
    let output = Call::new(&world.work())
        .run("check --new-only --show 1")
        .expect(1);
    assert!(
        output.out.contains("--> b.orch.yaml") && output.out.contains("1 more finding"),
        "{}",
        output.all()
    );
}
