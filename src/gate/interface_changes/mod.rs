//! Finds the changes for consumers of shared pipelines between the base and the reviewed change, so that a change is
//! not blamed for an earlier break.

pub(crate) mod interface_comparison;

use crate::error::Failure;
use crate::gate::Cause;
use crate::gate::evaluation::Evaluation;
use crate::gate::interface_changes::interface_comparison::{
    ConfigDirs, InterfaceDifference, compare_interfaces,
};
use crate::gate::run::report_subject::ReviewedFiles;
use crate::gate::run::{AcceptBreak, GateRun};
use crate::interface_version::has_shared_pipelines;
use crate::job::ci::{CiContext, Trigger};
use crate::job::cli::CompatMode;
use crate::job::context::{Comparison, ContextError};
use crate::workspace::Workspace;
use sluicegate_base::text::{List, shorten_name};
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::interface::describe_new_pipelines;

const BREAK_MESSAGE: &str =
    "This job does not allow a change that breaks consumers of shared pipelines (--compat fail)";

const BREAK_STEP: &str = "keep the ids and parameters that they use, or accept the break with a reason \
                          (--accept-breaking)";

impl GateRun<'_> {
    /// Adds the changes for consumers to the evaluation, even if no pipeline changed. With `--compat fail`, a breaking
    /// change fails the run unless the job or `accept_break` accepts it, and unknown changes make the run undecided. In
    /// CI, unknown changes add only a note if the change repairs an unreadable file.
    pub(crate) fn add_interface_changes(
        &self,
        evaluation: &mut Evaluation,
        accept_break: &AcceptBreak<'_>,
    ) -> Result<(), Failure> {
        let ci = &self.subject.workspace.ci;
        let settings = &self.subject.settings.verdict.compatibility;
        let fails_on_break = settings.mode == CompatMode::Fail;
        let Some((bases, base_source)) = self.find_interface_bases()? else {
            return Ok(());
        };
        if bases.is_empty() {
            if fails_on_break && self.needs_interface_base()? {
                evaluation.add_notes([self.describe_missing_interface_base(&base_source)]);
            }
            return Ok(());
        }
        // Paths restrict what is reviewed, but a break anywhere reaches the consumers.
        let (workspace, snapshot) = (self.subject.workspace, &self.subject.snapshot);
        let Some((base, changes)) = compare_with_bases(workspace, snapshot, &bases)? else {
            return Ok(());
        };
        let mut compat = changes
            .to_compatibility(Some(base))
            .with_acceptance(settings.accepted_reason.clone());
        compat.refused = fails_on_break && compat.is_breaking() && compat.accepted.is_none();
        if let Some(doubt) = &changes.doubt {
            let note = format!("could not determine the changes for consumers: {}", doubt.reason);
            // In CI, a change that repairs an unreadable file must pass. A local run reports the doubt instead.
            if fails_on_break && (ci.host.is_local() || !doubt.is_repaired) {
                evaluation.add_cause(Cause::UnknownBreaks, note);
            } else {
                evaluation.add_notes([note]);
            }
        }
        evaluation.add_notes(describe_new_pipelines(&compat));
        // The job did not accept the break, but the version name of the run may still allow it, or the published version
        // may lack what breaks.
        if compat.refused {
            match accept_break() {
                Ok(reason) => {
                    compat.refused = reason.is_none();
                    compat.accepted = reason;
                }
                Err(failure) => evaluation.add_notes([format!(
                    "could not determine whether the publish would accept the breaking changes: {}",
                    failure.describe_on_one_line()
                )]),
            }
        }
        if compat.refused {
            let step = describe_break_steps(&changes);
            evaluation.add_cause(Cause::BreakingChange, format!("{BREAK_MESSAGE}: {step}."));
        }
        evaluation.set_compat(compat);
        Ok(())
    }

    /// Returns the note that there is no base for the interface. It omits the reason if a warning already contains it.
    fn describe_missing_interface_base(&self, reason: &str) -> String {
        let note = "could not determine the changes for consumers, because there is no base";
        if self.session.has_shown_reason(reason) {
            note.to_owned()
        } else {
            format!("{note}: {reason}")
        }
    }

    /// Returns the commits that the interface is compared with, and a description of their source. Without commits, the
    /// description says why there are none. Returns `None` if the comparison is turned off, if the event has nothing to
    /// review, if the target already contains the change, or in a scheduled or manual run on a merged commit, whose
    /// break was accepted when it was merged. Bases that cannot be determined are an error only if a breaking change
    /// would fail the run.
    fn find_interface_bases(&self) -> Result<Option<(Vec<CommitId>, String)>, Failure> {
        let ReviewedFiles {
            workspace,
            settings,
            change,
            ..
        } = &self.subject;
        let mode = settings.verdict.compatibility.mode;
        let ci = &workspace.ci;
        if mode == CompatMode::Off || change.idle_reason.is_some() {
            return Ok(None);
        }
        if settings.revisions.base.is_none() && change.bases.is_empty() && change.may_repeat_break(ci) {
            return Ok(describe_skipped_comparison(change, ci));
        }
        let baseline = if settings.revisions.all {
            self.find_interface_bases_without_all()
        } else {
            change.select_baseline_commits().map(Some)
        };
        match baseline {
            // A change without commits of its own breaks nothing. Without `--all`, the run has already failed.
            Err(ContextError::EmptyChange { .. }) => Ok(None),
            Err(error) if mode == CompatMode::Fail => Err(error.into()),
            baseline => Ok(baseline.ok().flatten()),
        }
    }

    /// Returns the commits that the interface would be compared with without `--all`, and a description of their
    /// source. Returns `None` or no commits if the run may repeat an earlier one: a nightly run over all pipelines must
    /// not fail for a break that was accepted when it was merged. Unless the run is about a change or its job names the
    /// base, a base that cannot be determined is not an error either, because such runs often have shallow clones.
    fn find_interface_bases_without_all(&self) -> Result<Option<(Vec<CommitId>, String)>, ContextError> {
        let ReviewedFiles {
            workspace,
            settings,
            change,
            ..
        } = &self.subject;
        let is_base_named = settings.revisions.base.is_some();
        let comparison = match &self.selection.named_base {
            Some(named_base) => Ok(named_base.clone()),
            None => workspace.resolve_comparison_without_all(change, &settings.revisions),
        };
        if let Ok(comparison) = &comparison
            && !is_base_named
            && comparison.may_repeat_break(&workspace.ci)
        {
            return Ok(describe_skipped_comparison(comparison, &workspace.ci));
        }
        match comparison.and_then(|comparison| comparison.select_baseline_commits()) {
            Err(error) if !change.is_change && !is_base_named => Ok(Some((Vec::new(), error.to_string()))),
            baseline => baseline.map(Some),
        }
    }

    /// Returns whether a missing base for the interface must be reported, because the files have shared pipelines. A
    /// publish that follows compares them with the published version.
    fn needs_interface_base(&self) -> Result<bool, Failure> {
        let ReviewedFiles {
            workspace, snapshot, ..
        } = &self.subject;
        if self.is_before_publish {
            return Ok(false);
        }
        match workspace.find_config_dir(snapshot)? {
            Some(config_dir) => Ok(has_shared_pipelines(snapshot, &config_dir)?),
            None => Ok(false),
        }
    }
}

/// Returns no commits, with the reason why a run that may repeat a break compares nothing. Returns `None` if the run is
/// certainly scheduled or manual, because then no comparison is expected.
fn describe_skipped_comparison(comparison: &Comparison, ci: &CiContext) -> Option<(Vec<CommitId>, String)> {
    (ci.trigger == Trigger::Commit).then(|| (Vec::new(), comparison.base_source.clone()))
}

/// Describes how to continue after a break. To accept the break alone does not help if the file of a shared pipeline
/// is missing, because a publish would fail.
fn describe_break_steps(changes: &InterfaceDifference) -> String {
    if changes.missing_paths.is_empty() {
        return BREAK_STEP.to_owned();
    }
    let paths = changes.missing_paths.values();
    let missing_files = List::new(paths.map(|path| format!("`{}`", shorten_name(path))));
    let step = format!(
        "restore {missing_files}, or correct the path in the shared-pipelines file; to remove the shared pipeline, \
         remove its entry and accept the break with a reason (--accept-breaking)"
    );
    if changes.has_other_breaks() {
        format!("{step}; for the other breaks, {BREAK_STEP}")
    } else {
        step
    }
}

/// Compares the snapshot with each base, because after a criss-cross merge, a breaking change may be visible from only
/// one of them. Returns the first base that differs, and the differences from all bases.
fn compare_with_bases<'b>(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    bases: &'b [CommitId],
) -> Result<Option<(&'b CommitId, InterfaceDifference)>, Failure> {
    let config_dir = workspace.find_shared_config_dir(snapshot)?;
    let mut first_difference: Option<(&CommitId, InterfaceDifference)> = None;
    for base in bases {
        let base_snapshot = workspace.repo.snapshot(base.clone());
        let config_dirs = match config_dir.as_deref() {
            // The change moved the file and set its new directory. The base may have files in both directories.
            Some(_) if workspace.named_config_dir.is_some() && config_dir != workspace.named_config_dir => {
                let old_config_dir = workspace.find_shared_config_dir(&base_snapshot)?;
                ConfigDirs::new(old_config_dir, config_dir.clone())
            }
            named_dir if workspace.named_config_dir.is_some() => {
                ConfigDirs::for_named(named_dir, &base_snapshot, snapshot)?
            }
            Some(config_dir)
                if has_shared_pipelines(snapshot, config_dir)?
                    && has_shared_pipelines(&base_snapshot, config_dir)? =>
            {
                ConfigDirs::common(Some(config_dir))
            }
            // If the change moved the hidden directory, each snapshot is searched for its own.
            _ => ConfigDirs::common(None),
        };
        let Some(base_comparison) =
            compare_interfaces(&workspace.repo, &base_snapshot, snapshot, &config_dirs)?
        else {
            continue;
        };
        match &mut first_difference {
            None => first_difference = Some((base, base_comparison)),
            Some((_, comparison)) => comparison.add_base(base_comparison),
        }
    }
    Ok(first_difference)
}
