//! Changes to the gate configuration in pushes to the default branch. Such a run may have no base in its clone.

use crate::support::{
    Call, Job, World, ZEROS, checkout, good_pipeline, head, project, push_of_branch, repository,
};
use serde_json::json;
use std::path::Path;

const RELAXED: &str = "retries: 1\n";

/// Creates a `main` whose last commit edits the gate configuration and adds a pipeline.
fn push_that_relaxes_the_gate() -> World {
    let world = project();
    world.write("sluicegate.yaml", RELAXED);
    world.write("b.orch.yaml", good_pipeline());
    world.commit("relax");
    world.push();
    world
}

/// Returns a call in the job of GitHub for a push to `main` that replaced the commit `before`.
fn github_push(world: &World, folder: &Path, before: &str) -> Call {
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "before": before,
        "after": head(world) });
    Job::github()
        .event("push", "refs/heads/main", &payload)
        .extend(world, Call::new(folder))
}

/// Returns a call in the job of GitLab for a push to `main` that replaced the commit `before`.
fn gitlab_push(world: &World, folder: &Path, before: &str) -> Call {
    Call::new(folder)
        .variable("CI", "true")
        .variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "push")
        .variable("CI_DEFAULT_BRANCH", "main")
        .variable("CI_COMMIT_BRANCH", "main")
        .variable("CI_COMMIT_SHA", head(world))
        .variable("CI_COMMIT_BEFORE_SHA", before)
}

/// Returns a call in the job of Azure Pipelines for a push to `main`. Azure does not name the commit before the push.
fn azure_push(world: &World, folder: &Path) -> Call {
    Call::new(folder)
        .variable("TF_BUILD", "True")
        .variable("BUILD_REASON", "IndividualCI")
        .variable("BUILD_SOURCEBRANCH", "refs/heads/main")
        .variable("BUILD_SOURCEVERSION", head(world))
}

/// Expects that the run is undecided with `--gate-changes fail`, and otherwise prints a warning with these texts.
#[track_caller]
fn expect_unknown_gate_changes(call: &Call, texts: &[&str]) {
    call.run("check --gate-changes fail").expect(7).saying(texts);
    call.run("check --all --gate-changes fail")
        .expect(7)
        .saying(texts);
    call.run("check")
        .expect(0)
        .saying(&["changes to the gate configuration are not reported"])
        .saying(texts);
}

#[test]
fn gate_changes_of_push_are_undecided_in_clone_without_its_history() {
    let world = push_that_relaxes_the_gate();
    let before = world.git("rev-parse HEAD~1");
    let fetch = ["--depth=1", "+refs/heads/main:refs/remotes/origin/main"];
    let shallow = checkout(&world, &fetch, &head(&world));
    crate::support::git(&shallow, "remote set-head origin main");
    for (call, text) in [
        (github_push(&world, &shallow, &before), "`fetch-depth: 0`"),
        (gitlab_push(&world, &shallow, &before), "`GIT_DEPTH: 0`"),
        (azure_push(&world, &shallow), "(the first parent of head)"),
    ] {
        expect_unknown_gate_changes(&call, &["is not in this clone", text]);
    }
    let work = world.work();
    for call in [
        github_push(&world, &work, &before),
        gitlab_push(&world, &work, &before),
        azure_push(&world, &work),
    ] {
        call.run("check --gate-changes fail").expect(1);
    }
    let call = github_push(&world, &shallow, &before);
    call.run("check --all --gate-changes fail --deepen").expect(1);
}

#[test]
fn gate_changes_of_forced_push_are_compared_with_the_merge_base() {
    let world = push_that_relaxes_the_gate();
    let dropped = head(&world);
    world.git("branch kept");
    world.git("reset -q --hard HEAD~1");
    world.write("c.orch.yaml", good_pipeline());
    world.commit("the gate stays");
    world.git("push -q --force origin main");
    let call = github_push(&world, &world.work(), &dropped);
    call.run("check --gate-changes fail").expect(0);
    world.write("sluicegate.yaml", RELAXED);
    world.commit("relax again");
    world.git("push -q origin main");
    for call in [
        github_push(&world, &world.work(), &dropped),
        gitlab_push(&world, &world.work(), &dropped),
    ] {
        let output = call.run("check --gate-changes fail --report json=-").expect(1);
        assert_eq!(output.json()["gateRefused"], true, "{}", output.out);
    }
}

#[test]
fn gate_changes_of_forced_push_are_undecided_without_common_history() {
    let world = push_that_relaxes_the_gate();
    let dropped = head(&world);
    let work = world.work();
    let missing = "1".repeat(40);
    expect_unknown_gate_changes(&github_push(&world, &work, &missing), &["is not in this clone"]);
    world.git("branch kept");
    world.git("checkout -q --orphan beginning");
    world.commit("another beginning");
    world.write("d.orch.yaml", good_pipeline());
    world.commit("more");
    world.git("push -q --force origin HEAD:main");
    expect_unknown_gate_changes(
        &github_push(&world, &work, &dropped),
        &["is not an ancestor of head"],
    );
    // The same commit on another branch, which is new.
    world.git("push -q --force origin kept:main");
    expect_unknown_gate_changes(
        &push_of_branch(&world, Call::new(&work)),
        &["head has no commit in common with the default branch `origin/main`"],
    );
}

#[test]
fn push_without_an_earlier_commit_has_no_gate_changes() {
    let world = push_that_relaxes_the_gate();
    let fetch = ["--depth=1", "+refs/heads/main:refs/remotes/origin/main"];
    let shallow = checkout(&world, &fetch, &head(&world));
    for call in [
        // The push created `main`.
        github_push(&world, &world.work(), ZEROS),
        github_push(&world, &shallow, ZEROS),
        gitlab_push(&world, &world.work(), ZEROS),
        // A scheduled run has no change.
        Job::github()
            .event(
                "schedule",
                "refs/heads/main",
                &json!({ "repository": repository() }),
            )
            .extend(&world, Call::new(&shallow)),
    ] {
        let output = call.run("check --gate-changes fail").expect(0);
        assert!(!output.err.contains("gate configuration"), "{}", output.all());
    }
    // A new branch without commits of its own.
    world.git("checkout -q -b same");
    world.push();
    push_of_branch(&world, Call::new(&world.work()))
        .run("check --gate-changes fail")
        .expect(0);
    // A first commit has no parent.
    world.git("checkout -q --orphan beginning");
    world.commit("beginning");
    world.git("push -q --force origin HEAD:main");
    world.git("remote set-head origin main");
    azure_push(&world, &world.work())
        .run("check --gate-changes fail")
        .expect(0);
}
