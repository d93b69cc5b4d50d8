//! Selects the pipelines of a run, and determines the gate changes and the stricter settings of the target.

pub(crate) mod compared_changes;
mod gate_file_changes;
pub(crate) mod lookalike;
pub(crate) mod named_files;
pub(crate) mod other_changes;
pub(crate) mod replaced_directories;
pub(crate) mod selected_pipelines;
pub(crate) mod selection_reason;
pub(crate) mod selection_scope;
pub(in crate::gate) mod unmatched_selection;

use crate::error::Failure;
use crate::gate::evaluation::Evaluation;
use crate::gate::selection::selection_reason::SelectionReason;
use crate::gate::stricter_target::StricterTarget;
use crate::gate::{
    Cause, SelectedPipelines, SelectionScope, has_changes_outside_gate, select_named_files, select_pipelines,
};
use crate::job::cli::GateChanges;
use crate::job::context::{Comparison, RequestedRevisions};
use crate::job::settings::Selection;
use crate::session::Session;
use crate::workspace::Workspace;
use crate::workspace::gate_file_problems::{GatePart, UnusableGateFiles};
use crate::workspace::unusable_gate_files::ResolveSelection;
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::findings::GateFault;
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::BTreeSet;

const GATE_CHANGE_MESSAGE: &str = "The change edits the gate configuration and other files. This job does not allow that \
                       (--gate-changes fail): propose the gate configuration in a separate change.";

const STRICTER_TARGET_MESSAGE: &str = "The target branch has a stricter gate configuration than this change. This job does not allow that \
                        (--gate-changes fail): merge the target branch into the change.";

/// The settings and paths by which pipelines are selected.
pub(crate) struct SelectionRequest<'a> {
    pub(crate) selection: &'a Selection,
    /// Files and directories, relative to the repository root; empty for no restriction.
    pub(crate) paths: &'a [String],
    /// Files that are selected even if they did not change.
    pub(crate) named_files: &'a [String],
    /// The requested revisions, which override those of the host.
    pub(crate) revisions: &'a RequestedRevisions,
    /// Function that resolves the settings of the command from another version of the configuration file.
    pub(crate) resolve: &'a ResolveSelection<'a>,
}

/// The selected pipelines, and what the selection found in the gate configuration.
#[derive(Default)]
pub(crate) struct SelectionResult {
    pub(crate) pipelines: SelectedPipelines,
    /// The change edits the gate configuration and other files, and the job does not allow that.
    pub(crate) rejects_gate_change: bool,
    /// The settings of the target's tip that are stricter than those of the change.
    pub(crate) stricter_target: Option<StricterTarget>,
    /// The target is stricter, and the job does not allow that.
    pub(crate) rejects_stricter_target: bool,
    /// The note that relaxed settings of the change are not in effect yet.
    pub(crate) later_effect: Option<String>,
    /// The files of the gate configuration that cannot be used.
    pub(crate) unusable_files: UnusableGateFiles,
    /// The base that the job names together with `--all`.
    pub(crate) named_base: Option<Comparison>,
}

impl SelectionResult {
    /// Prints why all pipelines are selected, unless the job requested that, a warning already explains it, or there
    /// are none.
    pub(crate) fn report_reason_for_all(&self, session: &Session, revisions: &RequestedRevisions) {
        if self.pipelines.files.is_empty() {
            return;
        }
        let reason = self.pipelines.reason_for_all.as_ref().filter(|_| !revisions.all);
        // A reason may have several clauses, and a warning may contain only some of them.
        let new_clauses: Vec<&str> = reason
            .iter()
            .flat_map(|reason| reason.split("; "))
            .filter(|clause| !session.has_shown_reason(clause))
            .collect();
        if !new_clauses.is_empty() {
            session
                .ui
                .say(&SelectionReason::AllSelected(new_clauses.join("; ")).to_string());
        }
    }

    /// Returns whether the change makes a file of the gate configuration unusable, but the job allows its other changes
    /// to the gate configuration. A local run does not refuse such a change, unless the team's rules are unusable.
    pub(crate) fn is_refused_only_in_ci(&self) -> bool {
        self.unusable_files.new_problems().next().is_some()
            && !self.unusable_files.has_new_problem(GatePart::TeamRules)
            && !self.rejects_gate_change
            && !self.rejects_stricter_target
    }

    /// Adds the causes that the selection found in the gate configuration: a change that the job does not allow, files
    /// that the change makes unusable, and a stricter target. Files that were unusable before the change become notes,
    /// and stricter files of the target become limits.
    pub(crate) fn add_causes(&self, evaluation: &mut Evaluation) {
        if self.rejects_gate_change {
            evaluation.add_cause(Cause::GateChange, GATE_CHANGE_MESSAGE);
        }
        if let Some(path) = self.unusable_files.first_new_path() {
            evaluation.add_faulty_gate_file(path);
        }
        for problem in self.unusable_files.new_problems() {
            let message = format!(
                "The change makes a gate configuration file unusable: {}. Fix the file in this change, \
                 because no later run could use it.",
                problem.message
            );
            evaluation.add_cause(Cause::GateFault(GateFault::UnusableFile), message);
        }
        evaluation.add_notes(self.later_effect.clone());
        for problem in self.unusable_files.old_problems() {
            if !evaluation.explains_unused_file(problem) {
                evaluation.add_notes([format!(
                    "A gate configuration file was unusable before this change: {}",
                    problem.message
                )]);
            }
        }
        let Some(target) = &self.stricter_target else {
            return;
        };
        for limit in target.list_limits(&self.pipelines, self.rejects_stricter_target) {
            evaluation.add_limit(limit);
        }
        evaluation.add_notes(target.describe_separate_evaluation(&self.pipelines));
        if self.rejects_stricter_target {
            evaluation.add_cause(Cause::GateChange, STRICTER_TARGET_MESSAGE);
        }
    }
}

/// Describes the number of files, and counts those that are not pipelines separately: `2 pipelines and 1 other file`.
pub(crate) fn describe_file_count<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    count_files(paths, "pipeline")
}

/// Describes the number of files as [`describe_file_count`] does, with this noun for the pipelines.
fn count_files<'p>(paths: impl Iterator<Item = &'p str>, pipeline_noun: &str) -> String {
    let (mut pipeline_count, mut other_count) = (0, 0);
    for path in paths {
        if is_pipeline(path) {
            pipeline_count += 1;
        } else {
            other_count += 1;
        }
    }
    let pipelines = format_count(pipeline_count, pipeline_noun);
    let other_files = format_count(other_count, "other file");
    match (pipeline_count, other_count) {
        (_, 0) => pipelines,
        (0, _) => other_files,
        _ => format!("{pipelines} and {other_files}"),
    }
}

impl SelectedPipelines {
    /// Returns whether a pipeline, or a file whose name looks like one, is selected or differs from the base. Globs of
    /// `include` may also select other files.
    pub(crate) fn has_pipelines(&self) -> bool {
        let changed_paths = self
            .candidates
            .iter()
            .flat_map(|candidate| candidate.change.paths());
        let mut paths = self.files.iter().map(String::as_str).chain(changed_paths);
        !self.lookalikes.is_empty() || paths.any(is_pipeline)
    }

    /// Describes the number of files to review, such as `2 pipelines`.
    pub(crate) fn describe_file_count(&self) -> String {
        describe_file_count(self.files.iter().map(String::as_str))
    }

    /// Describes the number of files to review that are among the candidates at `paths`, such as `2 changed pipelines`.
    /// Without a base, the candidates are all pipelines, changed or not. Returns `None` if there are no such files.
    pub(crate) fn describe_reviewed_files(&self, paths: &BTreeSet<String>) -> Option<String> {
        let reviewed_files: Vec<&str> = self
            .files
            .iter()
            .filter(|path| paths.contains(*path))
            .map(String::as_str)
            .collect();
        let noun = if self.bases.is_empty() {
            "pipeline"
        } else {
            "changed pipeline"
        };
        (!reviewed_files.is_empty()).then(|| count_files(reviewed_files.into_iter(), noun))
    }
}

impl Workspace<'_> {
    /// Selects the pipelines to review. Also finds the changes to the gate configuration, gate configuration files that
    /// cannot be used, and a stricter target. The gate configuration is compared with the bases that the host implies,
    /// if there are any. Selects nothing if the event has nothing to review.
    pub(crate) fn select_pipelines(
        &self,
        session: &Session,
        snapshot: &Snapshot<'_>,
        comparison: &Comparison,
        request: &SelectionRequest<'_>,
    ) -> Result<SelectionResult, Failure> {
        if comparison.idle_reason.is_some() {
            return Ok(SelectionResult::default());
        }
        self.reject_hidden_gate_files(session)?;
        self.reject_unmatched_selection(snapshot, &comparison.bases, request)?;
        // Fails if the directory is ambiguous; its name is not needed here.
        self.find_config_dir(snapshot)?;
        let named_base = self.resolve_base_named_with_all(session, comparison, request.revisions)?;
        let host_bases =
            self.resolve_gate_bases(session, comparison, request.revisions, named_base.as_ref())?;
        let bases = match host_bases.as_slice() {
            [] => comparison.bases.as_slice(),
            bases => bases,
        };
        let rename_bases = match &named_base {
            Some(named_base) => named_base.bases.clone(),
            None => self.find_rename_bases(comparison, &host_bases),
        };
        let base_snapshots: Vec<Snapshot<'_>> = bases
            .iter()
            .map(|base| self.repo.snapshot(base.clone()))
            .collect();
        let gate_files = self.find_gate_files(std::iter::once(snapshot).chain(&base_snapshots))?;
        let gate_file_paths = gate_files.paths();
        let scope = SelectionScope {
            head: snapshot,
            bases: &comparison.bases,
            base_source: &comparison.base_source,
            config_dir: self.named_config_dir.as_deref(),
            gate_file_paths: &gate_file_paths,
            host_bases: &host_bases,
            rename_bases: &rename_bases,
            describe_change: &|base, change| self.describe_gate_change(snapshot, &gate_files, base, change),
            includes: &|path| request.selection.includes(path),
            excludes: &|path| request.selection.excludes(path),
            paths: request.paths,
        };
        let pipelines = match request.named_files {
            [] => select_pipelines(&scope)?,
            named_files => select_named_files(&scope, named_files)?,
        };
        // A change that edits only the gate configuration is allowed, because the job demands such a separate change.
        let fails_on_gate_change = self.gate_changes == GateChanges::Fail;
        let rejects_gate_change =
            fails_on_gate_change && !pipelines.gate_changes.is_empty() && has_changes_outside_gate(&scope)?;
        let unusable_files = self.find_unusable_gate_files(session, snapshot, bases, request.resolve)?;
        let stricter_target = self.find_stricter_target(snapshot, bases, &pipelines)?;
        let may_be_stricter = stricter_target
            .as_ref()
            .is_some_and(StricterTarget::may_be_stricter);
        Ok(SelectionResult {
            later_effect: self.describe_later_effect(&gate_files, &pipelines.relaxed_gate_files),
            rejects_stricter_target: fails_on_gate_change && may_be_stricter,
            stricter_target,
            named_base,
            pipelines,
            rejects_gate_change,
            unusable_files,
        })
    }

    /// Returns the commits since which renamed pipelines are found in a run without bases.
    fn find_rename_bases(&self, comparison: &Comparison, host_bases: &[CommitId]) -> Vec<CommitId> {
        if host_bases.is_empty() {
            return self.find_local_rename_base(comparison).into_iter().collect();
        }
        host_bases.to_vec()
    }

    /// Returns the checked-out commit if a local run checks the files on disk or in the index, and no base is known,
    /// for example because the clone has no remote. As in `diff`, uncommitted renames are found by comparing with it.
    fn find_local_rename_base(&self, comparison: &Comparison) -> Option<CommitId> {
        if !self.ci.host.is_local() || !comparison.bases.is_empty() || comparison.head.is_some() {
            return None;
        }
        self.repo.head().ok().map(|head| head.commit)
    }
}

/// Explains why no pipeline is selected. If only changed pipelines were to be selected in a local run, also explains how
/// to select all of them: in CI, such a run needs no action. `paths` are the paths that restrict the selection.
pub(crate) fn explain_empty_selection(
    snapshot: &Snapshot<'_>,
    selection: &Selection,
    paths: &[String],
    pipelines: &SelectedPipelines,
    is_local_run: bool,
) -> Result<String, Failure> {
    let files = snapshot.list_content_files(&|path| is_pipeline(path) && selection.selects(path))?;
    let name = snapshot.name();
    if files.is_empty() {
        return Ok(format!("{name} contains no pipeline that the globs select"));
    }
    let file_count = format_count(files.len(), "pipeline");
    let has_globs = selection.is_customized() || !selection.patterns().1.is_empty();
    let subset = if has_globs { " that the globs select" } else { "" };
    if pipelines.reason_for_all.is_some() && !paths.is_empty() {
        return Ok(format!(
            "{name} contains {file_count}, but the globs select no pipeline in the given paths"
        ));
    }
    let change = match pipelines.count_deleted(selection, paths) {
        0 => "no selected pipeline changed".to_owned(),
        count => format!(
            "the change deletes {} and edits no other selected one",
            format_count(count, "pipeline")
        ),
    };
    let advice = match files.len() {
        _ if !is_local_run => "",
        1 => ": use --all to select it",
        _ => ": use --all to select them all",
    };
    Ok(format!("{change}; {name} contains {file_count}{subset}{advice}"))
}
