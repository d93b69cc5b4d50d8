//! The number of known findings that a job allows: it may fall, and never grow.

use super::Report;

/// What is said where more findings are known than the job allows.
pub fn too_many(known: usize, most: usize) -> String {
    format!(
        "{} known, and this job allows {most} (--max-known): mend or waive some of what was there before",
        are(known)
    )
}

/// What is said where fewer are.
pub fn can_be_lower(known: usize, most: usize) -> String {
    format!(
        "{} known and {most} allowed: set --max-known to {known}, so that what is mended cannot come back",
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
    /// What is said where more findings are known than the job allows.
    pub fn too_many_known(&self) -> Option<String> {
        let (known, most) = (self.totals().known?, self.context.max_known?);
        (known > most).then(|| too_many(known, most))
    }

    /// Returns what is said of the number of known findings in the notes; none where it is what the job allows.
    pub fn known_told(&self) -> Option<String> {
        let (known, most) = (self.totals().known?, self.context.max_known?);
        self.too_many_known()
            .or_else(|| (known < most).then(|| can_be_lower(known, most)))
    }

    /// Takes back what is said of the number of known findings, before it changes.
    pub fn forget_known(&mut self) {
        if let Some(told) = self.known_told() {
            self.notes.retain(|note| *note != told);
        }
    }
}
