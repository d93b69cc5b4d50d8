//! Finds equal findings in several files: the page shows the first completely, with all places, and the others briefly.

use crate::report::view::{FileView, FindingKey, finding_key};
use sluicegate_pipelines::findings::Finding;
use std::collections::HashMap;

/// The number of a finding on the page, its path and its line.
pub(super) type OtherPlace<'a> = (usize, &'a str, u32);

/// The places of equal findings, in the order of the page.
pub(super) struct EqualFindings<'a> {
    places: HashMap<FindingKey<'a>, Vec<OtherPlace<'a>>>,
}

impl<'a> EqualFindings<'a> {
    /// Collects the places; the files are in the order of the page, which numbers their findings from 1.
    pub(super) fn collect(files: &[FileView<'_, 'a>]) -> Self {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        let findings = files.iter().flat_map(|file| &file.findings);
        for (number, finding) in (1..).zip(findings) {
            let place = (number, finding.path, finding.line);
            places.entry(finding_key(finding)).or_default().push(place);
        }
        Self { places }
    }

    /// Returns the number of the equal finding that the page shows completely; `None` if it is this one.
    pub(super) fn first_number(&self, finding: &Finding<'a>, number: usize) -> Option<usize> {
        self.places_of(finding)
            .first()
            .map(|(first_number, ..)| *first_number)
            .filter(|first_number| *first_number != number)
    }

    /// Returns the places of equal findings, without the first.
    pub(super) fn other_places(&self, finding: &Finding<'a>) -> &[OtherPlace<'a>] {
        self.places_of(finding).get(1..).unwrap_or_default()
    }

    fn places_of(&self, finding: &Finding<'a>) -> &[OtherPlace<'a>] {
        self.places
            .get(&finding_key(finding))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}
