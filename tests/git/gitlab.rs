//! GitLab's pipelines, checked out as its runner does, and Jenkins' merges.

use crate::history::{EVERYTHING_FETCHED, Project, ZEROS, checkout};
use crate::host::{base, changed, said, settle};
use sluicegate::ci::CiContext;
use sluicegate::context::ContextError;

fn pipeline(commit: &str, more: &[(&str, &str)]) -> CiContext {
    let fixed = [
        ("GITLAB_CI", "true"),
        ("CI_COMMIT_SHA", commit),
        ("CI_DEFAULT_BRANCH", "main"),
        ("CI_PROJECT_ID", "5"),
    ];
    said(&[&fixed[..], more].concat(), None)
}

fn merge_request(commit: &str, source: &str, base: &str) -> CiContext {
    let variables = [
        ("CI_PIPELINE_SOURCE", "merge_request_event"),
        ("CI_MERGE_REQUEST_IID", "1"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", source),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", base),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5"),
        ("CI_COMMIT_BEFORE_SHA", ZEROS),
    ];
    pipeline(commit, &variables)
}

#[test]
fn a_branch_pipeline_is_compared_with_what_was_there_before() {
    let project = Project::new();
    let fetch = "+refs/heads/feature:refs/remotes/origin/feature";
    let job = checkout(&project.world, &["--depth=20", fetch], &project.feature);
    let push = [
        ("CI_COMMIT_BRANCH", "feature"),
        ("CI_COMMIT_BEFORE_SHA", project.before.as_str()),
    ];
    let target = settle(&job, &pipeline(&project.feature, &push)).unwrap();
    assert_eq!(
        (target.branch.as_deref(), base(&target)),
        (Some("feature"), Some(project.before.as_str()))
    );
}

#[test]
fn a_first_pipeline_of_a_branch_is_compared_with_the_default_branch() {
    let project = Project::new();
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let first = [("CI_COMMIT_BRANCH", "feature"), ("CI_COMMIT_BEFORE_SHA", ZEROS)];
    assert_eq!(
        base(&settle(&job, &pipeline(&project.feature, &first)).unwrap()),
        Some(project.fork.as_str())
    );
    let main = [("CI_COMMIT_BRANCH", "main"), ("CI_COMMIT_BEFORE_SHA", ZEROS)];
    assert_eq!(
        base(&settle(&job, &pipeline(&project.main, &main)).unwrap()),
        None
    );
}

#[test]
fn a_detached_merge_request_is_the_checked_out_head() {
    let project = Project::new();
    let fetch = format!("+{}:refs/pipelines/1", project.feature);
    let job = checkout(&project.world, &["--depth=20", &fetch], &project.feature);
    let target = settle(&job, &merge_request(&project.feature, "", &project.fork)).unwrap();
    assert_eq!(
        (target.branch.as_deref(), target.head.as_str()),
        (Some("feature"), project.feature.as_str())
    );
    assert_eq!(base(&target), Some(project.fork.as_str()));
    assert_eq!(target.base_source, "CI_MERGE_REQUEST_DIFF_BASE_SHA");
    assert_eq!(
        changed(&job, &target),
        ["A first.orch.yaml", "A second.tran.yaml"]
    );
    assert!(target.check_on_remote(&crate::open(&job)).unwrap().is_some());
}

#[test]
fn a_merged_result_is_the_source_not_the_merge() {
    let project = Project::new();
    let merge = project.trial_merge("refs/merge-requests/1/merge");
    let fetch = format!("+{merge}:refs/pipelines/1");
    let job = checkout(&project.world, &["--depth=20", &fetch], &merge);
    let target = settle(&job, &merge_request(&merge, &project.feature, &project.fork)).unwrap();
    assert_eq!(target.head.as_str(), project.feature);
    assert_eq!(
        changed(&job, &target),
        ["A first.orch.yaml", "A second.tran.yaml"]
    );
}

#[test]
fn a_merge_request_whose_base_was_cut_off_says_what_to_do() {
    let project = Project::new();
    let fetch = format!("+{}:refs/pipelines/1", project.feature);
    let job = checkout(&project.world, &["--depth=1", &fetch], &project.feature);
    let error = settle(&job, &merge_request(&project.feature, "", &project.fork)).unwrap_err();
    assert!(
        matches!(&error, ContextError::BaseNotInClone { commit, .. } if *commit == project.fork),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("GIT_DEPTH: 0"));
}

#[test]
fn a_tag_pipeline_takes_everything() {
    let project = Project::new();
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &project.main);
    let target = settle(&job, &pipeline(&project.main, &[("CI_COMMIT_TAG", "v1")])).unwrap();
    assert_eq!((target.branch.as_deref(), base(&target)), (Some("main"), None));
    assert_eq!(changed(&job, &target), ["A old.orch.yaml", "A other.orch.yaml"]);
}

#[test]
fn a_reused_checkout_with_an_older_branch_cannot_tell_and_a_diverged_one_can() {
    let project = Project::new();
    let fetch = format!("+{}:refs/remotes/origin/feature", project.before);
    let all = format!("+{}:refs/pipelines/1", project.feature);
    let job = checkout(&project.world, &[&fetch, &all], &project.feature);
    let target = settle(&job, &merge_request(&project.feature, "", &project.fork)).unwrap();
    assert!(target.check_on_remote(&crate::open(&job)).unwrap().is_some());
    let main = format!("+{}:refs/remotes/origin/feature", project.main);
    crate::repo::git(&job, &["fetch", "-q", "origin", &main]);
    let error = target.check_on_remote(&crate::open(&job)).unwrap_err();
    assert!(matches!(error, ContextError::NotOnRemote { .. }), "{error}");
}

/// Jenkins fetches the head as `origin/PR-1` and merges the target into it, in the clone alone.
#[test]
fn a_merge_that_jenkins_made_is_its_first_parent_and_a_head_that_is_a_merge_stays() {
    let project = Project::new();
    let head = format!("+{}:refs/remotes/origin/PR-1", project.feature);
    let job = checkout(
        &project.world,
        &["+refs/heads/main:refs/remotes/origin/main", &head],
        &project.feature,
    );
    crate::repo::git(&job, &["merge", "-q", "--no-ff", "-m", "local", "origin/main"]);
    let merge = crate::repo::git(&job, &["rev-parse", "HEAD"]);
    let change = |commit: &str| {
        said(
            &[
                ("JENKINS_URL", "http://ci/"),
                ("BUILD_ID", "1"),
                ("GIT_COMMIT", commit),
                ("CHANGE_BRANCH", "feature"),
                ("CHANGE_TARGET", "main"),
            ],
            None,
        )
    };
    let target = settle(&job, &change(&merge)).unwrap();
    assert_eq!(
        (target.head.as_str(), base(&target)),
        (project.feature.as_str(), Some(project.fork.as_str()))
    );
    crate::repo::git(&job, &["update-ref", "refs/remotes/origin/PR-1", &merge]);
    let target = settle(&job, &change(&merge)).unwrap();
    assert_eq!(
        (target.head.as_str(), base(&target)),
        (merge.as_str(), Some(project.main.as_str()))
    );
}
