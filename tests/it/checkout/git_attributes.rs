//! Files on disk are evaluated only if git would store the same bytes.

use crate::support::{Call, World, orchestration_text, project};
use std::fs;
use std::path::PathBuf;

/// Returns a component whose line starts with a character that the encoding ISO646-GB uses for `#`: in the commit it is
/// a component, on disk a comment.
fn attributes_that_hide_changes() -> String {
    let text = orchestration_text(&["Start", "Load", "Done"]);
    format!("{text}    \u{a3}bad:\n      type: sql-executor\n").replace(
        "\u{a3}bad:\n      type: sql-executor\n",
        "\u{a3}: {type: sql-executor}\n",
    )
}

/// Creates a change that adds the pipeline and the attribute, and checks it out with git in a fresh clone.
fn clone_with_attribute(attribute: &str, content: &str) -> (World, PathBuf) {
    cloned_with(&format!("b.orch.yaml {attribute}\n"), content)
}

/// Like [`clone_with_attribute`], with the complete content of `.gitattributes`.
fn cloned_with(attributes: &str, content: &str) -> (World, PathBuf) {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", content);
    world.commit("pipeline");
    world.write(".gitattributes", attributes);
    // The pipeline is not added again, because its bytes are not in that encoding here.
    world.git("add .gitattributes");
    world.git("commit -q -m attribute");
    world.push();
    let url = format!("file://{}", world.remote().display());
    crate::support::git(world.path(), format!("clone -q --branch change {url} fresh"));
    let folder = world.path().join("fresh");
    (world, folder)
}

#[test]
fn encoding_of_working_tree_shows_gate_nothing_else() {
    let (world, folder) =
        clone_with_attribute("working-tree-encoding=ISO646-GB", &attributes_that_hide_changes());
    let on_disk = fs::read(folder.join("b.orch.yaml")).unwrap();
    assert!(on_disk.contains(&b'#'), "this git has no such encoding");
    assert_eq!(crate::support::git(&folder, &["status", "--porcelain"]), "");
    let call = Call::new(&folder);
    for flags in [
        &["check", "--head", "HEAD"][..],
        &["check", "--staged", "--base", "origin/main"],
        &["check"],
        &["check", "--all"],
        &["check", "--new-only"],
        &["check", "b.orch.yaml"],
    ] {
        let output = call.run(flags);
        assert_eq!(output.code, 1, "{flags:?}: {}", output.all());
    }
    drop(world);
}

#[test]
fn modified_file_that_git_would_convert_is_not_judged() {
    let (world, folder) = clone_with_attribute(
        "working-tree-encoding=ISO646-GB",
        &orchestration_text(&["Start", "Load", "Done"]),
    );
    Call::new(&folder).run("check").expect(0);
    let text = fs::read_to_string(folder.join("b.orch.yaml")).unwrap();
    fs::write(folder.join("b.orch.yaml"), format!("{text}# more\n")).unwrap();
    let output = Call::new(&folder).run("check").expect(3);
    assert!(output.all().contains("working-tree-encoding"), "{}", output.all());
    let publish = "publish --from worktree --dry-run --prefix p --version-name 1";
    fs::create_dir_all(folder.join(".platform")).unwrap();
    fs::write(
        folder.join(".platform/shared-pipelines.yaml"),
        "version: \"1.0\"\ntype: shared-pipelines-config\npipelines: []\n",
    )
    .unwrap();
    let output = Call::new(&folder).run(publish).expect(2);
    output.saying(&["git would store different bytes than those on disk"]);
    drop(world);
}

#[test]
fn modified_file_with_attribute_ident_is_judged_unless_it_has_an_identifier() {
    for pattern in ["*.yaml", "\"*.yaml\""] {
        let world = project();
        world.write(".gitattributes", format!("{pattern} ident\n"));
        world.commit("attribute");
        world.push();
        world.git("remote set-head origin main");
        let text = orchestration_text(&["Start", "Load", "Done"]);
        world.write("b.orch.yaml", &text);
        let call = Call::new(&world.work());
        call.run("check").expect(0);
        call.run("diff").expect(0).logging(&["b.orch.yaml: new pipeline"]);
        // git stores `$Id$` in place of the expanded identifier.
        world.write("b.orch.yaml", format!("# $Id: 1234 $\n{text}"));
        call.run("check").expect(3);
        call.run("diff")
            .expect(0)
            .logging(&["b.orch.yaml: cannot be read"]);
    }
}

#[test]
fn line_ends_of_the_working_tree_change_nothing() {
    for (content, code) in [
        (orchestration_text(&["Start", "Load", "Done"]), 0),
        (orchestration_text(&["Start", "bad name", "Done"]), 1),
    ] {
        let (world, folder) = clone_with_attribute("text eol=crlf", &content);
        assert!(fs::read(folder.join("b.orch.yaml")).unwrap().contains(&b'\r'));
        Call::new(&folder).run("check").expect(code);
        // If modified, the files are read from disk.
        let text = fs::read_to_string(folder.join("b.orch.yaml")).unwrap();
        fs::write(folder.join("b.orch.yaml"), format!("{text}# more\r\n")).unwrap();
        Call::new(&folder).run("check").expect(code);
        drop(world);
    }
}

#[test]
fn filter_that_job_has_set_up_shows_gate_nothing_else() {
    let (world, folder) =
        clone_with_attribute("filter=hide", &orchestration_text(&["Start", "bad name", "Done"]));
    let git = |args: &str| crate::support::git(&folder, args);
    git("config filter.hide.smudge \"sed 's/bad name/Good/g'\"");
    git("config filter.hide.clean \"sed 's/Good/bad name/g'\"");
    fs::remove_file(folder.join("b.orch.yaml")).unwrap();
    git("checkout -q -- b.orch.yaml");
    assert!(
        !fs::read_to_string(folder.join("b.orch.yaml"))
            .unwrap()
            .contains("bad name")
    );
    let output = Call::new(&folder).run("check");
    assert_eq!(output.code, 1, "{}", output.all());
    drop(world);
}

#[test]
fn publish_from_working_tree_sends_bytes_that_git_stores() {
    let (world, folder) =
        clone_with_attribute("working-tree-encoding=ISO646-GB", &attributes_that_hide_changes());
    fs::create_dir_all(folder.join(".platform")).unwrap();
    fs::write(
        folder.join(".platform/shared-pipelines.yaml"),
        "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: a.orch.yaml, id: a, enabled: true, parameters: {} }\n",
    )
    .unwrap();
    let plan = "publish --from worktree --dry-run --prefix p --version-name 1 --json";
    let output = Call::new(&folder).run(plan).expect(0);
    let stored = crate::support::git(&folder, "cat-file -s HEAD:b.orch.yaml");
    let files = output.json()["files"].clone();
    let sent = files
        .as_array()
        .unwrap()
        .iter()
        .find(|file| file["path"] == "b.orch.yaml")
        .unwrap();
    assert_eq!(sent["bytes"].to_string(), stored);
    drop(world);
}

#[test]
fn quoted_pattern_hides_nothing_in_fresh_clone_nor_in_copy_of_it() {
    for pattern in ["\"b.orch.yaml\"", "\"b\\056orch.yaml\""] {
        let attributes = format!("{pattern} working-tree-encoding=ISO646-GB\n");
        let (_world, folder) = cloned_with(&attributes, &attributes_that_hide_changes());
        Call::new(&folder).run("check").expect(1);
        // In a copy, git has to read the content, and libgit2 sees a different one: the file is not evaluated, and
        // never passes.
        let file = folder.join("b.orch.yaml");
        let bytes = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        fs::write(&file, bytes).unwrap();
        Call::new(&folder).run("check").expect(3);
    }
    // Counterpart: a modified file with a quoted pattern that converts nothing.
    let world = project();
    world.write(".gitattributes", "\"a.orch.yaml\" text\n");
    world.commit("attribute");
    world.push();
    world.write("a.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    Call::new(&world.work()).run("check").expect(0);
}

/// The readers of the commit see the version in which no finding fails the run.
#[test]
fn configuration_that_git_converts_is_read_from_the_commit() {
    let world = project();
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    world.write(".gitattributes", "sluicegate.yaml filter=hide\n");
    world.commit("configure");
    world.push();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "bad name", "Done"]));
    world.commit("change");
    world.push();
    world.git("config filter.hide.smudge \"sed 's/never/error/'\"");
    world.git("config filter.hide.clean \"sed 's/error/never/'\"");
    fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    world.git("checkout -q -- sluicegate.yaml");
    assert!(world.read_text("sluicegate.yaml").contains("error"));
    Call::new(&world.work()).run("check").expect(0);
    // Counterpart: git would store the same bytes, so the file on disk is used.
    world.write(".gitattributes", "");
    world.git("add .gitattributes");
    Call::new(&world.work()).run("check").expect(1);
}

/// The attribute does not convert the file, so nothing but its content shows the edit.
#[test]
fn edit_that_keeps_size_and_time_is_found_despite_attributes() {
    let world = project();
    world.write(".gitattributes", "*.png binary\n");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("pipeline");
    let path = world.work().join("b.orch.yaml");
    let time = fs::metadata(&path).unwrap().modified().unwrap();
    Call::new(&world.work()).run("check --base HEAD").expect(0);
    fs::write(&path, orchestration_text(&["Start", "load", "Done"])).unwrap();
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(time)
        .unwrap();
    Call::new(&world.work()).run("check --base HEAD").expect(1);
}

#[test]
fn attributes_of_the_clone_apply_in_a_linked_working_tree() {
    let world = project();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("pipeline");
    world.git("worktree add -q ../linked -b linked");
    let linked = world.work().with_file_name("linked");
    fs::create_dir_all(world.work().join(".git/info")).unwrap();
    world.write(".git/info/attributes", "*.yaml filter=hide\n");
    for folder in [world.work(), linked] {
        fs::write(
            folder.join("b.orch.yaml"),
            orchestration_text(&["Start", "More", "Done"]),
        )
        .unwrap();
        let output = Call::new(&folder).run("check --base HEAD").expect(3);
        assert!(
            output.out.contains("git would store different bytes"),
            "{}",
            output.all()
        );
    }
}
