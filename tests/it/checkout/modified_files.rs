//! In CI, the commit is evaluated, not the files on disk, which an earlier step of the job may have changed.

use crate::support::{Call, HOSTS, ProgramOutput, RULES_FILE, World, head, orchestration_text, project};
use serde_json::Value;
use std::fs;

/// An earlier step of the job; it receives the text of a good pipeline.
type Step = fn(&World, &str);

/// Creates a branch `change` with a bad pipeline, which is checked out.
fn pushed_bad_change() -> World {
    let world = project();
    world.git("checkout -q -b change");
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("change");
    world.push();
    world
}

fn parse_report(output: &ProgramOutput) -> Value {
    serde_json::from_str(&output.out).unwrap_or_else(|_| panic!("{}", output.all()))
}

#[test]
fn check_in_ci_evaluates_commit_after_step_changed_files() {
    let world = pushed_bad_change();
    let good = orchestration_text(&["Start", "Load", "Done"]);
    let steps: [(&str, Step, &str); 6] = [
        (
            "overwrites",
            |world, good| world.write("bad.orch.yaml", good),
            "bad.orch.yaml",
        ),
        (
            "deletes",
            |world, _| fs::remove_file(world.work().join("bad.orch.yaml")).unwrap(),
            "bad.orch.yaml",
        ),
        (
            "stages",
            |world, good| {
                world.write("bad.orch.yaml", good);
                world.git("add -A");
            },
            "bad.orch.yaml",
        ),
        (
            "writes rules",
            |world, _| world.write(RULES_FILE, "rules: []\n"),
            RULES_FILE,
        ),
        (
            "deletes rules",
            |world, _| fs::remove_file(world.work().join(RULES_FILE)).unwrap(),
            RULES_FILE,
        ),
        (
            "adds a folder of rules",
            |world, _| world.write(".other/config/pipeline_quality_rules.yaml", "rules: []\n"),
            ".other/config/pipeline_quality_rules.yaml",
        ),
    ];
    for (step, change, path) in steps {
        change(&world, &good);
        for (host, job) in HOSTS {
            let call = job(&world, Call::new(&world.work()));
            for flags in [&["check"][..], &["check", "--all"], &["check", "--new-only"]] {
                let output = call.run((flags, "--report json=-"));
                assert_eq!(output.code, 1, "{host} {step} {flags:?}: {}", output.all());
                let notes = parse_report(&output)["notes"].to_string();
                assert!(
                    notes.contains("1 file differs from the commit"),
                    "{step}: {notes}"
                );
                assert!(notes.contains(path), "{step}: {notes}");
            }
        }
        world.git("reset -q --hard");
        world.git("clean -q -f -d");
    }
}

#[test]
fn policy_of_default_branch_is_read_from_commit() {
    let world = project();
    world.write(
        "bad.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("bad");
    world.push();
    let call = Call::new(&world.work())
        .variable("CI", "true")
        .variable("GITLAB_CI", "true")
        .variable("CI_COMMIT_SHA", head(&world))
        .variable("CI_COMMIT_BRANCH", "main")
        .variable("CI_DEFAULT_BRANCH", "main");
    let waiver = "- { rule: component-naming-convention, path: '**', reason: generated }\n";
    for (path, text) in [
        ("sluicegate.yaml", "review: { fail-on: never }\n"),
        ("sluicegate.yaml", "exclude: ['**']\n"),
        ("sluicegate-waivers.yaml", waiver),
    ] {
        world.write(path, text);
        for flags in [&["check", "--all"][..], &["check", "--all", "--policy", "head"]] {
            let output = call.run(flags);
            assert_eq!(output.code, 1, "{path} {flags:?}: {}", output.all());
        }
        fs::remove_file(world.work().join(path)).unwrap();
    }
    // Counterpart: the same files in the commit are in force.
    world.write("sluicegate.yaml", "review: { fail-on: never }\n");
    world.commit("configuration");
    world.push();
    fs::remove_file(world.work().join("sluicegate.yaml")).unwrap();
    call.variable("CI_COMMIT_SHA", head(&world))
        .run("check --all")
        .expect(0);
}

#[test]
fn check_of_good_commit_in_ci_passes_and_lists_bad_disk_files() {
    let world = project();
    world.git("checkout -q -b change");
    world.write("good.orch.yaml", orchestration_text(&["Start", "Load", "Done"]));
    world.commit("change");
    world.push();
    for number in 0..30 {
        world.write(
            &format!("generated/{number:02}.orch.yaml"),
            orchestration_text(&["Start", "bad name", "Done"]),
        );
    }
    for (host, job) in HOSTS {
        let call = job(&world, Call::new(&world.work()));
        let output = call.run("check --report json=-").expect(0);
        let report = parse_report(&output);
        assert_eq!(report["context"]["head"], head(&world), "{host}");
        let notes = report["notes"].to_string();
        assert!(
            notes.contains("30 files differ from the commit"),
            "{host}: {notes}"
        );
        assert!(notes.contains("and 10 more"), "{host}: {notes}");
    }
    // Counterparts: a local run evaluates the files on disk, and the job may state that it means other files.
    Call::new(&world.work()).run("check").expect(1);
    world.git("add -A");
    let call = HOSTS[0].1(&world, Call::new(&world.work()));
    call.run("check --staged").expect(1);
    call.run("check").expect(0);
}

#[test]
fn unmodified_checkout_in_ci_has_no_note_about_disk() {
    let world = pushed_bad_change();
    for (host, job) in HOSTS {
        let output = job(&world, Call::new(&world.work())).run("check --report json=-");
        let notes = parse_report(&output)["notes"].to_string();
        assert!(!notes.contains("on disk"), "{host}: {notes}");
    }
}

#[test]
fn rules_lint_in_ci_reads_commit() {
    let world = project();
    world.git("checkout -q -b change");
    world.write(RULES_FILE, "rules: [{ id: no-such-rule, enabled: true }]\n");
    world.commit("rules");
    world.push();
    world.write(RULES_FILE, "rules: []\n");
    let lint = |call: Call| call.run("rules lint").code;
    let local = lint(Call::new(&world.work()));
    let in_job = lint(HOSTS[0].1(&world, Call::new(&world.work())));
    assert_eq!((local, in_job), (0, 1));
}
