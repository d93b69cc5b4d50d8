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
            return Some(describe_rules_file_fix(context.rules_file_hint(finding)));
        }
        Status::Passed => return None,
    };
    Some(advice.to_owned())
}

/// The text before the instruction in the help of a finding about the rules file; older reports have the second one.
const RULES_FILE_HELP_STARTS: [&str; 2] = ["To fix the problem: ", "To fix the problem, "];

/// Returns the help of a finding about the rules file with this instruction.
fn describe_rules_file_fix(hint: &str) -> String {
    format!("{}{hint}.", RULES_FILE_HELP_STARTS[0])
}

/// Returns the instruction in the help of a finding about the rules file; `None` for another text.
pub(super) fn parse_rules_file_help(help: &str) -> Option<String> {
    let hint = RULES_FILE_HELP_STARTS
        .iter()
        .find_map(|start| help.strip_prefix(start))?;
    Some(hint.strip_suffix('.').unwrap_or(hint).to_owned())
}

/// Returns the command that explains the rule; `None` if the rule passed or is unknown.
pub(super) fn documentation_command(result: &RuleResult, context: &ReportContext) -> Option<String> {
    let rule_text = context
        .find_rule(&result.rule)
        .filter(|_| result.status != Status::Passed)?;
    Some(format!("sluicegate rules explain {}", rule_text.id))
}
