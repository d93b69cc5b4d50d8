//! Delivers a report to its destinations: files, standard output, the CI host. A destination that fails is reported;
//! the other deliveries and the verdict are unaffected.

mod changes;
pub(crate) mod context_text;
mod host_results;
pub(crate) mod leftovers;
mod needed_lines;
mod report_context;
mod report_files;
mod repository_links;
mod reproduction;
mod result_file;
pub(crate) mod run_opening;
mod step_results;

pub(crate) use report_files::default_reports;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::ComparedChanges;
use crate::gate::changes::change_list;
use crate::gate::changes::changes_ahead::ChangesAhead;
use crate::gate::run::GateRun;
use crate::job::ci::{CiContext, Host};
use crate::job::settings::{Destinations, Selection};
use crate::report::{AnnotationStyle, ChangedFile, WrongRules};
use crate::session::Run;
use crate::session::step_report::annotation_style;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, Repository, Snapshot};
use sluicegate_pipelines::findings::{Finding, Report};
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::rules::{self, LintProblem};
use std::sync::atomic::Ordering;

/// The pipelines that a review covers: those that changed, or more.
#[derive(Clone, Copy)]
pub(crate) enum ReviewScope<'a> {
    Change,
    /// Also the unchanged pipelines that a publish would include.
    WithPublish {
        /// The commit that known findings were compared with.
        known_at: Option<&'a CommitId>,
    },
}

/// A report to deliver, and its destinations.
pub(crate) struct Delivery<'a> {
    pub(crate) report: &'a Report,
    pub(crate) to: &'a Destinations,
    /// The repository, and the snapshot that the report is about.
    pub(crate) files: Option<(&'a Repository, &'a Snapshot<'a>)>,
    pub(crate) ci: Option<&'a CiContext>,
    /// Whether the run passes, regardless of the verdict.
    pub(crate) passes: bool,
    /// The selection of files, if known.
    pub(crate) selection: Option<&'a Selection>,
    /// Whether the change is also checked against the target's tip.
    pub(crate) by_tip: bool,
    pub(crate) scope: ReviewScope<'a>,
    /// The gate configuration in force comes from another commit than the reviewed one.
    pub(crate) is_policy_elsewhere: bool,
    /// The errors in the rules file.
    pub(crate) wrong_rules: Vec<WrongRules>,
    /// How to provide the rules file, if the review did not find it.
    pub(crate) missing_rules_hint: Option<String>,
    /// The changes of pipelines, if a selection found them.
    pub(crate) compared: Option<&'a ComparedChanges>,
}

impl Delivery<'_> {
    fn host(&self) -> Host {
        self.ci.map_or(Host::None, |ci| ci.host)
    }

    /// Returns whether the CI host has the commit, and not only this clone: a merge that the job created is unknown to
    /// the host. If the clone cannot tell, the host has it.
    fn is_on_host(&self, commit: &str) -> bool {
        let Some((repo, ci)) = self.files.map(|(repo, _)| repo).zip(self.ci) else {
            return true;
        };
        let is_named = [&ci.commit, &ci.checkout]
            .into_iter()
            .flatten()
            .any(|named| named == commit);
        let commit = repo.commit_with_id(commit).filter(|_| !is_named);
        commit.is_none_or(|commit| repo.was_fetched(&commit).unwrap_or(true))
    }
}

/// Delivers the report of a run; the status is a failure if a destination could not be reached.
pub(crate) fn deliver(gate: &mut GateRun<'_>, report: &mut Report) -> ExitStatus {
    let changes = list_changes(gate, report);
    report.changes = changes
        .as_ref()
        .map(|files| files.iter().map(|file| file.changed.clone()).collect());
    let (workspace, snapshot) = (gate.workspace, &gate.snapshot);
    for limit in &mut report.limits {
        // The file may exist only in the target branch.
        limit.path = limit
            .path
            .take()
            .filter(|path| matches!(snapshot.find(path), Ok(Some(_))));
    }
    let delivery = Delivery {
        report,
        to: &gate.settings.judging.destinations,
        files: Some((&workspace.repo, snapshot)),
        ci: Some(&workspace.ci),
        passes: gate.status == ExitStatus::Success,
        selection: Some(&gate.settings.selection),
        by_tip: gate.has_stricter_target(),
        scope: if gate.is_before_publish {
            let baseline = gate.baseline.as_ref();
            let known_at = baseline.and_then(|baseline| baseline.bases.first());
            ReviewScope::WithPublish { known_at }
        } else {
            ReviewScope::Change
        },
        is_policy_elsewhere: workspace.policy_is_elsewhere(),
        wrong_rules: wrong_rules(workspace, snapshot, report),
        missing_rules_hint: missing_rules_hint(workspace, snapshot, report),
        compared: Some(&gate.compared),
    };
    deliver_from(gate.session, &delivery, changes)
}

/// Returns the changes if an output includes them. If they cannot be listed, the review is reported without them.
fn list_changes(gate: &mut GateRun<'_>, report: &Report) -> Option<Vec<ChangedFile>> {
    let ahead = gate.changes_ahead.take().and_then(ChangesAhead::finish);
    let (session, workspace, settings) = (gate.session, gate.workspace, gate.settings);
    if !change_list::writes_changes(session, workspace.ci.host, &settings.judging.destinations) {
        return None;
    }
    if ahead.is_some() {
        return ahead;
    }
    let wants = |path: &str| settings.selection.wants(path);
    let changes = change_list::changes(
        &workspace.repo,
        &gate.snapshot,
        report,
        Some(&gate.compared),
        &wants,
    );
    changes.unwrap_or_else(|failure| {
        session
            .ui
            .warn(&format!("could not list the changes: {}", failure.words()));
        None
    })
}

/// Returns how to provide the rules file, if the review did not find it.
fn missing_rules_hint(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>, report: &Report) -> Option<String> {
    if !report.findings().iter().any(Finding::is_of_missing_rules) {
        return None;
    }
    // A change that deletes the file reveals the directory, too.
    let mut deleted = report
        .gate_changes
        .iter()
        .filter_map(|change| change.path.split_once('/'));
    let deleted_folder = deleted
        .find(|(_, file)| *file == RULES_FILE)
        .map(|(folder, _)| folder);
    let remedy = workspace.rules_remedy(snapshot, deleted_folder).ok()?;
    Some(remedy.hint())
}

/// Returns the errors that `rules lint` shows, if the rules file keeps pipelines from being evaluated.
fn wrong_rules(workspace: &Workspace<'_>, snapshot: &Snapshot<'_>, report: &Report) -> Vec<WrongRules> {
    if !report.findings().iter().any(Finding::is_of_the_rules_file) {
        return Vec::new();
    }
    let Ok(Some(file)) = workspace.rules_file(snapshot) else {
        return Vec::new();
    };
    let Ok(Ok(bytes)) = workspace.read(&file) else {
        return Vec::new();
    };
    let problems = rules::lint(&bytes).into_iter().filter(|problem| problem.is_error);
    let wrong = |problem: LintProblem| {
        let at = problem.position;
        Some(WrongRules {
            error_type: problem.error_type?,
            message: problem.message,
            place: format!("{}:{}:{}", file.path, at.line, at.column),
        })
    };
    problems.filter_map(wrong).collect()
}

/// Delivers a report. `changes` are those in the pipelines, if they were computed; otherwise those of the report are
/// used.
pub(crate) fn deliver_from(
    run: &Run,
    delivery: &Delivery<'_>,
    changes: Option<Vec<ChangedFile>>,
) -> ExitStatus {
    let about = report_context::about(run, delivery, changes);
    let mut status = ExitStatus::Success;
    let mut check = |result: Result<(), Failure>| {
        if let Err(failure) = result {
            status = status.worse(run.report_failure_as("A report was not delivered", &failure));
        }
    };
    report_files::write_reports(run, delivery.host(), delivery, &about, &mut check);
    check(step_results::show(run, delivery, &about));
    let style = annotation_style(delivery.to.annotations, delivery.host());
    if run.ui.is_quiet() && style == AnnotationStyle::None {
        run.print_deferred_warnings();
    }
    run.discard_deferred_warnings();
    run.finish_reports();
    check(step_results::summarize(run, delivery, &about));
    check(step_results::tell_outputs(run, delivery));
    host_results::send(run, delivery, &about);
    run.has_reported.store(true, Ordering::Relaxed);
    status
}
