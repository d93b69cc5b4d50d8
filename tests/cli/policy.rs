//! Who may steer the gate: the job and the base of the change, never the change.

use crate::world::{Platform, change, each, pipeline, project};
use serde_json::json;
use std::os::unix::fs::symlink;

#[test]
fn the_target_of_a_linked_configuration_is_part_of_the_gate() {
    let world = project();
    world.write("ops/gate.yaml", "retries: 0\n");
    symlink("ops/gate.yaml", world.work().join("sluicegate.yaml")).unwrap();
    world.commit("configure");
    world.push();
    world.git(&["checkout", "-q", "-b", "change"]);
    world.write("ops/gate.yaml", "retries: 1\n");
    world.commit("change");
    world.push();
    let platform = Platform::new();
    let ended = platform.call(&world).run(&["review", "--report", "json=-"]);
    assert_eq!(ended.expect(0).json()["gateChanges"], json!(["ops/gate.yaml"]));
}

#[test]
fn the_file_that_the_job_names_is_part_of_the_gate() {
    let named = change(&[
        ("ci/gate.yaml", "retries: 0\n"),
        ("sluicegate.yaml", "retries: 0\n"),
    ]);
    let platform = Platform::new();
    let call = || {
        platform
            .call(&named)
            .variable("SLUICEGATE_CONFIG", "ci/gate.yaml")
    };
    let ended = call().run(&["review", "--report", "json=-"]).expect(0);
    assert_eq!(ended.json()["gateChanges"], json!(["ci/gate.yaml"]));
    // From another folder, by the flag, and by a link that lies outside.
    let outside = named.path().join("link.yaml");
    symlink(named.work().join("ci/gate.yaml"), &outside).unwrap();
    let outside = outside.display().to_string();
    let ended = call().run(&["review", "--config", &outside, "--report", "json=-"]);
    assert_eq!(ended.expect(0).json()["gateChanges"], json!(["ci/gate.yaml"]));
}

#[test]
fn a_folder_that_becomes_a_link_changes_the_gate() {
    let world = project();
    world.write("ci/gate.yaml", "retries: 0\n");
    world.commit("configure");
    world.push();
    world.git(&["checkout", "-q", "-b", "change"]);
    world.git(&["mv", "ci", "other"]);
    world.write("other/gate.yaml", "retries: 1\n");
    symlink("other", world.work().join("ci")).unwrap();
    world.write("b.orch.yaml", pipeline(&["Start", "Done"]));
    world.commit("change");
    world.push();
    let platform = Platform::new();
    platform.reviews(each("PASSED", json!([])));
    let call = platform
        .call(&world)
        .variable("SLUICEGATE_CONFIG", "ci/gate.yaml");
    let ended = call.run(&["review", "--report", "json=-"]).expect(0);
    assert_eq!(
        ended.json()["gateChanges"],
        json!(["ci", "ci/gate.yaml", "other/gate.yaml"])
    );
}
