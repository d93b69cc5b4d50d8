//! Decides what to do with a plan: every command and every route passes the same list of checks before an upload.

use super::Publication;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{FileSource, Plan, PublishError};
use crate::workspace::checkout_files::is_reviewed_file;
use sluicegate_platform::api::Platform;

/// The action to take after the plan was compared with the platform.
pub(super) enum PublishDecision {
    AlreadyPublished(PublishedVersion),
    /// The job does not allow the publish. In a preview, also: the planned version exists, and `--if-exists` does not
    /// accept it. A publish finds that version during its upload.
    Refuse(Failure),
    Upload,
}

/// The existing version because of which nothing is published.
pub(super) struct PublishedVersion {
    pub(super) reason: String,
    pub(super) version: String,
    pub(super) commit: String,
    pub(super) is_disabled: bool,
}

impl PublishDecision {
    /// Creates the decision to publish nothing, because `version` was published from the same commit or has the same
    /// content. `commit` is the commit of that version.
    pub(super) fn already_published(reason: String, version: &str, commit: &str, is_disabled: bool) -> Self {
        Self::AlreadyPublished(PublishedVersion {
            reason,
            version: version.to_owned(),
            commit: commit.to_owned(),
            is_disabled,
        })
    }
}

impl Publication<'_> {
    /// Decides whether to upload the plan, by comparing it with the published versions. The comparison also sets a
    /// version name with `{next}`. All commands that publish use this function; a dry run ends after it.
    pub(super) fn decide_on_upload(
        &mut self,
        platform: &Platform,
        plan: &mut Plan,
    ) -> Result<PublishDecision, Failure> {
        self.history = self.request_history(platform)?;
        self.comparison = match self.compare_and_name_version(platform, plan) {
            Err(failure) => return self.decide_without_comparison(platform, plan, failure),
            comparison => comparison?,
        };
        let decision = self.decide_after_comparison(platform, plan)?;
        self.add_changes_of_first_run(platform, plan, &decision)?;
        Ok(decision)
    }

    /// Decides what to do with a plan after the comparison failed. A clone that cannot compute the name from `{next}`,
    /// for example a shallow one, may still show that the commit was published before. Otherwise, fails with `failure`.
    fn decide_without_comparison(
        &self,
        platform: &Platform,
        plan: &Plan,
        failure: Failure,
    ) -> Result<PublishDecision, Failure> {
        if !self.needs_next_version() || failure.status() != ExitStatus::Context {
            return Err(failure);
        }
        let decision = match self.find_replaced_version_refusal(platform, plan)? {
            None => self.decide_on_republication(platform, plan)?,
            refusal => refusal,
        };
        match decision {
            // The plan has no version name, so the caller reports the error as that of an undecided publish.
            Some(PublishDecision::Refuse(refusal)) => Err(refusal),
            decision => decision.ok_or(failure),
        }
    }

    /// Decides what to do with a plan that was compared with the version that consumers use.
    fn decide_after_comparison(
        &mut self,
        platform: &Platform,
        plan: &mut Plan,
    ) -> Result<PublishDecision, Failure> {
        if let Some(refusal) = self.find_replaced_version_refusal(platform, plan)? {
            return Ok(refusal);
        }
        if let Some(decision) = self.decide_on_unchanged_plan(platform, plan)? {
            return Ok(decision);
        }
        if let Some(decision) = self.decide_on_republication(platform, plan)? {
            return Ok(decision);
        }
        if self.is_rerun_of_older_version(platform, plan)? {
            // The upload finds the existing version. Consumers do not go back to it, so nothing changes for them.
            self.comparison = None;
            return Ok(PublishDecision::Upload);
        }
        if let Some(decision) = self.decide_on_breaks(platform, plan)? {
            return Ok(decision);
        }
        if let Some(refusal) = self.find_older_commit_refusal(platform, plan)? {
            return Ok(refusal);
        }
        self.warn_of_repeated_content(platform, plan)?;
        Ok(PublishDecision::Upload)
    }

    /// Prints a note about uncommitted changes to the files of the plan. Does nothing if the plan is read from the
    /// working tree. In `ci`, the review has already printed the note about pipelines.
    pub(crate) fn print_uncommitted_files_note(&self, plan: &Result<Plan, PublishError>) {
        if self.settings.from != FileSource::Commit {
            return;
        }
        self.workspace
            .print_uncommitted_files_note(self.session, &self.target.head, "publish", &|path| {
                if is_reviewed_file(path) {
                    !self.is_ci_command
                } else {
                    plan.as_ref().is_ok_and(|plan| plan.has_file(path))
                }
            });
    }
}
