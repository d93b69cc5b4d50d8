//! Finds the baseline of a review before a publish: the commit of the published version.

use super::adoption::Adoption;
use super::{Baseline, describe_earlier_base};
use crate::error::Failure;
use crate::job::settings::Connection;
use crate::session::Session;
use crate::session::artifact_versions::list_versions;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, GitError, Repository};
use sluicegate_platform::api::{Artifact, Platform};
use sluicegate_platform::http::HttpError;
use std::cmp::Reverse;
use std::slice;

/// Maximum number of earlier versions that are examined, the newest first.
const MAX_EXAMINED_VERSIONS: usize = 100;

impl Baseline {
    /// Builds the baseline of a review before a publish, at the last published commit. Findings of later pushes are
    /// therefore new, whether those pushes were reviewed or not. If `head` does not contain that commit, for example
    /// because `head` is a hotfix of an older version, uses the last version whose commit it contains, and a note names
    /// that version. Before the first version, uses the commit that adopted `new-only`. If the platform is unavailable,
    /// or `head` contains the commit of no version, the baseline has no commit but a reason.
    pub(crate) fn at_published_version(
        session: &Session,
        workspace: &Workspace<'_>,
        connection: &Connection,
        prefix: &str,
        head: &CommitId,
    ) -> Result<Self, Failure> {
        let platform = session.create_platform_client(connection)?;
        let details = match session.block_on(platform.find_latest_artifact(prefix))? {
            Ok(Some(details)) => details.artifact,
            Ok(None) => return Self::at_new_only_adoption(workspace, prefix, head),
            Err(error) => return Self::at_unknown_version(error),
        };
        let version = format!("version {} of {prefix}", details.display_name());
        let id = details.commit_hash.as_deref().unwrap_or_default();
        let repo = &workspace.repo;
        if let Some(commit) = find_contained_commit(repo, id, head)? {
            let reason = format!("{version}, which is published");
            return Ok(Self {
                note: describe_earlier_base(slice::from_ref(&commit), &reason),
                ..Self::at_published_commit(Some(commit), reason)
            });
        }
        let missing_commit = format!("head does not contain commit {id:?} of {version}");
        if repo.is_shallow() {
            let reason = format!(
                "{missing_commit}, or this shallow clone does not show it: fetch the full history \
                 (`fetch-depth: 0`, `GIT_DEPTH: 0`)"
            );
            return Ok(Self::at_published_commit(None, reason));
        }
        let (earlier_name, commit) = match find_contained_version(session, &platform, repo, prefix, head)? {
            Ok(Some(version)) => version,
            Ok(None) => {
                let reason = format!("{missing_commit}, nor that of an earlier version that is enabled");
                return Ok(Self::at_published_commit(None, reason));
            }
            Err(error) => return Self::at_unknown_version(error),
        };
        let reason = format!("version {earlier_name} of {prefix}, because {missing_commit}");
        Ok(Self {
            note: describe_earlier_base(slice::from_ref(&commit), &reason),
            ..Self::at_published_commit(Some(commit), reason)
        })
    }

    /// Builds the baseline of a publish if a request for the published versions failed. If the platform is unavailable,
    /// the baseline has only a reason: the review decides whether the change may pass nonetheless, and reports it.
    fn at_unknown_version(error: HttpError) -> Result<Self, Failure> {
        if !error.is_unavailable() {
            return Err(error.into());
        }
        let reason = format!(
            "could not query the published version: {}",
            error.message_without_details()
        );
        Ok(Self::at_published_commit(None, reason))
    }

    /// Builds the baseline of a publish if no version is published: the commits by which the default branch adopted
    /// `new-only`, so that one merge is enough to adopt it. Without such a commit, the baseline has only a reason.
    /// Findings that reached the default branch after the adopting branch was created are new.
    fn at_new_only_adoption(
        workspace: &Workspace<'_>,
        prefix: &str,
        head: &CommitId,
    ) -> Result<Self, Failure> {
        let missing_version = format!("no version of {prefix} is enabled");
        Ok(match workspace.find_new_only_adoption(head)? {
            Adoption::AtCommits(commits) => {
                let reason = format!(
                    "{} set `new-only` in sluicegate.yaml, and {missing_version}. Fix or waive all other findings",
                    if commits.len() == 1 {
                        "this commit"
                    } else {
                        "these commits"
                    },
                );
                Self {
                    note: describe_earlier_base(&commits, &reason),
                    bases: commits,
                    ..Self::at_published_commit(None, reason)
                }
            }
            Adoption::NotInHead(commit) => {
                let reason = format!(
                    "{missing_version}, and head does not contain commit {}, which set `new-only` on the default \
                     branch",
                    commit.short()
                );
                Self::at_published_commit(None, reason)
            }
            Adoption::NotInHistory => Self::at_published_commit(None, missing_version),
            Adoption::Unknown { reason } => {
                Self::at_published_commit(None, format!("{missing_version}, and {reason}"))
            }
        })
    }

    /// Builds the baseline of a publish at the commit `base`, or an empty baseline. `reason` explains the choice to the
    /// user.
    fn at_published_commit(base: Option<CommitId>, reason: String) -> Self {
        Self {
            bases: base.into_iter().collect(),
            reason,
            note: None,
            old_paths: None,
            selection: None,
        }
    }
}

/// Returns the commit with this id if `head` contains it.
fn find_contained_commit(repo: &Repository, id: &str, head: &CommitId) -> Result<Option<CommitId>, GitError> {
    match repo.find_commit_with_id(id)? {
        Some(commit) if repo.contains_commit(head, &commit)? => Ok(Some(commit)),
        _ => Ok(None),
    }
}

/// Requests the versions of the prefix, and returns the name and the commit of the enabled version that was created
/// last among those whose commit `head` contains: the platform evaluates a base only if it is on the branch of `head`,
/// and a version of another branch says nothing about the findings that were published from this one. Examines at most
/// [`MAX_EXAMINED_VERSIONS`]. The inner error is that of a request.
fn find_contained_version(
    session: &Session,
    platform: &Platform,
    repo: &Repository,
    prefix: &str,
    head: &CommitId,
) -> Result<Result<Option<(String, CommitId)>, HttpError>, Failure> {
    let mut versions = match session.block_on(list_versions(platform, prefix))? {
        Ok(versions) => versions,
        Err(error) => return Ok(Err(error)),
    };
    versions.retain(Artifact::may_be_enabled);
    versions.sort_by_key(|version| Reverse(version.creation_time()));
    for version in versions.into_iter().take(MAX_EXAMINED_VERSIONS) {
        let Some(name) = version.version_name.clone() else {
            continue;
        };
        let id = match session.block_on(find_enabled_commit_id(platform, prefix, &name, version))? {
            Ok(Some(id)) => id,
            Ok(None) => continue,
            Err(error) => return Ok(Err(error)),
        };
        if let Some(commit) = find_contained_commit(repo, &id, head)? {
            return Ok(Ok(Some((name, commit))));
        }
    }
    Ok(Ok(None))
}

/// Returns the id of the commit of a listed version; `None` if the version is disabled. Requests the version's details
/// if the list does not show its commit or whether it is enabled.
async fn find_enabled_commit_id(
    platform: &Platform,
    prefix: &str,
    name: &str,
    listed_version: Artifact,
) -> Result<Option<String>, HttpError> {
    let version = if listed_version.enabled.is_some() && listed_version.commit_hash.is_some() {
        listed_version
    } else {
        match platform.find_artifact(prefix, name).await? {
            Some(details) => details.artifact,
            None => return Ok(None),
        }
    };
    let is_enabled = version.is_certainly_enabled();
    Ok(version.commit_hash.filter(|_| is_enabled))
}
