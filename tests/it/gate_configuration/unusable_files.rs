//! A file of the gate configuration that cannot be used fails the change that introduces it, and stops no later change.

use crate::support::{
    Call, HOSTS, Job, PROJECT, Platform, RULES, RULES_FILE, World, encode_utf_16, head, orchestration_text,
    passed_results, project,
    publishing::{project_to_publish, publish_platform, upload_response},
    read_json, respond_for_each,
};
use serde_json::json;
use std::fs;
use std::os::unix::fs::symlink;

/// Makes the gate configuration unusable, or repairs it.
type Edit = fn(&World);

struct Poison {
    name: &'static str,
    damage: Edit,
    repair: Edit,
    /// A part of the message.
    words: &'static str,
    /// Whether another change on top of it can pass: without rules, no pipeline can, and none can if the settings may
    /// name the team rules.
    lets_others_pass: bool,
}

/// Problems that a local `check` does not need to report, or reports as results.
const NO_LOCAL_ERRORS: [&str; 9] = [
    "wrong value",
    "prefix",
    "placeholder",
    "name without {next}",
    "smoke timeout",
    "empty directory",
    "link",
    "rules file",
    "shared pipelines",
];

fn remove_path(world: &World, path: &str) {
    let full = world.work().join(path);
    if full.is_dir() {
        fs::remove_dir_all(full).unwrap();
    } else {
        fs::remove_file(full).unwrap();
    }
}

fn settings(world: &World, text: &str) {
    world.write("sluicegate.yaml", text);
}

fn no_settings(world: &World) {
    remove_path(world, "sluicegate.yaml");
}

fn no_waivers(world: &World) {
    remove_path(world, "sluicegate-waivers.yaml");
}

fn poisons() -> Vec<Poison> {
    let file = |name, damage: Edit, words| Poison {
        name,
        damage,
        repair: no_settings,
        words,
        lets_others_pass: true,
    };
    let waivers = |name, damage: Edit, words| Poison {
        repair: no_waivers,
        ..file(name, damage, words)
    };
    let unreadable_file = |name, damage: Edit, words| Poison {
        lets_others_pass: false,
        ..file(name, damage, words)
    };
    vec![
        file(
            "unknown key",
            |world| settings(world, "review:\n  fail_on: warn\n"),
            "sluicegate.yaml:2:3: unknown key `fail_on`",
        ),
        file("no YAML", |world| settings(world, "a: [\n"), "sluicegate.yaml"),
        file(
            "wrong value",
            |world| settings(world, "timeout: 0\n"),
            "sluicegate.yaml: the timeout 0 is not in the range",
        ),
        file(
            "prefix",
            |world| settings(world, "publish: { prefix: ü }\n"),
            "sluicegate.yaml: the prefix `ü` contains 'ü'",
        ),
        file(
            "placeholder",
            |world| settings(world, "publish: { version-name: '{nxt}' }\n"),
            "the unknown placeholder `{nxt}`: did you mean `{next}`?",
        ),
        file(
            "name without {next}",
            |world| settings(world, "publish: { version-name: 'rel-{next}' }\n"),
            "the version name `rel-1.0.0` is not a semantic version",
        ),
        file(
            "smoke timeout",
            |world| settings(world, "publish: { smoke-timeout: 0 }\n"),
            "the smoke timeout 0 is not in the range",
        ),
        file(
            "no directory name",
            |world| settings(world, "config-dir: a/b\n"),
            "sluicegate.yaml: hidden directory",
        ),
        file(
            "empty directory",
            |world| settings(world, "config-dir: .typo\n"),
            "`config-dir` is `.typo`",
        ),
        file(
            "include without a match",
            |world| settings(world, "include: ['none/**']\n"),
            "no glob in `include` matches a file",
        ),
        file(
            "tracked output",
            |world| settings(world, "review: { report: [json=a.orch.yaml] }\n"),
            "git tracks this file",
        ),
        file(
            "output outside",
            |world| settings(world, "review: { report: [json=../a.json] }\n"),
            "must stay inside the checkout",
        ),
        file(
            "two reports in one file",
            |world| settings(world, "review: { report: [json=x, junit=x] }\n"),
            "two reports cannot both be written to",
        ),
        unreadable_file(
            "not UTF-8",
            |world| world.write("sluicegate.yaml", [b'#', 0xff, b'\n']),
            "sluicegate.yaml: the content is not UTF-8",
        ),
        unreadable_file(
            "UTF-16",
            // Without the byte order mark.
            |world| world.write("sluicegate.yaml", &encode_utf_16("review: {}\n")[2..]),
            "sluicegate.yaml: the content is UTF-16: save it as UTF-8",
        ),
        unreadable_file(
            "too large",
            |world| settings(world, &"# long\n".repeat(200_000)),
            "the content has more than 1048576 bytes",
        ),
        unreadable_file(
            "link",
            |world| symlink("/etc/hostname", world.work().join("sluicegate.yaml")).unwrap(),
            "leads out of the repository",
        ),
        unreadable_file(
            "dangling settings",
            |world| symlink("nowhere", world.work().join("sluicegate.yaml")).unwrap(),
            "sluicegate.yaml: a symbolic link in its path leads to no file",
        ),
        unreadable_file(
            "directory in place of the settings",
            |world| world.write("sluicegate.yaml/note.txt", "x"),
            "sluicegate.yaml: a directory, not a file",
        ),
        Poison {
            repair: |world| remove_path(world, "sluicegate-rules.yaml"),
            ..unreadable_file(
                "directory in place of the team rules",
                |world| world.write("sluicegate-rules.yaml/note.txt", "x"),
                "sluicegate-rules.yaml: a directory, not a file",
            )
        },
        waivers(
            "directory in place of the waivers",
            |world| world.write("sluicegate-waivers.yaml/note.txt", "x"),
            "sluicegate-waivers.yaml: a directory, not a file",
        ),
        waivers(
            "waivers linked to a directory",
            |world| symlink(".platform", world.work().join("sluicegate-waivers.yaml")).unwrap(),
            "sluicegate-waivers.yaml: a symbolic link in its path leads to no file",
        ),
        Poison {
            repair: |world| remove_path(world, "sluicegate-rules.yaml"),
            ..unreadable_file(
                "dangling team rules",
                |world| symlink("nowhere", world.work().join("sluicegate-rules.yaml")).unwrap(),
                "sluicegate-rules.yaml: a symbolic link in its path leads to no file",
            )
        },
        waivers(
            "no reason",
            |world| {
                world.write(
                    "sluicegate-waivers.yaml",
                    "- { rule: unused-components, path: a }\n",
                );
            },
            "sluicegate-waivers.yaml:1:3: the waiver has no `reason`",
        ),
        waivers(
            "unknown rule",
            |world| {
                world.write(
                    "sluicegate-waivers.yaml",
                    "- { rule: unused-componets, path: a, reason: r }\n",
                );
            },
            "unused-components",
        ),
        waivers(
            "wrong date",
            |world| {
                world.write(
                    "sluicegate-waivers.yaml",
                    "- { rule: unused-components, path: a, reason: r, until: soon }\n",
                );
            },
            "sluicegate-waivers.yaml:1",
        ),
        Poison {
            name: "second hidden directory",
            damage: |world| world.write(".second/config/pipeline_quality_rules.yaml", RULES),
            repair: |world| remove_path(world, ".second"),
            words: ".platform, .second",
            lets_others_pass: false,
        },
        Poison {
            name: "rules file",
            damage: |world| world.write(RULES_FILE, "rules: 7\n"),
            repair: |world| world.write(RULES_FILE, RULES),
            words: "pipeline_quality_rules.yaml:1",
            lets_others_pass: false,
        },
        Poison {
            name: "shared pipelines",
            damage: |world| world.write(".platform/shared-pipelines.yaml", "pipelines: [\n"),
            repair: |world| remove_path(world, ".platform/shared-pipelines.yaml"),
            words: "shared-pipelines.yaml:2:1",
            lets_others_pass: true,
        },
    ]
}

fn check_out_new_branch(world: &World, name: &str) {
    world.git(format!("checkout -q -b {name}"));
}

fn commit_and_push(world: &World, message: &str) {
    world.commit(message);
    world.push();
}

#[test]
fn change_that_makes_the_gate_unusable_fails_and_repair_passes() {
    for case in poisons() {
        let name = case.name;
        let world = project();
        let platform = Platform::new();
        platform.reviews(respond_for_each("PASSED", passed_results()));
        let before = head(&world);
        check_out_new_branch(&world, "change");
        (case.damage)(&world);
        commit_and_push(&world, "poison");
        let output = Job::github()
            .pull_request()
            .call(&world)
            .run("check --report json=-");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        let notes = output.json()["notes"].to_string();
        assert!(notes.contains(case.words), "{name}: {notes}");
        for command in ["review", "ci"] {
            let run_output = Job::github()
                .pull_request()
                .extend(&world, platform.call(&world))
                .run(&[command]);
            assert_eq!(run_output.code, 1, "{name} {command}: {}", run_output.all());
        }
        // The push to the default branch fails too.
        world.git("checkout -q main");
        world.git("merge -q --ff-only change");
        world.push();
        let push_run = Job::github()
            .push(&before)
            .extend(&world, Call::new(&world.work()))
            .run("check");
        assert_eq!(push_run.code, 1, "{name}: {}", push_run.all());
        // Another change is reviewed strictly.
        check_out_new_branch(&world, "other");
        world.write("b.orch.yaml", orchestration_text(&["Start", "bad name", "Done"]));
        commit_and_push(&world, "bad");
        let other_run = Job::github().pull_request().call(&world).run("check");
        assert_eq!(other_run.code, 1, "{name}: {}", other_run.all());
        world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
        commit_and_push(&world, "good");
        let other_run = Job::github()
            .pull_request()
            .call(&world)
            .run("check --report json=-");
        assert_eq!(
            other_run.code,
            i32::from(!case.lets_others_pass),
            "{name}: {}",
            other_run.all()
        );
        let notes = other_run.json()["notes"].to_string();
        // A file that applies to the run is named with its version, so the reason does not follow its name directly.
        let (file, reason) = case.words.split_once(':').unwrap_or(("", case.words));
        assert!(notes.contains(file) && notes.contains(reason), "{name}: {notes}");
        // The repair passes.
        world.git("checkout -q -b repair main");
        (case.repair)(&world);
        commit_and_push(&world, "repair");
        let repaired = Job::github().pull_request().call(&world).run("check");
        assert_eq!(repaired.code, 0, "{name}: {}", repaired.all());
        for command in ["review", "ci"] {
            let run_output = Job::github()
                .pull_request()
                .extend(&world, platform.call(&world))
                .run(&[command]);
            assert_eq!(run_output.code, 0, "{name} {command}: {}", run_output.all());
        }
        // A local run reports the unusable file.
        world.git("checkout -q main");
        if !NO_LOCAL_ERRORS.contains(&case.name) {
            let local = Call::new(&world.work()).run("check --all");
            assert_eq!(local.code, 2, "{name}: {}", local.all());
        }
    }
}

/// The job that publishes may set what the file leaves out.
#[test]
fn file_with_a_part_of_the_publish_settings_passes() {
    let world = project();
    check_out_new_branch(&world, "change");
    settings(
        &world,
        "publish: { version-name: 'v{next}+{short-sha}', smoke: [sales/load] }\n",
    );
    commit_and_push(&world, "settings");
    Job::github().pull_request().call(&world).run("check").expect(0);
}

#[test]
fn waiver_for_rule_in_broken_team_rules_file_is_accepted() {
    let world = project();
    world.write(
        "sluicegate-rules.yaml",
        "rules:\n  - { id: x, level: nonsense }\n",
    );
    commit_and_push(&world, "broken team rules");
    check_out_new_branch(&world, "change");
    let waivers = "- { rule: team/x, path: a.orch.yaml, reason: r }\n";
    world.write("sluicegate-waivers.yaml", waivers);
    commit_and_push(&world, "waive");
    Job::github().pull_request().call(&world).run("check").expect(0);
    // Counterpart: with readable team rules, the rule must exist.
    world.git("checkout -q main");
    remove_path(&world, "sluicegate-rules.yaml");
    commit_and_push(&world, "no team rules");
    world.git("checkout -q change");
    world.git("merge -q main -m merge");
    commit_and_push(&world, "merge");
    let output = Job::github().pull_request().call(&world).run("check").expect(1);
    assert!(
        output.all().contains("there is no rule `team/x`"),
        "{}",
        output.all()
    );
}

#[test]
fn file_of_the_job_is_named_in_messages_about_it() {
    let world = project();
    world.write("ci/gate.yaml", "include: ['none/**']\n");
    commit_and_push(&world, "no match");
    check_out_new_branch(&world, "change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    commit_and_push(&world, "edit");
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --config ci/gate.yaml --report json=-")
        .expect(0);
    let notes = output.json()["notes"].to_string();
    assert!(
        notes.contains("ci/gate.yaml: no glob in `include`") && !notes.contains("sluicegate.yaml"),
        "{notes}"
    );
}

#[test]
fn fault_of_gate_configuration_is_shown_at_its_file() {
    let faulty_rules = "rules: [{ id: x }]\n";
    let faulty_waivers = "- { rule: nope, path: a, reason: x }\n";
    for (path, text, is_faulty) in [
        ("sluicegate-waivers.yaml", faulty_waivers, true),
        ("sluicegate-rules.yaml", faulty_rules, true),
        ("sluicegate.yaml", "review: { fail-on: nothing }\n", true),
        ("sluicegate.yaml", "review: { fail-on: error }\n", false),
    ] {
        let world = project();
        check_out_new_branch(&world, "change");
        world.write(path, text);
        world.write("a.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
        commit_and_push(&world, "change");
        let args = "check --report gitlab=r.gitlab --report sarif=r.sarif --report github=r.github --report json=r.json";
        Job::github()
            .pull_request()
            .call(&world)
            .run(args)
            .expect(i32::from(is_faulty));
        let faults: Vec<(String, String)> = read_json(&world.work().join("r.gitlab"))
            .as_array()
            .unwrap()
            .iter()
            .filter(|issue| issue["check_name"] == "verdict")
            .map(|issue| {
                (
                    issue["location"]["path"].to_string(),
                    issue["description"].to_string(),
                )
            })
            .collect();
        assert_eq!(faults.len(), usize::from(is_faulty), "{path}: {faults:?}");
        let report = read_json(&world.work().join("r.json"));
        if !is_faulty {
            assert!(report.get("faultyGateFile").is_none(), "{report}");
            continue;
        }
        assert_eq!(faults[0].0, format!("{path:?}"), "{faults:?}");
        assert_eq!(report["faultyGateFile"], path);
        let annotations = world.read_text("r.github");
        let annotation = format!("::error file={path},line=1,title=review::");
        assert!(annotations.contains(&annotation), "{annotations}");
        let sarif = world.read_text("r.sarif");
        assert!(
            sarif.contains(&format!("\"uri\": \"{path}\"")) || sarif.contains(&format!("\"uri\":\"{path}\""))
        );
    }
}

#[test]
fn unusable_gate_fails_on_every_host() {
    let world = project();
    check_out_new_branch(&world, "change");
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: unused-components, path: a }\n",
    );
    world.write(".second/shared-pipelines.yaml", "pipelines: []\n");
    commit_and_push(&world, "poison");
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check --report json=-");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        let notes = output.json()["notes"].to_string();
        assert!(
            notes.contains("`reason`") && notes.contains(".second"),
            "{name}: {notes}"
        );
    }
}

/// A change must not set the policy aside by a file at the path of a report.
#[test]
fn tracked_file_at_a_report_path_leaves_the_policy_in_force() {
    let world = project();
    world.write(
        "sluicegate.yaml",
        "review: { fail-on: warn, report: [json=review.json] }\n",
    );
    commit_and_push(&world, "configure");
    check_out_new_branch(&world, "change");
    world.write("review.json", "{}");
    commit_and_push(&world, "report");
    let output = Job::github()
        .pull_request()
        .call(&world)
        .run("check --report json=-")
        .expect(1);
    assert!(output.out.contains("git tracks this file"), "{}", output.out);
    assert_eq!(output.json()["context"]["failOn"], "warn", "{}", output.out);
    assert_eq!(
        fs::read_to_string(world.work().join("review.json")).unwrap(),
        "{}"
    );
}

/// Such a path is unusable whatever files the checkout has.
#[test]
fn file_at_report_path_that_was_invalid_before_is_no_new_problem() {
    for report_path in ["../work/review.json", "link/review.json"] {
        let world = project();
        symlink("/tmp", world.work().join("link")).unwrap();
        let text = format!("review: {{ fail-on: warn, report: [json={report_path}] }}\n");
        world.write("sluicegate.yaml", text);
        commit_and_push(&world, "configure");
        check_out_new_branch(&world, "change");
        world.write("review.json", "{}");
        world.write("new.orch.yaml", orchestration_text(&["Start", "Done"]));
        commit_and_push(&world, "report");
        let job = Job::github().pull_request().call(&world);
        let output = job.run("check --report json=-").expect(0);
        let notes = output.json()["notes"].to_string();
        assert!(
            notes.contains("A gate configuration file was unusable before this change"),
            "{report_path}: {notes}"
        );
    }
}

#[test]
fn file_that_the_policy_cannot_use_either_is_explained_once() {
    for path in ["sluicegate.yaml", "ci:gate.yaml"] {
        let world = project();
        world.write(path, "review:\n  fail-on: [\n");
        commit_and_push(&world, "configure");
        check_out_new_branch(&world, "change");
        world.write("new.orch.yaml", orchestration_text(&["Start", "Done"]));
        commit_and_push(&world, "change");
        let job = Job::github().pull_request().call(&world);
        let output = job.run(("check --report json=- --config", path));
        let notes = output.json()["notes"].to_string();
        assert!(
            notes.contains("that applies to this run cannot be used")
                && !notes.contains("was unusable before this change"),
            "{path}: {notes}"
        );
    }
}

/// A waiver may name a rule that only the rules file knows.
#[test]
fn removed_rule_with_a_waiver_fails_and_removing_both_passes() {
    let own = "rules:\n  - { id: own-rule, enabled: false, enforcementLevel: warn }\n";
    let world = project();
    let rules = format!("{own}{}", RULES.strip_prefix("rules:\n").unwrap());
    world.write(RULES_FILE, &rules);
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: own-rule, path: a, reason: r }\n",
    );
    commit_and_push(&world, "own rule");
    check_out_new_branch(&world, "change");
    world.write(RULES_FILE, RULES);
    commit_and_push(&world, "remove the rule");
    let output = Job::github().pull_request().call(&world).run("check").expect(1);
    assert!(output.all().contains("own-rule"), "{}", output.all());
    no_waivers(&world);
    commit_and_push(&world, "remove the waiver");
    Job::github().pull_request().call(&world).run("check").expect(0);
}

#[test]
fn unusable_policy_publishes_nothing() {
    let large = "# long\n".repeat(200_000);
    for (text, reason) in [
        (
            "publish: { prefix: p, require_review: r.json }\n",
            "require_review",
        ),
        (large.as_str(), "the content has more than 1048576 bytes"),
    ] {
        let world = project();
        settings(&world, text);
        commit_and_push(&world, "poison");
        let platform = Platform::new();
        platform.reviews(respond_for_each("PASSED", passed_results()));
        let args = ["--prefix", "p", "--version-name", "v1"];
        let output = Job::github()
            .push(&head(&world))
            .extend(&world, platform.call(&world))
            .run(("publish", &args));
        let ci = ("ci --publish-on-branch main", &args);
        let ci_output = Job::github()
            .push(&head(&world))
            .extend(&world, platform.call(&world))
            .run(&ci);
        for output in [output, ci_output] {
            let log = output.expect(1).saying(&["nothing is published", reason]).all();
            assert_eq!(log.matches(reason).count(), 1, "{log}");
        }
        assert!(
            platform
                .requests()
                .iter()
                .all(|request| !request.url.path().contains("artifacts"))
        );
    }
}

#[test]
fn missing_project_with_unusable_file_names_the_file() {
    let world = project();
    let agent_and_project = format!("agent-version: '10.0'\nproject-id: {PROJECT}\n");
    settings(&world, &agent_and_project);
    commit_and_push(&world, "settings");
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let review = |before: &str| {
        let call = platform
            .call(&world)
            .without("SLUICEGATE_PROJECT_ID")
            .without("SLUICEGATE_AGENT_VERSION");
        Job::github()
            .push(before)
            .extend(&world, call)
            .run("review --all")
    };
    review(&head(&world)).expect(0);
    let usable_commit = head(&world);
    settings(&world, &(agent_and_project + "nokey: 1\n"));
    commit_and_push(&world, "poison");
    let poison_commit = head(&world);
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    let texts = [
        "the project is not set, and the configuration file",
        ":3:1: unknown key `nokey`",
    ];
    // The change that makes the file unusable fails the gate; a later one cannot be reviewed.
    review(&usable_commit).expect(1).saying(&texts);
    commit_and_push(&world, "other");
    review(&poison_commit).expect(2).saying(&texts);
}

#[test]
fn change_that_adds_the_project_is_pointed_to_the_variable_of_its_job() {
    let world = project();
    settings(&world, "agent-version: '10.0'\n");
    commit_and_push(&world, "settings");
    world.git("switch -qc change");
    settings(&world, &format!("agent-version: '10.0'\nproject-id: {PROJECT}\n"));
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    commit_and_push(&world, "project");
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    let call = platform.call(&world).without("SLUICEGATE_AGENT_VERSION");
    let review = |call: Call| Job::github().pull_request().extend(&world, call).run("review");
    review(call.clone().without("SLUICEGATE_PROJECT_ID"))
        .expect(2)
        .saying(&[
            "the project is not set",
            "hint: `project-id` in the change's sluicegate.yaml applies after the merge; to review this change, set \
             SLUICEGATE_PROJECT_ID in the job or pass --project-id",
        ]);
    review(call).expect(0);
}

#[test]
fn ci_with_unusable_file_that_lists_the_branch_fails() {
    for (text, code) in [
        ("publish-on: { branches: [main] }\nnokey: 1\n", 1),
        ("publish-on: { branches: ['m*'] }\ntimeout: 0\n", 1),
        ("publish-on: [\n", 1),
        ("publish-on: { branches: ['ma[in', main] }\n", 1),
        ("publish-on: { branches: main }\n", 1),
        ("publish-on: { branch: [main] }\n", 1),
        ("publish-on: [main]\n", 1),
        ("publish-on:\nnokey: 1\n", 0),
        ("publish-on: { branches: [release] }\nnokey: 1\n", 0),
        ("nokey: 1\n", 0),
    ] {
        let world = project();
        settings(&world, text);
        commit_and_push(&world, "poison");
        let platform = Platform::new();
        platform.reviews(respond_for_each("PASSED", passed_results()));
        let ci = |job: Job| job.extend(&world, platform.call(&world)).run("ci");
        let poison_commit = head(&world);
        world.write("c.orch.yaml", orchestration_text(&["Start", "Done"]));
        commit_and_push(&world, "other");
        let output = ci(Job::github().push(&poison_commit));
        assert_eq!(output.code, code, "{text}: {}", output.all());
        // The review passed.
        assert!(
            !output.all().contains("Review did not finish"),
            "{}",
            output.all()
        );
        if code == 1 {
            output.saying(&[
                "nothing is published, because the configuration file",
                "sluicegate.yaml",
                "::error title=Publish failed",
            ]);
        }
        // The branches of the job have precedence over those of the file.
        Job::github()
            .push(&poison_commit)
            .extend(&world, platform.call(&world))
            .variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "release/*")
            .run("ci")
            .expect(0);
        // A change that is not merged publishes nothing.
        check_out_new_branch(&world, "change");
        world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
        commit_and_push(&world, "change");
        ci(Job::github().pull_request()).expect(0);
    }
}

/// A review does not use the publish settings of its job, so an invalid one must not hide a defect of the file.
#[test]
fn invalid_publish_setting_of_the_job_hides_no_defect_of_the_file() {
    let world = project();
    check_out_new_branch(&world, "change");
    settings(&world, "include: ['none/**']\n");
    commit_and_push(&world, "settings");
    for (variable, value) in [
        ("SLUICEGATE_PREFIX", "$(PREFIX)"),
        ("SLUICEGATE_VERSION_NAME", "$(Build.BuildNumber)"),
        ("SLUICEGATE_IF_EXISTS", "x"),
        ("SLUICEGATE_LOOKUP_TIMEOUT", "-1"),
        ("SLUICEGATE_BASE_URL", "$(URL)"),
    ] {
        let job = Job::github()
            .pull_request()
            .call(&world)
            .variable(variable, value);
        let output = job.run("check");
        assert_eq!(output.code, 1, "{variable}: {}", output.all());
        assert!(output.all().contains("none/**"), "{variable}: {}", output.all());
    }
}

/// The job that publishes may turn the comparison on, so only `publish` and `doctor` report the combination.
#[test]
fn next_version_with_comparison_off_passes_check_and_fails_publish() {
    for (text, variable) in [
        ("publish: { version-name: '{next}' }\n", "off"),
        ("publish: { version-name: '{next}', compat: off }\n", ""),
    ] {
        let world = project_to_publish();
        check_out_new_branch(&world, "change");
        settings(&world, text);
        commit_and_push(&world, "settings");
        let platform = publish_platform(&world, upload_response(&json!([])));
        let call = platform.call(&world).variable("SLUICEGATE_COMPAT", variable);
        let check = || {
            Job::github()
                .pull_request()
                .extend(&world, call.clone())
                .run("check")
        };
        check().expect(0);
        for command in ["publish --prefix sales", "doctor"] {
            let output = call.clone().run(command);
            assert_ne!(output.code, 0, "{text} {command}: {}", output.all());
            let text = "`{next}` needs a comparison with";
            assert!(output.all().contains(text), "{command}: {}", output.all());
        }
        // A template that no publish can use still fails the gate.
        settings(&world, "publish: { version-name: 'rel-{next}' }\n");
        commit_and_push(&world, "template");
        check().expect(1);
    }
}

#[test]
fn several_hidden_directories_are_named_as_the_reason() {
    let world = project();
    world.write(".second/config/pipeline_quality_rules.yaml", RULES);
    commit_and_push(&world, "second directory");
    check_out_new_branch(&world, "change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    commit_and_push(&world, "change");
    let call = Job::github().pull_request().call(&world);
    let output = call.run("check").expect(1);
    output.assert_logged(&[
        "several hidden directories",
        ".platform, .second",
        "SLUICEGATE_CONFIG_DIR",
    ]);
    for wrong_words in ["rebase", "the rules file is missing"] {
        assert!(!output.all().contains(wrong_words), "{}", output.all());
    }
    call.run("check --config-dir .platform").expect(0);
    // Counterpart: without any rules file, the file is missing.
    remove_path(&world, ".second");
    remove_path(&world, ".platform");
    commit_and_push(&world, "no rules");
    let call = Job::github().pull_request().call(&world);
    call.run("check")
        .expect(1)
        .logging(&["the rules file is missing"]);
}

#[test]
fn unusable_policy_has_the_strictest_levels() {
    let call_of_missing_file = orchestration_text(&["Start", "Call", "Done"])
        .replace("type: sql-executor", "type: run-orchestration")
        .replace(
            "componentName: \"Call\"",
            "componentName: \"Call\", orchestrationJob: \"gone.orch.yaml\"",
        );
    let check_on = |settings_text: &str, args: &str, code: i32| {
        let world = project();
        settings(&world, settings_text);
        commit_and_push(&world, "settings");
        check_out_new_branch(&world, "change");
        world.write("b.orch.yaml", &call_of_missing_file);
        commit_and_push(&world, "change");
        let call = Job::github().pull_request().call(&world);
        call.run(("check --report json=-", args)).expect(code).json()
    };
    let lost = "exclude: [old/**]\nproject-checks: { call: warn }\nexclude: [old/**]\n";
    let report = check_on(lost, "", 1);
    assert_eq!(report["context"]["failOn"], "warn");
    assert!(
        report["limits"]
            .to_string()
            .contains("have their strictest values"),
        "{report}"
    );
    // The levels of the project checks are strict, too.
    check_on(lost, "--fail-on error", 1);
    // Counterparts: a usable file, and the levels of the job.
    check_on("exclude: [old/**]\n", "", 0);
    let report = check_on(lost, "--fail-on error --project-checks off", 0);
    assert_eq!(report["context"]["failOn"], "error");
}

/// Arguments of a review of all pipelines that writes a report and a statement.
const REVIEW_FOR_PUBLISH: [&str; 6] = [
    "review",
    "--all",
    "--report",
    "json=../r.json",
    "--attestation",
    "../s.json",
];

/// Arguments of a publish that requires this review.
const PUBLISH_WITH_REVIEW: [&str; 7] = [
    "publish",
    "--prefix",
    "p",
    "--version-name",
    "v1",
    "--require-review",
    "../r.json",
];

/// Returns a file with this number of team rules, which have the same id, so that only one of them is valid.
fn team_rules_with_same_id(count: usize) -> String {
    let rule = "  - { id: a, level: error, for: component, when: 'false', message: m }\n";
    format!("rules:\n{}", rule.repeat(count))
}

/// Returns a project whose default branch has unusable team rules, and a platform whose reviews pass.
fn project_with_unusable_team_rules() -> (World, Platform) {
    let world = project_to_publish();
    world.write("sluicegate-rules.yaml", team_rules_with_same_id(2));
    commit_and_push(&world, "two clean merges");
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    (world, platform)
}

#[test]
fn unusable_team_rules_publish_nothing() {
    let (world, platform) = project_with_unusable_team_rules();
    let job = |words: &[&str]| {
        Job::github()
            .push(&head(&world))
            .extend(&world, platform.call(&world))
            .run(words)
    };
    job(&[
        "ci",
        "--publish-on-branch",
        "main",
        "--prefix",
        "p",
        "--version-name",
        "v1",
    ])
    .expect(1)
    .saying(&["nothing is published", "not all team rules can be evaluated"]);
    job(&REVIEW_FOR_PUBLISH).expect(1);
    assert!(!world.path().join("s.json").exists());
    job(&PUBLISH_WITH_REVIEW)
        .expect(1)
        .saying(&["nothing is published", "not all team rules can be evaluated"]);
    assert!(
        platform
            .requests()
            .iter()
            .all(|request| !request.url.path().contains("artifacts"))
    );
    // Without a required review, the rules of the team apply all the same.
    let bare_publish = ["publish", "--prefix", "p", "--version-name", "v1"];
    job(&bare_publish)
        .expect(1)
        .saying(&["nothing is published", "not all team rules can be evaluated"]);
}

#[test]
fn repair_of_unusable_team_rules_passes_and_is_no_evidence_for_publish() {
    let (world, platform) = project_with_unusable_team_rules();
    let job = |words: &[&str]| {
        Job::github()
            .push(&head(&world))
            .extend(&world, platform.call(&world))
            .run(words)
    };
    // The change that repairs the file passes, and its statement says that not all rules were evaluated.
    check_out_new_branch(&world, "repair");
    world.write("sluicegate-rules.yaml", team_rules_with_same_id(1));
    commit_and_push(&world, "repair");
    let change_job = Job::github().pull_request();
    change_job
        .extend(&world, platform.call(&world))
        .run(&REVIEW_FOR_PUBLISH)
        .expect(0);
    let statement = read_json(&world.path().join("s.json"));
    assert_eq!(statement["predicate"]["teamRulesUnusable"], true, "{statement}");
    // The report is no evidence after the merge, either.
    world.git("checkout -q main");
    world.git("merge -q --ff-only repair");
    world.push();
    job(&PUBLISH_WITH_REVIEW)
        .expect(2)
        .saying(&["cannot rely on the review", "not all team rules were evaluated"]);
    job(&REVIEW_FOR_PUBLISH).expect(0);
    let statement = read_json(&world.path().join("s.json"));
    assert!(
        statement["predicate"]["teamRulesUnusable"].is_null(),
        "{statement}"
    );
    let platform = publish_platform(&world, upload_response(&json!([])));
    Job::github()
        .push(&head(&world))
        .extend(&world, platform.call(&world))
        .run("publish --prefix p --version-name 1")
        .expect(0);
}

#[test]
fn change_that_repairs_the_settings_has_the_default_levels() {
    let call_of_missing_file = orchestration_text(&["Start", "Call", "Done"])
        .replace("type: sql-executor", "type: run-orchestration")
        .replace(
            "componentName: \"Call\"",
            "componentName: \"Call\", orchestrationJob: \"gone.orch.yaml\"",
        );
    let broken = "retries: 1\nretries: 1\n";
    let world = project();
    settings(&world, "retries: 1\n");
    world.write("b.orch.yaml", &call_of_missing_file);
    commit_and_push(&world, "settings");
    // This branch has the earlier version of the file, which does not repair anything.
    world.git("branch -q older");
    settings(&world, broken);
    commit_and_push(&world, "two clean merges");
    let check = |code: i32| {
        let call = Job::github().pull_request().call(&world);
        call.run("check --all --report json=-").expect(code).json()
    };
    let find_levels = || {
        let call = Job::github().pull_request().call(&world);
        let shown = call.run("settings -o json").expect(0).json();
        let settings = shown["settings"].as_array().unwrap().clone();
        ["review.fail-on", "publish.compat", "project-checks.call"].map(|name| {
            let setting = settings.iter().find(|setting| setting["name"] == name).unwrap();
            format!(
                "{} {}",
                setting["value"].as_str().unwrap(),
                setting["source"].as_str().unwrap()
            )
        })
    };
    check_out_new_branch(&world, "change");
    for words in ["exclude: [old/**]\n", "# two merges\n"] {
        settings(&world, &format!("{words}{broken}"));
        commit_and_push(&world, "no repair");
        check(1);
    }
    remove_path(&world, "sluicegate.yaml");
    commit_and_push(&world, "deleted");
    let report = check(1);
    assert_eq!(report["context"]["failOn"], "warn");
    let strictest = "strictest, because the file cannot be used";
    assert_eq!(
        find_levels(),
        [
            format!("warn {strictest}"),
            format!("fail {strictest}"),
            format!("error {strictest}")
        ]
    );
    settings(&world, "retries: 1 # once\n");
    commit_and_push(&world, "repair");
    let report = check(0);
    assert_eq!(report["context"]["failOn"], "error");
    assert!(
        report["limits"].to_string().contains("have their defaults"),
        "{report}"
    );
    assert_eq!(find_levels(), ["error default", "warn default", "warn default"]);
    world.git("checkout -q older");
    world.write("c.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    commit_and_push(&world, "older");
    check(1);
}

/// A branch that left `main` while a file was unusable did not introduce it.
#[test]
fn branch_of_an_unusable_main_passes_after_the_repair() {
    let world = project();
    settings(&world, "fail_on: warn\n");
    commit_and_push(&world, "poison");
    check_out_new_branch(&world, "change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    commit_and_push(&world, "change");
    world.git("checkout -q main");
    settings(&world, "retries: 1\n");
    commit_and_push(&world, "repair");
    world.git("checkout -q change");
    Job::github().pull_request().call(&world).run("check").expect(0);
}

#[test]
fn configuration_file_that_was_unusable_before_is_explained_once() {
    let world = project();
    world.write("sluicegate.yaml", "fail-on: warn\n");
    commit_and_push(&world, "configure");
    check_out_new_branch(&world, "change");
    world.write("new.orch.yaml", orchestration_text(&["Start", "Done"]));
    commit_and_push(&world, "change");
    let reason = "unknown key `fail-on`";
    let output = Job::github().pull_request().call(&world).run("check").expect(0);
    assert_eq!(output.all().matches(reason).count(), 1, "{}", output.all());
    output.logging(&["the configuration file that applies to this run cannot be used"]);
    world.git("checkout -q main");
    let publish = Call::new(&world.work())
        .run("publish --ci unknown --prefix p --version-name 1")
        .expect(1);
    assert_eq!(publish.all().matches(reason).count(), 1, "{}", publish.all());
}
