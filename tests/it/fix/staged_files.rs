//! `sluicegate fix --staged`, as a git hook runs it.

use super::{EMPTY, HEADER, call, fix, project};
use crate::support::{Call, World, interrupting_git, path_variable, recording_git, scratch};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

/// Runs `git` with the hooks of the repository, and returns whether it succeeded.
fn run_git_with_hooks(world: &World, args: &str) -> bool {
    let mut command = Command::new("git");
    command
        .args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"])
        .args(args.split(' '))
        .current_dir(world.work())
        .env_clear()
        .env("PATH", path_variable())
        .env("HOME", world.path());
    command.output().unwrap().status.success()
}

#[test]
fn staged_file_is_fixed_on_disk_and_in_index() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("old.orch.yaml", &caller)]);
    world.write("main.orch.yaml", &caller);
    world.write("next.orch.yaml", &caller);
    world.git("add main.orch.yaml");
    let output = fix(&world, "--staged").expect(0);
    assert_eq!(
        output.out, "main.orch.yaml:8: load -> sales/load\nfixed 1 finding in 1 file\n",
        "neither committed nor untracked files"
    );
    assert!(!output.err.contains("git add"), "{}", output.all());
    let fixed = caller.replace(": load", ": sales/load");
    assert_eq!(world.read_text("main.orch.yaml"), fixed);
    assert_eq!(world.git("show :main.orch.yaml"), fixed.trim_end());
    assert_eq!(
        world.git("status --short"),
        "A  main.orch.yaml\n?? next.orch.yaml"
    );
    assert_eq!(
        fix(&world, "--staged").expect(0).out,
        "no finding has an automatic fix\n"
    );
}

#[test]
fn file_with_unstaged_changes_is_left() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    world.write("main.orch.yaml", &caller);
    world.write("next.orch.yaml", &caller);
    world.git("add -A");
    let edited = format!("{caller}# not staged\n");
    world.write("main.orch.yaml", &edited);
    let index = world.git("ls-files --stage main.orch.yaml");
    for args in ["--staged --dry-run", "--staged"] {
        let output = fix(&world, args).expect(1);
        let left = "left: main.orch.yaml:8: load: the file has unstaged changes: stage or stash them first\n";
        assert!(output.out.contains(left), "{}", output.all());
        assert!(
            output.out.contains("next.orch.yaml:8: load -> sales/load\n"),
            "{}",
            output.all()
        );
    }
    assert_eq!(world.read_text("main.orch.yaml"), edited);
    assert_eq!(world.git("ls-files --stage main.orch.yaml"), index);
    // The reason of the file on disk comes first.
    let main = world.work().join("main.orch.yaml");
    fs::set_permissions(&main, fs::Permissions::from_mode(0o444)).unwrap();
    let output = fix(&world, "--staged").expect(1);
    assert!(
        output.out.contains("load: the file is read-only\n"),
        "{}",
        output.all()
    );
}

#[test]
fn converted_file_is_left_with_its_reason() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    world.write(".gitattributes", "main.orch.yaml filter=hide\n");
    world.write("main.orch.yaml", &caller);
    world.git("add -A");
    let output = fix(&world, "--staged").expect(1);
    let left = "left: main.orch.yaml:8: load: git attributes convert the file: run `sluicegate fix` without --staged";
    assert!(output.out.contains(left), "{}", output.all());
    assert_eq!(world.read_text("main.orch.yaml"), caller);
}

/// Staging the fix would also stage the changes that the index hides.
#[test]
fn file_whose_changes_the_index_hides_is_left() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", &caller)]);
    let edited = format!("{caller}# hidden\n");
    for flag in ["assume-unchanged", "skip-worktree"] {
        world.git(format!("update-index --{flag} main.orch.yaml"));
        world.write("main.orch.yaml", &edited);
        let output = fix(&world, "--staged --all").expect(1);
        let left = "left: main.orch.yaml:8: load: git's index tells git to ignore the file on disk";
        assert!(output.out.contains(left), "{}", output.all());
        assert_eq!(world.read_text("main.orch.yaml"), edited);
        assert_eq!(world.git("diff --cached --stat"), "");
        world.git(format!("update-index --no-{flag} main.orch.yaml"));
        world.write("main.orch.yaml", &caller);
    }
    fix(&world, "--staged --all").expect(0);
    assert_eq!(world.git("diff --cached --name-only"), "main.orch.yaml");
}

/// A limit on the size of files keeps the larger file from being written.
#[test]
fn file_that_cannot_be_written_is_left_on_disk_and_in_index() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let large_caller = caller.clone() + &"# more\n".repeat(10_000);
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    world.write("main.orch.yaml", &large_caller);
    world.write("next.orch.yaml", &caller);
    world.git("add -A");
    let index = world.git("ls-files --stage main.orch.yaml");
    let output = Call::new(&world.work())
        .command_with_small_files("fix --staged")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    for line in [
        "next.orch.yaml:8: load -> sales/load\n",
        "left: main.orch.yaml:8: load: could not write the file: ",
        "fixed 1 finding in 1 file; 1 left\n",
    ] {
        assert!(text.contains(line), "{output:?}");
    }
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(world.read_text("main.orch.yaml"), large_caller);
    assert_eq!(world.git("ls-files --stage main.orch.yaml"), index);
    let fixed_caller = caller.replace(": load", ": sales/load");
    assert_eq!(world.git("show :next.orch.yaml"), fixed_caller.trim_end());
}

/// A fix in the index that git passes to the hook would be undone by the next commit.
#[test]
fn fix_in_hook_of_commit_with_paths_is_left_with_its_reason() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", EMPTY)]);
    world.write("main.orch.yaml", &caller);
    let hook = world.work().join(".git/hooks/pre-commit");
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    let sluicegate = env!("CARGO_BIN_EXE_sluicegate");
    let script = format!(
        "#!/bin/sh\n'{sluicegate}' check --staged >.git/check\nexec '{sluicegate}' fix --staged >.git/output\n"
    );
    fs::write(&hook, script).unwrap();
    fs::set_permissions(&hook, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!run_git_with_hooks(&world, "commit -m x main.orch.yaml"));
    let output = world.read_text(".git/output");
    let findings = world.read_text(".git/check");
    assert!(
        findings.contains("project/call") && !findings.contains("`sluicegate fix"),
        "{findings}"
    );
    let left = "left: main.orch.yaml:8: load: `git commit` with paths discards the index of its hooks";
    assert!(output.contains(left), "{output}");
    assert_eq!(world.read_text("main.orch.yaml"), caller);
    // With `-a`, the index of the hook remains after the commit.
    assert!(run_git_with_hooks(&world, "commit -a -m x"));
    let fixed = caller.replace(": load", ": sales/load");
    assert_eq!(world.git("show HEAD:main.orch.yaml"), fixed.trim_end());
    assert_eq!(world.git("status --short"), "");
}

/// `git commit -a` gives its hooks another index.
#[test]
fn fix_in_hook_changes_the_index_of_the_commit() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY), ("main.orch.yaml", EMPTY)]);
    let git_dir = world.work().join(".git");
    fs::copy(git_dir.join("index"), git_dir.join("next-index")).unwrap();
    world.write("main.orch.yaml", &caller);
    let blob = world.git("hash-object -w main.orch.yaml");
    let before = world.git("ls-files --stage");
    let call_in_hook = Call::new(&world.work()).variable("GIT_INDEX_FILE", ".git/next-index");
    let path = git_dir.join("next-index");
    let stage = |args: &[&str]| {
        let mut command = Command::new("git");
        command
            .args(args)
            .current_dir(world.work())
            .env("GIT_INDEX_FILE", &path);
        let output = command.output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    };
    stage(&[
        "update-index",
        "--cacheinfo",
        &format!("100644,{blob},main.orch.yaml"),
    ]);
    call_in_hook.run("fix --staged").expect(0);
    let fixed = caller.replace(": load", ": sales/load");
    assert_eq!(stage(&["show", ":main.orch.yaml"]), fixed);
    assert_eq!(world.git("ls-files --stage"), before, "the other index stays");
}

/// Each call of git writes the complete index.
#[test]
fn many_files_with_odd_names_are_staged_by_one_call_of_git() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    let mut paths: Vec<String> = (0..120).map(|number| format!("c/{number}.orch.yaml")).collect();
    paths.extend(
        [
            "c/*.orch.yaml",
            "\"q\".orch.yaml",
            "a\tb\n1.orch.yaml",
            "é, 2.orch.yaml",
        ]
        .map(str::to_owned),
    );
    for path in &paths {
        world.write(path, &caller);
    }
    fs::set_permissions(
        world.work().join("c/0.orch.yaml"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    world.write("c/edited.orch.yaml", &caller);
    world.git("add -A");
    world.write("c/edited.orch.yaml", format!("{caller}# not staged\n"));
    let folder = scratch::create_scratch_directory();
    let output = Call::new(&world.work())
        .variable("PATH", recording_git(folder.path()))
        .run("fix --staged")
        .expect(1);
    let summary = "fixed 124 findings in 124 files";
    assert!(output.out.contains(summary), "{}", output.all());
    let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
    assert_eq!(calls.matches("update-index").count(), 1, "{calls}");
    let blob = world.git("hash-object c/0.orch.yaml");
    let entries = world.git("ls-files --stage -z");
    let entries: Vec<&str> = entries.split_terminator('\0').collect();
    for path in &paths {
        let mode = if path == "c/0.orch.yaml" {
            "100755"
        } else {
            "100644"
        };
        let entry = format!("{mode} {blob} 0\t{path}");
        assert!(entries.contains(&entry.as_str()), "{entry}");
    }
    assert_eq!(entries.len(), paths.len() + 3);
    assert_eq!(world.git("diff --name-only"), "c/edited.orch.yaml");
}

#[test]
fn finding_of_staged_check_names_fix_of_staged_files() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    world.write("main.orch.yaml", &caller);
    world.git("add main.orch.yaml");
    let check = |args: &str| Call::new(&world.work()).run(args).expect(0).all();
    let log = check("check --staged --fail-on never");
    assert!(log.contains("`sluicegate fix --staged` corrects it"), "{log}");
    let log = check("check --fail-on never");
    assert!(log.contains("`sluicegate fix` corrects it"), "{log}");
}

/// The files are written when the signal arrives.
#[test]
fn fix_that_a_signal_interrupts_while_it_stages_is_complete() {
    let caller = format!("{HEADER}{}", call("Call", "load"));
    let world = project(&[("sales/load.orch.yaml", EMPTY)]);
    world.write("main.orch.yaml", &caller);
    world.git("add -A");
    let folder = scratch::create_scratch_directory();
    let output = Call::new(&world.work())
        .variable("PATH", interrupting_git(folder.path(), "update-index"))
        .run("fix --staged")
        .expect(143);
    assert!(
        output.out.contains("fixed 1 finding in 1 file"),
        "{}",
        output.all()
    );
    assert_eq!(world.git("status --short"), "A  main.orch.yaml");
}
