//! Arguments of other programs are answered with the call of this program that does the same.

use crate::support::{Call, project, scratch};

/// Calls that users type, each with the hint.
const CASES: &[(&str, &str)] = &[
    ("check --format json", "did you mean `sluicegate check -o json`?"),
    (
        "check --format=sarif",
        "did you mean `sluicegate check --report sarif=-`?",
    ),
    ("check -f json", "did you mean `sluicegate check -o json`?"),
    (
        "check --output-format json",
        "did you mean `sluicegate check -o json`?",
    ),
    (
        "check --output-format concise",
        "did you mean `sluicegate check --show concise`?",
    ),
    ("check --json", "did you mean `sluicegate check -o json`?"),
    (
        "waivers add --expires 2099-01-01",
        "did you mean `sluicegate waivers add --until 2099-01-01`?",
    ),
    (
        "check --junit x.xml",
        "did you mean `sluicegate check --report junit=x.xml`?",
    ),
    (
        "check --sarif",
        "did you mean `sluicegate check --report sarif=-`?",
    ),
    (
        "check --exit-zero",
        "did you mean `sluicegate check --fail-on never`?",
    ),
    (
        "check --severity error",
        "did you mean `sluicegate check --fail-on error`?",
    ),
    (
        "check --strict",
        "did you mean `sluicegate check --fail-on warn`?",
    ),
    (
        "check --since main",
        "did you mean `sluicegate check --base main`?",
    ),
    (
        "review --since=origin/dev",
        "did you mean `sluicegate review --base origin/dev`?",
    ),
    (
        "check --stdin-filename a.orch.yaml",
        "did you mean `sluicegate check - --stdin-path a.orch.yaml`?",
    ),
    ("check --cached", "did you mean `sluicegate check --staged`?"),
    ("check --all-files", "did you mean `sluicegate check --all`?"),
    ("check --fix", "did you mean `sluicegate fix`?"),
    ("check --autofix", "did you mean `sluicegate fix`?"),
    ("review --fix", "did you mean `sluicegate fix`?"),
    ("autofix", "did you mean `sluicegate fix`?"),
    ("fix --cached", "did you mean `sluicegate fix --staged`?"),
    (
        "check --ignore unused-components",
        "the rules file enables and disables rules",
    ),
    (
        "check --no-color",
        "did you mean `sluicegate check --color never`?",
    ),
    (
        "check --output-file x.json",
        "did you mean `sluicegate check --out x.json`?",
    ),
    (
        "publish --tag 1.0",
        "did you mean `sluicegate publish --version-name 1.0`?",
    ),
    (
        "publish --prefix p --version 3.0.0",
        "did you mean `sluicegate publish --version-name 3.0.0`?",
    ),
    (
        "ci --publish --version=3.0.0",
        "did you mean `sluicegate ci --version-name 3.0.0`?",
    ),
    (
        "artifacts disable --version 1.0.0 --prefix p --force",
        "did you mean `sluicegate artifacts disable --version-name 1.0.0`?",
    ),
    ("check --version", "did you mean `sluicegate --version`?"),
    (
        "report r.json -f html",
        "did you mean `sluicegate report r.json --report html=-`?",
    ),
    (
        "artifacts show 1.0 --json",
        "did you mean `sluicegate artifacts show 1.0 -o json`?",
    ),
    (
        "artifacts list -f json",
        "did you mean `sluicegate artifacts list -o json`?",
    ),
    ("mv a b -f", "did you mean `--force`?"),
    (
        "rules init -f",
        "run `sluicegate rules init --help` to list the options of this command",
    ),
    (
        "tasks create -f task.yaml",
        "run `sluicegate tasks create --help` to list the options of this command",
    ),
    (
        "connections create -f x",
        "run `sluicegate connections create --help` to list the options of this command",
    ),
    ("rules list -V", "did you mean `sluicegate --version`?"),
    ("review --token abc", "a secret is never a flag"),
    (
        "artifacts list --json",
        "did you mean `sluicegate artifacts list -o json`?",
    ),
    ("diff --debug", "did you mean `sluicegate diff -vv`?"),
    ("check --cwd x", "did you mean `sluicegate check -C x`?"),
    (
        "review --target-repository https://x/y --target main",
        "did you mean `sluicegate review --base main`?",
    ),
    (
        "review --project-checks off --project 42",
        "did you mean `sluicegate review --project-id 42`?",
    ),
    ("lint", "did you mean `sluicegate check`?"),
    ("validate", "did you mean `sluicegate check`?"),
    ("version", "did you mean `sluicegate --version`?"),
    ("explain", "did you mean `sluicegate rules explain ID`?"),
    ("deploy", "did you mean `sluicegate publish`?"),
    ("chek", "did you mean `sluicegate check`?"),
    ("rules lst", "did you mean `sluicegate rules list`?"),
    ("check --stagd", "did you mean `--staged`?"),
    (
        "check --on-unavailable pass",
        "--on-unavailable is an option of `sluicegate review` and `sluicegate ci`",
    ),
    ("review --rules x", "--rules is an option of `sluicegate check`"),
    (
        "review --staged",
        "--staged is an option of `sluicegate check`, `sluicegate diff` and `sluicegate fix`",
    ),
    (
        "init --force",
        "--force is an option of `sluicegate artifacts disable`",
    ),
    ("report --base x", "--base is an option of `sluicegate review`"),
    ("check --bsae x", "did you mean `--base`?"),
    ("check --al", "did you mean `--all`?"),
    ("review --newonly", "did you mean `--new-only`?"),
    (
        "waivers list --foo",
        "run `sluicegate waivers list --help` to list the options of this command",
    ),
    ("settings foo", "run `sluicegate settings` to list all settings"),
];

#[test]
fn command_without_result_suggests_no_output_format() {
    let world = project();
    for arguments in ["schema --format json", "serve --json", "completions bash --json"] {
        let output = Call::new(&world.work()).run(arguments).expect(2);
        assert!(!output.err.contains("-o json"), "{}", output.all());
    }
}

#[test]
fn variable_of_several_commands_is_explained_by_the_first() {
    let help = Call::new(&project().work()).run("help environment").expect(0).out;
    assert!(
        !help.contains("Remote branch that the agent starts from"),
        "{help}"
    );
    assert!(help.contains("SLUICEGATE_BRANCH"), "{help}");
}

#[test]
fn argument_of_other_program_is_answered_with_call() {
    let world = project();
    let call = Call::new(&world.work());
    for (arguments, hint) in CASES {
        let output = call.run(*arguments).expect(2).saying(&[hint]);
        let last_line = output.err.trim_end().lines().next_back().unwrap();
        assert!(last_line.starts_with("hint: "), "{}", output.all());
        assert!(!output.err.contains("tip: "), "{}", output.all());
    }
    assert_eq!(world.git("status --porcelain"), "");
}

#[test]
fn usage_error_without_synonym_ends_with_hint_for_its_cause() {
    let folder = scratch::create_scratch_directory();
    let call = Call::new(folder.path());
    for (arguments, hint) in [
        ("zzzzzzzz", "hint: run `sluicegate --help` to list the commands"),
        (
            "rules zzzzzzzz",
            "hint: the subcommands of `sluicegate rules` are list, explain",
        ),
        (
            "completions",
            "hint: for example: `sluicegate completions bash > ~/.local/share/bash-completion/completions/sluicegate`",
        ),
        (
            "projects create",
            "hint: for example: `sluicegate projects create sales --warehouse WAREHOUSE_A --agent-deployment-type HYBRID`",
        ),
        (
            "check --zzzzzzzz",
            "hint: run `sluicegate check --help` to list the options of this command",
        ),
        (
            "check --base",
            "hint: run `sluicegate help check` to read about --base",
        ),
        ("check --fail-on eror", "hint: did you mean `error`?"),
        (
            "check --report junit",
            "hint: run `sluicegate help check` to read about --report",
        ),
        ("fix --plan", "hint: for example: `sluicegate fix --agent"),
        (
            "fix --environment test",
            "hint: for example: `sluicegate fix --agent",
        ),
        ("diff -o page.html", "hint: -o sets the output format"),
        ("check --staged --head main", "hint: remove one of the two"),
    ] {
        let output = call.run(arguments).expect(2).saying(&[hint]);
        assert!(!output.err.contains("add `--help`"), "{}", output.all());
    }
    // A control character in an argument reaches no terminal.
    let output = call.run(&["check", "--\u{1b}[31mx"]).expect(2);
    assert!(!output.err.contains('\u{1b}'), "{}", output.all());
}

#[test]
fn valid_call_has_no_hint_about_arguments() {
    let world = project();
    let output = Call::new(&world.work()).run("check -o json").expect(0);
    assert!(!output.err.contains("hint:"), "{}", output.all());
}
