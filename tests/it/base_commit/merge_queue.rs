//! A queued change is compared with its target, too: the host's base is the change before it in the queue, which is not
//! merged yet.

use crate::support::{
    Call, Job, RULES, RULES_FILE, World, checkout, head, orchestration_text, project, repository,
    strict_platform,
};
use serde_json::json;
use std::path::PathBuf;

const GOOD: [&str; 3] = ["Start", "Load", "Done"];
const BAD: [&str; 3] = ["Start", "bad name", "Done"];
const QUEUE: &str = "refs/heads/gh-readonly-queue/main/pr-8";

/// Pushes the entries to the queue. Each is the path and the content of its only file.
fn queue(entries: &[(&str, &str)]) -> (World, Vec<String>) {
    let world = project();
    world.write("old.orch.yaml", orchestration_text(&BAD));
    let mut commits = vec![world.commit("known")];
    world.push();
    world.git("checkout -q -b queue");
    for (path, content) in entries {
        world.write(path, content);
        commits.push(world.commit(path));
    }
    world.git(&["push", "-q", "origin", &format!("HEAD:{QUEUE}")]);
    world.git("fetch -q origin");
    (world, commits)
}

fn group(world: &World, call: Call, base: &str) -> Call {
    let payload = json!({ "repository": repository(), "merge_group": {
        "head_ref": QUEUE, "head_sha": head(world), "base_sha": base, "base_ref": "refs/heads/main" } });
    Job::github()
        .event("merge_group", QUEUE, &payload)
        .extend(world, call)
}

#[test]
fn bad_change_before_queued_change_fails_its_run() {
    let (good, bad) = (orchestration_text(&GOOD), orchestration_text(&BAD));
    let (world, commits) = queue(&[
        ("bad.orch.yaml", &bad),
        ("b.orch.yaml", &good),
        ("c.orch.yaml", &good),
    ]);
    let platform = strict_platform();
    let base = &commits[2];
    for flags in [&["check"][..], &["check", "--new-only"]] {
        let output = group(&world, Call::new(&world.work()), base).run(flags);
        assert_eq!(output.code, 1, "{flags:?}: {}", output.all());
    }
    for command in ["review", "ci"] {
        let output = group(&world, platform.call(&world), base).run(&[command]);
        assert_eq!(output.code, 1, "{command}: {}", output.all());
    }
}

#[test]
fn single_queued_change_is_compared_with_its_target_only() {
    let good = orchestration_text(&GOOD);
    let (world, commits) = queue(&[("b.orch.yaml", &good)]);
    let call = group(&world, Call::new(&world.work()), &commits[0]);
    for flags in ["check", "check --new-only"] {
        let output = call.run((flags, "--report json=-")).expect(0);
        assert_eq!(output.json()["counts"]["files"], 1, "{}", output.out);
    }
    // A queue of good changes passes.
    let (world, commits) = queue(&[("b.orch.yaml", &good), ("c.orch.yaml", &good)]);
    let call = group(&world, Call::new(&world.work()), &commits[1]);
    let output = call.run("check --gate-changes fail --report json=-").expect(0);
    assert_eq!(output.json()["counts"]["files"], 2, "{}", output.out);
    // A finding that the target has is known.
    let (world, commits) = queue(&[
        ("b.orch.yaml", &good),
        (
            "old.orch.yaml",
            &format!("{}\n# touched\n", orchestration_text(&BAD)),
        ),
    ]);
    let call = group(&world, Call::new(&world.work()), &commits[1]);
    call.run("check").expect(1);
    call.run("check --new-only").expect(0);
}

#[test]
fn rules_relaxed_earlier_in_queue_are_a_gate_change() {
    let relaxed = RULES.replace("enforcementLevel: error", "enforcementLevel: warn");
    let (world, commits) = queue(&[
        (RULES_FILE, &relaxed),
        ("bad.orch.yaml", &orchestration_text(&BAD)),
    ]);
    let call = group(&world, Call::new(&world.work()), &commits[1]);
    let output = call.run("check --gate-changes fail").expect(1);
    assert!(output.all().contains("relaxed"), "{}", output.all());
}

/// Returns a clone with two commits of the queue, without its target branch.
fn shallow_clone(world: &World) -> PathBuf {
    let queued_commit = format!("+{}:refs/remotes/queue", head(world));
    checkout(world, &["--depth=2", &queued_commit], &head(world))
}

#[test]
fn bad_change_before_queued_change_fails_its_run_in_shallow_clone() {
    let (good, bad) = (orchestration_text(&GOOD), orchestration_text(&BAD));
    let (world, commits) = queue(&[("bad.orch.yaml", &bad), ("b.orch.yaml", &good)]);
    let call = group(&world, Call::new(&shallow_clone(&world)), &commits[1]);
    // The target branch alone is not enough.
    let output = call.run("check").expect(7).saying(&["fetch-depth: 0"]);
    assert!(!output.all().contains("git fetch origin"), "{}", output.all());
    call.run("check --deepen").expect(1).logging(&["bad.orch.yaml"]);
    // With the newest commit of the target, the clone does not show the history between the target and the queue.
    let clone = shallow_clone(&world);
    let fetch = "fetch -q --depth=1 origin main:refs/remotes/origin/main";
    crate::support::git(&clone, fetch);
    let call = group(&world, Call::new(&clone), &commits[1]);
    call.run("check").expect(7).saying(&["fetch-depth: 0"]);
    // A queue of good changes passes.
    let (world, commits) = queue(&[("a.orch.yaml", &good), ("b.orch.yaml", &good)]);
    let call = group(&world, Call::new(&shallow_clone(&world)), &commits[1]);
    let output = call.run("check --deepen --report json=-").expect(0);
    assert_eq!(output.json()["counts"]["files"], 2, "{}", output.out);
}

#[test]
fn policy_of_queued_change_does_not_apply_to_next_one() {
    let bad = orchestration_text(&BAD);
    let policy = ("sluicegate.yaml", "review: { fail-on: never }\n");
    let (world, commits) = queue(&[policy, ("bad.orch.yaml", &bad)]);
    let call = group(&world, Call::new(&shallow_clone(&world)), &commits[1]);
    call.run("check").expect(7);
    let output = call.run("check --deepen").expect(1);
    output.logging(&["fail-on: error → never (relaxed)"]);
}

/// The train's first merge request relaxes the policy and adds a bad file. GitLab clones without the target branch, so
/// only the change's own file fails the run; the first merge request has a run of its own.
#[test]
fn policy_of_merge_request_before_this_one_in_train_does_not_apply() {
    let world = project();
    let base = head(&world);
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", orchestration_text(&BAD));
    let source = world.commit("change");
    world.push();
    world.git("checkout -q -b first main");
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    world.write("bad.orch.yaml", orchestration_text(&BAD));
    let first = world.commit("first of the train");
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m 'first of the train' first");
    world.git("merge -q --no-ff -m 'second of the train' change");
    let train = head(&world);
    world.git("push -q origin HEAD:refs/merge-requests/9/train");
    let fetch = format!("+{train}:refs/pipelines/1");
    let call = Call::new(&checkout(&world, &["--depth=20", &fetch], &train))
        .variable("CI_COMMIT_SHA", &train)
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &source)
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", &first)
        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base);
    let output = in_train(call.clone()).run("check").expect(1);
    let text = output.logging(&["b.orch.yaml"]).all();
    assert!(!text.contains("bad.orch.yaml"), "{text}");
    let output = in_train(call).run("check --deepen").expect(1);
    output.logging(&["b.orch.yaml", "bad.orch.yaml"]);
}

/// GitLab rebases the change if the project allows only fast-forward merges.
#[test]
fn rebased_change_in_train_is_compared_with_named_base_without_target_branch() {
    for (names, code) in [(GOOD, 0), (BAD, 1)] {
        let world = project();
        world.write("old.orch.yaml", orchestration_text(&BAD));
        let base = world.commit("known");
        world.push();
        world.git("checkout -q -b change");
        world.write("b.orch.yaml", orchestration_text(&names));
        let source = world.commit("change");
        world.push();
        world.git("checkout -q --detach main");
        world.write("b.orch.yaml", orchestration_text(&names));
        let train = world.commit("rebased");
        world.git("push -q origin HEAD:refs/merge-requests/9/train");
        let fetch = format!("+{train}:refs/pipelines/1");
        let call = Call::new(&checkout(&world, &["--depth=20", &fetch], &train))
            .variable("CI_COMMIT_SHA", &train)
            .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &source)
            .variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", &base)
            .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base);
        for flags in ["", "--deepen"] {
            in_train(call.clone()).run(("check", flags)).expect(code);
        }
    }
}

/// `main` got a bad file and stricter rules after the change started.
#[test]
fn files_that_only_target_changed_do_not_fail_merge_train() {
    for (names, code) in [(GOOD, 0), (BAD, 1)] {
        let world = project();
        let base = head(&world);
        world.git("checkout -q -b change");
        world.write("b.orch.yaml", orchestration_text(&names));
        let source = world.commit("change");
        world.git("checkout -q main");
        world.write("other.orch.yaml", orchestration_text(&BAD));
        world.write("sluicegate.yaml", "review: { fail-on: warn }\n");
        let tip = world.commit("already merged");
        world.push();
        world.git("checkout -q --detach main");
        world.git("merge -q --no-ff -m train change");
        let train = head(&world);
        world.git("push -q origin HEAD:refs/merge-requests/9/train");
        let fetch = format!("+{train}:refs/pipelines/1");
        // GitLab clones without the target branch.
        let clone = checkout(&world, &["--depth=20", &fetch], &train);
        world.git("fetch -q origin");
        for folder in [clone, world.work()] {
            let call = Call::new(&folder)
                .variable("CI_COMMIT_SHA", &train)
                .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &source)
                .variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", &tip)
                .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base);
            for flags in ["", "--new-only", "--gate-changes fail"] {
                let output = in_train(call.clone())
                    .run(("check --report json=-", flags))
                    .expect(code);
                assert_eq!(output.json()["counts"]["files"], 1, "{}", output.all());
            }
        }
    }
}

/// Adds the variables of GitLab's merge train with the branch `change`, except those with commits.
fn in_train(call: Call) -> Call {
    call.variable("GITLAB_CI", "true")
        .variable("CI_PIPELINE_SOURCE", "merge_request_event")
        .variable("CI_MERGE_REQUEST_EVENT_TYPE", "merge_train")
        .variable("CI_MERGE_REQUEST_IID", "9")
        .variable("CI_MERGE_REQUEST_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_PROJECT_ID", "5")
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_NAME", "change")
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "main")
}

/// The author of a change chooses its merge-base, for example a commit before `main` became strict.
#[test]
fn policy_of_train_is_never_its_old_merge_base() {
    let world = project();
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    let base = world.commit("lax");
    world.git("checkout -q -b change");
    world.write("bad.orch.yaml", orchestration_text(&BAD));
    let source = world.commit("change");
    world.git("checkout -q main");
    world.write("sluicegate.yaml", "review: { fail-on: error }\n");
    let strict = world.commit("strict");
    world.push();
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m train change");
    let train = head(&world);
    world.git("push -q origin HEAD:refs/merge-requests/9/train");
    let clone = checkout(&world, &[&format!("+{train}:refs/pipelines/1")], &train);
    let call = Call::new(&clone)
        .variable("CI_COMMIT_SHA", &train)
        .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", &source)
        .variable("CI_MERGE_REQUEST_TARGET_BRANCH_SHA", &strict)
        .variable("CI_MERGE_REQUEST_DIFF_BASE_SHA", &base);
    let check = |flags: &str| in_train(call.clone()).run(("check --report json=-", flags));
    let notes = |code: i32| check("").expect(code).json()["notes"].to_string();
    let text = notes(1);
    let note = "the gate configuration of the target branch is not used, because the target branch `main` is not among";
    assert!(text.contains(note), "{text}");
    // A runner that keeps its workspace may have an old copy of the branch.
    crate::support::git(&clone, &["update-ref", "refs/remotes/origin/main", &base]);
    let text = notes(0);
    assert!(text.contains("which may be out of date"), "{text}");
    check("--deepen").expect(1);
    let text = notes(1);
    assert!(!text.contains(note), "{text}");
}
