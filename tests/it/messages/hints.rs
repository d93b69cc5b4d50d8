//! The hints of errors: each one names a step that works for this cause.

use crate::local_platform::Local;
use crate::support::release::{publish_call, stage};
use crate::support::{Call, Platform, World, bad_pipeline, change, orchestration_text};
use serde_json::json;
use std::fs;
use wiremock::ResponseTemplate;

#[test]
fn file_hidden_by_index_is_published_after_commands_of_hint() {
    let (world, server) = stage();
    let publish = "publish --version-name 1 --from worktree";
    for flag in ["--skip-worktree", "--assume-unchanged"] {
        world.git(&["update-index", flag, "sales/load.orch.yaml"]);
        publish_call(&world, &server).run(publish).expect(2).saying(&[
            "hint: run `git update-index --no-skip-worktree FILE` and `git update-index --no-assume-unchanged FILE`",
        ]);
        world.git("update-index --no-skip-worktree sales/load.orch.yaml");
        world.git("update-index --no-assume-unchanged sales/load.orch.yaml");
    }
    publish_call(&world, &server).run(publish).expect(0);
}

#[test]
fn check_of_file_hidden_by_index_gives_one_instruction() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    world.git("update-index --skip-worktree b.orch.yaml");
    let output = Call::new(&world.work()).run("check --all").expect(3);
    assert!(
        output
            .all()
            .contains("To do: pass --head HEAD to use the committed files, or --staged"),
        "{}",
        output.all()
    );
    assert!(
        !output.all().contains("exclude them in the gate configuration"),
        "{}",
        output.all()
    );
    Call::new(&world.work()).run("check --all --head HEAD").expect(1);
}

#[test]
fn job_key_in_section_with_similar_key_suggests_similar_key() {
    let world = World::new();
    for (text, expected_hint) in [
        (
            "publish-on: { branch: [main] }\n",
            "hint: did you mean `branches`? Only the variable SLUICEGATE_BRANCH sets `branch`",
        ),
        (
            "review: { base: main }\n",
            "set the variable SLUICEGATE_BASE instead",
        ),
    ] {
        world.write("sluicegate.yaml", text);
        Call::new(&world.work())
            .run("check")
            .expect(2)
            .saying(&["is not allowed in the configuration file", expected_hint]);
    }
}

#[test]
fn scalar_instead_of_list_is_shown_as_list_in_hint() {
    let world = World::new();
    for (text, expected_hint) in [
        (
            "review: { report: junit=review.xml }\n",
            "even for one item: [\"junit=review.xml\"]",
        ),
        ("exclude: sales/**\n", "even for one item: [\"sales/**\"]"),
    ] {
        world.write("sluicegate.yaml", text);
        Call::new(&world.work())
            .run("check")
            .expect(2)
            .saying(&[expected_hint]);
    }
}

#[test]
fn missing_prefix_in_settings_is_answered_with_published_prefixes() {
    let local = Local::new();
    let show = || {
        local
            .call()
            .variable("SLUICEGATE_PREFIX", "bar")
            .run("artifacts show")
    };
    show()
        .expect(3)
        .saying(&["the platform has no prefix \"bar\"", "hint: no prefix exists yet"]);
    local.run("publish --version-name 1").expect(0);
    show()
        .expect(3)
        .saying(&["hint: pass a published prefix with --prefix: sales"]);
    local.run("artifacts show --prefix sales").expect(0);
}

#[test]
fn conflict_hint_offers_same_content_only_for_same_commit() {
    let local = Local::new();
    local.run("publish --version-name 1").expect(0);
    let same_commit = local.run("publish --version-name 1").expect(5);
    same_commit.saying(&["pass --if-exists same-content"]);
    local
        .world
        .write("load.orch.yaml", orchestration_text(&["Start", "Done"]));
    local.world.commit("second");
    local.world.push();
    let output = local
        .run("publish --version-name 1")
        .expect(5)
        .saying(&["the version is from commit", "publish under another version name"]);
    assert!(!output.all().contains("same-content"), "{}", output.all());
}

#[test]
fn prefix_without_enabled_version_is_answered_with_complete_command() {
    let local = Local::new();
    local.run("publish --version-name 1").expect(0);
    let output = local.run("artifacts rollback --force").expect(0);
    assert_eq!(
        output.all().matches("NO VERSION IS ENABLED").count(),
        1,
        "{}",
        output.all()
    );
    for args in ["show", "rollback", "prune --keep 1"] {
        local.run(format!("artifacts {args}")).expect(3).saying(&[
            "no version with the prefix \"sales\" is enabled",
            "hint: run `sluicegate artifacts enable VERSION --prefix sales`; `sluicegate artifacts list --prefix sales` lists",
        ]);
    }
    local.run("artifacts enable 1 --prefix sales").expect(0);
    local.run("artifacts show").expect(0);
}

#[test]
fn missing_directory_of_repository_is_named_in_hint() {
    let local = Local::new();
    local.run("publish --version-name 1").expect(0);
    local
        .run("artifacts impact --repos missing-directory")
        .expect(7)
        .saying(&["hint: correct --repos"]);
    local
        .run("check --repo missing-directory")
        .expect(7)
        .saying(&["hint: correct the path of the repository"]);
    let directory = crate::support::scratch::create_scratch_directory();
    Call::new(directory.path())
        .run("check")
        .expect(7)
        .saying(&["`sluicegate check .`"]);
}

#[test]
fn second_repository_of_project_is_refused_with_hint_about_repository() {
    let local = Local::new();
    let create = "repositories create --owner acme --name";
    local.run(format!("{create} one")).expect(0);
    let output = local
        .run(format!("{create} two"))
        .expect(5)
        .saying(&["hint: use the repository that the project already has"]);
    assert!(!output.err.contains("use another name"), "{}", output.err);
}

#[test]
fn unusable_token_is_answered_with_hint_for_its_cause() {
    let world = World::new();
    for (token, expected_hint) in [
        ("${TOKEN}", "hint: define the variable for this job"),
        ("\"abc\"", "hint: remove the quotes"),
        ("a b", "hint: set the token itself"),
    ] {
        let output = Platform::new()
            .call(&world)
            .variable("SLUICEGATE_TOKEN", token)
            .run("projects list")
            .expect(2);
        output.saying(&["no usable token: the token from SLUICEGATE_TOKEN", expected_hint]);
    }
    for (flag, expected_hint) in [
        (
            "--token-file missing",
            "hint: pass the path of a text file that contains only the token",
        ),
        (
            "--token-command false",
            "hint: correct the command of --token-command",
        ),
    ] {
        let output = Platform::new()
            .call(&world)
            .run(format!("projects list {flag}"))
            .expect(2);
        output.saying(&[expected_hint]);
    }
}

#[test]
fn rejected_pipelines_field_is_answered_with_other_request_fields() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    for (message, is_about_field) in [
        ("unrecognized field", true),
        ("must name files of the repository", false),
    ] {
        let platform = Platform::new();
        let body = json!({ "violations": [{ "field": "pipelines", "message": message }] });
        platform.respond_to(
            "POST",
            "/reviews$",
            ResponseTemplate::new(400).set_body_json(body),
        );
        let output = platform.call(&world).run("review --all").expect(3);
        assert_eq!(
            output.all().contains("set --review-request file-paths"),
            is_about_field,
            "{}",
            output.all()
        );
    }
}

#[test]
fn unknown_project_is_answered_with_nearest_project_everywhere() {
    let local = Local::new();
    let mut wrong_id = crate::support::PROJECT.to_owned();
    wrong_id.pop();
    wrong_id.push('9');
    for args in [
        "pipelines list",
        "review --all",
        "pipelines run load --environment test",
        "executions show 5106ca7e-0000-4000-8000-000000000002",
        "streaming status 5106ca7e-0000-4000-8000-000000000002",
        "variables delete tax",
    ] {
        local
            .call()
            .variable("SLUICEGATE_PROJECT_ID", &wrong_id)
            .run(args)
            .expect(3)
            .saying(&[&format!("did you mean `{}`?", crate::support::PROJECT)]);
    }
    // A missing pipeline of an existing project is not a missing project.
    local
        .run("pipelines run nope --environment test")
        .expect(3)
        .saying(&["no published pipeline \"nope\""]);
}

#[test]
fn text_that_is_no_id_is_answered_with_source_of_id() {
    let local = Local::new();
    for (args, expected_texts) in [
        (
            "tasks show abc",
            [
                "the platform has no task \"abc\"",
                "`sluicegate tasks list --all-projects`",
            ],
        ),
        (
            "executions show 123",
            [
                "the platform has no execution \"123\"",
                "`sluicegate pipelines run` printed",
            ],
        ),
        (
            "streaming status abc",
            [
                "the platform has no streaming pipeline \"abc\"",
                "`sluicegate streaming create` printed",
            ],
        ),
    ] {
        local.run(args).expect(3).saying(&expected_texts);
    }
}

#[test]
fn move_of_pipeline_to_name_of_other_kind_suggests_valid_name() {
    let world = World::new();
    world.write("sales/load.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    let call = Call::new(&world.work());
    for new_path in ["sales/new.tran.yaml", "sales/new.yaml", "sales/new"] {
        call.run(&["mv", "sales/load.orch.yaml", new_path])
            .expect(2)
            .saying(&["use `sales/new.orch.yaml`"]);
    }
    call.run("mv sales/load.orch.yaml sales/new.orch.yaml").expect(0);
}

#[test]
fn missing_certificate_file_is_answered_with_its_flag() {
    let world = World::new();
    let call = Call::with_platform(&world.work(), "https://127.0.0.1:9");
    call.run("projects list --ca-cert missing.pem")
        .expect(2)
        .saying(&["hint: correct the path of the file: --ca-cert"]);
    call.run("projects list --client-cert missing.pem")
        .expect(2)
        .saying(&["hint: correct the path of the file: --client-cert"]);
    fs::write(world.work().join("empty.pem"), "").unwrap();
    call.run("projects list --ca-cert empty.pem")
        .expect(2)
        .saying(&["hint: use a file with certificates in PEM format"]);
}

#[test]
fn waiver_with_unknown_rule_is_answered_with_list_of_rules() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: nope-rule, path: b.orch.yaml, reason: x }\n",
    );
    Call::new(&world.work()).run("check").expect(2).saying(&[
        "there is no rule `nope-rule`",
        "`sluicegate rules list` lists the rules",
    ]);
}

#[test]
fn messages_of_task_that_waits_until_time_limit_name_decision() {
    let local = Local::with_environments();
    let create = "tasks create --mode ACT --environment test --source-branch main --generate-branch";
    let task = local.json((create, &["--message", "Push"]));
    let id = task["taskId"].as_str().unwrap();
    local
        .run(("tasks messages --follow --timeout 3", id))
        .expect(8)
        .saying(&[&format!("error: task {id} waits for a decision")]);
}

#[test]
fn flag_and_value_in_one_argument_have_their_own_hint() {
    let world = World::new();
    let call = Call::new(&world.work());
    call.run(&["check", "--exclude archive/**"])
        .expect(2)
        .saying(&["hint: pass --exclude and its value as two arguments"]);
    for argument in ["--no-such-flag x", "--staged x"] {
        let text = call.run(&["check", argument]).expect(2).all();
        assert!(!text.contains("as two arguments"), "{text}");
    }
}

#[test]
fn mistyped_path_is_answered_with_nearest_path_from_current_directory() {
    let world = change(&[("sales/refunds.orch.yaml", &bad_pipeline())]);
    let cases = [
        ("", "check sales/refund.orch.yaml", "`sales/refunds.orch.yaml`"),
        ("", "check salse", "`sales`"),
        ("", "inspect sales/refund.orch.yaml", "`sales/refunds.orch.yaml`"),
        ("sales", "check refund.orch.yaml", "`refunds.orch.yaml`"),
        ("sales", "check sales/refunds.orch.yaml", "`refunds.orch.yaml`"),
        (
            "sales",
            "check ../salse/refunds.orch.yaml",
            "`../sales/refunds.orch.yaml`",
        ),
    ];
    for (directory, args, path) in cases {
        let output = Call::new(&world.work().join(directory)).run(args).expect(2);
        output.saying(&[&format!("hint: did you mean {path}?")]);
    }
    let call = Call::new(&world.work());
    call.run("check quite/different.orch.yaml")
        .expect(2)
        .saying(&["hint: paths are relative to the current directory"]);
    call.run("diff mian")
        .expect(2)
        .saying(&["hint: did you mean the revision `main`? pass main..HEAD"]);
}

#[test]
fn path_in_nested_repository_similar_to_branch_keeps_its_hint() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    world.git("init -q mian");
    let call = Call::new(&world.work());
    let output = call.run("diff mian").expect(2);
    output.saying(&["the path mian is in another repository", "hint: pass `--repo"]);
    // A path that does not exist has only a general hint, so the revision replaces it.
    fs::remove_dir_all(world.work().join("mian")).unwrap();
    call.run("diff mian")
        .expect(2)
        .saying(&["hint: did you mean the revision `main`?"]);
}

#[test]
fn mistyped_branch_is_answered_with_nearest_branch_of_remote() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let platform = Platform::new();
    let review = |branch: &str| {
        platform
            .call(&world)
            .run(&["review", "--branch", branch])
            .expect(7)
    };
    review("chnage").saying(&["hint: did you mean `change`?"]);
    // A branch of the clone is no typo: it is only not pushed yet.
    world.git("branch changes");
    review("changes").saying(&["hint: push the branch with `git push origin changes`"]);
    // No branch of the remote is similar.
    let output = review("unrelated").saying(&["hint: correct the branch (--branch, SLUICEGATE_BRANCH)"]);
    assert!(!output.all().contains("git push"), "{}", output.all());
}

#[test]
fn publish_to_branch_that_remote_lacks_explains_it() {
    let (world, server) = stage();
    let publish = |branch: &str| {
        let args = ["publish", "--dry-run", "--version-name", "1", "--branch", branch];
        publish_call(&world, &server).run(&args).expect(0).all()
    };
    let log = publish("never-pushed");
    assert!(log.contains("the remote has no branch `never-pushed`"), "{log}");
    assert!(log.contains("hint: push the commit to this branch"), "{log}");
    let log = publish("main");
    assert!(!log.contains("the remote has no branch"), "{log}");
}

#[test]
fn glob_of_branches_is_rejected_only_for_blanks_that_git_forbids() {
    let world = World::new();
    for (glob, code) in [("a b", 2), ("a\u{a0}b", 0), ("a\u{3000}b", 0)] {
        world.write(
            "sluicegate.yaml",
            format!("publish-on: {{ branches: ['{glob}'] }}\n"),
        );
        let output = Call::new(&world.work()).run("check").expect(code);
        let is_explained = output.all().contains("a name cannot contain a blank");
        assert_eq!(is_explained, code == 2, "{}", output.all());
    }
    world.write("sluicegate.yaml", "publish-on: { tags: [''] }\n");
    let output = Call::new(&world.work()).run("check").expect(2);
    output.saying(&["sluicegate.yaml:1:", "a glob for branches or tags is empty"]);
}

#[test]
fn wrong_setting_is_answered_with_its_origin() {
    let world = change(&[("b.orch.yaml", &orchestration_text(&["Start", "Done"]))]);
    let call = Call::new(&world.work());
    let did_you_mean = "\"warning\" is not one of error, warn, never: did you mean `warn`?";
    call.clone()
        .variable("SLUICEGATE_FAIL_ON", "warning")
        .run("check")
        .expect(2)
        .saying(&[did_you_mean]);
    call.clone()
        .variable("SLUICEGATE_CONFIG", "none.yaml")
        .run("check")
        .expect(2)
        .saying(&[
            "the configuration file ",
            "none.yaml does not exist",
            "SLUICEGATE_CONFIG",
        ]);
    call.run("check --rules none.yaml")
        .expect(2)
        .saying(&["hint: correct --rules or SLUICEGATE_RULES"]);
    call.run("check --new-only=true")
        .expect(2)
        .saying(&["hint: pass --new-only without a value"]);
    call.run("check --new-only --fail-on warn").expect(0);
    let platform = Platform::new();
    for (text, args, words) in [
        ("review: { fail-on: warning }\n", "check", did_you_mean),
        (
            "review: { data-warehouse: SNOWFLAKE }\n",
            "review",
            "`review.data-warehouse` in the configuration file is set",
        ),
        (
            "environment: ''\n",
            "pipelines run x",
            "the value of `environment` in the configuration file is empty",
        ),
        (
            "timeout: 3\n",
            "pipelines run x",
            "or set `environment` in the configuration file",
        ),
    ] {
        world.write("sluicegate.yaml", text);
        platform.call(&world).run(args).expect(2).saying(&[words]);
    }
}

#[test]
fn flag_before_its_command_is_answered_with_call() {
    let world = World::new();
    let call = Call::new(&world.work());
    for (args, hint) in [
        ("--all check", "sluicegate check --all"),
        ("--fail-on warn check", "sluicegate check --fail-on warn"),
        ("--run-on-latest rules list", "--help"),
    ] {
        let output = call.run(args).expect(2);
        let has_call = output.all().contains("write it after the command: `");
        assert_eq!(has_call, !args.contains("latest"), "{}", output.all());
        output.saying(&[hint]);
    }
}

#[test]
fn hint_for_unmatched_glob_or_path_names_only_flags_of_the_command() {
    let world = change(&[("b.orch.yaml", &bad_pipeline()), ("docs/note.txt", "x")]);
    for command in ["check", "context", "diff"] {
        let call = Call::new(&world.work());
        let output = call.run(format!("{command} --include nosuch/**")).expect(2);
        output.saying(&["hint: globs match full paths from the repository root; without --include every"]);
        call.run(format!("{command} docs"))
            .expect(2)
            .saying(&["hint: pass a pipeline or a directory with pipelines, or omit the path"]);
        let matched = call.run(format!("{command} --include *.orch.yaml"));
        assert_ne!(matched.code, 2, "{}", matched.all());
    }
}

#[test]
fn hint_for_bare_repository_names_no_flag_that_the_command_lacks() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let bare_path = world.path().join("remote.git").display().to_string();
    for command in [
        "waivers list",
        "mv a b",
        "rules lint",
        "inspect b.orch.yaml",
        "check",
    ] {
        let call = Call::new(&world.work());
        let output = call.run(format!("{command} --repo {bare_path}")).expect(7);
        output.saying(&["hint: run the command in a clone; `check`, `diff` and `publish` can also use"]);
    }
}

#[test]
fn directory_in_place_of_pipeline_is_named_in_hint() {
    let world = change(&[("sales/b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    call.run("inspect sales")
        .expect(2)
        .saying(&["hint: the path is a directory: pass a file in it"]);
    call.run("inspect sales/b.orch.yaml").expect(0);
}

#[test]
fn new_rule_in_named_file_is_tested_by_the_printed_command() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    let call = Call::new(&world.work());
    let command = "rules test --team-rules sub.yaml";
    call.run("rules new a --team-rules sub.yaml")
        .expect(0)
        .logging(&[&format!("to test it, run: sluicegate {command}")]);
    call.run(command).expect(0);
    let output = call.run("rules new a").expect(0);
    assert!(
        output.out.ends_with("run: sluicegate rules test\n"),
        "{}",
        output.all()
    );
}

#[test]
fn waiver_with_message_of_team_rule_is_answered_with_hint() {
    let rule = "rules: [{ id: small, level: error, for: pipeline, when: 'true', message: too small }]\n";
    let world = change(&[
        ("sluicegate-rules.yaml", rule),
        ("b.orch.yaml", &orchestration_text(&["Start", "Done"])),
    ]);
    let call = Call::new(&world.work());
    let add = ["waivers", "add", "--reason", "r", "team/small", "b.orch.yaml"];
    let with_message = [&add[..], &["too small"]].concat();
    call.run(&with_message)
        .expect(2)
        .saying(&["no subject in these files: pass only the rule and the path"]);
    call.run(&add).expect(0);
}

#[test]
fn list_with_too_many_globs_is_named_by_its_line() {
    let world = change(&[("b.orch.yaml", &bad_pipeline())]);
    for (count, code) in [(1_001, 2), (1_000, 0)] {
        let globs = vec!["r/*"; count].join(", ");
        world.write("sluicegate.yaml", format!("publish-on:\n  branches: [{globs}]\n"));
        let output = Call::new(&world.work()).run("check --fail-on never").expect(code);
        let problem = "sluicegate.yaml:2:13: there are 1001 globs; the maximum is 1000";
        assert_eq!(output.all().contains(problem), code == 2, "{}", output.all());
    }
}
