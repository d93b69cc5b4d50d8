//! Commits that other programs wrote and that git's own rules do not allow.

use crate::support::{Call, World, change, good_pipeline};

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
