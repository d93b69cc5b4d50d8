//! Matches waivers with findings: which findings are allowed, and which waivers are still needed.

use super::WaiverEntry;
use crate::findings::{FileResults, Finding, RuleResult, State, Status};
use crate::project::{CheckLevels, ProjectCheck};
use globset::{Error, GlobSet, GlobSetBuilder};
use jiff::civil::Date;
use sluicegate_base::globs::parse_glob;
use std::collections::BTreeMap;

/// Waivers, prepared for matching.
#[derive(Debug)]
pub struct Waivers {
    entries: Vec<WaiverEntry>,
    globs: GlobSet,
}

/// The former names, in the base, of files and components that the change renamed.
#[derive(Debug, Clone, Default)]
pub struct Former {
    /// The path in the base of each renamed file.
    pub paths: BTreeMap<String, String>,
    /// The old name of each renamed component, by the file's path in head and the new name.
    pub components: BTreeMap<String, BTreeMap<String, String>>,
}

/// The existing files, whether or not the run reviewed them.
#[derive(Debug, Clone, Default)]
pub struct There {
    pub pipelines: Vec<String>,
    /// Other files that a waiver matches.
    pub others: Vec<String>,
    /// Whether the run covered all files, so that a waiver for a missing file can be reported.
    pub is_whole: bool,
    /// The checks of the project that were run.
    pub checked: CheckLevels,
}

/// The status of a waiver after a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaiverStatus {
    /// Whether there is a finding that it matches.
    pub is_met: bool,
    pub is_over: bool,
    /// Whether every file that it matches was evaluated by its rule, so that the run shows whether it is needed.
    pub is_judged: bool,
}

/// The entries whose paths match one file.
struct MatchingEntries<'m> {
    indices: &'m [usize],
    path: &'m str,
    /// The old names of its renamed components, by the new name.
    renamed: Option<&'m BTreeMap<String, String>>,
}

impl WaiverStatus {
    /// Returns whether removing the waiver would change nothing.
    pub const fn is_vain(self) -> bool {
        if self.is_over {
            self.is_judged || self.is_met
        } else {
            self.is_judged && !self.is_met
        }
    }
}

impl Waivers {
    pub fn new(entries: Vec<WaiverEntry>) -> Result<Self, Error> {
        let mut globs = GlobSetBuilder::new();
        for entry in &entries {
            globs.add(parse_glob(&entry.path)?);
        }
        Ok(Self {
            globs: globs.build()?,
            entries,
        })
    }

    pub fn entries(&self) -> &[WaiverEntry] {
        &self.entries
    }

    /// Marks the findings that are allowed on this day, each with the data of its waiver. Returns for each entry
    /// whether it matches a finding. A waiver is also valid for the former path of a renamed file and for the former name
    /// of a renamed component, because the change that renames them cannot waive anything itself.
    pub fn mark(&self, files: &mut [FileResults], former: &Former, today: Date) -> Vec<bool> {
        let mut met = vec![false; self.entries.len()];
        for file in files {
            let mut at = self.globs.matches(&file.path);
            if let Some(path) = former.paths.get(&file.path) {
                at.extend(self.globs.matches(path));
                at.sort_unstable();
                at.dedup();
            }
            if at.is_empty() {
                continue;
            }
            for result in &mut file.results {
                let files = MatchingEntries {
                    indices: &at,
                    path: &file.path,
                    renamed: former.components.get(&file.path),
                };
                self.mark_result(&files, result, today, &mut met);
            }
        }
        met
    }

    fn mark_result(
        &self,
        matching: &MatchingEntries<'_>,
        result: &mut RuleResult,
        today: Date,
        met: &mut [bool],
    ) {
        if !result.status.can_be_old() {
            return;
        }
        let findings = result.findings(matching.path);
        let mut found: Vec<Option<&WaiverEntry>> = findings
            .iter()
            .map(|finding| self.best(matching, finding, today, met))
            .collect();
        if let [only] = found.as_slice() {
            // An evaluation error is one finding, regardless of the number of its texts.
            found = vec![*only; result.violations.len().max(1)];
        }
        if found.iter().all(Option::is_none) {
            return;
        }
        result.states.resize(found.len(), None);
        for (state, entry) in result.states.iter_mut().zip(&found) {
            if entry.is_some_and(|entry| !entry.is_over(today)) {
                *state = Some(State::Waived);
            }
        }
        result.waivers = found
            .into_iter()
            .map(|entry| entry.map(WaiverEntry::waiver))
            .collect();
    }

    /// Returns the entry that matches the finding; a valid entry takes precedence over an expired one.
    fn best(
        &self,
        matching: &MatchingEntries<'_>,
        finding: &Finding<'_>,
        today: Date,
        met: &mut [bool],
    ) -> Option<&WaiverEntry> {
        let old_name = finding
            .about
            .and_then(|name| matching.renamed.and_then(|renamed| renamed.get(name)));
        let former_finding = old_name.map(|old_name| Finding {
            about: Some(old_name),
            ..finding.clone()
        });
        let mut best: Option<&WaiverEntry> = None;
        for index in matching.indices {
            let is_match = |entry: &&WaiverEntry| {
                entry.is_about(finding)
                    || former_finding
                        .as_ref()
                        .is_some_and(|former| entry.is_about(former))
            };
            let Some(entry) = self.entries.get(*index).filter(is_match) else {
                continue;
            };
            met.iter_mut().skip(*index).take(1).for_each(|met| *met = true);
            if best.is_none_or(|known| known.is_over(today) && !entry.is_over(today)) {
                best = Some(entry);
            }
        }
        best
    }

    /// Returns whether an entry matches the file.
    pub fn is_about(&self, path: &str) -> bool {
        self.globs.is_match(path)
    }

    /// Returns the status of each entry. `met` is the result of [`Self::mark`].
    pub fn standings(
        &self,
        met: &[bool],
        files: &[FileResults],
        there: &There,
        today: Date,
    ) -> Vec<WaiverStatus> {
        let mut seen = vec![FileFindings::default(); self.entries.len()];
        for path in &there.pipelines {
            self.with_each(path, &mut seen, |_, seen| seen.there += 1);
        }
        for path in &there.others {
            self.with_each(path, &mut seen, |_, seen| seen.has_others = true);
        }
        for file in files {
            self.with_each(&file.path, &mut seen, |entry, seen| {
                seen.take(entry, file, there.checked);
            });
        }
        let entries = self.entries.iter().zip(met).zip(seen);
        let standing = |((entry, is_met), seen): ((&WaiverEntry, &bool), FileFindings)| WaiverStatus {
            is_met: *is_met,
            is_over: entry.is_over(today),
            is_judged: seen.is_judged(there.is_whole),
        };
        entries.map(standing).collect()
    }

    fn with_each(
        &self,
        path: &str,
        seen: &mut [FileFindings],
        take: impl Fn(&WaiverEntry, &mut FileFindings),
    ) {
        for index in self.globs.matches(path) {
            if let (Some(entry), Some(seen)) = (self.entries.get(index), seen.get_mut(index)) {
                take(entry, seen);
            }
        }
    }
}

/// The evaluation of the files that an entry's path matches.
#[derive(Debug, Clone, Default)]
struct FileFindings {
    there: usize,
    has_others: bool,
    judged: usize,
    /// Whether the rule was evaluated in one of them.
    is_evaluated: bool,
    /// Whether the rule could not be evaluated in one of them.
    is_open: bool,
}

impl FileFindings {
    fn take(&mut self, entry: &WaiverEntry, file: &FileResults, checked: CheckLevels) {
        self.judged += 1;
        let results = || file.results.iter().filter(|result| result.rule == entry.rule);
        let is_open =
            |result: &RuleResult| matches!(result.status, Status::Error(_)) && !result.status.can_be_old();
        self.is_open |= results().any(is_open);
        // A check of the project yields a result only if it finds a problem.
        let check = ProjectCheck::find(&entry.rule);
        self.is_evaluated |= check.is_some_and(|check| checked.of(check).is_some())
            || results().any(|result| !is_open(result));
    }

    const fn is_judged(&self, is_whole: bool) -> bool {
        match self.there {
            0 => is_whole && !self.has_others,
            there => self.judged >= there && self.is_evaluated && !self.is_open,
        }
    }
}
