//! CircleCI: <https://circleci.com/docs/reference/variables/>. The entire repository is cloned, and the branch is
//! checked out at the commit.

use crate::support::{ALL_OF_MAIN, Checkout, FEATURE, Project, git, url};
use std::path::{Path, PathBuf};

fn circleci_clone(project: &Project, branch: &str, commit: &str) -> PathBuf {
    let world = &project.world;
    git(
        world.path(),
        &["clone", "-q", "--no-checkout", &url(world), "project"],
    );
    let folder = world.path().join("project");
    git(&folder, format!("checkout -q -B {branch} {commit}"));
    folder
}

fn circleci_job(folder: &Path, commit: &str, extra_variables: &[(&str, &str)]) -> Checkout {
    let base_variables = [
        ("CIRCLECI", "true"),
        ("CIRCLE_SHA1", commit),
        ("CIRCLE_BUILD_NUM", "6"),
    ];
    Checkout::new(folder, &base_variables).with_variables(extra_variables)
}

#[test]
fn branch_is_compared_with_default_branch() {
    let project = Project::new();
    let folder = circleci_clone(&project, "feature", &project.feature);
    circleci_job(&folder, &project.feature, &[("CIRCLE_BRANCH", "feature")])
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
    let folder = circleci_clone(&project, "feature", &project.feature);
    let extra_variables = [
        ("CIRCLE_BRANCH", "feature"),
        ("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/8"),
    ];
    circleci_job(&folder, &project.feature, &extra_variables)
        .says()
        .has("pullRequest", 8)
        .has("fork", false)
        .head("feature", &project.feature)
        .changes(&FEATURE);
}

#[test]
fn pull_request_of_fork_is_not_sent() {
    let project = Project::new();
    let folder = circleci_clone(&project, "pull/8", &project.feature);
    let extra_variables = [
        ("CIRCLE_BRANCH", "pull/8"),
        ("CIRCLE_PR_REPONAME", "p"),
        ("CIRCLE_PR_NUMBER", "8"),
        ("CIRCLE_PULL_REQUEST", "https://github.com/o/p/pull/8"),
    ];
    let job = circleci_job(&folder, &project.feature, &extra_variables).with_remote_as_target();
    job.says()
        .has("fork", true)
        .has("pullRequest", 8)
        .head("pull/8", &project.feature)
        .base(&project.fork, "`origin/main`")
        .changes(&FEATURE);
    job.leaves_the_fork();
}

/// With the GitHub App, CircleCI sets no variables of the fork.
#[test]
fn pull_request_of_fork_without_variables_is_recognized_by_its_branch() {
    let project = Project::new();
    for branch in ["pull/8", "pull/8/head", "pull/8/merge"] {
        let folder = circleci_clone(&project, branch, &project.feature);
        let job =
            circleci_job(&folder, &project.feature, &[("CIRCLE_BRANCH", branch)]).with_remote_as_target();
        job.says()
            .has("fork", true)
            .head(branch, &project.feature)
            .changes(&FEATURE);
        job.leaves_the_fork();
        std::fs::remove_dir_all(&folder).unwrap();
    }
    let folder = circleci_clone(&project, "pull/request", &project.feature);
    circleci_job(&folder, &project.feature, &[("CIRCLE_BRANCH", "pull/request")])
        .says()
        .has("fork", false)
        .quietly();
}

#[test]
fn run_on_default_branch_selects_all_pipelines() {
    let project = Project::new();
    let folder = circleci_clone(&project, "main", &project.main);
    circleci_job(&folder, &project.main, &[("CIRCLE_BRANCH", "main")])
        .says()
        .head("main", &project.main)
        .selects_everything("the run is on the default branch `main`")
        .changes(&ALL_OF_MAIN);
}

#[test]
fn tag_is_everything_on_branch_that_holds_it() {
    let project = Project::new();
    let folder = circleci_clone(&project, "v1", &project.main);
    circleci_job(&folder, &project.main, &[("CIRCLE_TAG", "v1")])
        .says()
        .event("circleci", "tag")
        .head("main", &project.main)
        .has("tag", "v1")
        .selects_everything("a tag has no previous state")
        .changes(&ALL_OF_MAIN);
}
