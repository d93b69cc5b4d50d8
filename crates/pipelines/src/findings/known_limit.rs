//! The limit of known findings (`--max-known`), which may only decrease.

use super::Report;

/// Returns the message that there are more known findings than the limit.
pub fn describe_too_many_known(known_count: usize, max_known: usize) -> String {
    format!(
        "{} known, but the limit is {max_known} (--max-known): fix or waive existing findings",
        format_known_count(known_count)
    )
}

/// Returns the message that there are fewer known findings than the limit, which should be lowered.
pub fn describe_lower_limit(known_count: usize, max_known: usize) -> String {
    format!(
        "{} known, but the limit is {max_known}: set --max-known to {known_count}, so that fixed findings cannot return",
        format_known_count(known_count)
    )
}

/// Returns the number of known findings as the beginning of a sentence.
fn format_known_count(known_count: usize) -> String {
    match known_count {
        1 => "1 finding is".to_owned(),
        _ => format!("{known_count} findings are"),
    }
}

impl Report {
    /// Returns the message if there are more known findings than the limit, otherwise `None`.
    pub fn check_known_limit(&self) -> Option<String> {
        let (known_count, max_known) = (self.totals().known?, self.context.max_known?);
        (known_count > max_known).then(|| describe_too_many_known(known_count, max_known))
    }

    /// Returns the note about the number of known findings; `None` if the number equals the limit, or without a limit.
    pub(crate) fn known_limit_note(&self) -> Option<String> {
        let (known_count, max_known) = (self.totals().known?, self.context.max_known?);
        self.check_known_limit()
            .or_else(|| (known_count < max_known).then(|| describe_lower_limit(known_count, max_known)))
    }

    /// Removes the note about the number of known findings, before that number changes.
    pub fn remove_known_limit_note(&mut self) {
        if let Some(known_limit_note) = self.known_limit_note() {
            self.notes.retain(|note| *note != known_limit_note);
        }
    }
}
