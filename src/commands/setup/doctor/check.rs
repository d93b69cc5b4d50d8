//! One check: what was found, and how it is shown.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::text;
use crate::base::text::count;
use crate::base::text::wrap;
use crate::commands::kit::output;
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The columns before what was found.
const INDENT: usize = 26;

/// What to do about a failure that has no advice of its own: its words name the place.
const GENERAL_HINT: &str = "correct what is named here, and run `sluicegate doctor` again";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CheckState {
    Ok,
    Failed(ExitStatus),
    NotApplicable,
}

/// One thing that must be in place.
#[derive(Debug)]
pub(super) struct Check {
    name: &'static str,
    state: CheckState,
    found: String,
    hint: Option<String>,
}

/// What a check found where nothing is wrong.
pub(super) enum Found {
    Ok(String),
    /// It is not needed, or cannot be told.
    NotApplicable(String),
}

impl Check {
    pub(super) fn new(name: &'static str, outcome: Result<Found, Failure>) -> Self {
        match outcome {
            Ok(Found::Ok(found)) => Self::ended(name, CheckState::Ok, found),
            Ok(Found::NotApplicable(why)) => Self::ended(name, CheckState::NotApplicable, why),
            Err(failure) => Self::failed(name, &failure),
        }
    }

    /// It is missing or cannot work; the hint is the failure's.
    pub(super) fn failed(name: &'static str, failure: &Failure) -> Self {
        Self {
            hint: Some(failure.advice().unwrap_or(GENERAL_HINT).to_owned()),
            ..Self::ended(name, CheckState::Failed(failure.status()), failure.chain())
        }
    }

    pub(super) fn ok(name: &'static str, found: impl Into<String>) -> Self {
        Self::ended(name, CheckState::Ok, found.into())
    }

    /// It is not needed, or cannot be told.
    pub(super) fn not_applicable(name: &'static str, why: impl Into<String>) -> Self {
        Self::ended(name, CheckState::NotApplicable, why.into())
    }

    /// The same with something to do.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
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

    pub(super) const fn is_ok(&self) -> bool {
        matches!(self.state, CheckState::Ok)
    }

    /// What this check alone makes of the run.
    pub(super) const fn status(&self) -> ExitStatus {
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

/// Whether somebody came to this check.
pub(super) fn is_there(checks: &[Check], name: &str) -> bool {
    checks.iter().any(|check| check.name == name)
}

/// Adds those of these checks that nobody came to.
pub(super) fn leave_rest(checks: &mut Vec<Check>, names: &[&'static str]) {
    for name in names {
        if !is_there(checks, name) {
            checks.push(Check::not_applicable(
                name,
                "not checked, because of what failed above",
            ));
        }
    }
}

/// `sluicegate.doctor/v1`; part of the public contract.
pub(super) fn as_json(checks: &[Check]) -> String {
    let each = checks.iter().map(|check| {
        json!({ "check": check.name, "status": check.word(), "found": check.found, "hint": check.hint })
    });
    output::json(&json!({
        "schema": "sluicegate.doctor/v1",
        "ok": failed(checks) == 0,
        "checks": each.collect::<Vec<Value>>(),
    }))
}

/// A line for each, what to do below it, and the sum of it.
pub(super) fn as_text(checks: &[Check], colored: bool, width: Option<usize>) -> String {
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
        0 => writeln!(shown, "\nnothing is missing"),
        failed => writeln!(shown, "\n{} failed", count(failed, "check")),
    };
    shown
}

/// The text after `start`, in lines that fit the terminal.
fn below(start: &str, said: &str, width: Option<usize>) -> Vec<String> {
    wrap::lines(
        &text::line(said),
        start,
        &" ".repeat(INDENT),
        width.unwrap_or(usize::MAX),
    )
}

fn failed(checks: &[Check]) -> usize {
    checks.iter().filter(|check| check.word() == "failed").count()
}
