//! CircleCI: <https://circleci.com/docs/reference/variables/>. The entire repository is cloned, and the branch is
//! checked out at the commit.

use crate::support::{ALL_OF_MAIN, Checkout, FEATURE, Project, git, url};
use std::path::{Path, PathBuf};

fn clone(project: &Project, branch: &str, commit: &str) -> PathBuf {
    let world = &project.world;
    git(
        world.path(),
        &["clone", "-q", "--no-checkout", &url(world), "project"],
    );
    let folder = world.path().join("project");
    git(&folder, format!("checkout -q -B {branch} {commit}"));
    folder
}

fn job(folder: &Path, commit: &str, more: &[(&str, &str)]) -> Checkout {
    let fixed = [
        ("CIRCLECI", "true"),
        ("CIRCLE_SHA1", commit),
        ("CIRCLE_BUILD_NUM", "6"),
    ];
    Checkout::new(folder, &fixed).with(more)
}

#[test]
fn branch_is_compared_with_default_branch() {
    let project = Project::new();
    let folder = clone(&project, "feature", &project.feature);
    job(&folder, &project.feature, &[("CIRCLE_BRANCH", "feature")])
        .says()
        .event("circleci", "branch")
        .head("feature", &project.feature)
        .base(
            &project.fork,
            "the merge-base with the default branch `origin/main`",
        )
        .changes(&FEATURE)
        .quietly();
}

#[test]
fn pull_request_of_the_same_repository_is_its_branch() {
    let project = Project::new();
    let folder = clone(&project, "feature", &project.feature);
    let more = [
        ("CIRCLE_BRANCH", "feature"),
        ("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/8"),
    ];
    job(&folder, &project.feature, &more)
        .says()
        .has("pullRequest", 8)
        .has("fork", false)
        .head("feature", &project.feature)
        .changes(&FEATURE);
}

#[test]
fn pull_request_of_fork_is_not_sent() {
    let project = Project::new();
    let folder = clone(&project, "pull/8", &project.feature);
    let more = [
        ("CIRCLE_BRANCH", "pull/8"),
        ("CIRCLE_PR_REPONAME", "p"),
        ("CIRCLE_PR_NUMBER", "8"),
        ("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/8"),
    ];
    let job = job(&folder, &project.feature, &more).with_remote_as_target();
    job.says()
        .has("fork", true)
        .has("pullRequest", 8)
        .head("pull/8", &project.feature)
        .base(&project.fork, "`origin/main`")
        .changes(&FEATURE);
    job.leaves_the_fork();
}

#[test]
fn default_branch_is_everything() {
    let project = Project::new();
    let folder = clone(&project, "main", &project.main);
    job(&folder, &project.main, &[("CIRCLE_BRANCH", "main")])
        .says()
        .head("main", &project.main)
        .everything("head is on the default branch `main`")
        .changes(&ALL_OF_MAIN);
}

#[test]
fn tag_is_everything_on_branch_that_holds_it() {
    let project = Project::new();
    let folder = clone(&project, "v1", &project.main);
    job(&folder, &project.main, &[("CIRCLE_TAG", "v1")])
        .says()
        .event("circleci", "tag")
        .head("main", &project.main)
        .has("tag", "v1")
        .everything("a tag has no previous state")
        .changes(&ALL_OF_MAIN);
}
