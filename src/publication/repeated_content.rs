//! Detects an upload with the content of a disabled version. For example, the first push after a rollback publishes that
//! content again, unless it reverts the change.

use super::Publication;
use super::version_history::CommitOrder;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{Plan, is_same_commit};
use sluicegate_git::short_id;
use sluicegate_pipelines::interface::ChangeClass;
use sluicegate_platform::api::Platform;

impl Publication<'_> {
    /// Warns if the newest version is disabled, and the plan has the same content, although it is of a later commit. If
    /// that is unknown, there is no warning, because the publish does not depend on it.
    pub(super) fn warn_of_repeated_content(&self, platform: &Platform, plan: &Plan) -> Result<(), Failure> {
        let Some(newest) = self
            .history
            .newest_version()
            .filter(|version| version.is_disabled())
        else {
            return Ok(());
        };
        let (Some(name), Some(commit)) = (newest.version_name.as_deref(), newest.commit_hash.as_deref())
        else {
            return Ok(());
        };
        let is_published_again = is_same_commit(Some(commit), self.target.head.as_str());
        let order = self.compare_with_version_commit(commit);
        if is_published_again || !matches!(order, Ok(CommitOrder::SameOrNewer)) {
            return Ok(());
        }
        let repeats_content = self
            .has_content_of_version(platform, plan, name)
            .and_then(|is_same| Ok(is_same && !self.is_version_published(platform, plan)?));
        match repeats_content {
            Ok(true) => {}
            Err(failure) if matches!(failure.status(), ExitStatus::Interrupted | ExitStatus::Terminated) => {
                return Err(failure);
            }
            _ => return Ok(()),
        }
        let message = format!(
            "version {} has the same content as version {name} of {}, which is disabled: consumers of [Latest] {} that \
             content again{}",
            plan.version_name,
            plan.prefix,
            if self.settings.dry_run {
                "would get"
            } else {
                "will get"
            },
            self.describe_undo(plan)
        );
        let hint = format!(
            "to keep the rollback, revert the change in the commit of version {name} ({})",
            short_id(commit)
        );
        self.add_note(&message, Some(&hint));
        Ok(())
    }

    /// Returns whether the plan certainly offers and contains the same as the version with this name.
    fn has_content_of_version(&self, platform: &Platform, plan: &Plan, name: &str) -> Result<bool, Failure> {
        let details = self.request_named_version(platform, name)?;
        let comparison = self.compare_offers(plan, &details)?;
        Ok(comparison.compat.class == Some(ChangeClass::None)
            && comparison.limit.is_none()
            && comparison.unknown_selection.is_none())
    }
}
