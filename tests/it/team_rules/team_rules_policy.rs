//! The version of the team rules that is in force, and changes to them.

use super::{FILE, commit_files, list_team_findings, python_pipeline, python_rule, world_with_files};
use crate::support::{Call, Job, World, head};
use serde_json::{Value, json};

/// Returns a pull request's check with a JSON report.
fn check_in_job(world: &World, args: &str, code: i32) -> Value {
    let call = Job::github().pull_request().call(world);
    call.run(("check --report json=-", args)).expect(code).json()
}

/// Commits on `main`, pushes it, and returns to the branch.
fn commit_on_main(world: &World, files: &[(&str, &str)]) {
    world.git("checkout -q main");
    commit_files(world, files);
    world.git("checkout -q change");
}

#[test]
fn change_that_relaxes_rule_is_checked_with_rules_of_target() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(
        &world,
        &[
            (FILE, &python_rule("off")),
            ("prod/a.orch.yaml", &python_pipeline(&["Run"])),
        ],
    );
    let report = check_in_job(&world, "", 1);
    assert_eq!(list_team_findings(&report).len(), 1);
    assert_eq!(report["gateChanges"], serde_json::json!([FILE]));
    let words = report["gateChangesInWords"][FILE].to_string();
    assert!(words.contains("team/no-python error → off (relaxed)"), "{words}");
    check_in_job(&world, "--gate-changes fail", 1);
    check_in_job(&world, "--policy head", 0);
}

#[test]
fn first_file_has_no_effect_before_its_merge() {
    let world = world_with_files(&[]);
    commit_files(
        &world,
        &[
            (FILE, &python_rule("error")),
            ("prod/a.orch.yaml", &python_pipeline(&["Run"])),
        ],
    );
    let report = check_in_job(&world, "", 0);
    assert_eq!(list_team_findings(&report).len(), 0);
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("has no sluicegate-rules.yaml yet") && notes.contains("--policy head"),
        "{notes}"
    );
    assert!(report["limits"].to_string().contains("not-in-force"), "{report}");
    let report = check_in_job(&world, "--policy head", 1);
    assert_eq!(list_team_findings(&report).len(), 1);
    world.git("checkout -q main");
    world.git("merge -q --ff-only change");
    world.push();
    world.git("checkout -q -b next");
    commit_files(&world, &[("prod/b.orch.yaml", &python_pipeline(&["Run"]))]);
    let call = Job::github().pull_request().call(&world);
    call.run("check").expect(1).logging(&["no-python"]);
}

#[test]
fn invalid_file_fails_the_change_that_adds_it() {
    let broken = python_rule("error").replace("component.type ==", "component.typ ==");
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(&world, &[(FILE, &broken)]);
    let report = check_in_job(&world, "", 1);
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("`component` has no field `typ`") && notes.contains(":6:21"),
        "{notes}"
    );
    let local = Call::new(&world.work()).run("check").expect(2);
    assert!(local.all().contains("did you mean `type`?"), "{}", local.all());
}

/// Returns a file with two rules that have the same id, as two clean merges may produce it.
fn rules_with_duplicate_id() -> String {
    let rule = python_rule("error");
    let entry = rule.strip_prefix("rules:\n").unwrap();
    format!("{rule}{entry}")
}

#[test]
fn unusable_file_on_target_fails_each_change_with_pipelines() {
    let broken = python_rule("error").replace("component.type ==", "component.typ ==");
    let world = world_with_files(&[(FILE, &broken)]);
    commit_files(&world, &[("a.orch.yaml", &python_pipeline(&["Run"]))]);
    for args in ["", "--new-only", "--gate-changes fail"] {
        let report = check_in_job(&world, args, 1);
        let findings = list_team_findings(&report);
        assert_eq!(findings.len(), 1, "{args}: {findings:?}");
        assert!(
            findings[0].starts_with("team/rules-file ERROR")
                && findings[0].contains("a.orch.yaml")
                && findings[0].contains("`component` has no field `typ`"),
            "{args}: {findings:?}"
        );
        assert_eq!(report["context"]["teamRulesUnusable"], true, "{args}");
    }
    // A waiver does not excuse it, and a run of all pipelines on the default branch does not pass either.
    let waiver = "- { rule: unused-components, path: '**', reason: r }\n";
    commit_on_main(&world, &[("sluicegate-waivers.yaml", waiver)]);
    check_in_job(&world, "", 1);
    world.git("checkout -q main");
    let before = head(&world);
    commit_files(&world, &[("b.orch.yaml", &python_pipeline(&["Run"]))]);
    Job::github().push(&before).call(&world).run("check").expect(1);
    // A change without pipelines passes, with the reason.
    world.git("checkout -q -b words");
    commit_files(&world, &[("README.md", "words")]);
    let report = check_in_job(&world, "", 0);
    let limits = report["limits"].to_string();
    assert!(limits.contains("no team rule is evaluated"), "{limits}");
}

#[test]
fn unusable_file_on_target_is_reported_once_for_all_pipelines() {
    let broken = python_rule("error").replace("component.type ==", "component.typ ==");
    for (file, fault_count) in [(broken, 1), (python_rule("error"), 0)] {
        let world = world_with_files(&[(FILE, &file)]);
        let pipeline = python_pipeline(&["Run"]);
        commit_files(
            &world,
            &[
                ("a.orch.yaml", &pipeline),
                ("b.orch.yaml", &pipeline),
                ("c.orch.yaml", &pipeline),
            ],
        );
        let call = Job::github().pull_request().call(&world);
        let output = call
            .run("check --report checkstyle=r.xml --report markdown=r.md")
            .expect(i32::from(fault_count > 0));
        let count_lines = |text: &str, part: &str| text.lines().filter(|line| line.contains(part)).count();
        let errors = output.all().replace("::error", "\n::error");
        let annotation = "::error file=a.orch.yaml,line=1,title=team/rules-file";
        assert_eq!(count_lines(&errors, annotation), fault_count, "{errors}");
        assert_eq!(count_lines(&errors, "::error"), fault_count, "{errors}");
        for report in ["r.xml", "r.md"] {
            let text = std::fs::read_to_string(world.work().join(report)).unwrap();
            assert_eq!(count_lines(&text, "team/unusable-file"), fault_count, "{text}");
            let has_hint = text.contains("This affects 3 files") || text.contains("3 files: a");
            assert_eq!(has_hint, fault_count > 0, "{text}");
        }
        assert_eq!(
            output
                .all()
                .contains("check the change with `sluicegate rules lint`"),
            fault_count > 0
        );
    }
}

#[test]
fn unusable_file_on_target_passes_the_change_that_repairs_it() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_on_main(&world, &[(FILE, &rules_with_duplicate_id())]);
    // The branch has the earlier version of the file, which its merge would not restore.
    commit_files(&world, &[("a.orch.yaml", &python_pipeline(&["Run"]))]);
    check_in_job(&world, "", 1);
    world.git("merge -q main -m merge");
    commit_files(&world, &[(FILE, &python_rule("error"))]);
    let report = check_in_job(&world, "", 0);
    let limits = report["limits"].to_string();
    assert!(limits.contains("only its valid rule is evaluated"), "{limits}");
    assert_eq!(list_team_findings(&report).len(), 0);
    // The valid rules apply to the repair, too.
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let findings = list_team_findings(&check_in_job(&world, "", 1));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("team/no-python FAILED"), "{findings:?}");
    // Another defect is no repair.
    commit_files(&world, &[(FILE, "rules: 7\n")]);
    let findings = list_team_findings(&check_in_job(&world, "", 1));
    assert!(
        findings
            .iter()
            .any(|finding| finding.starts_with("team/rules-file")),
        "{findings:?}"
    );
}

#[test]
fn unusable_settings_that_name_the_team_rules_fail_each_other_change() {
    let settings = "review: { team-rules: gate/rules.yaml }\n";
    let broken_settings = format!("{settings}{settings}");
    let world = world_with_files(&[
        ("sluicegate.yaml", &broken_settings),
        ("gate/rules.yaml", &python_rule("error")),
    ]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let findings = list_team_findings(&check_in_job(&world, "", 1));
    assert!(
        findings[0].contains("`review.team-rules` cannot be used"),
        "{findings:?}"
    );
    let findings = list_team_findings(&check_in_job(&world, "--team-rules gate/rules.yaml", 1));
    assert!(findings[0].starts_with("team/no-python FAILED"), "{findings:?}");
    // The repair names the file again, so its rules apply to the change.
    commit_files(&world, &[("sluicegate.yaml", settings)]);
    let findings = list_team_findings(&check_in_job(&world, "", 1));
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(findings[0].starts_with("team/no-python FAILED"), "{findings:?}");
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&[]))]);
    check_in_job(&world, "", 0);
    // Settings without the key do not affect the team rules.
    let world = world_with_files(&[("sluicegate.yaml", "retries: 1\nretries: 1\n")]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    check_in_job(&world, "", 0);
}

#[test]
fn unusable_settings_leave_the_rules_of_the_default_file_in_force() {
    let settings = format!("review: {{ team-rules: {FILE} }}\n");
    let world = world_with_files(&[
        ("sluicegate.yaml", &format!("{settings}{settings}")),
        (FILE, &python_rule("error")),
    ]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let findings = list_team_findings(&check_in_job(&world, "", 1));
    assert_eq!(findings.len(), 2, "{findings:?}");
    // A repair that turns the rules off or moves them does not evade the rules either.
    for text in [
        settings.as_str(),
        "review: { team-rules: off }\n",
        "review: { team-rules: other.yaml }\n",
    ] {
        // Settings that name a missing file would not be a repair.
        commit_files(
            &world,
            &[("sluicegate.yaml", text), ("other.yaml", &python_rule("off"))],
        );
        let findings = list_team_findings(&check_in_job(&world, "", 1));
        assert_eq!(findings.len(), 1, "{text}: {findings:?}");
        assert!(findings[0].starts_with("team/no-python FAILED"), "{findings:?}");
    }
    commit_files(
        &world,
        &[
            ("sluicegate.yaml", &settings),
            ("prod/a.orch.yaml", &python_pipeline(&[])),
        ],
    );
    check_in_job(&world, "", 0);
}

#[test]
fn repair_counts_only_if_the_file_of_the_policy_is_usable_again() {
    let broken = python_rule("error").replace("component.type ==", "component.typ ==");
    let world = world_with_files(&[(FILE, &broken)]);
    commit_files(&world, &[("a.orch.yaml", &python_pipeline(&["Run"]))]);
    let edited = format!("# still broken\n{broken}");
    let rules = python_rule("error");
    let off = "review: { team-rules: off }\n";
    let moved = "review: { team-rules: other.yaml }\n";
    for files in [
        vec![(FILE, edited.as_str()), ("sluicegate.yaml", off)],
        vec![
            (FILE, &edited),
            ("sluicegate.yaml", moved),
            ("other.yaml", &rules),
        ],
    ] {
        commit_files(&world, &files);
        let findings = list_team_findings(&check_in_job(&world, "", 1));
        assert!(
            findings[0].starts_with("team/rules-file ERROR"),
            "{files:?}: {findings:?}"
        );
    }
    // The file is repaired, and the change moves the rules.
    commit_files(&world, &[(FILE, &rules)]);
    check_in_job(&world, "", 0);
    for path in [FILE, "other.yaml", "sluicegate.yaml"] {
        std::fs::remove_file(world.work().join(path)).unwrap();
    }
    commit_files(&world, &[]);
    let findings = list_team_findings(&check_in_job(&world, "", 1));
    assert!(findings[0].starts_with("team/rules-file ERROR"), "{findings:?}");
}

#[test]
fn repaired_rule_applies_to_the_change_that_repairs_it() {
    let broken = python_rule("error").replace("component.type ==", "component.typ ==");
    for policy_text in [broken.as_str(), "rules: [\n"] {
        let world = world_with_files(&[(FILE, policy_text)]);
        commit_files(
            &world,
            &[
                (FILE, &python_rule("error")),
                ("prod/a.orch.yaml", &python_pipeline(&["Run"])),
            ],
        );
        let report = check_in_job(&world, "", 1);
        let findings = list_team_findings(&report);
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].starts_with("team/no-python FAILED"), "{findings:?}");
        let limits = report["limits"].to_string();
        assert!(limits.contains("also evaluated: 1 rule"), "{limits}");
        commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&[]))]);
        check_in_job(&world, "", 0);
    }
    // A rule that the broken version does not have applies only after the merge.
    let world = world_with_files(&[(FILE, &broken)]);
    let new_rule = "  - { id: new, level: error, for: component, when: 'true', message: m }\n";
    commit_files(
        &world,
        &[
            (FILE, &format!("{}{new_rule}", python_rule("error"))),
            ("a.orch.yaml", &python_pipeline(&["Run"])),
        ],
    );
    check_in_job(&world, "", 0);
}

#[test]
fn failing_example_fails_the_change_that_edits_the_file() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    let wrong = python_rule("error").replace("type: sql-executor", "type: python-script");
    commit_files(&world, &[(FILE, &wrong)]);
    let report = check_in_job(&world, "", 1);
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("An example of `team/no-python`") && notes.contains("the example should pass"),
        "{notes}"
    );
    assert_eq!(
        (&report["gateRefused"], &report["gateFaults"]),
        (&Value::Null, &json!(["failed-example"]))
    );
    // The job allows changes to the gate, so neither the headline nor the command says otherwise.
    let job = Job::github().pull_request().call(&world).run("check").expect(1);
    let command = job
        .out
        .lines()
        .find(|line| line.starts_with("Reproduce locally: "));
    assert!(
        job.out.contains("Check failed: an example of a team rule failed")
            && job.out.contains("::warning file=sluicegate-rules.yaml")
            && !command.unwrap().contains("--gate-changes"),
        "{}",
        job.all()
    );
    Call::new(&world.work())
        .run("check")
        .expect(1)
        .logging(&["the example should pass"]);
    commit_files(
        &world,
        &[(
            FILE,
            &python_rule("error").replace("Use SQL.", "Use SQL instead."),
        )],
    );
    check_in_job(&world, "", 0);
}

#[test]
fn stricter_rules_of_target_apply_to_older_branch() {
    let world = world_with_files(&[(FILE, &python_rule("off"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    check_in_job(&world, "", 0);
    commit_on_main(&world, &[(FILE, &python_rule("error"))]);
    let report = check_in_job(&world, "", 1);
    assert_eq!(list_team_findings(&report).len(), 1);
    let limits = report["limits"].to_string();
    assert!(
        limits.contains("team/no-python off → error (tightened)"),
        "{limits}"
    );
    check_in_job(&world, "--gate-changes fail", 1);
    let report = check_in_job(&world, "--policy head", 0);
    assert!(report["limits"].to_string().contains("stricter-tip"), "{report}");
}

#[test]
fn setting_names_another_file_and_follows_the_configuration_file() {
    let settings = "review: { team-rules: gate/rules.yaml }\n";
    let world = world_with_files(&[
        ("sluicegate.yaml", settings),
        ("gate/rules.yaml", &python_rule("error")),
        (FILE, &python_rule("off")),
    ]);
    commit_files(
        &world,
        &[
            (
                "sluicegate.yaml",
                "review: { team-rules: sluicegate-rules.yaml }\n",
            ),
            ("prod/a.orch.yaml", &python_pipeline(&["Run"])),
        ],
    );
    let report = check_in_job(&world, "", 1);
    assert_eq!(list_team_findings(&report).len(), 1);
    let words = report["gateChangesInWords"].to_string();
    assert!(words.contains("review.team-rules"), "{words}");

    let world = world_with_files(&[
        ("gate/sluicegate.yaml", "{}\n"),
        ("gate/sluicegate-rules.yaml", &python_rule("error")),
    ]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    check_in_job(&world, "", 0);
    check_in_job(&world, "--config gate/sluicegate.yaml", 1);
    let outside = Call::new(&world.work())
        .run("check --team-rules ../rules.yaml")
        .expect(2);
    assert!(
        outside.all().contains("not the path of a file in the repository"),
        "{}",
        outside.all()
    );
}

#[test]
fn missing_team_rules_file_is_error_if_job_names_it() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    for call in [
        Call::new(&world.work()),
        Job::github().pull_request().call(&world),
    ] {
        for run in [
            call.run("check --team-rules nope.yaml"),
            call.clone()
                .variable("SLUICEGATE_TEAM_RULES", "nope.yaml")
                .run("check"),
        ] {
            run.expect(2).saying(&[
                "the team rules file nope.yaml",
                "turn the team rules off with `--team-rules off`",
            ]);
        }
    }
    // The file of the policy is not another file.
    let report = check_in_job(&world, &format!("--team-rules {FILE}"), 1);
    assert_eq!(report["context"]["teamRules"], Value::Null);
    // A file that the change adds has no effect yet.
    commit_files(&world, &[("new.yaml", &python_rule("off"))]);
    let report = check_in_job(&world, "--team-rules new.yaml", 0);
    assert!(report["limits"].to_string().contains("do not apply"), "{report}");
    assert_eq!(report["context"]["teamRules"], "new.yaml");
    // A file of the commit is no mistake, even if it is not on disk, as in a bare repository.
    std::fs::remove_file(world.work().join(FILE)).unwrap();
    let run = Call::new(&world.work()).run(&format!("check --all --head HEAD --team-rules {FILE}"));
    assert!(!run.all().contains("does not exist"), "{}", run.all());
}

#[test]
fn missing_team_rules_file_of_policy_is_reported_beside_verdict() {
    let world = world_with_files(&[("sluicegate.yaml", "review:\n  team-rules: nope.yaml\n")]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let report = check_in_job(&world, "", 0);
    let limits = report["limits"].to_string();
    assert!(
        limits.contains("the setting `review.team-rules` names nope.yaml, but")
            && limits.contains("no team rule"),
        "{limits}"
    );
    // On a laptop, the checkout decides.
    let run = Call::new(&world.work()).run("check --all").expect(0);
    assert!(
        run.all()
            .contains("names nope.yaml, but nope.yaml does not exist"),
        "{}",
        run.all()
    );
    // A file that nobody names may be missing.
    let world = world_with_files(&[("sluicegate.yaml", "review:\n  fail-on: error\n")]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    assert_eq!(check_in_job(&world, "", 0)["limits"], Value::Null);
}

#[test]
fn link_to_rules_is_followed_and_reported_as_gate_change() {
    let world = world_with_files(&[("gate/rules.yaml", &python_rule("error"))]);
    std::os::unix::fs::symlink("gate/rules.yaml", world.work().join(FILE)).unwrap();
    world.git("checkout -q main");
    world.commit("link");
    world.push();
    world.git("checkout -q -B change");
    commit_files(
        &world,
        &[
            ("gate/rules.yaml", &python_rule("warn")),
            ("prod/a.orch.yaml", &python_pipeline(&["Run"])),
        ],
    );
    let report = check_in_job(&world, "", 1);
    assert_eq!(list_team_findings(&report).len(), 1);
    assert!(
        report["gateChangesInWords"]
            .to_string()
            .contains("team/no-python error → warn (relaxed)"),
        "{report}"
    );
}

#[test]
fn failing_examples_beyond_ten_are_only_counted() {
    let example = "        - path: prod/a.orch.yaml
          pipeline: |
            type: orchestration
            pipeline: { components: { Run: { type: python-script } } }
";
    for (failure_count, has_more) in [(10, false), (11, true)] {
        let world = world_with_files(&[(FILE, &python_rule("error"))]);
        commit_files(
            &world,
            &[(FILE, &(python_rule("error") + &example.repeat(failure_count)))],
        );
        let notes = check_in_job(&world, "", 1)["notes"].to_string();
        assert_eq!(notes.matches("the example should pass").count(), 10, "{notes}");
        assert_eq!(notes.contains("more failing example"), has_more, "{notes}");
        assert_eq!(
            notes.contains(
                "1 more failing example of team rules; run `sluicegate rules test` to see them all"
            ),
            has_more,
            "{notes}"
        );
    }
}

/// Creates a repository whose configuration file names `gate/team.yaml`, and `gate/unused.yaml` with the rule `off`.
fn world_with_named_rules() -> World {
    world_with_files(&[
        ("sluicegate.yaml", "review: { team-rules: gate/team.yaml }\n"),
        ("gate/team.yaml", &python_rule("error")),
        ("gate/unused.yaml", &python_rule("off")),
    ])
}

#[test]
fn team_rules_that_settings_move_are_compared_and_their_examples_run() {
    let world = world_with_named_rules();
    world.git("mv gate/team.yaml gate/moved.yaml");
    let never_true = python_rule("error").replace("== \"python-script\"", "== \"nope\"");
    commit_files(
        &world,
        &[
            ("sluicegate.yaml", "review: { team-rules: gate/moved.yaml }\n"),
            ("gate/moved.yaml", &never_true),
        ],
    );
    let report = check_in_job(&world, "", 1);
    let words = report["gateChangesInWords"]["gate/moved.yaml"].to_string();
    assert!(words.contains("team/no-python when"), "{words}");
    assert!(!words.contains("removed"), "{words}");
    let notes = report["notes"].to_string();
    assert!(notes.contains("gate/moved.yaml:11"), "{notes}");
    Call::new(&world.work())
        .run("check")
        .expect(1)
        .logging(&["gate/moved.yaml:11"]);
}

#[test]
fn unedited_team_rules_that_settings_select_are_described_with_settings() {
    let world = world_with_named_rules();
    commit_files(
        &world,
        &[("sluicegate.yaml", "review: { team-rules: gate/unused.yaml }\n")],
    );
    // The examples of the rule expect a finding, and a rule that is off has the same findings in an example.
    let report = check_in_job(&world, "", 0);
    let words = report["gateChangesInWords"]["sluicegate.yaml"].to_string();
    assert!(
        words.contains("gate/unused.yaml: team/no-python error → off (relaxed)"),
        "{words}"
    );
}

#[test]
fn change_that_turns_team_rules_off_or_on_names_their_rules() {
    let (off, on) = (
        "review: { team-rules: off }\n",
        "review: { team-rules: gate/team.yaml }\n",
    );
    for (before, after, sentence) in [
        (
            on,
            off,
            "gate/team.yaml: team/no-python error → removed (relaxed)",
        ),
        (off, on, "gate/team.yaml: team/no-python added, error (tightened)"),
    ] {
        let world = world_with_files(&[
            ("sluicegate.yaml", before),
            ("gate/team.yaml", &python_rule("error")),
        ]);
        commit_files(&world, &[("sluicegate.yaml", after)]);
        let report = check_in_job(&world, "", 0);
        let words = report["gateChangesInWords"]["sluicegate.yaml"].to_string();
        assert!(words.contains(sentence), "{words}");
    }
    // The rules become active even if the change also edits their file.
    let world = world_with_files(&[
        ("sluicegate.yaml", off),
        ("gate/team.yaml", &python_rule("error")),
    ]);
    let edited = format!("# edited\n{}", python_rule("error"));
    commit_files(&world, &[("sluicegate.yaml", on), ("gate/team.yaml", &edited)]);
    let report = check_in_job(&world, "", 0);
    let words = report["gateChangesInWords"]["gate/team.yaml"].to_string();
    assert!(
        words.contains("team/no-python added, error (tightened)"),
        "{words}"
    );
    // The description of the removed file already names the rules.
    let world = world_with_named_rules();
    world.git("rm -q gate/team.yaml");
    commit_files(&world, &[("sluicegate.yaml", off)]);
    let report = check_in_job(&world, "", 0);
    let words = report["gateChangesInWords"]["sluicegate.yaml"].to_string();
    assert!(!words.contains("removed"), "{words}");
}

#[test]
fn moved_team_rules_without_edit_pass() {
    let world = world_with_named_rules();
    world.git("mv gate/team.yaml gate/moved.yaml");
    commit_files(
        &world,
        &[("sluicegate.yaml", "review: { team-rules: gate/moved.yaml }\n")],
    );
    let report = check_in_job(&world, "", 0);
    let words = report["gateChangesInWords"]["gate/moved.yaml"].to_string();
    assert!(words.contains("no rule has changed"), "{words}");
}

#[test]
fn examples_of_first_team_rules_at_named_path_run() {
    let world = world_with_files(&[]);
    let never_true = python_rule("error").replace("== \"python-script\"", "== \"nope\"");
    commit_files(
        &world,
        &[
            ("sluicegate.yaml", "review: { team-rules: gate/team.yaml }\n"),
            ("gate/team.yaml", &never_true),
        ],
    );
    let notes = check_in_job(&world, "", 1)["notes"].to_string();
    assert!(notes.contains("gate/team.yaml:11"), "{notes}");
}

#[test]
fn change_that_leaves_named_team_rules_missing_fails() {
    let world = world_with_named_rules();
    commit_files(
        &world,
        &[("sluicegate.yaml", "review: { team-rules: gate/none.yaml }\n")],
    );
    let report = check_in_job(&world, "", 1);
    let words = report["gateChangesInWords"]["sluicegate.yaml"].to_string();
    assert!(
        words.contains("gate/none.yaml is missing, so no rule of gate/team.yaml applies (relaxed)"),
        "{words}"
    );
    let world = world_with_named_rules();
    world.git("rm -q gate/team.yaml");
    commit_files(&world, &[]);
    let notes = check_in_job(&world, "", 1)["notes"].to_string();
    assert!(
        notes.contains("`review.team-rules` is `gate/team.yaml`, but there is no such file"),
        "{notes}"
    );
}
