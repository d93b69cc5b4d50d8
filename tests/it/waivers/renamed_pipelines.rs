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

/// Creates a `main` with these files, and runs the check on a branch whose change is `edit`. Returns the notes.
fn notes_of_change(files: &[(&str, &str)], edit: impl FnOnce(&World)) -> String {
    let world = project();
    for (path, text) in files {
        world.write(path, text);
    }
    world.commit("waived");
    world.push();
    world.git("checkout -q -b change");
    edit(&world);
    world.commit("edit");
    world.push();
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-");
    output.expect(0).json()["notes"].to_string()
}

#[test]
fn note_of_renamed_component_has_each_waiver_of_its_file() {
    let text = orchestration_text(&["Start", "bad name", "Done"]);
    let renamed = orchestration_text(&["Start", "worse name", "Done"]);
    let waivers = "- { rule: component-naming-convention, path: x.orch.yaml, about: bad name, reason: legacy }\n\
         - { rule: component-naming-convention, path: y.orch.yaml, about: bad name, reason: legacy }\n";
    let files = [
        ("x.orch.yaml", text.as_str()),
        ("y.orch.yaml", &text),
        ("sluicegate-waivers.yaml", waivers),
    ];
    let notes = notes_of_change(&files, |world| {
        world.write("y.orch.yaml", &renamed);
    });
    assert!(notes.contains("path: y.orch.yaml, about: worse name"), "{notes}");
    assert!(!notes.contains("path: x.orch.yaml"), "{notes}");
    let notes = notes_of_change(&files, |world| {
        world.write("x.orch.yaml", &renamed);
        world.write("y.orch.yaml", &renamed);
    });
    assert!(notes.contains("has 2 waivers with the old name"), "{notes}");
    // A waiver without a name allows the finding after the merge, too.
    let wide_waivers =
        format!("{waivers}- {{ rule: component-naming-convention, path: '*.orch.yaml', reason: legacy }}\n");
    let files = [files[0], files[1], ("sluicegate-waivers.yaml", &wide_waivers)];
    let notes = notes_of_change(&files, |world| {
        world.write("y.orch.yaml", &renamed);
    });
    assert!(!notes.contains("old name"), "{notes}");
}

#[test]
fn waivers_of_former_path_and_of_former_name_do_not_hide_each_other() {
    let renamed = orchestration_text(&["Start", "worse name", "Done"]);
    let waivers = "- { rule: component-naming-convention, path: old.orch.yaml, reason: legacy }\n\
         - { rule: component-naming-convention, path: '**', about: bad name, reason: legacy }\n";
    let files = [
        (
            "old.orch.yaml",
            orchestration_text(&["Start", "bad name", "Done"]),
        ),
        ("sluicegate-waivers.yaml", waivers.to_owned()),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let notes = notes_of_change(&files, |world| {
        world.git("mv old.orch.yaml new.orch.yaml");
        world.write("new.orch.yaml", &renamed);
    });
    assert!(notes.contains("old name"), "{notes}");
}

#[test]
fn line_for_renamed_file_and_component_has_the_new_path() {
    let waivers =
        "- { rule: component-naming-convention, path: old.orch.yaml, about: bad name, reason: legacy }\n";
    let world = project();
    world.write("old.orch.yaml", orchestration_text(&BAD));
    world.write(WAIVERS, waivers);
    world.commit("waived");
    world.push();
    world.git("checkout -q -b change");
    world.git("mv old.orch.yaml new.orch.yaml");
    world.write(
        "new.orch.yaml",
        orchestration_text(&["Start", "worse name", "Load", "Done"]),
    );
    let notes = read_notes(&world, "");
    assert!(
        notes.contains(
            "path: new.orch.yaml, about: worse name, reason: legacy }` instead of `path: old.orch.yaml, about: bad name`"
        ),
        "{notes}"
    );
    follow_notes(&world, &notes);
}

#[test]
fn waiver_of_former_path_is_noted_although_new_path_has_waiver_of_other_rule() {
    let text = orchestration_text(&["Start", "bad name", "Load", "Done"]);
    let naming = "- { rule: component-naming-convention, path: old.orch.yaml, reason: legacy }\n";
    let size = "- { rule: maximum-components, path: 'new/**', reason: legacy }\n";
    let naming_of_new_path = "- { rule: component-naming-convention, path: 'new/**', reason: legacy }\n";
    for (waivers, is_noted) in [
        (format!("{naming}{size}"), true),
        (format!("{naming}{naming_of_new_path}{size}"), false),
    ] {
        let files = [
            ("old.orch.yaml", text.as_str()),
            ("sluicegate-waivers.yaml", &waivers),
        ];
        let notes = notes_of_change(&files, |world| {
            std::fs::create_dir(world.work().join("new")).unwrap();
            world.git("mv old.orch.yaml new/x.orch.yaml");
        });
        let has_note = notes.contains("old.orch.yaml → new/x.orch.yaml");
        assert_eq!(has_note, is_noted, "{notes}");
    }
}

#[test]
fn waivers_that_change_updates_cause_no_note() {
    let text = orchestration_text(&["Start", "bad name", "Done"]);
    let waiver = |path: &str, about: &str| {
        format!("- {{ rule: component-naming-convention, path: {path}, about: {about}, reason: legacy }}\n")
    };
    let old_waiver = waiver("old.orch.yaml", "bad name");
    let files = [
        ("old.orch.yaml", text.as_str()),
        ("sluicegate-waivers.yaml", &old_waiver),
    ];
    let rename_file = |world: &World| {
        world.git("mv old.orch.yaml new.orch.yaml");
    };
    let rename_component = |world: &World| {
        world.write("old.orch.yaml", text.replace("bad name", "worse name"));
    };
    for (new_waiver, is_noted) in [
        (waiver("new.orch.yaml", "bad name"), false),
        // A typo in the new path, which matches nothing after the merge.
        (waiver("newer.orch.yaml", "bad name"), true),
    ] {
        let notes = notes_of_change(&files, |world| {
            rename_file(world);
            world.write("sluicegate-waivers.yaml", &new_waiver);
        });
        assert_eq!(notes.contains("old path"), is_noted, "{notes}");
    }
    let notes = notes_of_change(&files, |world| {
        rename_component(world);
        world.write("sluicegate-waivers.yaml", waiver("old.orch.yaml", "worse name"));
    });
    assert!(!notes.contains("old name"), "{notes}");
    let notes = notes_of_change(&files, rename_component);
    assert!(notes.contains("old name"), "{notes}");
}

#[test]
fn unneeded_waiver_that_change_removes_causes_no_note() {
    let text = orchestration_text(&["Start", "Load", "Done"]);
    let waiver = "- { rule: component-naming-convention, path: a.orch.yaml, reason: legacy }\n";
    let files = [
        ("a.orch.yaml", text.as_str()),
        ("sluicegate-waivers.yaml", waiver),
    ];
    let edited_text = format!("# edited\n{text}");
    let notes = notes_of_change(&files, |world| {
        world.write("a.orch.yaml", &edited_text);
    });
    assert!(
        notes.contains("1 waiver in sluicegate-waivers.yaml can be removed"),
        "{notes}"
    );
    let notes = notes_of_change(&files, |world| {
        world.write("a.orch.yaml", &edited_text);
        world.write("sluicegate-waivers.yaml", "");
    });
    assert!(!notes.contains("can be removed"), "{notes}");
}

/// The branch was created before the target added the waivers file, so the file must come to the branch before it can
/// be edited.
#[test]
fn branch_without_waivers_file_is_asked_to_merge_target_before_edit() {
    let world = project();
    let text = orchestration_text(&["Start", "bad name", "Done"]);
    let renamed_component_text = text.replace("bad name", "worse name");
    world.write("a.orch.yaml", &text);
    world.write("old.orch.yaml", &text);
    world.commit("before the gate");
    world.push();
    world.git("checkout -q -b change");
    world.write("a.orch.yaml", renamed_component_text);
    world.git("mv old.orch.yaml new.orch.yaml");
    world.commit("rename");
    world.git("checkout -q main");
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: component-naming-convention, path: a.orch.yaml, about: bad name, reason: legacy }\n\
         - { rule: component-naming-convention, path: old.orch.yaml, about: bad name, reason: legacy }\n",
    );
    world.commit("waived");
    world.push();
    world.git("checkout -q change");
    world.push();
    let list_notes = || {
        let job = Job::github().pull_request().call(&world);
        let report = job.run("check --report json=-").expect(0).json();
        assert_eq!(report["findings"]["waived"], 2, "{report}");
        report["notes"].to_string()
    };
    let steps = [
        "write the new name in this change",
        "run `sluicegate mv --repair` to update their `path` in this change",
    ];
    let notes = list_notes();
    for step in steps {
        let later_step = format!("merge `main` into your branch, then {step}");
        assert!(notes.contains(&later_step), "{notes}");
    }
    world.git("merge -q --no-edit main");
    world.push();
    let notes = list_notes();
    for step in steps {
        assert!(notes.contains(step) && !notes.contains("merge `main`"), "{notes}");
    }
}

#[test]
fn change_that_removes_waivers_file_gets_no_note_about_former_path() {
    let text = orchestration_text(&["Start", "bad name", "Done"]);
    let files = [
        ("old.orch.yaml", text.as_str()),
        (
            "sluicegate-waivers.yaml",
            "- { rule: component-naming-convention, path: old.orch.yaml, reason: legacy }\n",
        ),
    ];
    for (removal, is_noted) in [("rm -q sluicegate-waivers.yaml", false), ("status", true)] {
        let notes = notes_of_change(&files, |world| {
            world.git("mv old.orch.yaml new.orch.yaml");
            world.git(removal);
        });
        assert_eq!(notes.contains("old path"), is_noted, "{notes}");
    }
}

/// Creates a `main` with two pipelines and this waiver, and a branch `change` that is checked out.
fn two_waived_pipelines(waiver: &str) -> World {
    let world = project();
    let text = orchestration_text(&["Start", "bad name", "Done"]);
    world.write("sales/a.orch.yaml", &text);
    world.write("sales/b.orch.yaml", &text);
    world.write(WAIVERS, waiver);
    world.commit("waived");
    world.push();
    world.git("checkout -q -b change");
    world
}

const WAIVERS: &str = "sluicegate-waivers.yaml";

/// Runs the check of the change, which passes, and returns its notes.
fn read_notes(world: &World, args: &str) -> String {
    world.commit("change");
    world.push();
    let job = Job::github().pull_request().call(world);
    let report = job.run(format!("check {args} --report json=-")).expect(0).json();
    assert_eq!(report["findings"]["waived"], 1, "{report}");
    report["notes"].to_string()
}

/// Adds the lines in the notes to the waivers file, merges the change, and checks all pipelines of `main`.
fn follow_notes(world: &World, notes: &str) {
    let mut waivers = world.read_text(WAIVERS);
    let notes = notes.replace("\\\"", "\"");
    for line in notes.split('`').filter(|part| part.starts_with("- {")) {
        waivers.push_str(line);
        waivers.push('\n');
    }
    world.write(WAIVERS, waivers);
    world.commit("followed");
    world.git("checkout -q main");
    world.git("merge -q change");
    Call::new(&world.work()).run("check --all").expect(0);
}

#[test]
fn note_keeps_a_waiver_that_other_files_need() {
    let rename = |world: &World| {
        world.write(
            "sales/a.orch.yaml",
            orchestration_text(&["Start", "worse name", "Done"]),
        );
    };
    let shared =
        "- { rule: component-naming-convention, path: 'sales/**', about: bad name, reason: legacy }\n";
    let world = two_waived_pipelines(shared);
    rename(&world);
    let notes = read_notes(&world, "");
    let line =
        "path: sales/a.orch.yaml, about: worse name, reason: legacy }` in addition to `about: bad name`";
    assert!(notes.contains(line), "{notes}");
    follow_notes(&world, &notes);

    let waiver = |path: &str| {
        format!("- {{ rule: component-naming-convention, path: {path}, about: bad name, reason: legacy }}\n")
    };
    let world = two_waived_pipelines(&format!(
        "{}{}",
        waiver("sales/a.orch.yaml"),
        waiver("sales/b.orch.yaml")
    ));
    rename(&world);
    let notes = read_notes(&world, "");
    assert!(notes.contains("instead of `about: bad name`"), "{notes}");
}

#[test]
fn note_about_moved_file_keeps_a_waiver_that_other_files_need() {
    for (path, next_step) in [
        (
            "'sales/**'",
            "add waivers with the new path in this change, because these may match other files, too",
        ),
        (
            "sales/a.orch.yaml",
            "run `sluicegate mv --repair` to update their `path` in this change",
        ),
    ] {
        let world = two_waived_pipelines(&format!(
            "- {{ rule: component-naming-convention, path: {path}, reason: legacy }}\n"
        ));
        std::fs::create_dir(world.work().join("fin")).unwrap();
        world.git("mv sales/a.orch.yaml fin/a.orch.yaml");
        let notes = read_notes(&world, "");
        assert!(notes.contains(next_step), "{notes}");
    }
}

#[test]
fn notes_respect_that_the_job_allows_no_edit_of_the_waivers_in_the_change() {
    let waiver =
        "- { rule: component-naming-convention, path: sales/a.orch.yaml, about: bad name, reason: legacy }\n";
    let renamed = orchestration_text(&["Start", "worse name", "Done"]);
    let step = "in a separate change that is merged first (--gate-changes fail)";
    let world = two_waived_pipelines(waiver);
    world.write("sales/a.orch.yaml", &renamed);
    let notes = read_notes(&world, "--gate-changes fail");
    assert!(
        notes.contains(step) && !notes.contains("in this change"),
        "{notes}"
    );
    // Following the note: the separate change is merged, and then the rename passes without a note.
    world.git("checkout -q main");
    let line = notes.split('`').find(|part| part.starts_with("- {")).unwrap();
    world.write(WAIVERS, format!("{waiver}{line}\n"));
    world.commit("waiver first");
    world.push();
    world.git("checkout -q change");
    let notes = read_notes(&world, "--gate-changes fail").replace(step, "");
    assert!(!notes.contains("old name"), "{notes}");

    let world = two_waived_pipelines(waiver);
    world.git("mv sales/a.orch.yaml sales/c.orch.yaml");
    let notes = read_notes(&world, "--gate-changes fail");
    assert!(
        notes.contains(&format!("add waivers with the new path {step}")),
        "{notes}"
    );
}

#[test]
fn waiver_of_former_name_is_used_and_survives_a_prune() {
    let waiver = "- { rule: component-naming-convention, path: sales/a.orch.yaml, about: bad name, reason: legacy }\n\
                  - { rule: component-naming-convention, path: sales/b.orch.yaml, about: bad name, reason: legacy }\n";
    let renamed = orchestration_text(&["Start", "worse name", "Done"]);
    for has_commit in [false, true] {
        let world = two_waived_pipelines(waiver);
        world.write("sales/a.orch.yaml", &renamed);
        world.git("mv sales/b.orch.yaml sales/c.orch.yaml");
        if has_commit {
            world.commit("rename");
        }
        let call = Call::new(&world.work());
        let list = call.run("waivers list -o json").expect(0).json();
        assert_eq!(
            (&list[0]["state"], &list[1]["state"]),
            (&"used".into(), &"used".into())
        );
        call.run("waivers prune").expect(0).saying(&["nothing to remove"]);
        call.run("check").expect(0);
    }
    // A component that is replaced by another one is not renamed.
    let world = two_waived_pipelines(waiver);
    world.write(
        "sales/a.orch.yaml",
        orchestration_text(&["Start", "Good", "Better", "Done"]),
    );
    let list = Call::new(&world.work())
        .run("waivers list -o json")
        .expect(0)
        .json();
    assert_eq!(
        (&list[0]["state"], &list[1]["state"]),
        (&"unused".into(), &"used".into())
    );
}

#[test]
fn repair_writes_new_paths_of_renamed_pipelines_into_their_waivers() {
    let waiver = |path: &str| {
        format!(
            "- {{ rule: component-naming-convention, path: {path}, about: bad name, reason: legacy }} # why\n"
        )
    };
    let [a, b, glob] = ["sales/a.orch.yaml", "'sales/b.orch.yaml'", "'sales/*.orch.yaml'"].map(waiver);
    let world = two_waived_pipelines(&format!("{a}{b}{glob}"));
    // Two files with the same content would not show which of them was renamed to which.
    world.git("checkout -q main");
    world.write(
        "sales/b.orch.yaml",
        orchestration_text(&["Start", "bad name", "Load", "Other", "Done"]),
    );
    world.commit("other");
    world.push();
    world.git("checkout -q -B change");
    world.git("mv sales/a.orch.yaml sales/c.orch.yaml");
    std::fs::create_dir(world.work().join("hr")).unwrap();
    world.git("mv sales/b.orch.yaml hr/d[1].orch.yaml");
    let call = Call::new(&world.work());
    let plan = call.run("mv --repair --dry-run").expect(0);
    plan.assert_logged(&[
        "sluicegate-waivers.yaml:1: sales/a.orch.yaml -> sales/c.orch.yaml",
        "would repair 2 waivers",
    ]);
    assert_eq!(world.read_text(WAIVERS), format!("{a}{b}{glob}"));
    call.run("mv --repair")
        .expect(0)
        .assert_logged(&["repaired 2 waivers"]);
    let new_text = world.read_text(WAIVERS);
    assert_eq!(
        new_text,
        format!(
            "{}{}{glob}",
            waiver("sales/c.orch.yaml"),
            b.replace("sales/b.orch.yaml", "hr/d\\[1\\].orch.yaml")
        )
    );
    // The waivers have the new paths, so the check has no note about them.
    world.commit("rename");
    world.push();
    let job = Job::github().pull_request().call(&world);
    let notes = job.run("check --report json=-").expect(0).json()["notes"].to_string();
    assert!(!notes.contains("old path"), "{notes}");
    call.run("mv --repair")
        .expect(0)
        .assert_logged(&["nothing to repair"]);
}

#[test]
fn repair_keeps_waivers_that_no_proven_rename_concerns() {
    let waiver = "- { rule: component-naming-convention, path: sales/a.orch.yaml, reason: legacy }\n\
                  - { rule: component-naming-convention, path: sales/gone.orch.yaml, reason: legacy }\n";
    let repair = |world: &World| Call::new(&world.work()).run("mv --repair").expect(0);
    // A copy is no rename.
    let world = two_waived_pipelines(waiver);
    world.write("sales/copy.orch.yaml", world.read_text("sales/a.orch.yaml"));
    repair(&world).assert_logged(&["nothing to repair"]);
    // Another added file has the same content, so it is unknown which of them was renamed.
    world.git("mv sales/a.orch.yaml sales/c.orch.yaml");
    repair(&world).assert_logged(&[
        "left: sluicegate-waivers.yaml:1: sales/a.orch.yaml: the change may have renamed the file to",
    ]);
    assert_eq!(world.read_text(WAIVERS), waiver);
    // At an excluded path, the waiver did not allow anything.
    let world = two_waived_pipelines(waiver);
    world.write("sluicegate.yaml", "exclude: [sales/a.orch.yaml]\n");
    world.git("mv sales/a.orch.yaml sales/c.orch.yaml");
    repair(&world).assert_logged(&["nothing to repair"]);
    assert_eq!(world.read_text(WAIVERS), waiver);
}

#[test]
fn waiver_of_former_name_is_unneeded_beside_a_waiver_of_the_new_name() {
    let old_name =
        "- { rule: component-naming-convention, path: sales/a.orch.yaml, about: bad name, reason: legacy }\n";
    let old_path =
        "- { rule: component-naming-convention, path: sales/b.orch.yaml, about: bad name, reason: legacy }\n";
    let renamed = orchestration_text(&["Start", "worse name", "Done"]);
    let world = two_waived_pipelines(&format!("{old_name}{old_path}"));
    world.write("sales/a.orch.yaml", &renamed);
    world.git("mv sales/b.orch.yaml sales/c.orch.yaml");
    let call = Call::new(&world.work());
    let new_name = old_name.replace("bad name", "worse name");
    // An expired waiver of the new name allows nothing.
    let expired = new_name.replace(" }", ", until: 2020-01-31 }");
    world.write(WAIVERS, format!("{old_name}{expired}{old_path}"));
    call.run("waivers prune")
        .expect(0)
        .logging(&["1 waiver removed", "worse name"]);
    assert_eq!(world.read_text(WAIVERS), format!("{old_name}{old_path}"));
    call.run("waivers add --all --reason again").expect(0);
    call.run("waivers prune")
        .expect(0)
        .logging(&["2 waivers removed"]);
    let waivers = world.read_text(WAIVERS);
    assert!(
        waivers.contains("worse name")
            && waivers.contains("sales/c.orch.yaml")
            && !waivers.contains("legacy"),
        "{waivers}"
    );
    call.run("waivers prune").expect(0).saying(&["nothing to remove"]);
    call.run("check --all").expect(0);
}

/// The job names the base, and requests all pipelines.
#[test]
fn waivers_match_renames_since_the_base_of_a_run_over_all_pipelines() {
    let waiver = "- { rule: component-naming-convention, path: sales/a.orch.yaml, about: bad name, reason: legacy }\n\
                  - { rule: component-naming-convention, path: sales/b.orch.yaml, about: bad name, reason: legacy }\n";
    let world = two_waived_pipelines(waiver);
    world.write(
        "sales/a.orch.yaml",
        orchestration_text(&["Start", "worse name", "Done"]),
    );
    world.git("mv sales/b.orch.yaml sales/c.orch.yaml");
    world.commit("rename");
    let base = world.git("rev-parse HEAD~1");
    world.git("push -q origin change");
    for revisions in [format!("--base {base}"), format!("--base {base} --head HEAD")] {
        let call = Call::new(&world.work());
        let output = call.run(format!("check --all {revisions}")).expect(0);
        assert!(!output.err.contains("can be removed"), "{}", output.all());
    }
    let job = Job::github().pull_request().call(&world);
    job.run(format!("check --all --base {base}")).expect(0);
    // Nothing is renamed since this base.
    Call::new(&world.work()).run("check --all --base HEAD").expect(1);
}

/// The target already has the rename, so that only the base of the job shows it.
#[test]
fn waivers_are_compared_with_the_base_that_the_job_sets() {
    let waiver = "- { rule: component-naming-convention, path: sales/a.orch.yaml, about: bad name, reason: legacy }\n\
         - { rule: component-naming-convention, path: sales/b.orch.yaml, about: bad name, reason: legacy }\n";
    let world = two_waived_pipelines(waiver);
    let renamed = orchestration_text(&["Start", "worse name", "Done"]);
    world.write("sales/a.orch.yaml", &renamed);
    world.commit("rename");
    world.git("push -q origin change:main");
    world.git("fetch -q");
    let with_base = |base: &str| Call::new(&world.work()).variable("SLUICEGATE_BASE", base);
    with_base("HEAD~1").run("check").expect(0);
    let list = with_base("HEAD~1").run("waivers list -o json").expect(0).json();
    assert_eq!(list[0]["state"], "used");
    with_base("HEAD~1")
        .run("waivers prune")
        .expect(0)
        .saying(&["nothing to remove"]);
    with_base("no-such-revision")
        .run("waivers prune")
        .expect(7)
        .saying(&["no-such-revision"]);
    assert_eq!(world.read_text(WAIVERS), waiver);
    // Without it, the base is the target.
    let call = Call::new(&world.work());
    let list = call.run("waivers list -o json").expect(0).json();
    assert_eq!(list[0]["state"], "unused");
}
