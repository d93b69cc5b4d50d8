//! Checks in CI that the review of a report used the gate configuration and the platform of this job.

use crate::error::Failure;
use crate::gate::reports::SavedReports;
use crate::gate::run::review_context::review_platform;
use crate::job::context::PolicyRevision;
use crate::session::Session;
use sluicegate_base::text::format_path;
use sluicegate_pipelines::findings::Report;
use std::path::PathBuf;

impl SavedReports<'_> {
    /// Fails unless every report is from a review with the gate configuration and the platform of this job. `files` are
    /// the files of the reports, in the same order. A job without a clone has nothing to compare with.
    pub(super) fn require_same_policy(
        &self,
        session: &Session,
        reports: &[Report],
        files: &[PathBuf],
    ) -> Result<(), Failure> {
        let Some(workspace) = &self.policy_workspace else {
            return Ok(());
        };
        // The event of a job that names another commit shows another target branch than the review's event. A clone
        // without the target branch does not show the gate configuration of this job.
        let is_policy_unknown =
            self.head.is_some() || matches!(workspace.policy_revision, PolicyRevision::Unknown { .. });
        // Only a job that sends requests needs valid settings of the connection.
        let connection = workspace.sources.resolve_connection(&session.global).ok();
        let job_platform = connection.as_ref().and_then(review_platform);
        for (report, file) in reports.iter().zip(files) {
            let context = &report.context;
            let mut reason = None;
            if !is_policy_unknown {
                reason = workspace
                    .explain_other_policy(context)?
                    .or_else(|| workspace.explain_other_config(context));
            }
            if let (None, Some(platform), Some(job_platform)) = (&reason, &context.platform, &job_platform)
                && platform != job_platform
            {
                reason = Some(format!(
                    "the files were reviewed by {platform}, but this job is for {job_platform}"
                ));
            }
            if let Some(reason) = reason {
                let message = format!("cannot use the report {}: {reason}", format_path(file));
                return Err(Failure::usage(message).with_hint(
                    "pass the same --config and --config-dir as the review, or review the commit again with the \
                     settings and the target branch of this job",
                ));
            }
        }
        Ok(())
    }
}
