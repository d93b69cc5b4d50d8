//! Publishes a commit after its review, or states why nothing is published.

use super::review::CommitReview;
use crate::delivery::is_default_report;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::CiArgs;
use crate::publication::{
    PlannedPublish, Publication, PublishNotes, RequiredReview, VersionHistory, explain_no_publish,
    reject_lost_publish_on,
};
use crate::session::{CommandResult, Session};
use jiff::Timestamp;
use sluicegate_pipelines::findings::{Report, Verdict};

/// The commit after its review.
pub(super) struct ReviewedCommit<'a> {
    pub(super) session: &'a Session,
    pub(super) args: &'a CiArgs,
    pub(super) subject: &'a CommitReview<'a>,
    /// The report of the review; `None` for a dry run.
    pub(super) report: Option<&'a Report>,
}

impl ReviewedCommit<'_> {
    /// Publishes the commit, unless `publish-on` does not include the branch or tag. A local run that the settings do
    /// not allow to publish (`--publish`) only prints a preview. `partial_reason` states why the review is partial.
    pub(super) fn publish(
        &self,
        planned_publish: Option<PlannedPublish>,
        partial_reason: Option<String>,
    ) -> CommandResult {
        let (session, workspace) = (self.session, &self.subject.workspace);
        let reason = self.find_reason_against_publish(partial_reason)?;
        if let Some(reason) = &reason {
            session.ui.say(&format!("nothing is published: {reason}"));
        }
        let Some(planned_publish) = planned_publish.filter(|_| reason.is_none()) else {
            self.discard_publish_report();
            return Ok(ExitStatus::Success);
        };
        let destinations = &self.subject.settings.gate.verdict.destinations;
        let mut settings = planned_publish.settings;
        let is_preview = !settings.dry_run
            && workspace.ci.host.is_local()
            && !workspace.sources.allows_local_publish(self.args)?;
        // Nothing is published, so an unavailable platform is a warning, as in a dry run.
        settings.dry_run |= is_preview;
        let publish_step = Publication {
            session,
            workspace,
            settings: &settings,
            connection: &workspace.sources.resolve_connection(&session.global)?,
            target: &self.subject.target,
            unreviewed_selection: workspace
                .sources
                .compile_review_exclusions(&self.args.review.selection.globs)?,
            required_review: self.report.map(RequiredReview::from_report),
            merged_commit: planned_publish.merged_commit,
            history: VersionHistory::default(),
            comparison: None,
            notes: PublishNotes::default(),
            // A dry run has no report.
            is_output_reserved: destinations.is_stdout_reserved(self.report.is_none()),
            is_ci_command: true,
            started_at: Timestamp::now(),
        };
        publish_step.print_uncommitted_files_note(&planned_publish.plan);
        if is_preview {
            self.discard_publish_report();
            return publish_step.preview_publish(planned_publish.plan);
        }
        publish_step.execute(planned_publish.plan)
    }

    /// Removes the JUnit report of the publish, which this run wrote as undecided at its start, because nothing is
    /// published. A dry run, which has no review report, did not write one.
    pub(super) fn discard_publish_report(&self) {
        let workspace = &self.subject.workspace;
        let publish_files = workspace.sources.resolve_publish_files(&self.args.publish);
        let (Ok(files), Some(_)) = (publish_files, self.report) else {
            return;
        };
        let junit_path = files.junit.as_deref();
        let is_review_report = self.subject.settings.gate.verdict.destinations.reports.is_empty()
            && junit_path.is_some_and(|path| is_default_report(self.session, workspace.ci.host, path));
        self.session
            .discard_publish_report(junit_path.filter(|_| !is_review_report));
    }

    /// Returns the reason why no version is published, or `None` if a version is to be published. A dry run has no
    /// verdict and is treated as passed. Fails if only an unusable configuration file prevents the publish.
    fn find_reason_against_publish(&self, partial_reason: Option<String>) -> Result<Option<String>, Failure> {
        let (session, workspace) = (self.session, &self.subject.workspace);
        let publish_on = workspace.sources.resolve_publish_on(self.args)?;
        if partial_reason.is_some() {
            return Ok(partial_reason);
        }
        Ok(match self.report.map(|report| report.verdict) {
            Some(Verdict::Passed) | None => {
                reject_lost_publish_on(session, self.args, workspace, &self.subject.target)?;
                explain_no_publish(&self.subject.target, &publish_on)
            }
            Some(verdict) => Some(format!("the verdict of the review is {verdict}")),
        })
    }
}
