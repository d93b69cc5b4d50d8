//! `waivers add --from`: waivers for the findings in a report of an earlier run.

use crate::support::{
    Call, Job, World, bad_pipeline, change, head, orchestration_text, pull_request_payload,
};
use std::fs;

const FILE: &str = "sluicegate-waivers.yaml";
const ADD: &str = "waivers add --from ../r.json --reason legacy";

/// Writes the report of a check of the commit to `r.json` next to the clone of `destination`.
fn write_report(world: &World, destination: &World) {
    let report = Call::new(&world.work()).run("check --head HEAD -o json");
    fs::write(destination.work().join("../r.json"), report.out).unwrap();
}

#[test]
fn report_of_unknown_commit_adds_no_waivers() {
    let world = change(&[("a.orch.yaml", &bad_pipeline())]);
    // Two projects would have the same first commit.
    let other_world = World::new();
    other_world.write("notes.txt", "another repository");
    other_world.commit("first");
    other_world.push();
    write_report(&world, &other_world);
    let output = Call::new(&other_world.work()).run(ADD).expect(2);
    output.saying(&[
        "could not use the report: it covers commit ",
        "which this clone does not have",
        "hint: fetch the commit",
    ]);
    assert!(!other_world.work().join(FILE).exists());
    // Counterpart: a later commit of the same repository.
    write_report(&world, &world);
    world.write("notes.txt", "text");
    world.commit("later");
    Call::new(&world.work()).run(ADD).expect(0);
    assert!(world.read_text(FILE).contains("path: a.orch.yaml"));
}

/// The job's clone has a merge of the change and its target, which no other clone has.
#[test]
fn report_of_trial_merge_adds_waivers_in_clone_with_its_target() {
    for args in ["check -o json", "check --all -o json"] {
        let world = change(&[("a.orch.yaml", &bad_pipeline())]);
        let payload = pull_request_payload(&world);
        let change_commit = head(&world);
        world.git("checkout -q --detach origin/main");
        world.git("merge -q --no-ff -m trial change");
        let github = Job::github()
            .event("pull_request", "refs/pull/7/merge", &payload)
            .call(&world);
        let gitlab = Job::gitlab()
            .pull_request()
            .call(&world)
            .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", change_commit);
        for (host, job) in [("github", github), ("gitlab", gitlab)] {
            let report = job.run(args).expect(1);
            assert_eq!(report.json()["context"]["head"], head(&world), "{host}");
            fs::write(world.path().join("r.json"), report.out).unwrap();
            let clone = world.path().join(host);
            let remote = world.remote().display().to_string();
            world.git(format!(
                "clone -q --no-local --branch change {remote} {}",
                clone.display()
            ));
            Call::new(&clone).run(ADD).expect(0);
            let waivers = fs::read_to_string(clone.join(FILE)).unwrap();
            assert!(waivers.contains("path: a.orch.yaml"), "{host}: {waivers}");
        }
    }
}

#[test]
fn reported_finding_of_missing_file_gets_no_waiver() {
    let world = change(&[("b.orch.yaml", &bad_pipeline()), ("c.orch.yaml", &bad_pipeline())]);
    write_report(&world, &world);
    fs::remove_file(world.work().join("c.orch.yaml")).unwrap();
    let output = Call::new(&world.work()).run(ADD).expect(0);
    output.saying(&[
        "adding no waivers for the findings in 1 file of the report, because the checkout does not have it: \
         c.orch.yaml",
    ]);
    let waivers = world.read_text(FILE);
    assert!(
        waivers.contains("b.orch.yaml") && !waivers.contains("c.orch.yaml"),
        "{waivers}"
    );
}

#[test]
fn waiver_of_reported_finding_allows_the_reported_size() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "A", "B", "Done"]))]);
    write_report(&world, &world);
    world.write(
        "b.orch.yaml",
        orchestration_text(&["Start", "A", "B", "C", "D", "Done"]),
    );
    Call::new(&world.work()).run(ADD).expect(0);
    let waivers = world.read_text(FILE);
    assert!(
        waivers.contains("path: b.orch.yaml, size: 4, reason: legacy"),
        "{waivers}"
    );
}

#[test]
fn waivers_add_with_all_and_report_exits_with_2() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "A", "B", "Done"]))]);
    write_report(&world, &world);
    let waivers = world.work().join(FILE);
    let output = Call::new(&world.work()).run((ADD, "--all")).expect(2);
    output.saying(&["--all", "--from"]);
    assert!(!waivers.exists());
    Call::new(&world.work()).run(ADD).expect(0);
    assert!(waivers.exists());
}
