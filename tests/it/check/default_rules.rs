//! A local check of a repository without a rules file evaluates the default rules. A job never does, and neither does a
//! check if the branch or its target has a rules file.

use crate::support::{Call, HOSTS, RULES, RULES_FILE, World, check, orchestration_text};
use serde_json::Value;

const NOTE: &str = "The default rules were evaluated";
const MISSING: &str = "the rules file is missing";
/// A component that nothing leads to, which the default rules report as a warning.
const LOST: &str = "    Lost:\n      type: sql-executor\n      parameters: { componentName: Lost }\n";

fn pipeline_with_lost_component() -> String {
    orchestration_text(&["Start", "Done"]) + LOST
}

/// Creates a branch `change` with a pipeline that breaks a default rule. Neither the branch nor `main` has a rules
/// file.
fn ruleless() -> World {
    let world = World::new();
    world.write("a.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.commit("first");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world.write("b.orch.yaml", pipeline_with_lost_component());
    world.commit("change");
    world.push();
    world
}

fn list_notes(report: &Value) -> Vec<&str> {
    let notes = report["notes"].as_array().map(Vec::as_slice).unwrap_or_default();
    notes.iter().filter_map(Value::as_str).collect()
}

fn failed_rules(report: &Value) -> Vec<&str> {
    let files = report["files"].as_array().unwrap();
    let results = files.iter().flat_map(|file| file["results"].as_array().unwrap());
    let failures = results.filter(|result| result["status"] != "PASSED");
    failures.map(|result| result["rule"].as_str().unwrap()).collect()
}

#[test]
fn check_without_rules_file_on_either_side_evaluates_default_rules() {
    let world = ruleless();
    for args in [&[][..], &["--head", "HEAD"], &["--all"], &["b.orch.yaml"]] {
        let report = check(&world, args).expect(0).json();
        assert_eq!(failed_rules(&report), ["unused-components"], "{args:?}");
        let notes = list_notes(&report);
        let about_rules: Vec<_> = notes.iter().filter(|note| note.contains("rules")).collect();
        assert_eq!(about_rules.len(), 1, "{notes:?}");
        assert!(
            about_rules[0].starts_with(NOTE)
                && about_rules[0].contains("A review by the platform needs a rules file"),
            "{notes:?}"
        );
    }
    check(&world, "--fail-on warn").expect(1);
    // They are the rules that `rules init` writes.
    let call = Call::new(&world.work());
    call.run("rules init --config-dir .platform").expect(0);
    let report = check(&world, "b.orch.yaml").expect(0).json();
    assert_eq!(failed_rules(&report), ["unused-components"]);
    assert_eq!(list_notes(&report), [""; 0]);
}

#[test]
fn check_without_rules_file_in_job_fails() {
    let world = ruleless();
    for (name, host) in HOSTS {
        let output = host(&world, Call::new(&world.work())).run("check");
        assert_eq!(output.code, 1, "{name}: {}", output.all());
        assert!(
            output.out.contains(MISSING) && !output.out.contains(NOTE),
            "{name}: {}",
            output.all()
        );
    }
    let unknown = Call::new(&world.work()).variable("CI", "true");
    assert!(unknown.run(&["check"]).expect(1).out.contains(MISSING));
}

#[test]
fn check_of_branch_without_rules_file_of_target_fails() {
    let world = ruleless();
    world.git("checkout -q main");
    world.write(RULES_FILE, RULES);
    world.commit("gate");
    world.push();
    world.git("checkout -q change");
    for args in [&["check"][..], &["check", "--all"], &["check", "b.orch.yaml"]] {
        let output = Call::new(&world.work()).run(args).expect(1);
        assert!(
            output.out.contains(MISSING) && output.out.contains("hint: merge `main` into your branch"),
            "{args:?}: {}",
            output.all()
        );
        assert!(!output.all().contains("rules init"), "{}", output.all());
    }
    world.git("merge -q main -m merge");
    Call::new(&world.work()).run("check").expect(0);
}

#[test]
fn saved_report_without_rules_file_keeps_the_instruction() {
    let world = World::new();
    world.write("a.orch.yaml", pipeline_with_lost_component());
    world.write(RULES_FILE, RULES);
    world.commit("first");
    world.push();
    world.git("checkout -q -b change");
    std::fs::remove_dir_all(world.work().join(".platform")).unwrap();
    world.commit("delete the rules");
    let call = Call::new(&world.work());
    call.run("check --report json=a.json").expect(1);
    let output = call.run("report a.json --report json=b.json").expect(1);
    assert!(
        output.all().contains("restore the file with") && !output.all().contains("rules init"),
        "{}",
        output.all()
    );
    let [first, second] = ["a.json", "b.json"].map(|name| {
        crate::support::read_json(&world.work().join(name))["files"][0]["results"][0]["help"].clone()
    });
    assert_eq!(first, second);
    assert!(
        first
            .as_str()
            .is_some_and(|help| help.starts_with("To fix the problem: `main` has")),
        "{first}"
    );
}

#[test]
fn check_of_change_that_deletes_rules_file_fails() {
    let world = World::new();
    world.write("a.orch.yaml", pipeline_with_lost_component());
    world.write(RULES_FILE, RULES);
    let tip = world.commit("first");
    world.push();
    world.git("checkout -q -b change");
    std::fs::remove_dir_all(world.work().join(".platform")).unwrap();
    for is_committed in [false, true] {
        if is_committed {
            world.commit("delete the rules");
        }
        let output = Call::new(&world.work()).run("check").expect(1);
        let command = format!(
            "restore the file with `git checkout {} -- :/{RULES_FILE}`",
            &tip[..7]
        );
        assert!(
            output.out.contains(MISSING) && output.out.contains(&command),
            "{}",
            output.all()
        );
    }
}

#[test]
fn check_of_index_without_rules_file_on_disk_names_that_file() {
    let world = ruleless();
    world.write(RULES_FILE, RULES);
    world.write("c.orch.yaml", pipeline_with_lost_component());
    world.git("add c.orch.yaml");
    let output = Call::new(&world.work()).run("check --staged").expect(1);
    assert!(
        output.out.contains(MISSING)
            && output
                .out
                .contains(&format!("`{RULES_FILE}` exists on disk but is not"))
            && !output.all().contains("rules init"),
        "{}",
        output.all()
    );
    world.git("add .platform");
    Call::new(&world.work()).run("check --staged").expect(0);
}

#[test]
fn check_with_rules_flag_evaluates_that_file() {
    let world = ruleless();
    world.write("strict.yaml", RULES.replace("[A-Z].*", "[A-Z][a-z]+X"));
    world.write(RULES_FILE, RULES);
    check(&world, "b.orch.yaml").expect(0);
    let by_flag = check(&world, "b.orch.yaml --rules strict.yaml").expect(1);
    let report = by_flag.json();
    assert_eq!(failed_rules(&report), ["component-naming-convention"]);
    assert!(list_notes(&report)[0].contains("strict.yaml"), "{report}");
    let by_variable = Call::new(&world.work()).variable("SLUICEGATE_RULES", "strict.yaml");
    by_variable.run("check b.orch.yaml").expect(1);
    // A change must not select its own rules.
    world.write("sluicegate.yaml", "rules: strict.yaml\n");
    check(&world, "")
        .expect(2)
        .saying(&["`rules`", "SLUICEGATE_RULES"]);
}

#[test]
fn check_refuses_invalid_file_of_rules_flag() {
    let world = ruleless();
    for (content, reason) in [
        ("rules: nothing\n", "not a list"),
        (
            "rules: [{ id: unused-component, enabled: true, enforcementLevel: warn }]\n",
            "unused-component",
        ),
        ("\u{1}: [\n", "strict.yaml"),
    ] {
        world.write("strict.yaml", content);
        check(&world, "--rules strict.yaml")
            .expect(2)
            .saying(&["strict.yaml is invalid", reason]);
    }
    check(&world, "--rules gone.yaml")
        .expect(2)
        .saying(&["could not read the rules file gone.yaml"]);
}

#[test]
fn check_in_job_refuses_rules_file_in_checkout() {
    let world = ruleless();
    world.write("lax.yaml", "rules: []\n");
    world.commit("rules of the change");
    world.push();
    let outside = world.path().join("outside.yaml");
    std::fs::write(&outside, RULES).unwrap();
    let link = world.path().join("link.yaml");
    std::os::unix::fs::symlink(world.work().join("lax.yaml"), &link).unwrap();
    // Without links, this path is outside the checkout.
    world.write("deep/deeper/note.txt", "a directory");
    std::os::unix::fs::symlink(world.work().join("deep"), world.path().join("dir")).unwrap();
    for (name, host) in HOSTS {
        let call = host(&world, Call::new(&world.work()));
        for file in [
            "lax.yaml",
            "../work/lax.yaml",
            "../dir/../lax.yaml",
            link.to_str().unwrap(),
        ] {
            let output = call.run(&["check", "--rules", file]);
            assert_eq!(output.code, 2, "{name}: {file}: {}", output.all());
            assert!(
                output.err.contains("the change under review controls this file"),
                "{}",
                output.all()
            );
        }
        let output = call.run(&["check", "--rules", outside.to_str().unwrap()]);
        assert_eq!(output.code, 0, "{name}: {}", output.all());
    }
}

#[test]
fn waivers_add_without_rules_file_accepts_findings_of_check() {
    let world = ruleless();
    let call = Call::new(&world.work());
    call.run("waivers add --all --reason old")
        .expect(0)
        .saying(&[NOTE, "1 waiver"]);
    assert_eq!(
        check(&world, &["b.orch.yaml", "--fail-on", "warn"])
            .expect(0)
            .json()["findings"]["waived"],
        1
    );
}
