//! The reproduction command at the end of a failed job evaluates the same files on another machine.

use crate::support::{
    Call, Job, PROJECT, ProgramOutput, RULES, RULES_FILE, ServerProcess, TOKEN, World, change, git, head,
    offer, orchestration_text, parameter, path_variable, project, pull_request_payload, repository,
};
use serde_json::json;
use std::path::Path;
use std::process::Command;

const START: &str = "Reproduce locally: ";

/// Creates three bad pipelines, one of which the job selects, and rules in two directories.
fn bad_world() -> World {
    let bad = orchestration_text(&["Start", "load it", "Done"]);
    change(&[
        ("sales/it's (a).orch.yaml", &bad),
        ("sales/old.orch.yaml", &bad),
        ("stock/b.orch.yaml", &bad),
        (".other/config/pipeline_quality_rules.yaml", RULES),
        ("gate/own.yaml", "review:\n  show: 20\n"),
    ])
}

/// Returns a call in the job of a push.
fn gitlab_branch_job(world: &World) -> Call {
    Call::new(&world.work())
        .variable("SLUICEGATE_CI", "gitlab")
        .variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"))
        .variable("CI_COMMIT_BRANCH", "change")
}

/// Returns the last command in the log.
fn command(output: &ProgramOutput) -> &str {
    let mut lines = output.out.lines().filter_map(|line| line.strip_prefix(START));
    lines.next().unwrap()
}

/// Returns the files with findings.
fn finding_places(output: &str) -> Vec<&str> {
    let places = output.lines().filter_map(|line| line.trim().strip_prefix("--> "));
    places.collect()
}

/// Runs the command in a shell, with the program in the search path.
fn in_a_shell(world: &World, command: &str) -> String {
    in_a_shell_at(world, &world.work(), command)
}

/// Checks that the command has the same outcome in a shell as the run that prints it.
fn assert_same_outcome(world: &World, command: &str, run: &ProgramOutput) {
    assert_eq!(
        outcome(&in_a_shell(world, command)),
        outcome(&run.out),
        "{command}"
    );
}

fn in_a_shell_at(world: &World, place: &Path, command: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_sluicegate")).parent().unwrap();
    let path = format!("{}:{}", folder.display(), path_variable().display());
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(place)
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
fn command_omits_base_of_saved_report_that_is_no_commit_id() {
    let world = bad_world();
    let call = gitlab_branch_job(&world);
    call.run("check --base main --report json=r.json").expect(1);
    let mut report: serde_json::Value = serde_json::from_str(&world.read_text("r.json")).unwrap();
    report["context"]["base"] = json!("x;touch pwn;");
    world.write("r.json", report.to_string());
    let output = call.run("report r.json").expect(1);
    assert!(!command(&output).contains("touch"), "{}", output.all());
}

/// Only a run in CI treats such a file as missing, so the command would fail on another machine.
#[test]
fn review_with_unusable_gate_file_of_target_has_no_reproduction_command() {
    for (path, text) in [
        ("sluicegate.yaml", "foo: 1\n"),
        (
            "sluicegate-rules.yaml",
            "rules: [{ id: a, when: 'pipeline.nope' }]\n",
        ),
        (
            "sluicegate-waivers.yaml",
            "- { rule: nope, path: a, reason: r }\n",
        ),
        ("sluicegate.yaml", "timeout: 30\n"),
        (
            "sluicegate-waivers.yaml",
            "- { rule: unused-components, path: a, reason: r }\n",
        ),
    ] {
        let world = project();
        commit(&world, &[(path, text.to_owned())]);
        world.push();
        world.git("checkout -q -b change");
        commit(&world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        let output = gitlab_branch_job(&world)
            .variable("CI_DEFAULT_BRANCH", "main")
            .run("check")
            .expect(1);
        let is_usable = text.starts_with("timeout") || text.contains("unused");
        assert_eq!(output.out.contains(START), is_usable, "{text}: {}", output.all());
    }
}

/// Another machine does not have these contents.
#[test]
fn check_of_staged_files_or_standard_input_has_no_reproduction_command() {
    let world = bad_world();
    world.write("new.orch.yaml", orchestration_text(&["Start", "load it", "Done"]));
    world.git("add new.orch.yaml");
    for args in ["check - --stdin-path new.orch.yaml", "check --staged --base main"] {
        let input = world.work().join("new.orch.yaml");
        let output = gitlab_branch_job(&world).input(&input).run(args).expect(1);
        assert!(!output.out.contains(START), "{args}: {}", output.all());
    }
    let output = gitlab_branch_job(&world).run("check --base main").expect(1);
    assert!(output.out.contains(START), "{}", output.all());
}

#[test]
fn command_has_limit_of_known_findings_only_with_new_only() {
    let world = bad_world();
    let call = gitlab_branch_job(&world);
    let output = call.run("check --all --new-only --max-known 5").expect(1);
    let command = command(&output);
    assert_eq!(
        command.contains("--max-known"),
        command.contains("--new-only"),
        "{command}"
    );
}

#[test]
fn command_judges_files_that_job_judged() {
    let world = bad_world();
    let call = gitlab_branch_job(&world)
        .variable("SLUICEGATE_EXCLUDE", "**/old.*\n**/`touch x`")
        .variable("SLUICEGATE_CONFIG_DIR", ".other")
        .variable("SLUICEGATE_CONFIG", "gate/../gate/own.yaml");
    let args = "check --base origin/main --include sales/** --include *.tran.yaml";
    world.write("c.tran.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("more");
    let call = call.variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"));
    let output = call.run(args).expect(1);
    assert_eq!(finding_places(&output.out), ["sales/it's (a).orch.yaml:11"]);
    let command_line = command(&output);
    let (_, options) = command_line
        .split_once(" --config ")
        .unwrap_or((command_line, ""));
    assert_eq!(
        options,
        "gate/own.yaml --config-dir .other --include 'sales/**' --include '*.tran.yaml' --exclude '**/old.*' --exclude '**/`touch x`'"
    );
    assert_eq!(
        finding_places(&in_a_shell(&world, command_line)),
        finding_places(&output.out)
    );
    // Rendered again from JSON, with the variables that the jobs share.
    call.run((args, "--head HEAD --report json=r.json")).expect(1);
    let second_run = call.run("report r.json").expect(1);
    assert!(
        command(&second_run).ends_with("--exclude '**/old.*' --exclude '**/`touch x`'"),
        "{}",
        second_run.all()
    );
}

#[test]
fn reproduction_command_lists_omitted_settings_after_the_line() {
    let world = bad_world();
    let (long, evil) = (format!("{}/**", "x".repeat(2_000)), "a\u{1b}2J\u{202e}/**");
    for glob in [long.as_str(), evil] {
        let output = gitlab_branch_job(&world)
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
        let command_line = command(&output);
        assert!(
            command_line.ends_with(" --config-dir .other # add these options from the job: --exclude"),
            "{command_line}"
        );
        assert_eq!(finding_places(&in_a_shell(&world, command_line)).len(), 3);
    }
}

/// A kind of run: the content of the repository, and the failing job.
type Kind = fn(&World) -> (Vec<&'static str>, Call);

const BAD: [&str; 3] = ["Start", "bad name", "Done"];

/// Creates and pushes a branch `change` with these files.
fn push_change_branch(world: &World, files: &[(&str, String)]) {
    world.git("checkout -q -b change");
    commit(world, files);
    world.git("push -q origin change");
}

/// Checks out a merge of the branch `change` into `main`, which has a newer commit. No other clone has the merge.
fn check_out_trial_merge(world: &World) {
    world.git("checkout -q main");
    commit(world, &[("note.txt", "more".to_owned())]);
    world.git("checkout -q --detach main");
    world.git("merge -q --no-ff -m trial change");
}

fn commit(world: &World, files: &[(&str, String)]) -> String {
    for (path, text) in files {
        world.write(path, text);
    }
    let id = world.commit("edit");
    world.git("push -q origin HEAD");
    id
}

/// Returns a call in the job of a push to `main` from this commit.
fn call_of_push_from(world: &World, before: &str) -> Call {
    let payload = json!({ "repository": repository(), "ref": "refs/heads/main", "before": before,
        "after": world.git(&["rev-parse", "HEAD"]) });
    Job::github()
        .event("push", "refs/heads/main", &payload)
        .extend(world, Call::new(&world.work()))
}

/// A rule of the team that the component `Odd` violates.
const TEAM_RULES: &str = "rules:\n  - { id: no-odd, level: error, for: component, when: component.name == \"Odd\", \
     message: odd }\n";

/// Returns a call in the job of a pull request with a pipeline that has these components.
fn pull_request_of(world: &World, components: &[&str]) -> Call {
    push_change_branch(world, &[("b.orch.yaml", orchestration_text(components))]);
    Job::github()
        .pull_request()
        .extend(world, Call::new(&world.work()))
}

fn offered_parameters(parameters: &str) -> (&'static str, String) {
    (".platform/shared-pipelines.yaml", offer(&[("a", parameters)]))
}

/// Returns a call in the job of a pull request with a bad pipeline and a break, which the configuration file refuses.
fn pull_request_with_break(world: &World) -> Call {
    let settings = "publish: { compat: fail }\n".to_owned();
    let offered = offered_parameters(&parameter("day", ", default: x"));
    commit(world, &[("sluicegate.yaml", settings), offered]);
    push_change_branch(
        world,
        &[offered_parameters(""), ("b.orch.yaml", orchestration_text(&BAD))],
    );
    Job::github()
        .pull_request()
        .extend(world, Call::new(&world.work()))
}

/// A pipeline that calls `c.orch.yaml`.
const CALLER: &str = "type: orchestration\nversion: '1.0'\npipeline:\n  components:\n    Start: { type: start, \
    transitions: { unconditional: [Call] } }\n    Call: { type: run-orchestration, parameters: { orchestrationJob: c }, \
    transitions: { success: [Done], failure: [Done] } }\n    Done: { type: end-success }\n";

/// Returns a pipeline whose first and last lines can change on two branches without a conflict.
fn spaced_orchestration(last_component: &str) -> String {
    orchestration_text(&["Start", last_component]) + &"# -\n".repeat(8)
}

/// Each kind with its name for failure messages.
const KINDS: [(&str, Kind); 30] = [
    ("a pull request", |world| {
        push_change_branch(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        (
            vec!["check"],
            Job::github()
                .pull_request()
                .extend(world, Call::new(&world.work())),
        )
    }),
    ("a pull request that waives its own findings", |world| {
        let waiver = "- { rule: component-naming-convention, path: b.orch.yaml, reason: mine }\n";
        push_change_branch(
            world,
            &[
                ("b.orch.yaml", orchestration_text(&BAD)),
                ("sluicegate-waivers.yaml", waiver.to_owned()),
                ("sluicegate.yaml", "review: { fail-on: never }\n".to_owned()),
            ],
        );
        (
            vec!["check"],
            Job::github()
                .pull_request()
                .extend(world, Call::new(&world.work())),
        )
    }),
    (
        "a pull request that started before the rules became strict",
        |world| {
            let rules = RULES.to_owned();
            commit(world, &[(RULES_FILE, RULES.replace("error", "warn"))]);
            push_change_branch(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
            world.git("checkout -q main");
            commit(world, &[(RULES_FILE, rules)]);
            world.git("checkout -q change");
            (
                vec!["check"],
                Job::github()
                    .pull_request()
                    .extend(world, Call::new(&world.work())),
            )
        },
    ),
    (
        "a pull request that started before the target waived a finding",
        |world| {
            let orchestration = |components: &[&str]| orchestration_text(components);
            commit(world, &[("b.orch.yaml", orchestration(&BAD))]);
            let components = ["Start", "bad name", "worse", "Done"];
            push_change_branch(world, &[("b.orch.yaml", orchestration(&components))]);
            let waiver = "- { rule: component-naming-convention, path: b.orch.yaml, about: bad name, \
                          reason: old }\n";
            world.git("checkout -q main");
            commit(world, &[("sluicegate-waivers.yaml", waiver.to_owned())]);
            world.git("checkout -q change");
            (
                vec!["check"],
                Job::github()
                    .pull_request()
                    .extend(world, Call::new(&world.work())),
            )
        },
    ),
    ("a pull request that breaks consumers", |world| {
        commit(world, &[offered_parameters(&parameter("day", ", default: x"))]);
        push_change_branch(world, &[offered_parameters("")]);
        (
            vec!["check", "--compat", "fail"],
            Job::github()
                .pull_request()
                .extend(world, Call::new(&world.work())),
        )
    }),
    ("a pull request that touches the gate", |world| {
        push_change_branch(
            world,
            &[
                ("b.orch.yaml", orchestration_text(&["Start", "Done"])),
                (RULES_FILE, RULES.to_owned() + "# more\n"),
            ],
        );
        (
            vec!["check", "--gate-changes", "fail"],
            Job::github()
                .pull_request()
                .extend(world, Call::new(&world.work())),
        )
    }),
    ("a shard of a pull request", |world| {
        let bad = || orchestration_text(&BAD);
        push_change_branch(
            world,
            &[
                ("b.orch.yaml", bad()),
                ("c.orch.yaml", bad()),
                ("d.orch.yaml", bad()),
            ],
        );
        (
            vec!["check", "--shard", "1/2"],
            Job::github()
                .pull_request()
                .extend(world, Call::new(&world.work())),
        )
    }),
    ("a pull request with known findings", |world| {
        commit(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        push_change_branch(
            world,
            &[(
                "b.orch.yaml",
                orchestration_text(&["Start", "bad name", "worse", "Done"]),
            )],
        );
        (
            vec!["check", "--new-only"],
            Job::github()
                .pull_request()
                .extend(world, Call::new(&world.work())),
        )
    }),
    ("a pull request with too many known findings", |world| {
        commit(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        push_change_branch(world, &[("b.orch.yaml", orchestration_text(&BAD) + "# edited\n")]);
        (
            vec!["check", "--new-only", "--max-known", "0"],
            Job::github()
                .pull_request()
                .extend(world, Call::new(&world.work())),
        )
    }),
    ("a trial merge of a pull request on GitHub", |world| {
        push_change_branch(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        let payload = pull_request_payload(world);
        check_out_trial_merge(world);
        let job = Job::github()
            .event("pull_request", "refs/pull/7/merge", &payload)
            .extend(world, Call::new(&world.work()));
        (vec!["check"], job)
    }),
    ("a trial merge with stricter rules than the change", |world| {
        let rules = RULES.to_owned();
        commit(world, &[(RULES_FILE, RULES.replace("error", "warn"))]);
        push_change_branch(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        let payload = pull_request_payload(world);
        world.git("checkout -q main");
        commit(world, &[(RULES_FILE, rules)]);
        check_out_trial_merge(world);
        let job = Job::github()
            .event("pull_request", "refs/pull/7/merge", &payload)
            .extend(world, Call::new(&world.work()));
        (vec!["check"], job)
    }),
    ("a trial merge with other rules than the change", |world| {
        let files = [
            ("b.orch.yaml", orchestration_text(&BAD)),
            ("c.orch.yaml", orchestration_text(&["Start", "Extra1", "Done"])),
        ];
        push_change_branch(world, &files);
        let payload = pull_request_payload(world);
        world.git("checkout -q main");
        commit(world, &[(RULES_FILE, RULES.replace("[A-Z].*", "[^0-9]*"))]);
        check_out_trial_merge(world);
        let job = Job::github()
            .event("pull_request", "refs/pull/7/merge", &payload)
            .extend(world, Call::new(&world.work()));
        (vec!["check"], job)
    }),
    ("a push in a clone without a known default branch", |world| {
        let settings = "review: { fail-on: never, new-only: true }\n".to_owned();
        commit(world, &[("sluicegate.yaml", settings)]);
        commit(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        world.git("remote set-head origin -d");
        let job = Call::new(&world.work())
            .variable("CI", "true")
            .variable("CIRCLECI", "true")
            .variable("CIRCLE_SHA1", head(world))
            .variable("CIRCLE_BRANCH", "main");
        (vec!["check"], job)
    }),
    ("a merged result of a merge request on GitLab", |world| {
        push_change_branch(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        let change_commit = head(world);
        check_out_trial_merge(world);
        let job = Job::gitlab()
            .pull_request()
            .extend(world, Call::new(&world.work()))
            .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", change_commit);
        (vec!["check"], job)
    }),
    ("a trial merge whose finding is only in the merge", |world| {
        commit(world, &[("b.orch.yaml", spaced_orchestration("Done"))]);
        push_change_branch(
            world,
            &[("b.orch.yaml", spaced_orchestration("Done") + "# end\n")],
        );
        let payload = pull_request_payload(world);
        world.git("checkout -q main");
        commit(world, &[("b.orch.yaml", spaced_orchestration("load it"))]);
        check_out_trial_merge(world);
        let job = Job::github()
            .event("pull_request", "refs/pull/7/merge", &payload)
            .extend(world, Call::new(&world.work()));
        (vec!["check"], job)
    }),
    ("a merged result in which a called pipeline is missing", |world| {
        commit(world, &[("c.orch.yaml", orchestration_text(&["Start", "Done"]))]);
        push_change_branch(world, &[("b.orch.yaml", CALLER.to_owned())]);
        let change_commit = head(world);
        world.git("checkout -q main");
        world.git("rm -q c.orch.yaml");
        world.commit("remove");
        world.git("push -q origin HEAD");
        check_out_trial_merge(world);
        let job = Job::gitlab()
            .pull_request()
            .extend(world, Call::new(&world.work()))
            .variable("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA", change_commit);
        (vec!["check", "--fail-on", "warn"], job)
    }),
    ("a merge that Jenkins created in its clone", |world| {
        push_change_branch(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        check_out_trial_merge(world);
        let job = Job::jenkins()
            .pull_request()
            .extend(world, Call::new(&world.work()));
        (vec!["check"], job)
    }),
    ("a push to the default branch", |world| {
        let before = commit(world, &[("c.orch.yaml", orchestration_text(&["Start", "Done"]))]);
        commit(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        (vec!["check"], call_of_push_from(world, &before))
    }),
    ("a push to the default branch that breaks consumers", |world| {
        let before = commit(world, &[offered_parameters(&parameter("day", ", default: x"))]);
        commit(world, &[offered_parameters("")]);
        (
            vec!["check", "--compat", "fail"],
            call_of_push_from(world, &before),
        )
    }),
    (
        "a push to the default branch that breaks consumers, with all pipelines",
        |world| {
            let before = commit(world, &[offered_parameters(&parameter("day", ", default: x"))]);
            commit(world, &[offered_parameters("")]);
            (
                vec!["check", "--all", "--compat", "fail"],
                call_of_push_from(world, &before),
            )
        },
    ),
    (
        "a push to the default branch with a new finding and a break, with all pipelines",
        |world| {
            let before = commit(
                world,
                &[
                    offered_parameters(&parameter("day", ", default: x")),
                    ("b.orch.yaml", orchestration_text(&BAD)),
                ],
            );
            commit(
                world,
                &[offered_parameters(""), ("c.orch.yaml", orchestration_text(&BAD))],
            );
            (
                vec!["check", "--all", "--new-only", "--compat", "fail"],
                call_of_push_from(world, &before),
            )
        },
    ),
    ("a job that names a team rules file", |world| {
        commit(world, &[("gate/it's mine.yaml", TEAM_RULES.to_owned())]);
        (
            vec!["check", "--team-rules", "gate/it's mine.yaml"],
            pull_request_of(world, &["Start", "Odd", "Done"]),
        )
    }),
    ("a job that turns team rules and project checks off", |world| {
        commit(world, &[("sluicegate-rules.yaml", TEAM_RULES.to_owned())]);
        (
            vec!["check", "--team-rules", "off", "--project-checks", "off"],
            pull_request_of(world, &["Start", "Odd", "bad name", "Done"]),
        )
    }),
    ("a job that names a rules file", |world| {
        commit(world, &[(RULES_FILE, RULES.replace("error", "warn"))]);
        world.write("../it's mine.yaml", RULES);
        (
            vec!["check", "--rules", "../it's mine.yaml"],
            pull_request_of(world, &BAD),
        )
    }),
    ("a job that is stricter than the configuration file", |world| {
        commit(
            world,
            &[("sluicegate.yaml", "review: { fail-on: never }\n".to_owned())],
        );
        (vec!["check", "--fail-on", "error"], pull_request_of(world, &BAD))
    }),
    ("a job for which no finding is known", |world| {
        let settings = "review: { new-only: true }\n".to_owned();
        commit(
            world,
            &[
                ("sluicegate.yaml", settings),
                ("b.orch.yaml", orchestration_text(&BAD)),
            ],
        );
        let job = pull_request_of(world, &["Start", "bad name", "More", "Done"]);
        (vec!["check"], job.variable("SLUICEGATE_NEW_ONLY", "false"))
    }),
    (
        "a job that allows breaks that the configuration file refuses",
        |world| {
            let job = pull_request_with_break(world);
            (vec!["check", "--compat", "warn"], job)
        },
    ),
    (
        "a job that does not look for breaks that the configuration file refuses",
        |world| {
            let job = pull_request_with_break(world);
            (vec!["check"], job.variable("SLUICEGATE_COMPAT", "off"))
        },
    ),
    ("a push to the default branch that touches the gate", |world| {
        let before = world.git("rev-parse HEAD");
        commit(
            world,
            &[
                ("b.orch.yaml", orchestration_text(&["Start", "Done"])),
                (RULES_FILE, RULES.to_owned() + "# more\n"),
            ],
        );
        (
            vec!["check", "--gate-changes", "fail"],
            call_of_push_from(world, &before),
        )
    }),
    ("a scheduled run", |world| {
        commit(world, &[("b.orch.yaml", orchestration_text(&BAD))]);
        let payload = json!({ "repository": repository(), "schedule": "0 0 * * *" });
        let job = Job::github()
            .event("schedule", "refs/heads/main", &payload)
            .extend(world, Call::new(&world.work()));
        (vec!["check"], job)
    }),
];

/// Returns the findings and other failures of the run.
fn outcome(output: &str) -> Vec<String> {
    let mut lines: Vec<String> = output
        .lines()
        .filter(|line| line.trim().starts_with("--> ") || line.contains("breaks consumers: "))
        .map(|line| line.trim().replace("##[error]", "").replace("::error::", ""))
        .filter(|line| !line.contains("::"))
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn command_ends_as_job_in_every_kind_of_run() {
    for (kind, made) in KINDS {
        let world = project();
        world.git("remote set-head origin main");
        let (args, job) = made(&world);
        let output = job
            .variable("SLUICEGATE_ANNOTATIONS", "none")
            .run(&args)
            .expect(1);
        let command_line = command(&output);
        // Another machine has its own clone, with the default branch checked out.
        let url = format!("file://{}", world.remote().display());
        let elsewhere = world.path().join("elsewhere");
        git(world.path(), format!("clone -q {url} elsewhere"));
        // The command of a merge creates the merge again, as the user of the machine.
        git(&elsewhere, "config user.name me");
        git(&elsewhere, "config user.email me@example.com");
        let shown = in_a_shell_at(&world, &elsewhere, command_line);
        assert_eq!(
            (outcome(&shown), shown.lines().last()),
            (outcome(&output.out), output.out.lines().last()),
            "{kind}: {command_line}\n{shown}\n---\n{}",
            output.out
        );
    }
}

/// A job that a comment or another workflow starts selects its commit, which may be on no branch of the remote.
#[test]
fn command_names_the_commit_that_the_job_selects() {
    let world = project();
    world.git("remote set-head origin main");
    let job = |event, payload: serde_json::Value| {
        Job::github()
            .event(event, "refs/heads/main", &payload)
            .extend(&world, Call::new(&world.work()))
            .variable("SLUICEGATE_ANNOTATIONS", "none")
    };
    let comment = job("issue_comment", json!({ "repository": repository() }));
    let follow_up = job("workflow_run", json!({ "repository": repository() }));
    world.git("checkout -q --detach");
    world.write("b.orch.yaml", orchestration_text(&BAD));
    let commit = world.commit("edit");
    world.git("push -q origin HEAD:refs/pull/7/head");
    let expected = format!("--head {}", &commit[..12]);
    let output = comment
        .run("check --base origin/main --report json=../r.json")
        .expect(1);
    assert!(command(&output).contains(&expected), "{}", output.all());
    let output = follow_up
        .run(format!("report ../r.json --head {commit}"))
        .expect(1);
    assert!(command(&output).contains(&expected), "{}", output.all());
    // A Jenkins job that names no commit, with another commit checked out.
    world.git("checkout -q main");
    let output = Job::jenkins()
        .extend(&world, Call::new(&world.work()))
        .variable("SLUICEGATE_ANNOTATIONS", "none")
        .run(format!("check --base origin/main --head {commit}"))
        .expect(1);
    assert!(command(&output).contains(&expected), "{}", output.all());
}

#[test]
fn command_of_review_of_all_pipelines_keeps_their_known_findings() {
    let world = project();
    world.git("remote set-head origin main");
    commit(&world, &[("b.orch.yaml", orchestration_text(&BAD))]);
    commit(&world, &[("c.orch.yaml", orchestration_text(&BAD))]);
    let output = Call::new(&world.work())
        .variable("SLUICEGATE_CI", "gitlab")
        .variable("CI_PIPELINE_SOURCE", "schedule")
        .variable("CI_COMMIT_SHA", world.git("rev-parse HEAD"))
        .variable("CI_COMMIT_BRANCH", "main")
        .variable("CI_DEFAULT_BRANCH", "main")
        .run("check --new-only")
        .expect(1);
    let command_line = command(&output);
    assert!(command_line.contains("--all --base "), "{command_line}");
    assert_same_outcome(&world, command_line, &output);
}

#[test]
fn command_repeats_only_settings_that_differ_from_the_configuration_file() {
    let world = project();
    world.git("remote set-head origin main");
    let settings = "review: { fail-on: error, new-only: false }\npublish: { compat: fail }\n";
    commit(&world, &[("sluicegate.yaml", settings.to_owned())]);
    let output = pull_request_of(&world, &BAD)
        .run("check --fail-on error --compat fail")
        .expect(1);
    let command_line = command(&output);
    assert!(
        command_line.starts_with("sluicegate check --base "),
        "{command_line}"
    );
    for option in ["--fail-on", "--new-only", "--compat", "--team-rules", "--rules"] {
        assert!(!command_line.contains(option), "{command_line}");
    }
}

#[test]
fn file_that_only_a_job_refuses_has_no_reproduction_command() {
    let world = project();
    world.git("remote set-head origin main");
    commit(
        &world,
        &[(".platform/shared-pipelines.yaml", "broken: [\n".to_owned())],
    );
    push_change_branch(
        &world,
        &[(".platform/shared-pipelines.yaml", "broken: [[\n".to_owned())],
    );
    let job = |world: &World| {
        Job::github()
            .pull_request()
            .extend(world, Call::new(&world.work()))
            .run("check")
            .expect(1)
    };
    let output = job(&world);
    let headline = "Check failed: a gate configuration file cannot be used";
    assert!(output.out.contains(headline), "{}", output.all());
    assert!(!output.all().contains(START), "{}", output.all());
    // A finding fails the command, too.
    commit(&world, &[("b.orch.yaml", orchestration_text(&BAD))]);
    let output = job(&world);
    assert!(!command(&output).contains("--gate-changes"), "{}", output.all());
}

#[test]
fn command_has_policy_of_base_only_if_target_differs() {
    for (kind, has_policy) in [
        ("a pull request", false),
        ("a pull request that started before the rules became strict", true),
        (
            "a pull request that started before the target waived a finding",
            true,
        ),
    ] {
        let (_, made) = KINDS.into_iter().find(|(name, _)| *name == kind).unwrap();
        let world = project();
        let (args, job) = made(&world);
        let output = job
            .variable("SLUICEGATE_ANNOTATIONS", "none")
            .run(&args)
            .expect(1);
        let command_line = command(&output);
        assert_eq!(
            command_line.contains("--policy base"),
            has_policy,
            "{kind}: {command_line}"
        );
    }
}

#[test]
fn command_of_saved_report_has_policy_of_base_only_if_needed() {
    for (kind, has_policy) in [
        ("a pull request", false),
        ("a pull request that waives its own findings", true),
        ("a pull request that started before the rules became strict", true),
    ] {
        let (_, made) = KINDS.into_iter().find(|(name, _)| *name == kind).unwrap();
        let world = project();
        world.git("remote set-head origin main");
        let (_, job) = made(&world);
        job.run("check --report json=../r.json").expect(1);
        let output = job.run("report ../r.json").expect(1);
        let command_line = command(&output);
        assert_eq!(
            command_line.contains("--policy base"),
            has_policy,
            "{kind}: {command_line}"
        );
    }
}

#[test]
fn command_of_run_that_publishes_judges_what_did_not_change_too() {
    let world = project();
    world.git("remote set-head origin main");
    let project = format!("{PROJECT}={}", world.remote().display());
    let server = ServerProcess::start(
        world.path(),
        &["--project", &project, &format!("--token={TOKEN}=admin")],
    );
    let platform = |job: Call| {
        job.variable("SLUICEGATE_BASE_URL", &server.url)
            .variable("SLUICEGATE_TOKEN", TOKEN)
            .variable("SLUICEGATE_PROJECT_ID", PROJECT)
            .variable("SLUICEGATE_AGENT_VERSION", "9.0.0")
            .variable("SLUICEGATE_PREFIX", "sales")
            .variable("SLUICEGATE_ANNOTATIONS", "none")
    };
    let ci = |version| ["ci", "--publish-on-branch", "main", "--version-name", version];
    commit(&world, &[offered_parameters("")]);
    let before = commit(&world, &[("b.orch.yaml", orchestration_text(&BAD))]);
    commit(&world, &[("c.orch.yaml", orchestration_text(&["Start", "Done"]))]);
    // Findings of the previous push are not in the change.
    let output = platform(call_of_push_from(&world, &before))
        .run(&ci("1.0.0"))
        .expect(1);
    let command_line = command(&output);
    assert!(command_line.contains("--all"), "{command_line}");
    assert_same_outcome(&world, command_line, &output);

    // With `new-only`, the published findings are known.
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    let before = commit(&world, &[("d.orch.yaml", orchestration_text(&["Start", "Done"]))]);
    platform(call_of_push_from(&world, &before))
        .run(&ci("1.0.0"))
        .expect(0);
    let before = commit(&world, &[("b.orch.yaml", orchestration_text(&BAD))]);
    commit(
        &world,
        &[("c.orch.yaml", orchestration_text(&["Start", "More", "Done"]))],
    );
    let args = (ci("1.0.1"), "--new-only");
    let output = platform(call_of_push_from(&world, &before)).run(args).expect(1);
    let command_line = command(&output);
    assert_same_outcome(&world, command_line, &output);
}

/// Returns the job in the same environment with a platform and the prefix `sales`.
fn with_platform(job: Call, server: &ServerProcess) -> Call {
    job.variable("SLUICEGATE_BASE_URL", &server.url)
        .variable("SLUICEGATE_TOKEN", TOKEN)
        .variable("SLUICEGATE_PROJECT_ID", PROJECT)
        .variable("SLUICEGATE_AGENT_VERSION", "9.0.0")
        .variable("SLUICEGATE_PREFIX", "sales")
        .variable("SLUICEGATE_ANNOTATIONS", "none")
}

fn start_platform(world: &World) -> ServerProcess {
    let project = format!("{PROJECT}={}", world.remote().display());
    let token = format!("--token={TOKEN}=admin");
    ServerProcess::start(world.path(), &["--project", &project, &token])
}

/// Runs `ci` in the job of a push to `main`, which publishes.
fn publish_after_push(world: &World, server: &ServerProcess, before: &str) -> ProgramOutput {
    let ci = "ci --publish-on-branch main --version-name 1.0.0";
    with_platform(call_of_push_from(world, before), server).run(ci)
}

/// Without a published version, a finding is known if all commits that adopted `new-only` have it.
#[test]
fn command_after_two_adoptions_compares_with_each_until_one_fails() {
    let world = project();
    world.git("remote set-head origin main");
    let server = start_platform(&world);
    commit(&world, &[offered_parameters("")]);
    let adopt = |branch: &str| {
        world.git(format!("checkout -q -b {branch}"));
        world.write("sluicegate.yaml", "review: { new-only: true }\n");
        world.commit(branch);
    };
    adopt("first");
    world.git("checkout -q main");
    let before = commit(&world, &[("b.orch.yaml", orchestration_text(&BAD))]);
    adopt("second");
    world.git("checkout -q main");
    for branch in ["first", "second"] {
        world.git(format!("merge -q --no-ff --no-edit {branch}"));
    }
    world.git("push -q origin main");
    let output = publish_after_push(&world, &server, &before).expect(1);
    let command_line = command(&output);
    assert_eq!(
        command_line.matches("sluicegate check --all --base ").count(),
        2,
        "{command_line}"
    );
    assert_same_outcome(&world, command_line, &output);
}

#[test]
fn command_of_run_that_cannot_publish_checks_only_the_push() {
    let world = project();
    world.git("remote set-head origin main");
    let server = start_platform(&world);
    let before = commit(&world, &[("b.orch.yaml", orchestration_text(&BAD))]);
    commit(&world, &[("c.orch.yaml", orchestration_text(&BAD))]);
    let output = publish_after_push(&world, &server, &before).expect(1);
    let note = "this run cannot publish: the shared-pipelines file";
    output.assert_logged(&[note]);
    let command_line = command(&output);
    assert!(!command_line.contains("--all"), "{command_line}");
    assert_same_outcome(&world, command_line, &output);
    // A push without pipelines passes the review, so only the failure of the publish gives the reason.
    let before = head(&world);
    commit(&world, &[("README.md", "text".to_owned())]);
    let output = publish_after_push(&world, &server, &before).expect(2);
    output.assert_logged(&["no pipeline was selected"]);
    assert_eq!(
        output.all().matches("the shared-pipelines file").count(),
        1,
        "{}",
        output.all()
    );
}
