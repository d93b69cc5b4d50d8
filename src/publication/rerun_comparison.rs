//! Compares a rerun with the version before its own. The latest version is then the one that the first run published,
//! so a comparison with it shows no changes, and the records would lose a break that the first run accepted.

use super::Publication;
use super::publish_comparison::OfferComparison;
use super::publish_decision::PublishDecision;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publication::compared_offer::fetch_hint;
use crate::publish::Plan;
use sluicegate_pipelines::interface::{ComparedVersion, Compatibility};
use sluicegate_platform::api::Platform;

impl Publication<'_> {
    /// Adds to the comparison what the first run of this commit changed for consumers. Does nothing unless the plan was
    /// compared with the version of that run, which stays as it is. The decision is already made, so any failure except
    /// a signal is only a warning.
    pub(super) fn add_changes_of_first_run(
        &mut self,
        platform: &Platform,
        plan: &Plan,
        decision: &PublishDecision,
    ) -> Result<(), Failure> {
        let version_name = match decision {
            PublishDecision::AlreadyPublished(published_version) => &published_version.version,
            PublishDecision::Upload => &plan.version_name,
            PublishDecision::Refuse(_) => return Ok(()),
        };
        let is_rerun = self.settings.against.is_none()
            && self.comparison.as_ref().is_some_and(|comparison| {
                comparison.has_no_changes()
                    && comparison.compared_version() == (version_name, &plan.commit_hash)
            });
        if !is_rerun {
            return Ok(());
        }
        let changes_of_first_run = match self.compare_with_earlier_version(platform, plan, version_name) {
            Err(failure) if !matches!(failure.status(), ExitStatus::Interrupted | ExitStatus::Terminated) => {
                self.session.ui.warn(&format!(
                    "could not determine the changes for consumers: {}",
                    failure.describe_on_one_line()
                ));
                None
            }
            result => result?,
        };
        if let Some(comparison) = &mut self.comparison {
            comparison.changes_of_first_run = changes_of_first_run;
        }
        Ok(())
    }

    /// Compares the plan with the version that was created last before the version with this name, which has the files
    /// of the plan. Returns `None` if the platform does not show which version that is.
    fn compare_with_earlier_version(
        &self,
        platform: &Platform,
        plan: &Plan,
        version_name: &str,
    ) -> Result<Option<Compatibility>, Failure> {
        let Some(earlier_versions) = self.history.list_versions_before(version_name) else {
            return Ok(None);
        };
        let Some(earlier_version) = earlier_versions.last() else {
            return Ok(Some(Compatibility::new(ComparedVersion::default(), Vec::new())));
        };
        let Some(earlier_name) = &earlier_version.version_name else {
            return Ok(None);
        };
        let request = platform.fetch_artifact_details(&plan.prefix, Some(earlier_name));
        let earlier_details = self.session.block_on(request)??;
        let OfferComparison { compat, limit, .. } = self.compare_offers(plan, &earlier_details)?;
        if let Some(limit) = limit {
            let hint = limit.may_fetch.then(|| fetch_hint(&self.workspace.repo));
            limit.warn(self.session, hint);
        }
        Ok(Some(self.accept_breaks(compat, version_name)))
    }
}
