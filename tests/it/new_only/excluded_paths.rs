//! Findings of a path that the policy excludes are not known: no run enforced a rule there.

use crate::support::{Call, HOSTS, World, orchestration_text, project};

/// Creates a `main` that contains a pipeline with a finding in `folder`, and a branch `change` that moves it to `core`.
fn moved_from(folder: &str) -> World {
    let world = project();
    world.write(
        "sluicegate.yaml",
        "exclude: ['drafts/**']\nreview: { new-only: true }\n",
    );
    world.write(
        &format!("{folder}/load.orch.yaml"),
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("a draft");
    world.push();
    world.git("checkout -q -b change");
    std::fs::create_dir(world.work().join("core")).unwrap();
    world.git(&["mv", &format!("{folder}/load.orch.yaml"), "core/load.orch.yaml"]);
    world.commit("moved");
    world.push();
    world
}

#[test]
fn finding_of_a_pipeline_moved_out_of_an_excluded_directory_is_new() {
    let world = moved_from("drafts");
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check --report json=-");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        assert_eq!(output.json()["findings"]["known"], 0, "{name}");
    }
}

#[test]
fn finding_of_a_pipeline_moved_between_reviewed_directories_is_known() {
    let world = moved_from("sales");
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check --report json=-");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
        assert_eq!(output.json()["findings"]["known"], 1, "{name}");
    }
}

/// A waiver at an excluded path was never in force, because no run reviewed that path.
#[test]
fn waiver_of_former_path_applies_only_if_path_is_reviewed() {
    for (folder, code) in [("drafts", 1), ("sales", 0)] {
        let world = project();
        world.write("sluicegate.yaml", "exclude: ['drafts/**']\n");
        let waiver = format!(
            "- {{ rule: component-naming-convention, path: {folder}/load.orch.yaml, reason: later }}\n"
        );
        world.write("sluicegate-waivers.yaml", waiver);
        let path = format!("{folder}/load.orch.yaml");
        world.write(&path, orchestration_text(&["Start", "bad name", "Done"]));
        world.commit("a waived pipeline");
        world.push();
        world.git("checkout -q -b change");
        std::fs::create_dir(world.work().join("core")).unwrap();
        world.git(&["mv", &path, "core/load.orch.yaml"]);
        world.commit("moved");
        world.push();
        for (name, host) in HOSTS {
            let output = host(&world, Call::new(&world.work())).run("check --report json=-");
            assert_eq!(output.code, code, "{folder} {name}: {}", output.all());
            assert_eq!(output.json()["findings"]["waived"], 1 - code, "{folder} {name}");
            let is_named = output.out.contains("sales/load.orch.yaml → core/load.orch.yaml");
            assert_eq!(is_named, code == 0, "{folder} {name}: {}", output.all());
        }
    }
}
