//! Handles a change that started before the gate configuration became stricter. The platform evaluates the rules file
//! of the reviewed commit; after the merge, the target's file applies unless the change edited it. Stricter settings of
//! the target's tip are therefore reported, and the changed pipelines are also evaluated locally against its rules.

use crate::error::Failure;
use crate::gate::tip_comparison::TipComparison;
use crate::gate::{RunFindings, SelectedPipelines, evaluate_files};
use crate::job::ci::Trigger;
use crate::job::cli::GateChanges;
use crate::job::context::{ContextError, PolicyRevision};
use crate::workspace::Workspace;
use sluicegate_base::text::List;
use sluicegate_git::{Change, CommitId, Repository, Snapshot};
use sluicegate_pipelines::findings::{
    FileResults, LimitKind, RuleResult, Status, UnreviewedFile, VerdictLimit,
};
use sluicegate_pipelines::pipelines::{is_pipeline, is_rules_path};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_pipelines::waivers;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of differences that a note lists.
const MAX_LISTED_DIFFERENCES: usize = 5;

/// The settings and rules of the target's tip that are stricter than those of the change.
pub(crate) struct StricterTarget {
    branch: String,
    commit: CommitId,
    /// The stricter settings of the tip, by path.
    stricter_settings: Vec<(String, Vec<String>)>,
    /// The rules that apply after the merge, if those of the change differ.
    rules: Option<RuleSet>,
    /// The changed pipelines, which are evaluated against these rules as well.
    changed_pipelines: BTreeSet<String>,
    /// The files that `--policy head` reads from the reviewed commit. Empty in a run for a change, which will be
    /// merged.
    own_files: BTreeSet<String>,
    /// True if this run reads these files from the reviewed commit.
    has_own_policy: bool,
    /// The kind of reference that was certainly pushed: `branch` or `tag`. `None` for other events, and on a host that
    /// does not name its event.
    pushed_reference: Option<&'static str>,
}

impl Workspace<'_> {
    /// Returns whether the reviewed commit contains the newest commit of the target, so that nothing in the target can
    /// be stricter. If the files are not those of a commit, examines the checked-out commit. Returns false if a shallow
    /// clone cannot show it.
    pub(crate) fn contains_target_tip(
        &self,
        snapshot: &Snapshot<'_>,
        tip: &CommitId,
    ) -> Result<bool, Failure> {
        let head = self.find_reviewed_commit(snapshot.commit())?;
        Ok(self.repo.contains_commit(&head, tip)?)
    }

    /// Returns the commits since which the target may have become stricter: its merge bases with the reviewed commit.
    /// In a run for a change, these are the bases of the change. Any other run may have no bases, because the target
    /// already contains its commit, or have the commit before the push as its base. If the merge bases cannot be found,
    /// returns `bases`, or an error if a stricter target can fail the run.
    fn find_bases_with_tip(
        &self,
        snapshot: &Snapshot<'_>,
        tip: &CommitId,
        bases: &[CommitId],
    ) -> Result<Vec<CommitId>, Failure> {
        if self.ci.trigger == Trigger::Change {
            return Ok(bases.to_vec());
        }
        let head = self.find_reviewed_commit(snapshot.commit())?;
        match self.repo.find_merge_bases(tip, &head) {
            Ok(tip_bases) if !tip_bases.is_empty() => Ok(tip_bases),
            _ if self.gate_changes == GateChanges::Warn => Ok(bases.to_vec()),
            Ok(_) => {
                let revision = tip.to_string();
                Err(
                    Failure::from(ContextError::NoCommonHistory { revision, head }).with_hint(
                        "merge the default branch first, or allow stricter rules there with --gate-changes warn \
                         (SLUICEGATE_GATE_CHANGES=warn)",
                    ),
                )
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Compares the gate configuration with that of the target branch, which may have become stricter since the change
    /// started. Tags, scheduled runs and pushes are compared with the default branch. Returns `None` if nothing is
    /// stricter and the same rules apply after the merge, if the reviewed commit contains the target's newest commit,
    /// and in a local run.
    pub(crate) fn find_stricter_target(
        &self,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        pipelines: &SelectedPipelines,
    ) -> Result<Option<StricterTarget>, Failure> {
        let PolicyRevision::Commit { commit, branch, .. } = &self.target_revision else {
            return Ok(None);
        };
        let changed_pipelines: BTreeSet<String> = pipelines
            .candidates
            .iter()
            .filter(|candidate| candidate.reason.is_selected() && is_pipeline(&candidate.change.path))
            .map(|candidate| candidate.change.path.clone())
            .collect();
        if self.contains_target_tip(snapshot, commit)? {
            return Ok(None);
        }
        let bases = self.find_bases_with_tip(snapshot, commit, bases)?;
        let tip = self.repo.snapshot(commit.clone());
        let base_snapshots: Vec<Snapshot<'_>> = bases
            .iter()
            .map(|base| self.repo.snapshot(base.clone()))
            .collect();
        // The settings of the target may select other rules files than those of the change.
        let files = self.find_gate_files(base_snapshots.iter().chain([snapshot, &tip]))?;
        let comparison = TipComparison {
            workspace: self,
            head: snapshot,
            tip_config_dir: self.find_config_dir_at(&tip)?,
            tip,
            bases: base_snapshots,
        };
        // A run of all pipelines has no base, so its candidates show neither deleted nor renamed pipelines.
        let changes: Vec<Change> = if pipelines.bases == bases {
            let candidates = pipelines.candidates.iter();
            candidates.map(|candidate| candidate.change.clone()).collect()
        } else {
            snapshot.compare_with_bases(&bases, &is_pipeline)?.find_changes()
        };
        let touched_paths = changes.iter().flat_map(Change::paths).collect();
        let moved_rules = comparison.read_moved_rules(&files)?;
        let stricter_settings = comparison.find_stricter_settings(&files, &moved_rules, &touched_paths)?;
        let rules = comparison.find_rules_after_merge(&files, &moved_rules);
        if stricter_settings.is_empty() && rules.is_none() {
            return Ok(None);
        }
        let own_files = if self.ci.trigger == Trigger::Change {
            BTreeSet::new()
        } else {
            let config_file = self.config_file.iter().cloned();
            config_file.chain([waivers::FILE_NAME.to_owned()]).collect()
        };
        let reference_kind = if self.ci.tag.is_some() { "tag" } else { "branch" };
        Ok(Some(StricterTarget {
            own_files,
            pushed_reference: self.ci.is_push().then_some(reference_kind),
            has_own_policy: matches!(self.policy_revision, PolicyRevision::Head { .. }),
            branch: branch.clone(),
            commit: commit.clone(),
            stricter_settings,
            rules,
            changed_pipelines,
        }))
    }
}

impl StricterTarget {
    /// Omits the additional evaluation against the target's rules, for a run that evaluates other rules than the
    /// project's.
    pub(crate) fn skip_rules(&mut self) {
        self.rules = None;
    }

    /// Returns whether a file of the target is stricter than that of the change, or has a difference of unknown effect,
    /// which may be stricter.
    pub(crate) fn may_be_stricter(&self) -> bool {
        !self.stricter_settings.is_empty()
    }

    /// Returns a limit of the verdict for each file that is stricter in the target. `pipelines` are those of the run.
    /// If the target `is_rejected`, the evaluation of its rules is not enough for the job.
    pub(crate) fn list_limits(&self, pipelines: &SelectedPipelines, is_rejected: bool) -> Vec<VerdictLimit> {
        let evaluation = self.describe_evaluation(pipelines);
        let (branch, commit) = (&self.branch, self.commit.short());
        let mut limits = Vec::new();
        for (path, differences) in &self.stricter_settings {
            let text = format!(
                "the target branch `{branch}` ({commit}) has a stricter {path}: {}; {}",
                List::with_limit(differences, MAX_LISTED_DIFFERENCES).join_with_semicolons(),
                match &evaluation {
                    Some(evaluation) if is_rules_path(path) && is_rejected => {
                        format!("the run {evaluation}")
                    }
                    Some(evaluation) if is_rules_path(path) => {
                        format!("the run {evaluation}, so there is nothing to do")
                    }
                    _ => self.describe_remedy(path),
                }
            );
            limits.push(VerdictLimit {
                kind: LimitKind::StricterTip,
                path: Some(path.clone()),
                text,
            });
        }
        limits
    }

    /// Describes how to continue, given that the target has a stricter file at `path`. A pushed branch or a tag, such
    /// as a release branch, may never be merged into the target, so a job of its own can choose the files of the
    /// reviewed commit. In a job that may also run for changes, each change would then decide its own verdict.
    fn describe_remedy(&self, path: &str) -> String {
        let branch = &self.branch;
        let has_own_file = self.own_files.contains(path);
        if has_own_file && self.has_own_policy {
            return "this run uses the file of the reviewed commit (--policy head)".to_owned();
        }
        match self.pushed_reference {
            Some(reference) if has_own_file => format!(
                "if the reviewed commit is not for `{branch}`, for example on a release branch, set \
                 SLUICEGATE_POLICY=head only in a job that runs for pushes to this {reference}, so that the commit's \
                 own file applies; otherwise, merge `{branch}` into your branch"
            ),
            _ => format!("to have your change reviewed against that file, merge `{branch}` into your branch"),
        }
    }

    /// Returns the note that the run evaluated the target's rules. Returns `None` if it did not, and if a limit of the
    /// verdict contains the note.
    pub(crate) fn describe_separate_evaluation(&self, pipelines: &SelectedPipelines) -> Option<String> {
        let mut stricter_paths = self.stricter_settings.iter().map(|(path, _)| path);
        if stricter_paths.any(|path| is_rules_path(path)) {
            return None;
        }
        self.describe_evaluation(pipelines)
    }

    /// Describes that the changed pipelines among the reviewed ones were also evaluated against the target's rules.
    /// Returns `None` if there are no such pipelines, or if no setting of the target is stricter. Rules that only
    /// differ need no note.
    fn describe_evaluation(&self, pipelines: &SelectedPipelines) -> Option<String> {
        let evaluated_pipelines = pipelines.describe_reviewed_files(&self.changed_pipelines)?;
        (self.rules.is_some() && self.may_be_stricter()).then(|| {
            format!(
                "also evaluated {evaluated_pipelines} locally against the rules of `{}` ({}), which apply after the \
                 merge",
                self.branch,
                self.commit.short()
            )
        })
    }

    /// Evaluates the rules that apply after the merge on the changed pipelines, and adds the failed results to
    /// `run_findings`. `find_path` returns the path that a pipeline has in `snapshot`. Returns the pipelines that could
    /// not be read. Does nothing if head's rules apply.
    pub(crate) fn add_target_results(
        &self,
        repo: &Repository,
        snapshot: &Snapshot<'_>,
        find_path: &dyn Fn(&str) -> Option<String>,
        run_findings: &mut RunFindings,
    ) -> Result<Vec<UnreviewedFile>, Failure> {
        let Some(rules) = &self.rules else {
            return Ok(Vec::new());
        };
        let paths: BTreeSet<String> = self
            .changed_pipelines
            .iter()
            .filter_map(|path| find_path(path))
            .collect();
        let files = snapshot.find_files(&paths.iter().map(String::as_str).collect())?;
        // The parsed pipelines are not needed after the evaluation.
        let tip_findings = evaluate_files(repo, rules, files, &|_, _, _| {})?;
        let mut files_by_path: BTreeMap<String, FileResults> = std::mem::take(&mut run_findings.files)
            .into_iter()
            .map(|file| (file.path.clone(), file))
            .collect();
        for file in tip_findings.files {
            let failed_results: Vec<RuleResult> = file
                .results
                .into_iter()
                .filter(|result| result.severity().is_some())
                .map(|result| self.add_branch_name(result))
                .collect();
            if failed_results.is_empty() {
                continue;
            }
            if let Some(head_file) = files_by_path.get_mut(&file.path) {
                for result in failed_results {
                    merge_result(head_file, result);
                }
            } else {
                let tip_file = FileResults {
                    path: file.path.clone(),
                    results: failed_results,
                    is_reviewed: true,
                };
                files_by_path.insert(file.path, tip_file);
            }
        }
        run_findings.files = files_by_path.into_values().collect();
        Ok(tip_findings.unreviewed_files)
    }

    /// Adds to the text of each violation that it comes from the rules of the target branch.
    fn add_branch_name(&self, mut result: RuleResult) -> RuleResult {
        for violation in &mut result.violations {
            violation.text = format!("{} (according to the rules of `{}`)", violation.text, self.branch);
        }
        result
    }
}

/// Adds a result of the target's rules to a file's results, which come from the change's rules. If the file already has
/// a result of this rule, keeps that result if it is an error, and replaces it if it is less severe. Otherwise, adds
/// only the violations about other subjects. Violations with a size are not added, because a counting rule has one
/// violation, which the change's result already contains.
fn merge_result(file: &mut FileResults, target_result: RuleResult) {
    let Some(change_result) = file
        .results
        .iter_mut()
        .find(|result| result.rule == target_result.rule)
    else {
        file.results.push(target_result);
        return;
    };
    if matches!(change_result.status, Status::Error(_)) {
        return;
    }
    if change_result.severity() < target_result.severity() {
        *change_result = target_result;
        return;
    }
    let mut new_violations = target_result.violations;
    new_violations.retain(|violation| {
        let is_known = change_result.violations.iter().any(|change_violation| {
            (&change_violation.about, change_violation.about_kind) == (&violation.about, violation.about_kind)
        });
        violation.size.is_none() && !is_known
    });
    change_result.violations.extend(new_violations);
}
