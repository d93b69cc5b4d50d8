//! Detects a commit that was already published with a counted version: a repeated job would count on, publish the
//! commit again, and make it the latest version.

use super::Publishing;
use crate::base::error::Failure;
use crate::commands::kit::published::versions_of;
use crate::platform::api::{Artifact, Platform};
use crate::platform::http::ErrorKind;
use crate::publish::Source;

impl Publishing<'_> {
    /// Returns the enabled version that was published from the head commit.
    pub(super) fn version_of_this_commit(&self, platform: &Platform) -> Result<Option<String>, Failure> {
        if !self.asks_for_next() || self.settings.from == Source::Worktree {
            return Ok(None);
        }
        let prefix = &self.settings.prefix;
        let listed = match self.run.requests(versions_of(platform, prefix))? {
            Ok(listed) => listed,
            Err(error) if error.kind() == ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(error.into()),
        };
        let is_of_it = |artifact: &Artifact| {
            let commit = artifact.commit_hash.as_deref().unwrap_or_default();
            artifact.enabled != Some(false) && commit.eq_ignore_ascii_case(self.target.head.as_str())
        };
        let found = listed.into_iter().find(is_of_it);
        Ok(found.and_then(|artifact| artifact.version_name))
    }
}
