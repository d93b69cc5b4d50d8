//! Azure Pipelines: <https://learn.microsoft.com/azure/devops/pipelines/build/variables>. The agent fetches into
//! `refs/remotes/`; it fetches the trial merge of a pull request.

use crate::support::{
    ALL_OF_FEATURE, ALL_OF_MAIN, Checkout, EVERYTHING_FETCHED, FEATURE, Project, checkout, complete_checkout,
    with_default,
};
use std::path::{Path, PathBuf};

fn azure_clone(project: &Project, commit: &str) -> PathBuf {
    with_default(complete_checkout(project, commit))
}

fn azure_job(folder: &Path, reason: &str, reference: &str, version: &str) -> Checkout {
    let base_variables = [
        ("TF_BUILD", "True"),
        ("BUILD_REASON", reason),
        ("BUILD_SOURCEBRANCH", reference),
        ("BUILD_SOURCEVERSION", version),
        ("BUILD_BUILDNUMBER", "20261120.3"),
    ];
    Checkout::new(folder, &base_variables)
}

fn azure_pull_request(project: &Project, folder: &Path, merge: &str, source: &str, target: &str) -> Checkout {
    let extra_variables = [
        ("SYSTEM_PULLREQUEST_SOURCEBRANCH", source),
        ("SYSTEM_PULLREQUEST_TARGETBRANCH", target),
        ("SYSTEM_PULLREQUEST_SOURCECOMMITID", project.feature.as_str()),
        ("SYSTEM_PULLREQUEST_PULLREQUESTID", "3"),
        ("SYSTEM_PULLREQUEST_ISFORK", "False"),
    ];
    azure_job(folder, "PullRequest", "refs/pull/3/merge", merge).with_variables(&extra_variables)
}

#[test]
fn pull_request_is_its_source_with_branches_in_either_form() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/3/merge");
    let fetch = [EVERYTHING_FETCHED, "+refs/pull/3/merge:refs/remotes/pull/3/merge"];
    let folder = checkout(&project.world, &fetch, &merge);
    for (source, target) in [("refs/heads/feature", "refs/heads/main"), ("feature", "main")] {
        azure_pull_request(&project, &folder, &merge, source, target)
            .says()
            .event("azure", "PullRequest")
            .head("feature", &project.feature)
            .base(
                &project.fork,
                "the merge-base with the target branch `origin/main`",
            )
            .has("pullRequest", 3)
            .has("fork", false)
            .changes(&FEATURE)
            .quietly();
    }
}

#[test]
fn pull_request_of_fork_is_not_sent() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/3/merge");
    let fetch = [EVERYTHING_FETCHED, "+refs/pull/3/merge:refs/remotes/pull/3/merge"];
    let folder = checkout(&project.world, &fetch, &merge);
    let job = azure_pull_request(&project, &folder, &merge, "feature", "main").with_variables(&[
        ("SYSTEM_PULLREQUEST_ISFORK", "True"),
        ("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER", "31"),
    ]);
    job.says()
        .has("fork", true)
        .has("pullRequest", 31)
        .changes(&FEATURE);
    job.leaves_the_fork();
}

#[test]
fn pull_request_in_default_checkout_ends_with_line_that_mends_it() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/3/merge");
    let fetch = ["--depth=1", "+refs/pull/3/merge:refs/remotes/pull/3/merge"];
    let folder = checkout(&project.world, &fetch, &merge);
    azure_pull_request(&project, &folder, &merge, "feature", "main")
        .expect_unsettled(&[&project.feature, "`fetchDepth: 0` on the step `checkout: self`"]);
}

#[test]
fn push_manual_run_and_schedule_are_compared_with_default_branch() {
    let project = Project::new();
    for reason in ["IndividualCI", "BatchedCI", "Manual", "Schedule"] {
        azure_job(
            &azure_clone(&project, &project.feature),
            reason,
            "refs/heads/feature",
            &project.feature,
        )
        .says()
        .event("azure", reason)
        .head("feature", &project.feature)
        .base(&project.fork, "the default branch `origin/main`")
        .changes(&FEATURE);
        azure_job(
            &azure_clone(&project, &project.main),
            reason,
            "refs/heads/main",
            &project.main,
        )
        .says()
        .head("main", &project.main)
        .selects_everything("the run is on the default branch `main`")
        .changes(&ALL_OF_MAIN);
    }
}

#[test]
fn branch_with_slashes_keeps_them() {
    let project = Project::new();
    project
        .world
        .git("push -q origin feature:refs/heads/team/a/feature");
    azure_job(
        &azure_clone(&project, &project.feature),
        "IndividualCI",
        "refs/heads/team/a/feature",
        &project.feature,
    )
    .says()
    .head("team/a/feature", &project.feature)
    .changes(&FEATURE);
}

#[test]
fn push_whose_checkout_has_one_branch_is_everything_and_warns() {
    let project = Project::new();
    let fetch = ["--depth=1", "+refs/heads/feature:refs/remotes/origin/feature"];
    let folder = checkout(&project.world, &fetch, &project.feature);
    azure_job(&folder, "IndividualCI", "refs/heads/feature", &project.feature)
        .says()
        .head("feature", &project.feature)
        .selects_everything("does not know the remote's default branch")
        .changes(&ALL_OF_FEATURE)
        .warns("all pipelines are selected");
}

#[test]
fn tag_is_everything_on_branch_that_holds_it() {
    let project = Project::new();
    project.world.git(&["tag", "v1", &project.main]);
    project.world.git("push -q origin v1");
    azure_job(
        &azure_clone(&project, &project.main),
        "IndividualCI",
        "refs/tags/v1",
        &project.main,
    )
    .says()
    .head("main", &project.main)
    .has("tag", "v1")
    .selects_everything("a tag has no previous state")
    .changes(&ALL_OF_MAIN);
}
