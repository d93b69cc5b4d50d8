//! Texts that explain how to fix a finding and where to read about it, for programs that read the JSON report.

use crate::ReportContext;
use sluicegate_pipelines::findings::{RuleResult, Status};

/// Returns advice on how to fix the findings of a result; `None` if the rule passed or is unknown, or if the reason for
/// an evaluation error is neither in the pipeline nor in the rules file.
pub(super) fn describe_fix(result: &RuleResult, context: &ReportContext) -> Option<String> {
    let advice = match &result.status {
        Status::Failed(_) => return context.find_rule(&result.rule).map(|rule| rule.fix.clone()),
        Status::Error(_) if result.status.is_unreadable() => {
            "Fix the YAML at this line, and check the pipeline again."
        }
        // The only evaluation error that can be known or waived is a missing Start component.
        Status::Error(_) if result.status.is_excusable() => {
            "Add a Start component, and connect it to the first component."
        }
        Status::Error(_) => {
            // The path of the file has no effect on the kind of error.
            let findings = result.findings("");
            let finding = findings.iter().find(|finding| finding.is_rules_file_error())?;
            return Some(format!(
                "To fix the problem, {}.",
                context.rules_file_hint(finding)
            ));
        }
        Status::Passed => return None,
    };
    Some(advice.to_owned())
}

/// Returns the command that explains the rule; `None` if the rule passed or is unknown.
pub(super) fn documentation_command(result: &RuleResult, context: &ReportContext) -> Option<String> {
    let rule_text = context
        .find_rule(&result.rule)
        .filter(|_| result.status != Status::Passed)?;
    Some(format!("sluicegate rules explain {}", rule_text.id))
}
