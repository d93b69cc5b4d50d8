//! One check of `doctor`: its result and its output.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::session::response_output;
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};
use sluicegate_base::text;
use sluicegate_base::text::format_count;
use sluicegate_base::text::wrap;
use std::fmt::Write as _;

/// Number of columns before the result.
const INDENT: usize = 26;

/// Hint for a failure without a specific hint.
const GENERAL_HINT: &str = "fix this problem and run `sluicegate doctor` again";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckState {
    Ok,
    Failed(ExitStatus),
    NotApplicable,
}

/// A requirement that `doctor` checks.
#[derive(Debug)]
pub(crate) struct Check {
    name: &'static str,
    state: CheckState,
    result: String,
    hint: Option<String>,
}

/// The result of a check without a problem.
pub(crate) enum CheckOutcome {
    Ok(String),
    /// The check is not needed, or its result is unknown.
    NotApplicable(String),
}

impl Check {
    /// Creates the line of `doctor` for a check with this outcome. A failure becomes a failed check, with its hint.
    pub(crate) fn new(name: &'static str, outcome: Result<CheckOutcome, Failure>) -> Self {
        match outcome {
            Ok(CheckOutcome::Ok(result)) => Self::with_state(name, CheckState::Ok, result),
            Ok(CheckOutcome::NotApplicable(reason)) => {
                Self::with_state(name, CheckState::NotApplicable, reason)
            }
            Err(failure) => Self::from_failure(name, &failure),
        }
    }

    /// Creates a failed check. Its hint is that of the failure, or a general one.
    pub(crate) fn from_failure(name: &'static str, failure: &Failure) -> Self {
        Self {
            hint: Some(failure.own_hint().unwrap_or(GENERAL_HINT).to_owned()),
            ..Self::with_state(
                name,
                CheckState::Failed(failure.status()),
                failure.describe_on_one_line(),
            )
        }
    }

    /// Creates a successful check with its result.
    pub(crate) fn success(name: &'static str, result: impl Into<String>) -> Self {
        Self::with_state(name, CheckState::Ok, result.into())
    }

    /// Creates a check that is not needed here, or whose result cannot be determined.
    pub(crate) fn not_applicable(name: &'static str, reason: impl Into<String>) -> Self {
        Self::with_state(name, CheckState::NotApplicable, reason.into())
    }

    /// Returns the check with this hint.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Creates a check in this state, without a hint.
    const fn with_state(name: &'static str, state: CheckState, result: String) -> Self {
        Self {
            name,
            state,
            result,
            hint: None,
        }
    }

    pub(crate) const fn is_ok(&self) -> bool {
        matches!(self.state, CheckState::Ok)
    }

    const fn is_failed(&self) -> bool {
        matches!(self.state, CheckState::Failed(_))
    }

    /// Returns the exit status that this check alone would cause.
    pub(crate) const fn status(&self) -> ExitStatus {
        match self.state {
            CheckState::Failed(status) => status,
            CheckState::Ok | CheckState::NotApplicable => ExitStatus::Success,
        }
    }

    /// Returns the name of the state in the JSON document.
    const fn state_name(&self) -> &'static str {
        match self.state {
            CheckState::Ok => "ok",
            CheckState::Failed(_) => "failed",
            CheckState::NotApplicable => "not-applicable",
        }
    }
}

/// Returns whether the list already has an entry for the check with this name.
pub(crate) fn contains_check(checks: &[Check], name: &str) -> bool {
    checks.iter().any(|check| check.name == name)
}

/// Adds an entry for each check in `names` that has none, because an earlier failure prevented it.
pub(crate) fn add_skipped_checks(checks: &mut Vec<Check>, names: &[&'static str]) {
    for name in names {
        if !contains_check(checks, name) {
            checks.push(Check::not_applicable(
                name,
                "not checked because of a failure above",
            ));
        }
    }
}

/// Renders the checks as JSON in the schema `sluicegate.doctor/v1`, which is part of the public contract.
pub(crate) fn render_json(checks: &[Check]) -> String {
    let entries = checks.iter().map(|check| {
        json!({ "check": check.name, "status": check.state_name(), "found": check.result, "hint": check.hint })
    });
    response_output::format_json(&json!({
        "schema": "sluicegate.doctor/v1",
        "ok": count_failed_checks(checks) == 0,
        "checks": entries.collect::<Vec<Value>>(),
    }))
}

/// Renders the checks as text: one line per check, its hint below, and a summary. `width` is that of the terminal, if
/// there is one.
pub(crate) fn render_text(checks: &[Check], is_colored: bool, width: Option<usize>) -> String {
    let mut text = String::new();
    for check in checks {
        let (state_name, state_style) = match check.state {
            CheckState::Ok => ("ok", AnsiColor::Green.on_default()),
            CheckState::Failed(_) => ("failed", AnsiColor::Red.on_default().bold()),
            CheckState::NotApplicable => ("-", Style::new()),
        };
        let style = if is_colored { state_style } else { Style::new() };
        let prefix = format!("{state_name:<6}  {:<16}  ", check.name);
        let mut lines = wrap_with_prefix(&prefix, &check.result, width);
        // The color is added after wrapping, because its codes take no space in the terminal.
        if let Some(first_line) = lines.first_mut() {
            *first_line = first_line.replacen(state_name, &format!("{style}{state_name}{style:#}"), 1);
        }
        let hints = check.hint.iter().map(|hint| format!("hint: {hint}"));
        lines.extend(hints.flat_map(|hint| wrap_with_prefix(&" ".repeat(INDENT), &hint, width)));
        for line in lines {
            let _ = writeln!(text, "{line}");
        }
    }
    let _ = match count_failed_checks(checks) {
        0 => writeln!(text, "\nall checks passed"),
        failed_count => writeln!(text, "\n{} failed", format_count(failed_count, "check")),
    };
    text
}

/// Describes the failed checks for a CI host: a summary, a line for each check, and their hints, each once. `None` if
/// no check failed.
pub(crate) fn describe_failed_checks(checks: &[Check]) -> Option<String> {
    let failed_count = count_failed_checks(checks);
    if failed_count == 0 {
        return None;
    }
    let mut lines = vec![format!("{} failed:", format_count(failed_count, "check"))];
    let mut hint_lines = Vec::new();
    for check in checks.iter().filter(|check| check.is_failed()) {
        lines.push(format!("  {}: {}", check.name, text::escape_line(&check.result)));
        let hint_line = check
            .hint
            .as_ref()
            .map(|hint| format!("hint: {}", text::escape_line(hint)));
        hint_lines.extend(hint_line.filter(|line| !hint_lines.contains(line)));
    }
    lines.append(&mut hint_lines);
    Some(lines.join("\n"))
}

/// Wraps the text into lines that fit the terminal. The first line begins with `prefix`, the others with an indentation
/// of the same width.
fn wrap_with_prefix(prefix: &str, text: &str, width: Option<usize>) -> Vec<String> {
    wrap::wrap_lines(
        &text::escape_line(text),
        prefix,
        &" ".repeat(INDENT),
        width.unwrap_or(usize::MAX),
    )
}

/// Returns the number of failed checks.
fn count_failed_checks(checks: &[Check]) -> usize {
    checks.iter().filter(|check| check.is_failed()).count()
}
