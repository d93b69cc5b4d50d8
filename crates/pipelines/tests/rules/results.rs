//! The form of results: order, severity, lines, levels.

use crate::support::{ALL_RULES, orchestration, outcome, transformation};
use sluicegate_pipelines::findings::{Enforcement, Severity, Status};
use sluicegate_pipelines::pipelines::Pipeline;
use sluicegate_pipelines::rules::RuleSet;

#[test]
fn results_have_order_of_rules_file() {
    let file = "rules:
- {id: unused-components, enabled: true, enforcementLevel: warn, further: key}
- {id: nonsense, enabled: true, enforcementLevel: warn}
- {id: maximum-outputs, enabled: true, enforcementLevel: warn}
- {id: copied-variables, enabled: true, enforcementLevel: error}
further: {keys: are ignored}
";
    let results = RuleSet::parse(file.as_bytes())
        .evaluate("a/x.orch.yaml", orchestration(&["S: {type: start}"]).as_bytes());
    assert_eq!(results.path, "a/x.orch.yaml");
    let matches: Vec<_> = results
        .results
        .iter()
        .map(|r| (r.rule.as_str(), outcome(r)))
        .collect();
    let expected = [
        ("unused-components", "PASSED"),
        ("nonsense", "designer/validator-not-found"),
        ("copied-variables", "PASSED"),
    ];
    assert_eq!(matches, expected);
}

#[test]
fn severity_of_failed_rule_is_its_level() {
    for (level, severity) in [("warn", Severity::Warning), ("error", Severity::Error)] {
        let file =
            format!("rules: [{{id: start-and-end-components, enabled: true, enforcementLevel: {level}}}]");
        let results = RuleSet::parse(file.as_bytes())
            .evaluate("x", orchestration(&[]).as_bytes())
            .results;
        assert_eq!(results[0].status, Status::Failed(severity));
        assert_eq!(results[0].enforcement, Enforcement::parse(level));
    }
}

#[test]
fn enforcement_is_strictest_of_enabled_entries() {
    let rules = RuleSet::parse(
        b"rules:
- {id: a, enabled: false, enforcementLevel: warn}
- {id: a, enabled: true, enforcementLevel: warn}
- {id: a, enabled: true, enforcementLevel: error}
- {id: b, enabled: false, enforcementLevel: warn}
- {id: b, enabled: false, enforcementLevel: error}
- {id: c, enabled: true, enforcementLevel: high}
",
    );
    let results = ["a", "b", "c", "d"].map(|id| rules.enforcement(id));
    assert_eq!(
        results,
        [Some(Enforcement::Error), Some(Enforcement::Warn), None, None]
    );
    assert_eq!(RuleSet::without_file().enforcement("a"), None);
    assert_eq!(RuleSet::parse(b"[").enforcement("a"), None);
}

#[test]
fn result_line_is_that_of_first_component_in_file() {
    let document = orchestration(&["S: {type: start}", "Z:", "A:"]);
    let results = RuleSet::parse(ALL_RULES.as_bytes())
        .evaluate("x.orch.yaml", document.as_bytes())
        .results;
    let unused = results.iter().find(|r| r.rule == "unused-components").unwrap();
    assert_eq!((unused.line(), unused.violations.len()), (5, 2));
}

/// If another engine reports the same message, it is mapped to the same line as here.
#[test]
fn violation_texts_lead_to_lines() {
    let names = [
        "S: {type: start}",
        "'a \"b\" c':",
        "a:",
        "component:",
        "variable:",
        "pipeline:",
        "\"two\\nlines\":",
        "'':",
    ];
    let variables = "  variables:
    a: {metadata: {scope: COPIED}}
    'a \"b\" c': {metadata: {scope: COPIED}}
    COPIED: {metadata: {scope: COPIED}}
";
    let rules = ALL_RULES
        .replace("'.*'", "'x'")
        .replace("maxComponents: 10", "maxComponents: 1");
    let rules = RuleSet::parse(rules.as_bytes());
    let mut seen = 0;
    for document in [orchestration(&names), transformation(&names)] {
        let document = document + variables;
        let subjects = Pipeline::parse(document.as_bytes())
            .unwrap()
            .build_subject_index();
        for result in rules.evaluate("x", document.as_bytes()).results {
            for violation in result.violations {
                assert_eq!(
                    subjects.find_subject(&violation.text).map(|named| named.line),
                    violation.line,
                    "{}",
                    violation.text
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen}");
}
