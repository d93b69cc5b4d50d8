//! Delivers a report to its destinations: files, standard output, the CI host. A destination that fails is reported;
//! the other deliveries and the verdict are unaffected.

mod azure_variables;
mod buildkite_annotation;
mod earlier_smoke_runs;
pub(crate) mod early_failure;
mod file_lines;
mod host_results;
mod input_files;
mod needed_lines;
pub(crate) mod output_conflicts;
pub(crate) mod output_files;
mod policy_flags;
mod report_changes;
mod report_context;
mod report_files;
mod repository_links;
mod reproduction;
mod result_file;
mod review_statement;
pub(crate) mod run_context;
pub(crate) mod run_opening;
mod step_results;
pub(crate) mod unfinished_files;
mod unfinished_run;

pub(crate) use report_files::{is_default_report, list_default_reports};
pub(crate) use review_statement::report_statement_of_dry_run;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::ComparedChanges;
use crate::gate::changes::background_comparison::BackgroundComparison;
use crate::gate::changes::change_list;
use crate::gate::run::EvaluatedRun;
use crate::gate::run::report_subject::ReportSubject;
use crate::job::ci::{CiContext, Host};
use crate::job::cli::CompatMode;
use crate::job::context;
use crate::job::settings::{FileVerdictSettings, ReportDestinations, Selection};
use crate::session::Session;
use crate::session::statement_output::STATEMENT_FAILED;
use crate::session::step_report::choose_annotation_style;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, Repository, Snapshot};
use sluicegate_pipelines::findings::{Finding, Report, RulesFileError};
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::rules;
use sluicegate_pipelines::team_rules::TeamRuleSet;
use sluicegate_reports::{AnnotationStyle, ChangedFile};
use std::sync::atomic::Ordering;

/// The pipelines that a review covers: those that changed, or more.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReviewScope {
    Change,
    /// Also the unchanged pipelines that a publish would include.
    WithPublish,
}

/// The runs that refuse the change to the gate configuration, if the job refuses it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GateRefusal {
    /// Also a local run, with `--gate-changes fail`.
    Anywhere,
    /// Only runs in CI: the change makes a file unusable.
    OnlyInCi,
}

/// A report to deliver, and its destinations.
struct Delivery<'a> {
    report: &'a Report,
    destinations: &'a ReportDestinations,
    /// The repository, and the snapshot that the report is about.
    files: Option<(&'a Repository, &'a Snapshot<'a>)>,
    ci: &'a CiContext,
    /// Whether the run passes, regardless of the verdict.
    is_passing: bool,
    /// The selection of files, if known.
    selection: Option<&'a Selection>,
    /// Treatment of changes that break consumers, if known.
    compat_mode: Option<CompatMode>,
    /// The settings for the verdict in the configuration file that applies to the run.
    file_verdict_settings: FileVerdictSettings,
    /// Whether the change is also checked against the target's tip.
    has_stricter_target: bool,
    scope: ReviewScope,
    /// The commits whose common findings are known, if only new ones fail the gate.
    baseline_commits: &'a [CommitId],
    gate_refusal: GateRefusal,
    /// The workspace of the reviewed files. `None` for the report of an earlier run.
    workspace: Option<&'a Workspace<'a>>,
    /// The workspace with the gate configuration of the run, if there is one.
    policy_workspace: Option<&'a Workspace<'a>>,
    /// How to provide the rules file, if the review did not find it.
    missing_rules_hint: Option<String>,
    /// The rules of the team, whose texts explain their findings.
    team_rules: &'a TeamRuleSet,
    /// The changes to pipelines, if a selection found them.
    compared_changes: Option<&'a ComparedChanges>,
    /// The step outputs about the statement of the review.
    statement_outputs: Vec<(&'static str, String)>,
}

impl Delivery<'_> {
    const fn host(&self) -> Host {
        self.ci.host
    }

    /// Returns whether the commit is a merge of the commit that the host names, which may exist only in this clone.
    fn is_merge_of_host_commit(&self, commit: &str) -> bool {
        self.files
            .is_some_and(|(repo, _)| context::is_merge_of_host_commit(repo, self.ci, commit))
    }

    /// Returns whether the CI host has the commit, so that a link to it works: the host named it, or the clone fetched
    /// it. A merge commit that the job created exists only in this clone. If this is unknown, returns true.
    fn is_known_to_host(&self, commit: &str) -> bool {
        let Some((repo, _)) = self.files else {
            return true;
        };
        let is_named = [&self.ci.commit, &self.ci.checkout]
            .into_iter()
            .flatten()
            .any(|host_commit| host_commit == commit);
        if is_named {
            return true;
        }
        match repo.find_commit_with_id(commit) {
            Ok(Some(commit)) => repo.is_fetched(&commit).unwrap_or(true),
            _ => true,
        }
    }
}

/// Writes and sends the report of a run to all destinations. Returns the worst exit status of those that failed.
pub(crate) fn deliver_gate_report<S: ReportSubject>(
    run: &mut EvaluatedRun<'_, S>,
    destinations: &ReportDestinations,
) -> ExitStatus {
    let changes = list_report_changes(run, destinations);
    add_repository_facts(&run.subject, changes.as_deref(), &mut run.report);
    let mut status = ExitStatus::Success;
    let statement_outputs = review_statement::write_review_statement(run, &destinations.attestation)
        .unwrap_or_else(|failure| {
            status = run.session.report_delivery_failure(STATEMENT_FAILED, &failure);
            Vec::new()
        });
    let (subject, report, facts) = (&run.subject, &run.report, &run.facts);
    let workspace_snapshot = subject
        .workspace()
        .zip(subject.files())
        .map(|(workspace, (_, snapshot))| (workspace, snapshot));
    let delivery = Delivery {
        report,
        destinations,
        files: subject.files(),
        ci: subject.ci(),
        is_passing: run.status == ExitStatus::Success,
        selection: subject.selection(),
        compat_mode: subject.compat_mode(),
        file_verdict_settings: subject
            .policy_workspace()
            .map(|workspace| workspace.sources.file_verdict_settings())
            .unwrap_or_default(),
        has_stricter_target: facts.has_stricter_target,
        scope: if facts.is_before_publish {
            ReviewScope::WithPublish
        } else {
            ReviewScope::Change
        },
        baseline_commits: &facts.baseline_commits,
        gate_refusal: if facts.is_refused_only_in_ci {
            GateRefusal::OnlyInCi
        } else {
            GateRefusal::Anywhere
        },
        workspace: subject.workspace(),
        policy_workspace: subject.policy_workspace(),
        missing_rules_hint: workspace_snapshot
            .and_then(|(workspace, snapshot)| find_missing_rules_hint(workspace, snapshot, report))
            .or_else(|| report.missing_rules_hint.clone()),
        team_rules: &run.team_rules,
        compared_changes: facts.compared_changes.as_ref(),
        statement_outputs,
    };
    status.worse(deliver_report(run.session, &delivery, changes))
}

/// Returns the changes in the pipelines that a review reports. Returns `None` if no output includes them, and for a
/// report that was read from a file.
fn list_report_changes<S: ReportSubject>(
    run: &mut EvaluatedRun<'_, S>,
    destinations: &ReportDestinations,
) -> Option<Vec<ChangedFile>> {
    let background_changes = run
        .facts
        .background_comparison
        .take()
        .and_then(BackgroundComparison::wait_for_changes);
    run.subject.workspace()?;
    let (repo, snapshot) = run.subject.files()?;
    if !change_list::needs_change_list(run.session, run.subject.ci().host, destinations) {
        return None;
    }
    background_changes.or_else(|| list_changed_pipelines(run, repo, snapshot))
}

/// Adds summaries of the changes in the pipelines, and the errors in the rules file, to the report of a review. If the
/// reviewed snapshot lacks the file that a limit of the verdict or a fault is about, removes the path. A report that was
/// read from a file already contains these facts and stays unchanged.
fn add_repository_facts(subject: &impl ReportSubject, changes: Option<&[ChangedFile]>, report: &mut Report) {
    // A run that only reads reports of earlier runs has no workspace.
    let (Some(workspace), Some((_, snapshot))) = (subject.workspace(), subject.files()) else {
        return;
    };
    report.rules_file_errors = find_rules_file_errors(workspace, snapshot, report);
    report.changes = changes.map(|files| files.iter().map(|file| file.summary.clone()).collect());
    // The files may exist only in the target branch.
    let paths = report.limits.iter_mut().map(|limit| &mut limit.path);
    for path in paths.chain([&mut report.faulty_gate_file]) {
        path.take_if(|path| !matches!(snapshot.find_file(path), Ok(Some(_))));
    }
}

/// Returns the changes in the pipelines for the report. Returns `None` without a base to compare with. If they cannot
/// be listed, warns and returns `None`, so that the review is reported without them.
fn list_changed_pipelines<S: ReportSubject>(
    run: &EvaluatedRun<'_, S>,
    repo: &Repository,
    snapshot: &Snapshot<'_>,
) -> Option<Vec<ChangedFile>> {
    let selection = run.subject.selection();
    let is_selected = |path: &str| selection.is_none_or(|selection| selection.selects(path));
    let changes = change_list::find_changed_pipelines(
        repo,
        snapshot,
        &run.report,
        run.facts.compared_changes.as_ref(),
        &is_selected,
    );
    changes.unwrap_or_else(|failure| {
        run.session
            .ui
            .warn_of_failure("could not list the changes to pipelines: ", &failure);
        None
    })
}

/// Returns the hint on how to create or select the rules file, if the review failed because there is none. Returns
/// `None` otherwise, and if the platform's hidden directory cannot be determined.
fn find_missing_rules_hint(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    report: &Report,
) -> Option<String> {
    if !report.findings().iter().any(Finding::is_missing_rules_file_error) {
        return None;
    }
    // If the change deletes the rules file, its path shows the hidden directory to use.
    let mut changed_files = report
        .gate_changes
        .iter()
        .filter_map(|change| change.path.split_once('/'));
    let deleted_config_dir = changed_files
        .find(|(_, file)| *file == RULES_FILE)
        .map(|(config_dir, _)| config_dir);
    let remedy = workspace.find_rules_remedy(snapshot, deleted_config_dir).ok()?;
    Some(remedy.hint())
}

/// Returns the errors in the rules file that `rules lint` shows, if such an error kept pipelines from being evaluated.
/// Returns an empty list otherwise, or if the file cannot be read.
fn find_rules_file_errors(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    report: &Report,
) -> Vec<RulesFileError> {
    if !report.findings().iter().any(Finding::is_rules_file_error) {
        return Vec::new();
    }
    let Ok(Some(file)) = workspace.find_rules_file(snapshot) else {
        return Vec::new();
    };
    let Ok(Ok(bytes)) = workspace.read_document(&file) else {
        return Vec::new();
    };
    rules::lint_rules_file(&bytes)
        .into_iter()
        .filter(|problem| problem.is_error)
        .filter_map(|problem| {
            Some(RulesFileError {
                error_type: problem.error_type?.to_owned(),
                place: problem.format_place(&file.path),
                message: problem.message,
            })
        })
        .collect()
}

/// Shows the failure to deliver one report, if there is one, and returns its exit status. The run continues.
fn report_delivery_result(session: &Session, result: Result<(), Failure>) -> ExitStatus {
    match result {
        Ok(()) => ExitStatus::Success,
        Err(failure) => session.report_delivery_failure(UNDELIVERED_TITLE, &failure),
    }
}

/// Title of a failure to write or send one report.
const UNDELIVERED_TITLE: &str = "A report was not delivered";

/// Writes and sends a report: to files, the log, the step summary, the step outputs and the host's pages. Returns the
/// worst exit status. `changes` are the changes in the pipelines if this run compared them; otherwise, those in the
/// report are used.
fn deliver_report(
    session: &Session,
    delivery: &Delivery<'_>,
    changes: Option<Vec<ChangedFile>>,
) -> ExitStatus {
    let mut context = report_context::build_report_context(session, delivery, changes);
    let mut status = ExitStatus::Success;
    let mut report_result = |result| status = status.worse(report_delivery_result(session, result));
    let written_reports =
        report_files::write_reports(session, delivery.host(), delivery, &context, &mut report_result);
    let outputs = step_results::list_step_outputs(delivery, written_reports.junit_path);
    if reproduction::is_failed_review_in_ci(delivery) {
        context.reports = written_reports.locations;
    }
    context.annotated_error_count = session.annotated_error_count.load(Ordering::Relaxed);
    report_result(step_results::print_findings(
        session, delivery, &context, &outputs,
    ));
    let style = choose_annotation_style(delivery.destinations.annotations, delivery.host());
    // The deferred warnings are also notes of the report. A quiet log without annotations does not show these notes.
    if session.ui.is_quiet() && style == AnnotationStyle::None {
        session.print_deferred_warnings();
    }
    session.discard_deferred_warnings();
    // From here on, a failure of the run does not replace the reports.
    session.finish_reports();
    report_result(step_results::append_step_summary(session, delivery, &context));
    report_result(session.append_outputs(&outputs));
    host_results::send_results(session, delivery, &context);
    session.has_reported.store(true, Ordering::Relaxed);
    status
}
