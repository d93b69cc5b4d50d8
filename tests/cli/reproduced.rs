//! The command that a failed job ends with: it judges the same files on another machine.

use crate::program::{Call, Ended};
use crate::repo::{World, path_variable};
use crate::world::{RULES, change, pipeline};
use std::path::Path;
use std::process::Command;

const START: &str = "The same on your machine: ";

/// Three bad pipelines, of which the job means one, and rules in two folders.
fn world() -> World {
    let bad = pipeline(&["Start", "load it", "Done"]);
    change(&[
        ("sales/it's (a).orch.yaml", &bad),
        ("sales/old.orch.yaml", &bad),
        ("stock/b.orch.yaml", &bad),
        (".other/config/pipeline_quality_rules.yaml", RULES),
        ("gate/own.yaml", "review:\n  show: 20\n"),
    ])
}

/// A job of a push.
fn job(world: &World) -> Call {
    Call::new(&world.work())
        .variable("SLUICEGATE_CI", "gitlab")
        .variable("CI_COMMIT_SHA", world.git(&["rev-parse", "HEAD"]))
        .variable("CI_COMMIT_BRANCH", "change")
}

/// The command that the log ends with.
fn command(ended: &Ended) -> &str {
    let mut lines = ended.out.lines().filter_map(|line| line.strip_prefix(START));
    lines.next().unwrap()
}

/// The files with findings.
fn found(shown: &str) -> Vec<&str> {
    let places = shown.lines().filter_map(|line| line.trim().strip_prefix("--> "));
    places.collect()
}

/// The command in a shell, with the program on its path.
fn in_a_shell(world: &World, command: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_sluicegate")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), path_variable().display());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(world.work())
        .env_clear()
        .env("PATH", path)
        .env("HOME", world.path())
        .output()
        .unwrap();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_command_judges_the_files_that_the_job_judged() {
    let world = world();
    let call = job(&world)
        .variable("SLUICEGATE_EXCLUDE", "**/old.*\n**/$(touch x)")
        .variable("SLUICEGATE_CONFIG_DIR", ".other")
        .variable("SLUICEGATE_CONFIG", "gate/../gate/own.yaml");
    let args = [
        "check",
        "--base",
        "origin/main",
        "--include",
        "sales/**",
        "--include",
        "*.tran.yaml",
    ];
    world.write("c.tran.yaml", pipeline(&["Start", "Done"]));
    world.commit("more");
    let call = call.variable("CI_COMMIT_SHA", world.git(&["rev-parse", "HEAD"]));
    let ended = call.run(&args).expect(1);
    assert_eq!(found(&ended.out), ["sales/it's (a).orch.yaml:11"]);
    let told = command(&ended);
    let (_, options) = told.split_once(" --config ").unwrap_or((told, ""));
    assert_eq!(
        options,
        "gate/own.yaml --config-dir .other --include 'sales/**' --include '*.tran.yaml' --exclude '**/old.*' --exclude '**/$(touch x)'"
    );
    assert_eq!(found(&in_a_shell(&world, told)), found(&ended.out));
    // Made again from JSON, by the variables that the jobs share.
    call.run(&[&args[..], &["--report", "json=r.json"]].concat())
        .expect(1);
    let again = call.run(&["report", "r.json"]).expect(1);
    assert!(
        command(&again).ends_with("--exclude '**/old.*' --exclude '**/$(touch x)'"),
        "{}",
        again.all()
    );
}

#[test]
fn what_does_no_good_in_a_line_is_named_behind_it() {
    let world = world();
    let (long, evil) = (format!("{}/**", "x".repeat(2_000)), "a\u{1b}2J\u{202e}/**");
    for glob in [long.as_str(), evil] {
        let ended = job(&world)
            .run(&[
                "check",
                "--base",
                "origin/main",
                "--config-dir",
                ".other",
                "--exclude",
                glob,
            ])
            .expect(1);
        let told = command(&ended);
        assert!(
            told.ends_with(" --config-dir .other # add what the job says: --exclude"),
            "{told}"
        );
        assert_eq!(found(&in_a_shell(&world, told)).len(), 3);
    }
}
