//! The documentation of the rules: the reference, and the initial rules file of a project.

use crate::support::{orchestration, transformation};
use sluicegate_pipelines::findings::{Enforcement, Status};
use sluicegate_pipelines::project;
use sluicegate_pipelines::rules::{
    RuleSet, RuleState, lint_rules_file, registry, render_rules_file_template, render_rules_reference,
};
use std::path::Path;

#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "a switch for the person who runs the test"
)]
fn reference_page_equals_documentation_of_rules() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/RULES.md");
    let message = render_rules_reference() + &project::render_project_checks_reference();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &message).unwrap();
    }
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        text == message,
        "docs/RULES.md is not what the rules say: renew it by UPDATE_DOCS=1 cargo test --test rules manual"
    );
}

#[test]
fn new_rules_file_has_each_rule_with_platform_defaults() {
    let file = render_rules_file_template(Enforcement::Warn);
    assert_eq!(lint_rules_file(file.as_bytes()), []);
    let rules = RuleSet::parse(file.as_bytes());
    for rule in registry() {
        let documentation = rule.documentation();
        assert_eq!(
            rules.state(documentation.id),
            RuleState::Enabled(Enforcement::Warn)
        );
        assert!(
            file.contains(&format!("# {}", documentation.summary)),
            "{}",
            documentation.id
        );
    }
    let orchestration = orchestration(&[
        "S: {type: start, transitions: {success: [E]}}",
        "E: {type: end-success}",
    ]);
    let transformation =
        transformation(&["I: {type: table-input}", "O: {type: rewrite-table, sources: [I]}"]);
    for document in [orchestration, transformation] {
        let results = rules.evaluate("x.orch.yaml", document.as_bytes()).results;
        assert!(
            results.iter().all(|result| result.status == Status::Passed),
            "{results:?}"
        );
    }
}

#[test]
fn rules_file_determines_state_of_each_rule() {
    let rules = RuleSet::parse(
        b"rules:
- {id: unused-components, enabled: true, enforcementLevel: error}
- {id: copied-variables, enabled: false}
- {id: maximum-outputs, enabled: true, enforcementLevel: warn}
",
    );
    assert_eq!(
        rules.state("unused-components"),
        RuleState::Enabled(Enforcement::Error)
    );
    assert_eq!(rules.state("copied-variables"), RuleState::Disabled);
    assert_eq!(
        rules.state("maximum-outputs"),
        RuleState::Broken("designer/invalid-rule-configuration")
    );
    assert_eq!(rules.state("minimum-components"), RuleState::Missing);
    assert_eq!(
        RuleSet::parse(b"rules: all").state("minimum-components"),
        RuleState::Unknown
    );
}
