//! The environment of a job on a CI host, for the project of [`super::project`].

use crate::support::{Call, World};
use serde_json::{Value, json};
use std::fs;

/// The path of the rules file in the tests' projects.
pub const RULES_FILE: &str = ".platform/config/pipeline_quality_rules.yaml";

/// Adds the variables of a host for the pull or merge request from the branch `change` at HEAD to `main`.
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

/// A job, such as `Job::github().pull_request()` or `Job::github().push(&before)`.
pub struct Job {
    host: Host,
    event: Event,
}

enum Event {
    PullRequest,
    Push {
        before: String,
    },
    Other {
        name: String,
        reference: String,
        payload: Value,
    },
}

impl Job {
    pub fn github() -> Self {
        Self::on_host(github)
    }

    pub fn gitea() -> Self {
        Self::on_host(gitea)
    }

    pub fn gitlab() -> Self {
        Self::on_host(gitlab)
    }

    pub fn azure() -> Self {
        Self::on_host(azure)
    }

    pub fn jenkins() -> Self {
        Self::on_host(jenkins)
    }

    fn on_host(host: Host) -> Self {
        Self {
            host,
            event: Event::PullRequest,
        }
    }

    /// Makes it the job of the pull or merge request from the branch `change` at HEAD to `main`.
    pub fn pull_request(mut self) -> Self {
        self.event = Event::PullRequest;
        self
    }

    /// Makes it GitHub's job of a push of HEAD to `main`, which was at `before`.
    pub fn push(mut self, before: &str) -> Self {
        self.event = Event::Push {
            before: before.to_owned(),
        };
        self
    }

    /// Makes it GitHub's job of this event.
    pub fn event(mut self, name: &str, reference: &str, payload: &Value) -> Self {
        self.event = Event::Other {
            name: name.to_owned(),
            reference: reference.to_owned(),
            payload: payload.clone(),
        };
        self
    }

    /// Returns a call in the clone with the job's variables.
    pub fn call(&self, world: &World) -> Call {
        self.extend(world, Call::new(&world.work()))
    }

    /// Adds the job's variables to a call.
    pub fn extend(&self, world: &World, call: Call) -> Call {
        match &self.event {
            Event::PullRequest => (self.host)(world, call),
            Event::Push { before } => {
                let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "before": before,
                    "after": head(world) });
                github_event(world, call, "push", "refs/heads/main", &payload)
            }
            Event::Other {
                name,
                reference,
                payload,
            } => github_event(world, call, name, reference, payload),
        }
    }
}

pub fn head(world: &World) -> String {
    world.git("rev-parse HEAD")
}

/// Returns a call with GitHub's variables of an event and its payload in a file next to the clone.
fn github_event(world: &World, call: Call, event: &str, reference: &str, payload: &Value) -> Call {
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
    let base = world.git("rev-parse origin/main");
    json!({
        "repository": repository(),
        "pull_request": {
            "number": 7,
            "head": { "ref": "change", "sha": head(world), "repo": { "full_name": "o/p" } },
            "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/p" } },
        },
    })
}

fn github(world: &World, call: Call) -> Call {
    let payload = pull_request_payload(world);
    github_event(world, call, "pull_request", "refs/pull/7/merge", &payload)
}

fn gitea(world: &World, call: Call) -> Call {
    github(world, call).variable("GITEA_ACTIONS", "true")
}

fn gitlab(world: &World, call: Call) -> Call {
    let base = world.git("merge-base origin/main HEAD");
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

fn azure(world: &World, call: Call) -> Call {
    call.variable("TF_BUILD", "True")
        .variable("BUILD_REASON", "PullRequest")
        .variable("BUILD_SOURCEVERSION", head(world))
        .variable("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main")
        .variable("SYSTEM_PULLREQUEST_ISFORK", "False")
        .variable("SYSTEM_PULLREQUEST_SOURCEBRANCH", "refs/heads/change")
        .variable("SYSTEM_PULLREQUEST_SOURCECOMMITID", head(world))
        .variable("SYSTEM_PULLREQUEST_PULLREQUESTID", "7")
}

fn bitbucket(world: &World, call: Call) -> Call {
    call.variable("BITBUCKET_BUILD_NUMBER", "1")
        .variable("BITBUCKET_COMMIT", head(world))
        .variable("BITBUCKET_BRANCH", "change")
        .variable("BITBUCKET_PR_ID", "7")
        .variable("BITBUCKET_PR_DESTINATION_BRANCH", "main")
}

fn jenkins(world: &World, call: Call) -> Call {
    call.variable("JENKINS_URL", "https://ci.invalid/")
        .variable("BUILD_ID", "1")
        .variable("GIT_COMMIT", head(world))
        .variable("BRANCH_NAME", "PR-7")
        .variable("CHANGE_ID", "7")
        .variable("CHANGE_BRANCH", "change")
        .variable("CHANGE_TARGET", "main")
}

fn buildkite(world: &World, call: Call) -> Call {
    call.variable("BUILDKITE", "true")
        .variable("BUILDKITE_COMMIT", head(world))
        .variable("BUILDKITE_BRANCH", "change")
        .variable("BUILDKITE_PULL_REQUEST", "7")
        .variable("BUILDKITE_PULL_REQUEST_BASE_BRANCH", "main")
        .variable("BUILDKITE_REPO", "git@git.example:o/p.git")
        .variable("BUILDKITE_PULL_REQUEST_REPO", "https://git.example/o/p")
        .variable("BUILDKITE_PIPELINE_DEFAULT_BRANCH", "main")
}

/// Adds the variables of GitHub's job of a push of the checked out branch, which is new.
pub fn push_of_branch(world: &World, call: Call) -> Call {
    let branch = world.git("branch --show-current");
    let reference = format!("refs/heads/{branch}");
    let payload = json!({ "repository": repository(), "ref": reference, "before": "0".repeat(40), "after": head(world) });
    github_event(world, call, "push", &reference, &payload)
}
