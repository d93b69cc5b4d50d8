//! Gitea and Forgejo Actions: GitHub's variables and payloads with an additional variable
//! (<https://docs.gitea.com/usage/actions/comparison>, <https://forgejo.org/docs/latest/user/actions/>). For a pull
//! request, they check out its head.

use crate::support::{ALL_OF_MAIN, Checkout, FEATURE, Project, ZEROS, checkout, complete_checkout};
use serde_json::{Value, json};
use std::path::Path;

const MARKS: [&str; 2] = ["GITEA_ACTIONS", "FORGEJO_ACTIONS"];

fn gitea_job(
    folder: &Path,
    mark: &str,
    event: &str,
    reference: &str,
    commit: &str,
    payload: &Value,
) -> Checkout {
    let variables = [
        (mark, "true"),
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", event),
        ("GITHUB_REF", reference),
        ("GITHUB_SHA", commit),
        ("GITHUB_REPOSITORY", "o/p"),
    ];
    Checkout::new(folder, &variables).payload(payload)
}

fn gitea_payload(project: &Project, from: &str) -> Value {
    json!({
        "action": "synchronized",
        "number": 7,
        "pull_request": {
            "number": 7,
            "head": { "ref": "feature", "sha": project.feature, "repo": { "full_name": from } },
            "base": { "ref": "main", "sha": project.main, "repo": { "full_name": "o/p" } },
            "merge_base": project.fork
        },
        "repository": { "full_name": "o/p", "default_branch": "main" }
    })
}

fn gitea_push_payload(before: &str, after: &str) -> Value {
    json!({ "before": before, "after": after, "repository": { "full_name": "o/p", "default_branch": "main" } })
}

#[test]
fn pull_request_is_its_head() {
    let project = Project::new();
    let folder = complete_checkout(&project, &project.feature);
    for mark in MARKS {
        let payload = gitea_payload(&project, "o/p");
        gitea_job(
            &folder,
            mark,
            "pull_request",
            "refs/pull/7/head",
            &project.feature,
            &payload,
        )
        .says()
        .event("gitea", "pull_request")
        .head("feature", &project.feature)
        .base(&project.fork, "the target branch `origin/main`")
        .has("pullRequest", 7)
        .has("fork", false)
        .changes(&FEATURE);
    }
}

#[test]
fn pull_request_of_fork_is_not_sent() {
    let project = Project::new();
    let payload = gitea_payload(&project, "somebody/p");
    let folder = complete_checkout(&project, &project.feature);
    let job = gitea_job(
        &folder,
        MARKS[0],
        "pull_request",
        "refs/pull/7/head",
        &project.feature,
        &payload,
    );
    job.says().has("fork", true).changes(&FEATURE);
    job.leaves_the_fork();
}

#[test]
fn push_and_new_branch() {
    let project = Project::new();
    let folder = complete_checkout(&project, &project.feature);
    for mark in MARKS {
        let on = |before: &str| {
            let payload = gitea_push_payload(before, &project.feature);
            gitea_job(
                &folder,
                mark,
                "push",
                "refs/heads/feature",
                &project.feature,
                &payload,
            )
            .says()
        };
        on(&project.before)
            .event("gitea", "push")
            .head("feature", &project.feature)
            .base(&project.fork, "the default branch")
            .changes(&FEATURE);
        on(ZEROS)
            .head("feature", &project.feature)
            .base(&project.fork, "the default branch")
            .changes(&FEATURE);
    }
}

#[test]
fn tag_schedule_and_run_by_hand() {
    let project = Project::new();
    project.world.git(&["tag", "v1", &project.main]);
    project.world.git("push -q origin v1");
    let folder = complete_checkout(&project, &project.main);
    let payload = gitea_push_payload(ZEROS, &project.main);
    gitea_job(&folder, MARKS[1], "push", "refs/tags/v1", &project.main, &payload)
        .says()
        .head("main", &project.main)
        .has("tag", "v1")
        .selects_everything("a tag has no previous state")
        .changes(&ALL_OF_MAIN);
    for event in ["schedule", "workflow_dispatch"] {
        let payload = json!({ "repository": { "default_branch": "main" } });
        gitea_job(
            &folder,
            MARKS[0],
            event,
            "refs/heads/main",
            &project.main,
            &payload,
        )
        .says()
        .event("gitea", event)
        .head("main", &project.main)
        .selects_everything("the run is on the default branch `main`")
        .changes(&ALL_OF_MAIN);
    }
}

#[test]
fn shallow_pull_request_ends_with_line_that_mends_it() {
    let project = Project::new();
    let head = format!("+{}:refs/remotes/pull/7/head", project.feature);
    let folder = checkout(&project.world, &["--depth=1", &head], &project.feature);
    let mut payload = gitea_payload(&project, "o/p");
    payload["pull_request"]["base"]["sha"] = Value::Null;
    gitea_job(
        &folder,
        MARKS[0],
        "pull_request",
        "refs/pull/7/head",
        &project.feature,
        &payload,
    )
    .expect_unsettled(&[
        "the target branch `main` is not among the remote branches",
        "`fetch-depth: 0` in the `with:` of actions/checkout",
    ]);
}

#[test]
fn missing_variable_is_reported_with_the_name_of_the_host() {
    let project = Project::new();
    let folder = complete_checkout(&project, &project.feature);
    for (mark, host) in [
        ("GITEA_ACTIONS", "Gitea or Forgejo"),
        ("FORGEJO_ACTIONS", "Gitea or Forgejo"),
        ("GITHUB_ACTIONS", "GitHub"),
    ] {
        for (variables, missing) in [
            (&[("GITHUB_SHA", "1")][..], "GITHUB_EVENT_NAME"),
            (&[("GITHUB_EVENT_NAME", "workflow_dispatch")], "GITHUB_SHA"),
        ] {
            let sentence = format!("{missing} is not set, although {host} sets it");
            Checkout::new(&folder, variables)
                .with_variables(&[(mark, "true")])
                .call()
                .run("context")
                .expect(7)
                .saying(&[&sentence]);
        }
    }
}
