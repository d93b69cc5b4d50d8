//! Invalid rules files: each gives its error type and exit code 1, never a crash and never a pass.

use crate::support::{Call, NAMING, RULES_FILE, orchestration_text, project};
use std::path::Path;

fn entry(id: &str, level: &str, config: &str) -> String {
    format!("rules:\n- {{id: {id}, enabled: true, enforcementLevel: {level}, config: {config}}}\n")
}

fn naming_entry(pattern: &str) -> String {
    entry(NAMING, "error", &format!("{{regexMatchPattern: {pattern}}}"))
}

#[test]
fn each_bad_rules_file_has_its_error_type() {
    let world = project();
    let twice = "rules:\n- {id: copied-variables, enabled: true, enforcementLevel: warn}\n- {id: copied-variables, enabled: true, enforcementLevel: error}\n";
    let cases: Vec<(Option<String>, &str)> = vec![
        (None, "rules-file-retrieval-error"),
        (Some(String::new()), "rules-file-parse-error"),
        (Some("rules: [".into()), "rules-file-parse-error"),
        (Some("rules: {}".into()), "rules-file-parse-error"),
        (
            Some("rules: [{id: 5, enabled: true}]".into()),
            "rules-file-parse-error",
        ),
        (
            Some("rules: [{id: x, enabled: yes}]".into()),
            "rules-file-parse-error",
        ),
        (
            Some(format!("rules: {}", "[".repeat(100_000))),
            "rules-file-parse-error",
        ),
        (Some(twice.into()), "duplicate-enabled-rule"),
        (
            Some(entry("copied-variable", "error", "{}")),
            "validator-not-found",
        ),
        (
            Some(entry("copied-variables", "fatal", "{}")),
            "invalid-enforcement-level",
        ),
        (
            Some(entry("minimum-components", "warn", "{minComponents: '1'}")),
            "invalid-rule-configuration",
        ),
        (
            Some(entry("minimum-components", "warn", "[1]")),
            "invalid-rule-configuration",
        ),
        (
            Some(entry("maximum-components", "warn", "{}")),
            "invalid-rule-configuration",
        ),
        (Some(naming_entry("5")), "invalid-rule-configuration"),
        (Some(naming_entry("''")), "empty-regex-pattern"),
        (Some(naming_entry("'(a'")), "invalid-regex-pattern"),
        (Some(naming_entry("'a)|(b'")), "invalid-regex-pattern"),
        (
            Some(naming_entry("'(((a{1000}){1000}){1000}){1000}'")),
            "invalid-regex-pattern",
        ),
    ];
    for (file, error_type) in cases {
        let path = world.work().join(RULES_FILE);
        match &file {
            Some(file) => world.write(RULES_FILE, file),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let output = Call::new(&world.work()).run("check --all --report json=- --report junit=j.xml");
        let short: String = file.as_deref().unwrap_or("(none)").chars().take(120).collect();
        assert_eq!(output.code, 1, "{short}: {}", output.all());
        let report = output.json();
        let result = &report["files"][0]["results"][0];
        let expected = format!("designer/{error_type}");
        assert_eq!(
            (&report["verdict"], &result["status"], &result["errorType"]),
            (&"failed".into(), &"ERROR".into(), &expected.into()),
            "{short}"
        );
        assert!(
            std::fs::read_to_string(world.work().join("j.xml"))
                .unwrap()
                .contains(error_type),
            "{short}"
        );
        world.write(RULES_FILE, "rules: []\n");
    }
}

#[test]
fn named_folder_without_rules_is_reported() {
    let world = project();
    let expected_text = "`.plat/config/pipeline_quality_rules.yaml` is missing in the working tree; `.plat` is the configured directory";
    let call = Call::new(&world.work());
    let output = call.run("check --all --config-dir .plat").expect(1);
    assert!(
        output.all().contains(expected_text),
        "{expected_text}: {}",
        output.all()
    );
    let output = call.run("check --all");
    assert!(
        !output.all().contains("is not in the working tree"),
        "{}",
        output.all()
    );
}

#[test]
fn pattern_that_makes_other_engines_hang_is_answered() {
    let world = project();
    let name = "a".repeat(20_000) + "!";
    world.write("b.orch.yaml", orchestration_text(&["Start", &name, "Done"]));
    world.write(RULES_FILE, naming_entry("'(a+)+(a|aa)*([a-zA-Z]+)*'"));
    Call::new(&world.work()).run("check").expect(1);
}

/// Every human-readable report shows the place of the error in the rules file together with its consequences.
#[test]
fn places_of_broken_rules_file_stand_in_every_report_for_people() {
    let world = project();
    world.write("b.orch.yaml", orchestration_text(&["Start", "Done"]));
    world.write(RULES_FILE, naming_entry("'(a'"));
    let summary = world.path().join("summary.md");
    let call = Call::new(&world.work()).variable("GITHUB_STEP_SUMMARY", summary.display().to_string());
    let args = "check --all --report markdown=r.md --report html=r.html";
    let output = call.run(args).expect(1).out;
    let read = |path: &Path| {
        let text = std::fs::read_to_string(path).unwrap();
        let marks = [("&#58;", ":"), ("&#95;", "_"), ("&#46;", ".")];
        marks
            .iter()
            .fold(text, |text, (mark, plain)| text.replace(mark, plain))
    };
    let reports = [
        output,
        read(&world.work().join("r.md")),
        read(&world.work().join("r.html")),
        read(&summary),
    ];
    for report in reports {
        assert!(report.contains(&format!("{RULES_FILE}:2:")), "{report}");
    }
}
