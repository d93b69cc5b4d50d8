//! The limit of known findings (`--max-known`), which may only decrease.

use super::Report;

/// Returns the message if there are more known findings than the limit.
pub fn too_many(known: usize, most: usize) -> String {
    format!(
        "{} known, but the limit is {most} (--max-known): fix or waive existing findings",
        are(known)
    )
}

/// Returns the message if there are fewer known findings than the limit.
pub fn can_be_lower(known: usize, most: usize) -> String {
    format!(
        "{} known, but the limit is {most}: set --max-known to {known}, so that fixed findings cannot return",
        are(known)
    )
}

fn are(known: usize) -> String {
    match known {
        1 => "1 finding is".to_owned(),
        known => format!("{known} findings are"),
    }
}

impl Report {
    /// Returns the message if there are more known findings than the limit, otherwise `None`.
    pub fn too_many_known(&self) -> Option<String> {
        let (known, most) = (self.totals().known?, self.context.max_known?);
        (known > most).then(|| too_many(known, most))
    }

    /// Returns the note about the number of known findings, or `None` if it equals the limit.
    pub(crate) fn known_told(&self) -> Option<String> {
        let (known, most) = (self.totals().known?, self.context.max_known?);
        self.too_many_known()
            .or_else(|| (known < most).then(|| can_be_lower(known, most)))
    }

    /// Removes the note about the number of known findings, before that number changes.
    pub fn forget_known(&mut self) {
        if let Some(told) = self.known_told() {
            self.notes.retain(|note| *note != told);
        }
    }
}
