//! The gate configuration in a sparse checkout, which omits files from the disk.

use crate::support::{Call, RULES_FILE, World, bad_pipeline, change};

const CONFIG: &str = "review: { fail-on: never }\n";
const TEAM_RULES: &str = "\
rules:
- { id: no-load, level: error, for: component, when: 'component.name == \"load it\"', message: rename it }
";
const WAIVERS: &str = "- { rule: component-naming-convention, path: b.orch.yaml, reason: legacy }\n";

/// Creates a project whose change has a defective pipeline, with these files on the default branch.
fn change_with_gate_files(files: &[(&str, &str)]) -> World {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    for (path, text) in files {
        world.write(path, text);
    }
    world.git("checkout -q main");
    world.git("add -A");
    world.git("commit -q --allow-empty -m settings");
    world.push();
    world.git("checkout -q change");
    world.git("rebase -q main");
    world
}

/// Omits all files but the pipelines and the hidden directory from the disk.
fn omit_gate_files(world: &World) {
    world.git("sparse-checkout set --no-cone /*.orch.yaml /.platform/");
    for file in [
        "sluicegate.yaml",
        "sluicegate-rules.yaml",
        "sluicegate-waivers.yaml",
    ] {
        assert!(!world.work().join(file).exists());
    }
}

/// Returns the exit code, and the findings by state, of a check.
fn check_change(world: &World) -> (i32, String) {
    let output = Call::new(&world.work()).run("check --report json=-");
    (output.code, output.json()["findings"].to_string())
}

#[test]
fn gate_files_that_sparse_checkout_omits_are_in_force() {
    for (path, text) in [
        ("sluicegate.yaml", CONFIG),
        ("sluicegate-rules.yaml", TEAM_RULES),
        ("sluicegate-waivers.yaml", WAIVERS),
    ] {
        let world = change_with_gate_files(&[]);
        let default_result = check_change(&world);
        let world = change_with_gate_files(&[(path, text)]);
        let result = check_change(&world);
        assert_ne!(result, default_result, "{path}");
        omit_gate_files(&world);
        assert_eq!(check_change(&world), result, "{path}");
        // A file that the user deleted is not in force.
        world.git("sparse-checkout disable");
        std::fs::remove_file(world.work().join(path)).unwrap();
        assert_eq!(check_change(&world), default_result, "{path}");
    }
}

#[test]
fn configuration_behind_link_that_sparse_checkout_omits_is_in_force() {
    let world = change_with_gate_files(&[("gate/own.yaml", CONFIG)]);
    std::os::unix::fs::symlink("gate/own.yaml", world.work().join("sluicegate.yaml")).unwrap();
    world.commit("link");
    let result = check_change(&world);
    assert_eq!(result.0, 0);
    world.git("sparse-checkout set --no-cone /*.orch.yaml /.platform/ /sluicegate.yaml");
    assert!(!world.work().join("sluicegate.yaml").exists());
    assert_eq!(check_change(&world), result);
    // A link to a file that the user deleted is broken.
    world.git("sparse-checkout disable");
    std::fs::remove_file(world.work().join("gate/own.yaml")).unwrap();
    let output = Call::new(&world.work()).run("check").expect(2);
    output.saying(&["a symbolic link in its path leads to no file"]);
}

#[test]
fn publish_in_sparse_checkout_keeps_its_settings() {
    let world = change_with_gate_files(&[("sluicegate.yaml", "publish: { prefix: sales }\n")]);
    let call = Call::new(&world.work());
    omit_gate_files(&world);
    let settings = call.run("settings -o json").expect(0);
    assert!(settings.out.contains("\"sales\""), "{}", settings.all());
}

#[test]
fn commands_that_edit_a_file_outside_of_sparse_checkout_are_refused() {
    let world = change_with_gate_files(&[
        ("sluicegate.yaml", CONFIG),
        ("sluicegate-rules.yaml", TEAM_RULES),
        ("sluicegate-waivers.yaml", WAIVERS),
        (".gitattributes", "*.orch.yaml text\n"),
    ]);
    // The hidden directory exists, without the rules file.
    world.write(".platform/readme", "");
    world.commit("readme");
    world.git("sparse-checkout set --no-cone /*.orch.yaml /.platform/readme");
    let call = Call::new(&world.work());
    for (args, file) in [
        ("init --host none", "sluicegate.yaml"),
        ("init --git-diff", ".gitattributes"),
        ("rules new other", "sluicegate-rules.yaml"),
        (
            "waivers add unused-components b.orch.yaml --reason legacy",
            "sluicegate-waivers.yaml",
        ),
        ("waivers prune", "sluicegate-waivers.yaml"),
        ("rules init", RULES_FILE),
    ] {
        let output = call.run(args).expect(2);
        let message = format!("{file}: the file is not checked out (sparse checkout)");
        assert!(output.err.contains(&message), "{args}: {}", output.all());
        assert!(
            output.err.contains("git sparse-checkout add"),
            "{args}: {}",
            output.all()
        );
        assert!(!world.work().join(file).exists(), "{args}");
    }
    world.git("sparse-checkout disable");
    call.run("rules new other").expect(0);
    let text = world.read_text("sluicegate-rules.yaml");
    assert!(text.contains("no-load") && text.contains("other"), "{text}");
}
