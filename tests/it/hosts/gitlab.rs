//! GitLab CI/CD: <https://docs.gitlab.com/ci/pipelines/pipeline_types/>. The runner fetches the pipeline's commit and,
//! for a branch or a tag, that reference, 20 commits deep; with `GIT_DEPTH: 0`, the entire history.

use crate::support::{ALL_OF_MAIN, Checkout, EVERYTHING_FETCHED, FEATURE, Project, ZEROS, checkout};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Creates the default checkout: the pipeline's commit and this reference.
fn shallow_checkout(project: &Project, depth: u32, commit: &str, reference: &str) -> PathBuf {
    let (depth, pipeline) = (format!("--depth={depth}"), format!("+{commit}:refs/pipelines/1"));
    let fetch: Vec<&str> = [depth.as_str(), &pipeline, reference]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    checkout(&project.world, &fetch, commit)
}

/// Creates the checkout with `GIT_DEPTH: 0`.
fn gitlab_clone(project: &Project, commit: &str) -> PathBuf {
    let pipeline = format!("+{commit}:refs/pipelines/1");
    checkout(
        &project.world,
        &[EVERYTHING_FETCHED, "+refs/tags/*:refs/tags/*", &pipeline],
        commit,
    )
}

fn gitlab_job(folder: &Path, source: &str, commit: &str, extra_variables: &[(&str, &str)]) -> Checkout {
    let base_variables = [
        ("GITLAB_CI", "true"),
        ("CI_PIPELINE_SOURCE", source),
        ("CI_COMMIT_SHA", commit),
        ("CI_DEFAULT_BRANCH", "main"),
        ("CI_PROJECT_ID", "5"),
        ("CI_PIPELINE_IID", "42"),
    ];
    Checkout::new(folder, &base_variables).with_variables(extra_variables)
}

fn branch_pipeline(folder: &Path, name: &str, before: &str, commit: &str) -> Checkout {
    let extra_variables = [
        ("CI_COMMIT_BRANCH", name),
        ("CI_COMMIT_REF_NAME", name),
        ("CI_COMMIT_BEFORE_SHA", before),
    ];
    gitlab_job(folder, "push", commit, &extra_variables)
}

/// Returns a merge request's job. `source` is the head of the source branch, which GitLab sets only for merged results
/// and merge trains.
fn merge_request_pipeline(folder: &Path, kind: &str, commit: &str, source: &str, base: &str) -> Checkout {
    let extra_variables = [
        ("CI_MERGE_REQUEST_IID", "9"),
        ("CI_MERGE_REQUEST_EVENT_TYPE", kind),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", source),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", ""),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
        ("CI_COMMIT_BEFORE_SHA", ZEROS),
        ("CI_COMMIT_REF_NAME", "feature"),
    ];
    gitlab_job(folder, "merge_request_event", commit, &extra_variables)
}

#[test]
fn branch_pipeline_is_judged_with_all_that_branch_brings() {
    let project = Project::new();
    let reference = "+refs/heads/feature:refs/remotes/origin/feature";
    let folder = shallow_checkout(&project, 20, &project.feature, reference);
    branch_pipeline(&folder, "feature", &project.before, &project.feature)
        .expect_unsettled(&["the default branch `main` is not among the remote branches"]);
    branch_pipeline(
        &gitlab_clone(&project, &project.feature),
        "feature",
        &project.before,
        &project.feature,
    )
    .says()
    .event("gitlab", "push")
    .head("feature", &project.feature)
    .base(&project.fork, "the default branch `origin/main`")
    .changes(&FEATURE)
    .quietly();
}

#[test]
fn pipeline_of_default_branch_is_what_was_pushed() {
    let project = Project::new();
    let folder = shallow_checkout(
        &project,
        20,
        &project.main,
        "+refs/heads/main:refs/remotes/origin/main",
    );
    branch_pipeline(&folder, "main", &project.fork, &project.main)
        .says()
        .head("main", &project.main)
        .base(&project.fork, "CI_COMMIT_BEFORE_SHA")
        .changes(&["A other.orch.yaml"]);
}

#[test]
fn first_pipeline_of_branch_needs_default_branch() {
    let project = Project::new();
    branch_pipeline(
        &gitlab_clone(&project, &project.feature),
        "feature",
        ZEROS,
        &project.feature,
    )
    .says()
    .head("feature", &project.feature)
    .base(&project.fork, "the default branch `origin/main`")
    .changes(&FEATURE);
    let reference = "+refs/heads/feature:refs/remotes/origin/feature";
    let folder = shallow_checkout(&project, 20, &project.feature, reference);
    branch_pipeline(&folder, "feature", ZEROS, &project.feature).expect_unsettled(&[
        "the default branch `main` is not among the remote branches",
        "`GIT_DEPTH: 0` in the `variables:` of the job",
        "--deepen",
    ]);
}

#[test]
fn forced_push_is_compared_with_default_branch() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q feature");
    world.git("commit -q --amend -m amended");
    world.git("push -q --force origin feature");
    let head = world.git("rev-parse HEAD");
    branch_pipeline(&gitlab_clone(&project, &head), "feature", &project.feature, &head)
        .says()
        .head("feature", &head)
        .base(&project.fork, "the default branch `origin/main`")
        .changes(&FEATURE);
}

#[test]
fn first_pipeline_of_default_branch_is_everything() {
    let project = Project::new();
    let folder = shallow_checkout(
        &project,
        20,
        &project.main,
        "+refs/heads/main:refs/remotes/origin/main",
    );
    branch_pipeline(&folder, "main", ZEROS, &project.main)
        .says()
        .head("main", &project.main)
        .selects_everything("the run is on the default branch `main`")
        .changes(&ALL_OF_MAIN)
        .quietly();
}

#[test]
fn detached_merge_request_is_checked_out_head() {
    let project = Project::new();
    let folder = shallow_checkout(&project, 20, &project.feature, "");
    merge_request_pipeline(&folder, "detached", &project.feature, "", &project.fork)
        .says()
        .event("gitlab", "merge_request_event")
        .head("feature", &project.feature)
        .base(&project.fork, "CI_MERGE_REQUEST_DIFF_BASE_SHA")
        .has("pullRequest", 9)
        .has("fork", false)
        .changes(&FEATURE)
        .quietly();
}

#[test]
fn merge_request_with_base_beyond_depth_fails_with_remedy() {
    let project = Project::new();
    let folder = shallow_checkout(&project, 2, &project.feature, "");
    merge_request_pipeline(&folder, "detached", &project.feature, "", &project.fork).expect_unsettled(&[
        &project.fork,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA",
        "`GIT_DEPTH: 0`",
    ]);
}

#[test]
fn merged_result_is_source_not_merge() {
    let project = Project::new();
    let merge = project.trial_merge("refs/merge-requests/9/merge");
    let folder = shallow_checkout(&project, 20, &merge, "");
    merge_request_pipeline(&folder, "merged_result", &merge, &project.feature, &project.fork)
        .says()
        .head("feature", &project.feature)
        .base(&project.fork, "CI_MERGE_REQUEST_DIFF_BASE_SHA")
        .changes(&FEATURE)
        .quietly();
}

#[test]
fn merge_train_is_source_not_what_rides_before_it() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q -b ahead main");
    world.write("ahead.orch.yaml", "1");
    world.commit("the request before in the train");
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m 'first of the train' ahead");
    world.git("merge -q --no-ff -m 'second of the train' feature");
    world.git("push -q origin HEAD:refs/merge-requests/9/train");
    let train = world.git("rev-parse HEAD");
    let folder = shallow_checkout(&project, 20, &train, "");
    merge_request_pipeline(&folder, "merge_train", &train, &project.feature, &project.fork)
        .says()
        .head("feature", &project.feature)
        .base(&project.fork, "CI_MERGE_REQUEST_DIFF_BASE_SHA")
        .changes(&FEATURE)
        .quietly();
}

/// With fast-forward merges, a merge train contains rebased commits, and the source's own head is not among them.
#[test]
fn fast_forward_train_ends_with_what_to_fetch() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q --detach feature");
    world.git("rebase -q main");
    world.git("push -q origin HEAD:refs/merge-requests/9/train");
    let train = world.git("rev-parse HEAD");
    let folder = shallow_checkout(&project, 20, &train, "");
    merge_request_pipeline(&folder, "merge_train", &train, &project.feature, &project.fork)
        .expect_unsettled(&[&project.feature, "is not in this clone", "`GIT_DEPTH: 0`"]);
    merge_request_pipeline(
        &gitlab_clone(&project, &train),
        "merge_train",
        &train,
        &project.feature,
        &project.fork,
    )
    .says()
    .head("feature", &project.feature)
    .changes(&FEATURE);
}

/// The job reviews another commit of the change, which goes into a branch that is not the default branch.
#[test]
fn other_commit_of_merge_request_is_compared_with_its_target() {
    let project = Project::new();
    let world = &project.world;
    world.git(format!("branch -q release {}", project.before));
    world.git("push -q origin release");
    world.git("fetch -q origin");
    let clone = gitlab_clone(&project, &project.before);
    let job = merge_request_pipeline(&clone, "detached", &project.before, "", &project.fork);
    let call = job
        .call()
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "release");
    let output = call.run("context --json --head origin/feature");
    assert_eq!(output.json()["base"], project.before.as_str(), "{}", output.all());
}

#[test]
fn merge_request_with_unrelated_base_is_compared_with_merge_base() {
    let project = Project::new();
    merge_request_pipeline(
        &gitlab_clone(&project, &project.feature),
        "detached",
        &project.feature,
        "",
        &project.main,
    )
    .says()
    .base(&project.fork, "which is not an ancestor of head")
    .changes(&FEATURE);
}

/// The merge is connected to the base on the target's side; the source's side is cut before the base.
#[test]
fn merged_result_with_missing_source_exits_with_7_unless_fetched() {
    let project = Project::new();
    let merge = project.trial_merge("refs/merge-requests/9/merge");
    let folder = shallow_checkout(&project, 2, &merge, "");
    crate::support::git(&folder, &["fetch", "-q", "--depth=1", "origin", &project.fork]);
    let job = merge_request_pipeline(&folder, "merged_result", &merge, &project.feature, &project.fork);
    job.expect_unsettled(&["the clone is shallow", "`GIT_DEPTH: 0`"]);
    let output = job.call().run("context --deepen").expect(0);
    assert!(output.err.contains("(--deepen)"), "{}", output.all());
}

/// Merges `main` into `feature`, and if `is_crossed`, an earlier commit of `feature` into `main`, so that the two have
/// two merge-bases. Returns the new head of `feature`.
fn merge_target_into_change(project: &Project, is_crossed: bool) -> String {
    let world = &project.world;
    if is_crossed {
        world.git(format!("merge -q --no-ff -m crossed {}", project.before));
        world.git("push -q origin main");
    }
    world.git("checkout -q feature");
    world.git(format!("merge -q --no-ff -m update {}", project.main));
    world.git("push -q origin feature");
    world.git("rev-parse HEAD")
}

#[test]
fn merge_request_with_several_merge_bases_exits_with_7_without_target() {
    let project = Project::new();
    let head = merge_target_into_change(&project, true);
    // GitLab names one of the merge-bases.
    for base in [&project.before, &project.main] {
        let job = |folder: &Path| merge_request_pipeline(folder, "detached", &head, "", base);
        let other = if base == &project.main {
            &project.before
        } else {
            &project.main
        };
        let folder = shallow_checkout(&project, 20, &head, "");
        job(&folder).expect_unsettled(&[
            "could not find all merge-bases of the change",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA",
            "the target branch `main`",
            "`GIT_DEPTH: 0`",
        ]);
        let output = job(&folder).call().run("context --json --deepen").expect(0);
        let report = output.json();
        assert_eq!(report["base"], base.as_str(), "{}", output.all());
        assert_eq!(report["otherBases"][0], other.as_str(), "{}", output.all());
        job(&gitlab_clone(&project, &head))
            .says()
            .has("base", base.as_str())
            .has("otherBases", vec![other.as_str()]);
        // The named commit is in the clone, but the history between it and the head is not.
        let folder = shallow_checkout(&project, 2, &head, "");
        crate::support::git(&folder, &["fetch", "-q", "--depth=1", "origin", base]);
        job(&folder).expect_unsettled(&["`GIT_DEPTH: 0`"]);
    }
}

#[test]
fn merge_request_with_merged_target_is_compared_with_named_base_if_target_is_in_clone() {
    let project = Project::new();
    let head = merge_target_into_change(&project, false);
    let job = |folder: &Path| merge_request_pipeline(folder, "detached", &head, "", &project.main);
    let folder = shallow_checkout(&project, 20, &head, "");
    let reason = "could not find all merge-bases of the change";
    job(&folder).expect_unsettled(&[reason, "pass --deepen"]);
    // A run that has tried it does not advise it again.
    crate::support::git(&folder, "remote set-url origin /nowhere");
    let output = job(&folder).call().run("context --deepen").expect(7);
    output.assert_logged(&[reason, "`GIT_DEPTH: 0`"]);
    assert!(!output.err.contains("pass --deepen"), "{}", output.all());
    job(&gitlab_clone(&project, &head))
        .says()
        .base(&project.main, "CI_MERGE_REQUEST_DIFF_BASE_SHA")
        .changes(&FEATURE)
        .quietly();
}

#[test]
fn merge_request_of_fork_is_one_wherever_it_runs() {
    let project = Project::new();
    let folder = shallow_checkout(&project, 20, &project.feature, "");
    let source = ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "6");
    for more in [&[source][..], &[source, ("CI_PROJECT_ID", "6")]] {
        let job = merge_request_pipeline(&folder, "detached", &project.feature, "", &project.fork)
            .with_variables(more);
        job.says()
            .has("fork", true)
            .head("feature", &project.feature)
            .changes(&FEATURE);
        job.leaves_the_fork();
    }
}

fn tag(folder: &Path, commit: &str) -> Checkout {
    let extra_variables = [
        ("CI_COMMIT_TAG", "v1"),
        ("CI_COMMIT_REF_NAME", "v1"),
        ("CI_COMMIT_BEFORE_SHA", ZEROS),
    ];
    gitlab_job(folder, "push", commit, &extra_variables)
}

#[test]
fn tag_pipeline_is_everything_on_branch_that_holds_it() {
    let project = Project::new();
    project.world.git(&["tag", "v1", &project.main]);
    project.world.git("push -q origin v1");
    tag(&gitlab_clone(&project, &project.main), &project.main)
        .says()
        .head("main", &project.main)
        .has("tag", "v1")
        .selects_everything("a tag has no previous state")
        .changes(&ALL_OF_MAIN);
    let folder = shallow_checkout(&project, 20, &project.main, "+refs/tags/v1:refs/tags/v1");
    tag(&folder, &project.main)
        .says()
        .has("branch", Value::Null)
        .changes(&ALL_OF_MAIN);
}

#[test]
fn scheduled_or_manual_pipeline_is_compared_with_default_branch() {
    let project = Project::new();
    for source in ["schedule", "web", "api"] {
        let on = |name: &str, commit: &str| {
            let extra_variables = [("CI_COMMIT_BRANCH", name), ("CI_COMMIT_BEFORE_SHA", ZEROS)];
            gitlab_job(&gitlab_clone(&project, commit), source, commit, &extra_variables)
        };
        on("feature", &project.feature)
            .says()
            .event("gitlab", source)
            .head("feature", &project.feature)
            .base(&project.fork, "the default branch `origin/main`")
            .changes(&FEATURE);
        on("main", &project.main)
            .says()
            .head("main", &project.main)
            .selects_everything("the run is on the default branch `main`")
            .changes(&ALL_OF_MAIN);
    }
}

/// A runner may keep its checkout, so its branches can be older than the commit.
#[test]
fn kept_checkout_with_older_branch_warns_of_unknown_remote_commit() {
    let project = Project::new();
    let older = format!("+{}:refs/remotes/origin/feature", project.before);
    let pipeline = format!("+{}:refs/pipelines/1", project.feature);
    let folder = checkout(&project.world, &[&older, &pipeline], &project.feature);
    let job = merge_request_pipeline(&folder, "detached", &project.feature, "", &project.fork);
    // The request is sent, but no server responds, and the local check has no rules file.
    job.review_call()
        .run("review")
        .expect(1)
        .saying(&["could not determine whether the remote's branch `feature` contains commit"]);
}
