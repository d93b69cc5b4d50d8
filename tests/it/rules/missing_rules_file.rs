//! The hint for a missing rules file fits the cause: the file is not committed, only the target has it, or there is
//! none.

use crate::support::{
    Call, HOSTS, Job, Platform, ProgramOutput, RULES, RULES_FILE, World, git, orchestration_text,
    passed_results, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

const INIT: &str = "`sluicegate rules init";

/// Returns a platform that finds no rules file.
fn ruleless_platform() -> Platform {
    let platform = Platform::new();
    let error = json!([{ "ruleName": "pipeline-quality-rules", "status": "ERROR",
        "errorDetail": { "type": "designer/rules-file-retrieval-error", "title": "no rules file" } }]);
    platform.reviews(respond_for_each("FAILED", error));
    // For `doctor`.
    platform.respond_to(
        "GET",
        "",
        wiremock::ResponseTemplate::new(200).set_body_json(json!([])),
    );
    platform
}

/// Creates a pushed branch `change` of a `main` without a rules file.
fn old_branch() -> World {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("change");
    world.push();
    world
}

/// Adds the rules file to `main`, as the merge of the gate does.
fn merge_gate(world: &World) {
    world.git("checkout -q main");
    world.write(RULES_FILE, RULES);
    world.commit("gate");
    world.push();
    world.git("checkout -q change");
}

fn rules_check(output: &ProgramOutput) -> Value {
    let report = output.json();
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["check"] == "rules-file");
    check.unwrap().clone()
}

#[test]
fn review_of_open_change_after_merge_of_gate_advises_merge_of_target() {
    let platform = ruleless_platform();
    let world = old_branch();
    merge_gate(&world);
    for (name, host) in HOSTS {
        let call = host(&world, platform.call(&world));
        for command in [
            &[
                "review",
                "--report",
                "markdown=page.md",
                "--report",
                "html=page.html",
            ][..],
            &[
                "check",
                "--report",
                "markdown=page.md",
                "--report",
                "html=page.html",
            ],
        ] {
            let output = call.run(command);
            assert_eq!(output.code, 1, "{name}: {}", output.all());
            assert!(
                output.out.contains("hint: merge `main` into your branch") && !output.all().contains(INIT),
                "{name} {command:?}: {}",
                output.all()
            );
            for page in ["page.md", "page.html"] {
                let text = fs::read_to_string(world.work().join(page)).unwrap();
                assert!(text.contains("into your branch"), "{name} {page}: {text}");
                fs::remove_file(world.work().join(page)).unwrap();
            }
        }
    }
    world.git("merge -q main -m merge");
    world.push();
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    for (name, host) in HOSTS {
        let output = host(&world, platform.call(&world)).run("review");
        assert_eq!(output.code, 0, "{name}: {}", output.all());
    }
}

#[test]
fn review_without_any_rules_file_advises_rules_init() {
    let platform = ruleless_platform();
    let world = old_branch();
    for (name, host) in HOSTS {
        let output = host(&world, platform.call(&world)).run("review");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        assert!(
            output
                .out
                .contains("hint: run `sluicegate rules init --config-dir <directory>`"),
            "{name}: {}",
            output.all()
        );
    }
}

#[test]
fn review_and_check_of_deleted_rules_file_advise_to_restore_it() {
    let platform = ruleless_platform();
    let world = old_branch();
    merge_gate(&world);
    let tip = world.git("rev-parse main");
    world.git("merge -q main -m merge");
    world.git(&["rm", "-q", RULES_FILE]);
    world.commit("delete");
    world.push();
    let hint = format!(
        "restore the file with `git checkout {} -- :/{RULES_FILE}`",
        &tip[..7]
    );
    for (name, host) in HOSTS {
        for command in ["review", "check"] {
            let output = host(&world, platform.call(&world)).run(command);
            assert_eq!(output.code, 1, "{name}: {}", output.all());
            let is_right = output.out.contains(&hint) && !output.all().contains(INIT);
            assert!(is_right, "{name} {command}: {}", output.all());
        }
    }
    // After the merge, no branch has the file.
    world.git("push -q origin change:main");
    let output = Job::github().push(&tip).call(&world).run("check").expect(1);
    let command = "`sluicegate rules init --config-dir .platform`";
    assert!(output.out.contains(command), "{}", output.all());
    // The command restores the file, from a subdirectory, too.
    world.write("sales/x.sql", "select 1;");
    let path = format!(":/{RULES_FILE}");
    git(
        &world.work().join("sales"),
        &["checkout", "-q", &tip[..7], "--", &path],
    );
    world.commit("restore");
    world.push();
    Call::new(&world.work()).run("check --head HEAD").expect(0);
}

#[test]
fn review_and_doctor_name_rules_file_that_is_not_committed() {
    let platform = ruleless_platform();
    let world = old_branch();
    world.write(RULES_FILE, RULES);
    let call = platform.call(&world);
    let words = format!("`{RULES_FILE}` exists on disk but is not in the reviewed commit");
    let review = call.run("review").expect(1);
    assert!(
        review.out.contains(&words) && !review.all().contains(INIT),
        "{}",
        review.all()
    );
    for stage in [false, true] {
        if stage {
            world.git("add .platform");
        }
        let check = rules_check(&call.run("doctor -o json"));
        assert_eq!(check["status"], "failed", "{check}");
        assert!(
            check["hint"].as_str().unwrap().contains(&words)
                && check["found"]
                    .as_str()
                    .unwrap()
                    .contains("not in the checked-out commit"),
            "{check}"
        );
    }
    world.commit("rules");
    assert_eq!(rules_check(&call.run(&["doctor", "-o", "json"]))["status"], "ok");
}

#[test]
fn rules_file_that_change_moves_to_another_directory_is_to_be_moved_back() {
    let world = old_branch();
    merge_gate(&world);
    world.git("merge -q main -m merge");
    world.git("mv .platform .other");
    world.commit("move");
    world.push();
    let words =
        "move `.other/config/pipeline_quality_rules.yaml` to `.platform/config/pipeline_quality_rules.yaml`";
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check").expect(1);
        assert!(output.out.contains(words), "{name}: {}", output.all());
    }
}

#[test]
fn check_of_old_branch_from_checkout_with_rules_advises_merge() {
    let world = old_branch();
    merge_gate(&world);
    world.git("checkout -q main");
    let check = |head: &str| {
        Call::new(&world.work())
            .run(("check --all --head", head))
            .expect(1)
    };
    let output = check("change");
    assert!(
        output.out.contains("hint: merge `main` into your branch"),
        "{}",
        output.all()
    );
    // Only this clone has the rules file.
    world.git("checkout -q -b local change");
    world.write(RULES_FILE, RULES);
    world.commit("rules");
    world.git("push -q origin +change:main");
    let output = check("change");
    assert!(
        output
            .out
            .contains("is in the checked-out commit but not in the reviewed commit"),
        "{}",
        output.all()
    );
}

#[test]
fn hint_for_ignored_rules_file_names_the_option_of_git() {
    let world = old_branch();
    world.write(".gitignore", ".platform/\n");
    world.write(RULES_FILE, RULES);
    let output = Call::new(&world.work()).run("check").expect(1);
    assert!(output.out.contains("use `git add --force`"), "{}", output.all());
    world.git(&["add", "--force", RULES_FILE]);
    Call::new(&world.work()).run("check").expect(0);
}

#[test]
fn doctor_reports_shared_pipelines_file_that_is_not_committed() {
    let world = old_branch();
    world.write(RULES_FILE, RULES);
    world.commit("rules");
    world.push();
    world.write(
        ".platform/shared-pipelines.yaml",
        "pipelines:\n  - { id: a, pipeline: a.orch.yaml }\n",
    );
    let platform = ruleless_platform();
    let call = platform
        .call(&world)
        .variable("SLUICEGATE_PUBLISH_ON_BRANCHES", "main");
    let doctor = || call.run("doctor").out;
    assert!(
        doctor().contains("the file is not in the checked-out commit"),
        "{}",
        doctor()
    );
    world.commit("share");
    assert!(
        !doctor().contains("the file is not in the checked-out commit"),
        "{}",
        doctor()
    );
}

#[test]
fn hidden_directory_with_pipelines_is_last_candidate() {
    let world = World::new();
    world.write(".archive/old.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write(".product/README.md", "skills\n");
    world.write(".github/workflows/ci.yml", "on: push\n");
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    world.push();
    let call = ruleless_platform().call(&world);
    let command = "`sluicegate rules init --config-dir .product`";
    for args in [
        &["rules", "init"][..],
        &["check"],
        &["doctor"],
        &["init", "--host", "none", "--dry-run"],
    ] {
        let log = call.run(args).all();
        assert!(log.contains(command), "{args:?}: {log}");
    }
    let output = call.run("rules init").expect(2);
    output.saying(&["hidden directories: .product, .archive"]);
    let output = call.run("init --host none --adopt new-only").expect(2);
    output.saying(&["`sluicegate init --host none --adopt new-only --config-dir .product`"]);
}

#[test]
fn suggested_command_without_candidate_is_refused_by_shell() {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    let call = Call::new(&world.work());
    for args in [
        &["rules", "init"][..],
        &["check"],
        &["doctor"],
        &["init", "--host", "none", "--dry-run"],
        &["init", "--host", "none", "--adopt", "strict"],
    ] {
        let log = call.run(args).all();
        let mut commands = log.split('`').filter(|part| part.contains("--config-dir"));
        let command = commands.next().unwrap_or_else(|| panic!("{args:?}: {log}"));
        let status = Command::new("sh").args(["-n", "-c", command]).status().unwrap();
        assert!(!status.success(), "{args:?}: {command}");
    }
}

#[test]
fn fallback_without_rules_file_does_not_claim_that_it_checked() {
    let platform = Platform::new();
    platform.reviews(wiremock::ResponseTemplate::new(503));
    let world = old_branch();
    let call = platform.call(&world).variable("SLUICEGATE_RETRIES", "0");
    let notes = call.run("review --all --report json=-").json()["notes"].to_string();
    assert!(notes.contains("could not check 2 pipelines locally"), "{notes}");
    world.write(RULES_FILE, RULES);
    world.commit("rules");
    world.push();
    let notes = call.run("review --all --report json=-").json()["notes"].to_string();
    assert!(
        notes.contains("checked 2 pipelines locally with the rules file"),
        "{notes}"
    );
}
