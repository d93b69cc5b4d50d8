//! The files from which a release is created: the pre-commit hook and its package, the targets, and the moving tags.

use crate::support::{git, root, scratch};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

fn yaml(path: &str) -> Value {
    serde_yaml::from_str(&read(path)).unwrap()
}

/// pre-commit installs the repository with pip, so its package must not be one that compiles the program.
#[test]
fn hook_installs_wheel_of_same_version() {
    let hook = &yaml(".pre-commit-hooks.yaml")[0];
    assert_eq!(hook["language"], "python");
    assert_eq!(hook["entry"], "sluicegate check --staged");
    // A commit that deletes files, or changes only scripts, gives pre-commit no file that matches.
    assert_eq!(hook["always_run"], true);
    let package = read("pyproject.toml");
    for line in [
        format!("version = \"{VERSION}\""),
        format!("dependencies = [\"sluicegate=={VERSION}\"]"),
        "build-backend = \"setuptools.build_meta\"".to_owned(),
    ] {
        assert!(
            package.lines().any(|found| found == line),
            "{line} is missing: {package}"
        );
    }
    assert!(!package.contains("name = \"sluicegate\"\n"), "{package}");
}

#[test]
fn packages_are_created_for_each_target_of_release_workflow() {
    let workflow = yaml(".github/workflows/release.yml");
    let builds = workflow["jobs"]["build"]["strategy"]["matrix"]["include"]
        .as_array()
        .unwrap();
    let text = read(".ci/archives.py");
    for build in builds {
        let target = format!("    \"{}\": (\"", build["target"].as_str().unwrap());
        assert!(text.contains(&target), "{target}");
    }
    assert_eq!(text.matches("\": (\"").count(), builds.len());
    let count = format!("packages {}\n", builds.len());
    assert!(read(".ci/release").contains(&count), "{count}");
}

/// Returns the output of `.ci/tags` in a repository of this version that has these tags.
fn tags(version: &str, released: &str, argument: &str) -> String {
    let folder = scratch::create_scratch_directory();
    fs::create_dir(folder.path().join(".ci")).unwrap();
    for script in [".ci/tags", ".ci/notes"] {
        fs::copy(root().join(script), folder.path().join(script)).unwrap();
    }
    let manifest = format!("[workspace.package]\nversion = \"{version}\"\n");
    fs::write(folder.path().join("Cargo.toml"), manifest).unwrap();
    commit_with_tags(folder.path(), released);
    let output = Command::new("bash")
        .args([".ci/tags", argument])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit_with_tags(folder: &Path, tags: &str) {
    git(folder, "init -q");
    git(folder, "add -A");
    git(folder, "commit -q -m one");
    for tag in tags.split_whitespace() {
        git(folder, format!("tag {tag}").as_str());
    }
}

#[test]
fn moving_tags_belong_to_highest_version_with_their_numbers() {
    for (version, released, names, actions) in [
        ("0.1.0", "", "0.1.0 0.1 0 latest", "v0.1 v0"),
        ("1.2.3", "v1.2.3 v1.2.2 v0.9.0", "1.2.3 1.2 1 latest", "v1.2 v1"),
        ("1.10.0", "v1.9.0 v1.9 v1", "1.10.0 1.10 1 latest", "v1.10 v1"),
        // Fixes of an older minor or major version.
        ("1.2.4", "v1.3.0", "1.2.4 1.2", "v1.2"),
        ("1.9.9", "v2.0.0", "1.9.9 1.9 1", "v1.9 v1"),
        // A pre-release of the next version is not higher, and moves no name itself.
        ("1.2.4", "v1.3.0-rc.1", "1.2.4 1.2 1 latest", "v1.2 v1"),
        ("1.3.0-rc.1", "v1.2.4", "1.3.0-rc.1", ""),
    ] {
        assert_eq!(
            tags(version, released, "names"),
            names,
            "{version} after {released}"
        );
        assert_eq!(
            tags(version, released, "actions"),
            actions,
            "{version} after {released}"
        );
    }
}
