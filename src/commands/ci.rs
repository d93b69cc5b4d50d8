//! Runs `sluicegate ci`: reviews, then publishes if the review of the same commit passed and the branch or tag matches.
//!
//! If the branch or tag matches, everything that would be published is reviewed, changed or not: the previous job may
//! have failed or been cancelled, and its unpublished pipelines are unchanged since.

use super::review::CommitReview;
use crate::delivery::is_default_report;
use crate::delivery::unfinished_files::record_failure_in_reports;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::CiArgs;
use crate::publication::{
    PlannedPublish, Publication, RequiredReview, VersionHistory, complete_run, explain_no_publish,
    reject_lost_publish_on,
};
use crate::session::step_report::PUBLISH_FAILED;
use crate::session::{CommandResult, Session};
use jiff::Timestamp;
use sluicegate_pipelines::findings::{Report, Verdict};

/// Runs `sluicegate ci`: reviews the change, then publishes if the review passed and the setting `publish-on` includes
/// the branch or tag.
pub(crate) fn run(session: &Session, args: &CiArgs) -> CommandResult {
    let subject = CommitReview::open(session, &args.review, Some(&args.publish))?;
    reject_shared_output_path(args, &subject)?;
    let selected_run = subject.start_run(session, &args.review)?;
    // The publish is planned first, because the review also covers the pipelines to publish. A publish requires a
    // review of all pipelines.
    let planned_publish = match selected_run.explain_partial_review() {
        None => PlannedPublish::prepare(session, args, &subject.workspace, &subject.target)?,
        Some(_) => None,
    };
    let publish = planned_publish.as_ref();
    let gate = complete_run(selected_run, publish, &subject.connection, &subject.target.head)?;
    // Now, the shard is also known.
    let partial_reason = gate.explain_partial_review();
    let evaluated_run = subject.review(gate, publish)?;
    let status = evaluated_run
        .as_ref()
        .map_or(ExitStatus::Success, |evaluated_run| evaluated_run.status);
    let report = evaluated_run.as_ref().map(|evaluated_run| &evaluated_run.report);
    if status != ExitStatus::Success {
        discard_publish_report(session, args, &subject, report);
        return Ok(status);
    }
    let result = find_reason_against_publish(args, &subject, partial_reason, report).and_then(|reason| {
        publish_reviewed_commit(
            session,
            args,
            &subject,
            report,
            planned_publish,
            reason.as_deref(),
        )
    });
    // The caller would report a failed publish as a failed review.
    Ok(result.unwrap_or_else(|failure| {
        record_failure_in_reports(session, &failure);
        session.report_failure_as(PUBLISH_FAILED, &failure)
    }))
}

/// Fails if a file of the publish would overwrite a file of the review.
fn reject_shared_output_path(args: &CiArgs, subject: &CommitReview<'_>) -> Result<(), Failure> {
    // An invalid setting is reported where the settings of the publish are read.
    if let Ok(files) = subject.workspace.sources.resolve_publish_files(&args.publish) {
        let destinations = &subject.settings.gate.verdict.destinations;
        destinations.reject_paths_of_publish(&files)?;
    }
    Ok(())
}

/// Publishes the commit after its review passed, unless `publish-on` does not include the branch or tag. A local run
/// that the settings do not allow to publish (`--publish`) only prints a preview. `reason` states why nothing is
/// published. A dry run has no report.
fn publish_reviewed_commit(
    session: &Session,
    args: &CiArgs,
    subject: &CommitReview<'_>,
    report: Option<&Report>,
    planned_publish: Option<PlannedPublish>,
    reason: Option<&str>,
) -> CommandResult {
    let workspace = &subject.workspace;
    if let Some(reason) = reason {
        session.ui.say(&format!("nothing is published: {reason}"));
    }
    let Some(planned_publish) = planned_publish.filter(|_| reason.is_none()) else {
        discard_publish_report(session, args, subject, report);
        return Ok(ExitStatus::Success);
    };
    let destinations = &subject.settings.gate.verdict.destinations;
    let mut settings = planned_publish.settings;
    let is_preview =
        !settings.dry_run && workspace.ci.host.is_local() && !workspace.sources.allows_local_publish(args)?;
    // Nothing is published, so an unavailable platform is a warning, as in a dry run.
    settings.dry_run |= is_preview;
    let publish_step = Publication {
        session,
        workspace,
        settings: &settings,
        connection: &workspace.sources.resolve_connection(&session.global)?,
        target: &subject.target,
        unreviewed_selection: workspace
            .sources
            .compile_review_exclusions(&args.review.selection.globs)?,
        required_review: report.map(RequiredReview::from_report),
        merged_commit: planned_publish.merged_commit,
        history: VersionHistory::default(),
        comparison: None,
        // A dry run has no report.
        is_output_reserved: destinations.is_stdout_reserved(report.is_none()),
        is_ci: true,
        started_at: Timestamp::now(),
    };
    publish_step.print_uncommitted_files_note(&planned_publish.plan);
    if is_preview {
        discard_publish_report(session, args, subject, report);
        return publish_step.preview_publish(planned_publish.plan);
    }
    publish_step.execute(planned_publish.plan)
}

/// Removes the JUnit report of the publish, which this run wrote as undecided at its start, because nothing is
/// published. A dry run, which has no review report, did not write one.
fn discard_publish_report(
    session: &Session,
    args: &CiArgs,
    subject: &CommitReview<'_>,
    report: Option<&Report>,
) {
    let sources = &subject.workspace.sources;
    let (Ok(files), Some(_)) = (sources.resolve_publish_files(&args.publish), report) else {
        return;
    };
    let junit_path = files.junit.as_deref();
    let is_review_report = subject.settings.gate.verdict.destinations.reports.is_empty()
        && junit_path.is_some_and(|path| is_default_report(session, subject.workspace.ci.host, path));
    session.discard_publish_report(junit_path.filter(|_| !is_review_report));
}

/// Returns the reason why no version is published, or `None` if a version is to be published. A dry run has no verdict
/// and is treated as passed. Fails if only an unusable configuration file prevents the publish. `partial_reason` states
/// why the review is partial.
fn find_reason_against_publish(
    args: &CiArgs,
    subject: &CommitReview<'_>,
    partial_reason: Option<String>,
    report: Option<&Report>,
) -> Result<Option<String>, Failure> {
    let publish_on = subject.workspace.sources.resolve_publish_on(args)?;
    if partial_reason.is_some() {
        return Ok(partial_reason);
    }
    Ok(match report.map(|report| report.verdict) {
        Some(Verdict::Passed) | None => {
            reject_lost_publish_on(args, &subject.workspace, &subject.target)?;
            explain_no_publish(&subject.target, &publish_on)
        }
        Some(verdict) => Some(format!("the verdict of the review is {verdict}")),
    })
}
