//! A checkout that belongs to another user, as in a job's container.

use crate::support::{
    Call, Checkout, FEATURE, Project, change_owner, checkout, path_variable, scratch, with_default,
};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use walkdir::WalkDir;

/// Changes the owner of the directory and of everything in it.
fn give_all_away(folder: &Path) -> bool {
    let entries: Vec<PathBuf> = WalkDir::new(folder)
        .into_iter()
        .map(|entry| entry.unwrap().into_path())
        .collect();
    change_owner(&entries.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}

/// Returns whether git itself rejects this directory, with the test's home directory.
fn git_refuses(folder: &Path, home: &Path) -> bool {
    let mut status = Command::new("git");
    status.arg("status").current_dir(folder).env_clear();
    let output = status
        .env("PATH", path_variable())
        .env("HOME", home)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stderr).contains("dubious ownership")
}

/// Installs a program that creates `mark`, wherever a repository can configure a program.
fn trap(folder: &Path, mark: &Path) {
    let script = folder.join(".git/hooks/trap");
    fs::create_dir_all(script.parent().unwrap()).unwrap();
    fs::write(&script, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
    fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let path = script.display().to_string();
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "credential.helper",
        "remote.origin.uploadpack",
    ] {
        crate::support::git(folder, &["config", key, &path]);
    }
    for hook in ["reference-transaction", "post-checkout", "post-index-change"] {
        fs::copy(&script, folder.join(".git/hooks").join(hook)).unwrap();
    }
}

#[test]
fn foreign_checkout_is_read_without_change_to_anyones_configuration() {
    let project = Project::new();
    let all = ["+refs/heads/*:refs/remotes/origin/*"];
    let folder = with_default(checkout(&project.world, &all, &project.feature));
    let beside = checkout(&project.world, &all, &project.feature);
    let (home, mark) = (
        scratch::create_scratch_directory(),
        project.world.path().join("mark"),
    );
    trap(&folder, &mark);
    let settings = fs::read(folder.join(".git/config")).unwrap();
    if !give_all_away(&folder) || !give_all_away(&beside) {
        return;
    }
    let variables = [
        ("CIRCLECI", "true"),
        ("CIRCLE_SHA1", project.feature.as_str()),
        ("CIRCLE_BRANCH", "feature"),
        ("HOME", home.path().to_str().unwrap()),
    ];
    let job = Checkout::new(&folder, &variables);
    job.says()
        .head("feature", &project.feature)
        .base(&project.fork, "`origin/main`")
        .changes(&FEATURE);
    job.review_call().run("review --dry-run").expect(0);
    assert!(!mark.exists(), "something of the repository was run");
    assert_eq!(fs::read(folder.join(".git/config")).unwrap(), settings);
    assert_eq!(
        fs::read_dir(home.path()).unwrap().count(),
        0,
        "the home stays empty"
    );
    assert!(git_refuses(&folder, home.path()) && git_refuses(&beside, home.path()));
}

#[test]
fn foreign_checkout_is_deepened_only_if_its_user_declared_it_safe() {
    let project = Project::new();
    let merge = project.trial_merge("refs/pull/7/merge");
    let pull = format!("+{merge}:refs/remotes/pull/7/merge");
    let folder = checkout(&project.world, &["--depth=1", &pull], &merge);
    if !give_all_away(&folder) {
        return;
    }
    let home = scratch::create_scratch_directory();
    let variables = [
        ("CIRCLECI", "true"),
        ("CIRCLE_SHA1", project.feature.as_str()),
        ("CIRCLE_BRANCH", "feature"),
        ("HOME", home.path().to_str().unwrap()),
    ];
    let call: Call = Checkout::new(&folder, &variables).call();
    call.run("context --deepen")
        .expect(7)
        .saying(&["belongs to another user", "safe.directory"]);
    let text = format!(
        "[safe]\n\tdirectory = {}\n",
        folder.canonicalize().unwrap().display()
    );
    fs::write(home.path().join(".gitconfig"), text).unwrap();
    let report = call.run("context --deepen --json").expect(0).json();
    assert_eq!(report["base"], project.fork.as_str());
}

#[test]
fn foreign_checkout_is_deepened_if_a_variable_declares_it_safe() {
    let project = Project::new();
    for (value, code) in [("/other", 7), ("*", 0)] {
        let folder = checkout(
            &project.world,
            &["--depth=1", "+refs/heads/feature:refs/remotes/origin/feature"],
            &project.feature,
        );
        if !give_all_away(&folder) {
            return;
        }
        let variables = [
            ("CIRCLECI", "true"),
            ("CIRCLE_SHA1", project.feature.as_str()),
            ("CIRCLE_BRANCH", "feature"),
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "safe.directory"),
            ("GIT_CONFIG_VALUE_0", value),
        ];
        let call: Call = Checkout::new(&folder, &variables).call();
        call.run("context --deepen").expect(code);
    }
}
