//! Decides what to do with a plan: every command and every route passes the same list of checks before an upload.

use super::Publishing;
use crate::error::Failure;
use crate::publish::Plan;
use sluicegate_platform::api::Platform;

/// The action to take after the plan was compared with the platform.
pub(super) enum Intent {
    Nothing(PublishedBefore),
    /// The job does not allow the publish.
    Refuse(Failure),
    Send,
}

/// The existing version with the content of this plan.
pub(super) struct PublishedBefore {
    pub(super) said: String,
    pub(super) version: String,
    pub(super) commit: String,
}

impl Intent {
    pub(super) fn nothing(said: String, version: &str, commit: &str) -> Self {
        Self::Nothing(PublishedBefore {
            said,
            version: version.to_owned(),
            commit: commit.to_owned(),
        })
    }
}

impl Publishing<'_> {
    /// Compares with the platform, sets the version name and decides what to do with the plan. Every command and every
    /// route passes all of these checks. A dry run stops after this.
    pub(super) fn intent(&mut self, platform: &Platform, plan: &mut Plan) -> Result<Intent, Failure> {
        self.history = self.request_history(platform)?;
        self.compared = self.compared(platform, plan)?;
        if let Some(intent) = self.skip_unchanged(plan) {
            return Ok(intent);
        }
        if let Some(intent) = self.skip_published_commit(plan)? {
            return Ok(intent);
        }
        if let Some(intent) = self.refuse_breaks(platform, plan)? {
            return Ok(intent);
        }
        let refused = self.refuse_older_commit(platform, plan)?;
        Ok(refused.unwrap_or(Intent::Send))
    }
}
