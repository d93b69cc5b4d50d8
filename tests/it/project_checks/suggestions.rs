//! What a broken reference probably means, and what follows from it.

use crate::support::{Call, Platform, ProgramOutput, World, check, finding_values};
use serde_json::{Value, json};
use std::fmt::Write as _;

const LEVELS: &str = "project-checks: { call: error, script: error, link: error, shared: error }\n";
const RULES: &str = "\
rules:
  - { id: unused-components, enabled: true, enforcementLevel: error }
  - { id: start-and-end-components, enabled: true, enforcementLevel: error }
";

const DELETION_HINT: &str = "; it was deleted in this change: restore it, or remove the reference to it";

/// Returns an orchestration that calls this target between its start and its end.
fn row_with_caller(target: &str) -> String {
    pipeline_row(&["Call", "Done"]).replace(
        "type: sql-executor\n",
        &format!("type: run-orchestration\n      parameters:\n        orchestrationJob: \"{target}\"\n"),
    )
}

/// Returns an orchestration with these components in a row after the start; the last one ends it.
fn pipeline_row(names: &[&str]) -> String {
    let mut text =
        "type: orchestration\nversion: \"1.0\"\npipeline:\n  components:\n    Start:\n      type: start\n"
            .to_owned();
    for (index, name) in names.iter().enumerate() {
        let _ = write!(text, "      transitions:\n        unconditional: [\"{name}\"]\n");
        let kind = if index + 1 == names.len() {
            "end-success"
        } else {
            "sql-executor"
        };
        let _ = write!(text, "    \"{name}\":\n      type: {kind}\n");
    }
    text
}

fn world_with_levels(levels: &str, files: &[(&str, String)]) -> World {
    let world = World::new();
    world.write("sluicegate.yaml", levels);
    world.write(".platform/config/pipeline_quality_rules.yaml", RULES);
    for (path, text) in files {
        world.write(path, text);
    }
    world.commit("the past");
    world.push();
    world.git("remote set-head origin main");
    world.git("checkout -q -b change");
    world
}

/// Returns rule, level and message of each finding.
fn list_violations(report: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for file in report["files"].as_array().unwrap() {
        for result in file["results"].as_array().unwrap() {
            for text in &finding_values(result, "message") {
                let (rule, level) = (&result["rule"], &result["enforcement"]);
                let [rule, level, text] = [rule, level, text].map(|value| value.as_str().unwrap());
                lines.push(format!("{rule} {level} {text}"));
            }
        }
    }
    lines
}

/// Returns the only finding.
#[track_caller]
fn single_violation(output: &ProgramOutput) -> String {
    let findings = list_violations(&output.json());
    assert_eq!(findings.len(), 1, "{}", findings.join("\n"));
    findings[0].clone()
}

#[test]
fn call_of_pipeline_that_the_change_renamed_names_its_new_path() {
    let world = world_with_levels(
        LEVELS,
        &[
            ("caller.orch.yaml", row_with_caller("sales/load")),
            ("sales/load.orch.yaml", pipeline_row(&["Load Orders", "Done"])),
            ("sales/loads.orch.yaml", pipeline_row(&["Count", "Done"])),
        ],
    );
    world.git("mv sales/load.orch.yaml sales/daily.orch.yaml");
    world.commit("move");
    let text = single_violation(&check(&world, "").expect(1));
    assert!(
        text.ends_with(
            "it was renamed in this change to `sales/daily.orch.yaml`; `sluicegate fix` corrects it"
        ),
        "{text}"
    );
    // Without a name in common and with another content, the file is still the same one if it kept its name.
    world.git("mv sales/daily.orch.yaml sales/load.orch.yaml");
    world.commit("back");
    world.git("rm -q sales/load.orch.yaml");
    world.write(
        "deep/down/load.orch.yaml",
        pipeline_row(&["A", "B", "C", "D", "E", "F", "G", "H"]),
    );
    world.commit("move and rewrite");
    let text = single_violation(&check(&world, "").expect(1));
    assert!(
        text.ends_with(
            "it was renamed in this change to `deep/down/load.orch.yaml`; `sluicegate fix` corrects it"
        ),
        "{text}"
    );
}

#[test]
fn call_of_deleted_pipeline_suggests_no_other_one() {
    let files = [
        (
            "caller.orch.yaml",
            row_with_caller("warehouse/finance/monthly/Load Data"),
        ),
        (
            "warehouse/finance/monthly/Load Data.orch.yaml",
            pipeline_row(&["Load Orders", "Done"]),
        ),
        (
            "warehouse/finance/monthly/Send Summary.orch.yaml",
            pipeline_row(&["Send", "Done"]),
        ),
        (
            "warehouse/finance/monthly/Wait.orch.yaml",
            pipeline_row(&["Send", "Done"]),
        ),
        ("caller 2.orch.yaml", row_with_caller("sales/load 2024")),
        ("sales/load 2024.orch.yaml", pipeline_row(&["A", "Done"])),
        ("sales/load 2025.orch.yaml", pipeline_row(&["B", "Done"])),
    ];
    let world = world_with_levels(LEVELS, &files);
    world.git(&["rm", "-q", files[1].0, files[5].0]);
    world.commit("delete");
    let findings = list_violations(&check(&world, "").expect(1).json());
    assert_eq!(findings.len(), 2);
    for text in findings {
        assert!(
            text.ends_with(&format!("which is not in the project{DELETION_HINT}")),
            "{text}"
        );
    }
    // A typo is recognized.
    for (typo, help) in [
        ("sales/laod 2025", "did you mean `sales/load 2025.orch.yaml`?"),
        (
            "sales/Load 2025",
            "the name of `sales/load 2025.orch.yaml` differs only in letter case",
        ),
        ("slaes/load 2025", "`sales/load 2025.orch.yaml` has that name"),
    ] {
        world.write("caller.orch.yaml", row_with_caller(typo));
        let findings = list_violations(&check(&world, "").expect(1).json()).join("\n");
        assert!(findings.contains(help), "{typo}: {findings}");
    }
}

#[test]
fn broken_link_with_similar_name_is_one_finding() {
    let good = pipeline_row(&["Load Orders", "Clean", "Count", "Check", "Send", "Done"]);
    let world = world_with_levels(LEVELS, &[("a.orch.yaml", good.clone())]);
    world.write(
        "a.orch.yaml",
        good.replace("[\"Load Orders\"]", "[\"Load Order\"]"),
    );
    world.commit("typo");
    let output = check(&world, "").expect(1);
    let text = single_violation(&output);
    assert!(
        text.starts_with("project/link error component `Start` has a transition to `Load Order`"),
        "{text}"
    );
    assert!(text.contains("did you mean `Load Orders`?"), "{text}");
    assert!(
        text.contains("7 other findings about `Check`, `Clean`, `Count` and 4 more follow from this"),
        "{text}"
    );
    let report = output.json();
    assert_eq!(report["findings"]["errors"], 1);
    let results = report["files"][0]["results"].as_array().unwrap();
    let findings = results
        .iter()
        .flat_map(|result| result["findings"].as_array().unwrap());
    let folded: Vec<_> = findings.filter_map(|finding| finding.get("folded")).collect();
    assert_eq!(folded, [&json!(7)]);
}

/// The number in the report decides, not the words of a message.
#[test]
fn waivers_of_report_read_folded_findings_from_number() {
    let good = pipeline_row(&["Load Orders", "Clean", "Count", "Check", "Send", "Done"]);
    let world = world_with_levels(LEVELS, &[("a.orch.yaml", good.clone())]);
    let typo = good.replace("[\"Load Orders\"]", "[\"Load Order\"]");
    world.write("a.orch.yaml", typo);
    world.commit("typo");
    check(&world, &["--report", "json=r.json"]).expect(1);
    let report = std::fs::read_to_string(world.work().join("r.json")).unwrap();
    let call = Call::new(&world.work());
    let add = "waivers add --from r.json --reason legacy";
    let mut without_number: Value = serde_json::from_str(&report).unwrap();
    for result in without_number["files"][0]["results"].as_array_mut().unwrap() {
        for finding in result["findings"].as_array_mut().unwrap() {
            finding.as_object_mut().unwrap().remove("folded");
        }
    }
    world.write("r.json", without_number.to_string());
    call.run(add).expect(0).saying(&["1 waiver added"]);
    let other_words = report.replace(" follow from this", " come from it");
    assert_ne!(other_words, report);
    world.write("r.json", other_words);
    call.run(add).expect(0).saying(&["7 waivers added"]);
}

#[test]
fn waivers_of_report_include_findings_that_follow_from_broken_link() {
    let good = pipeline_row(&["Load Orders", "Clean", "Count", "Check", "Send", "Done"]);
    let world = world_with_levels(LEVELS, &[("a.orch.yaml", good.clone())]);
    let typo = good.replace("[\"Load Orders\"]", "[\"Load Order\"]");
    world.write("a.orch.yaml", typo);
    world.commit("typo");
    check(&world, "--report json=r.json").expect(1);
    let call = Call::new(&world.work());
    let add = "waivers add --from r.json --reason legacy";
    call.run(add).expect(0).saying(&["8 waivers added"]);
    check(&world, "").expect(0);
    // Findings that do not follow from the link, and that the report does not contain, have no waiver.
    let more =
        good.replace("[\"Load Orders\"]", "[\"Load Order\"]") + "    \"Apart\":\n      type: sql-executor\n";
    world.write("a.orch.yaml", more);
    call.run(add).expect(0);
    check(&world, "").expect(1);
}

#[test]
fn waivers_of_report_omit_known_findings_that_follow_from_broken_link() {
    let good = pipeline_row(&["Load Orders", "Clean", "Count", "Check", "Send", "Done"]);
    let typo = good.replace("[\"Count\"]", "[\"Cuont\"]");
    let world = world_with_levels(LEVELS, &[("a.orch.yaml", typo.clone())]);
    world.write(
        "a.orch.yaml",
        typo.replace("[\"Load Orders\"]", "[\"Load Order\"]"),
    );
    world.commit("second typo");
    check(&world, "--new-only --report json=r.json").expect(1);
    let report = std::fs::read_to_string(world.work().join("r.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    assert_ne!(report["findings"]["known"], 0, "{report:#}");
    let results = report["files"][0]["results"].as_array().unwrap();
    let folded_count: u64 = results
        .iter()
        .flat_map(|result| result["findings"].as_array().unwrap())
        .filter_map(|finding| finding["folded"].as_u64())
        .sum();
    assert_ne!(folded_count, 0, "{report:#}");
    let waiver_count = folded_count + report["findings"]["new"].as_u64().unwrap();
    Call::new(&world.work())
        .run("waivers add --from r.json --reason legacy")
        .expect(0)
        .saying(&[&format!("{waiver_count} waivers added")]);
}

/// A link that is only a warning fails the gate if errors follow from it.
#[test]
fn broken_link_has_the_level_of_what_follows_from_it() {
    let good = pipeline_row(&["Load Orders", "Clean", "Done"]);
    for levels in ["review: { fail-on: error }\n", "project-checks: { link: warn }\n"] {
        let world = world_with_levels(levels, &[("a.orch.yaml", good.clone())]);
        world.write(
            "a.orch.yaml",
            good.replace("[\"Load Orders\"]", "[\"Load Order\"]"),
        );
        world.commit("typo");
        let text = single_violation(&check(&world, "").expect(1));
        assert!(text.starts_with("project/link error "), "{text}");
    }
    // Warnings that follow from a warning leave it one.
    let world = world_with_levels(
        "project-checks: { link: warn }\n",
        &[("a.orch.yaml", good.clone())],
    );
    let rules = RULES.replace("enforcementLevel: error", "enforcementLevel: warn");
    world.write(".platform/config/pipeline_quality_rules.yaml", rules);
    world.write(
        "a.orch.yaml",
        good.replace("[\"Load Orders\"]", "[\"Load Order\"]"),
    );
    world.commit("typo");
    let text = single_violation(&check(&world, "").expect(0));
    assert!(text.starts_with("project/link warn "), "{text}");
    // The finding keeps its state and the data of its expired waiver.
    let world = world_with_levels(
        "project-checks: { link: warn }\n",
        &[("a.orch.yaml", good.clone())],
    );
    world.git("checkout -q main");
    world.write(
        "sluicegate-waivers.yaml",
        "- { rule: project/link, path: a.orch.yaml, reason: legacy, until: 2026-01-01 }\n",
    );
    world.commit("waiver");
    world.git("checkout -q -B change");
    world.write(
        "a.orch.yaml",
        good.replace("[\"Load Orders\"]", "[\"Load Order\"]"),
    );
    world.commit("typo");
    let report = check(&world, "--new-only").expect(1).json();
    let results = report["files"][0]["results"].as_array().unwrap();
    let link = results.iter().find(|result| result["rule"] == "project/link");
    let finding = &link.unwrap()["findings"][0];
    assert_eq!(finding["state"], "new", "{report:#}");
    assert_eq!(finding["waiver"]["reason"], "legacy", "{report:#}");
    // A check that is off folds nothing.
    let world = world_with_levels(
        "project-checks: { link: off }\n",
        &[("a.orch.yaml", good.clone())],
    );
    world.write(
        "a.orch.yaml",
        good.replace("[\"Load Orders\"]", "[\"Load Order\"]"),
    );
    world.commit("typo");
    assert_eq!(list_violations(&check(&world, "").expect(1).json()).len(), 4);
}

#[test]
fn finding_that_does_not_follow_from_the_broken_link_stays() {
    let good = pipeline_row(&["Load Orders", "Clean", "Done"]);
    let alone = "    Alone:\n      type: sql-executor\n";
    let world = world_with_levels(LEVELS, &[("a.orch.yaml", good.clone())]);
    world.write(
        "a.orch.yaml",
        good.replace("[\"Load Orders\"]", "[\"Load Order\"]") + alone,
    );
    world.commit("typo and more");
    let findings = list_violations(&check(&world, "").expect(1).json());
    assert_eq!(findings.len(), 2, "{findings:?}");
    assert!(
        findings
            .iter()
            .any(|text| text.starts_with("unused-components error component \"Alone\"")),
        "{findings:?}"
    );
    // Known consequences stay known.
    world.write("b.orch.yaml", good.replace("Clean", "Clear"));
    let content = std::fs::read_to_string(world.work().join("a.orch.yaml")).unwrap();
    world.write("a.orch.yaml", format!("# edited\n{content}"));
    world.commit("edit");
    let output = check(&world, "--new-only --base HEAD~1").expect(0);
    let counts = &output.json()["findings"];
    assert_eq!(
        (&counts["new"], &counts["known"]),
        (&json!(0), &json!(6)),
        "{counts}"
    );
}

/// A finding is not hidden behind the finding of a link that does not fail the gate.
#[test]
fn new_finding_that_follows_from_known_broken_link_fails() {
    let with_typo = |names: &[&str]| pipeline_row(names).replace("[\"Load Orders\"]", "[\"Load Order\"]");
    let world = world_with_levels(
        LEVELS,
        &[("a.orch.yaml", with_typo(&["Load Orders", "Clean", "Done"]))],
    );
    let more = with_typo(&["Load Orders", "Clean", "Extra", "Done"]);
    world.write("a.orch.yaml", more);
    world.commit("more");
    let ended = check(&world, "--new-only").expect(1);
    let findings = list_violations(&ended.json()).join("\n");
    assert!(findings.contains("component \"Extra\""), "{findings}");
}

#[test]
fn link_to_component_that_the_change_renamed_names_its_new_name() {
    let component = "    \"Load Orders\":\n      type: sql-executor\n      parameters:\n        componentName: Load Orders\n        query: select 1\n        schema: sales\n";
    let text = pipeline_row(&["Load Orders", "Done"])
        .replace("    \"Load Orders\":\n      type: sql-executor\n", component);
    let world = world_with_levels(LEVELS, &[("a.orch.yaml", text.clone())]);
    let renamed = text
        .replace("    \"Load Orders\":", "    \"Import\":")
        .replace("componentName: Load Orders", "componentName: Import");
    world.write("a.orch.yaml", renamed);
    world.commit("rename");
    let text = single_violation(&check(&world, "").expect(1));
    assert!(
        text.contains("it was renamed in this change to `Import`"),
        "{text}"
    );
}

#[test]
fn waivers_of_report_include_findings_that_follow_from_renamed_component() {
    let component = "    \"Load Orders\":\n      type: sql-executor\n      parameters:\n        componentName: Load Orders\n        query: select 1\n        schema: sales\n";
    let text = pipeline_row(&["Load Orders", "Clean", "Done"])
        .replace("    \"Load Orders\":\n      type: sql-executor\n", component)
        + "    \"Apart\":\n      type: sql-executor\n";
    let world = world_with_levels(LEVELS, &[("a.orch.yaml", text.clone())]);
    let renamed = text
        .replace("    \"Load Orders\":", "    \"Import\":")
        .replace("componentName: Load Orders", "componentName: Import");
    world.write("a.orch.yaml", renamed);
    world.commit("rename");
    check(&world, "--report json=r.json").expect(1);
    Call::new(&world.work())
        .run("waivers add --from r.json --reason legacy")
        .expect(0);
    check(&world, "").expect(0);
}

#[test]
fn null_and_empty_targets_are_not_references() {
    let text = pipeline_row(&["Load", "Done"]).replace(
        "    \"Load\":\n      type: sql-executor\n",
        "    \"Load\":\n      type: fixed-iterator\n      iterationTarget:\n      parameters: { orchestrationJob: ~, fileName: ' ', scriptLocation: File }\n",
    );
    let extra_args = "    Twice:\n      type: retry\n      iterationTarget: ~\n      transitions: { success: [~, '', null], failure: [ ] }\n";
    let transformation = "type: transformation\nversion: \"1.0\"\npipeline:\n  components:\n    A: { type: read, sources: [ ~ ] }\n    B: { type: write, sources: [ A, '' ] }\n";
    let world = world_with_levels(LEVELS, &[]);
    world.write("a.orch.yaml", text + extra_args);
    world.write("b.tran.yaml", transformation);
    world.commit("nulls");
    let findings = list_violations(&check(&world, "--fail-on never").expect(0).json());
    assert!(
        !findings.iter().any(|text| text.starts_with("project/")),
        "{findings:?}"
    );
    // Quoted text is a name.
    world.write(
        "a.orch.yaml",
        pipeline_row(&["Load", "Done"]).replace("[\"Load\"]", "['~']"),
    );
    let findings = list_violations(&check(&world, "--fail-on never").expect(0).json());
    assert!(
        findings.iter().any(|text| text.starts_with("project/link")),
        "{findings:?}"
    );
}

#[test]
fn refusal_of_publish_has_the_help_of_the_finding() {
    let shared = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: a/load.orch.yaml, displayName: l, id: load, enabled: true, parameters: {} }\n";
    let world = world_with_levels(
        LEVELS,
        &[
            ("a/load.orch.yaml", row_with_caller("old/part")),
            ("b/part.orch.yaml", pipeline_row(&["Part", "Done"])),
            (".platform/shared-pipelines.yaml", shared.to_owned()),
        ],
    );
    let publish = "publish --prefix p --version-name 1 --compat off --dry-run";
    let log = Platform::new().call(&world).run(publish).expect(2).all();
    let help = "which is not in the project; `b/part.orch.yaml` has that name; `sluicegate mv --repair` writes that path";
    assert!(log.contains(help), "{log}");
    let findings = list_violations(&check(&world, "--all").expect(1).json());
    assert!(findings[0].contains(help), "{findings:?}");
}

/// Returns an orchestration with a component that runs this script.
fn script_caller(path: &str) -> String {
    pipeline_row(&["Script", "Done"]).replace(
        "type: sql-executor\n",
        &format!(
            "type: sql-executor\n      parameters:\n        scriptLocation: File\n        fileName: \"{path}\"\n"
        ),
    )
}

#[test]
fn missing_script_has_hint_at_files_of_its_name_in_finding_and_publish() {
    let shared = "version: \"1.0\"\ntype: shared-pipelines-config\npipelines:\n  - { pipeline: load.orch.yaml, displayName: l, id: load, enabled: true, parameters: {} }\n";
    let repair = "; `sluicegate mv --repair` writes that path";
    for (target, help, extra_help) in [
        ("old/load.sql", "; `sql/load.sql` has that name", repair),
        ("load.sql", "; `sql/load.sql` has that name", repair),
        ("./sql/load.sql", "; `sql/load.sql` has that name", repair),
        (
            "old/clean.sql",
            "; `a/clean.sql` and `b/clean.sql` have that name",
            "",
        ),
        (
            "SQL/load.sql",
            "; the name of `sql/load.sql` differs only in letter case",
            "",
        ),
    ] {
        let world = world_with_levels(
            LEVELS,
            &[
                ("load.orch.yaml", script_caller(target)),
                ("sql/load.sql", "select 1;\n".to_owned()),
                ("a/clean.sql", "select 2;\n".to_owned()),
                ("b/clean.sql", "select 3;\n".to_owned()),
                (".platform/shared-pipelines.yaml", shared.to_owned()),
            ],
        );
        let missing = format!("names the script `{target}`, which is not in the project{help}{extra_help}");
        let publish = "publish --prefix p --version-name 1 --compat off --dry-run";
        Platform::new()
            .call(&world)
            .run(publish)
            .expect(2)
            .saying(&[&missing]);
        check(&world, "--all").expect(1).logging(&[&missing]);
        if extra_help == repair {
            Call::new(&world.work()).run("mv --repair").expect(0);
            assert!(world.read_text("load.orch.yaml").contains("\"sql/load.sql\""));
        }
    }
}

#[test]
fn missing_script_without_file_of_its_name_has_no_hint() {
    let files = [
        ("load.orch.yaml", script_caller("old/load.sql")),
        ("sql/other.sql", "select 1;\n".to_owned()),
    ];
    let text = single_violation(&check(&world_with_levels(LEVELS, &files), "--all").expect(1));
    assert!(text.ends_with("which is not in the project"), "{text}");
}

#[test]
fn reference_to_file_that_the_change_deletes_has_next_step() {
    let shared = "pipelines:\n  - { pipeline: sales/load.orch.yaml, id: load, enabled: true }\n";
    let world = world_with_levels(
        LEVELS,
        &[
            ("caller.orch.yaml", row_with_caller("load")),
            ("script.orch.yaml", script_caller("sql/load.sql")),
            ("gone.orch.yaml", row_with_caller("sales/gone")),
            (".platform/shared-pipelines.yaml", shared.to_owned()),
            ("sales/load.orch.yaml", pipeline_row(&["Load", "Done"])),
            ("sql/load.sql", "select 1;\n".to_owned()),
        ],
    );
    world.git("rm -q sales/load.orch.yaml sql/load.sql");
    world.commit("delete");
    // The same findings have the hint in a review of the change and in one of all pipelines since the base.
    for args in ["", "--all --base main"] {
        let findings = list_violations(&check(&world, args).expect(1).json());
        for text in [
            "component `Call` calls the orchestration `load`",
            "component `Script` names the script `sql/load.sql`",
            "the shared pipeline `load` is `sales/load.orch.yaml`",
        ] {
            let message = findings.iter().find(|finding| finding.contains(text));
            let message = message.unwrap_or_else(|| panic!("{text}: {findings:?}"));
            assert!(message.ends_with(DELETION_HINT), "{message}");
        }
    }
    // The change did not delete the target of the old broken call.
    let findings = list_violations(&check(&world, "--all --base main").expect(1).json());
    let old_finding = findings.iter().find(|finding| finding.contains("`sales/gone`"));
    assert!(
        old_finding.unwrap().ends_with("which is not in the project"),
        "{findings:?}"
    );
}

/// Many broken calls and links cost no more than the check itself.
#[test]
fn suggestions_for_many_broken_references_are_bounded() {
    let many: Vec<String> = (0..2_000)
        .map(|number| format!("Component {number:04} of many"))
        .collect();
    let mut text = pipeline_row(&many.iter().map(String::as_str).collect::<Vec<_>>());
    for number in 0..4_000 {
        let _ = write!(
            text,
            "    \"Lost {number}\":\n      type: sql-executor\n      transitions:\n        success: [\"Componentt {number:04} of manny\"]\n"
        );
    }
    let world = world_with_levels(LEVELS, &[]);
    world.write("a.orch.yaml", text);
    world.commit("many");
    let start = std::time::Instant::now();
    check(&world, "").expect(1);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

/// The finding of a renamed component stays known, and its waiver stays valid.
#[test]
fn renamed_component_keeps_known_finding_and_waiver() {
    const NAMING: &str = "rules:\n  - { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '[A-Z].*' } }\n";
    let component = |name: &str| {
        format!(
            "    \"{name}\":\n      type: sql-executor\n      parameters:\n        componentName: {name}\n        query: select 1\n        schema: sales\n"
        )
    };
    let text = |name: &str| {
        pipeline_row(&[name, "Done"]).replace(
            &format!("    \"{name}\":\n      type: sql-executor\n"),
            &component(name),
        )
    };
    let waiver = "- { rule: component-naming-convention, path: b.orch.yaml, about: other name, reason: other }\n\
         - { rule: component-naming-convention, path: a.orch.yaml, about: bad name, reason: legacy }\n";
    for (waivers, args, state) in [
        (None, &["--new-only"][..], "known"),
        (Some(waiver), &[][..], "waived"),
    ] {
        let world = world_with_levels(LEVELS, &[("a.orch.yaml", text("bad name"))]);
        world.git("checkout -q main");
        world.write(".platform/config/pipeline_quality_rules.yaml", NAMING);
        if let Some(waivers) = waivers {
            world.write("sluicegate-waivers.yaml", waivers);
        }
        world.commit("rules");
        world.push();
        world.git("checkout -q -B change");
        world.write("a.orch.yaml", text("tidy name"));
        world.commit("tidy");
        let output = check(&world, args).expect(0);
        assert_eq!(output.json()["findings"][state], json!(1), "{}", output.all());
        if waivers.is_some() {
            let notes = output.json()["notes"].to_string();
            assert!(
                notes.contains("with the old name of a component")
                    && notes.contains("about: tidy name, reason: legacy } instead of `about: bad name`")
                    || notes.contains("about: tidy name, reason: legacy }` instead of `about: bad name`"),
                "{notes}"
            );
        }
        // Another component is not the same one under a new name.
        world.write(
            "a.orch.yaml",
            text("tidy name")
                .replace("select 1", "select 2")
                .replace("schema: sales", "schema: other\n        wait: 1"),
        );
        world.commit("another");
        check(&world, args).expect(1);
    }
}

/// A file that moved and changed by more than half keeps its known findings.
#[test]
fn moved_and_rewritten_file_of_unique_name_keeps_known_findings() {
    let files = [
        (
            "a/load.orch.yaml",
            pipeline_row(&["Old", "Done"]).replace("type: end-success", "type: sql-executor"),
        ),
        (
            "a/twin.orch.yaml",
            pipeline_row(&["Other", "Done"]).replace("type: end-success", "type: sql-executor"),
        ),
    ];
    let world = world_with_levels(LEVELS, &files);
    let rewritten = pipeline_row(&[
        "Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta", "Done",
    ])
    .replace("type: end-success", "type: sql-executor");
    world.git("rm -q a/load.orch.yaml");
    world.write("b/load.orch.yaml", &rewritten);
    world.commit("move and rewrite");
    let output = check(&world, "--new-only").expect(0);
    assert_eq!(output.json()["findings"]["known"], json!(1));
    // Two files of the name came, so it is unknown which of them is the old one.
    world.git("rm -q a/twin.orch.yaml");
    world.write("b/twin.orch.yaml", &rewritten);
    world.write("c/twin.orch.yaml", &rewritten);
    world.commit("two twins");
    let output = check(&world, "--new-only").expect(1);
    assert_eq!(output.json()["findings"]["new"], json!(2), "{}", output.all());
}

/// Returns the fingerprint of the only finding about the call, as the report and the report of this report contain it.
fn find_call_fingerprint(world: &World, args: &str) -> Value {
    let find_print = |report: &Value| {
        let files = report["files"].as_array().unwrap();
        let file = files
            .iter()
            .find(|file| file["path"] == "main.orch.yaml")
            .unwrap();
        let results = file["results"].as_array().unwrap();
        let result = results
            .iter()
            .find(|result| result["rule"] == "project/call")
            .unwrap();
        finding_values(result, "fingerprint")[0].clone()
    };
    let call = Call::new(&world.work());
    call.run(format!("check {args} --report json=r.json")).expect(1);
    let text = std::fs::read_to_string(world.work().join("r.json")).unwrap();
    let direct = find_print(&serde_json::from_str(&text).unwrap());
    let repeated = call.run("report r.json --report json=-").expect(1).json();
    assert_eq!(find_print(&repeated), direct, "{args}");
    std::fs::remove_file(world.work().join("r.json")).unwrap();
    direct
}

#[test]
fn fingerprint_of_broken_call_does_not_depend_on_hint() {
    let files = [
        ("main.orch.yaml", row_with_caller("a/load.orch.yaml")),
        ("a/load.orch.yaml", pipeline_row(&["Done"])),
    ];
    let world = world_with_levels(LEVELS, &files);
    world.git("mv a/load.orch.yaml load.orch.yaml");
    world.git("add -A");
    let staged = find_call_fingerprint(&world, "--staged");
    world.commit("move");
    assert_eq!(find_call_fingerprint(&world, "--base main"), staged);
    assert_eq!(find_call_fingerprint(&world, "--all"), staged);
    world.write("b/load.orch.yaml", pipeline_row(&["Done"]));
    world.commit("a file of the same name");
    assert_eq!(find_call_fingerprint(&world, "--all"), staged);
}

/// Returns a transformation whose output reads this source, and has another component without a successor.
fn transformation_with_source(source: &str, other: &str) -> String {
    format!(
        "type: transformation\nversion: \"1.0\"\npipeline:\n  components:\n    Read orders: {{ type: table-input }}\n    \
         Write orders: {{ type: rewrite-table, sources: [{source}] }}\n{other}"
    )
}

#[test]
fn misspelled_source_of_transformation_is_one_finding() {
    let world = world_with_levels(LEVELS, &[]);
    world.write(
        ".platform/config/pipeline_quality_rules.yaml",
        format!("{RULES}  - {{ id: end-output-components, enabled: true, enforcementLevel: error }}\n"),
    );
    world.write("a.tran.yaml", transformation_with_source("Read order", ""));
    world.commit("typo");
    let text = single_violation(&check(&world, "").expect(1));
    assert!(
        text.contains("`Write orders` has the source `Read order`"),
        "{text}"
    );
    assert!(text.contains("3 other findings about `Read orders`"), "{text}");
    // The branch end is not caused by its own missing source.
    let branch_end = "    Lone: { type: filter, sources: [Xylophone] }\n";
    world.write(
        "a.tran.yaml",
        transformation_with_source("Read orders", branch_end),
    );
    world.commit("unrelated");
    let findings = list_violations(&check(&world, "").expect(1).json()).join("\n");
    assert!(
        findings.contains("end-output-components error component \"Lone\""),
        "{findings}"
    );
}

#[test]
fn shared_pipeline_that_the_change_renamed_names_its_new_path() {
    let shared_file = "pipelines:\n  - { pipeline: sales/load.orch.yaml, id: load, enabled: true }\n";
    let world = world_with_levels(
        LEVELS,
        &[
            ("sales/load.orch.yaml", pipeline_row(&["Load Orders", "Done"])),
            (".platform/shared-pipelines.yaml", shared_file.to_owned()),
        ],
    );
    world.git("mv sales/load.orch.yaml sales/daily.orch.yaml");
    world.commit("move");
    let text = single_violation(&check(&world, "").expect(1));
    assert!(
        text.ends_with(
            "it was renamed in this change to `sales/daily.orch.yaml`; set `pipeline:` to this path, because publishing \
             fails until then"
        ),
        "{text}"
    );
    // A disabled entry does not stop a publish.
    world.write(
        ".platform/shared-pipelines.yaml",
        shared_file.replace("enabled: true", "enabled: false"),
    );
    world.commit("disable");
    let text = single_violation(&check(&world, "").expect(0));
    assert!(
        text.ends_with("it was renamed in this change to `sales/daily.orch.yaml`"),
        "{text}"
    );
    // A typo is recognized, and no command is named, because none rewrites the entry.
    for (typo, hint) in [
        ("sales/dialy", "did you mean `sales/daily.orch.yaml`?"),
        ("daily", "`sales/daily.orch.yaml` has that name"),
        (
            "warehouse/other",
            "which is not in the project; publishing fails until this is corrected",
        ),
    ] {
        world.write(
            ".platform/shared-pipelines.yaml",
            shared_file.replace("sales/load", typo),
        );
        let text = single_violation(&check(&world, "").expect(1));
        assert!(text.ends_with(hint), "{text}");
    }
}

#[test]
fn check_of_named_shared_pipelines_file_reports_its_findings() {
    let path = ".platform/shared-pipelines.yaml";
    let shared_file = "pipelines:\n  - { pipeline: sales/load.orch.yaml, id: load, enabled: true }\n";
    let world = world_with_levels(
        LEVELS,
        &[
            ("sales/load.orch.yaml", pipeline_row(&["Load Orders", "Done"])),
            (path, shared_file.replace("load.orch", "gone.orch")),
        ],
    );
    let call = Call::new(&world.work());
    call.run(("check", &[path]))
        .expect(1)
        .logging(&["the shared pipeline `load` is `sales/gone.orch.yaml`, which is not in the project"]);
    world.write(path, shared_file);
    let output = call.run(("check", &[path])).expect(0);
    assert!(!output.all().contains("is not checked"), "{}", output.all());
    // Without the check, and in another directory, nothing examines the file.
    world.write("other/shared-pipelines.yaml", shared_file);
    for args in [
        "check .platform/shared-pipelines.yaml --project-checks off",
        "check other/shared-pipelines.yaml",
    ] {
        let output = call.run(args).expect(0);
        assert!(
            output.all().contains("was named but is not checked"),
            "{}",
            output.all()
        );
    }
}
