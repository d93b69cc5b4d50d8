//! A file without a result: the reason, and the instruction that avoids the reason.
//!
//! `sluicegate.report/v2` has one text for both, so they are joined when the report is written, and separated only when
//! a saved report is read.

use std::borrow::Cow;

/// The text between a reason and its instruction.
const INSTRUCTION_SEPARATOR: &str = ". To do: ";

/// The kind of gap in a review. An unavailable platform can only excuse failed requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ReviewGap {
    /// The request for the file failed, so there is no usable response.
    FailedRequest,
    /// The response has no usable result, or the file could not be read. Also the gap of a saved report, which has only
    /// the reason.
    #[default]
    Other,
}

/// A file that should have been reviewed but was not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreviewedFile {
    /// The path from the repository root, with `/`.
    pub path: String,
    /// The reason why there is no result.
    pub reason: String,
    /// The instruction that avoids the reason, without a period; `None` if only a general one can help.
    pub next_step: Option<String>,
    pub gap: ReviewGap,
}

impl UnreviewedFile {
    /// Creates the file of a saved report, whose text contains the reason and possibly an instruction.
    pub fn from_saved_text(path: String, text: &str) -> Self {
        let (reason, next_step) = match text.split_once(INSTRUCTION_SEPARATOR) {
            Some((reason, next_step)) => (reason, Some(next_step.to_owned())),
            None => (text, None),
        };
        Self {
            path,
            reason: reason.to_owned(),
            next_step,
            gap: ReviewGap::Other,
        }
    }

    /// Returns the reason with its instruction, if any.
    pub fn reason_with_step(&self) -> Cow<'_, str> {
        match &self.next_step {
            Some(next_step) => Cow::Owned(format_reason_with_step(&self.reason, next_step)),
            None => Cow::Borrowed(&self.reason),
        }
    }
}

/// Returns a reason with the instruction that avoids it.
pub fn format_reason_with_step(reason: &str, next_step: &str) -> String {
    format!("{reason}{INSTRUCTION_SEPARATOR}{next_step}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn saved_text_with_step_is_separated_and_joined_again() {
        for (text, reason, next_step) in [
            ("hidden. To do: pass --staged", "hidden", Some("pass --staged")),
            ("a. To do: b. To do: c", "a", Some("b. To do: c")),
            ("names `To do: x`", "names `To do: x`", None),
        ] {
            let file = UnreviewedFile::from_saved_text("a".to_owned(), text);
            assert_eq!(file.reason, reason);
            assert_eq!(file.next_step.as_deref(), next_step);
            assert_eq!(file.reason_with_step(), text);
        }
    }
}
