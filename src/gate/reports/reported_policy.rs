//! Checks in CI that the review of a report used the gate configuration and the platform of this job.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::reports::SavedReports;
use crate::gate::run::review_context::{explain_other_platform, review_platform};
use crate::job::context::PolicyRevision;
use crate::session::Session;
use sluicegate_base::text::format_path;
use sluicegate_pipelines::findings::Report;
use std::path::{Path, PathBuf};

/// The hint for a report of a review with another gate configuration, configuration file or platform.
const OTHER_POLICY_HINT: &str = "pass the same --config and --config-dir as the review, or review the commit again with \
                                 the settings and the target branch of this job";

/// The hint if the clone of the job does not show which gate configuration applies to the job.
const UNKNOWN_POLICY_HINT: &str = "fetch the target branch in this job, or the default branch and run \
                                   `git remote set-head origin BRANCH`";

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
        // The event of a job that names another commit shows another target branch than the review's event.
        let has_event_of_review = self.head.is_none();
        // Only a job that sends requests needs valid settings of the connection.
        let connection = workspace.sources.resolve_connection(&session.global).ok();
        let job_platform = connection.as_ref().and_then(review_platform);
        for (report, file) in reports.iter().zip(files) {
            let context = &report.context;
            let mut reason = None;
            if has_event_of_review {
                if let Some(reason) = workspace.explain_other_policy(context)? {
                    return Err(build_policy_failure(file, &reason, &workspace.policy_revision));
                }
                reason = workspace.explain_other_config(context);
            }
            if let (None, Some(platform), Some(job_platform)) = (&reason, &context.platform, &job_platform) {
                reason = explain_other_platform(platform, "this job", job_platform);
            }
            if let Some(reason) = reason {
                return Err(build_report_failure(file, &reason));
            }
        }
        Ok(())
    }
}

/// Returns the failure for a report of a review with another gate configuration. If the job does not know which one
/// applies, its clone is the cause, so the exit code is that of a problem with git.
fn build_policy_failure(file: &Path, reason: &str, policy: &PolicyRevision) -> Failure {
    if let PolicyRevision::Unknown { .. } = policy {
        let message = format!("cannot use the report {}: {reason}", format_path(file));
        return Failure::from_message(ExitStatus::Context, message).with_hint(UNKNOWN_POLICY_HINT);
    }
    build_report_failure(file, reason)
}

fn build_report_failure(file: &Path, reason: &str) -> Failure {
    Failure::usage(format!("cannot use the report {}: {reason}", format_path(file)))
        .with_hint(OTHER_POLICY_HINT)
}
