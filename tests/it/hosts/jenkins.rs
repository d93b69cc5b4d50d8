//! Jenkins multibranch pipelines: <https://www.jenkins.io/doc/book/pipeline/multibranch/>. A pull request is fetched as
//! `origin/PR-N` with its target; depending on the strategy, the job builds its head or its own merge of the target
//! into it (<https://plugins.jenkins.io/github-branch-source/>).

use crate::support::{
    ALL_OF_FEATURE, ALL_OF_MAIN, Checkout, EVERYTHING_FETCHED, FEATURE, Project, git, with_default, workspace,
};
use std::path::{Path, PathBuf};

/// Fetches these references as Jenkins does, and configures the remote to fetch only them.
fn jenkins_checkout(project: &Project, specs: &[&str], commit: &str) -> PathBuf {
    let folder = workspace(&project.world);
    git(&folder, "config --unset-all remote.origin.fetch");
    for spec in specs {
        git(&folder, &["config", "--add", "remote.origin.fetch", spec]);
    }
    git(&folder, "fetch -q --no-tags --force origin");
    git(&folder, format!("checkout -q -f {commit}"));
    folder
}

fn pull(project: &Project, head: &str) -> PathBuf {
    project
        .world
        .git(format!("push -q --force origin {head}:refs/pull/1/head"));
    let specs = [
        "+refs/pull/1/head:refs/remotes/origin/PR-1",
        "+refs/heads/main:refs/remotes/origin/main",
    ];
    jenkins_checkout(project, &specs, head)
}

fn jenkins_job(folder: &Path, name: &str, extra_variables: &[(&str, &str)]) -> Checkout {
    let base_variables = [
        ("JENKINS_URL", "http://ci.example/"),
        ("BUILD_ID", "5"),
        ("BUILD_NUMBER", "5"),
        ("BRANCH_NAME", name),
    ];
    Checkout::new(folder, &base_variables).with_variables(extra_variables)
}

fn change_build(folder: &Path, extra_variables: &[(&str, &str)]) -> Checkout {
    let base_variables = [
        ("CHANGE_ID", "1"),
        ("CHANGE_BRANCH", "feature"),
        ("CHANGE_TARGET", "main"),
    ];
    jenkins_job(folder, "PR-1", &base_variables).with_variables(extra_variables)
}

#[test]
fn pull_request_built_at_its_head() {
    let project = Project::new();
    let folder = pull(&project, &project.feature);
    change_build(&folder, &[("GIT_COMMIT", &project.feature)])
        .says()
        .event("jenkins", "change")
        .head("feature", &project.feature)
        .base(
            &project.fork,
            "the merge-base with the target branch `origin/main`",
        )
        .has("pullRequest", 1)
        .changes(&FEATURE)
        .quietly();
}

/// A scripted pipeline has no `GIT_COMMIT`.
#[test]
fn pull_request_built_as_a_merge_is_the_first_parent() {
    let project = Project::new();
    let folder = pull(&project, &project.feature);
    git(&folder, &["merge", "-q", "--no-edit", &project.main]);
    let merge = git(&folder, "rev-parse HEAD");
    for more in [&[("GIT_COMMIT", merge.as_str())][..], &[]] {
        change_build(&folder, more)
            .says()
            .head("feature", &project.feature)
            .base(&project.fork, "`origin/main`")
            .changes(&FEATURE);
    }
}

/// The target was checked out, and the change was merged into it.
#[test]
fn pull_request_merged_in_reverse_is_second_parent() {
    let project = Project::new();
    let folder = pull(&project, &project.feature);
    git(&folder, &["checkout", "-q", "--detach", &project.main]);
    git(&folder, &["merge", "-q", "--no-edit", &project.feature]);
    let merge = git(&folder, "rev-parse HEAD");
    for more in [&[("GIT_COMMIT", merge.as_str())][..], &[]] {
        change_build(&folder, more)
            .says()
            .head("feature", &project.feature)
            .base(&project.fork, "`origin/main`")
            .changes(&FEATURE);
    }
    git(&folder, "update-ref -d refs/remotes/origin/main");
    git(&folder, "update-ref -d refs/remotes/origin/PR-1");
    change_build(&folder, &[("GIT_COMMIT", &merge)])
        .expect_unsettled(&["the target branch `main` is not among"]);
}

#[test]
fn pull_request_whose_head_is_itself_merge_stays_that() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q feature");
    world.git("merge -q -m 'take in' main");
    world.push();
    let head = world.git("rev-parse HEAD");
    let folder = pull(&project, &head);
    for more in [&[("GIT_COMMIT", head.as_str())][..], &[]] {
        change_build(&folder, more)
            .says()
            .head("feature", &head)
            .base(&project.main, "`origin/main`")
            .changes(&FEATURE);
    }
    git(world.path(), "-C work checkout -q main");
    world.write("late.orch.yaml", "1");
    let late = world.commit("main goes on");
    world.push();
    git(&folder, "fetch -q origin");
    git(&folder, &["merge", "-q", "--no-edit", &late]);
    let merge = git(&folder, "rev-parse HEAD");
    change_build(&folder, &[("GIT_COMMIT", &merge)])
        .says()
        .head("feature", &head)
        .base(&project.main, "`origin/main`")
        .changes(&FEATURE);
}

#[test]
fn pull_request_of_fork_is_not_sent() {
    let project = Project::new();
    let folder = pull(&project, &project.feature);
    let job = change_build(
        &folder,
        &[("GIT_COMMIT", &project.feature), ("CHANGE_FORK", "somebody")],
    )
    .with_remote_as_target();
    job.says().has("fork", true).changes(&FEATURE);
    job.leaves_the_fork();
}

#[test]
fn branch_is_compared_with_default_branch() {
    let project = Project::new();
    let folder = with_default(jenkins_checkout(
        &project,
        &[EVERYTHING_FETCHED],
        &project.feature,
    ));
    jenkins_job(&folder, "feature", &[("GIT_COMMIT", &project.feature)])
        .says()
        .event("jenkins", "branch")
        .head("feature", &project.feature)
        .base(&project.fork, "the default branch `origin/main`")
        .changes(&FEATURE);
}

/// If `trunk` is the default branch and the host does not report it, a pushed `main` must not be used as the base.
#[test]
fn default_branch_that_nobody_names_is_not_guessed() {
    let project = Project::new();
    let folder = jenkins_checkout(&project, &[EVERYTHING_FETCHED], &project.feature);
    let extra_variables = [("GIT_COMMIT", project.feature.as_str())];
    jenkins_job(&folder, "feature", &extra_variables)
        .says()
        .selects_everything("does not know the remote's default branch")
        .changes(&ALL_OF_FEATURE)
        .warns("`git remote set-head origin BRANCH`");
    jenkins_job(&folder, "main", &[("GIT_COMMIT", &project.main)])
        .says()
        .selects_everything("does not know the remote's default branch")
        .changes(&ALL_OF_MAIN);
    jenkins_job(&folder, "feature", &extra_variables)
        .with_variables(&[("SLUICEGATE_DEEPEN", "true")])
        .says()
        .base(&project.fork, "the default branch `origin/main`")
        .changes(&FEATURE);
}

#[test]
fn branch_that_was_fetched_alone_is_everything_and_warns() {
    let project = Project::new();
    let folder = jenkins_checkout(
        &project,
        &["+refs/heads/feature:refs/remotes/origin/feature"],
        &project.feature,
    );
    jenkins_job(&folder, "feature", &[])
        .says()
        .head("feature", &project.feature)
        .selects_everything("does not know the remote's default branch")
        .changes(&ALL_OF_FEATURE)
        .warns("all pipelines are selected");
}

#[test]
fn run_on_default_branch_selects_all_pipelines() {
    let project = Project::new();
    let fetch = ["+refs/heads/main:refs/remotes/origin/main"];
    let folder = with_default(jenkins_checkout(&project, &fetch, &project.main));
    jenkins_job(&folder, "main", &[("GIT_COMMIT", &project.main)])
        .says()
        .head("main", &project.main)
        .selects_everything("the run is on the default branch `main`")
        .changes(&ALL_OF_MAIN);
}

#[test]
fn tag_is_everything_on_branch_that_holds_it() {
    let project = Project::new();
    let folder = jenkins_checkout(&project, &[EVERYTHING_FETCHED], &project.main);
    jenkins_job(
        &folder,
        "v1",
        &[("TAG_NAME", "v1"), ("GIT_COMMIT", &project.main)],
    )
    .says()
    .event("jenkins", "tag")
    .head("main", &project.main)
    .has("tag", "v1")
    .selects_everything("a tag has no previous state")
    .changes(&ALL_OF_MAIN);
}
