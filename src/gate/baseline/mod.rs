//! Finds the baseline if only new findings fail the gate: the same pipelines at the base, evaluated against the rules
//! of the head.

pub(crate) mod adoption;
pub(crate) mod base_results;
pub(crate) mod earlier_findings;
pub(crate) mod known_comparison;
mod published_version;
pub(crate) mod renamed_components;

use crate::error::Failure;
use crate::gate::selection::SelectionResult;
use crate::gate::{
    BasePaths, OldPaths, RunFindings, SelectedPipelines, VersionPairs, list_old_paths, mark_known_findings,
};
use crate::job::context::{Comparison, RequestedRevisions, join_short_ids};
use crate::job::settings::Selection;
use sluicegate_git::{
    Change, ChangeKind, CommitId, FileContent, FileKind, GitError, Repository, Snapshot, SnapshotFile,
};
use sluicegate_pipelines::findings::{FileResults, LimitKind, RenamedSubjects, VerdictLimit};
use sluicegate_pipelines::pipelines::{SubjectKind, is_pipeline};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// The beginning of the note that names the earlier commit whose findings are known. A report has no field for this
/// commit, and readers of `sluicegate.report/v2` reject unknown fields, so a saved note is recognized by this text.
const EARLIER_BASE_NOTE: &str = "findings are known if they exist at";

/// The commits whose findings are known, and the reason why they were chosen.
pub(crate) struct Baseline {
    /// The base commits; a finding is known if all of them have it. If empty, every finding is new.
    pub(crate) bases: Vec<CommitId>,
    /// The reason why this base was chosen, or why there is no base; shown to the user.
    reason: String,
    /// The note that names the base of a run that selects all pipelines.
    note: Option<String>,
    /// The old paths of the files changed since the base, if the selection found them.
    old_paths: Option<OldPaths>,
    /// The selection of the run; `None` if it covers every path.
    selection: Option<Selection>,
}

impl Baseline {
    /// Restricts the baseline to the paths that the run selects. If a file was renamed from an unselected path, none of
    /// its findings is known, because no rule was enforced at that path.
    pub(crate) fn with_selection(self, selection: &Selection) -> Self {
        Self {
            selection: Some(selection.clone()),
            ..self
        }
    }

    /// Returns whether the run selects this path. A baseline without a selection covers every path.
    fn selects(&self, path: &str) -> bool {
        self.selection
            .as_ref()
            .is_none_or(|selection| selection.selects(path))
    }

    /// Builds the baseline of a run with `--new-only`: findings at the base of the change are known. A base that the
    /// job names is used even if all pipelines are reviewed. Without any base, an earlier commit of the branch is used,
    /// and a note names it.
    pub(crate) fn for_change(
        revisions: &RequestedRevisions,
        comparison: &Comparison,
        selection: &SelectionResult,
    ) -> Result<Self, Failure> {
        let (bases, reason) = match &selection.named_base {
            Some(named_base) => (named_base.bases.clone(), named_base.base_source.clone()),
            None => comparison.select_baseline_commits()?,
        };
        let is_earlier = comparison.bases.is_empty() && revisions.base.is_none();
        Ok(Self {
            note: is_earlier
                .then(|| describe_earlier_base(&bases, &reason))
                .flatten(),
            reason,
            ..Self::at_commits(&bases, &selection.pipelines)
        })
    }

    /// Builds the baseline at the bases of the change, to find what the change introduced. Reuses the old paths of
    /// the selection if the selection was compared with the same single base. The reason is empty: only the caller
    /// knows it, and a baseline with commits does not show it.
    pub(crate) fn at_commits(bases: &[CommitId], pipelines: &SelectedPipelines) -> Self {
        // With several bases, a file may have had another path in each.
        let has_same_base = bases.len() == 1 && bases == pipelines.bases;
        let changes = pipelines.candidates.iter().map(|candidate| &candidate.change);
        Self {
            bases: bases.to_vec(),
            reason: String::new(),
            note: None,
            old_paths: has_same_base.then(|| list_old_paths(changes)),
            selection: None,
        }
    }

    /// Marks the findings of head that every base has, too, as known, even if a component was renamed since. If there
    /// is no base, adds a limit of the verdict instead. `evaluate_base` returns the paths that the reviewed files had
    /// at a base, and the findings there.
    pub(crate) fn mark_known_findings(
        &self,
        repo: &Repository,
        snapshot: &Snapshot<'_>,
        head_findings: &mut RunFindings,
        mut evaluate_base: impl FnMut(&mut RunFindings, &CommitId) -> Result<(BasePaths, RunFindings), Failure>,
    ) -> Result<(), Failure> {
        if self.bases.is_empty() {
            head_findings.add_limit(VerdictLimit {
                kind: LimitKind::NoBase,
                path: None,
                text: self.describe_missing_base(),
            });
            return Ok(());
        }
        head_findings.notes.extend(self.note.clone());
        let mut base_results = Vec::with_capacity(self.bases.len());
        for base in &self.bases {
            base_results.push(evaluate_base(head_findings, base)?);
        }
        for (base, base_result) in self.bases.iter().zip(&mut base_results) {
            let (base_paths, run_findings) = base_result;
            self.follow_renamed_components(
                &VersionPairs {
                    repo,
                    head: snapshot,
                    bases: std::slice::from_ref(base),
                },
                &head_findings.files,
                base_paths,
                &mut run_findings.files,
            )?;
        }
        mark_known_findings(head_findings, &base_results);
        Ok(())
    }

    /// Gives findings at the base the new names of components that were renamed since, and of their links, so that they
    /// match those of head. `pairs` must have exactly one base: otherwise, nothing changes. To save time, compares only
    /// files in which each version has a finding about a component that has no finding in the other version.
    pub(crate) fn follow_renamed_components(
        &self,
        pairs: &VersionPairs<'_>,
        head_files: &[FileResults],
        base_paths: &BasePaths,
        base_files: &mut [FileResults],
    ) -> Result<(), GitError> {
        let [base] = pairs.bases else { return Ok(()) };
        let base_files_by_path: HashMap<&str, &FileResults> =
            base_files.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut changes = Vec::new();
        let mut head_files_by_base_path: HashMap<String, &FileResults> = HashMap::new();
        for file in head_files {
            let Some(base_path) = base_paths.find_base_path(&file.path) else {
                continue;
            };
            let head_subjects = list_finding_subjects(file);
            let base_subjects = base_files_by_path
                .get(base_path.as_str())
                .map(|file| list_finding_subjects(file))
                .unwrap_or_default();
            // A rename adds a name in head and removes one of the base.
            if base_subjects.is_subset(&head_subjects) || head_subjects.is_subset(&base_subjects) {
                continue;
            }
            changes.push(Change {
                path: file.path.clone(),
                kind: if base_path == file.path {
                    ChangeKind::Modified
                } else {
                    ChangeKind::Renamed {
                        from: base_path.clone(),
                        is_certain: true,
                    }
                },
                file_kind: Some(FileKind::Regular),
                base_index: 0,
            });
            head_files_by_base_path.insert(base_path, file);
        }
        // Only a file that changed since the base can have a renamed component.
        if !changes.is_empty() {
            let old_paths = self.find_old_paths_since(base, pairs.head)?;
            changes.retain(|change| old_paths.contains_key(&change.path));
        }
        let renames_by_path = pairs.find_renamed_components(&changes)?;
        for file in base_files {
            if let Some(head_file) = head_files_by_base_path.get(&file.path)
                && let Some(renamed_subjects) = renames_by_path.get(&head_file.path)
            {
                rename_finding_subjects(file, head_file, renamed_subjects);
            }
        }
        Ok(())
    }

    /// Looks up the paths that the reviewed files had at the base. A file that was renamed from an unselected path is
    /// treated as new.
    pub(crate) fn find_paths_at_base<'f>(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<BasePaths, GitError> {
        let base_paths = BasePaths::for_files(files, &*self.find_old_paths_since(base, snapshot)?);
        Ok(base_paths.treat_renames_from_unselected_as_new(&|path| self.selects(path)))
    }

    /// Looks up the paths that the reviewed files had at the base, only for files that changed since the base and
    /// existed there. In other files, the change cannot have fixed a finding. A file that was renamed from an
    /// unselected path is treated as new.
    pub(crate) fn find_changed_paths_at_base<'f>(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<BasePaths, GitError> {
        let base_paths = BasePaths::for_changed_files(files, &*self.find_old_paths_since(base, snapshot)?);
        Ok(base_paths.treat_renames_from_unselected_as_new(&|path| self.selects(path)))
    }

    /// Returns the old path of each file that changed since the base. Reuses the paths that the selection found:
    /// they are set only if the selection was compared with this same base.
    fn find_old_paths_since(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
    ) -> Result<Cow<'_, OldPaths>, GitError> {
        if let Some(old_paths) = &self.old_paths {
            return Ok(Cow::Borrowed(old_paths));
        }
        let changes = snapshot.find_changes(std::slice::from_ref(base), &is_pipeline)?;
        Ok(Cow::Owned(list_old_paths(changes.iter())))
    }

    /// Returns the text of the limit that every finding is treated as new, because there is no base.
    fn describe_missing_base(&self) -> String {
        format!(
            "every finding is treated as new, because there is no base to compare with (--new-only): {}",
            self.reason
        )
    }
}

/// Replaces the old subjects in the findings of a file at the base by those that the findings of head have. Findings
/// about variables stay unchanged, because only renamed components are detected.
fn rename_finding_subjects(
    base_file: &mut FileResults,
    head_file: &FileResults,
    renamed_subjects: &RenamedSubjects,
) {
    let mut new_subjects: HashMap<String, &str> = HashMap::new();
    for violation in head_file.results.iter().flat_map(|result| &result.violations) {
        let Some(about) = &violation.about else { continue };
        if let Some(old_subject) = renamed_subjects.find_old_subject(about, violation.about_kind) {
            new_subjects.insert(old_subject, about);
        }
    }
    for violation in base_file
        .results
        .iter_mut()
        .flat_map(|result| &mut result.violations)
    {
        if violation.about_kind == Some(SubjectKind::Variable) {
            continue;
        }
        let old_subject = violation.about.as_deref();
        if let Some(new_subject) = old_subject.and_then(|about| new_subjects.get(about)) {
            violation.about = Some((*new_subject).to_owned());
        }
    }
}

/// Returns the names of the components and variables that the findings of a file are about.
fn list_finding_subjects(file: &FileResults) -> BTreeSet<&str> {
    let violations = file.results.iter().flat_map(|result| &result.violations);
    violations
        .filter_map(|violation| violation.about.as_deref())
        .collect()
}

/// Returns whether the note of a report names the earlier commit whose findings are known.
pub(crate) fn is_earlier_base_note(note: &str) -> bool {
    note.starts_with(EARLIER_BASE_NOTE)
}

/// Returns the note that names the earlier commit whose findings are known. Returns `None` if there is no such commit.
fn describe_earlier_base(bases: &[CommitId], reason: &str) -> Option<String> {
    (!bases.is_empty()).then(|| format!("{EARLIER_BASE_NOTE} {}: {reason}", join_short_ids(bases)))
}

/// Returns whether the base has the same rules file as head, with the same content. A file on disk is never treated as
/// the same.
pub(crate) fn has_same_rules(
    repo: &Repository,
    base: &CommitId,
    rules: &SnapshotFile,
) -> Result<bool, GitError> {
    let base_file = repo.find_file(base, &rules.path)?;
    Ok(base_file.is_some_and(|file| matches!(&rules.content, FileContent::Blob(blob) if *blob == file.blob)))
}
