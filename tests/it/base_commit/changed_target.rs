//! A pull request that gets another target branch. The host's merge and `base.sha` may still be those of the earlier
//! target, which the author of the change may have pushed: they prove nothing about the new target.

use crate::support::{Call, Job, World, bad_pipeline, git, orchestration_text, project, workspace};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

const STRICT: &str = "review: { fail-on: error }\n";
const LENIENT: &str = "review: { fail-on: never }\n";

/// A strict `main`, the branch `earlier`, which is lenient, and the branch `change` with a pipeline. The pull request
/// of `change` went to `earlier` and now goes to `main`.
struct RetargetedChange {
    world: World,
    main: String,
    earlier: String,
    change: String,
}

impl RetargetedChange {
    /// `is_diverged` states that `main` has a newer commit than `earlier` contains.
    fn new(pipeline: &str, is_diverged: bool) -> Self {
        let world = project();
        world.write("sluicegate.yaml", STRICT);
        world.commit("strict");
        world.push();
        world.git("checkout -q -b change");
        world.write("b.orch.yaml", pipeline);
        let change = world.commit("change");
        world.push();
        world.git("checkout -q -b earlier main");
        world.write("sluicegate.yaml", LENIENT);
        let earlier = world.commit("lenient");
        world.push();
        world.git("checkout -q main");
        if is_diverged {
            world.write("note.txt", "more");
            world.commit("more");
            world.push();
        }
        Self {
            main: world.git("rev-parse main"),
            world,
            earlier,
            change,
        }
    }

    /// Creates the host's merge of the change with this commit on the remote.
    fn merge(&self, target: &str) -> String {
        self.world.git(format!("checkout -q --detach {target}"));
        self.world
            .git(format!("merge -q --no-ff -m merge {}", self.change));
        self.world.git("push -q --force origin HEAD:refs/pull/7/merge");
        self.world.git("rev-parse HEAD")
    }

    /// Returns a clone with these branches in which `checked_out` is checked out.
    fn clone(&self, branches: &[&str], checked_out: &str) -> PathBuf {
        let folder = workspace(&self.world);
        for branch in branches {
            git(
                &folder,
                format!("fetch -q origin +refs/heads/{branch}:refs/remotes/origin/{branch}"),
            );
        }
        git(
            &folder,
            "fetch -q origin +refs/pull/7/merge:refs/remotes/pull/7/merge +refs/heads/change:refs/remotes/pull/7/head",
        );
        git(&folder, format!("checkout -q --detach {checked_out}"));
        folder
    }

    /// Returns the payload of the pull request. `changes` describes the change to another target, or is null.
    fn payload(&self, base: &str, changes: &Value) -> Value {
        let repo = json!({ "full_name": "o/p" });
        json!({
            "action": "edited",
            "changes": changes,
            "repository": { "default_branch": "main", "full_name": "o/p" },
            "pull_request": {
                "number": 7,
                "head": { "ref": "change", "sha": self.change, "repo": repo },
                "base": { "ref": "main", "sha": base, "repo": repo },
            },
        })
    }

    fn call(&self, folder: &Path, payload: &Value, merge: &str) -> Call {
        self.call_of("pull_request", folder, payload)
            .variable("GITHUB_SHA", merge)
    }

    fn call_of(&self, event: &str, folder: &Path, payload: &Value) -> Call {
        Job::github()
            .event(event, "refs/pull/7/merge", payload)
            .extend(&self.world, Call::new(folder))
    }
}

/// The field in which GitHub names the earlier target, and the one of Gitea and Forgejo.
fn changes_of_hosts() -> [(&'static str, Value); 2] {
    [
        (
            "GITHUB_ACTIONS",
            json!({ "base": { "ref": { "from": "earlier" } } }),
        ),
        ("GITEA_ACTIONS", json!({ "ref": { "from": "earlier" } })),
    ]
}

#[test]
fn merge_with_earlier_target_supplies_no_policy_and_is_refused() {
    for is_diverged in [false, true] {
        let request = RetargetedChange::new(&bad_pipeline(), is_diverged);
        let merge = request.merge(&request.earlier);
        let folder = request.clone(&["main", "earlier"], &merge);
        for (variable, changes) in changes_of_hosts() {
            // The host may name a commit of either target.
            for base in [&request.main, &request.earlier] {
                let payload = request.payload(base, &changes);
                let call = request.call(&folder, &payload, &merge).variable(variable, "true");
                for flags in [
                    "",
                    "--deepen",
                    "--gate-changes fail",
                    "--gate-changes fail --deepen",
                ] {
                    let output = call
                        .run(format!("check {flags}"))
                        .expect(7)
                        .saying(&["the checkout is at", "hint: add `ref:"]);
                    assert!(!output.all().contains("forced push"), "{}", output.all());
                    call.run(format!("check --head {} {flags}", request.change))
                        .expect(1);
                }
                call.run("context")
                    .expect(0)
                    .logging(&[&format!("at {} (refs/remotes/origin/main)", &request.main[..7])]);
            }
        }
    }
}

#[test]
fn merge_with_new_target_is_checked_after_change_of_target() {
    for (pipeline, code) in [
        (bad_pipeline(), 1),
        (orchestration_text(&["Start", "Load", "Done"]), 0),
    ] {
        for is_diverged in [false, true] {
            let request = RetargetedChange::new(&pipeline, is_diverged);
            let merge = request.merge(&request.main);
            let folder = request.clone(&["main", "earlier"], &merge);
            for (variable, changes) in changes_of_hosts() {
                for base in [&request.main, &request.earlier] {
                    let payload = request.payload(base, &changes);
                    let call = request.call(&folder, &payload, &merge).variable(variable, "true");
                    call.run("check").expect(code);
                    call.run("check --deepen").expect(code);
                }
            }
        }
    }
}

#[test]
fn pull_request_target_after_change_of_target_uses_the_new_target() {
    let request = RetargetedChange::new(&bad_pipeline(), false);
    request.merge(&request.main);
    let folder = request.clone(&["main", "earlier"], &request.change);
    let [(_, changes), _] = changes_of_hosts();
    let payload = request.payload(&request.earlier, &changes);
    let call = request
        .call_of("pull_request_target", &folder, &payload)
        .variable("GITHUB_SHA", &request.earlier);
    call.run("check").expect(1);
    call.run("check --gate-changes fail --deepen").expect(1);
}

#[test]
fn clone_without_new_target_is_refused_unless_it_may_fetch() {
    let request = RetargetedChange::new(&bad_pipeline(), false);
    let merge = request.merge(&request.main);
    for checked_out in [&merge, &request.change] {
        let folder = request.clone(&["earlier"], checked_out);
        let [(_, changes), _] = changes_of_hosts();
        let payload = request.payload(&request.earlier, &changes);
        let call = request.call(&folder, &payload, &merge);
        call.run("check").expect(7).saying(&[
            "the target branch `main` is not among the remote branches of this clone",
            "hint: fetch the branch: `git fetch origin +refs/heads/main:refs/remotes/origin/main`",
        ]);
        call.run("check --deepen").expect(1);
    }
}

/// An event after the change of the target does not name the earlier target, but its merge and `base.sha` may be the
/// same.
#[test]
fn later_event_with_earlier_target_is_recognized_by_fetch() {
    let request = RetargetedChange::new(&bad_pipeline(), false);
    let payload = request.payload(&request.earlier, &Value::Null);
    let stale_merge = request.merge(&request.earlier);
    let folder = request.clone(&["main", "earlier"], &request.change);
    let output = request
        .call(&folder, &payload, &stale_merge)
        .run("check --deepen")
        .expect(1);
    output.assert_logged(&[
        "the first parent of the host's merge",
        "is not used, because the newest commit of the target branch `main`",
        "does not contain it",
    ]);
    let folder = request.clone(&["main", "earlier"], &stale_merge);
    let call = request.call(&folder, &payload, &stale_merge);
    call.run("check --deepen --gate-changes fail")
        .expect(7)
        .saying(&["the checkout is at"]);
    // Only `base.sha` is outdated.
    let fresh_merge = request.merge(&request.main);
    let folder = request.clone(&["main", "earlier"], &fresh_merge);
    let call = request.call(&folder, &payload, &fresh_merge);
    call.run("check --deepen")
        .expect(1)
        .logging(&["pull_request.base.sha"]);
}

/// If the fetched target and the event's commit have diverged, a forced push may have replaced the target, too.
#[test]
fn later_event_with_diverged_earlier_target_is_refused() {
    let request = RetargetedChange::new(&bad_pipeline(), true);
    let payload = request.payload(&request.earlier, &Value::Null);
    let stale = request.merge(&request.earlier);
    let folder = request.clone(&["main", "earlier"], &request.change);
    for flags in ["", "--deepen"] {
        request
            .call(&folder, &payload, &stale)
            .run(format!("check {flags}"))
            .expect(7)
            .saying(&["have diverged", "the change had another target before"]);
    }
}

/// The clone's copy of the target is older than the event.
#[test]
fn outdated_copy_of_unchanged_target_is_fetched() {
    for (pipeline, code) in [
        (bad_pipeline(), 1),
        (orchestration_text(&["Start", "Load", "Done"]), 0),
    ] {
        let request = RetargetedChange::new(&pipeline, true);
        let merge = request.merge(&request.main);
        let folder = request.clone(&["main"], &merge);
        git(
            &folder,
            "update-ref refs/remotes/origin/main refs/remotes/origin/main~1",
        );
        let payload = request.payload(&request.main, &Value::Null);
        let output = request
            .call(&folder, &payload, &merge)
            .run("check --deepen")
            .expect(code);
        assert!(!output.all().contains("is not used"), "{}", output.all());
        assert_eq!(git(&folder, "rev-parse origin/main"), request.main);
    }
}
