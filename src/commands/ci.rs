//! Runs `sluicegate ci`: reviews, then publishes if the review of the same commit passed and the branch or tag matches.
//!
//! If the branch or tag matches, everything that would be published is reviewed, changed or not: the previous job may
//! have failed or been cancelled, and its unpublished pipelines are unchanged since.

use super::review::CommitReview;
use super::reviewed_commit::ReviewedCommit;
use crate::delivery::unfinished_files::record_failure_in_reports;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::CiArgs;
use crate::publication::{PlannedPublish, complete_run};
use crate::session::step_report::PUBLISH_FAILED;
use crate::session::{CommandResult, Session};

/// Runs `sluicegate ci`: reviews the change, then publishes if the review passed and the setting `publish-on` includes
/// the branch or tag.
pub(crate) fn run(session: &Session, args: &CiArgs) -> CommandResult {
    let subject = CommitReview::open(session, &args.review, Some(&args.publish))?;
    reject_shared_output_path(args, &subject)?;
    let selected_run = subject.start_run(session, &args.review)?;
    // The publish is planned first, because the review also covers the pipelines to publish. A publish requires a
    // review of all pipelines.
    let planned_publish = match selected_run.explain_partial_selection() {
        None => PlannedPublish::prepare(session, args, &subject.workspace, &subject.target)?,
        Some(_) => None,
    };
    let publish = planned_publish.as_ref();
    let gate = complete_run(selected_run, publish, &subject.connection, &subject.target.head)?;
    // Now, the shard is also known.
    let partial_reason = gate.explain_partial_review();
    let evaluated_run = subject.review(gate, publish)?;
    let reviewed_commit = ReviewedCommit {
        session,
        args,
        subject: &subject,
        report: evaluated_run.as_ref().map(|evaluated_run| &evaluated_run.report),
    };
    if let Some(evaluated_run) = evaluated_run
        .as_ref()
        .filter(|run| run.status != ExitStatus::Success)
    {
        reviewed_commit.discard_publish_report();
        return Ok(evaluated_run.status);
    }
    // The caller would report a failed publish as a failed review.
    Ok(reviewed_commit
        .publish(planned_publish, partial_reason)
        .unwrap_or_else(|failure| {
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
