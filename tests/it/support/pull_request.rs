//! A passed run was really evaluated: ways in which a run could pass although the merged or published files were not
//! reviewed, each with a counterpart that must still pass.

use crate::support::{Call, World};
use serde_json::{Value, json};
use std::fs;

pub const RULES_FILE: &str = ".platform/config/pipeline_quality_rules.yaml";

/// The environment of a host for the pull or merge request from the branch `change` at HEAD to `main`.
pub type Host = fn(&World, Call) -> Call;

/// Every host that reports the target of a change.
pub const HOSTS: [(&str, Host); 7] = [
    ("github", github),
    ("gitea", gitea),
    ("gitlab", gitlab),
    ("azure", azure),
    ("bitbucket", bitbucket),
    ("jenkins", jenkins),
    ("buildkite", buildkite),
];

pub fn head(world: &World) -> String {
    world.git(&["rev-parse", "HEAD"])
}

/// Returns a call with GitHub's variables of an event and its payload in a file next to the clone.
pub fn github_event(world: &World, call: Call, event: &str, reference: &str, payload: &Value) -> Call {
    let file = world.path().join(format!("{event}.json"));
    fs::write(&file, payload.to_string()).unwrap();
    call.variable("CI", "true")
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", event)
        .variable("GITHUB_REF", reference)
        .variable("GITHUB_SHA", head(world))
        .variable("GITHUB_REPOSITORY", "o/p")
        .variable("GITHUB_EVENT_PATH", file.display().to_string())
}

pub fn repository() -> Value {
    json!({ "default_branch": "main", "full_name": "o/p" })
}

pub fn pull_request_payload(world: &World) -> Value {
    let base = world.git(&["rev-parse", "origin/main"]);
    json!({
        "repository": repository(),
        "pull_request": {
            "number": 7,
            "head": { "ref": "change", "sha": head(world), "repo": { "full_name": "o/p" } },
            "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/p" } },
        },
    })
}

pub fn github(world: &World, call: Call) -> Call {
    let payload = pull_request_payload(world);
    github_event(world, call, "pull_request", "refs/pull/7/merge", &payload)
}

pub fn gitea(world: &World, call: Call) -> Call {
    github(world, call).variable("GITEA_ACTIONS", "true")
}

pub fn gitlab(world: &World, call: Call) -> Call {
    let base = world.git(&["merge-base", "origin/main", "HEAD"]);
    call.variable("CI", "true")
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "merge_request_event")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_SHA", head(world))
        .variable("CI_MERGE_REQUEST_IID", "7")
        .variable("CI_MERGE_REQUEST_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "change")
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", base)
}

pub fn azure(world: &World, call: Call) -> Call {
    call.variable("TF_BUILD", "True")
        .variable("BUILD_REASON", "PullRequest")
        .variable("BUILD_SOURCEVERSION", head(world))
        .variable("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")
        .variable("SYSTEM_PULLREQUEST_ISFORK", "False")
        .variable("SYSTEM_PULLREQUEST_SOURCEBRANCH", "refs/heads/change")
        .variable("SYSTEM_PULLREQUEST_SOURCECOMMITID", head(world))
        .variable("SYSTEM_PULLREQUEST_PULLREQUESTID", "7")
}

pub fn bitbucket(world: &World, call: Call) -> Call {
    call.variable("BITBUCKET_BUILD_NUMBER", "1")
        .variable("BITBUCKET_COMMIT", head(world))
        .variable("BITBUCKET_BRANCH", "change")
        .variable("BITBUCKET_PR_ID", "7")
        .variable("BITBUCKET_PR_DESTINATION_BRANCH", "main")
}

pub fn jenkins(world: &World, call: Call) -> Call {
    call.variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1")
        .variable("GIT_COMMIT", head(world))
        .variable("BRANCH_NAME", "PR-7")
        .variable("CHANGE_ID", "7")
        .variable("CHANGE_BRANCH", "change")
        .variable("CHANGE_TARGET", "main")
}

pub fn buildkite(world: &World, call: Call) -> Call {
    call.variable("BUILDKITE", "true")
        .variable("BUILDKITE_COMMIT", head(world))
        .variable("BUILDKITE_BRANCH", "change")
        .variable("BUILDKITE_PULL_REQUEST", "7")
        .variable("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main")
        .variable("BUILDKITE_REPO", "git@git.example:o/p.git")
        .variable("BUILDKITE_PULL_REQUEST_REPO", "https://git.example/o/p")
        .variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main")
}
