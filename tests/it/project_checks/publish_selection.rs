//! Files that a shared pipeline needs and that a publish would not send: found before the merge.

use super::broken_references::{caller_of_targets, check_expecting, list_project_findings, world_with_files};
use crate::support::{Call, World, orchestration_text};

const SHARED_FILE: &str = ".platform/shared-pipelines.yaml";

/// Returns the shared-pipelines file with these pipelines.
fn share(paths: &[&str]) -> String {
    let entries = paths.iter().map(|path| {
        format!("  - {{ pipeline: {path}, displayName: d, id: {path}, enabled: true, parameters: {{}} }}\n")
    });
    format!(
        "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n{}",
        entries.collect::<String>()
    )
}

/// Returns an orchestration with a component that runs the script at this path.
fn caller_of_script(path: &str) -> String {
    format!(
        "{}    Script:\n      type: sql-executor\n      parameters:\n        scriptLocation: File\n        fileName: {path}\n",
        caller_of_targets(&[])
    )
}

/// Creates a repository that shares `sales/load.orch.yaml`, with the pipeline `lib/helper.orch.yaml` and a script. The
/// configuration file has these globs.
fn world_with_globs(globs: &str) -> World {
    let world = world_with_files(&[
        ("sluicegate.yaml", &configuration(globs)),
        ("sales/load.orch.yaml", &caller_of_targets(&[])),
        ("sales/other.orch.yaml", &caller_of_targets(&[])),
        ("lib/helper.orch.yaml", &orchestration_text(&["Start", "Done"])),
        ("lib/q.sql", "SELECT 1\n"),
        (SHARED_FILE, &share(&["sales/load.orch.yaml"])),
    ]);
    assert_eq!(plan_publish(&world), 0, "{globs}");
    world
}

fn configuration(globs: &str) -> String {
    format!("project-checks: {{ shared: error }}\n{globs}")
}

/// Plans a publish of the current commit, and returns its exit code.
fn plan_publish(world: &World) -> i32 {
    let call = Call::new(&world.work());
    call.run("publish --dry-run --head HEAD --prefix p --version-name 1")
        .code
}

/// Returns the findings of a check of the change, and requires that a publish of it fails.
fn find_what_stops_publish(world: &World) -> Vec<String> {
    world.commit("change");
    assert_eq!(plan_publish(world), 2);
    list_project_findings(&check_expecting(world, 1, "--base main"))
}

#[test]
fn file_that_globs_of_publish_exclude_is_found_before_the_merge() {
    let world = world_with_globs("exclude: ['lib/**']\n");
    world.write(
        SHARED_FILE,
        share(&["sales/load.orch.yaml", "lib/helper.orch.yaml"]),
    );
    assert_eq!(
        find_what_stops_publish(&world),
        [
            "project/shared error .platform/shared-pipelines.yaml:5 the shared pipeline `lib/helper.orch.yaml` is \
          `lib/helper.orch.yaml`, which the configuration file excludes from publishing; publishing fails until this is \
          corrected"
        ]
    );

    for globs in ["publish:\n  exclude: ['lib/**']\n", "include: ['sales/**']\n"] {
        let world = world_with_globs(globs);
        world.write("sales/load.orch.yaml", caller_of_targets(&["lib/helper"]));
        assert_eq!(
            find_what_stops_publish(&world),
            [
                "project/shared error sales/load.orch.yaml:14 component `Call 0` calls `lib/helper.orch.yaml`, which the \
              configuration file excludes from publishing; publishing will fail because the shared pipeline \
              `sales/load.orch.yaml` needs it"
            ],
            "{globs}"
        );
    }
}

#[test]
fn change_of_globs_is_found_at_unchanged_pipelines() {
    let world = world_with_globs("");
    world.write("sales/load.orch.yaml", caller_of_targets(&["lib/helper"]));
    world.commit("call");
    world.git("branch -f main");
    world.write("sluicegate.yaml", configuration("exclude: ['lib/**']\n"));
    let findings = find_what_stops_publish(&world);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(
        findings[0].starts_with("project/shared error sales/load.orch.yaml:14 "),
        "{findings:?}"
    );

    // The same finding in a project that already has it is not new.
    world.git("branch -f main");
    world.write("note.txt", "");
    world.commit("note");
    let report = check_expecting(&world, 0, "--base main");
    assert!(list_project_findings(&report).is_empty(), "{report}");
}

#[test]
fn excluded_script_of_shared_pipeline_is_found() {
    let world = world_with_globs("exclude: ['**/*.sql']\n");
    world.write("sales/load.orch.yaml", caller_of_script("lib/q.sql"));
    let findings = find_what_stops_publish(&world);
    assert_eq!(
        findings,
        [
            "project/shared error sales/load.orch.yaml:15 component `Script` names the script `lib/q.sql`, which the \
          configuration file excludes from publishing; publishing will fail because the shared pipeline \
          `sales/load.orch.yaml` needs it"
        ]
    );
}

/// The good cases: nothing that a shared pipeline needs is omitted, or only the review omits it.
#[test]
fn file_that_a_publish_sends_or_no_shared_pipeline_needs_is_no_finding() {
    for globs in [
        "exclude: ['lib/**']\n",
        "review: { exclude: ['lib/**'] }\n",
        "include: ['sales/**']\n",
    ] {
        let world = world_with_globs(globs);
        world.write("sales/other.orch.yaml", caller_of_targets(&["lib/helper"]));
        if globs.starts_with("review") {
            world.write("sales/load.orch.yaml", caller_of_targets(&["lib/helper"]));
        }
        // An included glob does not select a script, but a publish sends it with its pipeline.
        if globs.starts_with("include") {
            world.write("sales/load.orch.yaml", caller_of_script("lib/q.sql"));
        }
        world.commit("change");
        assert_eq!(plan_publish(&world), 0, "{globs}");
        let report = check_expecting(&world, 0, "--base main");
        assert!(list_project_findings(&report).is_empty(), "{globs}: {report}");
    }
}

#[test]
fn removed_shared_file_is_found_unless_it_has_moved() {
    let world = world_with_globs("");
    world.git(format!("rm -q {SHARED_FILE}"));
    assert_eq!(
        find_what_stops_publish(&world),
        [
            "project/shared error .platform/shared-pipelines.yaml:1 the change removes the shared-pipelines file, and \
          publishing will fail without it"
        ]
    );
    world.git("reset -q --hard main");
    world.git("mv .platform .moved");
    world.commit("move");
    assert_eq!(plan_publish(&world), 0);
    let report = check_expecting(&world, 0, "--base main");
    assert!(list_project_findings(&report).is_empty(), "{report}");
}

#[test]
fn removed_shared_file_is_found_in_run_of_all_pipelines() {
    let world = world_with_globs("");
    world.git(format!("rm -q {SHARED_FILE}"));
    // The removal is not committed, and no branch has an earlier commit.
    assert_eq!(
        list_project_findings(&check_expecting(&world, 1, "--all")).len(),
        1
    );
    world.commit("change");
    let report = check_expecting(&world, 1, "--all --base main");
    assert_eq!(list_project_findings(&report).len(), 1, "{report}");
    // A change that does not remove the file passes, even if no earlier commit had one.
    world.git("branch -f main");
    let report = check_expecting(&world, 0, "--all --base main");
    assert!(list_project_findings(&report).is_empty(), "{report}");
}

#[test]
fn directory_in_place_of_shared_file_is_found_as_removed_file() {
    let world = world_with_globs("");
    world.git(format!("rm -q {SHARED_FILE}"));
    world.write(&format!("{SHARED_FILE}/note.txt"), "x");
    let findings = find_what_stops_publish(&world);
    assert!(
        findings[0].contains("the change removes the shared-pipelines file"),
        "{findings:?}"
    );
}

/// If the settings name the directory, a file in another one is not found by a publish.
#[test]
fn shared_file_in_other_directory_than_the_named_one_is_found_as_removed() {
    for command in [
        "mv .platform/shared-pipelines.yaml .other/",
        "rm -q .platform/shared-pipelines.yaml",
    ] {
        let world = world_with_globs("config-dir: .platform\n");
        world.write(".other/shared-pipelines.yaml", share(&[]));
        if command.starts_with("mv") {
            std::fs::remove_file(world.work().join(".other/shared-pipelines.yaml")).unwrap();
        }
        world.git(command);
        let findings = find_what_stops_publish(&world);
        assert_eq!(findings.len(), 1, "{command}: {findings:?}");
        assert!(
            findings[0].contains("the change removes the shared-pipelines file"),
            "{findings:?}"
        );
    }
}

#[test]
fn report_of_saved_report_has_findings_in_the_same_order() {
    let world = world_with_globs("");
    world.write("a.orch.yaml", caller_of_targets(&["gone"]));
    world.write("z.orch.yaml", caller_of_targets(&["gone"]));
    world.write(
        SHARED_FILE,
        share(&["sales/load.orch.yaml", "sales/gone.orch.yaml"]),
    );
    world.commit("change");
    let call = Call::new(&world.work());
    let direct = call.run("check --base main --report json=saved.json").expect(1);
    let repeated = call.run("report saved.json").expect(1);
    let first_lines = list_first_lines(&direct.out);
    assert_eq!(first_lines.len(), 2, "{}", direct.all());
    assert!(
        first_lines[0].starts_with("error[project/shared]"),
        "{first_lines:?}"
    );
    assert_eq!(list_first_lines(&repeated.out), first_lines);
}

/// Returns the first line of each finding in a log.
fn list_first_lines(log: &str) -> Vec<&str> {
    log.lines()
        .filter(|line| line.starts_with("error[") || line.starts_with("warning["))
        .collect()
}

#[test]
fn entry_that_stops_publish_has_this_consequence_in_its_finding() {
    let share_twice = |path: &str| share(&["sales/load.orch.yaml", path]);
    for (shared_file, reason) in [
        (share_twice("sales/gone.orch.yaml"), "which is not in the project"),
        (
            share_twice("lib/q.sql"),
            "which is not a pipeline file (`.orch.yaml`, `.tran.yaml`)",
        ),
        (share_twice("sales/load.orch.yaml"), "is already used on line 4"),
        (
            "pipelines: [".to_owned(),
            "the shared-pipelines file cannot be read: not YAML",
        ),
    ] {
        let world = world_with_globs("");
        world.write(SHARED_FILE, &shared_file);
        let findings = find_what_stops_publish(&world);
        let consequence = "; publishing fails until this is corrected";
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].contains(reason) && findings[0].contains(consequence),
            "{findings:?}"
        );
        if !shared_file.contains("gone") && !shared_file.contains("q.sql") {
            continue;
        }
        // A disabled entry does not stop a publish.
        let first_entry = share(&["sales/load.orch.yaml"]);
        let disabled_entry = shared_file[first_entry.len()..].replace("enabled: true", "enabled: false");
        world.write(SHARED_FILE, first_entry + &disabled_entry);
        world.commit("disable");
        assert_eq!(plan_publish(&world), 0, "{reason}");
        let findings = list_project_findings(&check_expecting(&world, 0, "--base main"));
        assert!(
            findings.iter().all(|text| !text.contains(consequence)),
            "{findings:?}"
        );
    }
}
