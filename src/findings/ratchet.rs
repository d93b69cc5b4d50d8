//! The number of known findings that a job allows: it may fall, and never grow.

use super::{Report, Verdict};

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

    /// Takes back what is said of too many known findings, to be held again when it is known how many there are.
    pub fn forget_known(&mut self) {
        if let Some(told) = self.too_many_known() {
            self.notes.retain(|note| *note != told);
        }
    }

    /// Fails where more findings are known than the job allows.
    pub fn hold_known(&mut self) {
        if let Some(told) = self.too_many_known() {
            self.verdict = Verdict::Failed;
            self.notes.push(told);
        }
    }
}
