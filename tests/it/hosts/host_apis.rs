//! Requests to a CI host's own API: comments, Code Insights, annotations through the agent.

use crate::support::{
    Call, Comments, Platform, ProgramOutput, World, answer, at_once, change, failing_platform, in_turn,
    orchestration_text,
};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;
use wiremock::{Request, ResponseTemplate};

/// The secret of the commenting job; no output may contain it.
const JOB_TOKEN: &str = "job-s3cret";

fn change_with_bad_pipeline() -> World {
    change(&[("b.orch.yaml", &orchestration_text(&["Start", "load it", "Done"]))])
}

/// Returns a call in a pull request's job on GitHub.
fn on_github(world: &World, platform: &Platform, api: &str) -> Call {
    let head = world.git("rev-parse HEAD");
    let payload = json!({ "number": 12, "repository": { "default_branch": "main", "full_name": "o/r" },
        "pull_request": { "number": 12,
            "head": { "ref": "change", "sha": head, "repo": { "full_name": "o/r" } },
            "base": { "ref": "main", "sha": head, "repo": { "full_name": "o/r" } } } });
    let event = world.path().join("event.json");
    fs::write(&event, payload.to_string()).unwrap();
    platform
        .call(world)
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "pull_request")
        .variable("GITHUB_EVENT_PATH", event.display().to_string())
        .variable("GITHUB_SHA", &head)
        .variable("GITHUB_REPOSITORY", "o/r")
        .variable("GITHUB_API_URL", api)
        .variable("GITHUB_TOKEN", JOB_TOKEN)
}

/// Returns a call in a merge request's job on GitLab.
fn on_gitlab(world: &World, platform: &Platform, notes: &Comments) -> Call {
    platform
        .call(world)
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "merge_request_event")
        .variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"))
        .variable("CI_PROJECT_ID", "3")
        .variable("CI_MERGE_REQUEST_IID", "4")
        .variable("CI_MERGE_REQUEST_PROJECT_ID", "3")
        .variable("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "3")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "change")
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .variable("CI_API_V4_URL", format!("{}/api/v4", notes.url()))
        .variable("GITLAB_TOKEN", JOB_TOKEN)
}

fn without_secret(output: ProgramOutput) -> ProgramOutput {
    assert!(!output.all().contains(JOB_TOKEN), "{}", output.all());
    output
}

#[test]
fn one_comment_is_posted_and_then_updated() {
    let world = change_with_bad_pipeline();
    let said =
        |n: usize| json!({ "id": n, "body": format!("words {n}"), "user": { "id": n, "type": "User" } });
    let stranger = json!({ "id": 900, "body": "<!-- sluicegate -->\nall is well", "user": { "id": 66, "type": "User" } });
    let before: Vec<Value> = (0..120).map(said).chain([stranger.clone()]).collect();
    let comments = Comments::github(before);
    for (text, expected) in [
        ("`load it` is wrong", "posted"),
        ("`load it` is still wrong", "updated"),
        ("`load it` is still wrong", "is up to date"),
    ] {
        let platform = failing_platform(text);
        let call = on_github(&world, &platform, &comments.url());
        let output = without_secret(call.run("review --comment").expect(1)).saying(&[expected]);
        let bodies = comments.bodies();
        let ours: Vec<&String> = bodies
            .iter()
            .filter(|b| b.starts_with("<!-- sluicegate -->\n## "))
            .collect();
        assert_eq!(ours.len(), 1, "{}", output.all());
        assert!(ours[0].contains("load it"), "{}", ours[0]);
    }
    let requests = comments.host.requests();
    let posts = |r: &&Request| r.method.as_str() == "POST" && r.url.path() != "/graphql";
    assert_eq!(requests.iter().filter(posts).count(), 1);
    assert_eq!(
        requests.iter().filter(|r| r.method.as_str() == "PATCH").count(),
        1
    );
    assert!(
        requests
            .iter()
            .all(|r| r.headers["authorization"] == format!("Bearer {JOB_TOKEN}").as_str())
    );
    let texts = comments.stored_comments.lock().unwrap();
    assert!(texts.contains(&stranger), "a stranger's comment is left alone");
}

#[test]
fn comment_of_earlier_run_is_replaced_if_run_does_not_finish() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    let comments = Comments::github(Vec::new());
    let call = on_github(&world, &platform, &comments.url());
    let unusable = call.clone().variable("SLUICEGATE_FAIL_ON", "abc");
    // There is no comment to replace.
    unusable.run("review --comment").expect(2);
    assert_eq!(comments.bodies(), [""; 0]);
    call.run("review --comment").expect(1);
    let commit = world.git("rev-parse --short=7 HEAD");
    let commit_line = format!("Commit: <code>{commit}</code>");
    assert!(
        comments.bodies()[0].contains(&commit_line),
        "{:?}",
        comments.bodies()
    );
    unusable.run("review").expect(2);
    unusable.run("review --comment --dry-run").expect(2);
    assert!(
        !comments.bodies()[0].contains("did not finish"),
        "{:?}",
        comments.bodies()
    );
    for command in ["review", "check", "ci"] {
        call.run("review --comment").expect(1);
        without_secret(unusable.run((command, "--comment")).expect(2)).saying(&["updated the comment"]);
        let bodies = comments.bodies();
        assert_eq!(bodies.len(), 1, "{bodies:?}");
        for text in ["he run did not finish (exit code 2)", &commit_line] {
            assert!(bodies[0].contains(text), "{}", bodies[0]);
        }
        assert!(!bodies[0].contains("abc"), "{}", bodies[0]);
    }
    let unreachable = unusable.variable("GITHUB_API_URL", "http://127.0.0.1:9");
    unreachable
        .run("review --comment")
        .expect(2)
        .saying(&["could not update the comment of an earlier run"]);
}

#[test]
fn note_of_unknown_author_stays_if_run_does_not_finish() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    let notes = Comments::gitlab(Vec::new());
    let rejection = ResponseTemplate::new(403).set_body_json(json!({ "error": "insufficient_scope" }));
    notes
        .host
        .respond_to("GET", "^/api/v4/user$", in_turn(vec![rejection]));
    let call = on_gitlab(&world, &platform, &notes);
    let unusable = call.clone().variable("SLUICEGATE_FAIL_ON", "abc");
    unusable.run("review --comment").expect(2);
    assert_eq!(notes.bodies(), [""; 0]);
    call.run("review --comment").expect(1);
    let bodies = notes.bodies();
    assert_eq!(bodies.len(), 1, "{bodies:?}");
    // Another user may have written the note with this first line.
    unusable.run("review --comment").expect(2);
    assert_eq!(notes.bodies(), bodies);
}

#[test]
fn run_of_push_needs_no_comment_and_other_event_warns() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    for (source, has_warning) in [("push", false), ("schedule", false), ("trigger", true)] {
        let output = platform
            .call(&world)
            .variable("GITLAB_CI", "true")
            .variable("CI_PIPELINE_SOURCE", source)
            .variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"))
            .variable("CI_COMMIT_BRANCH", "change")
            .variable("CI_DEFAULT_BRANCH", "main")
            .run("review --comment")
            .expect(1);
        let text = output.all();
        assert_eq!(text.contains("could not send the comment"), has_warning, "{text}");
    }
}

#[test]
fn comment_lists_changes_of_pipelines_unless_they_are_off() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    for (args, has_changes) in [("", true), ("--changes none", false)] {
        let comments = Comments::github(Vec::new());
        on_github(&world, &platform, &comments.url())
            .run(("review --base origin/main --comment", args))
            .expect(1);
        let bodies = comments.bodies();
        assert_eq!(
            bodies[0].contains("### Pipeline changes"),
            has_changes,
            "{bodies:?}"
        );
    }
}

#[test]
fn twins_of_our_own_are_removed() {
    let own = |id| json!({ "id": id, "body": "<!-- sluicegate -->\nold", "user": { "id": 7, "login": "github-actions[bot]", "type": "Bot" } });
    let comments = Comments::github(vec![own(1), own(2)]);
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    on_github(&world, &platform, &comments.url())
        .run("review --comment")
        .expect(1);
    let texts = comments.stored_comments.lock().unwrap();
    assert_eq!((texts.len(), &texts[0]["id"]), (1, &json!(1)));
}

/// Returns another bot's comment, and a user's with a name like the job's; both start like ours.
fn of_others() -> Vec<Value> {
    let by = |id: u64, login: &str, kind: &str| json!({ "id": id, "body": "<!-- sluicegate -->\nnot ours", "user": { "id": id, "login": login, "type": kind } });
    vec![
        by(20, "other-app[bot]", "Bot"),
        by(21, "github-actions", "User"),
        by(22, "github-actions[bot]", "User"),
    ]
}

#[test]
fn comments_of_other_bots_stay_if_user_of_token_is_unknown() {
    let comments = Comments::github(of_others());
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    for expected in ["posted", "is up to date"] {
        on_github(&world, &platform, &comments.url())
            .run("review --comment")
            .expect(1)
            .saying(&[expected]);
    }
    let texts = comments.stored_comments.lock().unwrap();
    assert_eq!((texts.len(), &texts[..3]), (4, &of_others()[..]));
}

#[test]
fn token_of_app_finds_its_own_comment_by_its_viewer() {
    let own = json!({ "id": 30, "body": "<!-- sluicegate -->\nold", "user": { "id": 77, "login": "our-app[bot]", "type": "Bot" } });
    let job = json!({ "id": 31, "body": "<!-- sluicegate -->\nof a job", "user": { "id": 7, "login": "github-actions[bot]", "type": "Bot" } });
    let comments = Comments::github(of_others().into_iter().chain([own, job.clone()]).collect());
    let viewer = answer(&json!({ "data": { "viewer": { "databaseId": 77 } } }));
    comments
        .host
        .respond_to("POST", "^/graphql$", in_turn(vec![viewer]));
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    on_github(&world, &platform, &comments.url())
        .run("review --comment")
        .expect(1)
        .saying(&["updated"]);
    let texts = comments.stored_comments.lock().unwrap();
    assert_eq!((texts.len(), &texts[..3], &texts[4]), (5, &of_others()[..], &job));
    assert!(texts[3]["body"].as_str().unwrap().contains("## "));
}

#[test]
fn note_of_other_author_is_kept_if_owner_of_gitlab_token_is_unknown() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    let bot = json!({ "id": 1, "body": "<!-- sluicegate -->\nnot ours", "author": { "id": 6, "type": "Bot", "login": "github-actions[bot]" } });
    let notes = Comments::gitlab(vec![bot.clone()]);
    let rejection = ResponseTemplate::new(403).set_body_json(json!({ "error": "insufficient_scope" }));
    notes
        .host
        .respond_to("GET", "^/api/v4/user$", in_turn(vec![rejection]));
    // The response to a new note names its author, so each run replaces the note of the run before.
    for _ in 0..3 {
        on_gitlab(&world, &platform, &notes)
            .run("review --comment")
            .expect(1)
            .saying(&["posted"]);
        let texts = notes.stored_comments.lock().unwrap();
        assert_eq!((texts.len(), &texts[0]), (2, &bot));
    }
}

#[test]
fn missing_permission_is_reported_and_verdict_stays() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    let host = Platform::new();
    let refused = || {
        ResponseTemplate::new(403)
            .set_body_json(json!({ "message": "Resource not accessible by integration" }))
    };
    host.respond_to("GET", "", in_turn(vec![refused()]));
    let call = on_github(&world, &platform, &host.server.uri());
    without_secret(call.run("review --comment").expect(1)).saying(&[
        "could not send the comment",
        "Resource not accessible by integration",
        "hint: give the job that comments the permission `pull-requests: write`",
    ]);
    let notes = Comments::gitlab(Vec::new());
    notes
        .host
        .respond_to("GET", "/user$", in_turn(vec![answer(&json!({ "id": 7 }))]));
    notes.host.respond_to("POST", "", in_turn(vec![refused()]));
    let call = on_gitlab(&world, &platform, &notes).variable("CI_API_V4_URL", host.server.uri());
    without_secret(call.run("review --comment").expect(1))
        .saying(&["hint: use a project access token with the scope `api`"]);
    let call = on_github(&world, &platform, &host.server.uri()).without("GITHUB_TOKEN");
    call.run("review --comment")
        .expect(1)
        .saying(&["GITHUB_TOKEN is not set"]);
    platform
        .call(&world)
        .run("review --comment")
        .expect(1)
        .saying(&["a local run has no pull or merge request"]);
}

#[test]
fn merge_request_has_one_note() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    let twin = json!({ "id": 1, "body": "<!-- sluicegate -->\nnot ours", "author": { "id": 6 } });
    let notes = Comments::gitlab(vec![twin]);
    notes.host.respond_to(
        "GET",
        "^/api/v4/user$",
        in_turn(vec![answer(&json!({ "id": 5 }))]),
    );
    for _ in 0..2 {
        let call = on_gitlab(&world, &platform, &notes);
        without_secret(call.run("review --comment --report json=r.json").expect(1));
    }
    let bodies = notes.bodies();
    assert_eq!(bodies.len(), 2, "{bodies:?}");
    assert!(bodies[1].starts_with("<!-- sluicegate -->\n## "));
}

#[test]
fn bitbucket_gets_code_insights_through_its_proxy() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("`load it` is wrong"));
    let proxy = Platform::new();
    let head = world.git("rev-parse HEAD");
    proxy.respond_to("DELETE", "", in_turn(vec![ResponseTemplate::new(404)]));
    for method in ["PUT", "POST"] {
        proxy.respond_to(method, "", in_turn(vec![answer(&json!({}))]));
    }
    let call = platform
        .call(&world)
        .variable("BITBUCKET_BUILD_NUMBER", "9")
        .variable("BITBUCKET_COMMIT", &head)
        .variable("BITBUCKET_BRANCH", "change")
        .variable("BITBUCKET_REPO_FULL_NAME", "w/r")
        .variable("SLUICEGATE_BITBUCKET_PROXY", proxy.server.uri());
    call.run("review").expect(1).saying(&["Code Insights"]);
    let requests = proxy.requests();
    let path = format!("/2.0/repositories/w/r/commit/{head}/reports/sluicegate");
    let seen: Vec<(String, String)> = requests
        .iter()
        .map(|r| (r.method.to_string(), r.url.path().to_owned()))
        .collect();
    let expected = [
        ("DELETE", path.clone()),
        ("PUT", path.clone()),
        ("POST", format!("{path}/annotations")),
    ];
    assert_eq!(seen, expected.map(|(method, path)| (method.to_owned(), path)));
    assert!(requests.iter().all(|r| !r.headers.contains_key("authorization")));
    let annotations: Value = serde_json::from_slice(&requests[2].body).unwrap();
    assert_eq!(
        (&annotations[0]["path"], &annotations[0]["line"]),
        (&json!("b.orch.yaml"), &json!(11))
    );

    let call = call.variable("SLUICEGATE_BITBUCKET_PROXY", "http://127.0.0.1:9");
    call.run("review").expect(1).saying(&[
        "could not send Code Insights",
        "hint: SLUICEGATE_BITBUCKET_PROXY is the URL of Bitbucket's proxy for Code Insights",
    ]);
    let call = call.variable("SLUICEGATE_BITBUCKET_PROXY", "xx");
    call.run("review")
        .expect(1)
        .saying(&["SLUICEGATE_BITBUCKET_PROXY is not a URL: relative URL without a base"]);
}

#[test]
fn code_insights_of_earlier_run_are_replaced_if_run_does_not_finish() {
    let world = change_with_bad_pipeline();
    for (status, methods) in [
        (204, &["DELETE", "PUT"][..]),
        (404, &["DELETE"]),
        (500, &["DELETE"]),
    ] {
        let proxy = Platform::new();
        let response = ResponseTemplate::new(status).insert_header("retry-after", "0");
        proxy.respond_to("DELETE", "", in_turn(vec![response]));
        proxy.respond_to("PUT", "", in_turn(vec![answer(&json!({}))]));
        let output = Call::new(&world.work())
            .variable("BITBUCKET_BUILD_NUMBER", "9")
            .variable("BITBUCKET_COMMIT", world.git("rev-parse HEAD"))
            .variable("BITBUCKET_BRANCH", "change")
            .variable("BITBUCKET_REPO_FULL_NAME", "w/r")
            .variable("SLUICEGATE_BITBUCKET_PROXY", proxy.server.uri())
            .run("check --base nope")
            .expect(7);
        let has_warning = output
            .err
            .contains("could not update Code Insights of an earlier run");
        assert_eq!(has_warning, status == 500, "{}", output.all());
        let requests = proxy.requests();
        let mut sent_methods: Vec<&str> = requests.iter().map(|request| request.method.as_str()).collect();
        sent_methods.dedup();
        assert_eq!(sent_methods, methods);
        if let Some(put) = requests.iter().find(|request| request.method.as_str() == "PUT") {
            let body: Value = serde_json::from_slice(&put.body).unwrap();
            assert_eq!(body["result"], "FAILED");
            assert!(
                body["details"]
                    .to_string()
                    .contains("did not finish (exit code 7)"),
                "{body}"
            );
        }
    }
}

#[test]
fn refused_code_insights_have_proxy_hint_and_keep_verdict() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("x"));
    let sent = |status: u16| {
        let proxy = Platform::new();
        for method in ["DELETE", "PUT", "POST"] {
            let body = json!({ "error": { "message": "this job may not write reports" } });
            let rejection = ResponseTemplate::new(status).set_body_json(body);
            proxy.respond_to(method, "", in_turn(vec![rejection]));
        }
        let call = platform
            .call(&world)
            .variable("BITBUCKET_BUILD_NUMBER", "9")
            .variable("BITBUCKET_COMMIT", world.git("rev-parse HEAD"))
            .variable("BITBUCKET_BRANCH", "change")
            .variable("BITBUCKET_REPO_FULL_NAME", "w/r")
            .variable("SLUICEGATE_BITBUCKET_PROXY", proxy.server.uri());
        call.run("review")
            .expect(1)
            .saying(&["could not send Code Insights", "this job may not write reports"])
    };
    let hint = "hint: Bitbucket's proxy adds the credentials of the pipeline: run this step in a pipeline";
    for status in [401, 403] {
        let refused = sent(status);
        assert_eq!(refused.err.matches(hint).count(), 1, "{}", refused.all());
    }
    let invalid = sent(400);
    assert!(!invalid.err.contains(hint), "{}", invalid.all());
}

#[test]
fn check_on_bitbucket_sends_only_results_of_built_commit_and_unfinished_runs() {
    let world = change_with_bad_pipeline();
    let proxy = Platform::new();
    let head = world.git("rev-parse HEAD");
    for method in ["DELETE", "PUT", "POST"] {
        proxy.respond_to(method, "", in_turn(vec![answer(&json!({}))]));
    }
    let call = Call::new(&world.work())
        .variable("BITBUCKET_BUILD_NUMBER", "9")
        .variable("BITBUCKET_COMMIT", &head)
        .variable("BITBUCKET_BRANCH", "change")
        .variable("BITBUCKET_REPO_FULL_NAME", "w/r")
        .variable("SLUICEGATE_BITBUCKET_PROXY", proxy.server.uri());
    let output = call.run("check --all").expect(1);
    output.saying(&["sent the result to Code Insights"]);
    let path = proxy.requests()[0].url.path().to_owned();
    assert!(path.contains(&format!("/commit/{head}/reports/")), "{path}");
    let sent = proxy.requests().len();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.git("add b.orch.yaml");
    call.run("check --all --staged")
        .expect(0)
        .saying(&["differ from those in the built commit (BITBUCKET_COMMIT)"]);
    world.commit("another than was built");
    call.run("check --all --head HEAD")
        .expect(0)
        .saying(&["the built commit (BITBUCKET_COMMIT) is not checked out"]);
    assert_eq!(proxy.requests().len(), sent);
    // This run cannot finish, so the report of the earlier run is replaced.
    call.run("check --all")
        .expect(7)
        .saying(&["neither the event's commit"]);
    let requests = &proxy.requests()[sent..];
    let methods: Vec<&str> = requests.iter().map(|request| request.method.as_str()).collect();
    assert_eq!(methods, ["DELETE", "PUT"]);
    let report: Value = serde_json::from_slice(&requests[1].body).unwrap();
    assert_eq!(report["result"], "FAILED", "{report}");
    let details = report["details"].as_str().unwrap();
    assert!(details.contains("did not finish (exit code 7)"), "{details}");
}

#[test]
fn check_of_hosts_merge_in_clone_is_that_of_built_commit() {
    let world = change_with_bad_pipeline();
    let head = world.git("rev-parse HEAD");
    world.git("checkout -q main");
    world.write("other.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("the destination has moved");
    world.push();
    world.git("checkout -q change");
    world.git("merge -q --no-edit main");
    let proxy = Platform::new();
    for method in ["DELETE", "PUT", "POST"] {
        proxy.respond_to(method, "", in_turn(vec![answer(&json!({}))]));
    }
    let bitbucket = Call::new(&world.work())
        .variable("BITBUCKET_BUILD_NUMBER", "9")
        .variable("BITBUCKET_COMMIT", &head)
        .variable("BITBUCKET_BRANCH", "change")
        .variable("BITBUCKET_PR_ID", "5")
        .variable("BITBUCKET_PR_DESTINATION_BRANCH", "main")
        .variable("BITBUCKET_REPO_FULL_NAME", "w/r")
        .variable("SLUICEGATE_BITBUCKET_PROXY", proxy.server.uri());
    let buildkite = Call::new(&world.work())
        .variable("BUILDKITE", "true")
        .variable("BUILDKITE_COMMIT", &head)
        .variable("BUILDKITE_BRANCH", "change")
        .variable("BUILDKITE_PULL_REQUEST", "5")
        .variable("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main")
        .variable("BUILDKITE_REPO", "git@git.example:o/p.git")
        .variable("BUILDKITE_PULL_REQUEST_REPO", "https://git.example/o/p");
    let report = world.path().join("r.json").display().to_string();
    for (host, call) in [("bitbucket", &bitbucket), ("buildkite", &buildkite)] {
        let output = call
            .run(&["check", "--report", &format!("json={report}")])
            .expect(1);
        let output = output.logging(&[&format!("--head {}", &head[..12])]);
        let again = call.run(&["report", &report]).expect(1);
        again.logging(&[&format!("--head {}", &head[..12])]);
        if host == "bitbucket" {
            output.saying(&["sent the result to Code Insights"]);
        }
    }
    let path = proxy.requests()[0].url.path().to_owned();
    assert!(path.contains(&format!("/commit/{head}/reports/")), "{path}");
    // A merge that its author edited may contain other files than the built commit.
    world.write("other.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.git("commit -q -a --amend --no-edit");
    let local = Call::new(&world.work());
    let args = [
        "check",
        "--all",
        "--head",
        "HEAD",
        "--report",
        &format!("json={report}"),
    ];
    local.run(&args).expect(1);
    let refused = bitbucket.run(&["report", &report]).expect(2);
    refused.saying(&["but this job is for commit"]);
}

/// Returns a host that rejects the first request and responds late to the second.
fn slow() -> Platform {
    let host = Platform::new();
    let busy = ResponseTemplate::new(503).insert_header("retry-after", "0");
    let late = answer(&json!({ "id": 7 })).set_delay(Duration::from_millis(2_600));
    host.respond_to("GET", "^/user$", in_turn(vec![busy.clone(), late.clone()]));
    host.respond_to("GET", "/comments$", answer(&json!([])));
    host.respond_to("DELETE", "/reports/", in_turn(vec![busy, late]));
    for method in ["PUT", "POST"] {
        host.respond_to(method, "", answer(&json!({})));
    }
    host
}

#[test]
fn host_is_waited_for_and_asked_again_in_words() {
    let (world, platform, github, bitbucket) =
        (change_with_bad_pipeline(), failing_platform("x"), slow(), slow());
    let comment = on_github(&world, &platform, &github.server.uri());
    let insights = platform
        .call(&world)
        .variable("BITBUCKET_BUILD_NUMBER", "9")
        .variable("BITBUCKET_COMMIT", world.git("rev-parse HEAD"))
        .variable("BITBUCKET_BRANCH", "change")
        .variable("BITBUCKET_REPO_FULL_NAME", "w/r")
        .variable("SLUICEGATE_BITBUCKET_PROXY", bitbucket.server.uri());
    let cases = [
        (
            comment,
            &["review", "--comment"][..],
            [
                "/user: 503 Service Unavailable; retrying in ",
                "/user (timeout 30 s)",
                "posted a comment",
            ],
        ),
        (
            insights,
            &["review"],
            [
                "/reports/sluicegate: 503 Service Unavailable; retrying in ",
                "waiting for the response to DELETE http://api.bitbucket.org/",
                "sent the result to Code Insights",
            ],
        ),
    ];
    at_once(cases, |(call, args, expected_text)| {
        call.run(args).expect(1).saying(&expected_text);
    });
}

#[test]
fn parallel_jobs_of_buildkite_write_reports_of_their_own() {
    let world = change_with_bad_pipeline();
    for job in [
        "0190046e-e199-453b-a302-a21a4d649d31",
        "0190046e-e199-453b-a302-a21a4d649d32",
        "../x",
    ] {
        let call = Call::new(&world.work())
            .variable("BUILDKITE", "true")
            .variable("BUILDKITE_JOB_ID", job)
            .variable("BUILDKITE_COMMIT", world.git("rev-parse HEAD"))
            .variable("BUILDKITE_BRANCH", "change");
        call.run("check --all").expect(1);
    }
    let mut names: Vec<String> = fs::read_dir(world.work().join("tmp"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let expected = [
        "junit-sluicegate-0190046e-e199-453b-a302-a21a4d649d31.xml",
        "junit-sluicegate-0190046e-e199-453b-a302-a21a4d649d32.xml",
        "junit-sluicegate.xml",
    ];
    assert_eq!(names, expected);
}

/// Writes a program with the name of Buildkite's agent, and returns the search path that finds it.
fn install_agent(world: &World, script: &str) -> String {
    let agent = world.path().join("bin/buildkite-agent");
    fs::create_dir_all(agent.parent().unwrap()).unwrap();
    fs::write(&agent, script).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    format!(
        "{}:{}",
        agent.parent().unwrap().display(),
        crate::support::path_variable().to_string_lossy()
    )
}

#[test]
fn buildkite_agent_that_does_not_read_is_reported_with_its_status() {
    let world = change_with_bad_pipeline();
    let path = install_agent(&world, "#!/bin/sh\nexec 0<&-\nexit 7\n");
    Call::new(&world.work())
        .variable("BUILDKITE", "true")
        .variable("BUILDKITE_COMMIT", world.git("rev-parse HEAD"))
        .variable("BUILDKITE_BRANCH", "change")
        .variable("PATH", path)
        .run("check --all")
        .expect(1)
        .saying(&["buildkite-agent annotate: exit status: 7"]);
}

#[test]
fn buildkite_gets_an_annotation_by_its_agent() {
    let (world, platform) = (change_with_bad_pipeline(), failing_platform("`load it` is wrong"));
    let head = world.git("rev-parse HEAD");
    let secrets = ["GITHUB_TOKEN", "GITLAB_TOKEN", "BITBUCKET_TOKEN", "CI_JOB_TOKEN"];
    let call = secrets
        .iter()
        .fold(platform.call(&world), |call, name| call.variable(name, JOB_TOKEN))
        .variable("BUILDKITE_AGENT_ACCESS_TOKEN", "of-the-agent")
        .variable("SLUICEGATE_CLIENT_ID", "client")
        .variable("SLUICEGATE_CLIENT_SECRET", "s3cret")
        .variable("SLUICEGATE_TOKEN_URL", "https://login.invalid/token")
        .variable("BUILDKITE", "true")
        .variable("BUILDKITE_COMMIT", &head)
        .variable("BUILDKITE_BRANCH", "change");
    call.run("review --base origin/main").expect(1);
    let script = "#!/bin/sh\ncat > \"$HOME/annotation\"\necho \"$@\" > \"$HOME/arguments\"\nenv > \"$HOME/environment\"\n";
    let call = call.variable("PATH", install_agent(&world, script));
    call.run("review --base origin/main").expect(1);
    let read = |name: &str| fs::read_to_string(world.work().join(name)).unwrap();
    assert_eq!(read("arguments"), "annotate --style error --context sluicegate\n");
    let given = read("environment");
    assert!(
        given.contains("BUILDKITE_AGENT_ACCESS_TOKEN=of-the-agent"),
        "{given}"
    );
    assert!(!given.contains(JOB_TOKEN) && !given.contains("s3cret"), "{given}");
    let annotation = read("annotation");
    assert!(
        annotation.contains("load it") && annotation.contains("### Pipeline changes"),
        "{annotation}"
    );
}

#[test]
fn hint_for_ca_file_of_gitlab_names_its_variable() {
    let world = change_with_bad_pipeline();
    let platform = failing_platform("wrong");
    let notes = Comments::gitlab(Vec::new());
    let call = on_gitlab(&world, &platform, &notes);
    let hint = "correct the path of the file: CI_SERVER_TLS_CA_FILE";
    for (ca_file, is_hinted) in [("/missing.pem", true), ("", false)] {
        let output = call
            .clone()
            .variable("CI_SERVER_TLS_CA_FILE", ca_file)
            .run("check --comment");
        assert_eq!(output.all().contains(hint), is_hinted, "{}", output.all());
        assert!(!output.all().contains("--ca-cert"), "{}", output.all());
    }
}
