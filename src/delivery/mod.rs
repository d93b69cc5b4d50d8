//! Delivers a report to its destinations: files, standard output, the CI host. A destination that fails is reported;
//! the other deliveries and the verdict are unaffected.

mod changes;
mod host_results;
pub(crate) mod leftovers;
mod needed_lines;
mod report_context;
mod report_files;
mod repository_links;
mod reproduction;
mod step_results;

pub(crate) use report_files::default_reports;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::ComparedChanges;
use crate::gate::change_list;
use crate::gate::changes_ahead::ChangesAhead;
use crate::gate::evaluation::{ReviewedBeyondChange, RunEnding};
use crate::job::ci::{CiContext, Host};
use crate::job::settings::{Destinations, Judging, Selection};
use crate::model::findings::{Finding, Report};
use crate::model::pipelines::RULES_FILE;
use crate::model::rules::{self, LintProblem};
use crate::report::{AnnotationStyle, ChangedFile, WrongRules};
use crate::session::Run;
use crate::session::step_report::annotation_style;
use crate::workspace::Workspace;
use sluicegate_git::{Repository, Snapshot};
use std::sync::atomic::Ordering;

/// A report to deliver, and its destinations.
pub(crate) struct Delivery<'a> {
    pub(crate) report: &'a Report,
    pub(crate) to: &'a Destinations,
    /// Whether the run passes, regardless of the verdict.
    pub(crate) passes: bool,
    /// The selection of files, if known.
    pub(crate) selection: Option<&'a Selection>,
    /// Whether the change is also checked against the target's tip.
    pub(crate) by_tip: bool,
    /// The unchanged pipelines that were reviewed as well.
    pub(crate) unchanged: Option<&'a ReviewedBeyondChange>,
    /// The gate configuration in force comes from another commit than the reviewed one.
    pub(crate) is_policy_elsewhere: bool,
    /// The reasons why files were not reviewed that were reported already.
    pub(crate) told: &'a [String],
    /// The errors in the rules file.
    pub(crate) wrong_rules: Vec<WrongRules>,
    /// How to provide the rules file, if the review did not find it.
    pub(crate) missing_rules_hint: Option<String>,
    /// The changes of pipelines, if a selection found them.
    pub(crate) compared: Option<&'a ComparedChanges>,
}

/// The destinations of a report, and the changes to include.
pub(crate) struct Telling<'a> {
    pub(crate) to: &'a Destinations,
    /// The pipelines whose change is included.
    selection: &'a Selection,
    compared: ComparedChanges,
    /// The changes, if they were compared while the platform responded.
    ahead: Option<Vec<ChangedFile>>,
}

impl<'a> Telling<'a> {
    pub(crate) const fn of(
        judging: &'a Judging,
        selection: &'a Selection,
        compared: ComparedChanges,
    ) -> Self {
        Self {
            to: &judging.destinations,
            selection,
            compared,
            ahead: None,
        }
    }

    /// Adds the changes that were compared while the platform responded.
    pub(crate) fn with_ahead(mut self, ahead: Option<ChangesAhead>) -> Self {
        self.ahead = ahead.and_then(ChangesAhead::finish);
        self
    }
}

/// The repository and the CI host of the run, as far as known.
pub(crate) struct DeliveryPlace<'a> {
    /// The repository, and the snapshot that the report is about.
    pub(crate) files: Option<(&'a Repository, &'a Snapshot<'a>)>,
    pub(crate) ci: Option<&'a CiContext>,
}

impl DeliveryPlace<'_> {
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

/// Delivers the findings in these files of the workspace; the status is a failure if a destination could not be
/// reached.
pub(crate) fn deliver(
    run: &Run,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    report: &mut Report,
    ending: &RunEnding,
    mut telling: Telling<'_>,
) -> ExitStatus {
    let changes = changed(run, workspace, snapshot, report, &mut telling);
    report.changes = changes
        .as_ref()
        .map(|files| files.iter().map(|file| file.changed.clone()).collect());
    for limit in &mut report.limits {
        // The file may exist only in the target branch.
        limit.path = limit
            .path
            .take()
            .filter(|path| matches!(snapshot.find(path), Ok(Some(_))));
    }
    let place = DeliveryPlace {
        files: Some((&workspace.repo, snapshot)),
        ci: Some(&workspace.ci),
    };
    deliver_from(
        run,
        &place,
        &Delivery {
            report,
            to: telling.to,
            passes: ending.status == ExitStatus::Success,
            selection: Some(telling.selection),
            by_tip: ending.by_tip,
            unchanged: ending.unchanged.as_ref(),
            is_policy_elsewhere: workspace.policy_is_elsewhere(),
            told: &ending.told,
            wrong_rules: wrong_rules(workspace, snapshot, report),
            missing_rules_hint: missing_rules_hint(workspace, snapshot, report),
            compared: Some(&telling.compared),
        },
        changes,
    )
}

/// Returns the changes if an output includes them. If they cannot be listed, the review is reported without them.
fn changed(
    run: &Run,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    report: &Report,
    telling: &mut Telling<'_>,
) -> Option<Vec<ChangedFile>> {
    if !change_list::writes_changes(run, workspace.ci.host, telling.to) {
        return None;
    }
    if let Some(ahead) = telling.ahead.take() {
        return Some(ahead);
    }
    let wants = |path: &str| telling.selection.wants(path);
    let compared = Some(&telling.compared);
    change_list::changes(&workspace.repo, snapshot, report, compared, &wants).unwrap_or_else(|failure| {
        run.ui
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
    place: &DeliveryPlace<'_>,
    delivery: &Delivery<'_>,
    changes: Option<Vec<ChangedFile>>,
) -> ExitStatus {
    let about = report_context::about(run, place, delivery, changes);
    let mut status = ExitStatus::Success;
    let mut check = |result: Result<(), Failure>| {
        if let Err(failure) = result {
            status = status.worse(run.report_failure_as("A report was not delivered", &failure));
        }
    };
    report_files::write_reports(run, place.host(), delivery, &about, &mut check);
    check(step_results::show(run, place, delivery, &about));
    let style = annotation_style(delivery.to.annotations, place.host());
    if run.ui.is_quiet() && style == AnnotationStyle::None {
        run.print_deferred_warnings();
    }
    run.discard_deferred_warnings();
    run.finish_reports();
    check(step_results::summarize(run, delivery, &about));
    check(step_results::tell_outputs(run, place, delivery));
    host_results::send(run, place, delivery, &about);
    run.has_reported.store(true, Ordering::Relaxed);
    status
}
