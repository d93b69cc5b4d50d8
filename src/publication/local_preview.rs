//! Prints what `ci` would publish. On a developer's machine, `ci` only prints this preview, because a version is
//! permanent.

use super::Publication;
use super::publish_decision::PublishDecision;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{Plan, PublishError};
use crate::session::CommandResult;
use sluicegate_base::text::{self, format_count};
use sluicegate_platform::api::{ArtifactDetails, Platform};

impl Publication<'_> {
    /// Prints what a publish would do, or why it would fail, in a local run that passed its review but does not
    /// publish. Sends only read requests.
    pub(crate) fn preview_publish(mut self, plan: Result<Plan, PublishError>) -> CommandResult {
        let ui = self.session.ui;
        let description = self.describe_publish(plan);
        match &description {
            Ok(text) => self.print_result(&(text::escape_line(text) + "\n"))?,
            Err(failure) => ui.warn_of_failure("a publish would fail: ", failure),
        }
        ui.say("nothing is published: this is a local run without --publish");
        // A failure has its own hint, and `--publish` would not help.
        if description.is_ok() {
            ui.say(
                "hint: CI jobs publish after a passed review; to publish from this machine, add --publish",
            );
        }
        Ok(ExitStatus::Success)
    }

    /// Makes the same checks and comparisons as a publish, and describes what the publish would upload. Returns the
    /// error with which the publish would fail.
    fn describe_publish(&mut self, plan: Result<Plan, PublishError>) -> Result<String, Failure> {
        self.check_settings()?;
        let mut plan = plan?;
        self.require_covering_review(&plan)?;
        let platform = self.session.create_platform_client(self.connection)?;
        let mut decision = self.decide_on_upload(&platform, &mut plan)?;
        if matches!(decision, PublishDecision::Upload) {
            let planned_version = self.request_planned_version(&platform, &plan)?;
            decision = self.decide_after_lookup(decision, &plan, planned_version.as_ref());
        }
        match decision {
            PublishDecision::Refuse(failure) => Err(failure),
            PublishDecision::AlreadyPublished(published_version) => {
                Ok(format!("would publish nothing: {}", published_version.reason))
            }
            PublishDecision::Upload => {
                // A run for a tag publishes the tag, even if its branch is known.
                let origin = match (&self.target.tag, &plan.branch) {
                    (Some(tag), _) => format!("tag {tag}"),
                    (None, Some(branch)) => format!("branch {branch}"),
                    (None, None) => "no branch".to_owned(),
                };
                Ok(format!(
                    "would publish {} from {origin}, commit {}: {}",
                    plan.describe_version(),
                    self.target.head.short(),
                    format_count(plan.files.len(), "file")
                ))
            }
        }
    }

    /// Requests the details of the planned version; `None` if it does not exist. A publish sends nothing if this is
    /// unknown.
    fn request_planned_version(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<Option<ArtifactDetails>, Failure> {
        let request = platform.find_artifact(&plan.prefix, &plan.version_name);
        self.session
            .block_on(request)?
            .map_err(|error| Failure::from(error).context("could not determine whether the version exists"))
    }
}
