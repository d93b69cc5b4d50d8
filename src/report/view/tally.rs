//! How many findings there are of each tone, by rule or by folder.

use crate::model::findings::Finding;
use crate::report::tone::Tone;
use std::collections::{BTreeMap, BTreeSet};

/// How many findings there are of each tone.
#[derive(Debug, Clone, Default)]
pub(in crate::report) struct Tally<'a> {
    findings: [usize; Tone::ALL.len()],
    /// The files of the findings that count, by tone.
    files: [BTreeSet<&'a str>; Tone::ALL.len()],
}

/// A rule or folder, and what is found of it.
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

    /// By it what has worse findings is greater.
    pub(super) const fn weight(&self) -> [usize; Tone::ALL.len()] {
        self.findings
    }

    /// The tones that there are, each with its number.
    pub(in crate::report) fn parts(&self) -> impl Iterator<Item = (Tone, usize)> {
        let all = Tone::ALL.into_iter().zip(self.findings);
        all.filter(|(_, number)| *number > 0)
    }

    /// The number of findings that count.
    pub(super) fn counting(&self) -> usize {
        self.total() - self.number(Tone::Old)
    }

    /// The files with findings of this tone that count.
    pub(super) fn files_of(&self, tone: Tone) -> usize {
        self.files[tone as usize].len()
    }

    /// The files with findings that count.
    pub(super) fn files(&self) -> usize {
        self.files.iter().flatten().collect::<BTreeSet<_>>().len()
    }
}

/// How much there is of each kind, by name.
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
