//! Finds equal findings in several files: the page shows the first completely, with all places, and the others briefly.

use super::finding_anchors::{AnchoredFinding, FileFindings};
use crate::view::{FindingKey, finding_key};
use std::collections::HashMap;

/// The places of equal findings, in the order in which the page shows them.
pub(super) struct EqualFindings<'v, 'a> {
    places: HashMap<FindingKey<'a>, Vec<&'v AnchoredFinding<'v, 'a>>>,
}

impl<'v, 'a> EqualFindings<'v, 'a> {
    /// Collects the places of equal findings from all files, which must be in the order of the page.
    pub(super) fn collect(files: &'v [FileFindings<'v, 'a>]) -> Self {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        for entry in files.iter().flat_map(|file| &file.findings) {
            places.entry(finding_key(entry.finding)).or_default().push(entry);
        }
        Self { places }
    }

    /// Returns the id of the first equal finding, which the page shows completely; `None` if `entry` is itself the
    /// first.
    pub(super) fn find_first_equal_id(&self, entry: &AnchoredFinding<'_, 'a>) -> Option<&'v str> {
        self.find_equal_findings(entry)
            .first()
            .map(|first| first.id.as_str())
            .filter(|first_id| *first_id != entry.id)
    }

    /// Returns the equal findings that the page shows only as references: all except the first one.
    pub(super) fn other_places(&self, entry: &AnchoredFinding<'_, 'a>) -> &[&'v AnchoredFinding<'v, 'a>] {
        self.find_equal_findings(entry).get(1..).unwrap_or_default()
    }

    /// Returns all findings that are equal to `entry`, including `entry` itself.
    fn find_equal_findings(&self, entry: &AnchoredFinding<'_, 'a>) -> &[&'v AnchoredFinding<'v, 'a>] {
        self.places
            .get(&finding_key(entry.finding))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}
