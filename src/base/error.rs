//! The error at the program's edge: what failed, the exit status it means, and what to do about it.
//!
//! Rooms have errors of their own; `commands` turns them into a [`Failure`], which knows how a chain is shown: each
//! layer adds one fact, and the hint comes last, from one place.

use crate::base::exit::ExitStatus;
use crate::base::text;
use std::fmt::Write as _;

/// A failed run: its status, the chain of causes, and perhaps a hint.
#[derive(Debug)]
pub(crate) struct Failure {
    status: ExitStatus,
    error: anyhow::Error,
    hint: Option<String>,
}

impl Failure {
    /// A failure with this status; `error` may carry a chain of causes.
    pub(crate) fn new(status: ExitStatus, error: impl Into<anyhow::Error>) -> Self {
        Self {
            status,
            error: error.into(),
            hint: None,
        }
    }

    /// Wrong usage or configuration (exit 2), said in one sentence.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ExitStatus::Usage, anyhow::Error::msg(message.into()))
    }

    /// The same failure with what to do about it.
    #[must_use]
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure with one more fact in front.
    #[must_use]
    pub(crate) fn context(mut self, fact: impl Into<String>) -> Self {
        self.error = self.error.context(fact.into());
        self
    }

    /// The exit status that the failure means.
    pub(crate) const fn status(&self) -> ExitStatus {
        self.status
    }

    /// What failed and why, in one line; as it came, so whoever shows it makes it safe.
    pub(crate) fn chain(&self) -> String {
        format!("{:#}", self.error)
    }

    /// What to do about it, as far as whoever failed knows.
    pub(crate) fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// The text for people: `error:`, then the causes, then the `hint:`; safe to print.
    pub(crate) fn render(&self) -> String {
        format!("error: {}\n", self.words())
    }

    /// The same without `error:` and the last line break, for a warning.
    pub(crate) fn words(&self) -> String {
        let mut shown = text::block(&self.error.to_string()).into_owned() + "\n";
        for cause in self.error.chain().skip(1) {
            let _ = writeln!(shown, "  caused by: {}", text::block(&cause.to_string()));
        }
        let hint = self.advice().unwrap_or_else(|| general(self.status));
        let _ = write!(shown, "hint: {}", text::block(hint));
        shown
    }
}

/// What to do about a failure of which only the status is known.
const fn general(status: ExitStatus) -> &'static str {
    match status {
        ExitStatus::Usage => "mend what is named above; `--help` behind the command shows what it takes",
        ExitStatus::Undecided => "run it again; `sluicegate doctor` looks for what is in the way",
        ExitStatus::Denied => "check the token and its account role; `sluicegate doctor` does",
        ExitStatus::AlreadyExists => "take another name, or leave it as it is",
        ExitStatus::Context => "`sluicegate context` shows what is known of this job and its repository",
        _ => "mend what is named above and run it again",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_last_and_escapes_are_text() {
        let cause = anyhow::anyhow!("the server said: \u{1b}[2J").context("GET /v1/x failed");
        let failure = Failure::new(ExitStatus::Undecided, cause).hint("try again");
        insta::assert_snapshot!(failure.render(), @r"
        error: GET /v1/x failed
          caused by: the server said: \u{1b}[2J
        hint: try again
        ");
        assert_eq!(failure.status(), ExitStatus::Undecided);
    }
}
