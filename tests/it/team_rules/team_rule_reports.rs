//! Team rules in every report format: names from pipelines are escaped, and the rule is explained.

use super::{FILE, commit_files, python_pipeline, python_rule, world_with_files};
use crate::support::release::{publish_call, stage};
use crate::support::{Call, FORMATS, RULES, RULES_FILE, World, read_json};
use std::fs;

/// A name that means something in each format.
const HOSTILE_NAME: &str = "{component.type} \"a\" 'b' `c` <b>&amp;</b> ]]> | ::error::x %0A";

fn write_reports(name: &str) -> World {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&[name]))]);
    let reports: Vec<String> = FORMATS
        .iter()
        .map(|format| format!("--report {format}={format}.out"))
        .collect();
    Call::new(&world.work())
        .run(("check", reports.join(" ").as_str()))
        .expect(1);
    world
}

#[test]
fn each_format_has_finding_of_team_rule() {
    let world = write_reports("Run");
    for format in FORMATS {
        let text = fs::read_to_string(world.work().join(format!("{format}.out"))).unwrap();
        assert!(text.contains("team/no-python"), "{format}: {text}");
        assert!(text.contains("is a Python script"), "{format}: {text}");
    }
    let sarif = read_json(&world.work().join("sarif.out"));
    let rules = sarif["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap();
    let rule = rules.iter().find(|rule| rule["id"] == "team/no-python").unwrap();
    assert!(
        rule["help"]["text"].as_str().unwrap().contains("Use SQL."),
        "{rule}"
    );
    assert_eq!(rule["name"], "TeamNoPython");
    let page = fs::read_to_string(world.work().join("html.out")).unwrap();
    assert!(page.contains("Use SQL."), "{page}");
}

/// A page with few findings has no bars.
#[test]
fn bars_of_team_rules_are_separate_in_html() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    let names: Vec<String> = (0..11).map(|number| format!("Run {number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&names))]);
    let page = Call::new(&world.work())
        .run("check --report html=-")
        .expect(1)
        .out;
    assert!(page.contains("<h2>Team rules</h2>"), "{page}");
}

#[test]
fn hostile_name_is_escaped_in_each_format() {
    let world = write_reports(HOSTILE_NAME);
    let read = |format: &str| fs::read_to_string(world.work().join(format!("{format}.out"))).unwrap();
    for format in ["junit", "junit-strict"] {
        roxmltree::Document::parse(&read(format)).unwrap_or_else(|error| panic!("{format}: {error}"));
    }
    for format in ["json", "sarif", "gitlab"] {
        let document = read_json(&world.work().join(format!("{format}.out")));
        assert!(document.to_string().contains("{component.type}"), "{format}");
    }
    assert!(!read("html").contains("<b>&amp;</b>"), "{}", read("html"));
    assert!(!read("markdown").contains("<b>&amp;"), "{}", read("markdown"));
}

#[test]
fn rendered_report_explains_team_rule() {
    let world = write_reports("Run");
    Call::new(&world.work())
        .run("report json.out --report sarif=again.out")
        .expect(1);
    let sarif = read_json(&world.work().join("again.out"));
    assert!(sarif.to_string().contains("Use SQL."), "{sarif}");
}

/// The rules file enables no rule for the pipeline, so only the team's rule has a result.
#[test]
fn pipeline_without_rule_of_platform_counts_as_reviewed_beside_result_of_team() {
    let (world, server) = stage();
    world.write(RULES_FILE, "rules: []\n");
    world.commit("no rules");
    let review = |world: &World| {
        world.push();
        let call = publish_call(world, &server);
        let output = call.run("review --all --report json=../good.json").expect(0);
        assert!(
            !output.all().contains("no pipeline was selected"),
            "{}",
            output.all()
        );
        let report = read_json(&world.path().join("good.json"));
        assert_eq!(report["counts"]["files"], 1, "{report}");
        report
    };
    let report = review(&world);
    assert_eq!(report["files"][0].get("reviewed"), None);
    let rule = "rules:\n  - { id: a, level: error, for: pipeline, when: 'false', message: m }\n";
    world.write(FILE, rule);
    world.commit("a rule of the team");
    let report = review(&world);
    assert_eq!(report["files"][0]["reviewed"], true);
    let call = publish_call(&world, &server);
    let again = call.run("report ../good.json --report json=-").expect(0).json();
    assert_eq!(again["counts"]["files"], 1, "{again}");
    call.run("publish --version-name 1 --require-review ../good.json")
        .expect(0);
    // The check of the project alone is no review.
    let mut report = report;
    report["files"][0]["reviewed"] = false.into();
    report["counts"]["files"] = 0.into();
    fs::write(world.path().join("bad.json"), report.to_string()).unwrap();
    let assert_refused = || {
        call.run("publish --version-name 2 --require-review ../bad.json")
            .expect(2)
            .saying(&["has no result for 1 pipeline"]);
    };
    assert_refused();
    // Nor is the result of the team, if a rule of the platform applies.
    world.write(RULES_FILE, RULES);
    world.commit("a rule of the platform");
    let mut report = review(&world);
    report["files"][0]["reviewed"] = true.into();
    let results = report["files"][0]["results"].as_array_mut().unwrap();
    results.retain(|result| result["origin"] == "team");
    assert_eq!(results.len(), 1);
    report["counts"]["passed"] = 0.into();
    fs::write(world.path().join("bad.json"), report.to_string()).unwrap();
    assert_refused();
    call.run("publish --version-name 2 --require-review ../good.json")
        .expect(0);
}

#[test]
fn log_names_command_that_explains_team_rule_if_no_other_rule_fails() {
    let world = world_with_files(&[(FILE, &python_rule("error"))]);
    commit_files(&world, &[("prod/a.orch.yaml", &python_pipeline(&["Run"]))]);
    let command = "Explain a rule: sluicegate rules explain team/no-python";
    Call::new(&world.work())
        .run("check")
        .expect(1)
        .logging(&[command]);
    Call::new(&world.work())
        .run("rules explain team/no-python")
        .expect(0);
}
