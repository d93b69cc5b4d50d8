//! The findings of a run while it collects them, and the gaps in them.

use crate::gate::project_checks::project_fixes::FixProof;
use crate::gate::remote_review::failed_batch::BatchFiles;
use crate::gate::{Cause, KnownComparison, ProjectContents};
use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{
    FileResults, NO_ERROR_TYPE, ReviewGap, UnreviewedFile, VerdictLimit, Violation,
};
use sluicegate_pipelines::project::CheckLevels;
use sluicegate_pipelines::rules::LinkConsequences;
use std::collections::{BTreeMap, BTreeSet};

/// The beginning of the note about reviewed files for which no rule is enabled.
const NO_RULES_REMARK: &str = "No enabled rule applies to the reviewed files";

/// The findings that were collected so far, and the gaps in them.
#[derive(Debug, Default)]
pub(crate) struct RunFindings {
    /// The files with results, by path.
    pub files: Vec<FileResults>,
    /// The results of team rules that the engine evaluated while it read the pipelines.
    pub team_files: Vec<FileResults>,
    /// The files with findings of the project checks, by path.
    pub project_files: Vec<FileResults>,
    /// The contents from which these findings were derived, until their fixes are proven; `None` if no fix is proposed.
    pub project_contents: Option<ProjectContents>,
    /// The proven fixes, and those that are not proven.
    pub fixes: FixProof,
    /// The levels of the project checks; `None` if they did not run.
    pub check_levels: Option<CheckLevels>,
    /// Files that the platform does not review, by path.
    pub excluded_paths: Vec<String>,
    /// Files without a usable result, by path.
    pub unreviewed_files: Vec<UnreviewedFile>,
    /// The comparison with the base; `None` unless only new findings fail the gate.
    pub comparison: Option<KnownComparison>,
    /// The files of each batch whose `reviewStatus` is FAILED.
    pub failed_batches: Vec<BatchFiles>,
    /// Reasons why the verdict is open, other than unreviewed files; each a sentence.
    pub doubts: Vec<String>,
    /// The files with such a doubt, by path.
    pub doubtful_files: BTreeMap<String, String>,
    /// The findings that exist only because of broken links, by path.
    pub consequences: BTreeMap<String, Vec<LinkConsequences>>,
    /// Notes for the report; each a sentence.
    pub notes: Vec<String>,
    /// The notes that limit the verdict.
    pub limits: Vec<VerdictLimit>,
}

/// A file whose findings are unknown, or a part of them: it has no usable result, or a rule could not be evaluated.
#[derive(Debug)]
pub(crate) struct UnevaluatedFile {
    pub(crate) path: String,
    pub(crate) reason: String,
    /// The effect on the verdict of a check.
    pub(crate) cause: Cause,
}

impl RunFindings {
    /// Adds a limit of the verdict, and its text as a note.
    pub(crate) fn add_limit(&mut self, limit: VerdictLimit) {
        self.notes.push(limit.text.clone());
        self.limits.push(limit);
    }

    /// Adds the results of another evaluation, without its notes.
    pub(crate) fn add_results(&mut self, added_findings: Self) {
        self.files.extend(added_findings.files);
        self.unreviewed_files.extend(added_findings.unreviewed_files);
        self.failed_batches.extend(added_findings.failed_batches);
    }

    /// Adds files that could not be read, unless the review already reports them.
    pub(crate) fn add_unread_files(&mut self, unread_files: Vec<UnreviewedFile>) {
        let known_paths: BTreeSet<String> = self
            .unreviewed_files
            .iter()
            .map(|file| file.path.clone())
            .collect();
        let mut new_files = unread_files;
        new_files.retain(|file| !known_paths.contains(&file.path));
        self.unreviewed_files.extend(new_files);
        self.unreviewed_files.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Returns whether failed requests are the only gaps in the review: there is no doubt, and each file that was not
    /// reviewed or not compared has a failed request as its reason.
    pub(crate) fn lacks_only_responses(&self) -> bool {
        let unknown_files = self
            .comparison
            .iter()
            .flat_map(|comparison| &comparison.unknown_files);
        let mut incomplete_files = self.unreviewed_files.iter().chain(unknown_files);
        self.doubts.is_empty() && incomplete_files.all(|file| file.gap == ReviewGap::FailedRequest)
    }

    /// Returns the files that could not be evaluated, by path.
    pub(crate) fn list_unevaluated_files(&self) -> Vec<UnevaluatedFile> {
        let mut files: BTreeMap<&String, (String, Cause)> = BTreeMap::new();
        for file in &self.unreviewed_files {
            // The instruction is about other commands, for example that they should get a commit.
            files.insert(&file.path, (file.reason.clone(), Cause::Unreviewed));
        }
        for file in &self.files {
            if let Some(result) = file.find_unevaluated_result() {
                let message = result
                    .violations
                    .first()
                    .map_or(NO_ERROR_TYPE, Violation::shown_text);
                files.insert(&file.path, (message.to_owned(), Cause::Finding));
            }
        }
        files
            .into_iter()
            .map(|(path, (reason, cause))| UnevaluatedFile {
                path: path.clone(),
                reason,
                cause,
            })
            .collect()
    }

    /// Returns the results of the review, then those of the project checks.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &FileResults> {
        self.files.iter().chain(&self.project_files)
    }

    /// Returns a note if no rule applies to any reviewed file: such a run passes although it has evaluated nothing.
    pub(crate) fn describe_files_without_rules(&self) -> Option<String> {
        if self.files.is_empty() || self.files.iter().any(|file| !file.results.is_empty()) {
            return None;
        }
        Some(format_files_without_rules_note(self.files.len()))
    }

    /// Calls `apply` with one slice of all results, of the review and of the project checks, because waivers are
    /// matched with all findings together. Returns the result of `apply`.
    pub(crate) fn with_all_files<T>(&mut self, apply: impl FnOnce(&mut [FileResults]) -> T) -> T {
        let reviewed_count = self.files.len();
        self.files.append(&mut self.project_files);
        let result = apply(&mut self.files);
        self.project_files = self.files.split_off(reviewed_count);
        result
    }
}

/// Returns the note that no rule applies to any of this number of reviewed files.
pub(crate) fn format_files_without_rules_note(file_count: usize) -> String {
    format!(
        "{NO_RULES_REMARK} ({}), so it is unknown whether they are valid YAML.",
        format_count(file_count, "pipeline")
    )
}

/// Returns whether the note of a report states that no rule applies to its files.
pub(crate) fn is_note_of_files_without_rules(note: &str) -> bool {
    note.starts_with(NO_RULES_REMARK)
}

/// Adds results to those of the same files, and sorts the files by path. In a file, the results that it already has
/// come first.
pub(crate) fn merge_results(files: &mut Vec<FileResults>, added_files: Vec<FileResults>) {
    files.extend(added_files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|later_file, file| merge_same_file(file, later_file));
}

/// Moves the results of the later file into the first, if both have the same path. Returns whether they have.
fn merge_same_file(file: &mut FileResults, later_file: &mut FileResults) -> bool {
    let is_same_file = file.path == later_file.path;
    if is_same_file {
        file.results.append(&mut later_file.results);
    }
    is_same_file
}
