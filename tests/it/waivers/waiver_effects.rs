//! Waivers: what they allow, who may add them, and the commands that edit the file.

use crate::fix::{HEADER, call};
use crate::support::{
    Arguments, Call, Platform, ProgramOutput, RULES, RULES_FILE, World, change, check, failing_platform,
    finding_values, orchestration_text, passed_results, project, requested_pipelines, respond_for_each,
};
use serde_json::{Value, json};
use std::fs;

const FILE: &str = "sluicegate-waivers.yaml";

/// Returns a pipeline with two findings of the naming convention.
fn bad_pipeline_of_four() -> String {
    orchestration_text(&["Start", "load it", "write it", "Done"])
}

/// Creates a change that adds a bad pipeline together with these waivers.
fn with_waivers(waivers: &str) -> World {
    change(&[("sales/bad.orch.yaml", &bad_pipeline_of_four()), (FILE, waivers)])
}

/// Returns the result of the naming convention in the bad pipeline.
fn naming_result(report: &Value) -> &Value {
    let results = report["files"][0]["results"].as_array().unwrap();
    let of_rule = |result: &&Value| result["rule"] == "component-naming-convention";
    results.iter().find(of_rule).unwrap()
}

fn waivers(world: &World, args: impl Arguments) -> ProgramOutput {
    Call::new(&world.work()).run(("waivers", args))
}

#[test]
fn waived_finding_passes_and_is_marked_in_every_report() {
    let world = with_waivers(
        "- { rule: component-naming-convention, path: 'sales/**', about: load it, reason: legacy, owner: sales, until: 2999-12-31 }\n\
         - { rule: component-naming-convention, path: 'sales/**', about: write it, reason: legacy }\n\
         - { rule: maximum-components, path: 'sales/**', size: 4, reason: large }\n",
    );
    let output = check(
        &world,
        "--fail-on warn --report junit=j.xml --report sarif=s.json",
    )
    .expect(0);
    let report = output.json();
    assert_eq!(report["verdict"], "passed");
    assert_eq!(report["findings"]["waived"], 3);
    assert_eq!(report["findings"]["errors"], 0);
    let result = naming_result(&report);
    assert_eq!(finding_values(result, "state"), ["waived", "waived"]);
    assert_eq!(
        Value::from(finding_values(result, "waiver")),
        json!([
            { "reason": "legacy", "owner": "sales", "until": "2999-12-31" },
            { "reason": "legacy", "owner": null, "until": null },
        ])
    );
    let junit = fs::read_to_string(world.work().join("j.xml")).unwrap();
    assert!(
        junit.contains("<skipped type=\"waived\"") && junit.contains("legacy"),
        "{junit}"
    );
    assert!(!junit.contains("<failure"), "{junit}");
    let sarif = fs::read_to_string(world.work().join("s.json")).unwrap();
    let sarif: Value = serde_json::from_str(&sarif).unwrap();
    assert_eq!(
        sarif["runs"][0]["results"][0]["suppressions"],
        json!([{ "kind": "external", "status": "accepted", "justification": "legacy" }])
    );
    // Summarized as a number, and listed on request.
    output.saying(&["Not listed: 3 waived findings (--show all lists them)"]);
    check(&world, "--show all")
        .expect(0)
        .saying(&["waived until 2999-12-31: legacy"]);
    // A report that is rendered again has the same content.
    fs::write(world.work().join("r.json"), report.to_string()).unwrap();
    let second_run = Call::new(&world.work())
        .run("report r.json --report json=-")
        .expect(0);
    assert_eq!(naming_result(&second_run.json()), naming_result(&report));
}

#[test]
fn finding_beside_waived_ones_still_fails() {
    let world = with_waivers(
        "- { rule: component-naming-convention, path: sales/bad.orch.yaml, about: load it, reason: legacy }\n\
         - { rule: maximum-components, path: 'sales/**', size: 3, reason: large }\n",
    );
    let output = check(&world, "--report junit=j.xml").expect(1);
    let report = output.json();
    assert_eq!(
        finding_values(naming_result(&report), "state"),
        [json!("waived"), Value::Null]
    );
    // The finding is larger than the waived one.
    assert_eq!(report["findings"]["warnings"], 1);
    let junit = fs::read_to_string(world.work().join("j.xml")).unwrap();
    let message = "message=\"component &quot;write it&quot;";
    assert!(
        junit.contains(message) && !junit.contains("more)") && junit.contains(": waived: "),
        "{junit}"
    );
}

#[test]
fn expired_waiver_has_no_effect_and_finding_shows_its_date() {
    let world = with_waivers(
        "- { rule: component-naming-convention, path: sales/bad.orch.yaml, reason: legacy, until: 2020-01-31 }\n",
    );
    let output = check(&world, "").expect(1);
    let report = output.json();
    assert_eq!(
        finding_values(naming_result(&report), "state"),
        [Value::Null, Value::Null]
    );
    assert_eq!(
        naming_result(&report)["findings"][0]["waiver"]["until"],
        "2020-01-31"
    );
    output.saying(&["no longer waived since 2020-02-01: legacy"]);
    let notes = report["notes"].to_string();
    assert!(
        notes.contains("fix them, or change the `until` of these waivers")
            && notes.contains("sales/bad.orch.yaml, valid until 2020-01-31"),
        "{notes}"
    );
    assert!(!notes.contains("can be removed"), "{notes}");
    // Without a finding, the expired waiver is not needed.
    let world = with_waivers(
        "- { rule: component-naming-convention, path: sales/bad.orch.yaml, about: Gone, reason: legacy, until: 2020-01-31 }\n",
    );
    let notes = check(&world, "").expect(1).json()["notes"].to_string();
    assert!(
        notes.contains("1 waiver in sluicegate-waivers.yaml can be removed: 1 expired"),
        "{notes}"
    );
}

#[test]
fn expired_waiver_has_no_note_if_another_waiver_allows_its_finding() {
    let expired = |path: &str| {
        format!(
            "- {{ rule: component-naming-convention, path: {path}, reason: legacy, until: 2020-01-31 }}\n"
        )
    };
    let valid = "- { rule: component-naming-convention, path: sales/bad.orch.yaml, reason: legacy }\n";
    let world = with_waivers(&format!(
        "{valid}{}{}",
        expired("sales/bad.orch.yaml"),
        expired("other.orch.yaml")
    ));
    let notes = check(&world, "").expect(0).json()["notes"].to_string();
    assert!(
        notes.contains("can be removed") && !notes.contains("no longer waived"),
        "{notes}"
    );
    // The twin: the finding of the other file is lost, and the note names only its waiver.
    world.write(
        "other.orch.yaml",
        orchestration_text(&["Start", "bad name", "Done"]),
    );
    world.commit("other");
    world.push();
    let notes = check(&world, "").expect(1).json()["notes"].to_string();
    assert!(
        notes.contains("1 waiver in sluicegate-waivers.yaml expired, so findings are no longer waived")
            && notes.contains("(component-naming-convention in other.orch.yaml, valid until"),
        "{notes}"
    );
}

#[test]
fn unused_waiver_is_a_note_only_where_its_files_were_judged() {
    let world = change(&[
        ("sales/good.orch.yaml", &orchestration_text(&["Start", "Done"])),
        (
            FILE,
            "- { rule: component-naming-convention, path: sales/good.orch.yaml, reason: r }\n\
             - { rule: component-naming-convention, path: a.orch.yaml, reason: r }\n\
             - { rule: component-naming-convention, path: '**', reason: r }\n\
             - { rule: component-naming-convention, path: gone.orch.yaml, reason: r }\n",
        ),
    ]);
    let notes = |args: &str| check(&world, args).expect(0).json()["notes"].to_string();
    let some = notes("");
    assert!(
        some.contains("1 without a finding (component-naming-convention in sales/good.orch.yaml)"),
        "{some}"
    );
    let all = notes("--all");
    assert!(
        all.contains("4 waivers") && all.contains("4 without a finding"),
        "{all}"
    );
    let pruned = Call::new(&world.work()).run("waivers prune").expect(0);
    assert!(pruned.out.starts_with("4 waivers removed"), "{}", pruned.all());
}

#[test]
fn invalid_file_is_reported_with_line_and_suggestion() {
    for (waivers, expected_text) in [
        (
            "# x\n- { rule: component-naming-conventions, path: a, reason: r }\n",
            &[
                "sluicegate-waivers.yaml:2:11: ",
                "did you mean `component-naming-convention`?",
            ][..],
        ),
        (
            "- { rule: unused-components, pth: a, reason: r }\n",
            &["sluicegate-waivers.yaml:1:30: ", "did you mean `path`?"],
        ),
        (
            "- { rule: unused-components, path: a, reason: r, until: 31.3.2027 }\n",
            &["is not a date such as 2027-03-31"],
        ),
        ("- { rule: unused-components, path: a }\n", &["has no `reason`"]),
    ] {
        check(&with_waivers(waivers), "").expect(2).saying(expected_text);
    }
}

fn pull_request_with_sides(world: &World, call: Call) -> Call {
    let event = world.path().join("event.json");
    let side =
        |branch: &str, sha: String| json!({ "ref": branch, "sha": sha, "repo": { "full_name": "o/p" } });
    let payload = json!({
        "repository": { "default_branch": "main", "full_name": "o/p" },
        "pull_request": {
            "number": 7,
            "head": side("change", world.git(&["rev-parse", "HEAD"])),
            "base": side("main", world.git(&["rev-parse", "main"])),
        },
    });
    fs::write(&event, payload.to_string()).unwrap();
    call.variable("CI", "true")
        .variable("GITHUB_ACTIONS", "true")
        .variable("GITHUB_EVENT_NAME", "pull_request")
        .variable("GITHUB_REF", "refs/pull/7/merge")
        .variable("GITHUB_SHA", world.git("rev-parse HEAD"))
        .variable("GITHUB_REPOSITORY", "o/p")
        .variable("GITHUB_EVENT_PATH", event.display().to_string())
}

#[test]
fn change_cannot_waive_its_own_findings() {
    let own = "- { rule: component-naming-convention, path: 'sales/**', reason: let me through }\n";
    let platform = failing_platform("component 'load it' is wrong");
    let world = with_waivers(own);
    for (call, verb) in [
        (platform.call(&world), "review"),
        (Call::new(&world.work()), "check"),
    ] {
        let output = pull_request_with_sides(&world, call)
            .run(&[verb, "--report", "json=-"])
            .expect(1);
        let report = output.json();
        assert_eq!(report["gateChanges"], json!([FILE]));
        let words = report["gateChangesInWords"][FILE].to_string();
        assert!(
            words.contains("waiver added: component-naming-convention in sales/** (relaxed)"),
            "{words}"
        );
        let notes = report["notes"].to_string();
        assert!(
            notes.contains("so the waivers in the checkout's file are not used")
                && notes.contains("--policy head"),
            "{notes}"
        );
    }
    // The job may use the change's waivers, and so may a local run.
    let head = pull_request_with_sides(&world, platform.call(&world)).variable("SLUICEGATE_POLICY", "head");
    head.run("review").expect(0);
    check(&world, "").expect(0);
    // A change cannot extend a waiver of the base.
    let world = project();
    world.write(
        FILE,
        "- { rule: component-naming-convention, path: 'old/**', reason: r }\n",
    );
    world.commit("waive");
    world.push();
    world.git("checkout -q -b change");
    world.write("sales/bad.orch.yaml", bad_pipeline_of_four());
    world.write(FILE, own);
    world.commit("change");
    world.push();
    let output = pull_request_with_sides(&world, platform.call(&world))
        .run("review --report json=-")
        .expect(1);
    let words = output.json()["gateChangesInWords"][FILE].to_string();
    assert!(
        words.contains("waiver removed: component-naming-convention in old/** (tightened)"),
        "{words}"
    );
}

#[test]
fn finding_with_waiver_of_the_same_change_gets_a_note() {
    let waiver =
        |path: &str| format!("- {{ rule: component-naming-convention, path: {path}, reason: legacy }}\n");
    let note = "the change itself adds the waivers to sluicegate-waivers.yaml";
    for (waivers_of_base, waivers_of_target, waivers_of_change, has_note) in [
        (
            waiver("old/**"),
            None,
            waiver("old/**") + &waiver("sales/**"),
            true,
        ),
        (
            waiver("old/**"),
            None,
            waiver("old/**") + &waiver("stock/**"),
            false,
        ),
        // The target removed the waiver, which stays removed after the merge.
        (
            waiver("old/**") + &waiver("sales/**"),
            Some(waiver("old/**")),
            waiver("old/**") + &waiver("sales/**"),
            false,
        ),
    ] {
        let world = project();
        world.write(FILE, waivers_of_base);
        world.commit("waive");
        world.push();
        world.git("checkout -q -b change");
        world.write("sales/bad.orch.yaml", bad_pipeline_of_four());
        world.write(FILE, &waivers_of_change);
        world.commit("change");
        world.push();
        if let Some(waivers_of_target) = waivers_of_target {
            world.git("checkout -q main");
            world.write(FILE, waivers_of_target);
            world.commit("remove");
            world.push();
            world.git("checkout -q change");
        }
        let output = pull_request_with_sides(&world, Call::new(&world.work()))
            .run("check --report json=-")
            .expect(1);
        let notes = output.json()["notes"].to_string();
        assert_eq!(notes.contains(note), has_note, "{waivers_of_change}: {notes}");
    }
}

#[test]
fn invalid_waivers_file_fails_a_run_without_pipelines_to_check() {
    let world = project();
    for (waivers, code) in [
        ("- { rule: nope, path: a, reason: x }\n", 2),
        ("- { rule: component-naming-convention, path: a, reason: x }\n", 0),
    ] {
        world.write(FILE, waivers);
        world.git("add -A");
        for args in ["--staged", "--all"] {
            check(&world, args).expect(code);
        }
    }
}

#[test]
fn change_passes_platforms_review_by_waivers_of_its_base() {
    let world = project();
    world.write(
        FILE,
        "- { rule: component-naming-convention, path: 'sales/**', about: load it, reason: legacy }\n",
    );
    world.commit("waive");
    world.push();
    world.git("checkout -q -b change");
    world.write("sales/bad.orch.yaml", bad_pipeline_of_four());
    // The checkout has no file, so the base's file is in force.
    fs::remove_file(world.work().join(FILE)).unwrap();
    world.commit("change");
    world.push();
    let platform = failing_platform("component 'load it' is wrong");
    let output = pull_request_with_sides(&world, platform.call(&world))
        .run("review --report json=-")
        .expect(0);
    assert_eq!(output.json()["verdict"], "passed");
    assert_eq!(output.json()["findings"]["waived"], 1);
    // A failed status of the platform that no finding explains is never excused.
    let platform = Platform::new();
    platform.reviews(respond_for_each(
        "FAILED",
        json!([{ "ruleName": "component-naming-convention", "status": "PASSED", "violations": [] }]),
    ));
    pull_request_with_sides(&world, platform.call(&world))
        .run("review")
        .expect(1);
}

/// Returns a pipeline with these components after its start, each with a key of any length.
fn with_components(names: &[&str]) -> String {
    let keys = names
        .iter()
        .map(|name| format!("    ? {name:?}\n    : type: sql-executor\n"));
    orchestration_text(&["Start"]) + &keys.collect::<String>()
}

#[test]
fn waiver_by_name_excuses_no_other_component() {
    let world = project();
    let waiver = "- { rule: component-naming-convention, path: '**', about: legacy load, reason: legacy }\n";
    world.write(FILE, waiver);
    world.commit("waive");
    world.push();
    world.git("checkout -q -b change");
    let reviewed = |names: &[&str], violation: &str| {
        world.write("sales/bad.orch.yaml", with_components(names));
        world.commit("edit");
        world.push();
        let platform = Platform::new();
        let document = json!([{ "ruleName": "component-naming-convention", "status": "FAILED", "violations": [violation] }]);
        platform.reviews(respond_for_each("FAILED", document));
        let call = pull_request_with_sides(&world, platform.call(&world));
        call.run("review --report json=-")
    };
    let known = ["legacy load", "evil"];
    for own in [
        "component \"legacy load\" does not match the naming convention [A-Z].*: rename it",
        "component \"legacy load\" must not come after \"evil\"",
        "The name 'legacy load' doesn't match \"[A-Z].*\".",
        "component legacy load doesn't match the naming convention",
    ] {
        let output = reviewed(&known, own).expect(0);
        assert_eq!(output.json()["findings"]["waived"], 1, "{own}");
    }
    let long = format!("evil 'legacy load' {}", "x".repeat(2100));
    let long_words = format!("component \"{long}\" does not match the naming convention [A-Z].*: rename it");
    for (names, other) in [
        (["legacy load", &long], long_words.as_str()),
        (known, "component \"evil\" must not come after \"legacy load\""),
        (known, "component evil must not come after \"legacy load\""),
        (
            ["legacy load", "evil\t legacy load"],
            "component \"evil\\t legacy load\" is bad",
        ),
        (
            ["legacy load", "legacy load\" \t"],
            "component \"legacy load\" \\t\" is bad",
        ),
        // Findings of the platform only.
        (known, "component \"evil legacy load\" is bad"),
        (known, "component \"legacy load\" evil\" is bad"),
    ] {
        let output = reviewed(&names, other).expect(1);
        let report = output.json();
        assert_eq!(
            (&report["findings"]["waived"], &report["findings"]["errors"]),
            (&json!(0), &json!(1)),
            "{other}"
        );
        // The guess is good enough for a line number.
        assert!(
            naming_result(&report)["findings"][0]["line"].as_u64().unwrap() > 1,
            "{other}"
        );
    }
}

#[test]
fn waivers_add_of_all_findings_passes_gate() {
    let world = change(&[
        ("sales/a[1] ü.orch.yaml", &bad_pipeline_of_four()),
        ("b.orch.yaml", &bad_pipeline_of_four()),
    ]);
    waivers(&world, "add --all --reason 'found before: \"#1\"' --owner sales").expect(0);
    let text = world.read_text(FILE);
    assert_eq!(text.lines().count(), 6, "{text}");
    assert!(text.contains("- { rule: maximum-components, path: b.orch.yaml, size: 4, reason: \"found before: \\\"#1\\\"\", owner: sales }\n"), "{text}");
    check(&world, "--all --fail-on warn").expect(0);
    // On a second run, nothing is left to waive.
    let second_run = waivers(&world, "add --all --reason x -o json").expect(0);
    assert_eq!(second_run.json(), json!([]));
    second_run.saying(&["0 waivers added"]);
    assert_eq!(world.read_text(FILE), text);
    // A new finding fails the gate.
    world.write(
        "b.orch.yaml",
        orchestration_text(&["Start", "load it", "write it", "send it", "Done"]),
    );
    let report = check(&world, "--fail-on warn").expect(1).json();
    assert_eq!(report["findings"]["errors"], 1);
    assert_eq!(report["findings"]["warnings"], 1);
}

#[test]
fn report_of_platform_becomes_waivers() {
    let world = change(&[("sales/bad.orch.yaml", &bad_pipeline_of_four())]);
    let platform = failing_platform("component 'load it' is wrong");
    platform.call(&world).run("review --report json=r.json").expect(1);
    // A waiver that no run could read afterwards is not written.
    let report = fs::read_to_string(world.work().join("r.json")).unwrap();
    world.write(
        "other.json",
        report.replace("component-naming-convention", "theirs-alone"),
    );
    waivers(&world, "add --from other.json --reason legacy")
        .expect(2)
        .saying(&["invalid waiver", "theirs-alone"]);
    waivers(&world, "add --from r.json --reason ''")
        .expect(2)
        .saying(&["'--reason <TEXT>': the value is empty"]);
    assert!(!world.work().join("sluicegate-waivers.yaml").exists());
    let added = waivers(&world, "add --from r.json --reason legacy -o json");
    let entry = json!([{ "rule": "component-naming-convention", "path": "sales/bad.orch.yaml", "about": "load it",
        "size": null, "reason": "legacy", "owner": null, "until": null }]);
    assert_eq!(added.expect(0).json(), entry);
    assert_eq!(
        world.read_text(FILE),
        "- { rule: component-naming-convention, path: sales/bad.orch.yaml, about: load it, reason: legacy }\n"
    );
}

#[test]
fn waivers_add_inserts_in_order_and_requires_finding() {
    let text = "# Waivers of the gate.\r\n- { rule: a-rule-of-the-platform, path: x, reason: r } # stays\r\n\r\n# stays too\r\n- { rule: unused-components, path: a.orch.yaml, reason: r }\r\n";
    let rules = "rules:\n  - { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z].*' } }\n  - { id: a-rule-of-the-platform, enabled: false, enforcementLevel: error }\n";
    let world = change(&[
        ("sales/bad.orch.yaml", &bad_pipeline_of_four()),
        (FILE, text),
        (".platform/config/pipeline_quality_rules.yaml", rules),
    ]);
    let add = |args: &[&str]| waivers(&world, ("add", args));
    for (args, expected_text) in [
        (
            &["component-naming-conventio", "sales/**", "--reason", "r"][..],
            "did you mean `component-naming-convention`?",
        ),
        (
            &["component-naming-convention", "sale/**", "--reason", "r"],
            "no current finding matches",
        ),
        (
            &[
                "component-naming-convention",
                "sales/**",
                "nobody",
                "--reason",
                "r",
            ],
            "no current finding matches",
        ),
        (
            &[
                "component-naming-convention",
                "sales/**",
                "--reason",
                "r",
                "--until",
                "2020-01-01",
            ],
            "is in the past",
        ),
        (
            &[
                "component-naming-convention",
                "sales/**",
                "--reason",
                "r",
                "--until",
                "soon",
            ],
            "is not a date",
        ),
        (&["component-naming-convention", "sales/**"], "--reason"),
        (&["--reason", "r"], "required"),
    ] {
        add(args).expect(2).saying(&[expected_text]);
        assert_eq!(world.read_text(FILE), text);
    }
    add(&[
        "component-naming-convention",
        "sales/**",
        "load it",
        "--reason",
        "legacy",
        "--until",
        "2999-01-31",
    ])
    .expect(0);
    let line = "- { rule: component-naming-convention, path: \"sales/**\", about: load it, reason: legacy, until: 2999-01-31 }\r\n";
    let place = text.find("\r\n# stays too").unwrap() + 2;
    assert_eq!(
        world.read_text(FILE),
        format!("{}{line}{}", &text[..place], &text[place..])
    );
    // The same waiver with another expiry date: one line changes.
    add(&[
        "component-naming-convention",
        "sales/**",
        "load it",
        "--reason",
        "legacy",
    ])
    .expect(0);
    assert_eq!(world.read_text(FILE).matches("load it").count(), 1);
}

#[test]
fn unneeded_waivers_are_removed_and_rest_keeps_its_bytes() {
    let world = with_waivers(
        "# Ours.\n\
         - { rule: component-naming-convention, path: 'sales/**', reason: legacy } # used\n\
         - rule: component-naming-convention # expired\n\
         \x20 path: sales/bad.orch.yaml\n\
         \x20 reason: legacy\n\
         \x20 until: 2020-01-31\n\
         # unused\n\
         - { rule: component-naming-convention, path: a.orch.yaml, reason: r }\n\
         - { rule: component-naming-convention, path: gone.orch.yaml, reason: r }\n\
         - { rule: maximum-outputs, path: a.orch.yaml, reason: not judged }\n\
         - { rule: component-naming-convention, path: notes.txt, reason: no pipeline }\n",
    );
    world.write("notes.txt", "x");
    let list = waivers(&world, "list -o json").expect(0).json();
    let states: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["state"].as_str().unwrap())
        .collect();
    assert_eq!(
        states,
        ["used", "expired", "unused", "unused", "not judged", "not judged"]
    );
    let before = world.read_text(FILE);
    let report = waivers(&world, "prune -o json").expect(0).json();
    let vain: Vec<&Value> = list.as_array().unwrap()[1..4].iter().collect();
    assert_eq!(report, json!(vain));
    let none = waivers(&world, "prune -o json").expect(0);
    assert_eq!(none.json(), json!([]));
    world.write(FILE, before);
    let list = waivers(&world, "list").expect(0).out;
    assert!(
        list.starts_with("STATE ") && list.contains("2020-01-31"),
        "{list}"
    );
    let output = waivers(&world, "prune").expect(0).out;
    assert!(
        output.starts_with("3 waivers removed from sluicegate-waivers.yaml\n")
            && output.contains("component-naming-convention in gone.orch.yaml\n"),
        "{output}"
    );
    assert_eq!(
        world.read_text(FILE),
        "# Ours.\n\
         - { rule: component-naming-convention, path: 'sales/**', reason: legacy } # used\n\
         # unused\n\
         - { rule: maximum-outputs, path: a.orch.yaml, reason: not judged }\n\
         - { rule: component-naming-convention, path: notes.txt, reason: no pipeline }\n"
    );
    waivers(&world, "prune").expect(0).saying(&["nothing to remove"]);
}

/// The finding of a project check is a second list of results of the same pipeline.
#[test]
fn waiver_for_unreadable_pipeline_stays_although_another_has_two_lists_of_results() {
    let world = with_waivers("- { rule: component-naming-convention, path: 'x*.orch.yaml', reason: r }\n");
    let caller = format!("{HEADER}{}", call("Call", "missing/one"));
    world.write("x1.orch.yaml", caller);
    std::os::unix::fs::symlink("a.orch.yaml", world.work().join("x2.orch.yaml")).unwrap();
    world.commit("both");
    waivers(&world, "prune").expect(0).saying(&["nothing to remove"]);
}

#[test]
fn waiver_with_exceeded_size_is_named_at_finding_and_kept() {
    let waiver = "- { rule: maximum-components, path: 'sales/**', size: 4, reason: large }\n";
    let world = with_waivers(waiver);
    let larger = orchestration_text(&["Start", "Load", "Write", "Read", "Done"]);
    world.write("sales/bad.orch.yaml", larger);
    let output = check(&world, "--fail-on warn --show all").expect(1);
    let report = output.saying(&["(the waiver allows 4: large)"]).json();
    assert!(
        !report["notes"].to_string().contains("can be removed"),
        "{report}"
    );
    fs::write(world.work().join("r.json"), report.to_string()).unwrap();
    Call::new(&world.work())
        .run("report r.json --show all")
        .expect(1)
        .logging(&["(the waiver allows 4: large)"]);
    let listed = waivers(&world, "list -o json").expect(0).json();
    assert_eq!(listed[0]["state"], "exceeded");
    waivers(&world, "prune").expect(0);
    assert_eq!(world.read_text(FILE), waiver);
    // With the allowed size again, it is used; below the limit of the rule, it is unused.
    world.write(
        "sales/bad.orch.yaml",
        orchestration_text(&["Start", "Load", "Write", "Done"]),
    );
    check(&world, "--fail-on warn").expect(0);
    world.write(
        "sales/bad.orch.yaml",
        orchestration_text(&["Start", "Load", "Done"]),
    );
    waivers(&world, "prune").expect(0);
    assert!(!world.read_text(FILE).contains("maximum-components"));
}

/// A size below the minimum is worse than the waiver allows; "up to" would say the opposite.
#[test]
fn size_that_waiver_allows_below_minimum_is_named_at_worse_finding() {
    let waiver = "- { rule: minimum-components, path: 'sales/**', size: 3, reason: tiny }\n";
    let world = with_waivers(waiver);
    world.write(
        RULES_FILE,
        "rules: [{ id: minimum-components, enabled: true, enforcementLevel: error, config: { minComponents: 4 } }]\n",
    );
    for (components, code, is_named) in [
        (&["Start", "Done"][..], 1, true),
        (&["Start", "Load", "Done"], 0, false),
    ] {
        world.write("sales/bad.orch.yaml", orchestration_text(components));
        let log = check(&world, "sales/bad.orch.yaml --show all").expect(code).all();
        assert_eq!(log.contains("(the waiver allows 3: tiny)"), is_named, "{log}");
        assert!(!log.contains("waived up to"), "{log}");
    }
}

#[test]
fn linked_waivers_file_is_left_as_it_is() {
    let world = with_waivers("");
    let text = "- { rule: component-naming-convention, path: gone.orch.yaml, reason: r }\n";
    fs::remove_file(world.work().join(FILE)).unwrap();
    world.write("gate/waivers.yaml", text);
    std::os::unix::fs::symlink("gate/waivers.yaml", world.work().join(FILE)).unwrap();
    for args in ["prune", "add --all --reason legacy"] {
        waivers(&world, args)
            .expect(2)
            .saying(&["was not changed: the file is a symbolic link"]);
    }
    assert!(world.work().join(FILE).is_symlink());
    assert_eq!(world.read_text("gate/waivers.yaml"), text);
}

#[test]
fn file_in_another_form_is_left_as_it_is() {
    let text = "[{ rule: component-naming-convention, path: gone.orch.yaml, reason: r }]\n";
    let world = with_waivers(text);
    waivers(&world, "prune")
        .expect(2)
        .saying(&["was not changed", "cannot be edited in place"]);
    assert_eq!(world.read_text(FILE), text);
}

#[test]
fn waiver_has_precedence_over_known_and_expired_one_keeps_known() {
    let world = project();
    world.write("sales/bad.orch.yaml", bad_pipeline_of_four());
    world.write(
        FILE,
        "- { rule: component-naming-convention, path: 'sales/**', about: load it, reason: legacy }\n\
         - { rule: component-naming-convention, path: 'sales/**', about: write it, reason: legacy, until: 2020-01-31 }\n",
    );
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "sales/bad.orch.yaml",
        format!("{}# edited\n", bad_pipeline_of_four()),
    );
    world.commit("change");
    let report = check(&world, "--new-only").expect(0).json();
    assert_eq!(
        finding_values(naming_result(&report), "state"),
        ["waived", "known"]
    );
}

#[test]
fn base_is_not_asked_about_files_whose_findings_are_all_waived() {
    let world = project();
    for path in ["sales/bad.orch.yaml", "other.orch.yaml"] {
        world.write(path, bad_pipeline_of_four());
    }
    world.write(
        FILE,
        "- { rule: component-naming-convention, path: 'sales/**', reason: legacy }\n",
    );
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    let edit = |path: &str| world.write(path, format!("{}# edited\n", bad_pipeline_of_four()));
    edit("sales/bad.orch.yaml");
    world.commit("change");
    world.push();
    let platform = failing_platform("component 'load it' is wrong");
    let review = || {
        let output = platform.call(&world).run("review --new-only --report json=-");
        output.expect(0).json()
    };
    let report = review();
    assert_eq!(
        (&report["findings"]["waived"], &report["findings"]["new"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(platform.requests().len(), 1, "nothing is left to compare");
    edit("other.orch.yaml");
    world.commit("another");
    world.push();
    let report = review();
    assert_eq!(
        (&report["findings"]["waived"], &report["findings"]["known"]),
        (&json!(1), &json!(1))
    );
    let requests = platform.requests();
    assert_eq!(requested_pipelines(&requests[2]), ["other.orch.yaml"]);
}

#[test]
fn waived_finding_that_remains_is_not_fixed() {
    let world = project();
    world.write("sales/bad.orch.yaml", bad_pipeline_of_four());
    world.write(
        FILE,
        "- { rule: component-naming-convention, path: 'sales/**', about: load it, reason: legacy }\n",
    );
    world.commit("past");
    world.push();
    world.git("checkout -q -b change");
    world.write(
        "sales/bad.orch.yaml",
        orchestration_text(&["Start", "load it", "Done"]),
    );
    world.commit("change");
    let report = check(&world, "--new-only").expect(0).json();
    let findings = &report["findings"];
    assert_eq!((&findings["waived"], &findings["fixed"]), (&json!(1), &json!(2)));
}

#[test]
fn reason_stands_in_page_and_in_markdown() {
    let world = with_waivers(
        "- { rule: component-naming-convention, path: 'sales/**', reason: named by the old warehouse, until: 2999-12-31 }\n",
    );
    let reports = "--report html=r.html --report markdown=r.md";
    check(&world, (reports, "--show all")).expect(0);
    for file in ["r.html", "r.md"] {
        let text = fs::read_to_string(world.work().join(file)).unwrap();
        let message = text.replace("&#58;", ":");
        assert!(
            message.contains("waived until 2999-12-31: named by the old warehouse"),
            "{file}: {message}"
        );
    }
}

#[test]
fn file_that_cannot_be_read_is_called_what_it_is() {
    let world = with_waivers("[]\n");
    fs::write(world.work().join(FILE), b"\xff\xfe").unwrap();
    let output = check(&world, "").expect(2);
    let text = output.err.lines().find(|line| line.starts_with("error")).unwrap();
    assert!(
        text.contains(FILE) && text.contains("cannot be read") && !text.contains("configuration"),
        "{text}"
    );
}

#[test]
fn waiver_of_rule_that_only_rules_file_has_is_accepted() {
    let rules =
        format!("{RULES}  - {{ id: house-rule, enabled: false, enforcementLevel: error, config: {{}} }}\n");
    let waiver = |rule: &str| format!("- {{ rule: {rule}, path: '**', reason: legacy }}\n");
    let world = change(&[
        ("b.orch.yaml", &orchestration_text(&["Start", "Done"])),
        (RULES_FILE, &rules),
        (FILE, &waiver("house-rule")),
    ]);
    let platform = Platform::new();
    platform.reviews(respond_for_each("PASSED", passed_results()));
    check(&world, "").expect(0);
    platform.call(&world).run("review").expect(0);
    world.write(FILE, waiver("other-rule"));
    world.commit("other");
    world.push();
    for command in ["check", "review"] {
        platform
            .call(&world)
            .run(command)
            .expect(2)
            .saying(&["other-rule"]);
    }
}

#[test]
fn added_waiver_names_the_one_that_it_replaces() {
    let world = change(&[("sales/bad.orch.yaml", &bad_pipeline_of_four())]);
    let add = "add component-naming-convention sales/bad.orch.yaml 'load it' --reason";
    let first = waivers(&world, format!("{add} ticket --until 2999-12-31")).expect(0);
    assert!(!first.all().contains("replaced"), "{}", first.all());
    let line = world.read_text(FILE);
    waivers(&world, format!("{add} later"))
        .expect(0)
        .saying(&["1 waiver in sluicegate-waivers.yaml replaced: ", line.trim_end()]);
}

#[test]
fn waiver_that_is_added_again_is_reported_as_present() {
    let world = change(&[("sales/bad.orch.yaml", &bad_pipeline_of_four())]);
    let add = "add component-naming-convention sales/bad.orch.yaml 'load it' --reason ticket";
    waivers(&world, add).expect(0).saying(&["1 waiver added to"]);
    let text = world.read_text(FILE);
    let output = waivers(&world, add).expect(0);
    assert_eq!(output.err, "1 waiver is already in sluicegate-waivers.yaml\n");
    assert_eq!(world.read_text(FILE), text);
}

/// A list of waivers with a comment below each of them is edited in a time that grows with its length.
#[test]
fn removal_of_many_waivers_with_comments_takes_bounded_time() {
    let waiver = "- rule: component-naming-convention\n  path: gone.orch.yaml\n  reason: r\n  until: 2020-01-31\n  # ticket 7\n";
    let world = with_waivers(&waiver.repeat(3000));
    let start = std::time::Instant::now();
    waivers(&world, "prune")
        .expect(0)
        .logging(&["3,000 waivers removed"]);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    assert_eq!(world.read_text(FILE), "  # ticket 7\n".repeat(3000));
}

#[test]
fn component_with_blank_name_can_be_waived() {
    for name in ["", " "] {
        let pipeline = orchestration_text(&["Start", name]);
        let world = change(&[
            ("sales/z.orch.yaml", &pipeline),
            ("sales/bad.orch.yaml", &bad_pipeline_of_four()),
        ]);
        waivers(&world, "add --all --reason legacy").expect(0);
        let file = world.read_text(FILE);
        assert!(file.contains(&format!("about: \"{name}\"")), "{file}");
        Call::new(&world.work())
            .run("check --all --policy head")
            .expect(0);
    }
}

/// A name that is missing is no blank name.
#[test]
fn waiver_with_about_but_without_a_name_is_refused() {
    let waiver = "- { rule: component-naming-convention, path: sales/bad.orch.yaml, reason: r, about: }\n";
    let world = with_waivers(waiver);
    waivers(&world, "list")
        .expect(2)
        .saying(&["`about` is empty or not a string"]);
}

/// An alias of a text in another waiver cannot be read without that waiver.
#[test]
fn comment_below_removed_waiver_with_alias_is_kept() {
    let used = "- rule: component-naming-convention\n  path: 'sales/**'\n  reason: &r legacy\n";
    let unused = "- rule: component-naming-convention\n  path: gone.orch.yaml\n";
    let comment = "  # keep me, too\n";
    for reason in ["  reason: *r\n", "  reason: r\n"] {
        let world = with_waivers(&format!("{used}{unused}{reason}{comment}"));
        waivers(&world, "prune").expect(0).logging(&["1 waiver removed"]);
        assert_eq!(world.read_text(FILE), format!("{used}{comment}"));
    }
    // A line of a text is no comment.
    let world = with_waivers(&format!("{used}{unused}  reason: |\n    r\n    # text\n"));
    waivers(&world, "prune").expect(0).logging(&["1 waiver removed"]);
    assert_eq!(world.read_text(FILE), used);
}

#[test]
fn waivers_of_all_findings_name_pipelines_that_could_not_be_evaluated() {
    let world = change(&[
        ("in/b.orch.yaml", &bad_pipeline_of_four()),
        ("out/c.orch.yaml", &bad_pipeline_of_four()),
    ]);
    let call = Call::new(&world.work());
    world.git("sparse-checkout set --no-cone /in/ /a.orch.yaml /.platform/");
    call.run("waivers add --all --reason adoption")
        .expect(0)
        .saying(&[
            "1 file could not be evaluated, so its findings get no waivers: out/c.orch.yaml",
            "hint: run `sluicegate check --all`",
        ]);
    world.git("sparse-checkout disable");
    let output = call.run("waivers add --all --reason adoption").expect(0);
    assert!(!output.err.contains("could not be evaluated"), "{}", output.all());
}
