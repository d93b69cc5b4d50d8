//! Counts findings of each tone, by rule or by directory.

use crate::finding_tone::Tone;
use sluicegate_pipelines::findings::Finding;
use std::collections::{BTreeMap, BTreeSet};

/// The number of findings of each tone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally<'a> {
    findings: [usize; Tone::ALL.len()],
    /// The files of findings that are neither known nor waived, by tone.
    file_paths: [BTreeSet<&'a str>; Tone::ALL.len()],
}

/// A rule or directory with its numbers of findings.
pub(crate) type NamedTally<'a> = (&'a str, Tally<'a>);

impl<'a> Tally<'a> {
    /// Adds a finding to the counts. Its file is counted once for each tone, unless the finding is known or waived.
    fn add_finding(&mut self, finding: &Finding<'a>) {
        let tone = Tone::for_finding(finding);
        self.findings[tone as usize] += 1;
        if tone != Tone::Old {
            self.file_paths[tone as usize].insert(finding.path);
        }
    }

    pub(crate) fn from_findings<'f>(findings: impl IntoIterator<Item = &'f Finding<'a>>) -> Self
    where
        'a: 'f,
    {
        let mut tally = Self::default();
        findings
            .into_iter()
            .for_each(|finding| tally.add_finding(finding));
        tally
    }

    pub(crate) fn total(&self) -> usize {
        self.findings.iter().sum()
    }

    pub(crate) const fn finding_count(&self, tone: Tone) -> usize {
        self.findings[tone as usize]
    }

    /// Returns a sort key that is greater for worse findings: the numbers of findings by tone, of which the worst tone
    /// is compared first.
    pub(super) const fn severity_sort_key(&self) -> [usize; Tone::ALL.len()] {
        self.findings
    }

    /// Returns the tones that have findings, each with the number of findings.
    pub(crate) fn counts_by_tone(&self) -> impl Iterator<Item = (Tone, usize)> {
        let all = Tone::ALL.into_iter().zip(self.findings);
        all.filter(|(_, number)| *number > 0)
    }

    /// Returns the number of findings that are neither known nor waived.
    pub(super) fn counted_finding_count(&self) -> usize {
        self.total() - self.finding_count(Tone::Old)
    }

    /// Returns the number of files that have findings of this tone; 0 for `Old`, whose files are not counted.
    pub(super) fn file_count_of(&self, tone: Tone) -> usize {
        self.file_paths[tone as usize].len()
    }

    /// Returns the number of files that have findings which are neither known nor waived.
    pub(super) fn file_count(&self) -> usize {
        self.file_paths.iter().flatten().collect::<BTreeSet<_>>().len()
    }
}

/// Counts the findings by the name that `name_of` returns for each, such as its rule or directory.
pub(super) fn tally_by_name<'a>(
    findings: &[Finding<'a>],
    name_of: impl Fn(&Finding<'a>) -> &'a str,
) -> Vec<NamedTally<'a>> {
    let mut tallies: BTreeMap<&str, Tally<'a>> = BTreeMap::new();
    for finding in findings {
        tallies.entry(name_of(finding)).or_default().add_finding(finding);
    }
    tallies.into_iter().collect()
}
