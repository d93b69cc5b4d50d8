//! The versions of a prefix, and how their commits are related to the commit to publish.

use super::Publication;
use super::published_commit::REPUBLISH_HINT;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::publish::{CommitMatch, match_commit};
use crate::session::artifact_versions::list_versions;
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, FetchTarget, GitError, Repository, is_full_id, short_id};
use sluicegate_pipelines::interface::compare_version_names;
use sluicegate_platform::api::{Artifact, Platform};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Maximum number of versions whose details are requested because the list does not show their commit.
const MAX_DETAILS: usize = 1_000;

/// The number of additional commits that each fetch requests.
const FETCH_DEPTHS: [u32; 3] = [50, 1_000, 20_000];

/// The versions of a prefix at the time of a request.
#[derive(Debug, Default)]
pub(crate) struct VersionHistory {
    versions: Vec<Artifact>,
    /// Number of versions whose commit was not requested, because there are too many.
    skipped_count: usize,
}

impl VersionHistory {
    /// Requests all versions of the prefix, enabled or not.
    pub(super) async fn request(platform: &Platform, prefix: &str) -> Result<Self, HttpError> {
        Ok(Self {
            versions: list_versions(platform, prefix).await?,
            skipped_count: 0,
        })
    }

    /// Returns the names of all versions, enabled or not.
    pub(super) fn version_names(&self) -> BTreeSet<&str> {
        let names = self
            .versions
            .iter()
            .filter_map(|version| version.version_name.as_deref());
        names.collect()
    }

    /// Returns the names of all versions, enabled or not, without build metadata.
    pub(super) fn version_numbers(&self) -> BTreeSet<&str> {
        let names = self.version_names().into_iter();
        names.map(without_build_metadata).collect()
    }

    /// Returns the branch of the version with this name; `None` if the list does not show it.
    pub(super) fn find_branch(&self, version_name: &str) -> Option<&str> {
        let mut versions = self.versions.iter();
        versions
            .find(|version| version.version_name.as_deref() == Some(version_name))?
            .branch
            .as_deref()
    }

    /// Returns the name of the version that was created last, enabled or not.
    pub(super) fn newest_name(&self) -> Option<&str> {
        self.newest_version()?.version_name.as_deref()
    }

    /// Returns the version that was created last, enabled or not.
    pub(super) fn newest_version(&self) -> Option<&Artifact> {
        self.versions.iter().max_by_key(|version| version.creation_time())
    }

    /// Returns the versions that were created before the version with this name, enabled or not, with the newest last.
    /// Returns `None` if the list does not have that version, or does not show which versions are older.
    pub(super) fn list_versions_before(&self, version_name: &str) -> Option<Vec<&Artifact>> {
        let has_name = |version: &Artifact| version.version_name.as_deref() == Some(version_name);
        let time_limit = self
            .versions
            .iter()
            .find(|version| has_name(version))?
            .creation_time()?;
        let mut earlier_versions = Vec::new();
        for version in self.versions.iter().filter(|version| !has_name(version)) {
            match version.creation_time()?.cmp(&time_limit) {
                Ordering::Less => earlier_versions.push(version),
                Ordering::Equal => return None,
                Ordering::Greater => {}
            }
        }
        earlier_versions.sort_by_key(|version| version.creation_time());
        Some(earlier_versions)
    }

    /// Returns the versions that are not disabled. A version whose state is unknown is treated as enabled.
    pub(super) fn enabled_versions(&self) -> impl Iterator<Item = &Artifact> {
        self.versions.iter().filter(|version| version.may_be_enabled())
    }

    /// Returns whether there are versions, and all of them are disabled.
    pub(super) fn is_disabled(&self) -> bool {
        !self.versions.is_empty() && self.enabled_versions().next().is_none()
    }

    /// Returns the highest name that is a semantic version, of versions enabled or not.
    pub(super) fn highest_semantic_name(&self) -> Option<&str> {
        let mut highest_name = None;
        for name in self.version_names() {
            let order = compare_version_names(name, highest_name.unwrap_or(name));
            let is_first = highest_name.is_none() && order.is_some();
            if is_first || order == Some(Ordering::Greater) {
                highest_name = Some(name);
            }
        }
        highest_name
    }

    /// Returns all versions that were published from this commit, enabled or not. A disabled version whose commit is
    /// abbreviated may be of this commit, so it is included: a rerun must not undo a rollback. If it is enabled, the
    /// order of the commits is unknown, which stops a rerun, too.
    fn versions_of_commit<'v>(&'v self, commit: &'v str) -> impl Iterator<Item = &'v Artifact> {
        self.versions.iter().filter(move |version| {
            let commit_match = version
                .commit_hash
                .as_deref()
                .map(|version_commit| match_commit(version_commit, commit));
            match commit_match {
                Some(CommitMatch::Equal) => true,
                Some(CommitMatch::Possible) => version.is_disabled(),
                Some(CommitMatch::Other) | None => false,
            }
        })
    }

    /// Fails if the commits of some versions are unknown, because too many versions are listed without a commit.
    pub(super) fn require_known_commits(&self, prefix: &str) -> Result<(), Failure> {
        if self.skipped_count == 0 {
            return Ok(());
        }
        let message = format!(
            "could not determine whether this commit was published before: the platform lists {} of {prefix} without \
             their commits, and the details of {MAX_DETAILS} were requested",
            format_count(self.versions.len(), "version")
        );
        Err(Failure::from_message(ExitStatus::Undecided, message).with_hint(REPUBLISH_HINT))
    }

    /// Adds the commits of versions that are listed without one, by requesting their details. After [`MAX_DETAILS`]
    /// requests, the remaining versions are only counted. Skips versions without a name, because details are requested
    /// by name.
    async fn add_missing_commits(&mut self, platform: &Platform, prefix: &str) -> Result<(), HttpError> {
        let mut requested_count = 0;
        for version in self
            .versions
            .iter_mut()
            .filter(|version| version.commit_hash.is_none())
        {
            let Some(name) = version.version_name.as_deref() else {
                continue;
            };
            if requested_count == MAX_DETAILS {
                self.skipped_count += 1;
                continue;
            }
            requested_count += 1;
            version.commit_hash = request_commit(platform, prefix, name).await?;
        }
        Ok(())
    }
}

/// Returns the version name without its build metadata, which begins with `+` (<https://semver.org/#spec-item-10>).
pub(super) fn without_build_metadata(name: &str) -> &str {
    name.split_once('+').map_or(name, |(version, _)| version)
}

/// Requests the details of a version, and returns the id of its commit; `None` if the platform does not report it.
pub(super) async fn request_commit(
    platform: &Platform,
    prefix: &str,
    version_name: &str,
) -> Result<Option<String>, HttpError> {
    let details = platform.find_artifact(prefix, version_name).await?;
    Ok(details.and_then(|details| details.artifact.commit_hash))
}

/// The order of the commit to publish, relative to the commit of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CommitOrder {
    /// The commit to publish is an ancestor of the version's commit.
    Older,
    /// The commit to publish is the version's commit or a descendant of it.
    SameOrNewer,
    /// The commit to publish is neither, for example because one of the commits is a hotfix of an older version.
    Diverged,
    /// The commit to publish cannot be compared, because the clone lacks the version's commit or the history between.
    Unknown,
}

impl Publication<'_> {
    /// Requests all versions of the prefix with their commits, before an upload. A prefix that the platform does not
    /// know has no versions.
    pub(super) fn request_history(&self, platform: &Platform) -> Result<VersionHistory, Failure> {
        let prefix = &self.settings.prefix;
        let history = self.session.block_on(async {
            let mut history = match VersionHistory::request(platform, prefix).await {
                Err(error) if error.kind() == ErrorKind::NotFound => VersionHistory::default(),
                history => history?,
            };
            history.add_missing_commits(platform, prefix).await?;
            Ok::<_, HttpError>(history)
        })?;
        self.tolerate_outage_in_dry_run(history, "could not read the published versions")
    }

    /// Returns the result of a request about published versions. In a dry run, an unavailable platform is only a
    /// warning and the value is empty, because a dry run does not need the platform. `problem` says what failed.
    pub(super) fn tolerate_outage_in_dry_run<T: Default>(
        &self,
        result: Result<T, HttpError>,
        problem: &str,
    ) -> Result<T, Failure> {
        match result {
            Ok(value) => Ok(value),
            Err(error) if self.settings.dry_run && error.is_unavailable() => {
                self.session.ui.warn(&format!("{problem}: {error}"));
                Ok(T::default())
            }
            Err(error) => Err(Failure::from(error).context(problem)),
        }
    }

    /// Returns the versions of the commit to publish: first the one with the planned name, then those with another
    /// name, then those without a name. Among these, enabled versions are first.
    pub(super) fn list_versions_of_head(&self, planned_name: &str) -> Vec<&Artifact> {
        let head = self.target.head.as_str();
        let mut versions: Vec<&Artifact> = self.history.versions_of_commit(head).collect();
        versions.sort_by_key(|version| {
            let is_planned = version.version_name.as_deref() == Some(planned_name);
            (!is_planned, version.version_name.is_none(), version.is_disabled())
        });
        versions
    }

    /// Returns the order of the commit to publish and the commit of a version. With `--deepen`, fetches more and
    /// more history until this is known; a failed fetch is only a warning.
    pub(super) fn compare_with_version_commit(&self, version_commit: &str) -> Result<CommitOrder, Failure> {
        let head = &self.target.head;
        // A fetch may have added commits since the repository was opened.
        let mut repo = self.workspace.repo.reopen()?;
        let mut order = compare_commits(&repo, head, version_commit)?;
        // A commit can be fetched only by its full id.
        if !self.settings.revisions.deepen || !is_full_id(version_commit) {
            return Ok(order);
        }
        for depth in FETCH_DEPTHS {
            if order != CommitOrder::Unknown {
                break;
            }
            self.session.ui.say(&format!(
                "fetching commits {} and {} with their history (--deepen)",
                short_id(version_commit),
                head.short()
            ));
            let commits = [
                FetchTarget::Commit(version_commit),
                FetchTarget::Commit(head.as_str()),
            ];
            if let Err(error) = repo.fetch_history(&commits, depth) {
                self.session.ui.warn(&error.to_string());
                break;
            }
            repo = repo.reopen()?;
            order = compare_commits(&repo, head, version_commit)?;
        }
        Ok(order)
    }
}

/// Returns the order of `head` and the commit of a version. The order is unknown if the clone lacks the commit, or is
/// shallow and lacks the history between the two.
fn compare_commits(
    repo: &Repository,
    head: &CommitId,
    version_commit: &str,
) -> Result<CommitOrder, GitError> {
    let Some(commit) = repo.find_commit_with_id(version_commit)? else {
        return Ok(CommitOrder::Unknown);
    };
    if repo.contains_commit(head, &commit)? {
        return Ok(CommitOrder::SameOrNewer);
    }
    if repo.contains_commit(&commit, head)? {
        return Ok(CommitOrder::Older);
    }
    // The history between the two commits may be beyond the end of a shallow clone.
    Ok(if repo.is_shallow() {
        CommitOrder::Unknown
    } else {
        CommitOrder::Diverged
    })
}
