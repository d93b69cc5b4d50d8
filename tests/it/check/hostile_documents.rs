//! Malicious documents, through the complete program: no crash, at most a minute, at most 1 GiB.

#![cfg(unix)]

use crate::support::{
    Arguments, Call, RULES_FILE, World, commit_raw_tree, encode_utf_16, good_pipeline, project,
    trees_with_ambiguous_path,
};
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::rules::render_rules_file_template;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const HEAD: &str = "type: orchestration\npipeline:\n  components:\n";
/// A bound that detects quadratic run time, which takes minutes; the benches measure the normal run time.
const MAX_DURATION: Duration = Duration::from_secs(60);
/// Address space in KiB, which is more than the memory in use.
const MAX_ADDRESS_SPACE: u32 = 1024 * 1024;

/// Returns the program with limited memory.
fn memory_limited_command(world: &World, args: impl Arguments) -> std::process::Command {
    let script = format!("ulimit -v {MAX_ADDRESS_SPACE}; exec \"$@\"");
    let program = Call::new(&world.work()).command(args);
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &script, "sh"])
        .arg(program.get_program())
        .args(program.get_args());
    shell
        .current_dir(world.work())
        .env_clear()
        .env("HOME", world.path());
    shell
}

/// Checks the files under the limits; each must have results.
#[track_caller]
fn survives(label: &str, world: &World, files: usize) {
    let mut shell = memory_limited_command(world, "check --all --report json=-");
    let start = Instant::now();
    let output = shell.output().unwrap();
    let took = start.elapsed();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        matches!(output.status.code(), Some(0 | 1)),
        "{label}: {:?} {stderr}",
        output.status
    );
    assert!(took < MAX_DURATION, "{label}: {took:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["counts"]["files"], files, "{label}");
}

fn many(count: usize, line: impl Fn(usize) -> String) -> String {
    let mut document = HEAD.to_owned();
    for index in 0..count {
        let _ = writeln!(document, "    {}", line(index));
    }
    document
}

#[test]
fn hostile_pipelines_end_within_limits() {
    let megabytes = |unit: &str, count: usize| unit.repeat((count << 20) / unit.len());
    let world = project();
    world.write(RULES_FILE, render_rules_file_template(Enforcement::Warn));
    let chain = |index: usize| {
        format!(
            "c{index}: {{type: if, transitions: {{success: [c{}], failure: [c0]}}}}",
            index + 1
        )
    };
    let fan = format!(
        "c0: {{transitions: {{success: [{}]}}}}",
        (0..20_000)
            .map(|at| format!("c{at}"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    let cases = [
        ("a chain of 20,000", many(20_000, chain)),
        (
            "10 MB of components",
            many(250_000, |index| {
                format!("component number {index}: {{ type: x }}")
            }),
        ),
        (
            "one component that links to all",
            many(1, |_| fan.clone()) + &many(20_000, |index| format!("c{}:", index + 1))[HEAD.len()..],
        ),
        (
            "flow lists to the limit",
            format!("{HEAD}    x: [{}]\n", megabytes("a,", 3)),
        ),
        (
            "flow lists over the limit",
            format!("{HEAD}    x: [{}]\n", megabytes("a,", 10)),
        ),
        ("deep flow", format!("{HEAD}    x: {}", megabytes("[", 2))),
        ("deep blocks", format!("{HEAD}    x: {}", megabytes("- ", 10))),
        (
            "a long text",
            format!("{HEAD}    x: \"{}\"\n", megabytes("text ", 10)),
        ),
        (
            "a block of 10 MB",
            format!("{HEAD}    x: |\n{}", megabytes("      line\n", 10)),
        ),
        ("comments of 10 MB", megabytes("# comment\n", 10) + HEAD),
        ("a file that is too large", megabytes("# comment\n", 70)),
        ("keys that are questions", megabytes("? ", 2)),
        ("anchors", many(100_000, |index| format!("c{index}: &a{index} x"))),
        ("escapes", format!("{HEAD}    \"{}\":\n", megabytes("\\u00e9", 5))),
    ];
    for (label, document) in cases {
        world.write("hostile.orch.yaml", document);
        survives(label, &world, 2);
    }
}

#[test]
fn hostile_rules_files_end_within_limits() {
    let world = project();
    let rule = |pattern: &str| {
        format!(
            "- {{id: component-naming-convention, enabled: true, enforcementLevel: warn, config: {{regexMatchPattern: '{pattern}'}}}}\n"
        )
    };
    let cases = [
        (
            "many rules",
            format!("rules:\n{}", rule("((a{100}){100}){10}").repeat(1000)),
        ),
        (
            "a large pattern",
            format!("rules:\n{}", rule(&"(a|b)*[a-z]{1,99}".repeat(2000))),
        ),
        (
            "a deep pattern",
            format!("rules:\n{}", rule(&"(".repeat(500_000))),
        ),
        (
            "10 MB of rules",
            format!("rules:\n{}", "- {id: x, enabled: false}\n".repeat(400_000)),
        ),
        (
            "a long id",
            format!("rules: [{{id: {}, enabled: true}}]\n", "x".repeat(5 << 20)),
        ),
    ];
    for (label, rules) in cases {
        world.write(RULES_FILE, &rules);
        survives(label, &world, 1);
        let start = Instant::now();
        Call::new(&world.work()).run("rules lint");
        assert!(start.elapsed() < MAX_DURATION, "{label}");
    }
}

#[test]
fn configuration_file_that_never_ends_is_refused() {
    let world = project();
    std::os::unix::fs::symlink("/dev/zero", world.work().join("sluicegate.yaml")).unwrap();
    let output = memory_limited_command(&world, "check --all").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("sluicegate.yaml cannot be read: the content has more than"),
        "{stderr}"
    );
}

/// git checks out one of the two files, but a platform may read the other.
#[test]
fn check_and_publish_of_tree_with_duplicate_path_never_pass() {
    let world = World::new();
    world.write("a/b", "1");
    world.write("x", "2");
    world.commit("one");
    for raw in trees_with_ambiguous_path(&world) {
        let commit = commit_raw_tree(&world, &raw);
        let call = Call::new(&world.work());
        call.run(format!("check --all --head {commit}")).expect(3);
        let publish = format!("publish --dry-run --prefix=p --version-name=1 --head {commit}");
        let output = call.run(&publish);
        assert_ne!(output.code, 0, "{}", output.err);
        assert!(
            output.err.contains("duplicated or out of order")
                || output.err.contains("a file and a directory with the same name"),
            "{}",
            output.err
        );
    }
}

#[test]
fn finding_about_utf_16_file_has_no_excerpt() {
    for (content, has_excerpt) in [
        (encode_utf_16(&good_pipeline()), false),
        (b"\0GITCRYPT\0 x".to_vec(), false),
        (b"type: orchestration\ntype: orchestration\n".to_vec(), true),
    ] {
        let world = project();
        world.write("b.orch.yaml", content);
        let output = Call::new(&world.work()).run("check").expect(1);
        output.assert_logged(&["document-parse-error"]);
        assert_eq!(output.all().contains(" | "), has_excerpt, "{}", output.all());
    }
}
