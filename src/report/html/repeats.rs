//! Finds equal findings in several files: the page shows the first completely, with all places, and the others briefly.

use crate::report::view::{FileView, Said, said};
use sluicegate_pipelines::findings::Finding;
use std::collections::HashMap;

/// The number of a finding on the page, its path and its line.
pub(super) type OtherPlace<'a> = (usize, &'a str, u32);

/// The places of equal findings, in the order of the page.
pub(super) struct Repeats<'a> {
    places: HashMap<Said<'a>, Vec<OtherPlace<'a>>>,
}

impl<'a> Repeats<'a> {
    /// Collects the places; the files are in the order of the page, which numbers their findings from 1.
    pub(super) fn of(files: &[FileView<'_, 'a>]) -> Self {
        let mut places: HashMap<_, Vec<_>> = HashMap::new();
        let findings = files.iter().flat_map(|file| &file.findings);
        for (number, finding) in (1..).zip(findings) {
            let place = (number, finding.path, finding.line);
            places.entry(said(finding)).or_default().push(place);
        }
        Self { places }
    }

    /// Returns the number of the equal finding that the page shows completely; `None` if it is this one.
    pub(super) fn first(&self, finding: &Finding<'a>, number: usize) -> Option<usize> {
        let first = self.of_text(finding).first().map(|(first, ..)| *first);
        first.filter(|first| *first != number)
    }

    /// Returns the places of equal findings, without the first.
    pub(super) fn others(&self, finding: &Finding<'a>) -> &[OtherPlace<'a>] {
        self.of_text(finding).get(1..).unwrap_or_default()
    }

    fn of_text(&self, finding: &Finding<'a>) -> &[OtherPlace<'a>] {
        self.places
            .get(&said(finding))
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}
