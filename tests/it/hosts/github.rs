//! GitHub Actions: <https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows>,
//! checked out as <https://github.com/actions/checkout> does it, with and without `fetch-depth: 0`.

use crate::support::{
    ALL_OF_FEATURE, ALL_OF_MAIN, Checkout, EVERYTHING_FETCHED, FEATURE, Project, ZEROS, checkout,
    complete_checkout, repository,
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const ABSENT: &str = "4444444444444444444444444444444444444444";

fn github_job(folder: &Path, event: &str, reference: &str, commit: &str, payload: &Value) -> Checkout {
    let variables = [
        ("GITHUB_ACTIONS", "true"),
        ("GITHUB_EVENT_NAME", event),
        ("GITHUB_REF", reference),
        ("GITHUB_SHA", commit),
        ("GITHUB_REPOSITORY", "o/p"),
        ("GITHUB_RUN_NUMBER", "12"),
    ];
    Checkout::new(folder, &variables).payload(payload)
}

fn github_payload(head: &str, base: &str) -> Value {
    json!({
        "action": "synchronize",
        "number": 7,
        "pull_request": {
            "number": 7,
            "head": { "ref": "feature", "sha": head, "repo": { "full_name": "o/p" } },
            "base": { "ref": "main", "sha": base, "repo": { "full_name": "o/p" } }
        },
        "repository": repository()
    })
}

/// Checks out the trial merge with `fetch-depth: 0`.
fn whole_pull(project: &Project, merge: &str) -> PathBuf {
    let pull = format!("+{merge}:refs/remotes/pull/7/merge");
    checkout(
        &project.world,
        &[EVERYTHING_FETCHED, &pull],
        "refs/remotes/pull/7/merge",
    )
}

fn github_push(project: &Project, branch: &str, before: &str, after: &str) -> Checkout {
    let reference = format!("refs/heads/{branch}");
    let payload = json!({ "ref": reference, "before": before, "after": after, "repository": repository() });
    github_job(
        &complete_checkout(project, after),
        "push",
        &reference,
        after,
        &payload,
    )
}

/// Returns the job of a pull request in a complete clone in which this commit is checked out, not the trial merge.
fn job_of_pull(project: &Project, head: &str, payload: &Value) -> Checkout {
    let folder = complete_checkout(project, head);
    github_job(&folder, "pull_request", "refs/pull/7/merge", "x", payload)
}

#[test]
fn pull_request_is_its_head_not_trial_merge() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/7/merge");
    let folder = whole_pull(&project, &merge);
    for event in ["pull_request", "pull_request_review"] {
        let payload = github_payload(&project.feature, &project.main);
        github_job(&folder, event, "refs/pull/7/merge", &merge, &payload)
            .says()
            .event("github", event)
            .head("feature", &project.feature)
            .base(
                &project.fork,
                "the merge-base with the target branch `origin/main`",
            )
            .has("pullRequest", 7)
            .has("fork", false)
            .changes(&FEATURE)
            .quietly();
    }
}

#[test]
fn pull_request_target_has_base_branch_checked_out() {
    let project = Project::new();
    let folder = complete_checkout(&project, "refs/remotes/origin/main");
    let payload = github_payload(&project.feature, &project.main);
    github_job(
        &folder,
        "pull_request_target",
        "refs/heads/main",
        &project.main,
        &payload,
    )
    .says()
    .head("feature", &project.feature)
    .base(&project.fork, "`origin/main`")
    .changes(&FEATURE);
}

/// A complete clone of the target's branches lacks a commit that is only in the reference of the pull request.
#[test]
fn commit_outside_of_the_branches_names_the_reference_to_fetch() {
    let project = Project::new();
    project
        .world
        .git("push -q origin feature:refs/pull/7/head :feature");
    let target = "refs/remotes/origin/main";
    for (repository, text) in [("other/p", " of a fork, which"), ("o/p", ", which")] {
        let folder = complete_checkout(&project, target);
        let mut payload = github_payload(&project.feature, &project.main);
        payload["pull_request"]["head"]["repo"]["full_name"] = json!(repository);
        let job = || {
            let event = "pull_request_target";
            github_job(&folder, event, "refs/heads/main", &project.main, &payload)
        };
        let fetch = "fetch -q origin refs/pull/7/head";
        let hint = "hint: fetch the commit: `git fetch origin refs/pull/7/head`";
        let commit = format!("commit {}{text}", project.feature);
        let output = job().expect_unsettled(&[&commit, hint, "--deepen"]);
        // The checkout action fetches no branch of a fork.
        let names_depth = output.err.contains("fetch-depth");
        assert_eq!(names_depth, repository == "o/p", "{}", output.all());
        crate::support::git(&folder, fetch);
        job()
            .says()
            .has("fork", repository != "o/p")
            .head("feature", &project.feature)
            .changes(&FEATURE);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

#[test]
fn pull_request_in_default_checkout_ends_with_line_that_mends_it() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/7/merge");
    let pull = format!("+{merge}:refs/remotes/pull/7/merge");
    let folder = checkout(&project.world, &["--depth=1", &pull], &merge);
    let payload = github_payload(&project.feature, &project.main);
    let job = github_job(&folder, "pull_request", "refs/pull/7/merge", &merge, &payload);
    let output = job.expect_unsettled(&[
        &project.feature,
        "`fetch-depth: 0` in the `with:` of actions/checkout",
        "--deepen",
    ]);
    assert!(!output.err.contains("GIT_DEPTH"), "{}", output.all());
}

#[test]
fn pull_request_that_took_in_its_target_has_stale_base_in_payload() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q feature");
    world.git("merge -q -m 'take in' main");
    world.push();
    let head = world.git("rev-parse HEAD");
    let payload = github_payload(&head, &project.fork);
    job_of_pull(&project, &head, &payload)
        .says()
        .head("feature", &head)
        .base(&project.main, "`origin/main`")
        .changes(&FEATURE);
}

#[test]
fn pull_request_that_was_rebased_is_its_new_head() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q feature");
    world.git("rebase -q main");
    world.git("push -q --force origin feature");
    let head = world.git("rev-parse HEAD");
    let payload = github_payload(&head, &project.main);
    job_of_pull(&project, &head, &payload)
        .says()
        .head("feature", &head)
        .base(&project.main, "`origin/main`")
        .changes(&FEATURE);
}

#[test]
fn pull_request_into_branch_that_is_not_default_one() {
    let project = Project::new();
    let world = &project.world;
    world.git(&[
        "push",
        "-q",
        "origin",
        &format!("{}:refs/heads/release/1", project.before),
    ]);
    let mut payload = github_payload(&project.feature, &project.before);
    payload["pull_request"]["base"]["ref"] = json!("release/1");
    job_of_pull(&project, &project.feature, &payload)
        .says()
        .base(&project.before, "the target branch `origin/release/1`")
        .changes(&["A second.tran.yaml"]);
}

#[test]
fn pull_request_that_was_merged_meanwhile_is_still_its_change() {
    let project = Project::new();
    let world = &project.world;
    world.git("merge -q --no-ff -m merged feature");
    world.push();
    let payload = github_payload(&project.feature, &project.main);
    job_of_pull(&project, &project.feature, &payload)
        .says()
        .base(&project.fork, "as the host saw it")
        .changes(&FEATURE);
}

#[test]
fn pull_request_of_fork_is_explained_and_not_sent() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/7/merge");
    let folder = whole_pull(&project, &merge);
    for repo in [json!({ "full_name": "somebody/p" }), Value::Null] {
        let mut payload = github_payload(&project.feature, &project.main);
        payload["pull_request"]["head"]["repo"] = repo;
        let job = github_job(&folder, "pull_request", "refs/pull/7/merge", &merge, &payload);
        job.says()
            .has("fork", true)
            .head("feature", &project.feature)
            .changes(&FEATURE);
        job.leaves_the_fork();
    }
}

#[test]
fn merge_group_is_commit_of_queue() {
    let project = Project::new();
    let queue = "refs/heads/gh-readonly-queue/main/pr-7-abc";
    let group = project.trial_merge(queue);
    let payload = json!({
        "action": "checks_requested",
        "merge_group": {
            "head_ref": queue, "head_sha": group, "base_ref": "refs/heads/main", "base_sha": project.main
        },
        "repository": repository()
    });
    github_job(
        &complete_checkout(&project, &group),
        "merge_group",
        queue,
        &group,
        &payload,
    )
    .says()
    .event("github", "merge_group")
    .head("gh-readonly-queue/main/pr-7-abc", &group)
    .base(&project.main, "merge_group.base_sha")
    .changes(&FEATURE)
    .quietly();
}

#[test]
fn merge_group_behind_another_is_compared_with_that_one_and_its_target() {
    let project = Project::new();
    let first = project.trial_merge("refs/heads/gh-readonly-queue/main/pr-7-abc");
    project.world.write("third.orch.yaml", "3");
    let second = project.world.commit("the next in the queue");
    let queue = "refs/heads/gh-readonly-queue/main/pr-8-def";
    project
        .world
        .git(&["push", "-q", "origin", &format!("HEAD:{queue}")]);
    let payload = json!({ "merge_group": {
        "head_ref": queue, "head_sha": second, "base_ref": "refs/heads/main", "base_sha": first
    } });
    github_job(
        &complete_checkout(&project, &second),
        "merge_group",
        queue,
        &second,
        &payload,
    )
    .says()
    .head("gh-readonly-queue/main/pr-8-def", &second)
    .base(
        &first,
        "merge_group.base_sha, and the other merge-bases with the target branch `origin/main`",
    )
    .changes(&[FEATURE[0], FEATURE[1], "A third.orch.yaml"]);
}

#[test]
fn push_of_branch_is_judged_with_all_that_branch_brings() {
    let project = Project::new();
    github_push(&project, "feature", &project.before, &project.feature)
        .says()
        .event("github", "push")
        .head("feature", &project.feature)
        .base(
            &project.fork,
            "the merge-base with the default branch `origin/main`",
        )
        .changes(&FEATURE);
    // One more commit does not hide earlier failures.
    project.world.git("checkout -q feature");
    let empty = project.world.commit("nothing");
    project.world.push();
    github_push(&project, "feature", &project.feature, &empty)
        .says()
        .base(&project.fork, "`origin/main`")
        .changes(&FEATURE);
}

#[test]
fn push_of_new_branch_is_compared_with_default_branch() {
    let project = Project::new();
    github_push(&project, "feature", ZEROS, &project.feature)
        .says()
        .head("feature", &project.feature)
        .base(
            &project.fork,
            "the merge-base with the default branch `origin/main`",
        )
        .changes(&FEATURE);
}

#[test]
fn forced_push_is_compared_with_default_branch_also_without_old_commit() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q feature");
    world.git(&["reset", "-q", "--hard", &project.before]);
    world.write("rewritten.orch.yaml", "3");
    let head = world.commit("rewritten");
    world.git("push -q --force origin feature");
    let expected = ["A first.orch.yaml", "A rewritten.orch.yaml"];
    let job = github_push(&project, "feature", &project.feature, &head);
    job.says()
        .base(&project.fork, "the default branch `origin/main`")
        .changes(&expected)
        .quietly();
    crate::support::git(&job.folder, &["fetch", "-q", "origin", &project.feature]);
    job.says()
        .base(&project.fork, "the default branch `origin/main`")
        .changes(&expected)
        .quietly();
}

#[test]
fn push_to_default_branch_is_what_was_pushed() {
    let project = Project::new();
    github_push(&project, "main", &project.fork, &project.main)
        .says()
        .head("main", &project.main)
        .base(&project.fork, "`before`")
        .changes(&["A other.orch.yaml"]);
}

#[test]
fn merge_of_pull_request_into_default_branch_is_pull_requests_change() {
    let project = Project::new();
    let merge = project.trial_merge("refs/heads/main");
    github_push(&project, "main", &project.main, &merge)
        .says()
        .head("main", &merge)
        .base(&project.main, "`before`")
        .changes(&FEATURE);
}

#[test]
fn push_to_default_branch_without_usable_before_is_everything() {
    let project = Project::new();
    for (before, reason) in [
        (ZEROS, "the run is on the default branch `main`"),
        (project.feature.as_str(), "is not an ancestor of head"),
        (project.main.as_str(), "is head itself"),
        (ABSENT, "is not in this clone"),
    ] {
        github_push(&project, "main", before, &project.main)
            .says()
            .head("main", &project.main)
            .selects_everything(reason)
            .changes(&ALL_OF_MAIN)
            .quietly();
    }
}

#[test]
fn first_push_of_repository_is_everything() {
    let world = crate::support::World::new();
    world.write("a.orch.yaml", "1");
    let first = world.commit("first");
    world.push();
    let folder = checkout(&world, &[EVERYTHING_FETCHED], &first);
    let payload = json!({ "ref": "refs/heads/main", "before": ZEROS, "after": first, "created": true, "repository": repository() });
    github_job(&folder, "push", "refs/heads/main", &first, &payload)
        .says()
        .head("main", &first)
        .selects_everything("the run is on the default branch `main`")
        .changes(&["A a.orch.yaml"]);
}

#[test]
fn push_of_branch_without_common_history_is_everything_of_it() {
    let project = Project::new();
    let world = &project.world;
    world.git("checkout -q --orphan alone");
    world.git("rm -q -r -f .");
    world.write("alone.orch.yaml", "1");
    let head = world.commit("alone");
    world.push();
    github_push(&project, "alone", ZEROS, &head)
        .says()
        .head("alone", &head)
        .selects_everything("no commit in common with the default branch")
        .changes(&["A alone.orch.yaml"]);
}

#[test]
fn context_distinguishes_renamed_deleted_and_changed_pipelines() {
    let project = Project::new();
    let world = &project.world;
    world.write("kept.orch.yaml", "a line that stays\nanother line that stays\n");
    let before = world.commit("more");
    world.git("mv kept.orch.yaml 'moved name.orch.yaml'");
    world.git("rm -q old.orch.yaml");
    world.write("other.orch.yaml", "changed");
    world.write("notes.yaml", "no pipeline");
    let head = world.commit("all kinds");
    world.push();
    github_push(&project, "main", &before, &head)
        .says()
        .base(&before, "`before`")
        .changes(&[
            "R kept.orch.yaml -> moved name.orch.yaml",
            "D old.orch.yaml",
            "M other.orch.yaml",
        ]);
}

#[test]
fn deleted_branch_or_tag_leaves_nothing_to_do() {
    let project = Project::new();
    let folder = complete_checkout(&project, &project.main);
    let push = |reference: &str| json!({ "ref": reference, "before": project.feature, "after": ZEROS, "deleted": true });
    let delete =
        |kind: &str, name: &str| json!({ "ref": name, "ref_type": kind, "repository": repository() });
    for (event, payload, reason) in [
        (
            "push",
            push("refs/heads/feature"),
            "the branch `feature` was deleted",
        ),
        ("push", push("refs/tags/v1"), "the tag `v1` was deleted"),
        (
            "delete",
            delete("branch", "feature"),
            "the branch `feature` was deleted",
        ),
        ("delete", delete("tag", "v1"), "the tag `v1` was deleted"),
    ] {
        let job = github_job(&folder, event, "refs/heads/main", &project.main, &payload);
        job.says().selects_everything(reason).changes(&[]);
        let output = job.review_call().run("review").expect(0);
        assert!(output.out.contains(reason), "{}", output.all());
        let output = job.review_call().run("check --report json=-").expect(0);
        let notes = output.json()["notes"].to_string();
        assert!(notes.contains(reason), "{notes}");
        assert!(!notes.contains("comes from this clone"), "{notes}");
        // A job may select all pipelines in every run.
        let output = job.review_call().run("review --all").expect(0);
        assert!(output.out.contains(reason), "{}", output.all());
        let call = job.call().variable("SLUICEGATE_ALL", "true");
        call.run("check").expect(0).logging(&[reason]);
        // The user may still request what to review.
        let head = format!("--head {}", project.main);
        for revision in ["--base origin/main~1", &head] {
            let output = job.call().run(format!("context {revision}")).expect(0);
            assert!(!output.all().contains(reason), "{}", output.all());
        }
    }
}

#[test]
fn tag_is_everything_of_its_commit_on_branch_that_holds_it() {
    let project = Project::new();
    let world = &project.world;
    world.git(&[
        "push",
        "-q",
        "origin",
        &format!("{}:refs/heads/aaa", project.fork),
    ]);
    world.git(&["tag", "v1", &project.fork]);
    world.git(&["tag", "-a", "-m", "one", "v2", &project.fork]);
    world.git("push -q origin v1 v2");
    for tag in ["v1", "v2"] {
        let (reference, object) = (format!("refs/tags/{tag}"), world.git(format!("rev-parse {tag}")));
        let payload =
            json!({ "ref": reference, "before": ZEROS, "after": object, "repository": repository() });
        for named in [&project.fork, &object] {
            github_job(
                &complete_checkout(&project, tag),
                "push",
                &reference,
                named,
                &payload,
            )
            .says()
            .has("tag", tag)
            .head("main", &project.fork)
            .selects_everything("a tag has no previous state")
            .changes(&["A old.orch.yaml"]);
        }
    }
}

#[test]
fn tag_beside_default_branch_is_on_its_own_branch() {
    let project = Project::new();
    project.world.git(&["tag", "v1", &project.feature]);
    project.world.git("push -q origin v1");
    let payload = json!({ "ref": "refs/tags/v1", "before": ZEROS, "after": project.feature, "repository": repository() });
    github_job(
        &complete_checkout(&project, "v1"),
        "push",
        "refs/tags/v1",
        &project.feature,
        &payload,
    )
    .says()
    .head("feature", &project.feature)
    .changes(&ALL_OF_FEATURE);
}

#[test]
fn tag_in_default_checkout_has_no_branch_to_name() {
    let project = Project::new();
    project.world.git(&["tag", "v1", &project.main]);
    project.world.git("push -q origin v1");
    let folder = checkout(&project.world, &["--depth=1", "+refs/tags/v1:refs/tags/v1"], "v1");
    let payload =
        json!({ "ref": "refs/tags/v1", "before": ZEROS, "after": project.main, "repository": repository() });
    let job = github_job(&folder, "push", "refs/tags/v1", &project.main, &payload);
    job.says().has("branch", Value::Null).changes(&ALL_OF_MAIN);
    job.review_call().run("review").expect(7).saying(&[
        "no known remote branch",
        "--branch",
        "`fetch-depth: 0`",
    ]);
}

#[test]
fn run_by_hand_is_compared_with_default_branch() {
    let project = Project::new();
    let payload = json!({ "inputs": {}, "ref": "refs/heads/feature", "repository": repository() });
    let folder = complete_checkout(&project, &project.feature);
    github_job(
        &folder,
        "workflow_dispatch",
        "refs/heads/feature",
        &project.feature,
        &payload,
    )
    .says()
    .event("github", "workflow_dispatch")
    .head("feature", &project.feature)
    .base(&project.fork, "the default branch `origin/main`")
    .changes(&FEATURE);
}

#[test]
fn run_by_hand_or_by_clock_on_default_branch_is_everything() {
    let project = Project::new();
    let folder = complete_checkout(&project, &project.main);
    for (event, payload) in [
        ("workflow_dispatch", json!({ "repository": repository() })),
        ("schedule", json!({ "schedule": "0 4 * * *" })),
    ] {
        github_job(&folder, event, "refs/heads/main", &project.main, &payload)
            .says()
            .head("main", &project.main)
            .selects_everything("the run is on the default branch `main`")
            .changes(&ALL_OF_MAIN);
    }
}

#[test]
fn shallow_push_to_default_branch_is_everything_and_warns() {
    let project = Project::new();
    let fetch = format!("+{}:refs/remotes/origin/main", project.main);
    let folder = checkout(&project.world, &["--depth=1", &fetch], &project.main);
    let payload = json!({ "before": project.fork, "after": project.main, "repository": repository() });
    github_job(&folder, "push", "refs/heads/main", &project.main, &payload)
        .says()
        .selects_everything("is not in this clone")
        .changes(&ALL_OF_MAIN)
        .warns("`fetch-depth: 0`");
}

#[test]
fn shallow_push_of_branch_ends_with_branch_to_fetch() {
    let project = Project::new();
    let fetch = format!("+{}:refs/remotes/origin/feature", project.feature);
    let folder = checkout(&project.world, &["--depth=1", &fetch], &project.feature);
    let payload = json!({ "before": project.before, "after": project.feature, "repository": repository() });
    github_job(&folder, "push", "refs/heads/feature", &project.feature, &payload).expect_unsettled(&[
        "the default branch `main` is not among the remote branches",
        "git fetch origin +refs/heads/main:refs/remotes/origin/main",
        "`fetch-depth: 0`",
    ]);
}

/// The older commit is reachable on another way, and the way to it from head is cut.
#[test]
fn push_whose_way_to_before_is_cut_is_never_two_dot_difference() {
    let project = Project::new();
    let feature = format!("+{}:refs/remotes/origin/feature", project.feature);
    let folder = checkout(&project.world, &["--depth=1", &feature], &project.feature);
    crate::support::git(&folder, &["fetch", "-q", "--depth=1", "origin", &project.before]);
    crate::support::git(
        &folder,
        "fetch -q --depth=1 origin +refs/heads/main:refs/remotes/origin/main",
    );
    let payload = json!({ "before": project.before, "after": project.feature, "repository": repository() });
    github_job(&folder, "push", "refs/heads/feature", &project.feature, &payload)
        .expect_unsettled(&["the clone is shallow", "fetch-depth: 0"]);
    let main = format!("+{}:refs/remotes/origin/main", project.main);
    let folder = checkout(&project.world, &["--depth=1", &main], &project.main);
    crate::support::git(&folder, &["fetch", "-q", "--depth=1", "origin", &project.fork]);
    let payload = json!({ "before": project.fork, "after": project.main, "repository": repository() });
    github_job(&folder, "push", "refs/heads/main", &project.main, &payload)
        .says()
        .selects_everything("does not show how head descends from")
        .changes(&ALL_OF_MAIN)
        .warns("all pipelines are selected");
    let output = github_job(&folder, "push", "refs/heads/main", &project.main, &payload)
        .call()
        .run("context --deepen")
        .expect(0);
    assert!(
        !output.all().contains("all pipelines are selected"),
        "{}",
        output.all()
    );
}

#[test]
fn pull_request_without_fetched_target_uses_commit_of_host_with_note() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/7/merge");
    let pull = format!("+{merge}:refs/remotes/pull/7/merge");
    let folder = checkout(&project.world, &[&pull], &merge);
    let on = |base: &str| {
        let payload = github_payload(&project.feature, base);
        github_job(&folder, "pull_request", "refs/pull/7/merge", &merge, &payload)
    };
    on(&project.main)
        .says()
        .base(&project.fork, "`main` as the host saw it")
        .changes(&FEATURE)
        .warns("`main` is not in this clone");
    // The trial merge names the target, too.
    on(ABSENT).says().base(&project.fork, "`main` as the host saw it");
}

#[test]
fn commit_that_is_no_full_id_is_not_looked_up() {
    let project = Project::new();
    let folder = complete_checkout(&project, &project.main);
    for commit in ["main", "HEAD", "-x", "4444"] {
        github_job(&folder, "schedule", "refs/heads/main", commit, &json!({}))
            .with_remote_as_target()
            .expect_unsettled(&["which github set for this run, is not in this clone"]);
    }
}
