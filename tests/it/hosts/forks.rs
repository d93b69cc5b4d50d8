//! The change of a fork: rejected, or checked locally, on every host that reports forks.

use crate::support::{
    Arguments, Call, Checkout, EVERYTHING_FETCHED, ProgramOutput, World, checkout, git, read_json,
    with_default,
};
use serde_json::json;
use std::fs;
use std::path::Path;

const RULES: &str = "rules: [{ id: component-naming-convention, enabled: true, enforcementLevel: error, \
                     config: { regexMatchPattern: '[A-Z].*' } }]\n";

fn pipeline_with_start(name: &str) -> String {
    format!(
        "type: orchestration\npipeline: {{ components: {{ {name}: {{ type: start, parameters: {{}} }} }} }}\n"
    )
}

/// Creates a project and a change that adds a pipeline with a component of this name.
fn fork_change(component: &str) -> (World, String) {
    let world = World::new();
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    world.write("a.orch.yaml", pipeline_with_start("Start"));
    world.commit("first");
    world.push();
    world.git("checkout -q -b feature");
    world.write("b.orch.yaml", pipeline_with_start(component));
    let head = world.commit("change");
    world.git("push -q origin HEAD:refs/pull/1/head");
    (world, head)
}

fn fork_job(world: &World, head: &str) -> Checkout {
    let fetch = [EVERYTHING_FETCHED, "+refs/pull/1/head:refs/remotes/pull/1/head"];
    circleci(&with_default(checkout(world, &fetch, head)), head)
}

fn circleci(folder: &Path, head: &str) -> Checkout {
    let variables = [
        ("CIRCLECI", "true"),
        ("CIRCLE_SHA1", head),
        ("CIRCLE_BRANCH", "pull/1"),
        ("CIRCLE_PR_REPONAME", "p"),
    ];
    Checkout::new(folder, &variables).with_remote_as_target()
}

/// Returns a job for a fork on each host.
fn hosts_of_fork(folder: &Path, head: &str) -> Vec<Checkout> {
    let github = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/1/merge"),
        ("GITHUB_SHA", head),
    ];
    let base = git(folder, "rev-parse refs/remotes/origin/main");
    let payload = json!({ "pull_request": {
        "number": 1,
        "head": { "ref": "feature", "sha": head, "repo": { "full_name": "somebody/p" } },
        "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/p" } }
    } });
    let gitlab = [
        ("GITLAB_CI", "true"),
        ("CI_COMMIT_SHA", head),
        ("CI_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_IID", "1"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "6"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
    ];
    let azure = [
        ("TF_BUILD", "True"),
        ("BUILD_SOURCEVERSION", head),
        ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "feature"),
        ("SYSTEM_PULLREQUEST_TARGETBRANCH", "main"),
        ("SYSTEM_PULLREQUEST_SOURCECOMMITID", head),
        ("SYSTEM_PULLREQUEST_ISFORK", "True"),
    ];
    let jenkins = [
        ("JENKINS_URL", "http://ci/"),
        ("BUILD_ID", "1"),
        ("GIT_COMMIT", head),
        ("CHANGE_BRANCH", "feature"),
        ("CHANGE_TARGET", "main"),
        ("CHANGE_FORK", "somebody"),
    ];
    let buildkite = [
        ("BUILDKITE", "true"),
        ("BUILDKITE_COMMIT", head),
        ("BUILDKITE_BRANCH", "somebody:feature"),
        ("BUILDKITE_REPO", "git@github.com:o/p.git"),
        ("BUILDKITE_PULL_REQUEST", "1"),
        ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main"),
        ("BUILDKITE_PULL_REQUEST_REPO", "git://github.com/somebody/p.git"),
    ];
    let jobs = vec![
        Checkout::new(folder, &github).payload(&payload),
        Checkout::new(folder, &github)
            .with_variables(&[("GITEA_ACTIONS", "true")])
            .payload(&payload),
        Checkout::new(folder, &gitlab),
        Checkout::new(folder, &azure),
        Checkout::new(folder, &jenkins),
        circleci(folder, head),
        Checkout::new(folder, &buildkite),
    ];
    jobs.into_iter().map(Checkout::with_remote_as_target).collect()
}

const REPORTS: &str = "review --report json=out/j.json --report junit=out/j.xml";

fn review_with_reports(call: &Call, extra_args: impl Arguments) -> ProgramOutput {
    call.run((REPORTS, extra_args))
}

#[test]
fn fork_is_refused_before_anything_else_that_is_missing() {
    let (world, head) = fork_change("Start");
    let fetch = [EVERYTHING_FETCHED, "+refs/pull/1/head:refs/remotes/pull/1/head"];
    let folder = checkout(&world, &fetch, &head);
    for job in hosts_of_fork(&folder, &head) {
        // Without URL, project and token, as in a job for a fork.
        for call in [job.call(), job.review_call()] {
            review_with_reports(&call, "").expect(7).saying(&[
                "belongs to a fork",
                "`sluicegate check`",
                "--fork check",
            ]);
            review_with_reports(&call, "--fork fail").expect(7);
        }
    }
}

#[test]
fn dry_run_for_fork_ends_as_review_would() {
    let (world, head) = fork_change("Start");
    let fetch = [EVERYTHING_FETCHED, "+refs/pull/1/head:refs/remotes/pull/1/head"];
    let folder = with_default(checkout(&world, &fetch, &head));
    for job in hosts_of_fork(&folder, &head) {
        for command in ["review", "ci"] {
            let output = job.call().run(&[command, "--dry-run"]).expect(7);
            output.saying(&["belongs to a fork", "--fork check"]);
            let output = job
                .call()
                .run(&[command, "--dry-run", "--fork", "check"])
                .expect(0);
            let expected_text = "would review 1 pipeline locally";
            assert!(output.out.contains(expected_text), "{}", output.all());
        }
    }
}

#[test]
fn fork_with_fork_check_is_reviewed_locally_in_every_report() {
    let (world, head) = fork_change("wrong");
    let fetch = [EVERYTHING_FETCHED, "+refs/pull/1/head:refs/remotes/pull/1/head"];
    let folder = with_default(checkout(&world, &fetch, &head));
    for job in hosts_of_fork(&folder, &head) {
        let summary = folder.with_extension("summary.md");
        let call = job
            .call()
            .variable("GITHUB_STEP_SUMMARY", summary.display().to_string());
        let run_output = review_with_reports(&call, "--fork check").expect(1);
        let expected_text = "checked locally";
        assert!(
            run_output.out.contains(expected_text) && run_output.out.contains("wrong"),
            "{}",
            run_output.all()
        );
        let report = read_json(&job.folder.join("out/j.json"));
        assert_eq!(
            (&report["engine"], &report["verdict"]),
            (&json!("local"), &json!("failed"))
        );
        assert_eq!(report["context"]["head"], head.as_str());
        assert_eq!(report["files"][0]["path"], "b.orch.yaml");
        assert_eq!(report["files"].as_array().unwrap().len(), 1);
        assert!(report["notes"].to_string().contains(expected_text), "{report}");
        let junit = fs::read_to_string(folder.join("out/j.xml")).unwrap();
        let document = roxmltree::Document::parse(&junit).unwrap();
        let engine = document
            .descendants()
            .find(|node| node.attribute("name") == Some("engine"));
        assert_eq!(engine.and_then(|node| node.attribute("value")), Some("local"));
        assert!(fs::read_to_string(&summary).unwrap().contains(expected_text));
        fs::remove_file(summary).unwrap();
        // With a report on standard output, the text is on standard error.
        review_with_reports(&call, "--fork check --report json=-")
            .expect(1)
            .saying(&[expected_text]);
    }
}

#[test]
fn statement_about_change_of_fork_names_no_branch() {
    let (world, head) = fork_change("Start");
    let fetch = [EVERYTHING_FETCHED, "+refs/pull/1/head:refs/remotes/pull/1/head"];
    let folder = with_default(checkout(&world, &fetch, &head));
    for job in hosts_of_fork(&folder, &head) {
        let args = "review --fork check --attestation out/s.json --report json=out/j.json";
        job.call().run(args).expect(0);
        let predicate = &read_json(&job.folder.join("out/s.json"))["predicate"];
        assert_eq!(
            (&predicate["commit"], &predicate["branch"]),
            (&json!(head), &json!(null))
        );
        let report = read_json(&job.folder.join("out/j.json"));
        assert_ne!(report["context"]["branch"], json!(null));
    }
}

#[test]
fn good_change_of_fork_passes_by_flag_variable_and_file() {
    let (world, head) = fork_change("Start");
    let job = fork_job(&world, &head);
    review_with_reports(&job.call(), "--fork check").expect(0);
    assert_eq!(read_json(&job.folder.join("out/j.json"))["verdict"], "passed");
    review_with_reports(&job.call().variable("SLUICEGATE_FORK", "check"), "").expect(0);
    // The fork's own file does not decide it, unless the job allows it.
    world.write("sluicegate.yaml", "review: { fork: check }\n");
    let head = world.commit("configuration");
    world.git("push -q origin HEAD:refs/pull/1/head");
    let job = fork_job(&world, &head);
    review_with_reports(&job.call(), "")
        .expect(7)
        .saying(&["`review.fork`", "--policy head"]);
    review_with_reports(&job.call(), "--policy head").expect(0);
    review_with_reports(&job.call(), "--policy head --fork fail").expect(7);
    review_with_reports(&job.call(), "--fork maybe")
        .expect(2)
        .saying(&["fail", "check"]);
}

#[test]
fn change_without_fork_is_still_reviewed_by_platform() {
    let (world, head) = fork_change("Start");
    let fetch = [
        EVERYTHING_FETCHED,
        "+refs/pull/1/head:refs/remotes/origin/feature",
    ];
    let folder = checkout(&world, &fetch, &head);
    let job = Checkout::new(
        &folder,
        &[
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", &head),
            ("CIRCLE_BRANCH", "feature"),
        ],
    );
    review_with_reports(&job.review_call(), "--fork check").expect(3);
    assert_eq!(read_json(&job.folder.join("out/j.json"))["engine"], "remote");
}

#[test]
fn fork_with_nothing_to_review_is_green_without_any_setting() {
    let (world, _) = fork_change("Start");
    world.git("checkout -q -b words origin/main");
    world.write("README.md", "words\n");
    let head = world.commit("words");
    world.git("push -q --force origin HEAD:refs/pull/1/head");
    let job = fork_job(&world, &head);
    for more in ["", "--fork check"] {
        let output = review_with_reports(&job.call(), more).expect(0);
        assert!(output.out.contains("nothing to review"), "{}", output.all());
    }
}
