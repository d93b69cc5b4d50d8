//! Finds the baseline of a review before a publish: the commit of the published version.

use super::adoption::Adoption;
use super::{Baseline, describe_earlier_base};
use crate::error::Failure;
use crate::job::context::describe_merge_bases;
use crate::job::settings::Connection;
use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, GitError, Repository};

impl Baseline {
    /// Builds the baseline of a review before a publish, at the last published commit. Findings of later pushes are
    /// therefore new, whether those pushes were reviewed or not. Before the first version, uses the commit that adopted
    /// `new-only`. If the platform is unavailable, or the clone lacks the published commit, the baseline has no commit
    /// but a reason.
    pub(crate) fn at_published_version(
        run: &Run,
        workspace: &Workspace<'_>,
        connection: &Connection,
        prefix: &str,
        head: &CommitId,
    ) -> Result<Self, Failure> {
        let platform = run.create_platform_client(connection)?;
        let details = match run.block_on(platform.find_latest_artifact(prefix))? {
            Ok(Some(details)) => details.artifact,
            Ok(None) => return Self::at_new_only_adoption(workspace, prefix, head),
            // The review decides whether the change may pass nonetheless, and reports it.
            Err(error) if error.is_unavailable() => {
                let reason = format!(
                    "could not query the published version: {}",
                    error.message_without_details()
                );
                return Ok(Self::at_published_commit(None, reason));
            }
            Err(error) => return Err(error.into()),
        };
        let version = format!("version {} of {prefix}", details.display_name());
        let id = details.commit_hash.as_deref().unwrap_or_default();
        let Some(commit) = workspace.repo.find_commit_with_id(id)? else {
            let reason = format!("commit {id:?} of {version} is not in this clone");
            return Ok(Self::at_published_commit(None, reason));
        };
        Ok(Self::at_version_commit(&workspace.repo, commit, &version, head)?)
    }

    /// Builds the baseline at the commit of this version. If `head` does not contain that commit, for example because
    /// `head` is a hotfix of an older version, the baseline has the merge-bases of the two, and a note names them: the
    /// platform evaluates a base only if it is on the branch of `head`. Without a merge-base, or if a shallow clone does
    /// not show it, the baseline has no commit but a reason.
    fn at_version_commit(
        repo: &Repository,
        commit: CommitId,
        version: &str,
        head: &CommitId,
    ) -> Result<Self, GitError> {
        if repo.contains_commit(head, &commit)? {
            let reason = format!("{version}, which is published");
            return Ok(Self::at_published_commit(Some(commit), reason));
        }
        let description = format!("commit {} of {version}", commit.short());
        let bases = match repo.find_merge_bases(&commit, head) {
            Ok(bases) => bases,
            Err(GitError::ShallowHistory { .. }) => {
                let reason = format!(
                    "this shallow clone does not show whether head contains {description}: fetch the full history \
                     (`fetch-depth: 0`, `GIT_DEPTH: 0`)"
                );
                return Ok(Self::at_published_commit(None, reason));
            }
            Err(error) => return Err(error),
        };
        if bases.is_empty() {
            let reason = format!("head has no commit in common with {description}");
            return Ok(Self::at_published_commit(None, reason));
        }
        let reason = format!(
            "{} with {description}, which head does not contain",
            describe_merge_bases(&bases)
        );
        Ok(Self {
            note: describe_earlier_base(&bases, &reason),
            bases,
            ..Self::at_published_commit(None, reason)
        })
    }

    /// Builds the baseline of a publish if no version is published: the commit by which the default branch adopted
    /// `new-only`, so that one merge is enough to adopt it. Without such a commit, the baseline has only a reason.
    fn at_new_only_adoption(
        workspace: &Workspace<'_>,
        prefix: &str,
        head: &CommitId,
    ) -> Result<Self, Failure> {
        let missing_version = format!("no version of {prefix} is enabled");
        Ok(match workspace.find_new_only_adoption(head)? {
            Adoption::AtCommit(commit) => {
                let reason = format!(
                    "commit {}, which set `new-only` in sluicegate.yaml, because {missing_version}",
                    commit.short()
                );
                Self::at_published_commit(Some(commit), reason)
            }
            Adoption::NotInHistory => Self::at_published_commit(None, missing_version),
            Adoption::Unknown => Self::at_published_commit(
                None,
                format!(
                    "{missing_version}, and this clone lacks the full history, which shows when \
                     `new-only` was adopted: fetch the full history (`fetch-depth: 0`, `GIT_DEPTH: 0`)"
                ),
            ),
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
