//! Short notations for rules files and pipelines, and helpers to get one rule's result.

use sluicegate_pipelines::findings::{RuleResult, Status};
use sluicegate_pipelines::rules::RuleSet;

/// The eight rules as the platform ships them, except for the level.
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

/// Returns an orchestration with these components, one per line; the first is on line 4.
pub fn orchestration(components: &[&str]) -> String {
    pipeline("orchestration", components)
}

/// Returns a transformation with these components, one per line; the first is on line 4.
pub fn transformation(components: &[&str]) -> String {
    pipeline("transformation", components)
}

fn pipeline(kind: &str, components: &[&str]) -> String {
    let lines: Vec<String> = components.iter().map(|line| format!("    {line}\n")).collect();
    let none = if components.is_empty() { " {}" } else { "" };
    format!("type: {kind}\npipeline:\n  components:{none}\n{}", lines.concat())
}

/// Returns a rules file with one enabled rule with error enforcement; `config` is empty or the rule's configuration.
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

/// Returns the only result of a rules file with one rule.
pub fn single_result(rules: &RuleSet, document: &str) -> RuleResult {
    let results = rules.evaluate("x.orch.yaml", document.as_bytes()).results;
    let [result] = results.as_slice() else {
        panic!("one result expected, not {results:?}, of\n{document}");
    };
    result.clone()
}

/// Returns the lines of one rule's violations, 0 for those without; panics if the rule was not evaluated.
pub fn lines(id: &str, config: &str, document: &str) -> Vec<u32> {
    let result = single_result(&one_rule(id, config), document);
    match result.status {
        Status::Passed => assert!(result.violations.is_empty()),
        Status::Failed(_) => assert!(!result.violations.is_empty()),
        Status::Error(error) => panic!("{error:?}: {:?} of\n{document}", result.violations),
    }
    result.violations.iter().map(|v| v.line.unwrap_or(0)).collect()
}

/// Returns the messages of one rule's violations, one per line.
pub fn texts(id: &str, config: &str, document: &str) -> String {
    let result = single_result(&one_rule(id, config), document);
    let texts: Vec<String> = result.violations.into_iter().map(|v| v.text).collect();
    texts.join("\n")
}

/// Returns the error type of a result, or `PASSED` or `FAILED` if it has none.
pub fn outcome(result: &RuleResult) -> &str {
    match &result.status {
        Status::Error(error) => error.as_deref().unwrap(),
        other => other.name(),
    }
}
