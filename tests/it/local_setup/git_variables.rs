//! The variables that git sets for its hooks, and those with which users add settings of git.

use crate::support::{Call, World, bad_pipeline, check_folder, git, project, report_paths};
use std::fs::{self, File};
use std::path::PathBuf;
use std::time::SystemTime;

/// `git commit -a` passes the full path of its index to the hook, which may check another repository.
#[test]
fn index_of_hook_is_read_only_for_its_own_repository() {
    let (hook_world, world) = (project(), project());
    world.write("b.orch.yaml", bad_pipeline());
    world.git("add b.orch.yaml");
    for (indexed_world, code) in [(&hook_world, 1), (&world, 0)] {
        let index = indexed_world.work().join(".git/next-index");
        fs::copy(hook_world.work().join(".git/index"), &index).unwrap();
        let call = Call::new(&world.work()).variable("GIT_INDEX_FILE", index.display().to_string());
        call.run("check --staged").expect(code);
        let output = call.run("diff --staged").expect(0);
        assert_eq!(output.out.contains("b.orch.yaml"), code == 1, "{}", output.all());
    }
}

/// `git commit` passes a relative path to its hook. In another repository whose `.git` is a file, the path leads to no
/// index.
#[test]
fn relative_index_of_hook_is_not_read_for_worktree_or_submodule() {
    let world = project();
    let url = format!("file://{}", world.remote().display());
    world.git(format!("submodule add -q {url} sub"));
    world.git("worktree add -q linked");
    for name in ["sub", "linked"] {
        let folder = world.work().join(name);
        fs::write(folder.join("b.orch.yaml"), bad_pipeline()).unwrap();
        git(&folder, "add b.orch.yaml");
        let call = Call::new(&world.work()).variable("GIT_INDEX_FILE", ".git/index");
        let output = call.run(format!("check --staged --repo {name}")).expect(1);
        assert!(output.out.contains("b.orch.yaml"), "{}", output.all());
        git(&folder, "rm -q --cached b.orch.yaml");
        call.run(format!("check --staged --repo {name}")).expect(0);
    }
}

/// Creates a clone that git checked out with CRLF line endings, with a branch. The time of its pipeline has changed since
/// the checkout.
fn clone_with_converted_line_endings(world: &World) -> PathBuf {
    let url = format!("file://{}", world.remote().display());
    git(
        world.path(),
        format!("-c core.autocrlf=true clone -q {url} converted"),
    );
    let clone = world.path().join("converted");
    git(&clone, "checkout -q -b change");
    git(&clone, "commit -q --allow-empty -m change");
    let path = clone.join("a.orch.yaml");
    assert!(fs::read_to_string(&path).unwrap().contains("\r\n"));
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    clone
}

#[test]
fn line_endings_are_compared_with_the_settings_in_variables() {
    let world = project();
    let clone = clone_with_converted_line_endings(&world);
    let config = |name: &str, value: &str| {
        let path = world.path().join(name);
        fs::write(&path, format!("[core]\n\tautocrlf = {value}\n")).unwrap();
        path.display().to_string()
    };
    let (on, off) = (config("on", "true"), config("off", "false"));
    let setting = [
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "core.autocrlf"),
        ("GIT_CONFIG_VALUE_0", "true"),
    ];
    for (variables, is_changed) in [
        (&[][..], true),
        (&[("GIT_CONFIG_GLOBAL", on.as_str())], false),
        (&[("GIT_CONFIG_SYSTEM", on.as_str())], false),
        (&[("GIT_CONFIG_GLOBAL", off.as_str())], true),
        (&[("GIT_CONFIG_PARAMETERS", "'core.autocrlf'='true'")], false),
        (&setting[..], false),
    ] {
        let mut call = Call::new(&clone);
        for (name, value) in variables {
            call = call.variable(name, value);
        }
        let report = call.run("check -o json").json();
        let expected: &[&str] = if is_changed { &["a.orch.yaml"] } else { &[] };
        assert_eq!(report_paths(&report), expected, "{variables:?}");
    }
    // The file of a variable replaces the one in the home directory.
    fs::copy(&on, clone.join(".gitconfig")).unwrap();
    let report = check_folder(&clone, "").json();
    assert!(report_paths(&report).is_empty());
    // No temporary file is needed to read another one.
    let call = Call::new(&clone).variable("GIT_CONFIG_GLOBAL", "/dev/null");
    for directory in [world.path().to_str().unwrap(), "/missing"] {
        let report = call
            .clone()
            .variable("TMPDIR", directory)
            .run("check -o json")
            .json();
        assert_eq!(report_paths(&report), ["a.orch.yaml"], "{directory}");
    }
}
