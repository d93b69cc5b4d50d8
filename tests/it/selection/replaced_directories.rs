//! A directory of pipelines that becomes a submodule or a link is reported: git only says that its pipelines were
//! deleted.

use crate::support::{Arguments, Call, HOSTS, World, orchestration_text, project};
use std::fs;

/// Creates a `main` with two pipelines in `sales/eu`, and the checked out branch `change`.
fn two_pipelines() -> World {
    let world = project();
    world.write("sales/eu/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write("sales/eu/send.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("two pipelines");
    world.push();
    world.git("checkout -q -b change");
    world.git("rm -q -r sales/eu");
    world
}

fn notes_of_pull_request(world: &World, args: impl Arguments) -> String {
    let call = HOSTS[0].1(world, Call::new(&world.work()));
    let report = call.run((args, "--report json=-"));
    report.json()["notes"].to_string()
}

#[test]
fn directory_replaced_with_submodule_is_reported() {
    let world = two_pipelines();
    let commit = world.git("rev-parse HEAD");
    let entry = format!("160000,{commit},sales/eu");
    world.git(&["update-index", "--add", "--cacheinfo", &entry]);
    world.git("commit -q -m submodule");
    world.push();
    fs::create_dir_all(world.work().join("sales/eu")).unwrap();
    let expected = "is now a submodule: pipelines in it are not reviewed";
    for args in ["check", "check --new-only"] {
        let notes = notes_of_pull_request(&world, args);
        assert!(
            notes.contains("sales/eu") && notes.contains("with 2 pipelines"),
            "{notes}"
        );
        assert!(notes.contains(expected), "{notes}");
    }
    let call = Call::new(&world.work());
    call.run("check").expect(0).logging(&[expected]);
    call.run("context").expect(0).saying(&[expected]);
    let warnings = call.run("context --json").expect(0).json()["warnings"].to_string();
    assert!(warnings.contains(expected), "{warnings}");
}

#[test]
fn directory_replaced_with_link_is_reported() {
    let world = two_pipelines();
    fs::create_dir_all(world.work().join("sales")).unwrap();
    std::os::unix::fs::symlink("../other", world.work().join("sales/eu")).unwrap();
    let expected = "is now a symbolic link: pipelines in it are not reviewed";
    // Before the commit, on disk.
    Call::new(&world.work())
        .run("check")
        .expect(0)
        .logging(&[expected]);
    world.commit("link");
    world.push();
    let notes = notes_of_pull_request(&world, "check");
    assert!(notes.contains(expected), "{notes}");
}

#[test]
fn deleted_or_moved_directory_is_not_reported_as_replaced() {
    let deleted = two_pipelines();
    deleted.commit("deleted");
    deleted.push();
    let moved = two_pipelines();
    moved.git("checkout -q main -- sales/eu");
    moved.git("mv sales/eu stock");
    fs::create_dir_all(moved.work().join("sales")).unwrap();
    std::os::unix::fs::symlink("../stock", moved.work().join("sales/eu")).unwrap();
    moved.commit("moved, with a link at the old place");
    moved.push();
    for world in [deleted, moved] {
        let notes = notes_of_pull_request(&world, "check");
        assert!(!notes.contains("pipelines in it"), "{notes}");
    }
}
