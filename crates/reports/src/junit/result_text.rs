//! Builds the text of a case from a result: first the violations that fail the gate, then those that are known or
//! waived.

use super::MESSAGE_LIMIT;
use crate::truncation;
use sluicegate_base::text::{format_and_more, join_names_within};
use sluicegate_pipelines::findings::{FindingState, NO_ERROR_TYPE, RuleResult, Severity, Status, Violation};
use std::collections::HashSet;

/// A violation and its index in the result.
type NumberedViolation<'a> = (usize, &'a Violation);

/// Splits the violations of a result into those that are neither known nor waived, and the others.
fn split_counted_and_old(result: &RuleResult) -> (Vec<NumberedViolation<'_>>, Vec<NumberedViolation<'_>>) {
    let all = result.violations.iter().enumerate();
    all.partition(|(index, _)| result.is_counted(*index))
}

/// Returns the violations that the case is about: those that are neither known nor waived, or all if every violation is
/// known or waived.
fn select_violations(result: &RuleResult) -> Vec<NumberedViolation<'_>> {
    match split_counted_and_old(result) {
        (counted_violations, old_violations) if counted_violations.is_empty() => old_violations,
        (counted_violations, _) => counted_violations,
    }
}

/// Returns the line of the violation that the short message of the case contains, or 1 if it has no line.
pub(super) fn find_first_violation_line(result: &RuleResult) -> u32 {
    let violations = select_violations(result);
    let first_violation = violations.first();
    first_violation
        .and_then(|(_, violation)| violation.line)
        .unwrap_or(1)
}

/// Maximum length of the names of further violations in a message, in characters.
const MAX_NAMES_LENGTH: usize = 1_000;

/// Builds a line for readers that show only one: the first violation, truncated, and the number and the names of the
/// other violations. A result without violations has the type of its error or a general message.
pub(super) fn build_short_message(result: &RuleResult) -> String {
    let violations = select_violations(result);
    // A result without violations has one finding, whose index is 0.
    let (index, first) = match (&result.status, violations.first()) {
        (_, Some((index, violation))) => (*index, violation.shown_text()),
        (Status::Error(error_type), None) => (0, error_type_name(error_type.as_deref())),
        (_, None) => (0, "the rule is violated"),
    };
    let first = match result.describe_waiver(index) {
        Some(waiver) => format!("{first} ({waiver})"),
        None => first.to_owned(),
    };
    let short = truncation::truncate(&first, MESSAGE_LIMIT);
    match violations.split_first() {
        Some((_, further_violations)) if !further_violations.is_empty() => {
            format!("{short} ({})", describe_further_violations(further_violations))
        }
        _ => short,
    }
}

/// Returns the number of violations as `and 3 more`, followed by the names of the components or variables that they are
/// about. The names are omitted if a violation has none or if they are too long together.
fn describe_further_violations(violations: &[NumberedViolation<'_>]) -> String {
    let count = format_and_more(violations.len());
    let names: Option<Vec<&str>> = violations
        .iter()
        .map(|(_, violation)| violation.about.as_deref())
        .collect();
    match names.and_then(|names| join_names_within(&names, MAX_NAMES_LENGTH)) {
        Some(name_list) => format!("{count}: {name_list}"),
        None => count,
    }
}

/// Builds the complete text of a result: a line for each violation, known and waived ones last. The first violation has
/// the path and the line number, the others only the number. Before them, an evaluation error has a line with its type,
/// and a failed result without violations has a general line.
pub(super) fn build_full_text(result: &RuleResult, path: &str) -> String {
    let mut lines = Vec::new();
    if let Status::Error(error_type) = &result.status {
        lines.push(format!(
            "the rule could not be evaluated: {}",
            error_type_name(error_type.as_deref())
        ));
    } else if result.violations.is_empty() {
        lines.push("the rule is violated".to_owned());
    }
    // If all violations have the same state, the case already states it, so the lines do not repeat it.
    let has_mixed_states = collect_distinct_states(result).len() > 1;
    let (counted_violations, old_violations) = split_counted_and_old(result);
    let sorted_violations = counted_violations.into_iter().chain(old_violations);
    for (position, (index, violation)) in sorted_violations.enumerate() {
        let line = violation.line.unwrap_or(1);
        let place = if position == 0 {
            format!("{path}:{line}")
        } else {
            format!("line {line}")
        };
        let prefix = if has_mixed_states {
            state_prefix(result.state(index))
        } else {
            ""
        };
        let waiver = match result.describe_waiver(index) {
            Some(waiver) => format!(" ({waiver})"),
            None => String::new(),
        };
        lines.push(format!("{place}: {prefix}{}{waiver}", violation.shown_text()));
    }
    lines.join("\n")
}

/// Returns the prefix that marks a violation as known or waived; empty for other violations.
const fn state_prefix(state: Option<FindingState>) -> &'static str {
    match state {
        Some(FindingState::Known) => "known: ",
        Some(FindingState::Waived) => "waived: ",
        Some(FindingState::New) | None => "",
    }
}

/// Returns the reason why a result with violations or an error does not fail the gate: all its findings are known or
/// waived, or its status does not fail the gate with the setting `--fail-on`.
pub(super) fn explain_skipped_result(result: &RuleResult) -> &'static str {
    let states = collect_distinct_states(result);
    let has_known = states.contains(&Some(FindingState::Known));
    let has_waived = states.contains(&Some(FindingState::Waived));
    match &result.status {
        _ if result.is_excused() && !has_known => "waived",
        _ if result.is_excused() && !has_waived => "known",
        _ if result.is_excused() => "known or waived",
        Status::Failed(Severity::Warning) => "warning that does not fail the gate",
        _ => "reported only",
    }
}

/// Collects the distinct states of a result's findings. A result without violations has one finding.
fn collect_distinct_states(result: &RuleResult) -> HashSet<Option<FindingState>> {
    (0..result.violations.len().max(1))
        .map(|index| result.state(index))
        .collect()
}

/// Returns the platform's type of an evaluation error, or a placeholder if it has none.
pub(super) fn error_type_name(error_type: Option<&str>) -> &str {
    error_type.unwrap_or(NO_ERROR_TYPE)
}
