//! A waiver for the path at the base also applies to a renamed pipeline.

use crate::support::{Call, HOSTS, Job, World, orchestration_text, project};

const BAD: [&str; 4] = ["Start", "bad name", "Load", "Done"];

/// Creates a `main` with a waived pipeline, and a branch `change` that moves it.
fn world_with_moved_pipeline(about: &str, after: &[&str]) -> World {
    let world = project();
    world.write("old.orch.yaml", orchestration_text(&BAD));
    world.write(
        "sluicegate-waivers.yaml",
        format!("- {{ rule: component-naming-convention, path: old.orch.yaml,{about} reason: legacy }}\n"),
    );
    world.commit("waived");
    world.push();
    world.git("checkout -q -b change");
    world.git("mv old.orch.yaml new.orch.yaml");
    world.write("new.orch.yaml", orchestration_text(after));
    world.commit("moved");
    world.push();
    world
}

#[test]
fn pure_rename_of_waived_pipeline_is_green_on_every_host() {
    let world = world_with_moved_pipeline("", &BAD);
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check --report json=-");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        let report = output.json();
        assert_eq!(report["findings"]["waived"], 1, "{name}");
        let notes = report["notes"].to_string();
        assert!(notes.contains("old.orch.yaml → new.orch.yaml"), "{notes}");
        let output = host(&world, Call::new(&world.work())).run("check --all");
        assert_eq!(output.code, 0, "{name} --all: {}", output.all());
    }
    let before = world.git("merge-base HEAD origin/main");
    Call::new(&world.work())
        .run(format!("check --base {before}"))
        .expect(0);
}

#[test]
fn renamed_pipeline_that_got_worse_is_red() {
    let world = world_with_moved_pipeline(" about: bad name,", &["Start", "bad name", "worse name", "Done"]);
    for args in ["check", "check --all"] {
        Job::github().pull_request().call(&world).run(args).expect(1);
    }
    // A copy is not a rename: the waiver applies only to the old file.
    let copied = world_with_moved_pipeline("", &BAD);
    copied.write("old.orch.yaml", orchestration_text(&BAD));
    copied.commit("copied");
    copied.push();
    Job::github().pull_request().call(&copied).run("check").expect(1);
}

#[test]
fn waiver_of_unchanged_names_causes_no_note() {
    let world = project();
    world.write("old.orch.yaml", orchestration_text(&BAD));
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: component-naming-convention, path: old.orch.yaml, about: bad name, reason: legacy }\n",
    );
    world.commit("waived");
    world.push();
    let output = Call::new(&world.work())
        .run("check --all --report json=-")
        .expect(0);
    let report = output.json();
    assert_eq!(report["findings"]["waived"], 1);
    let notes = report["notes"].to_string();
    assert!(!notes.contains("former"), "{notes}");
}
