//! Writes the statement about a passed review, for programs that sign it.

use crate::attestation::{PredicateKind, ReviewPredicate};
use crate::error::Failure;
use crate::gate::explain_unusable_review;
use crate::gate::run::EvaluatedRun;
use crate::gate::run::report_subject::ReportSubject;
use crate::job::settings::{AttestationFiles, ReportDestinations};
use crate::session::Session;
use crate::session::statement_output::write_statement;
use crate::workspace::Workspace;
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::{Report, ReviewContext, Verdict};

/// Prints the reason why a dry run writes no statement, if one was requested.
pub(crate) fn report_statement_of_dry_run(session: &Session, destinations: &ReportDestinations) {
    if destinations.attestation.is_requested() {
        session.report_missing_statement("review", "a dry run reviews nothing");
    }
}

/// Writes the attestation statement about the review to the requested files. Returns the step outputs about the
/// statement; empty if it was not requested, or if there is a reason against it, which is reported.
///
/// A review that did not pass or is partial must not have a statement: verifiers look only at the subjects and the type
/// of a signed statement, so they would take it for a complete review that passed.
pub(super) fn write_review_statement<S: ReportSubject>(
    run: &EvaluatedRun<'_, S>,
    files: &AttestationFiles,
) -> Result<Vec<(&'static str, String)>, Failure> {
    let (session, report) = (run.session, &run.report);
    if !files.is_requested() {
        return Ok(Vec::new());
    }
    let (workspace, commit) = match require_reviewed_commit(run) {
        Ok(reviewed_commit) => reviewed_commit,
        Err(reason) => {
            session.report_missing_statement("review", &reason);
            return Ok(Vec::new());
        }
    };
    let policy_digests = workspace.compute_policy_digests()?;
    // The digests are those of the checkout. A report from a file may be from a run with another gate configuration.
    let is_saved_report = run.subject.workspace().is_none();
    if is_saved_report
        && policy_digests
            .commit
            .as_deref()
            .is_some_and(|id| !is_policy_of(report, id))
    {
        let reason = "the checkout does not have the gate configuration that the review used";
        session.report_missing_statement("review", reason);
        return Ok(Vec::new());
    }
    // Without a known policy commit, this run ignores the gate configuration, which the review may have used.
    if is_saved_report && let Some(reason) = workspace.explain_other_policy(&report.context)? {
        session.report_missing_statement("review", &reason);
        return Ok(Vec::new());
    }
    if is_saved_report && let Some(reason) = explain_different_settings(workspace, &report.context) {
        session.report_missing_statement("review", &reason);
        return Ok(Vec::new());
    }
    let reviewed_paths = report.reviewed_files().map(|file| file.path.as_str()).collect();
    let pipelines = workspace.hash_committed_files(&commit, &reviewed_paths)?;
    // The branch of a fork's change is not a branch of the repository that the statement names.
    let branch = report.context.branch.clone().filter(|_| !workspace.ci.fork);
    let statement = ReviewPredicate::from_report(
        report,
        commit.as_str(),
        branch,
        workspace.find_repository_address(),
        policy_digests,
        workspace.compute_rules_digest(&commit)?,
    )
    .into_statement(&pipelines);
    write_statement(&statement, files)?;
    Ok(session.list_statement_outputs(PredicateKind::Review, &statement.subjects))
}

/// Returns the workspace and the reviewed commit if the review may have a statement. The error is the reason why it
/// must not have one.
fn require_reviewed_commit<'g, S: ReportSubject>(
    run: &'g EvaluatedRun<'_, S>,
) -> Result<(&'g Workspace<'g>, CommitId), String> {
    let report = &run.report;
    let context = &report.context;
    if report.verdict != Verdict::Passed {
        return Err(format!("the verdict is {}", report.verdict));
    }
    if let Some(reason) = explain_unusable_review(context) {
        return Err(reason);
    }
    if context.compared_with.is_some() {
        return Err("the verdict is from a comparison with an older report".to_owned());
    }
    if let Some(reason) = run.subject.idle_reason() {
        return Err(reason.to_owned());
    }
    let workspace = run
        .subject
        .policy_workspace()
        .ok_or("there is no clone with the reviewed commit")?;
    let head = context.head.as_deref().unwrap_or_default();
    let commit = workspace
        .repo
        .find_commit_with_id(head)
        .map_err(|error| error.to_string())?
        .ok_or("the clone does not have the reviewed commit")?;
    let policy = workspace.policy_revision.commit().map(CommitId::as_str);
    if context.policy.as_deref() != policy {
        return Err("the review and this run use the gate configuration of different commits".to_owned());
    }
    Ok((workspace, commit))
}

/// Returns the reason if a setting of the job that selects the files of the gate configuration differs from that of the
/// review: the statement would list files that the review did not use.
fn explain_different_settings(workspace: &Workspace<'_>, context: &ReviewContext) -> Option<String> {
    let has_same_team_rules = context.team_rules_off == workspace.are_team_rules_turned_off_by_job()
        && context.team_rules == workspace.find_team_rules_path_of_job();
    workspace.explain_other_config(context).or_else(|| {
        (!has_same_team_rules)
            .then(|| "the review and this run have different values of --team-rules".to_owned())
    })
}

/// Returns whether the gate configuration of a saved report was read from this commit. A report that does not name a
/// policy commit used the gate configuration of its head.
fn is_policy_of(report: &Report, commit: &str) -> bool {
    let context = &report.context;
    context.policy.as_deref().or(context.head.as_deref()) == Some(commit)
}
