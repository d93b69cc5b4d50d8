//! Checks of the clone: its commits, its history and its remote.

use super::doctor_check::CheckOutcome;
use super::doctor_settings::DoctorSettings;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::context::ContextError;
use crate::workspace::Workspace;
use sluicegate_git::{CommitId, GitError, Repository};

/// Checks that the clone has the checked-out commit, and enough history to find the changes. A shallow clone passes if
/// the settings say to fetch missing commits.
pub(super) fn check_clone_depth(
    workspace: &Workspace<'_>,
    settings: &DoctorSettings,
) -> Result<CheckOutcome, Failure> {
    let head = read_head(&workspace.repo)?;
    if !workspace.repo.is_shallow() {
        compare_with_default_branch(&workspace.repo, head)?;
        return Ok(CheckOutcome::Ok("the clone has the full history".to_owned()));
    }
    if settings.deepens {
        return Ok(CheckOutcome::Ok(
            "the clone is shallow; missing commits are fetched".to_owned(),
        ));
    }
    let message = "the clone is shallow, so the changes cannot be determined reliably";
    let setting = workspace.ci.host.full_history_setting();
    let instruction = setting.map_or_else(|| "run `git fetch --unshallow`".to_owned(), ToOwned::to_owned);
    Err(Failure::from_message(ExitStatus::Context, message)
        .with_hint(format!("{instruction}, or set SLUICEGATE_DEEPEN to true")))
}

/// Checks that the clone has a remote, because the platform reads commits from it. The clone of a CI job may lack it.
pub(super) fn check_remote(
    workspace: &Workspace<'_>,
    settings: &DoctorSettings,
) -> Result<CheckOutcome, Failure> {
    Ok(
        match workspace.repo.list_remote_repositories()?.into_iter().next() {
            Some((name, _)) => CheckOutcome::Ok(format!("the clone has the remote `{name}`")),
            None if settings.uses_platform && workspace.ci.host.is_local() => {
                return Err(ContextError::NoRemote.into());
            }
            None => CheckOutcome::NotApplicable("the clone has no remote".to_owned()),
        },
    )
}

/// Returns the checked-out commit, after all its directories have been read. Returns `None` if there is no commit yet.
fn read_head(repo: &Repository) -> Result<Option<CommitId>, GitError> {
    let head = match repo.head() {
        Ok(head) => head.commit,
        Err(GitError::NoCommit { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    repo.snapshot(head.clone()).list_files(&|_| false)?;
    Ok(Some(head))
}

/// Fails if the merge-base of the checked-out commit and the default branch cannot be determined.
fn compare_with_default_branch(repo: &Repository, head: Option<CommitId>) -> Result<(), GitError> {
    if let Some(head) = head
        && let Some(default_branch) = repo.find_likely_default_branch()?
    {
        repo.find_merge_bases(&head, &default_branch.tip)?;
    }
    Ok(())
}
