//! Invalid input is reported with its name, and never causes a panic.

use crate::support::{
    Call, Platform, World, change, git, orchestration_text, passed_results, project, respond_for_each,
    scratch,
};
use clap::CommandFactory as _;
use serde_json::json;
use std::fs;

fn call_without_platform(world: &World) -> Call {
    Call::with_platform(&world.work(), "http://127.0.0.1:9")
}

#[test]
fn help_and_version_exit_with_0() {
    let world = World::new();
    let version = Call::new(&world.work()).run("--version").expect(0);
    assert_eq!(version.out, format!("sluicegate {}\n", env!("CARGO_PKG_VERSION")));
    for command in sluicegate::job::cli::Cli::command()
        .get_subcommands()
        .map(clap::Command::get_name)
    {
        let help = Call::new(&world.work()).run(&[command, "--help"]).expect(0);
        assert!(
            help.out.contains("Example"),
            "{command} has no example: {}",
            help.out
        );
    }
    Call::new(&world.work()).run("").expect(2);
    Call::new(&world.work())
        .run("revue")
        .expect(2)
        .saying(&["review"]);
}

#[test]
fn two_reports_at_one_path_are_refused() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    for (one, other, place) in [
        ("json=-", "junit=-", "standard output"),
        ("json=out/report", "junit=out/../out/report", "out/report"),
        ("json=out/report", "junit=./out/report", "out/report"),
    ] {
        let run = call_without_platform(&world).run(format!("check --all --report {one} --report {other}"));
        run.expect(2)
            .saying(&["two reports cannot both be written to", place]);
    }
    let report = fs::read_to_string(world.work().join("out/report")).unwrap();
    assert!(report.contains("The run did not finish"), "{report}");
}

#[test]
fn review_without_settings_lists_missing_ones() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    for variable in [
        "SLUICEGATE_BASE_URL",
        "SLUICEGATE_PROJECT_ID",
        "SLUICEGATE_AGENT_VERSION",
        "SLUICEGATE_TOKEN",
    ] {
        call_without_platform(&world)
            .without(variable)
            .run("review")
            .expect(2)
            .saying(&["error:", "hint:", variable]);
    }
    // No other message explains where to find the agent's version.
    call_without_platform(&world)
        .without("SLUICEGATE_AGENT_VERSION")
        .run("review")
        .expect(2)
        .saying(&["the version of the agent that runs", "lists it with the agent"]);
}

#[test]
fn wrong_arguments_end_with_a_hint() {
    let world = project();
    for args in ["nothing", "review --nothing", "check --timeout nan"] {
        let log = call_without_platform(&world).run(args).expect(2).all();
        let last = log.lines().rfind(|line| !line.is_empty()).unwrap_or_default();
        assert!(last.starts_with("hint: "), "{log}");
    }
}

#[test]
fn help_topic_that_is_called_as_a_command_is_explained() {
    let world = project();
    let call = call_without_platform(&world);
    for topic in ["globals", "exit-codes", "environment"] {
        let hint = format!("hint: run `sluicegate help {topic}` to read this page");
        call.run(topic).expect(2).saying(&[hint.as_str()]);
        let output = call.run(&["help", topic, "more"]).expect(2).all();
        assert!(
            output.contains(&hint) && !output.contains(&format!("sluicegate {topic}")),
            "{output}"
        );
        let page = call.run(&["help", topic]).expect(0).out;
        assert!(!page.contains(&format!("Usage: sluicegate {topic}")), "{page}");
    }
    call.run("help review --all")
        .expect(2)
        .saying(&["hint: run `sluicegate help review` to read about this command"]);
    let rules = call.run("rules nothing").expect(2).all();
    assert!(
        rules.contains("hint: the subcommands of `sluicegate rules` are "),
        "{rules}"
    );
}

/// Passes a flag of another program to `review`, and returns the error.
fn misuse_review(program: &std::path::Path, folder: &std::path::Path) -> String {
    let output = std::process::Command::new(program)
        .args(["review", "--project", "U"])
        .current_dir(folder)
        .env_clear()
        .output()
        .unwrap();
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn program_with_another_file_name_has_the_same_hints() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("sg");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_sluicegate"), &program).unwrap();
    let text = misuse_review(&program, folder.path());
    let usual_program = std::path::Path::new(env!("CARGO_BIN_EXE_sluicegate"));
    assert_eq!(text, misuse_review(usual_program, folder.path()));
    assert!(text.contains("sluicegate review"), "{text}");
}

#[test]
fn values_that_cannot_be_are_named() {
    let world = project();
    let cases = [
        (vec!["--base-url", "platform.example"], "scheme"),
        (vec!["--base-url", "ftp://platform.example"], "unsupported scheme"),
        (vec!["--base-url", ""], "URL"),
        (vec!["--project-id", "42"], "not a UUID"),
        (vec!["--agent-version", "9\n0"], "header"),
        (vec!["--timeout", "0"], "timeout"),
        (vec!["--timeout", "soon"], "soon"),
        (vec!["--retries", "-1"], "-1"),
        (vec!["--ci", "cron"], "cron"),
        (vec!["--color", "pink"], "pink"),
        (vec!["--config-dir", "../up"], "../up"),
        (vec!["--config", "none.yaml"], "none.yaml"),
        (vec!["--batch-size", "0"], "batch size"),
        (vec!["--concurrency", "0"], "concurrency"),
        (vec!["--include", "a["], "a["),
        (vec!["--report", "junit"], "FORMAT=PATH"),
        (vec!["--report", "pdf=x"], "pdf"),
        (
            vec!["--report", "json=-", "--report", "junit=-"],
            "standard output",
        ),
        (vec!["--fail-on", "all"], "all"),
        (vec!["../outside.orch.yaml"], "outside the repository"),
        (vec!["gone.orch.yaml"], "gone.orch.yaml"),
        (
            vec!["--token-file", "a", "--token-command", "b"],
            "--token-command",
        ),
    ];
    for (args, word) in cases {
        let args: Vec<&str> = std::iter::once("review").chain(args).collect();
        let output = call_without_platform(&world).run(&args);
        assert_eq!(output.code, 2, "{args:?}: {}", output.all());
        assert!(
            output.err.contains(word),
            "{args:?} does not say {word}: {}",
            output.all()
        );
    }
}

#[test]
fn token_that_cannot_be_had_is_named() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    world.write("empty-token", "\n");
    world.write("two-lines", "one\ntwo\n");
    let bare = || call_without_platform(&world).without("SLUICEGATE_TOKEN");
    bare()
        .run("review --token-file missing-token")
        .expect(2)
        .saying(&["does not exist: check the path", "13 characters", "--token-file"]);
    bare().run("review --token-file .").expect(2);
    bare()
        .run("review --token-file empty-token")
        .expect(2)
        .saying(&["empty-token"]);
    let two = bare().run("review --token-file two-lines").expect(2);
    assert!(!two.err.contains("one"), "{}", two.all());
    bare()
        .run("review --token-command 'exit 3'")
        .expect(2)
        .saying(&["3"]);
    bare()
        .variable("SLUICEGATE_CLIENT_ID", "id")
        .run("review")
        .expect(2)
        .saying(&["SLUICEGATE_CLIENT_SECRET"]);
}

#[test]
fn token_can_come_from_file_or_command() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    world.write("token", "from-a-file\n");
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let bare = || platform.call(&world).without("SLUICEGATE_TOKEN");
    bare().run("review --token-file token").expect(0);
    bare()
        .run("review --token-command 'echo from-a-command'")
        .expect(0);
    // A flag overrides the variable.
    platform.call(&world).run("review --token-file token").expect(0);
    let bearer = |n: usize| {
        platform.requests()[n].headers["authorization"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(bearer(0), "Bearer from-a-file");
    assert_eq!(bearer(1), "Bearer from-a-command");
    assert_eq!(bearer(2), "Bearer from-a-file");
}

/// The command does not get the variables of the program and the host; the variables that a vault needs are kept.
#[test]
fn token_command_gets_no_other_secret() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let secrets = [
        "SLUICEGATE_TOKEN",
        "SLUICEGATE_CLIENT_SECRET",
        "GITHUB_TOKEN",
        "GITLAB_TOKEN",
        "BITBUCKET_TOKEN",
        "CI_JOB_TOKEN",
        "SYSTEM_ACCESSTOKEN",
    ];
    let call = secrets.iter().fold(platform.call(&world), |call, name| {
        call.variable(name, "s3cret-of-the-job")
    });
    call.variable("VAULT_TOKEN", "of-the-vault")
        .run("review --token-command 'env > seen; printf %s \"$VAULT_TOKEN\"'")
        .expect(0);
    let text = fs::read_to_string(world.work().join("seen")).unwrap();
    assert!(!text.contains("s3cret-of-the-job"), "{text}");
    let bearer = &platform.requests()[0].headers["authorization"];
    assert_eq!(bearer.to_str().unwrap(), "Bearer of-the-vault");
}

#[test]
fn configuration_file_is_held_to_its_keys() {
    let world = project();
    let cases = [
        (
            "review:\n  fail_on: warn\n",
            vec!["sluicegate.yaml:2:3", "fail_on", "fail-on"],
        ),
        (
            "base-url: https://elsewhere.example\n",
            vec!["sluicegate.yaml:1:1", "SLUICEGATE_BASE_URL"],
        ),
        ("token: abc\n", vec!["sluicegate.yaml:1:1", "SLUICEGATE_TOKEN"]),
        ("ca-cert: x.pem\n", vec!["SLUICEGATE_CA_CERT"]),
        ("review: [\n", vec!["sluicegate.yaml:"]),
        ("timeout: soon\n", vec!["sluicegate.yaml:1:"]),
        (
            "include: [a, ~]\n",
            vec!["sluicegate.yaml:1:14: `include` must be a text, not `~`"],
        ),
        (
            "include:\n  - a\n  - ~\n",
            vec!["sluicegate.yaml:3:5: `include` must be a text, not `~`"],
        ),
        (
            "review:\n  fail-on: [error]\n",
            vec!["sluicegate.yaml:2:12: `fail-on` must be a single value, not `[error]`"],
        ),
        ("\t- x\n", vec!["sluicegate.yaml"]),
    ];
    for (text, words) in cases {
        world.write("sluicegate.yaml", text);
        call_without_platform(&world)
            .run("review")
            .expect(2)
            .saying(&words);
    }
}

#[test]
fn flag_wins_over_variable_over_file() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    world.write(
        "sluicegate.yaml",
        "agent-version: from-file\nproject-id: 00000000-0000-4000-8000-000000000001\n",
    );
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let call = || platform.call(&world).without("SLUICEGATE_AGENT_VERSION");
    call().run("review").expect(0);
    call()
        .variable("SLUICEGATE_AGENT_VERSION", "from-variable")
        .run("review")
        .expect(0);
    call()
        .variable("SLUICEGATE_AGENT_VERSION", "x")
        .run("review --agent-version from-flag")
        .expect(0);
    let sent: Vec<String> = platform
        .requests()
        .iter()
        .map(|r| r.headers["agent-version"].to_str().unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["from-file", "from-variable", "from-flag"]);
}

#[test]
fn repository_that_cannot_be_used_is_exit_7() {
    let folder = scratch::create_scratch_directory();
    let nowhere = Call::with_platform(folder.path(), "http://127.0.0.1:9");
    nowhere.run("review").expect(7).saying(&["error:", "hint:"]);
    nowhere.run("context").expect(7);
    git(folder.path(), "init -q");
    nowhere.run("review").expect(7).saying(&["commit"]);
    let world = project();
    call_without_platform(&world)
        .run("review --head no-such-branch")
        .expect(7)
        .saying(&["no-such-branch"]);
    call_without_platform(&world)
        .run("review --base no-such-base")
        .expect(7)
        .saying(&["no-such-base"]);
}

#[test]
fn several_configuration_folders_are_named() {
    let world = change(&[
        (".other/shared-pipelines.yaml", "pipelines: []\n"),
        ("b.orch.yaml", &orchestration_text(&["S", "D"])),
    ]);
    call_without_platform(&world)
        .run("review")
        .expect(2)
        .saying(&[".platform", ".other", "--config-dir"]);
}

#[test]
fn invalid_value_is_described_by_the_expected_form_and_setting() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["S", "D"]))]);
    for (args, text) in [
        ("check --timeout 0.2", "\"0.2\" is not a whole number of seconds"),
        ("check --retries abc", "\"abc\" is not an integer"),
        ("artifacts prune --keep x", "\"x\" is not an integer"),
        ("serve --project a=b", "\"a\" is not a UUID\n"),
        (
            "check --shard x",
            "invalid shard \"x\" (--shard, SLUICEGATE_SHARD)",
        ),
        (
            "check --ci travis",
            "`travis` is not a CI host (--ci, SLUICEGATE_CI)",
        ),
    ] {
        let output = Call::new(&world.work()).run(args).expect(2).saying(&[text]);
        for rust_text in ["invalid digit", "invalid length", "found `"] {
            assert!(!output.err.contains(rust_text), "{}", output.err);
        }
    }
    let good_values = "check --timeout 2 --retries 1 --shard 1/2 --ci none";
    Call::new(&world.work()).run(good_values).expect(0);
}

#[test]
fn odd_names_survive_review_and_reports() {
    let names = [
        "with space.orch.yaml",
        "quo\"te.orch.yaml",
        "ünï.orch.yaml",
        "new\nline.orch.yaml",
        "a'b;c%.orch.yaml",
    ];
    let text = orchestration_text(&["Start", "Done"]);
    let world = change(&names.map(|name| (name, text.as_str())));
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "PASSED",
        json!([{ "ruleName": "r", "status": "PASSED" }]),
    ));
    let output = platform
        .call(&world)
        .run("review --report json=- --report junit=j.xml")
        .expect(0);
    let mut matches: Vec<String> = output.json()["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["path"].as_str().unwrap().to_owned())
        .collect();
    let mut expected: Vec<String> = names.map(str::to_owned).into();
    matches.sort();
    expected.sort();
    assert_eq!(matches, expected);
}

#[test]
fn empty_text_of_a_flag_is_refused() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let call = call_without_platform(&world).variable("SLUICEGATE_PREFIX", "p");
    call.run("check --report json=report.json").expect(0);
    let publish = "publish --version-name 1 --dry-run";
    let secret = "secrets create s --key k --agent-id b6a1c9d2-0f3e-4c57-8a24-1d9e7f5b3c60";
    for (args, flag) in [
        ("check", "--base"),
        ("check", "--head"),
        ("review --dry-run", "--branch"),
        ("context", "--branch"),
        ("diff", "--head"),
        ("fix", "--base"),
        ("fix --agent --plan", "--target-branch"),
        ("report report.json", "--head"),
        (publish, "--branch"),
        (publish, "--head"),
        (publish, "--against"),
        (publish, "--prefix"),
        ("check", "--target-repository"),
        ("waivers add --all", "--reason"),
        ("waivers add --all --reason r", "--owner"),
        (secret, "--value-variable"),
    ] {
        for value in ["", " "] {
            let output = call.run((args, &[&format!("{flag}={value}")])).expect(2);
            output.saying(&[flag, "is empty"]);
        }
    }
    for flag in ["--publish-on-branch", "--publish-on-tag"] {
        let output = call.run(("ci --dry-run", &[flag, ""])).expect(2);
        output.saying(&["a glob for branches or tags is empty", "hint: "]);
    }
    // A variable without a value is not set.
    call.variable("SLUICEGATE_BASE", "")
        .variable("SLUICEGATE_TARGET_REPOSITORY", "")
        .run("check --head HEAD")
        .expect(0);
}
