//! The error that ends a run: what failed, the exit status, and a hint how to fix it.
//!
//! Each module has its own errors; `session::failure_conversion` turns them into a [`Failure`]. It shows an error chain
//! so that each layer adds one fact, and the hint comes last.

use crate::exit::ExitStatus;
use sluicegate_base::text;
use std::fmt::Write as _;

/// A failed run: exit status, chain of causes, and an optional hint.
#[derive(Debug)]
pub(crate) struct Failure {
    status: ExitStatus,
    error: anyhow::Error,
    hint: Option<String>,
}

impl Failure {
    /// Creates a failure with this status; `error` may carry a chain of causes.
    pub(crate) fn new(status: ExitStatus, error: impl Into<anyhow::Error>) -> Self {
        Self {
            status,
            error: error.into(),
            hint: None,
        }
    }

    /// Creates a failure for wrong usage or configuration (exit code 2).
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitStatus::Usage, anyhow::Error::msg(message.into()))
    }

    /// Sets the hint that tells the user how to fix the problem.
    #[must_use]
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
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

    /// Returns the error and its causes on one line. The text is not escaped; the caller must make it safe to show.
    pub(crate) fn describe_on_one_line(&self) -> String {
        format!("{:#}", self.error)
    }

    /// Returns the error with its causes and its own hint on one line, for a note. The text is not escaped.
    pub(crate) fn to_note(&self) -> String {
        text::format_note(&self.describe_on_one_line(), self.own_hint())
    }

    /// Returns the hint, or `None` if only the general hint of the status applies.
    pub(crate) fn own_hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the human-readable text: `error:`, the causes, then `hint:`. Safe to print.
    pub(crate) fn render(&self) -> String {
        format!("error: {}\n", self.describe())
    }

    /// Returns the text of [`Self::render`] without `error:` and the last line break, for use in a warning.
    pub(crate) fn describe(&self) -> String {
        let mut text = text::escape_message(&self.error.to_string()) + "\n";
        for cause in self.error.chain().skip(1) {
            let _ = writeln!(text, "  caused by: {}", text::escape_message(&cause.to_string()));
        }
        match self.own_hint().or_else(|| general_hint(self.status)) {
            Some(hint) => {
                let _ = write!(text, "hint: {}", text::escape_message(hint));
            }
            None => text.truncate(text.trim_end().len()),
        }
        text
    }
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
    fn hint_is_last_and_escapes_are_text() {
        let cause = anyhow::anyhow!("the server said: \u{1b}[2J").context("GET /v1/x failed");
        let failure = Failure::new(ExitStatus::Undecided, cause).with_hint("try again");
        insta::assert_snapshot!(failure.render(), @r"
        error: GET /v1/x failed
          caused by: the server said: \u{1b}[2J
        hint: try again
        ");
        assert_eq!(failure.status(), ExitStatus::Undecided);
    }
}
