//! One check of `doctor`: its result and its output.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::session::output;
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
    found: String,
    hint: Option<String>,
}

/// The result of a check without a problem.
pub(crate) enum CheckOutcome {
    Ok(String),
    /// The check is not needed, or its result is unknown.
    NotApplicable(String),
}

impl Check {
    pub(crate) fn new(name: &'static str, outcome: Result<CheckOutcome, Failure>) -> Self {
        match outcome {
            Ok(CheckOutcome::Ok(found)) => Self::ended(name, CheckState::Ok, found),
            Ok(CheckOutcome::NotApplicable(why)) => Self::ended(name, CheckState::NotApplicable, why),
            Err(failure) => Self::failed(name, &failure),
        }
    }

    /// Returns a failed check with the failure's hint.
    pub(crate) fn failed(name: &'static str, failure: &Failure) -> Self {
        Self {
            hint: Some(failure.own_hint().unwrap_or(GENERAL_HINT).to_owned()),
            ..Self::ended(name, CheckState::Failed(failure.status()), failure.chain())
        }
    }

    pub(crate) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self::ended(name, CheckState::Ok, found.into())
    }

    /// Returns a check that is not needed, or whose result is unknown.
    pub(crate) fn not_applicable(name: &'static str, why: impl Into<String>) -> Self {
        Self::ended(name, CheckState::NotApplicable, why.into())
    }

    /// Adds a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    const fn ended(name: &'static str, state: CheckState, found: String) -> Self {
        Self {
            name,
            state,
            found,
            hint: None,
        }
    }

    pub(crate) const fn is_ok(&self) -> bool {
        matches!(self.state, CheckState::Ok)
    }

    /// Returns the exit status of this check.
    pub(crate) const fn status(&self) -> ExitStatus {
        match self.state {
            CheckState::Failed(status) => status,
            CheckState::Ok | CheckState::NotApplicable => ExitStatus::Success,
        }
    }

    const fn word(&self) -> &'static str {
        match self.state {
            CheckState::Ok => "ok",
            CheckState::Failed(_) => "failed",
            CheckState::NotApplicable => "not-applicable",
        }
    }
}

/// Returns whether this check was made.
pub(crate) fn is_there(checks: &[Check], name: &str) -> bool {
    checks.iter().any(|check| check.name == name)
}

/// Adds the checks that were not made because of an earlier failure.
pub(crate) fn leave_rest(checks: &mut Vec<Check>, names: &[&'static str]) {
    for name in names {
        if !is_there(checks, name) {
            checks.push(Check::not_applicable(
                name,
                "not checked because of a failure above",
            ));
        }
    }
}

/// Returns the checks as JSON, schema `sluicegate.doctor/v1`; part of the public contract.
pub(crate) fn as_json(checks: &[Check]) -> String {
    let each = checks.iter().map(|check| {
        json!({ "check": check.name, "status": check.word(), "found": check.found, "hint": check.hint })
    });
    output::json(&json!({
        "schema": "sluicegate.doctor/v1",
        "ok": failed(checks) == 0,
        "checks": each.collect::<Vec<Value>>(),
    }))
}

/// Returns the checks as text: one line per check, its hint below, and a summary.
pub(crate) fn as_text(checks: &[Check], colored: bool, width: Option<usize>) -> String {
    let mut shown = String::new();
    for check in checks {
        let (word, color) = match check.state {
            CheckState::Ok => ("ok", AnsiColor::Green.on_default()),
            CheckState::Failed(_) => ("failed", AnsiColor::Red.on_default().bold()),
            CheckState::NotApplicable => ("-", Style::new()),
        };
        let color = if colored { color } else { Style::new() };
        let start = format!("{word:<6}  {:<16}  ", check.name);
        let mut lines = below(&start, &check.found, width);
        if let Some(first) = lines.first_mut() {
            *first = first.replacen(word, &format!("{color}{word}{color:#}"), 1);
        }
        let hint = check.hint.iter().map(|hint| format!("hint: {hint}"));
        lines.extend(hint.flat_map(|hint| below(&" ".repeat(INDENT), &hint, width)));
        for line in lines {
            let _ = writeln!(shown, "{line}");
        }
    }
    let _ = match failed(checks) {
        0 => writeln!(shown, "\nall checks passed"),
        failed => writeln!(shown, "\n{} failed", format_count(failed, "check")),
    };
    shown
}

/// Returns the text after `start`, in lines that fit the terminal.
fn below(start: &str, said: &str, width: Option<usize>) -> Vec<String> {
    wrap::wrap_lines(
        &text::escape_line(said),
        start,
        &" ".repeat(INDENT),
        width.unwrap_or(usize::MAX),
    )
}

fn failed(checks: &[Check]) -> usize {
    checks.iter().filter(|check| check.word() == "failed").count()
}
