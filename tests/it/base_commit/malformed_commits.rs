//! Commits that other programs wrote and that git's own rules do not allow.

use crate::support::release::{publish_call, stage};
use crate::support::{Call, Job, World, bad_pipeline, change, git, good_pipeline, plant_object};
use std::path::PathBuf;

/// Creates a child of HEAD whose author line has no address in angle brackets, and checks it out.
fn check_out_malformed_commit(world: &World) {
    let (tree, parent) = (world.git("rev-parse HEAD^{tree}"), world.git("rev-parse HEAD"));
    let author = "author a a@example.invalid 1700000000 +0000";
    let committer = "committer a <a@example.invalid> 1700000000 +0000";
    let path = world.path().join("commit");
    std::fs::write(
        &path,
        format!("tree {tree}\nparent {parent}\n{author}\n{committer}\n\nold\n"),
    )
    .unwrap();
    let store = [
        "hash-object",
        "-t",
        "commit",
        "-w",
        "--literally",
        path.to_str().unwrap(),
    ];
    let id = world.git(&store);
    world.git(&["reset", "-q", "--hard", &id]);
}

#[test]
fn malformed_commit_in_history_does_not_prevent_a_comparison() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    check_out_malformed_commit(&world);
    world.write("c.orch.yaml", good_pipeline());
    world.git("add c.orch.yaml");
    world.git("commit -q -m later");
    let call = Call::new(&world.work());
    let base = world.git("rev-parse main");
    assert_eq!(call.run("context --json").expect(0).json()["base"], base.as_str());
    let report = call.run("check -o json").expect(0).json();
    assert_eq!(
        crate::support::report_paths(&report),
        ["b.orch.yaml", "c.orch.yaml"]
    );
    call.run("doctor").expect(0);
}

/// The git program reads this history. It compares only the content of the tips with their ids.
#[test]
fn planted_commit_below_target_does_not_decide_that_a_change_is_merged() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    check_out_malformed_commit(&world);
    world.git("commit -q --allow-empty -m later");
    let tree = world.git("rev-parse origin/main^{tree}");
    let lower = world.git(format!("commit-tree -m lower -p origin/main {tree}"));
    let upper = world.git(format!("commit-tree -m upper -p {lower} {tree}"));
    world.git(format!("push -q origin HEAD {upper}:main"));
    let check = || Job::github().pull_request().call(&world).run("check");
    check().expect(1);
    let merged = world.git(format!("commit-tree -m merged -p HEAD {tree}"));
    plant_object(&world, &lower, &merged);
    check().expect(7).logging(&["its content does not match its id"]);
}

/// Creates a branch with a malformed commit between two others, and clones the newest three commits of
/// each branch.
fn clone_with_malformed_commit(world: &World) -> PathBuf {
    check_out_malformed_commit(world);
    world.write("c.orch.yaml", good_pipeline());
    world.git("add c.orch.yaml");
    world.git("commit -q -m later");
    world.git("push -q --force origin HEAD:change main");
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("clone -q --depth=3 --no-single-branch --branch change {url} shallow"),
    );
    world.path().join("shallow")
}

#[test]
fn malformed_commit_in_shallow_clone_is_compared_with_a_base_inside_it() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    world.git("checkout -q main");
    for message in ["first", "second", "third"] {
        world.git(format!("commit -q --allow-empty -m {message}"));
    }
    world.git("checkout -q -B change");
    let clone = clone_with_malformed_commit(&world);
    assert!(clone.join(".git/shallow").exists());
    let context = Call::new(&clone)
        .run("context --json --base origin/main")
        .expect(0)
        .json();
    assert_eq!(context["base"], world.git("rev-parse main").as_str());
}

#[test]
fn malformed_commit_in_shallow_clone_without_a_base_needs_more_history() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    let base = world.git("rev-parse main");
    world.git("checkout -q main");
    for message in ["first", "second", "third"] {
        world.git(format!("commit -q --allow-empty -m {message}"));
    }
    world.git("checkout -q change");
    let clone = clone_with_malformed_commit(&world);
    let call = Call::new(&clone);
    let error = call.run("context --json --base origin/main").expect(7);
    error.saying(&["the clone is shallow", "fetch the full history"]);
    let context = call
        .run("context --json --base origin/main --deepen")
        .expect(0)
        .json();
    assert_eq!(context["base"], base.as_str());
}

#[test]
fn malformed_commit_without_a_common_commit_has_no_base() {
    let world = change(&[("b.orch.yaml", &good_pipeline())]);
    check_out_malformed_commit(&world);
    world.git("commit -q --allow-empty -m later");
    let tree = world.git("rev-parse HEAD^{tree}");
    let unrelated = world.git(&["commit-tree", &tree, "-m", "unrelated"]);
    let call = Call::new(&world.work());
    let call_error = call.run(format!("check --base {unrelated}")).expect(7);
    assert!(
        !call_error.all().contains("merge-base` failed"),
        "{}",
        call_error.all()
    );
    assert!(
        call_error.all().contains("no commit in common"),
        "{}",
        call_error.all()
    );
}

#[test]
fn malformed_commit_in_remote_branch_does_not_prevent_a_publish() {
    let (world, server) = stage();
    check_out_malformed_commit(&world);
    world.git("commit -q --allow-empty -m later");
    world.git("push -q --force origin HEAD:main");
    let publish = || publish_call(&world, &server).run("publish --dry-run --version-name 1");
    let output = publish().expect(0);
    assert!(!output.err.contains("the remote"), "{}", output.all());
    world.git("commit -q --allow-empty -m unpushed");
    publish()
        .expect(0)
        .saying(&["no known branch of the remote contains commit"]);
}
