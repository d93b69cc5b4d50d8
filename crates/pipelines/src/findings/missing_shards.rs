//! The note that a merged report lacks shards of the review.
//!
//! A report has no field for missing shards, and readers of `sluicegate.report/v2` reject unknown fields. Therefore,
//! only the text of the note shows them.

use super::{Report, Shard};

/// The beginning of the note about several shards, and of every note of earlier versions.
const NOTE_START: &str = "reports of shards are missing: ";

/// The beginning of the note about one shard.
const NOTE_START_FOR_ONE: &str = "the report of a shard is missing: ";

/// Returns the note that names the first shard that is missing in `shards`, and the number of other missing shards.
/// Returns `None` if no shard is missing. `shards` must be sorted and have each shard only once.
pub fn describe_missing_shards(shards: &[Shard]) -> Option<String> {
    let total = shards.first()?.total;
    // The total of a report from a file may be huge, so the search ends at the first missing shard.
    let first_missing_shard = (1..=total)
        .map(|index| Shard { index, total })
        .find(|shard| shards.binary_search(shard).is_err())?;
    let missing_count = (total as usize).saturating_sub(shards.len());
    Some(match missing_count {
        0 | 1 => format!("{NOTE_START_FOR_ONE}{first_missing_shard}"),
        _ => format!("{NOTE_START}{first_missing_shard} and {} more", missing_count - 1),
    })
}

impl Report {
    /// Returns whether the report was merged although reports of some shards were missing. Recognizes this by the note.
    pub fn has_missing_shards(&self) -> bool {
        self.describe_missing_shards().is_some()
    }

    /// Describes the missing shards for a headline: `shard 2/3 is missing`. Returns `None` if no shard is missing.
    pub fn describe_missing_shards(&self) -> Option<String> {
        self.reasons.iter().find_map(|reason| {
            if let Some(shard) = reason.strip_prefix(NOTE_START_FOR_ONE) {
                return Some(format!("shard {shard} is missing"));
            }
            let shards = reason.strip_prefix(NOTE_START)?;
            Some(format!("shards {shards} are missing"))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_names_first_missing_shard_and_number_of_others() {
        let note = |indices: &[u32], total| {
            let shards: Vec<Shard> = indices.iter().map(|&index| Shard { index, total }).collect();
            describe_missing_shards(&shards)
        };
        assert_eq!(note(&[1, 2], 2), None);
        assert_eq!(note(&[], 2), None);
        insta::assert_snapshot!(note(&[1, 3], 3).unwrap(), @"the report of a shard is missing: 2/3");
        insta::assert_snapshot!(note(&[2], u32::MAX).unwrap(), @"reports of shards are missing: 1/4294967295 and 4294967293 more");
    }
}
