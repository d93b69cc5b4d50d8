//! Short ways to write rules files and pipelines, and to ask for one rule's answer.

use sluicegate::model::findings::{RuleResult, Status};
use sluicegate::model::rules::RuleSet;

/// The eight rules as the platform ships them, but for the level.
pub const ALL_RULES: &str = "\
rules:
- { id: minimum-components, enabled: true, enforcementLevel: error, config: { minComponents: 1 } }
- { id: maximum-components, enabled: true, enforcementLevel: error, config: { maxComponents: 10 } }
- { id: component-naming-convention, enabled: true, enforcementLevel: error, config: { regexMatchPattern: '.*' } }
- { id: unused-components, enabled: true, enforcementLevel: error }
- { id: copied-variables, enabled: true, enforcementLevel: error }
- { id: start-and-end-components, enabled: true, enforcementLevel: error }
- { id: maximum-outputs, enabled: true, enforcementLevel: error, config: { maxOutputs: 1 } }
- { id: end-output-components, enabled: true, enforcementLevel: error }
";

/// An orchestration with these components, one on a line; the first stands on line 4.
pub fn orchestration(components: &[&str]) -> String {
    pipeline("orchestration", components)
}

/// A transformation with these components, one on a line; the first stands on line 4.
pub fn transformation(components: &[&str]) -> String {
    pipeline("transformation", components)
}

fn pipeline(kind: &str, components: &[&str]) -> String {
    let lines: Vec<String> = components.iter().map(|line| format!("    {line}\n")).collect();
    let none = if components.is_empty() { " {}" } else { "" };
    format!("type: {kind}\npipeline:\n  components:{none}\n{}", lines.concat())
}

/// A rules file with one enabled rule of error enforcement; `config` is empty or its content.
pub fn one_rule(id: &str, config: &str) -> RuleSet {
    let config = if config.is_empty() {
        String::new()
    } else {
        format!("\n  config: {{ {config} }}")
    };
    RuleSet::parse(
        format!("rules:\n- id: {id}\n  enabled: true\n  enforcementLevel: error{config}\n").as_bytes(),
    )
}

/// The one result that a rules file of one rule gives.
pub fn only(rules: &RuleSet, document: &str) -> RuleResult {
    let results = rules.evaluate("x.orch.yaml", document.as_bytes()).results;
    let [result] = results.as_slice() else {
        panic!("one result expected, not {results:?}, of\n{document}");
    };
    result.clone()
}

/// The lines of the violations of one rule, 0 for those without; panics if the rule was not evaluated.
pub fn lines(id: &str, config: &str, document: &str) -> Vec<u32> {
    let result = only(&one_rule(id, config), document);
    match result.status {
        Status::Passed => assert!(result.violations.is_empty()),
        Status::Failed(_) => assert!(!result.violations.is_empty()),
        Status::Error(error) => panic!("{error:?}: {:?} of\n{document}", result.violations),
    }
    result.violations.iter().map(|v| v.line.unwrap_or(0)).collect()
}

/// The texts of the violations of one rule, one on a line.
pub fn texts(id: &str, config: &str, document: &str) -> String {
    let result = only(&one_rule(id, config), document);
    let texts: Vec<String> = result.violations.into_iter().map(|v| v.text).collect();
    texts.join("\n")
}

/// The error type of a result; `PASSED` or `FAILED` for one without.
pub fn outcome(result: &RuleResult) -> &str {
    match &result.status {
        Status::Error(error) => error.as_deref().unwrap(),
        other => other.name(),
    }
}
