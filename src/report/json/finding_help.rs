//! Texts that explain how to fix a finding and where to read about it, for programs that read the JSON report.

use crate::report::ReportContext;
use sluicegate_pipelines::findings::{RuleResult, Status};

/// Returns how to fix the findings of this result; `None` if there is nothing to fix or the rule is unknown.
pub(super) fn describe_fix(result: &RuleResult, context: &ReportContext) -> Option<String> {
    let fix = match &result.status {
        Status::Failed(_) => return context.find_rule(&result.rule).map(|rule| rule.fix.clone()),
        Status::Error(_) if result.status.is_unreadable() => {
            "Fix the YAML at this line, and check the pipeline again."
        }
        // Of all evaluation errors, only this one is caused by the content of the pipeline.
        Status::Error(_) if result.status.is_excusable() => {
            "Add a Start component, and connect it to the first component."
        }
        Status::Error(_) => {
            let findings = result.findings("");
            let finding = findings.iter().find(|finding| finding.is_rules_file_error())?;
            return Some(format!("To fix it, {}.", context.rules_file_hint(finding)));
        }
        Status::Passed => return None,
    };
    Some(fix.to_owned())
}

/// Returns the command that explains the rule; `None` if the rule passed or is unknown.
pub(super) fn documentation_command(result: &RuleResult, context: &ReportContext) -> Option<String> {
    let rule_text = context
        .find_rule(&result.rule)
        .filter(|_| result.status != Status::Passed)?;
    Some(format!("sluicegate rules explain {}", rule_text.id))
}
