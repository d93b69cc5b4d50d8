//! Predicts how a publish ends if its planned version already exists, for the previews, which do not upload.

use super::Publication;
use super::outcome_hints::conflict_hint;
use super::publish_decision::PublishDecision;
use super::version_history::{CommitOrder, request_commit};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{Outcome, OutcomeKind, Plan, assess_existing_version};
use sluicegate_git::short_id;
use sluicegate_platform::api::{ArtifactDetails, Platform};

impl Publication<'_> {
    /// Returns the decision of a publish that also looks up the planned version before its upload. If that version
    /// exists, nothing is published if `--if-exists` accepts it; otherwise, the publish fails.
    pub(super) fn decide_after_lookup(
        &self,
        decision: PublishDecision,
        plan: &Plan,
        planned_version: Option<&ArtifactDetails>,
    ) -> PublishDecision {
        // Any other decision is made before the lookup.
        let (PublishDecision::Upload, Some(details)) = (&decision, planned_version) else {
            return decision;
        };
        let if_exists = self.choose_if_exists(plan);
        let outcome = assess_existing_version(plan, if_exists, details);
        if outcome.kind == OutcomeKind::AlreadyPublished {
            for sentence in outcome.list_sentences() {
                self.session.ui.warn(&sentence);
            }
            let (version, commit) = (&plan.version_name, &plan.commit_hash);
            let reason = format!("version {version} of {} is already published", plan.prefix);
            let is_disabled = false;
            return PublishDecision::already_published(reason, version, commit, is_disabled);
        }
        let hint = conflict_hint(if_exists, outcome.has_differences(), self.needs_next_version());
        let message = outcome.list_sentences().join("; ");
        let failure = Failure::from_message(ExitStatus::AlreadyExists, message);
        PublishDecision::Refuse(failure.with_hint(hint))
    }

    /// Returns the hint after a conflict if the existing version has the number from `{next}` and is of a newer commit,
    /// so that another run for this commit would be refused. Returns `None` if that is unknown.
    pub(super) fn find_newer_conflict_hint(
        &self,
        platform: &Platform,
        plan: &Plan,
        outcome: &Outcome,
    ) -> Option<String> {
        if outcome.kind != OutcomeKind::Conflict || !self.needs_next_version() {
            return None;
        }
        let request = request_commit(platform, &plan.prefix, &plan.version_name);
        let commit = self.session.block_on(request).ok()?.ok()??;
        let order = self.compare_with_version_commit(&commit).ok()?;
        (order == CommitOrder::Older).then(|| {
            format!(
                "version {} contains this commit, because it is of the newer commit {}: do not change anything",
                plan.version_name,
                short_id(&commit)
            )
        })
    }

    /// Returns whether the platform has the planned version. If that is unknown, it is an error, except in a dry run,
    /// which treats the version as missing.
    pub(super) fn is_version_published(&self, platform: &Platform, plan: &Plan) -> Result<bool, Failure> {
        let request = platform.find_artifact(&plan.prefix, &plan.version_name);
        let problem = "could not determine whether the version exists";
        let version = self.tolerate_outage_in_dry_run(self.session.block_on(request)?, problem)?;
        Ok(version.is_some())
    }
}
