//! `sluicegate mv` in a repository with files that it cannot search or rewrite.

use super::mv;
use crate::support::{Call, World, encode_utf_16, interrupting_git, orchestration_text, project, scratch};
use std::fs;

const CALLER: &str = "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Run:\n      type: run-orchestration\n      parameters: { orchestrationJob: TARGET }\n";
const WAIVERS: &str = "sluicegate-waivers.yaml";

/// Returns a project in which `sales/load.orch.yaml` can be moved.
fn project_with_called_pipeline() -> World {
    let world = project();
    let pipeline = world.read_text("a.orch.yaml");
    world.write("sales/load.orch.yaml", pipeline);
    world.commit("called");
    world
}

fn is_unmoved(world: &World) -> bool {
    world.work().join("sales/load.orch.yaml").is_file()
}

#[test]
fn rename_is_refused_if_unparsable_file_calls_the_old_name() {
    let world = project_with_called_pipeline();
    world.write("broken.orch.yaml", "type: [\norchestrationJob: load\n");
    let output = mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(2);
    output.saying(&["broken.orch.yaml:2: this file contains `load` and cannot be parsed"]);
    assert!(is_unmoved(&world));
    // A call by name survives a move to another directory, and longer words are other names.
    mv(&world, "sales/load.orch.yaml stock/load.orch.yaml --dry-run").expect(0);
    world.write("broken.orch.yaml", "type: [\norchestrationJob: reload\n");
    mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(0);
}

#[test]
fn move_is_refused_if_unparsable_gate_file_contains_the_old_path() {
    for (path, text) in [
        (WAIVERS, "- { rule: [, path: sales/load.orch.yaml, reason: r }\n"),
        (
            ".platform/shared-pipelines.yaml",
            "pipelines: [\n- sales/load.orch.yaml\n",
        ),
    ] {
        let world = project_with_called_pipeline();
        world.write(path, text);
        let output = mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(2);
        output.saying(&[path, "this file contains `sales/load` and cannot be parsed"]);
        assert!(is_unmoved(&world));
        mv(&world, "a.orch.yaml b.orch.yaml").expect(0);
        // A file with comments alone sets nothing.
        world.write(path, "# sales/load.orch.yaml\n");
        mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(0);
    }
}

#[test]
fn move_that_edits_a_gate_file_outside_of_sparse_checkout_is_refused() {
    let world = project_with_called_pipeline();
    world.write(
        ".platform/shared-pipelines.yaml",
        "pipelines:\n  - { pipeline: sales/load.orch.yaml, id: load, enabled: true }\n",
    );
    world.commit("shared");
    world.git("sparse-checkout set --no-cone /sales/");
    for args in [
        "sales/load.orch.yaml sales/import.orch.yaml --dry-run",
        "sales/load.orch.yaml sales/import.orch.yaml",
    ] {
        let output = mv(&world, args).expect(2);
        output.saying(&[
            ".platform/shared-pipelines.yaml:2: the file is not checked out",
            "nothing was changed",
        ]);
    }
    assert!(is_unmoved(&world));
}

#[test]
fn move_rewrites_the_target_of_a_linked_waivers_file() {
    let world = project_with_called_pipeline();
    let waiver = "- { rule: component-naming-convention, path: sales/load.orch.yaml, reason: r }\n";
    world.write("gate/waivers.yaml", waiver);
    std::os::unix::fs::symlink("gate/waivers.yaml", world.work().join(WAIVERS)).unwrap();
    world.commit("linked");
    mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(0);
    assert!(world.work().join(WAIVERS).is_symlink());
    assert_eq!(
        world.read_text("gate/waivers.yaml"),
        waiver.replace("sales/load", "sales/import")
    );
}

#[test]
fn move_warns_of_file_that_is_too_large_to_search() {
    let world = project_with_called_pipeline();
    let file = fs::File::create(world.work().join("large.orch.yaml")).unwrap();
    file.set_len(33 << 20).unwrap();
    let output = mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(0);
    let output = output.saying(&["these files could not be searched for references: large.orch.yaml ("]);
    assert_eq!(
        output.out,
        "moved 1 pipeline; no references to it in the files that could be searched\n"
    );
    assert!(!is_unmoved(&world));
}

/// Git stores the file as UTF-8 and checks it out as UTF-16.
#[test]
fn move_is_refused_if_file_in_utf_16_contains_the_old_path() {
    let world = project_with_called_pipeline();
    world.write(
        ".gitattributes",
        "wide.orch.yaml text working-tree-encoding=UTF-16\n",
    );
    world.write(
        "wide.orch.yaml",
        encode_utf_16(&CALLER.replace("TARGET", "sales/load")),
    );
    world.commit("wide");
    assert!(world.git("show HEAD:wide.orch.yaml").contains("sales/load"));
    let refusal = ":7: this file contains `sales/load` and cannot be parsed: the file is UTF-16";
    mv(&world, "sales/load.orch.yaml sales/import.orch.yaml")
        .expect(2)
        .saying(&["wide.orch.yaml", refusal, "nothing was changed"]);
    assert!(is_unmoved(&world));
    // A file without the path was searched, too.
    world.write(
        "wide.orch.yaml",
        encode_utf_16(&CALLER.replace("TARGET", "sales/other")),
    );
    let output = mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(0);
    assert_eq!(output.out, "moved 1 pipeline; no references to it\n");
    assert!(!output.err.contains("searched"), "{}", output.all());
}

#[test]
fn move_is_refused_if_gate_file_in_utf_16_contains_the_old_path() {
    let world = project_with_called_pipeline();
    let waiver = "- { rule: component-naming-convention, path: sales/load.orch.yaml, reason: r }\n";
    world.write(WAIVERS, encode_utf_16(waiver));
    mv(&world, "sales/load.orch.yaml sales/import.orch.yaml")
        .expect(2)
        .saying(&[
            WAIVERS,
            ":1: this file contains `sales/load` and cannot be parsed",
        ]);
    assert!(is_unmoved(&world));
    mv(&world, "a.orch.yaml b.orch.yaml").expect(0);
}

#[test]
fn move_out_of_sparse_checkout_is_refused_without_advice_for_git() {
    let world = project_with_called_pipeline();
    world.git("sparse-checkout set --cone sales .platform");
    let output = mv(&world, "sales/load.orch.yaml out/load.orch.yaml").expect(2);
    output.saying(&[
        "nothing was changed: `out/load.orch.yaml` is outside the sparse checkout",
        "hint: add its directory with `git sparse-checkout add`",
    ]);
    assert!(is_unmoved(&world));
    assert!(!world.work().join("out").exists());
    mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(0);
}

/// Staging the rewritten file would also stage the changes that the index hides.
#[test]
fn rewritten_file_whose_changes_the_index_hides_is_not_staged() {
    let world = project_with_called_pipeline();
    world.write("b.orch.yaml", CALLER.replace("TARGET", "sales/load"));
    world.commit("caller");
    world.git("update-index --assume-unchanged b.orch.yaml");
    world.write("b.orch.yaml", world.read_text("b.orch.yaml") + "# hidden\n");
    mv(&world, "sales/load.orch.yaml sales/import.orch.yaml")
        .expect(0)
        .saying(&["in b.orch.yaml are not staged", "are hidden by it"]);
    assert!(world.read_text("b.orch.yaml").contains("sales/import"));
    assert!(!world.git("diff --cached --name-only").contains("b.orch.yaml"));
}

#[test]
fn repair_warns_of_file_that_cannot_be_parsed() {
    let world = project_with_called_pipeline();
    world.write("broken.orch.yaml", "type: [\norchestrationJob: gone\n");
    let output = mv(&world, "--repair")
        .expect(0)
        .saying(&["these files could not be searched for references: broken.orch.yaml ("]);
    assert_eq!(output.out, "nothing to repair\n");
}

#[test]
fn move_reports_that_untracked_caller_is_not_staged() {
    let world = project_with_called_pipeline();
    world.write("new.orch.yaml", CALLER.replace("TARGET", "sales/load"));
    let output = mv(&world, "sales/load.orch.yaml sales/import.orch.yaml").expect(0);
    output.saying(&["in new.orch.yaml are not staged", "were not in the index"]);
    assert!(world.read_text("new.orch.yaml").contains("sales/import"));
}

/// A limit on the size of files keeps the second file from being written.
#[test]
fn move_that_cannot_write_a_file_is_undone() {
    let world = project_with_called_pipeline();
    let caller = CALLER.replace("TARGET", "sales/load");
    let large_caller = caller.clone() + &"# more\n".repeat(10_000);
    world.write("b.orch.yaml", &caller);
    world.write("c.orch.yaml", &large_caller);
    world.commit("callers");
    let output = Call::new(&world.work())
        .command_with_small_files("mv sales/load.orch.yaml deep/import.orch.yaml")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("could not write c.orch.yaml"), "{text}");
    assert!(text.contains("hint: all changes were undone"), "{text}");
    assert!(is_unmoved(&world));
    assert_eq!(world.read_text("b.orch.yaml"), caller);
    assert_eq!(world.git("status --short"), "");
}

#[test]
fn move_that_a_signal_interrupts_is_undone() {
    let world = project_with_called_pipeline();
    let caller = CALLER.replace("TARGET", "sales/load");
    world.write("b.orch.yaml", &caller);
    world.commit("caller");
    let folder = scratch::create_scratch_directory();
    let output = Call::new(&world.work())
        .variable("PATH", interrupting_git(folder.path(), "mv"))
        .run("mv sales/load.orch.yaml deep/import.orch.yaml")
        .expect(143);
    output.saying(&["error: terminated", "hint: all changes were undone"]);
    assert!(is_unmoved(&world));
    assert_eq!(world.read_text("b.orch.yaml"), caller);
    assert_eq!(world.git("status --short"), "");
    mv(&world, "sales/load.orch.yaml deep/import.orch.yaml").expect(0);
}

#[test]
fn move_without_references_that_a_signal_interrupts_is_undone() {
    let world = project_with_called_pipeline();
    let folder = scratch::create_scratch_directory();
    Call::new(&world.work())
        .variable("PATH", interrupting_git(folder.path(), "mv"))
        .run("mv sales/load.orch.yaml deep/import.orch.yaml")
        .expect(143)
        .saying(&["error: terminated", "hint: all changes were undone"]);
    assert!(is_unmoved(&world));
    mv(&world, "sales/load.orch.yaml deep/import.orch.yaml").expect(0);
}

/// Git moves the files before it writes the index, so that a full disk leaves them moved.
#[test]
fn move_without_a_written_index_is_undone() {
    let world = project_with_called_pipeline();
    let args = "mv sales/load.orch.yaml deep/import.orch.yaml";
    let output = Call::new(&world.work())
        .command_in_shell("trap '' XFSZ; ulimit -f 0", args)
        .output()
        .unwrap();
    let log = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(log.contains("could not move the files"), "{log}");
    assert!(log.contains("hint: all changes were undone"), "{log}");
    assert!(is_unmoved(&world));
    assert_eq!(world.git("status --short"), "");
    // The limit stops git with a signal, so git does not remove its lock, as it does on a full disk.
    let lock = world.work().join(".git/index.lock");
    assert_eq!(log.contains("git has left its lock file"), lock.exists(), "{log}");
    let _ = fs::remove_file(lock);
    mv(&world, "sales/load.orch.yaml deep/import.orch.yaml").expect(0);
}

#[test]
fn move_that_git_refuses_changes_nothing() {
    let world = project_with_called_pipeline();
    let args = "mv sales/load.orch.yaml deep/import.orch.yaml";
    fs::write(world.work().join(".git/index.lock"), "").unwrap();
    let output = mv(&world, "sales/load.orch.yaml deep/import.orch.yaml")
        .expect(2)
        .saying(&[
            "index.lock",
            "hint: nothing was changed: check that the git program is installed",
        ]);
    assert!(!output.err.contains("has left its lock file"), "{}", output.err);
    assert!(is_unmoved(&world));
    let call = Call::new(&world.work()).variable("PATH", "/missing");
    fs::remove_file(world.work().join(".git/index.lock")).unwrap();
    call.run(args)
        .expect(2)
        .saying(&["hint: nothing was changed: check that the git program is installed"]);
    assert!(is_unmoved(&world));
}

/// A signal after the last edit is too late.
#[test]
fn move_that_a_signal_interrupts_at_its_end_is_complete() {
    let world = project_with_called_pipeline();
    world.write("b.orch.yaml", CALLER.replace("TARGET", "sales/load"));
    world.commit("caller");
    let folder = scratch::create_scratch_directory();
    let output = Call::new(&world.work())
        .variable("PATH", interrupting_git(folder.path(), "update-index"))
        .run("mv sales/load.orch.yaml deep/import.orch.yaml")
        .expect(143);
    assert!(output.out.contains("moved 1 pipeline"), "{}", output.all());
    assert_eq!(
        world.git("status --short"),
        "M  b.orch.yaml\nR  sales/load.orch.yaml -> deep/import.orch.yaml"
    );
}

#[test]
fn move_is_refused_if_unparsable_file_writes_the_old_path_with_a_fold_or_an_escape() {
    let world = project_with_called_pipeline();
    world.write("sales/load the für.orch.yaml", orchestration_text(&["Start"]));
    world.commit("a name with blanks");
    for text in [
        "type: [\norchestrationJob: sales/load\n  the für\n",
        "type: [\norchestrationJob: \"sales/load the f\\u00fcr\"\n",
        "type: [\norchestrationJob: \"sales/load the f\\\n  ür\"\n",
        "type: [\norchestrationJob: \"sales\\/load\\\n  \\ the für\"\n",
    ] {
        world.write("broken.orch.yaml", text);
        let output = mv(
            &world,
            (
                "--",
                &["sales/load the für.orch.yaml", "stock/load the für.orch.yaml"],
            ),
        )
        .expect(2);
        output.saying(&["broken.orch.yaml:2: this file contains `sales/load the für` and cannot be parsed"]);
    }
    world.write(
        "broken.orch.yaml",
        "type: [\norchestrationJob: sales/load\n  the fürs\n",
    );
    mv(
        &world,
        (
            "--",
            &["sales/load the für.orch.yaml", "stock/load the für.orch.yaml"],
        ),
    )
    .expect(0);
}
