//! The error that ends a run: what failed, the exit status, and a hint how to fix it.
//!
//! Each module has its own errors; `session::failure_conversion` turns them into a [`Failure`]. It shows an error chain
//! so that each layer adds one fact, and the hint comes last.

use crate::exit::ExitStatus;
use sluicegate_base::text;
use std::borrow::Borrow;
use std::fmt::Write as _;

/// A failed run: exit status, chain of causes, details and an optional hint. Each text is one line: a line break in it
/// is part of a name, and becomes a space.
#[derive(Debug)]
pub(crate) struct Failure {
    status: ExitStatus,
    error: anyhow::Error,
    details: Vec<Detail>,
    hint: Option<String>,
    further_hints: Vec<String>,
}

/// A line below a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Detail {
    /// An entry of a list, or a further fact. It is indented.
    Entry(String),
    /// A violation that the platform reports.
    Violation(String),
}

impl Detail {
    fn text(&self) -> &str {
        match self {
            Self::Entry(text) | Self::Violation(text) => text,
        }
    }
}

/// Renders details as lines, each after a line break. No other function adds lines to a message. Safe to print.
pub(crate) fn render_details(details: &[Detail]) -> String {
    let mut lines = String::new();
    for detail in details {
        let mark = match detail {
            Detail::Entry(_) => "  ",
            Detail::Violation(_) => "- ",
        };
        let _ = write!(lines, "\n{mark}{}", text::escape_line(detail.text()));
    }
    lines
}

impl Failure {
    /// Creates a failure with this status; `error` may carry a chain of causes.
    pub(crate) fn new(status: ExitStatus, error: impl Into<anyhow::Error>) -> Self {
        Self {
            status,
            error: error.into(),
            details: Vec::new(),
            hint: None,
            further_hints: Vec::new(),
        }
    }

    /// Creates a failure with this status and message.
    pub(crate) fn from_message(status: ExitStatus, message: impl Into<String>) -> Self {
        Self::new(status, anyhow::Error::msg(message.into()))
    }

    /// Creates a failure for wrong usage or configuration (exit code 2).
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::from_message(ExitStatus::Usage, message)
    }

    /// Adds an indented line for each of the texts below the message and its causes.
    #[must_use]
    pub(crate) fn with_entries(mut self, texts: impl IntoIterator<Item = String>) -> Self {
        self.details.extend(texts.into_iter().map(Detail::Entry));
        self
    }

    /// Adds these lines below the message and its causes.
    #[must_use]
    pub(crate) fn with_details(mut self, details: impl IntoIterator<Item = Detail>) -> Self {
        self.details.extend(details);
        self
    }

    /// Sets the hint that tells the user how to fix the problem.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets the hints for the problems of a failure with several: each on a line of its own.
    #[must_use]
    pub(crate) fn with_hints(mut self, hints: impl IntoIterator<Item = String>) -> Self {
        let mut hints = hints.into_iter();
        self.hint = hints.next();
        self.further_hints = hints.collect();
        self
    }

    /// Adds a further step after the hint for the cause.
    #[must_use]
    pub(crate) fn with_further_hint(self, step: &str) -> Self {
        let hint = match self.own_hint() {
            Some(hint) => format!("{hint}; {step}"),
            None => step.to_owned(),
        };
        self.with_hint(hint)
    }

    /// Replaces the exit status.
    #[must_use]
    pub(crate) fn with_status(mut self, status: ExitStatus) -> Self {
        self.status = status;
        self
    }

    /// Adds a fact in front of the error, which becomes the cause of this fact.
    #[must_use]
    pub(crate) fn context(mut self, fact: impl Into<String>) -> Self {
        self.error = self.error.context(fact.into());
        self
    }

    /// Returns the exit status of a run that ends with this failure.
    pub(crate) const fn status(&self) -> ExitStatus {
        self.status
    }

    /// Returns the error with its causes and details on one line. The text is not escaped; the caller must make it safe
    /// to show.
    pub(crate) fn describe_on_one_line(&self) -> String {
        let details: Vec<&str> = self.details.iter().map(Detail::text).collect();
        join_details(&format!("{:#}", self.error), &details)
    }

    /// Returns the error with its causes and its own hints on one line, for a note. The text is not escaped.
    pub(crate) fn to_note(&self) -> String {
        let hints: Vec<&str> = self
            .hint
            .iter()
            .chain(&self.further_hints)
            .map(String::as_str)
            .collect();
        let hint = (!hints.is_empty()).then(|| hints.join("; "));
        text::format_note(&self.describe_on_one_line(), hint.as_deref())
    }

    /// Returns the hint, or `None` if only the general hint of the status applies.
    pub(crate) fn own_hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the human-readable text: the message, its causes, the details, then `hint:`. Safe to print.
    pub(crate) fn describe(&self) -> String {
        let mut text = text::escape_line(&self.error.to_string());
        for cause in self.error.chain().skip(1) {
            let _ = write!(text, "\n  caused by: {}", text::escape_line(&cause.to_string()));
        }
        text.push_str(&render_details(&self.details));
        if let Some(hint) = self.own_hint().or_else(|| general_hint(self.status)) {
            let _ = write!(text, "\nhint: {}", text::escape_line(hint));
            for further_hint in &self.further_hints {
                let _ = write!(text, "\n  {}", text::escape_line(further_hint));
            }
        }
        text
    }
}

/// Returns the message of an error with its details on one line. A message that introduces details may end with a colon.
pub(crate) fn join_details(message: &str, details: &[impl Borrow<str>]) -> String {
    if details.is_empty() {
        return message.to_owned();
    }
    format!("{}: {}", message.trim_end_matches(':'), details.join("; "))
}

/// Returns the default hint for a failure of this status, if one applies to all its causes.
const fn general_hint(status: ExitStatus) -> Option<&'static str> {
    Some(match status {
        ExitStatus::Undecided => {
            "run the command again; `sluicegate doctor` checks the connection and the setup"
        }
        ExitStatus::Denied => "check the token and its account role, for example with `sluicegate doctor`",
        ExitStatus::AlreadyExists => "choose another name, or keep the existing resource",
        ExitStatus::Context => {
            "run `sluicegate context` to see what was detected about this job and its repository"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_has_the_hints_of_every_problem() {
        let failure = Failure::usage("no platform");
        assert_eq!(failure.to_note(), "no platform");
        let failure = failure.with_hints(["set A".to_owned(), "set B".to_owned()]);
        assert_eq!(
            failure.to_note(),
            text::format_note("no platform", Some("set A; set B"))
        );
    }

    #[test]
    fn hint_is_last_and_escapes_are_text() {
        let cause = anyhow::anyhow!("the server said: \u{1b}[2J").context("GET /v1/x failed");
        let failure = Failure::new(ExitStatus::Undecided, cause).with_hint("try again");
        insta::assert_snapshot!(failure.describe(), @r"
        GET /v1/x failed
          caused by: the server said: \u{1b}[2J
        hint: try again
        ");
        assert_eq!(failure.status(), ExitStatus::Undecided);
    }
}
