//! Detects in a rerun that the latest version is of this commit, although a version of a newer commit is enabled. That
//! happens if the first run was killed after its upload, before it could look for a newer version and disable its own.

use super::Publication;
use super::publish_decision::PublishDecision;
use super::version_history::CommitOrder;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{Plan, is_same_commit};
use crate::session::artifact_versions::disable_command;
use jiff::SignedDuration;
use sluicegate_git::short_id;
use sluicegate_platform::api::{Artifact, Platform};

/// Maximum time by which the clock that dated a commit may be ahead of the platform's clock.
const MAX_CLOCK_SKEW: SignedDuration = SignedDuration::from_mins(10);

impl Publication<'_> {
    /// Decides whether a rerun fails because the version of this commit is the latest, although a version of a newer
    /// commit is enabled. A person who chose the version name may have gone back to this commit on purpose, so there is
    /// only a warning then. The version is not disabled, because another run published it. Versions whose order is
    /// unknown prove nothing: jobs often publish later than newer commits are made.
    pub(super) fn find_replaced_version_refusal(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<Option<PublishDecision>, Failure> {
        let head = self.target.head.as_str();
        let is_of_head = |version: &Artifact| is_same_commit(version.commit_hash.as_deref(), head);
        if !self.history.enabled_versions().any(is_of_head) {
            return Ok(None);
        }
        let Some(latest) = self
            .find_latest_commit(platform)?
            .filter(|latest| is_same_commit(Some(&latest.commit), head))
        else {
            return Ok(None);
        };
        let (newer_versions, _) = self.list_newer_versions()?;
        if newer_versions.is_empty() {
            return Ok(None);
        }
        let failure = replaced_version_failure(plan, &latest.name, &newer_versions);
        if self.is_name_chosen() {
            self.add_note(&failure.describe_on_one_line(), failure.own_hint());
            return Ok(None);
        }
        Ok(Some(PublishDecision::Refuse(failure)))
    }

    /// Returns a clause about each enabled version of a newer commit, and whether the order of another enabled version
    /// is unknown.
    pub(super) fn list_newer_versions(&self) -> Result<(Vec<String>, bool), Failure> {
        let mut newer_versions = Vec::new();
        let mut has_unknown_order = false;
        for version in self.list_later_versions() {
            let commit = version.commit_hash.as_deref().unwrap_or_default();
            match self.compare_with_version_commit(commit)? {
                CommitOrder::Older => newer_versions.push(format!(
                    "version {}, built from the newer commit {}, is enabled",
                    version.display_name(),
                    short_id(commit)
                )),
                CommitOrder::Unknown => has_unknown_order = true,
                CommitOrder::SameOrNewer | CommitOrder::Diverged => {}
            }
        }
        Ok((newer_versions, has_unknown_order))
    }

    /// Returns the enabled versions of other commits that may have been published since this commit was made. An
    /// earlier version cannot be of a newer commit. A version without a valid creation time is included.
    fn list_later_versions(&self) -> impl Iterator<Item = &Artifact> {
        let head = &self.target.head;
        let head_time = self.workspace.repo.commit_time(head).ok();
        let earliest_time = head_time.and_then(|time| time.checked_sub(MAX_CLOCK_SKEW).ok());
        self.history.enabled_versions().filter(move |version| {
            let is_later = version
                .creation_time()
                .is_none_or(|created_at| Some(created_at) >= earliest_time);
            is_later && !is_same_commit(version.commit_hash.as_deref(), head.as_str())
        })
    }
}

/// Returns the failure that this version is the latest, although the platform offers these newer versions.
fn replaced_version_failure(plan: &Plan, name: &str, newer_versions: &[String]) -> Failure {
    let prefix = &plan.prefix;
    let message = format!(
        "version {name} of {prefix} is the latest version, although a newer commit was published before it: {}",
        newer_versions.join("; ")
    );
    Failure::from_message(ExitStatus::AlreadyExists, message).with_hint(format!(
        "unless consumers of [Latest] are meant to get the older commit, run `{}`",
        disable_command(prefix, name)
    ))
}
