//! Unusual repositories: subdirectories, worktrees, submodules, links, odd names, unreadable formats.

use crate::support::{
    Call, Checkout, ContextReport, Job, RULES, RULES_FILE, World, bad_pipeline, git, orchestration_text,
    project, scratch, store_references_as_reftable,
};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

/// Creates a pushed `main` with these files and checks out a branch `change`.
fn world_on_change_branch(files: &[(&str, &str)]) -> World {
    let world = World::new();
    for (path, content) in files {
        world.write(path, content);
    }
    world.commit("first");
    world.push();
    world.git("checkout -q -b change");
    world
}

fn context_of_checkout(folder: &Path) -> ContextReport {
    Checkout::new(folder, &[]).says()
}

#[test]
fn subfolder_finds_the_whole_and_paths_are_relative_to_it() {
    let world = world_on_change_branch(&[("sub/deep/a.orch.yaml", "1"), ("b.orch.yaml", "1")]);
    world.write("sub/deep/a.orch.yaml", "2");
    world.write("b.orch.yaml", "2");
    world.commit("both");
    let sub = world.work().join("sub");
    context_of_checkout(&sub).changes(&["M b.orch.yaml", "M sub/deep/a.orch.yaml"]);
    let report = Call::new(&sub).run("context --json deep").expect(0).json();
    assert_eq!(report["selected"], json!(["sub/deep/a.orch.yaml"]));
    assert_eq!(
        report["changed"][0]["reason"],
        "outside the paths on the command line"
    );
    let outside = Call::new(&sub).run("context ../..").expect(2);
    outside.saying(&["is outside the repository"]);
}

#[test]
fn worktree_has_its_own_head() {
    let world = world_on_change_branch(&[("a.orch.yaml", "1")]);
    world.git("worktree add -q -b tree ../tree origin/main");
    let tree = world.path().join("tree");
    fs::write(tree.join("t.orch.yaml"), "1").unwrap();
    git(&tree, "add -A");
    git(&tree, "commit -q -m 'in the worktree'");
    git(&tree, "push -q origin HEAD:tree");
    let head = git(&tree, "rev-parse HEAD");
    context_of_checkout(&tree)
        .head("tree", &head)
        .base(&world.git("rev-parse origin/main"), "`origin/main`")
        .changes(&["A t.orch.yaml"]);
}

#[test]
fn submodule_is_another_repository_whose_pipelines_are_not_this_ones() {
    let inner = world_on_change_branch(&[("inner.orch.yaml", "1")]);
    let outer = world_on_change_branch(&[("a.orch.yaml", "1")]);
    outer.git(&[
        "submodule",
        "add",
        "-q",
        &inner.remote().display().to_string(),
        "nested",
    ]);
    outer.write("b.orch.yaml", "1");
    outer.commit("a submodule and a pipeline");
    context_of_checkout(&outer.work()).changes(&["A b.orch.yaml"]);
    let nested = outer.work().join("nested");
    git(&nested, "checkout -q -b change");
    fs::write(nested.join("more.orch.yaml"), "1").unwrap();
    git(&nested, "add -A");
    git(&nested, "commit -q -m 'in the submodule'");
    let head = git(&nested, "rev-parse HEAD");
    context_of_checkout(&nested)
        .head("change", &head)
        .changes(&["A more.orch.yaml"]);
}

#[test]
fn pipeline_that_becomes_a_link_changes_its_type() {
    let world = world_on_change_branch(&[("a.orch.yaml", "1"), ("b.orch.yaml", "2")]);
    fs::remove_file(world.work().join("a.orch.yaml")).unwrap();
    symlink("b.orch.yaml", world.work().join("a.orch.yaml")).unwrap();
    world.commit("a link");
    context_of_checkout(&world.work()).changes(&["T a.orch.yaml"]);
}

#[test]
fn names_are_as_they_are_however_git_would_quote_them() {
    let names = [
        "a b.orch.yaml",
        "q\"uote.orch.yaml",
        "tab\tin.orch.yaml",
        "ümläut/数据.orch.yaml",
    ];
    for quote in ["true", "false"] {
        let world = world_on_change_branch(&[("old.orch.yaml", "1")]);
        world.git(&["config", "core.quotePath", quote]);
        for name in names {
            world.write(name, "1");
        }
        world.commit("names");
        context_of_checkout(&world.work()).changes(
            &names
                .map(|name| format!("A {name}"))
                .each_ref()
                .map(String::as_str),
        );
        let text = Call::new(&world.work()).run("context").expect(0);
        assert!(
            text.out.contains("+ added  ümläut/数据.orch.yaml"),
            "{}",
            text.all()
        );
    }
}

#[test]
fn rename_of_case_alone_is_a_rename() {
    let world = world_on_change_branch(&[("load.orch.yaml", "one line\nand another\n")]);
    world.git("mv -f load.orch.yaml Load.orch.yaml");
    world.commit("case");
    context_of_checkout(&world.work()).changes(&["R load.orch.yaml -> Load.orch.yaml"]);
}

#[test]
fn change_of_mode_is_no_change_in_commit_index_and_working_tree() {
    let text = orchestration_text(&["Start", "Done"]);
    let world = world_on_change_branch(&[
        ("a.orch.yaml", &text),
        ("b.orch.yaml", &text),
        (RULES_FILE, RULES),
    ]);
    for path in ["a.orch.yaml", RULES_FILE] {
        fs::set_permissions(world.work().join(path), Permissions::from_mode(0o755)).unwrap();
    }
    // The twin: another content is a change.
    world.write("b.orch.yaml", format!("# edited\n{text}"));
    let call = Call::new(&world.work());
    let list_paths = |args: &str| -> Vec<Value> {
        let report = call.run(("check -o json --fail-on never", args)).expect(0).json();
        assert_eq!(report["gateChanges"], json!([]), "{args}");
        let files = report["files"].as_array().unwrap().iter();
        files.map(|file| file["path"].clone()).collect()
    };
    assert_eq!(list_paths("--base main"), ["b.orch.yaml"], "working tree");
    world.git("add -A");
    assert_eq!(list_paths("--staged"), ["b.orch.yaml"], "index");
    world.commit("executable");
    assert_eq!(list_paths("--base main --head HEAD"), ["b.orch.yaml"], "commit");
}

#[test]
fn bare_repository_is_read_like_any_other() {
    let world = world_on_change_branch(&[("a.orch.yaml", "1")]);
    let report = Call::new(&world.remote())
        .run("context --repo . --json --all --branch main")
        .expect(0)
        .json();
    assert_eq!(report["selected"], json!(["a.orch.yaml"]));
    assert_eq!(report["head"], json!(world.git(&["rev-parse", "origin/main"])));
}

/// The bare repository's files come from the change, and so does its configuration.
#[test]
fn bare_repository_in_checkout_is_not_opened_unless_it_is_named() {
    let world = world_on_change_branch(&[("sales/a.orch.yaml", "1")]);
    git(&world.work(), "clone -q --bare . bare");
    let inside = world.work().join("sales");
    for name in ["HEAD", "config", "objects", "refs", "packed-refs"] {
        let from = world.work().join("bare").join(name);
        if from.exists() {
            fs::rename(from, inside.join(name)).unwrap();
        }
    }
    // The bare repository has only the first commit.
    world.write("sales/b.orch.yaml", "2");
    let head = world.git("add sales/b.orch.yaml") + &world.git("commit -q -m more");
    assert_eq!(head, "");
    let report = Call::new(&inside).run("context --json --all").expect(0).json();
    assert_eq!(
        report["selected"],
        json!(["sales/a.orch.yaml", "sales/b.orch.yaml"])
    );
    let named_args = "context --json --all --repo .";
    let report = Call::new(&inside).run(named_args).expect(0).json();
    assert_eq!(report["selected"], json!(["sales/a.orch.yaml"]));
    let bare = scratch::create_scratch_directory();
    git(
        bare.path(),
        &["clone", "-q", "--bare", &world.work().display().to_string(), "."],
    );
    Call::new(bare.path()).run("context").expect(7).saying(&[
        "is a bare repository, which has no working tree",
        "pass the bare repository with --repo",
    ]);
    Call::new(bare.path())
        .variable("SLUICEGATE_REPO", ".")
        .run("context --all")
        .expect(0);
}

#[test]
fn formats_that_cannot_be_read_end_with_what_to_do() {
    for (format, reftable, named, remedy) in [
        ("sha256", false, "objectformat = sha256", "git fast-export"),
        ("sha1", true, "refstorage = reftable", "--ref-format=files"),
    ] {
        let folder = scratch::create_scratch_directory();
        let format = format!("--object-format={format}");
        git(folder.path(), format!("init -q {format} ."));
        fs::write(folder.path().join("a.orch.yaml"), "1").unwrap();
        git(folder.path(), "add -A");
        git(folder.path(), "commit -q -m first");
        if reftable {
            store_references_as_reftable(folder.path());
        }
        for command in ["context", "review"] {
            Call::new(folder.path())
                .run(&[command])
                .expect(7)
                .saying(&[named, remedy]);
        }
    }
}

#[test]
fn unknown_extension_has_no_hint_about_the_formats() {
    let world = project();
    world.git("config core.repositoryFormatVersion 1");
    world.git("config extensions.newFormat 2");
    let output = Call::new(&world.work())
        .run("context")
        .expect(7)
        .saying(&["the unsupported git extension `newformat = 2`"]);
    assert!(
        !output.err.contains("clone the repository again"),
        "{}",
        output.all()
    );
}

#[test]
fn another_repository_is_named_by_flag_or_variable() {
    let world = world_on_change_branch(&[("a.orch.yaml", "1")]);
    world.write("b.orch.yaml", "1");
    world.commit("more");
    let elsewhere = scratch::create_scratch_directory();
    let path = world.work().display().to_string();
    let call = Call::new(elsewhere.path());
    let by_flag = call.run(&["context", "--json", "--repo", &path]).expect(0).json();
    let by_variable = call
        .variable("SLUICEGATE_REPO", &path)
        .run("context --json")
        .expect(0)
        .json();
    assert_eq!(by_flag["selected"], json!(["b.orch.yaml"]));
    assert_eq!(by_flag, by_variable);
}

#[test]
fn check_in_bare_repository_reports_unused_gate_files() {
    let world = World::new();
    world.write(RULES_FILE, RULES);
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    world.push();
    let call = |world: &World, args: &str| {
        Call::new(&world.work())
            .variable("SLUICEGATE_REPO", world.remote().display().to_string())
            .run(("check --all --head HEAD -o json", args))
    };
    let notes = |world: &World, args: &str| call(world, args).json()["notes"].to_string();
    let note = "does not apply: a local run reads this configuration from disk";
    assert!(!notes(&world, "").contains(note), "{}", notes(&world, ""));
    world.write("sluicegate.yaml", "review: { fail-on: warn }\n");
    world.commit("settings");
    world.push();
    let found = notes(&world, "");
    assert!(
        found.contains(&format!("sluicegate.yaml of the commit {note}")),
        "{found}"
    );
    world.write("sluicegate-waivers.yaml", "[]\n");
    world.commit("waivers");
    world.push();
    let found = notes(&world, "");
    assert!(
        found.contains("sluicegate.yaml, sluicegate-waivers.yaml of the commit do not apply"),
        "{found}"
    );
    // Counterpart: in a clone, the files apply.
    let report = Call::new(&world.work())
        .run("check --all --head HEAD -o json")
        .json();
    assert!(!report["notes"].to_string().contains("not apply"), "{report}");
    assert_eq!(report["context"]["failOn"], "warn");
}

/// An earlier job in the same checkout can write the file. It must not decide that a change is already merged.
#[test]
fn grafts_do_not_decide_that_a_change_is_merged() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", bad_pipeline());
    world.commit("change");
    world.push();
    let job = |words: &str| Job::github().pull_request().call(&world).run(words);
    job("check").expect(1);
    let ids = world.git("rev-parse origin/main HEAD").trim().replace('\n', " ");
    let path = world.work().join(".git/info/grafts");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, format!("# kept\n{ids}\n")).unwrap();
    for words in ["check", "context"] {
        job(words)
            .expect(7)
            .saying(&["info/grafts", "git replace --convert-graft-file"]);
    }
    // A file without grafts changes nothing.
    fs::write(&path, "# none\n\n").unwrap();
    job("check").expect(1);
}

/// The library also reads parents in the list of shallow commits, and that of a linked worktree.
#[test]
fn parents_in_the_list_of_shallow_commits_do_not_decide_that_a_change_is_merged() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", bad_pipeline());
    world.commit("change");
    world.push();
    world.git("worktree add -q --detach ../tree HEAD");
    let tree = world.path().join("tree");
    let (main, change) = (world.git("rev-parse origin/main"), world.git("rev-parse HEAD"));
    let grafts = format!("{} {}\n", main.trim(), change.trim());
    for (folder, path) in [
        (world.work(), ".git/shallow"),
        (tree.clone(), ".git/shallow"),
        (tree, ".git/worktrees/tree/shallow"),
    ] {
        let path = world.work().join(path);
        let job = |words: &str| {
            let call = Job::github().pull_request().extend(&world, Call::new(&folder));
            call.run(words)
        };
        job("check").expect(1);
        fs::write(&path, &grafts).unwrap();
        for words in ["check", "context"] {
            job(words)
                .expect(7)
                .saying(&["shallow", "clone the repository again"]);
        }
        // A part of an id, or a second word, is no list of git either.
        for line in [&change.trim()[..20], &format!("{} x", change.trim()), "grafts"] {
            fs::write(&path, format!("{line}\n")).unwrap();
            job("context").expect(7);
        }
        // Without grafts, the list changes nothing.
        fs::write(&path, "").unwrap();
        job("check").expect(1);
        fs::remove_file(&path).unwrap();
    }
}
