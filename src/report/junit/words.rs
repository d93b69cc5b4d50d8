//! Builds the text of a case from a result: first the violations that fail the gate, then those that are known or
//! waived.

use super::MESSAGE_LIMIT;
use crate::report::shorten;
use sluicegate_base::text::and_more;
use sluicegate_pipelines::findings::{FindingState, NO_ERROR_TYPE, RuleResult, Severity, Status, Violation};
use std::collections::HashSet;

/// A violation and its index in the result.
type NumberedWords<'a> = (usize, &'a Violation);

/// Returns the violations that count, and those that are known or waived.
fn parted(result: &RuleResult) -> (Vec<NumberedWords<'_>>, Vec<NumberedWords<'_>>) {
    let all = result.violations.iter().enumerate();
    all.partition(|(at, _)| result.is_counted(*at))
}

/// Returns the violations that the case is about: those that count, or all if none counts.
fn meant(result: &RuleResult) -> Vec<NumberedWords<'_>> {
    match parted(result) {
        (counting, old) if counting.is_empty() => old,
        (counting, _) => counting,
    }
}

/// Returns the first line that the case is about.
pub(super) fn line(result: &RuleResult) -> u32 {
    let lines = meant(result)
        .into_iter()
        .filter_map(|(_, violation)| violation.line);
    lines.min().unwrap_or(1)
}

/// Returns the first violation, truncated, and the number of further ones.
pub(super) fn message(result: &RuleResult) -> String {
    let meant = meant(result);
    let (at, first) = match (&result.status, meant.first()) {
        (_, Some((at, violation))) => (*at, violation.text.as_str()),
        (Status::Error(told), None) => (0, error_type(told.as_deref())),
        (_, None) => (0, "the rule does not hold"),
    };
    let first = match result.describe_waiver(at) {
        Some(told) => format!("{first} ({told})"),
        None => first.to_owned(),
    };
    let short = shorten::to_chars(&first, MESSAGE_LIMIT);
    match meant.len() {
        0 | 1 => short,
        several => format!("{short} ({})", and_more(several - 1)),
    }
}

/// Returns the complete text of the result, each violation with its place.
pub(super) fn texts(result: &RuleResult, path: &str) -> String {
    let mut lines = Vec::new();
    if let Status::Error(told) = &result.status {
        lines.push(format!(
            "the rule could not be evaluated: {}",
            error_type(told.as_deref())
        ));
    } else if result.violations.is_empty() {
        lines.push("the rule does not hold".to_owned());
    }
    // If all have the same state, the case shows it once.
    let is_mixed = states(result).len() > 1;
    let (counting, old) = parted(result);
    lines.extend(counting.into_iter().chain(old).map(|(at, violation)| {
        let told = result.describe_waiver(at).map(|told| format!(" ({told})"));
        format!(
            "{path}:{}: {}{}{}",
            violation.line.unwrap_or(1),
            if is_mixed { mark(result.state(at)) } else { "" },
            violation.text,
            told.unwrap_or_default()
        )
    }));
    lines.join("\n")
}

/// Returns the prefix of a violation that does not count.
const fn mark(state: Option<FindingState>) -> &'static str {
    match state {
        Some(FindingState::Known) => "known: ",
        Some(FindingState::Waived) => "waived: ",
        Some(FindingState::New) | None => "",
    }
}

/// Returns the reason why a result that did not pass does not fail the gate.
pub(super) fn why_skipped(result: &RuleResult) -> &'static str {
    let states = states(result);
    let all = |of: &[FindingState]| {
        states
            .iter()
            .all(|state| state.is_some_and(|state| of.contains(&state)))
    };
    match &result.status {
        _ if all(&[FindingState::Waived]) => "waived",
        _ if all(&[FindingState::Known]) => "known",
        _ if all(&[FindingState::Known, FindingState::Waived]) => "known or waived",
        Status::Failed(Severity::Warning) => "warning that does not fail the gate",
        _ => "reported only",
    }
}

/// Returns the distinct states of the findings of the result.
fn states(result: &RuleResult) -> HashSet<Option<FindingState>> {
    (0..result.violations.len().max(1))
        .map(|at| result.state(at))
        .collect()
}

/// Returns the type of the evaluation error, or a placeholder.
pub(super) fn error_type(told: Option<&str>) -> &str {
    told.unwrap_or(NO_ERROR_TYPE)
}
