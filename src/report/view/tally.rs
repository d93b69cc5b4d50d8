//! Counts findings of each tone, by rule or by directory.

use crate::report::tone::Tone;
use sluicegate_pipelines::findings::Finding;
use std::collections::{BTreeMap, BTreeSet};

/// The number of findings of each tone.
#[derive(Debug, Clone, Default)]
pub(in crate::report) struct Tally<'a> {
    findings: [usize; Tone::ALL.len()],
    /// The files of the findings that count, by tone.
    files: [BTreeSet<&'a str>; Tone::ALL.len()],
}

/// A rule or directory with its numbers of findings.
pub(in crate::report) type Tallied<'a> = (&'a str, Tally<'a>);

impl<'a> Tally<'a> {
    fn add(&mut self, finding: &Finding<'a>) {
        let tone = Tone::of(finding);
        self.findings[tone as usize] += 1;
        if tone != Tone::Old {
            self.files[tone as usize].insert(finding.path);
        }
    }

    pub(in crate::report) fn of<'f>(findings: impl IntoIterator<Item = &'f Finding<'a>>) -> Self
    where
        'a: 'f,
    {
        let mut tally = Self::default();
        findings.into_iter().for_each(|finding| tally.add(finding));
        tally
    }

    pub(in crate::report) fn total(&self) -> usize {
        self.findings.iter().sum()
    }

    pub(in crate::report) const fn number(&self, tone: Tone) -> usize {
        self.findings[tone as usize]
    }

    /// Returns a sort key that is greater for worse findings.
    pub(super) const fn weight(&self) -> [usize; Tone::ALL.len()] {
        self.findings
    }

    /// Returns the tones that have findings, each with their number.
    pub(in crate::report) fn parts(&self) -> impl Iterator<Item = (Tone, usize)> {
        let all = Tone::ALL.into_iter().zip(self.findings);
        all.filter(|(_, number)| *number > 0)
    }

    /// Returns the number of findings that count.
    pub(super) fn counting(&self) -> usize {
        self.total() - self.number(Tone::Old)
    }

    /// Returns the number of files with counting findings of this tone.
    pub(super) fn files_of(&self, tone: Tone) -> usize {
        self.files[tone as usize].len()
    }

    /// Returns the number of files with counting findings.
    pub(super) fn files(&self) -> usize {
        self.files.iter().flatten().collect::<BTreeSet<_>>().len()
    }
}

/// Counts the findings by the name that `kind` returns.
pub(super) fn tallies<'a>(
    findings: &[Finding<'a>],
    kind: impl Fn(&Finding<'a>) -> &'a str,
) -> Vec<Tallied<'a>> {
    let mut found: BTreeMap<&str, Tally<'a>> = BTreeMap::new();
    for finding in findings {
        found.entry(kind(finding)).or_default().add(finding);
    }
    found.into_iter().collect()
}
