//! A required check on a change without a pipeline: it passes on every host, with valid reports and a summary that
//! states why.

use crate::support::{Checkout, EVERYTHING_FETCHED, World, checkout, with_default};
use serde_json::{Value, json};
use std::fs;

/// Returns the variables with owned values.
fn owned_variables(pairs: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
    pairs
        .iter()
        .map(|(name, value)| (*name, (*value).to_owned()))
        .collect()
}

/// Returns each host's variables for a pull request that changes only documentation.
fn hosts_of_pull_request(head: &str, base: &str) -> Vec<Vec<(&'static str, String)>> {
    let github = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/1/merge"),
        ("GITHUB_SHA", head),
    ];
    vec![
        owned_variables(&github),
        owned_variables(&[&github[..], &[("GITEA_ACTIONS", "true")]].concat()),
        owned_variables(&[
            ("GITLAB_CI", "true"),
            ("CI_COMMIT_SHA", head),
            ("CI_MERGE_REQUEST_IID", "1"),
            ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
            ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5"),
            ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "words"),
            ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base),
        ]),
        owned_variables(&[
            ("TF_BUILD", "True"),
            ("BUILD_SOURCEVERSION", head),
            ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "refs/heads/words"),
            ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main"),
            ("SYSTEM_PULLREQUEST_ISFORK", "False"),
            ("SYSTEM_PULLREQUEST_SOURCECOMMITID", head),
        ]),
        owned_variables(&[
            ("BITBUCKET_BUILD_NUMBER", "1"),
            ("BITBUCKET_COMMIT", head),
            ("BITBUCKET_BRANCH", "words"),
            ("BITBUCKET_PR_DESTINATION_BRANCH", "main"),
        ]),
        owned_variables(&[
            ("JENKINS_URL", "http://ci/"),
            ("BUILD_ID", "1"),
            ("GIT_COMMIT", head),
            ("CHANGE_BRANCH", "words"),
            ("CHANGE_TARGET", "main"),
        ]),
        owned_variables(&[
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", head),
            ("CIRCLE_BRANCH", "words"),
        ]),
        owned_variables(&[
            ("BUILDKITE", "true"),
            ("BUILDKITE_COMMIT", head),
            ("BUILDKITE_BRANCH", "words"),
            ("BUILDKITE_PULL_REQUEST", "1"),
            ("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main"),
            ("BUILDKITE_REPO", "git@git.example:o/p.git"),
            ("BUILDKITE_PULL_REQUEST_REPO", "https://git.example/o/p"),
        ]),
        Vec::new(),
    ]
}

#[test]
fn change_without_pipeline_passes_on_every_host() {
    let world = World::new();
    world.write("a.orch.yaml", "1");
    let base = world.commit("first");
    world.push();
    world.git("checkout -q -b words");
    world.write("README.md", "words\n");
    let head = world.commit("words");
    world.push();
    for variables in hosts_of_pull_request(&head, &base) {
        let folder = with_default(checkout(&world, &[EVERYTHING_FETCHED], &head));
        let borrowed: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        nothing_to_review(Checkout::new(&folder, &borrowed), &head, &base);
    }
}

fn nothing_to_review(job: Checkout, head: &str, base: &str) {
    let repo = json!({ "full_name": "o/p" });
    let payload = json!({ "pull_request": {
        "number": 1,
        "head": { "ref": "words", "sha": head, "repo": repo },
        "base": { "ref": "main", "sha": base, "repo": repo }
    } });
    let job = job.payload(&payload);
    let (out, summary) = (job.folder.join("out"), job.folder.with_extension("summary.md"));
    // A pull request often has no secrets, and none are needed.
    let output = job
        .review_call()
        .without("SLUICEGATE_TOKEN")
        .variable("GITHUB_STEP_SUMMARY", summary.display().to_string())
        .variable(
            "GITHUB_OUTPUT",
            job.folder.with_extension("outputs").display().to_string(),
        )
        .run("review --report junit=out/j.xml --report json=out/j.json")
        .expect(0);
    let expected_text = "nothing to review: no selected pipeline changed";
    assert!(output.out.contains(expected_text), "{}", output.all());
    // A job needs no action; a local run advises to select all pipelines.
    assert!(!output.all().contains("use --all"), "{}", output.all());
    let report: Value = serde_json::from_slice(&fs::read(out.join("j.json")).unwrap()).unwrap();
    assert_eq!(report["verdict"], "passed");
    assert_eq!(
        (&report["context"]["head"], &report["context"]["base"]),
        (&json!(head), &json!(base))
    );
    assert_eq!(report["counts"]["files"], 0);
    let junit = fs::read_to_string(out.join("j.xml")).unwrap();
    let document = roxmltree::Document::parse(&junit).unwrap();
    assert_eq!(document.root_element().tag_name().name(), "testsuites");
    assert!(fs::read_to_string(summary).unwrap().contains("othing to review"));
    let outputs = fs::read_to_string(job.folder.with_extension("outputs")).unwrap();
    assert!(
        outputs.contains("verdict") && outputs.contains("passed"),
        "{outputs}"
    );
}
