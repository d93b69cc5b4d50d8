//! GitHub's events, checked out as actions/checkout does.

use crate::history::{EVERYTHING_FETCHED, Project, ZEROS, checkout};
use crate::host::{base, changed, said, settle};
use crate::repo::git;
use serde_json::{Value, json};
use sluicegate::ci::CiContext;
use sluicegate::context::ContextError;
use std::path::PathBuf;

fn event(name: &str, reference: &str, commit: &str, payload: Value) -> CiContext {
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", name),
        ("GITHUB_REF", reference),
        ("GITHUB_SHA", commit),
        ("GITHUB_REPOSITORY", "o/p"),
    ];
    said(&variables, Some(payload))
}

fn pull_request(head: &str, base: &str, from: &str) -> Value {
    json!({
        "pull_request": {
            "number": 1,
            "head": { "ref": "feature", "sha": head, "repo": { "full_name": from } },
            "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/p" } }
        },
        "repository": { "full_name": "o/p", "default_branch": "main" }
    })
}

fn push(name: &str, before: &str, after: &str) -> CiContext {
    let payload = json!({ "before": before, "after": after, "repository": { "default_branch": "main" } });
    event("push", &format!("refs/heads/{name}"), after, payload)
}

/// `fetch-depth: 0` of a pull request.
fn whole(project: &Project, merge: &str) -> PathBuf {
    let pull = format!("+{merge}:refs/remotes/pull/1/merge");
    checkout(
        &project.world,
        &[EVERYTHING_FETCHED, &pull],
        "refs/remotes/pull/1/merge",
    )
}

#[test]
fn a_pull_request_is_its_head_against_where_it_left() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/1/merge");
    let job = whole(&project, &merge);
    for name in ["pull_request", "pull_request_target"] {
        let ci = event(
            name,
            "refs/pull/1/merge",
            &merge,
            pull_request(&project.feature, &project.main, "o/p"),
        );
        let target = settle(&job, &ci).unwrap();
        assert_eq!(
            (target.branch.as_deref(), target.head.as_str()),
            (Some("feature"), project.feature.as_str())
        );
        assert_eq!(
            base(&target),
            Some(project.fork.as_str()),
            "{}",
            target.base_source
        );
        assert_eq!(
            changed(&job, &target),
            ["A first.orch.yaml", "A second.tran.yaml"]
        );
        let repo = crate::open(&job);
        assert_eq!(target.check_on_remote(&repo).unwrap(), None);
    }
}

#[test]
fn a_pull_request_that_took_in_its_target_is_not_compared_with_a_stale_base() {
    let project = Project::new();
    let world = &project.world;
    world.git(&["checkout", "-q", "feature"]);
    world.git(&["merge", "-q", "-m", "take in", "main"]);
    world.push();
    let head = world.git(&["rev-parse", "HEAD"]);
    let job = checkout(world, &[EVERYTHING_FETCHED], &head);
    let ci = event(
        "pull_request",
        "refs/pull/1/merge",
        &head,
        pull_request(&head, &project.fork, "o/p"),
    );
    let target = settle(&job, &ci).unwrap();
    assert_eq!(base(&target), Some(project.main.as_str()));
    assert_eq!(
        changed(&job, &target),
        ["A first.orch.yaml", "A second.tran.yaml"]
    );
}

#[test]
fn a_pull_request_in_the_default_shallow_checkout_lacks_its_head_and_says_what_to_do() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/1/merge");
    let fetch = format!("+{merge}:refs/remotes/pull/1/merge");
    let job = checkout(&project.world, &["--depth=1", &fetch], &merge);
    let ci = event(
        "pull_request",
        "refs/pull/1/merge",
        &merge,
        pull_request(&project.feature, &project.main, "o/p"),
    );
    let error = settle(&job, &ci).unwrap_err();
    assert!(
        matches!(&error, ContextError::CommitNotInClone { commit, .. } if *commit == project.feature),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("fetch-depth: 0"));
}

#[test]
fn a_pull_request_whose_target_was_not_fetched_uses_where_the_host_saw_it_and_says_so() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/1/merge");
    let job = checkout(
        &project.world,
        &[&format!("+{merge}:refs/remotes/pull/1/merge")],
        &merge,
    );
    let ci = event(
        "pull_request",
        "refs/pull/1/merge",
        &merge,
        pull_request(&project.feature, &project.main, "o/p"),
    );
    let target = settle(&job, &ci).unwrap();
    assert_eq!(base(&target), Some(project.fork.as_str()));
    assert!(
        target.warnings[0].contains("`main` is not in this clone"),
        "{:?}",
        target.warnings
    );
    let warning = target.check_on_remote(&crate::open(&job)).unwrap();
    assert!(warning.unwrap().contains("`feature`"));
    let absent = "4444444444444444444444444444444444444444";
    let ci = event(
        "pull_request",
        "refs/pull/1/merge",
        &merge,
        pull_request(&project.feature, absent, "o/p"),
    );
    let error = settle(&job, &ci).unwrap_err();
    assert!(
        matches!(error, ContextError::BranchNotInClone { role: "target", .. }),
        "{error}"
    );
}

#[test]
fn a_pull_request_that_was_merged_meanwhile_is_still_reviewed() {
    let project = Project::new();
    let world = &project.world;
    world.git(&["merge", "-q", "--no-ff", "-m", "merged", "feature"]);
    world.push();
    let job = checkout(world, &[EVERYTHING_FETCHED], &project.feature);
    let ci = event(
        "pull_request",
        "refs/pull/1/merge",
        "x",
        pull_request(&project.feature, &project.main, "o/p"),
    );
    let target = settle(&job, &ci).unwrap();
    assert_eq!(
        base(&target),
        Some(project.fork.as_str()),
        "{}",
        target.base_source
    );
    let late = world.git(&["rev-parse", "main"]);
    let ci = event(
        "pull_request",
        "refs/pull/1/merge",
        "x",
        pull_request(&project.feature, &late, "o/p"),
    );
    assert_eq!(base(&settle(&job, &ci).unwrap()), None);
}

#[test]
fn a_fork_is_settled_but_not_for_the_platform() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/1/merge");
    let job = whole(&project, &merge);
    let payload = pull_request(&project.feature, &project.main, "somebody/p");
    let target = settle(&job, &event("pull_request", "refs/pull/1/merge", &merge, payload)).unwrap();
    assert!(target.fork);
    let error = target.check_on_remote(&crate::open(&job)).unwrap_err();
    assert!(matches!(error, ContextError::Fork { .. }));
    assert!(error.hint().unwrap().contains("sluicegate check"));
}

#[test]
fn a_push_is_compared_with_what_was_there_before() {
    let project = Project::new();
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let target = settle(&job, &push("feature", &project.before, &project.feature)).unwrap();
    assert_eq!(
        (target.branch.as_deref(), base(&target)),
        (Some("feature"), Some(project.before.as_str()))
    );
    assert_eq!(changed(&job, &target), ["A second.tran.yaml"]);
}

#[test]
fn a_push_of_a_new_branch_is_compared_with_the_default_branch() {
    let project = Project::new();
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let target = settle(&job, &push("feature", ZEROS, &project.feature)).unwrap();
    assert_eq!(base(&target), Some(project.fork.as_str()));
}

#[test]
fn a_forced_push_is_compared_with_the_default_branch() {
    let project = Project::new();
    let world = &project.world;
    world.git(&["checkout", "-q", "feature"]);
    world.git(&["reset", "-q", "--hard", &project.before]);
    world.write("rewritten.orch.yaml", "3");
    let head = world.commit("rewritten");
    world.git(&["push", "-q", "--force", "origin", "feature"]);
    let job = checkout(world, &[EVERYTHING_FETCHED], &head);
    let target = settle(&job, &push("feature", &project.feature, &head)).unwrap();
    assert_eq!(base(&target), Some(project.fork.as_str()));
    assert!(
        target.base_source.contains("not in this clone"),
        "{}",
        target.base_source
    );
    git(&job, &["fetch", "-q", "origin", &project.feature]);
    let target = settle(&job, &push("feature", &project.feature, &head)).unwrap();
    assert_eq!(base(&target), Some(project.fork.as_str()));
    assert!(
        target.base_source.contains("no ancestor"),
        "{}",
        target.base_source
    );
}

#[test]
fn a_push_to_the_default_branch_is_never_nothing() {
    let project = Project::new();
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &project.main);
    let target = settle(&job, &push("main", &project.fork, &project.main)).unwrap();
    assert_eq!(changed(&job, &target), ["A other.orch.yaml"]);
    for unusable in [
        ZEROS,
        &project.feature,
        "4444444444444444444444444444444444444444",
    ] {
        let target = settle(&job, &push("main", unusable, &project.main)).unwrap();
        assert_eq!(base(&target), None);
        assert_eq!(
            changed(&job, &target),
            ["A old.orch.yaml", "A other.orch.yaml"]
                .map(str::to_owned)
                .into_iter()
                .collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_shallow_push_to_the_default_branch_takes_everything_and_warns() {
    let project = Project::new();
    let fetch = format!("+{}:refs/remotes/origin/main", project.main);
    let job = checkout(&project.world, &["--depth=1", &fetch], &project.main);
    let target = settle(&job, &push("main", &project.fork, &project.main)).unwrap();
    assert_eq!(base(&target), None);
    assert!(
        target.warnings[0].contains("fetch-depth: 0"),
        "{:?}",
        target.warnings
    );
    assert_eq!(target.check_on_remote(&crate::open(&job)).unwrap(), None);
}

#[test]
fn a_shallow_push_of_a_branch_ends_with_what_is_missing() {
    let project = Project::new();
    let fetch = format!("+{}:refs/remotes/origin/feature", project.feature);
    let job = checkout(&project.world, &["--depth=1", &fetch], &project.feature);
    let error = settle(&job, &push("feature", &project.before, &project.feature)).unwrap_err();
    assert!(
        matches!(error, ContextError::BranchNotInClone { role: "default", .. }),
        "{error}"
    );
    git(
        &job,
        &[
            "fetch",
            "-q",
            "--depth=1",
            "origin",
            "+refs/heads/main:refs/remotes/origin/main",
        ],
    );
    let error = settle(&job, &push("feature", &project.before, &project.feature)).unwrap_err();
    assert!(matches!(error, ContextError::Shallow { .. }), "{error}");
    assert!(error.hint().unwrap().contains("fetch-depth: 0"));
}

#[test]
fn a_deleted_branch_leaves_nothing_to_do() {
    let project = Project::new();
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &project.main);
    let payload = json!({ "before": project.feature, "after": ZEROS });
    let target = settle(&job, &event("push", "refs/heads/feature", &project.main, payload)).unwrap();
    assert_eq!(
        target.nothing_to_do.as_deref(),
        Some("the branch `feature` was deleted")
    );
    assert_eq!(target.check_on_remote(&crate::open(&job)).unwrap(), None);
}

#[test]
fn a_tag_is_on_the_branch_that_holds_it() {
    let project = Project::new();
    let world = &project.world;
    world.git(&[
        "push",
        "-q",
        "origin",
        &format!("{}:refs/heads/aaa", project.fork),
    ]);
    world.git(&["tag", "-a", "-m", "one", "v1", &project.fork]);
    world.git(&["push", "-q", "origin", "v1"]);
    let object = world.git(&["rev-parse", "v1"]);
    let job = checkout(world, &[EVERYTHING_FETCHED, "+refs/tags/v1:refs/tags/v1"], "v1");
    let payload = json!({ "before": ZEROS, "after": object, "repository": { "default_branch": "main" } });
    for named in [&project.fork, &object] {
        let target = settle(&job, &event("push", "refs/tags/v1", named, payload.clone())).unwrap();
        assert_eq!(
            (target.tag.as_deref(), target.branch.as_deref()),
            (Some("v1"), Some("main"))
        );
        assert_eq!(
            (target.head.as_str(), base(&target)),
            (project.fork.as_str(), None)
        );
    }
}

#[test]
fn a_merge_group_is_compared_with_the_base_of_the_group() {
    let project = Project::new();
    let queue = "refs/heads/gh-readonly-queue/main/pr-1";
    let group = project.trial_merge(queue);
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &group);
    let payload = json!({ "merge_group": {
        "head_ref": queue, "head_sha": group, "base_ref": "refs/heads/main", "base_sha": project.main
    } });
    let target = settle(&job, &event("merge_group", queue, &group, payload)).unwrap();
    assert_eq!(target.branch.as_deref(), Some("gh-readonly-queue/main/pr-1"));
    assert_eq!(
        (target.head.as_str(), base(&target)),
        (group.as_str(), Some(project.main.as_str()))
    );
    assert_eq!(
        changed(&job, &target),
        ["A first.orch.yaml", "A second.tran.yaml"]
    );
    assert_eq!(target.check_on_remote(&crate::open(&job)).unwrap(), None);
}

#[test]
fn a_run_by_hand_or_by_the_clock_is_compared_with_the_default_branch() {
    let project = Project::new();
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &project.feature);
    let payload = json!({ "repository": { "default_branch": "main" } });
    let ci = event(
        "workflow_dispatch",
        "refs/heads/feature",
        &project.feature,
        payload.clone(),
    );
    assert_eq!(base(&settle(&job, &ci).unwrap()), Some(project.fork.as_str()));
    let ci = event("schedule", "refs/heads/main", &project.main, payload);
    assert_eq!(base(&settle(&job, &ci).unwrap()), None);
    let ci = event(
        "schedule",
        "refs/heads/main",
        &project.main,
        json!({ "schedule": "0 0 * * *" }),
    );
    assert_eq!(base(&settle(&job, &ci).unwrap()), None);
}

#[test]
fn a_commit_that_is_no_full_id_is_not_looked_up() {
    let project = Project::new();
    let job = checkout(&project.world, &[EVERYTHING_FETCHED], &project.main);
    for commit in ["main", "HEAD", "-x", "4444"] {
        let error = settle(&job, &event("schedule", "refs/heads/main", commit, json!({}))).unwrap_err();
        assert!(matches!(error, ContextError::CommitNotInClone { .. }), "{error}");
    }
}
