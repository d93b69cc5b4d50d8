//! The limit of known findings (`--max-known`), which may only decrease.

use super::Report;

/// Returns the message that there are more known findings than the limit allows.
pub fn describe_too_many_known(known_count: usize, max_known: usize) -> String {
    format!(
        "{} known, but the limit is {max_known} (--max-known): fix or waive existing findings",
        format_known_count(known_count)
    )
}

/// Returns the message that there are fewer known findings than the limit, which should be lowered.
pub fn suggest_lower_known_limit(known_count: usize, max_known: usize) -> String {
    format!(
        "{} known, but the limit is {max_known}: set --max-known to {known_count}, so that fixed findings cannot return",
        format_known_count(known_count)
    )
}

/// Returns the beginning of a sentence about known findings: `1 finding is` or `3 findings are`.
fn format_known_count(known_count: usize) -> String {
    match known_count {
        1 => "1 finding is".to_owned(),
        _ => format!("{known_count} findings are"),
    }
}

impl Report {
    /// Returns a message if there are more known findings than the limit (`--max-known`) allows. Returns `None` without
    /// a limit, or if the report was not compared with a base.
    pub fn check_known_limit(&self) -> Option<String> {
        let (known_count, max_known) = self.find_exceeded_limit()?;
        Some(describe_too_many_known(known_count, max_known))
    }

    /// Returns the number of known findings and the limit (`--max-known`) if there are more than it allows. Returns
    /// `None` without a limit, or if the report was not compared with a base.
    pub fn find_exceeded_limit(&self) -> Option<(usize, usize)> {
        // The limit is read first: without a limit, the findings need not be counted.
        let (max_known, known_count) = (self.context.max_known?, self.finding_totals().known?);
        (known_count > max_known).then_some((known_count, max_known))
    }

    /// Returns the note that the number of known findings is above or below the limit. Returns `None` if it equals the
    /// limit, or if there is no limit or no comparison.
    pub(crate) fn known_limit_note(&self) -> Option<String> {
        let (known_count, max_known) = (self.finding_totals().known?, self.context.max_known?);
        self.check_known_limit()
            .or_else(|| (known_count < max_known).then(|| suggest_lower_known_limit(known_count, max_known)))
    }

    /// Removes the note about the number of known findings. The caller does this before it changes that number, because
    /// the note is found by its text.
    pub fn remove_known_limit_note(&mut self) {
        if let Some(known_limit_note) = self.known_limit_note() {
            self.notes.retain(|note| *note != known_limit_note);
        }
    }
}
