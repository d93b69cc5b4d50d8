//! Bitbucket Pipelines: <https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/>. Only one branch is
//! cloned, 50 commits deep; for a pull request, the entire repository, and the destination is merged into the source in
//! the clone.

use crate::support::{ALL_OF_FEATURE, ALL_OF_MAIN, Arguments, Checkout, FEATURE, Project, git, url};
use std::path::{Path, PathBuf};

fn bitbucket_clone(project: &Project, options: impl Arguments) -> PathBuf {
    let world = &project.world;
    git(world.path(), ("clone -q", options, &[&url(world), "build"]));
    world.path().join("build")
}

fn bitbucket_job(folder: &Path, commit: &str, extra_variables: &[(&str, &str)]) -> Checkout {
    let base_variables = [("BITBUCKET_BUILD_NUMBER", "4"), ("BITBUCKET_COMMIT", commit)];
    Checkout::new(folder, &base_variables).with_variables(extra_variables)
}

#[test]
fn pull_request_is_its_source_not_merge_in_clone() {
    let project = Project::new();
    let folder = bitbucket_clone(&project, "--branch=feature");
    git(&folder, &["merge", "-q", "--no-edit", &project.main]);
    let extra_variables = [
        ("BITBUCKET_BRANCH", "feature"),
        ("BITBUCKET_PR_ID", "2"),
        ("BITBUCKET_PR_DESTINATION_BRANCH", "main"),
    ];
    bitbucket_job(&folder, &project.feature, &extra_variables)
        .says()
        .event("bitbucket", "pull-requests")
        .head("feature", &project.feature)
        .base(
            &project.fork,
            "the merge-base with the target branch `origin/main`",
        )
        .has("pullRequest", 2)
        .has("fork", false)
        .changes(&FEATURE)
        .quietly();
}

#[test]
fn pull_request_whose_destination_was_not_cloned_ends_with_branch_to_fetch() {
    let project = Project::new();
    let folder = bitbucket_clone(&project, "--branch=feature --depth=50");
    let extra_variables = [
        ("BITBUCKET_BRANCH", "feature"),
        ("BITBUCKET_PR_DESTINATION_BRANCH", "main"),
    ];
    bitbucket_job(&folder, &project.feature, &extra_variables).expect_unsettled(&[
        "the target branch `main` is not among the remote branches",
        "git fetch origin +refs/heads/main:refs/remotes/origin/main",
        "`clone: { depth: full }` in bitbucket-pipelines.yml",
    ]);
}

#[test]
fn branch_is_compared_with_default_branch() {
    let project = Project::new();
    let folder = bitbucket_clone(&project, "--branch=feature");
    bitbucket_job(&folder, &project.feature, &[("BITBUCKET_BRANCH", "feature")])
        .says()
        .event("bitbucket", "branches")
        .head("feature", &project.feature)
        .base(&project.fork, "the default branch `origin/main`")
        .changes(&FEATURE);
}

#[test]
fn branch_in_default_clone_is_everything_and_warns() {
    let project = Project::new();
    let folder = bitbucket_clone(&project, "--branch=feature --depth=50");
    bitbucket_job(&folder, &project.feature, &[("BITBUCKET_BRANCH", "feature")])
        .says()
        .head("feature", &project.feature)
        .selects_everything("does not know the remote's default branch")
        .changes(&ALL_OF_FEATURE)
        .warns("all pipelines are selected");
}

#[test]
fn run_on_default_branch_selects_all_pipelines() {
    let project = Project::new();
    let folder = bitbucket_clone(&project, "--branch=main --depth=50");
    bitbucket_job(&folder, &project.main, &[("BITBUCKET_BRANCH", "main")])
        .says()
        .head("main", &project.main)
        .selects_everything("the run is on the default branch `main`")
        .changes(&ALL_OF_MAIN)
        .quietly();
}

#[test]
fn tag_is_everything_on_branch_that_holds_it() {
    let project = Project::new();
    project.world.git(&["tag", "v1", &project.main]);
    project.world.git("push -q origin v1");
    let folder = bitbucket_clone(&project, "--branch=v1");
    bitbucket_job(&folder, &project.main, &[("BITBUCKET_TAG", "v1")])
        .says()
        .event("bitbucket", "tags")
        .head("main", &project.main)
        .has("tag", "v1")
        .selects_everything("a tag has no previous state")
        .changes(&ALL_OF_MAIN);
}

/// A custom pipeline that a user started for a commit has neither branch nor tag. The commit may be on several
/// branches.
#[test]
fn branch_of_custom_pipeline_of_commit_is_not_guessed() {
    let project = Project::new();
    let folder = bitbucket_clone(&project, "--branch=feature");
    let job = bitbucket_job(&folder, &project.feature, &[]);
    job.says()
        .has("branch", serde_json::Value::Null)
        .base(&project.fork, "the default branch `origin/main`")
        .changes(&FEATURE);
    job.review_call()
        .run("review")
        .expect(7)
        .saying(&["the branch of this run is unknown", "--branch"]);
    let job = job.with_variables(&[("SLUICEGATE_BRANCH", "feature")]);
    job.says().head("feature", &project.feature);
}
