//! Matches waivers with findings: which findings are allowed, and which waivers are still needed.

use super::entry_groups::{EffectiveEntry, EntryGroups};
use super::{WaiverEffect, WaiverEntry};
use crate::findings::{FileResults, Finding, FindingState, RenamedSubjects, RuleResult, Status};
use crate::project::{CheckLevels, ProjectCheck};
use globset::{Error, GlobSet, GlobSetBuilder};
use jiff::civil::Date;
use sluicegate_base::globs::parse_glob;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Waivers, prepared for matching.
#[derive(Debug, Default)]
pub struct Waivers {
    entries: Vec<WaiverEntry>,
    globs: GlobSet,
}

/// The old names, in the base, of files and components that the change renamed.
#[derive(Debug, Clone, Default)]
pub struct OldNames {
    /// The path in the base of each renamed file.
    pub paths: BTreeMap<String, String>,
    /// The renamed components, by the file's path in head.
    pub components: BTreeMap<String, RenamedSubjects>,
}

/// The existing files, whether or not the run reviewed them.
#[derive(Debug, Clone, Default)]
pub struct ExistingFiles {
    pub pipelines: Vec<String>,
    /// Other files that a waiver matches.
    pub other_files: Vec<String>,
    /// Whether the run covered all files, so that a waiver for a missing file can be reported.
    pub is_complete: bool,
    /// The project checks that were run.
    pub check_levels: CheckLevels,
}

/// The status of a waiver after a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaiverStatus {
    /// The strongest effect of the waiver; `None` if it is about no finding.
    pub effect: Option<WaiverEffect>,
    pub is_expired: bool,
    /// Whether every file that the waiver matches was evaluated by its rule, so that the run shows whether the waiver
    /// is needed.
    pub is_conclusive: bool,
}

/// The entries whose paths match one file, by its current or its old path.
struct FileWaivers<'m> {
    /// The entries whose paths match the current path.
    current_groups: EntryGroups<'m>,
    /// The entries whose paths match the current or the old path.
    groups: EntryGroups<'m>,
    old_names: &'m OldNames,
}

impl OldNames {
    /// Returns what the finding was about before the change renamed its component: the old name, or for a link the old
    /// names of its ends. Returns `None` if the change did not rename the component.
    pub fn find_old_subject(&self, finding: &Finding<'_>) -> Option<String> {
        let renamed_subjects = self.components.get(finding.path)?;
        renamed_subjects.find_old_subject(finding.about?, finding.about_kind)
    }
}

impl WaiverStatus {
    /// Returns whether removing the waiver certainly changes nothing. A valid waiver is unneeded if the run evaluated
    /// all of its files and it matches no finding. One with an exceeded size is needed, because it applies again when
    /// the size is as before. An expired waiver does not allow any finding: it is unneeded if the run evaluated all of
    /// its files, or if it matches a finding, which is not waived anyway.
    pub const fn is_unneeded(self) -> bool {
        if self.is_expired {
            self.is_conclusive || self.is_matched()
        } else {
            self.is_conclusive && self.effect.is_none()
        }
    }

    /// Returns whether the waiver matches a finding, and is not only about one with a worse size.
    pub const fn is_matched(self) -> bool {
        matches!(self.effect, Some(WaiverEffect::Allowed | WaiverEffect::Expired))
    }
}

impl Waivers {
    /// Compiles the paths of the entries to globs. Fails if a path is not a valid glob.
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

    /// Marks the findings that are allowed on this day, each with the data of its waiver. Returns for each entry its
    /// strongest effect on a finding; `None` if it is about no finding. A waiver also applies by the old path of a
    /// renamed file and the old name of a renamed component, because the change that renames them cannot add its own
    /// waivers.
    pub fn mark_findings(
        &self,
        files: &mut [FileResults],
        old_names: &OldNames,
        today: Date,
    ) -> Vec<Option<WaiverEffect>> {
        let mut effects = vec![None; self.entries.len()];
        let mut file_waivers = FileWaivers {
            current_groups: EntryGroups::default(),
            groups: EntryGroups::default(),
            old_names,
        };
        for file in files {
            if !file.results.iter().any(|result| result.status.is_excusable()) {
                continue;
            }
            let current_indices = self.globs.matches(&file.path);
            let mut indices = current_indices.clone();
            if let Some(path) = old_names.paths.get(&file.path) {
                indices.extend(self.globs.matches(path));
                indices.sort_unstable();
                indices.dedup();
            }
            if indices.is_empty() {
                continue;
            }
            file_waivers
                .current_groups
                .set_indices(&self.entries, current_indices);
            file_waivers.groups.set_indices(&self.entries, indices);
            for result in &mut file.results {
                file_waivers.mark_result(&file.path, result, today, &mut effects);
            }
        }
        effects
    }

    /// Returns the valid entries that allow this finding if its file has this path.
    pub fn list_valid_entries(&self, path: &str, finding: &Finding<'_>, today: Date) -> Vec<&WaiverEntry> {
        let mut valid_entries = Vec::new();
        for index in self.globs.matches(path) {
            if let Some(entry) = self.entries.get(index)
                && entry.matches_finding(finding)
                && !entry.is_expired(today)
            {
                valid_entries.push(entry);
            }
        }
        valid_entries
    }

    /// Returns whether the path of an entry matches the file at `path`.
    pub fn matches_path(&self, path: &str) -> bool {
        self.globs.is_match(path)
    }

    /// Returns the status of each entry after a run. `effects` is the result of [`Self::mark_findings`], and
    /// `files` are the results of the run. A comparison with `existing_files` shows whether the run evaluated all files
    /// that an entry matches.
    pub fn compute_statuses(
        &self,
        effects: &[Option<WaiverEffect>],
        files: &[FileResults],
        existing_files: &ExistingFiles,
        today: Date,
    ) -> Vec<WaiverStatus> {
        let mut coverages = vec![FileCoverage::default(); self.entries.len()];
        for path in &existing_files.pipelines {
            self.update_coverages(path, &mut coverages, |_, coverage| coverage.existing_count += 1);
        }
        for path in &existing_files.other_files {
            self.update_coverages(path, &mut coverages, |_, coverage| coverage.has_other_file = true);
        }
        let mut counted_paths = HashSet::new();
        for file in files {
            // A file with findings of project checks has a second list of results, but is counted only once.
            let is_first_list = counted_paths.insert(file.path.as_str());
            let evaluations = summarize_evaluations(file);
            self.update_coverages(&file.path, &mut coverages, |entry, coverage| {
                coverage.reviewed_count += usize::from(is_first_list);
                if let Some(evaluation) = evaluations.get(entry.rule.as_str()) {
                    coverage.add_evaluation(entry, *evaluation);
                }
            });
        }
        self.entries
            .iter()
            .zip(effects)
            .zip(coverages)
            .map(|((entry, effect), mut coverage)| {
                // A project check has a result only if it finds a problem, so it is enough that the check is on.
                let check = ProjectCheck::find_by_id(&entry.rule);
                coverage.is_evaluated |=
                    check.is_some_and(|check| existing_files.check_levels.enforcement_of(check).is_some());
                WaiverStatus {
                    effect: *effect,
                    is_expired: entry.is_expired(today),
                    is_conclusive: coverage.is_conclusive(existing_files.is_complete),
                }
            })
            .collect()
    }

    /// Calls `update` with each entry whose path matches the file, and with the coverage of this entry.
    fn update_coverages(
        &self,
        path: &str,
        coverages: &mut [FileCoverage],
        update: impl Fn(&WaiverEntry, &mut FileCoverage),
    ) {
        for index in self.globs.matches(path) {
            if let (Some(entry), Some(coverage)) = (self.entries.get(index), coverages.get_mut(index)) {
                update(entry, coverage);
            }
        }
    }
}

impl<'m> FileWaivers<'m> {
    /// Marks the findings of one result for which there is a valid waiver, and stores the waiver of each finding in the
    /// result, also an expired one, and one whose size is exceeded. Updates the effects of all waivers (`effects`).
    /// Skips a result that cannot be waived, for example one without a finding.
    fn mark_result(
        &mut self,
        path: &str,
        result: &mut RuleResult,
        today: Date,
        effects: &mut [Option<WaiverEffect>],
    ) {
        if !result.status.is_excusable() {
            return;
        }
        let findings = result.findings(path);
        let entries: Vec<Option<EffectiveEntry<'_>>> = findings
            .iter()
            .map(|finding| self.find_best_entry(finding, today, effects))
            .collect();
        for (mark, entry) in result.marks_mut().into_iter().zip(entries) {
            let Some(entry) = entry else { continue };
            if entry.effect == WaiverEffect::Allowed {
                mark.state = Some(FindingState::Waived);
            }
            mark.waiver = Some(Box::new(entry.entry.to_waiver(entry.effect)));
        }
    }

    /// Returns the entry that is about the finding: the one with the strongest effect, and the first of several. Updates
    /// the effects of all entries. The old path of the file and the old name of the component only count if no entry
    /// allows the finding by the current ones, because an entry with the old ones is then not needed.
    fn find_best_entry(
        &mut self,
        finding: &Finding<'_>,
        today: Date,
        effects: &mut [Option<WaiverEffect>],
    ) -> Option<EffectiveEntry<'m>> {
        let current_finding = std::slice::from_ref(finding);
        let current_entry = self
            .current_groups
            .find_best_entry(current_finding, today, effects);
        if current_entry.is_some_and(|entry| entry.effect == WaiverEffect::Allowed) {
            return current_entry;
        }
        let old_subject = self.old_names.find_old_subject(finding);
        let old_finding = old_subject.as_deref().map(|about| finding.with_subject(about));
        let findings: Vec<Finding<'_>> = std::iter::once(finding.clone()).chain(old_finding).collect();
        self.groups.find_best_entry(&findings, today, effects)
    }
}

/// The evaluation of the files that an entry's path matches.
#[derive(Debug, Clone, Default)]
struct FileCoverage {
    /// The pipelines of the repository that the path matches.
    existing_count: usize,
    /// Whether the path matches a file that is not a pipeline, which no rule evaluates.
    has_other_file: bool,
    /// The pipelines of the run that the path matches.
    reviewed_count: usize,
    /// Whether the rule was evaluated in one of the files.
    is_evaluated: bool,
    /// Whether one of the files does not show if the entry is needed: the rule could not be evaluated, or the entry may
    /// have the text of a finding that another engine words in its own way.
    is_undecided: bool,
}

/// The evaluation of a rule on a file.
#[derive(Debug, Clone, Copy, Default)]
struct RuleEvaluation {
    is_evaluated: bool,
    is_failed: bool,
    /// Set if another engine words one of its findings in its own way.
    has_text_of_engine: bool,
}

/// Returns how each rule was evaluated on a file.
fn summarize_evaluations(file: &FileResults) -> HashMap<&str, RuleEvaluation> {
    let mut evaluations: HashMap<&str, RuleEvaluation> = HashMap::new();
    for result in &file.results {
        let evaluation = evaluations.entry(result.rule.as_str()).or_default();
        // The rule was evaluated if the error can be waived: the content of the pipeline causes such an error.
        if matches!(result.status, Status::Error(_)) && !result.status.is_excusable() {
            evaluation.is_failed = true;
        } else {
            evaluation.is_evaluated = true;
        }
        let findings = result.findings(&file.path);
        evaluation.has_text_of_engine |= findings.iter().any(|finding| finding.identity_text.is_some());
    }
    evaluations
}

impl FileCoverage {
    /// Records whether the entry's rule was evaluated on a file of the run, and whether the evaluation failed.
    const fn add_evaluation(&mut self, entry: &WaiverEntry, evaluation: RuleEvaluation) {
        self.is_evaluated |= evaluation.is_evaluated;
        self.is_undecided |= evaluation.is_failed || (entry.about.is_some() && evaluation.has_text_of_engine);
    }

    /// Returns whether the run shows if the entry is needed: the run evaluated all pipelines that the entry's path
    /// matches, and the entry's rule had no error, nor a finding whose text depends on the engine. If no pipeline
    /// matches, the run must have covered the complete repository (`is_complete`), and no other file may match,
    /// because rules do not evaluate other files.
    const fn is_conclusive(&self, is_complete: bool) -> bool {
        match self.existing_count {
            0 => is_complete && !self.has_other_file,
            existing_count => {
                let is_evaluated = self.is_evaluated && !self.is_undecided;
                self.reviewed_count >= existing_count && is_evaluated
            }
        }
    }
}
