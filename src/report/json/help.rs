//! What to do about a finding, and where to read about it, for programs that cannot follow a page.

use crate::model::findings::{Finding, RuleResult, Status};
use crate::model::project::ProjectCheck;
use crate::model::rules;

/// Returns what to do about the findings of this result; `None` if there is nothing to do, or the rule is not known.
pub(super) fn of(result: &RuleResult) -> Option<String> {
    match &result.status {
        Status::Passed => None,
        Status::Failed(_) => fix(&result.rule).map(str::to_owned),
        Status::Error(_) if result.status.is_unreadable() => {
            Some("Fix the YAML at this line, and check the pipeline again.".to_owned())
        }
        // Of all that keeps a rule from being evaluated, this alone is the pipeline's own content.
        Status::Error(_) if result.status.can_be_old() => {
            Some("Add a Start component, and connect it to the first component.".to_owned())
        }
        Status::Error(_) => {
            Some("Run `sluicegate rules lint` to find what is wrong in the rules file.".to_owned())
                .filter(|_| result.findings("").iter().any(Finding::is_of_the_rules_file))
        }
    }
}

/// Returns the command that explains the rule; `None` if nothing was found, or the rule is not known.
pub(super) fn docs(result: &RuleResult) -> Option<String> {
    let is_found = result.status != Status::Passed;
    let known = fix(&result.rule).filter(|_| is_found);
    known.map(|_| format!("sluicegate rules explain {}", result.rule))
}

fn fix(rule: &str) -> Option<&'static str> {
    let of_rule = rules::find(rule).map(|rule| rule.documentation().fix);
    of_rule.or_else(|| Some(ProjectCheck::find(rule)?.documentation().fix))
}
