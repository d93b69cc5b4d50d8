//! Matches waivers with findings: which findings are allowed, and which waivers are still needed.

use super::entry_groups::{EffectiveEntry, EntryGroups};
use super::path_index::PathIndex;
use super::{WaiverEffect, WaiverEntry};
use crate::findings::{FileResults, Finding, FindingState, RenamedSubjects, RuleResult, Status};
use crate::project::{CheckLevels, ProjectCheck};
use jiff::civil::Date;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Waivers, prepared for matching.
#[derive(Debug, Default)]
pub struct Waivers {
    entries: Vec<WaiverEntry>,
    paths: PathIndex,
}

/// The paths of waivers cannot be matched together.
#[derive(Debug, thiserror::Error)]
#[error("could not combine the globs: {0}")]
pub struct WaiverGlobsError(#[from] globset::Error);

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

    /// Returns whether a finding is no longer waived because this waiver expired.
    pub const fn has_lost_finding(self) -> bool {
        self.is_expired && matches!(self.effect, Some(WaiverEffect::Expired))
    }

    /// Returns whether the waiver matches a finding, and is not only about one with a worse size.
    pub const fn is_matched(self) -> bool {
        matches!(self.effect, Some(WaiverEffect::Allowed | WaiverEffect::Expired))
    }
}

impl Waivers {
    /// Compiles the paths of the entries to globs. Fails if a path is not a valid glob.
    pub fn new(entries: Vec<WaiverEntry>) -> Result<Self, WaiverGlobsError> {
        Ok(Self {
            paths: PathIndex::new(&entries)?,
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
            let current_globs = self.paths.find_globs(&file.path);
            let mut globs = current_globs.clone();
            if let Some(path) = old_names.paths.get(&file.path) {
                globs.extend(self.paths.find_globs(path));
                globs.sort_unstable();
                globs.dedup();
            }
            if globs.is_empty() {
                continue;
            }
            file_waivers
                .current_groups
                .set_globs(&self.entries, &self.paths, current_globs);
            file_waivers.groups.set_globs(&self.entries, &self.paths, globs);
            for result in &mut file.results {
                file_waivers.mark_result(&file.path, result, today, &mut effects);
            }
        }
        effects
    }

    /// Returns the valid entries that allow this finding if its file has this path.
    pub fn find_valid_entries(
        &self,
        path: &str,
        finding: &Finding<'_>,
        today: Date,
    ) -> impl Iterator<Item = &WaiverEntry> {
        self.paths
            .find_entries_about(&self.entries, path, finding)
            .filter(move |entry| entry.allows_size_of(finding) && !entry.is_expired(today))
    }

    /// Returns whether the path of an entry matches the file at `path`.
    pub fn matches_path(&self, path: &str) -> bool {
        self.paths.is_match(path)
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
        let coverages = self.compute_coverages(files, existing_files);
        let mut statuses = Vec::new();
        for (index, (entry, effect)) in self.entries.iter().zip(effects).enumerate() {
            let glob = self.paths.find_glob_of_entry(index);
            let coverage = glob.and_then(|glob| coverages.get(glob));
            statuses.push(WaiverStatus {
                effect: *effect,
                is_expired: entry.is_expired(today),
                is_conclusive: coverage.is_some_and(|coverage| coverage.is_conclusive(entry, existing_files)),
            });
        }
        statuses
    }

    /// Returns, for each different path of the entries, how the files that it matches were evaluated.
    fn compute_coverages<'f>(
        &self,
        files: &'f [FileResults],
        existing_files: &ExistingFiles,
    ) -> Vec<PathCoverage<'f>> {
        let mut coverages = vec![PathCoverage::default(); self.paths.glob_count()];
        for path in &existing_files.pipelines {
            for glob in self.paths.find_globs(path) {
                if let Some(coverage) = coverages.get_mut(glob) {
                    coverage.existing_count += 1;
                }
            }
        }
        for path in &existing_files.other_files {
            for glob in self.paths.find_globs(path) {
                if let Some(coverage) = coverages.get_mut(glob) {
                    coverage.has_other_file = true;
                }
            }
        }
        let mut counted_paths = HashSet::new();
        for file in files {
            // A file with findings of project checks has a second list of results, but is counted only once.
            let is_first_list = counted_paths.insert(file.path.as_str());
            let evaluations = summarize_evaluations(file);
            for glob in self.paths.find_globs(&file.path) {
                if let Some(coverage) = coverages.get_mut(glob) {
                    coverage.reviewed_count += usize::from(is_first_list);
                    coverage.add_evaluations(&evaluations);
                }
            }
        }
        coverages
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
            match entry.effect {
                WaiverEffect::Allowed => mark.state = Some(FindingState::Waived),
                WaiverEffect::Expired => {
                    if let Some(entry_effect) = effects.get_mut(entry.index) {
                        *entry_effect = (*entry_effect).max(Some(WaiverEffect::Expired));
                    }
                }
                WaiverEffect::Exceeded => {}
            }
            mark.waiver = Some(Box::new(entry.entry.to_waiver(entry.effect)));
        }
    }

    /// Returns the entry that is about the finding: the one with the strongest effect, and the first of several.
    /// Updates the effects of all entries. The old path of the file and the old name of the component only count if no
    /// entry allows the finding by the current ones, because an entry with the old ones is then not needed.
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

/// The evaluation of the files that a path of entries matches.
#[derive(Debug, Clone, Default)]
struct PathCoverage<'f> {
    /// The pipelines of the repository that the path matches.
    existing_count: usize,
    /// Whether the path matches a file that is not a pipeline, which no rule evaluates.
    has_other_file: bool,
    /// The pipelines of the run that the path matches.
    reviewed_count: usize,
    /// The evaluation of each rule on these files together.
    evaluations: HashMap<&'f str, RuleEvaluation>,
}

/// The evaluation of a rule on a file, or on several files.
#[derive(Debug, Clone, Copy, Default)]
struct RuleEvaluation {
    is_evaluated: bool,
    is_failed: bool,
    /// Set if another engine words one of its findings in its own way, or if the subject of one is only guessed.
    has_uncertain_subject: bool,
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
        evaluation.has_uncertain_subject |= findings.iter().any(|finding| finding.identity_text.is_some())
            || result
                .violations
                .iter()
                .any(|violation| violation.is_subject_guessed);
    }
    evaluations
}

impl<'f> PathCoverage<'f> {
    /// Adds the evaluations of the rules on a file of the run.
    fn add_evaluations(&mut self, evaluations: &HashMap<&'f str, RuleEvaluation>) {
        for (rule, evaluation) in evaluations {
            let sum = self.evaluations.entry(rule).or_default();
            sum.is_evaluated |= evaluation.is_evaluated;
            sum.is_failed |= evaluation.is_failed;
            sum.has_uncertain_subject |= evaluation.has_uncertain_subject;
        }
    }

    /// Returns whether the run shows if an entry with this path is needed: the run evaluated all pipelines that the
    /// path matches, and the entry's rule had no error, nor a finding whose subject is uncertain if the entry has a
    /// subject. If no pipeline matches, the run must have covered the complete repository, and no other file may match,
    /// because rules do not evaluate other files.
    fn is_conclusive(&self, entry: &WaiverEntry, existing_files: &ExistingFiles) -> bool {
        if self.existing_count == 0 {
            return existing_files.is_complete && !self.has_other_file;
        }
        let evaluation = self.evaluations.get(entry.rule.as_str()).copied();
        let evaluation = evaluation.unwrap_or_default();
        // A project check has a result only if it finds a problem, so it is enough that the check is on.
        let is_enabled_check = ProjectCheck::find_by_id(&entry.rule)
            .is_some_and(|check| existing_files.check_levels.enforcement_of(check).is_some());
        let is_undecided =
            evaluation.is_failed || (entry.about.is_some() && evaluation.has_uncertain_subject);
        self.reviewed_count >= self.existing_count
            && (evaluation.is_evaluated || is_enabled_check)
            && !is_undecided
    }
}
