//! The commit that the policy of a change is read from.

use crate::support::{EVERYTHING_FETCHED, Project, ZEROS, checkout, open};
use sluicegate::env::Env;
use sluicegate::job::ci;
use sluicegate::job::context::{CommitSource, PolicyRevision, find_target_policy_revision};
use std::path::Path;

fn tip(folder: &Path, variables: &[(&str, &str)]) -> PolicyRevision {
    let pairs = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let ci = ci::detect_context(&Env::from_parts(pairs, folder.to_owned()), None).unwrap();
    find_target_policy_revision(&open(folder), &ci, CommitSource::Host).unwrap()
}

#[track_caller]
fn assert_tip(values: PolicyRevision, expected: &str, words: &str) {
    match values {
        PolicyRevision::Commit {
            commit,
            source,
            branch,
        } => {
            assert_eq!((commit.as_str(), branch.as_str()), (expected, "main"));
            assert!(source.contains(words), "{source}");
        }
        other => panic!("{other:?}"),
    }
}

fn gitlab_variables<'a>(commit: &'a str, extra_args: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let base_variables = [
        ("GITLAB_CI", "true"),
        ("CI_COMMIT_SHA", commit),
        ("CI_DEFAULT_BRANCH", "main"),
    ];
    [&base_variables[..], extra_args].concat()
}

fn merge_request_variables<'a>(
    project: &'a Project,
    extra_args: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let base_variables = [
        ("CI_MERGE_REQUEST_IID", "9"),
        ("CI_MERGE_REQUEST_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5"),
        ("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "feature"),
        ("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main"),
        ("CI_MERGE_REQUEST_DIFF_BASE_SHA", &project.fork),
    ];
    gitlab_variables(&project.feature, &[&base_variables[..], extra_args].concat())
}

#[test]
fn policy_commit_of_merge_request_is_tip_of_target_never_tag() {
    let project = Project::new();
    let text = format!("{}:refs/tags/origin/main", project.feature);
    project.world.git(&["push", "-q", "origin", &text]);
    let specs = [EVERYTHING_FETCHED, "+refs/tags/*:refs/tags/*"];
    let folder = checkout(&project.world, &specs, &project.feature);
    assert_tip(
        tip(&folder, &merge_request_variables(&project, &[])),
        &project.main,
        "refs/remotes/origin/main",
    );
}

#[test]
fn policy_commit_without_target_is_that_of_host_or_base() {
    let project = Project::new();
    let pipeline = format!("+{}:refs/pipelines/1", project.feature);
    let folder = checkout(&project.world, &[&pipeline], &project.feature);
    assert_tip(
        tip(&folder, &merge_request_variables(&project, &[])),
        &project.fork,
        "CI_MERGE_REQUEST_DIFF_BASE_SHA, because the target branch is not in this clone",
    );
    crate::support::git(&folder, &["fetch", "-q", "origin", &project.main]);
    let seen = [("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", project.main.as_str())];
    assert_tip(
        tip(&folder, &merge_request_variables(&project, &seen)),
        &project.main,
        "CI_MERGE_REQUEST_TARGET_BRANCH_SHA",
    );
}

#[test]
fn policy_commit_of_push_is_default_branch_never_before() {
    let project = Project::new();
    let folder = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let push = |branch, before| {
        let extra_variables = [
            ("CI_PIPELINE_SOURCE", "push"),
            ("CI_COMMIT_BRANCH", branch),
            ("CI_COMMIT_BEFORE_SHA", before),
        ];
        gitlab_variables(&project.feature, &extra_variables)
    };
    for before in [project.before.as_str(), ZEROS] {
        assert_tip(
            tip(&folder, &push("feature", before)),
            &project.main,
            "refs/remotes/origin/main",
        );
    }
    let on_default = tip(&folder, &push("main", &project.before));
    assert!(
        matches!(on_default, PolicyRevision::Head { .. }),
        "{on_default:?}"
    );
    assert!(matches!(tip(&folder, &[]), PolicyRevision::Head { .. }));
    let text = format!("+{}:refs/remotes/origin/feature", project.feature);
    let alone = checkout(&project.world, &[&text], &project.feature);
    let unknown = tip(&alone, &push("feature", &project.before));
    assert!(matches!(unknown, PolicyRevision::Unknown { .. }), "{unknown:?}");
}
