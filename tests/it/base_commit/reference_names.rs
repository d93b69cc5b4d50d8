//! A name refers to the branch of the remote, never to another reference that somebody pushed with the same name.

use crate::support::{Call, Checkout, EVERYTHING_FETCHED, FEATURE, Project, checkout, git};
use serde_json::json;
use std::path::{Path, PathBuf};

/// Creates a complete checkout with tags at the head of `feature` that have the names of its possible base branches.
fn clone_with_ambiguous_names(project: &Project) -> PathBuf {
    for tag in [
        "main",
        "origin/main",
        "refs/heads/main",
        "remotes/origin/main",
        "HEAD",
    ] {
        let text = format!("{}:refs/tags/{tag}", project.feature);
        project.world.git(&["push", "-q", "origin", &text]);
    }
    let specs = [EVERYTHING_FETCHED, "+refs/tags/*:refs/tags/*"];
    checkout(&project.world, &specs, &project.feature)
}

fn azure_checkout(folder: &Path, project: &Project) -> Checkout {
    let variables = [
        ("TF_BUILD", "True"),
        ("BUILD_REASON", "PullRequest"),
        ("BUILD_SOURCEVERSION", &project.feature),
        ("SYSTEM_PULLREQUEST_SOURCEBRANCH", "refs/heads/feature"),
        ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main"),
        ("SYSTEM_PULLREQUEST_ISFORK", "False"),
        ("SYSTEM_PULLREQUEST_SOURCECOMMITID", &project.feature),
    ];
    Checkout::new(folder, &variables)
}

#[test]
fn tag_called_like_target_is_not_what_change_is_compared_with() {
    let project = Project::new();
    azure_checkout(&clone_with_ambiguous_names(&project), &project)
        .says()
        .base(&project.fork, "the target branch `origin/main`")
        .changes(&FEATURE);
}

#[test]
fn base_that_tag_shadows_is_branch_of_remote_and_is_reported() {
    let project = Project::new();
    let folder = clone_with_ambiguous_names(&project);
    for name in ["main", "origin/main", "remotes/origin/main"] {
        azure_checkout(&folder, &project)
            .with_variables(&[("SLUICEGATE_BASE", name)])
            .says()
            .base(&project.fork, "as requested")
            .changes(&FEATURE)
            .warns("using the branch of the remote, refs/remotes/origin/main");
    }
    // The full name of a branch that this clone lacks does not match a tag.
    azure_checkout(&folder, &project)
        .with_variables(&[("SLUICEGATE_BASE", "refs/heads/main")])
        .expect_unsettled(&["there is no reference refs/heads/main"]);
}

#[test]
fn head_that_tag_shadows_is_branch_of_remote() {
    let project = Project::new();
    let tag = format!("{}:refs/tags/origin/feature", project.main);
    project.world.git(format!("push -q origin {tag}"));
    let folder = clone_with_ambiguous_names(&project);
    for name in ["origin/feature", "feature"] {
        Checkout::new(
            &folder,
            &[
                ("SLUICEGATE_HEAD", name),
                ("SLUICEGATE_BASE", "refs/remotes/origin/main"),
            ],
        )
        .says()
        .head("feature", &project.feature)
        .changes(&FEATURE);
    }
}

#[test]
fn base_named_with_all_is_resolved_once_and_its_warning_is_shown_once() {
    let project = Project::new();
    let folder = clone_with_ambiguous_names(&project);
    let warning = "using the branch of the remote, refs/remotes/origin/main";
    for args in ["--all --base main", "--all --base main --new-only", "--base main"] {
        let output = Call::new(&folder)
            .run(("check --fail-on never --compat warn", args))
            .expect(0);
        assert_eq!(output.err.matches(warning).count(), 1, "{args}: {}", output.all());
    }
    let output = Call::new(&folder)
        .run(("check --fail-on never --all --base", project.fork.as_str()))
        .expect(0);
    assert!(!output.all().contains(warning), "{}", output.all());
}

#[test]
fn ambiguous_name_without_remote_branch_is_not_settled() {
    let project = Project::new();
    let folder = clone_with_ambiguous_names(&project);
    git(&folder, &["branch", "-q", "v1", &project.main]);
    git(&folder, &["tag", "v1", &project.feature]);
    let job = |name: &str| azure_checkout(&folder, &project).with_variables(&[("SLUICEGATE_BASE", name)]);
    job("v1").expect_unsettled(&["`v1` is ambiguous", "refs/heads/v1", "refs/tags/v1", "hint:"]);
    // A tag without a branch of that name is used as a tag, and an abbreviated commit ID is not.
    git(&folder, &["tag", "v2", &project.fork]);
    job("v2")
        .says()
        .base(&project.fork, "`v2`")
        .changes(&FEATURE)
        .quietly();
    let short = &project.fork[..10];
    job(short).says().base(&project.fork, short).quietly();
    git(&folder, &["tag", short, &project.feature]);
    job(short).expect_unsettled(&["is ambiguous", &project.fork]);
}

#[test]
fn full_commit_id_is_never_reference() {
    let project = Project::new();
    let folder = clone_with_ambiguous_names(&project);
    let absent = "4".repeat(40);
    for name in [absent.as_str(), &"4".repeat(64)] {
        let reference = format!("refs/tags/{name}");
        git(&folder, &["update-ref", &reference, &project.feature]);
        azure_checkout(&folder, &project)
            .with_variables(&[("SLUICEGATE_BASE", name)])
            .expect_unsettled(&["does not resolve to a commit of this repository"]);
        azure_checkout(&folder, &project)
            .with_variables(&[("SYSTEM_PULLREQUEST_SOURCECOMMITID", name)])
            .expect_unsettled(&["which azure set for this run, is not in this clone"]);
    }
    git(
        &folder,
        &[
            "update-ref",
            &format!("refs/tags/{}", project.fork),
            &project.feature,
        ],
    );
    azure_checkout(&folder, &project)
        .with_variables(&[("SLUICEGATE_BASE", &project.fork)])
        .says()
        .base(&project.fork, "as requested")
        .changes(&FEATURE);
}

/// The host does not report its default branch, and anybody may push one of the two usual names.
#[test]
fn default_branch_is_not_guessed_where_two_could_be_it() {
    let project = Project::new();
    let text = format!("{}:refs/heads/master", project.feature);
    project.world.git(&["push", "-q", "origin", &text]);
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let variables = [
        ("CIRCLECI", "true"),
        ("CIRCLE_SHA1", project.feature.as_str()),
        ("CIRCLE_BRANCH", "feature"),
    ];
    Checkout::new(&folder, &variables)
        .says()
        .selects_everything("does not know the remote's default branch")
        .warns("all pipelines are selected");
}

/// A payload is JSON, which can contain a NUL, but a reference name cannot.
#[test]
fn target_named_with_zero_is_missing_branch() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let repo = json!({ "full_name": "o/p" });
    let payload = json!({ "pull_request": {
        "number": 1,
        "head": { "ref": "feature", "sha": project.feature, "repo": repo },
        "base": { "ref": "main\0", "repo": repo }
    } });
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_SHA", &project.feature),
    ];
    Checkout::new(&folder, &variables)
        .payload(&payload)
        .expect_unsettled(&["is not among the remote branches of this clone"]);
}

/// If the target contains the head, there would be nothing to review, and the run would pass.
#[test]
fn empty_change_is_not_resolved_unless_event_names_it() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    azure_checkout(&folder, &project)
        .with_variables(&[("SLUICEGATE_BASE", "HEAD")])
        .expect_unsettled(&[
            "the change has no commits of its own",
            "`HEAD`, as requested",
            "--all",
        ]);
    git(
        &folder,
        &["update-ref", "refs/remotes/origin/main", &project.feature],
    );
    azure_checkout(&folder, &project)
        .expect_unsettled(&["the change has no commits of its own", "`origin/main`"]);
    azure_checkout(&folder, &project)
        .with_variables(&[("SLUICEGATE_ALL", "true")])
        .says()
        .selects_everything("all pipelines were requested");
    let gitlab = [
        ("GITLAB_CI", "true"),
        ("CI_COMMIT_SHA", project.feature.as_str()),
        ("CI_MERGE_REQUEST_IID", "9"),
        ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &project.feature),
    ];
    Checkout::new(&folder, &gitlab)
        .says()
        .selects_everything("is the head commit itself");
    let gitlab_with_base = |commit: &str| {
        Checkout::new(&folder, &gitlab).with_variables(&[
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", commit),
            ("SLUICEGATE_BASE", "HEAD"),
        ])
    };
    gitlab_with_base(&project.fork).expect_unsettled(&["the change has no commits of its own"]);
    let said = gitlab_with_base(&project.feature).says();
    assert_eq!(said.json["selected"], json!([]));
    // If an event has the same commit on both sides, the run reports it, also if a base was set.
    let repo = json!({ "full_name": "o/p" });
    let payload = json!({ "pull_request": {
        "number": 7,
        "head": { "ref": "feature", "sha": project.feature, "repo": repo },
        "base": { "ref": "main", "sha": project.feature, "repo": repo }
    } });
    let github = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", "pull_request"),
        ("GITHUB_REF", "refs/pull/7/merge"),
        ("GITHUB_SHA", project.feature.as_str()),
        ("SLUICEGATE_BASE", "HEAD"),
    ];
    let context = Checkout::new(&folder, &github).payload(&payload).says();
    assert_eq!(context.json["selected"], json!([]));
}

/// A job may fetch something else into the reference that usually tracks the target.
#[test]
fn reference_that_keeps_another_branch_is_not_target() {
    let project = Project::new();
    let spec = "+refs/heads/feature:refs/remotes/origin/main";
    let folder = checkout(&project.world, &[spec], &project.feature);
    git(&folder, &["config", "remote.origin.fetch", spec]);
    azure_checkout(&folder, &project).expect_unsettled(&["target branch", "`main`"]);
}
