//! The commits by which a repository adopts `new-only`: their findings are known until a first version is published.

use super::first_version::{BAD, CI, GOOD, stage_with_adoption_branch};
use crate::support::release::{publish_call, stage, versions};
use crate::support::{Job, ProgramOutput, ServerProcess, World, head, orchestration_text};

const ADOPTED: &str = "review: { new-only: true }\npublish-on: { branches: [main] }\n";

/// Publishes the first version in the job of a push to `main`, which was at `before`.
fn publish_push(world: &World, server: &ServerProcess, before: &str) -> ProgramOutput {
    Job::github()
        .push(before)
        .extend(world, publish_call(world, server))
        .run((CI, "--report json=-"))
}

/// Asserts that the push fails because of one new finding, and that the next push publishes after its repair.
fn assert_only_new_finding_fails(world: &World, server: &ServerProcess, before: &str) {
    world.push();
    let output = publish_push(world, server, before).expect(1);
    assert!(output.all().contains("1 new"), "{}", output.all());
    assert!(output.all().contains("1 known"), "{}", output.all());
    let notes = output.json()["notes"].to_string();
    assert!(notes.contains("Fix or waive all other findings"), "{notes}");
    assert_eq!(versions(world, server), []);
    let before = head(world);
    world.write("sales/new.orch.yaml", orchestration_text(&GOOD));
    world.commit("repair");
    world.push();
    let output = publish_push(world, server, &before).expect(0);
    assert!(output.all().contains("1 known"), "{}", output.all());
    assert_eq!(versions(world, server).len(), 1);
}

#[test]
fn finding_below_cherry_picked_adoption_is_new() {
    let (world, server, past) = stage_with_adoption_branch();
    let before = head(&world);
    world.git(format!("checkout -q -B main {past}"));
    world.write("sales/new.orch.yaml", orchestration_text(&BAD));
    world.commit("red");
    world.git("cherry-pick adopt");
    world.git(format!("merge -q --no-ff -m pull {before}"));
    assert_only_new_finding_fails(&world, &server, &before);
}

#[test]
fn finding_below_adoption_in_octopus_merge_is_new() {
    let (world, server, past) = stage_with_adoption_branch();
    let before = head(&world);
    world.git(format!("checkout -q -B main {past}"));
    world.write("sales/new.orch.yaml", orchestration_text(&BAD));
    world.commit("red");
    world.git("checkout -q -b mine");
    world.git("cherry-pick adopt");
    let merge = format!("commit-tree mine^{{tree}} -p main -p mine -p {before} -m octopus");
    let merge = world.git(merge);
    world.git("checkout -q main");
    world.git(format!("reset -q --hard {}", merge.trim()));
    assert_only_new_finding_fails(&world, &server, &before);
}

#[test]
fn finding_that_reached_main_while_adoption_was_reviewed_is_new() {
    let (world, server) = stage();
    world.write("sales/old.orch.yaml", orchestration_text(&BAD));
    world.commit("a past");
    world.git("checkout -q -b adopt");
    world.write("sluicegate.yaml", ADOPTED);
    world.commit("adopt");
    world.git("checkout -q main");
    world.write("sales/new.orch.yaml", orchestration_text(&BAD));
    let before = world.commit("red");
    world.git("merge -q --no-ff -m merge adopt");
    assert_only_new_finding_fails(&world, &server, &before);
}

/// The clone of such a host does not show which branch is the default branch.
#[test]
fn adoption_on_unknown_default_branch_names_command_that_sets_it() {
    let (world, server) = stage();
    world.write("sales/old.orch.yaml", orchestration_text(&BAD));
    world.commit("a past");
    world.write("sluicegate.yaml", ADOPTED);
    world.commit("adopt");
    world.push();
    let publish = || {
        publish_call(&world, &server)
            .variable("JENKINS_URL", "https://ci.invalid/")
            .variable("BUILD_ID", "1")
            .variable("GIT_COMMIT", head(&world))
            .variable("BRANCH_NAME", "main")
            .variable("SLUICEGATE_NEW_ONLY", "true")
            .variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "main")
            .run((CI, "--report json=-"))
    };
    world.git("symbolic-ref --delete refs/remotes/origin/HEAD");
    let output = publish().expect(1);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("it is unknown when `new-only` was adopted, because this clone does not know"),
        "{notes}"
    );
    assert!(notes.contains("git remote set-head origin BRANCH"), "{notes}");
    assert_eq!(versions(&world, &server), []);
    world.git("remote set-head origin main");
    publish().expect(0);
    assert_eq!(versions(&world, &server).len(), 1);
}
