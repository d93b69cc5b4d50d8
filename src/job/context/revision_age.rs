//! Describes how far the newest known commit of the policy's branch may be out of date.

use super::history_remedy::HistoryRemedy;
use super::policy_revision::{BranchFetch, PolicyRevision, is_on_run_branch};
use super::target_branches::TargetBranches;
use super::{CommitSource, ContextError};
use crate::job::ci::{CiContext, Trigger};
use sluicegate_git::{CommitId, GitError, Repository};

/// Returns a note if newer commits of the policy's branch may exist, with the date of the newest known commit. This is
/// the case if the clone's copy of the branch lacks the commit of the run, if the copy may be out of date, or if no
/// remote is the target's repository. Also returns a note if the target of a queued change is unknown, because the
/// host's merge contains that target, but nothing shows which of its commits it is. Returns `None` in other cases, and
/// if the policy is not read from a branch. `revision` is the result of [`super::find_target_policy_revision`].
/// `branch_fetch` is the result of the fetch of the policy's branch, `None` if this run did not fetch the branch.
pub fn describe_revision_age(
    repo: &Repository,
    ci: &CiContext,
    commit_source: CommitSource,
    revision: &PolicyRevision,
    branch_fetch: Option<BranchFetch>,
) -> Result<Option<String>, ContextError> {
    let branch = match revision {
        PolicyRevision::Commit { branch, .. } => branch,
        PolicyRevision::Unknown { reason } if ci.is_queued => {
            return Ok(Some(describe_unknown_target(ci, reason, branch_fetch)));
        }
        PolicyRevision::Head { .. } | PolicyRevision::Unknown { .. } => return Ok(None),
    };
    let branches = TargetBranches::for_event(repo, ci, commit_source)?;
    let Some(tip) = branches
        .find_tip(branch)
        .map_err(|error| error.with_remedy_for(ci))?
    else {
        return Ok(None);
    };
    let remedy = HistoryRemedy::for_run(ci);
    let (short, date) = (tip.commit.short(), describe_date(repo, &tip.commit)?);
    // The run is on the policy's branch, but the clone's copy of that branch lacks the commit of the run.
    let is_copy_behind_run = commit_source.is_host()
        && ci.trigger != Trigger::Change
        && ci.branch.as_ref() == Some(branch)
        && !is_on_run_branch(repo, ci)?;
    Ok(match (&tip.tracked_branch, tip.field) {
        (Some(tracked_branch), _) if is_copy_behind_run => Some(format!(
            "the commit of this run is not in this clone's copy of `{}/{branch}` ({short}, {date}), so the gate \
             configuration of commit {short} is used{}",
            tracked_branch.remote,
            match branch_fetch {
                None => format!(
                    ": if the branch has the commit, fetch the branch first{}",
                    remedy.choose_advice(", or pass --deepen")
                ),
                Some(BranchFetch::Failure) => ": the branch could not be fetched".to_owned(),
                Some(BranchFetch::Success) => String::new(),
            }
        )),
        (Some(_), _) if let Some((commit, field)) = &tip.ignored_commit => Some(format!(
            "{field} ({}) is not used, because the newest commit of the target branch `{branch}` ({short}, {date}) does \
             not contain it",
            commit.short()
        )),
        (Some(_), _) if branch_fetch == Some(BranchFetch::Success) => None,
        // The event names no commit of the branch, so nothing shows how old the clone's copy is.
        (Some(tracked_branch), _) if !tip.is_named => Some(format!(
            "the target branch comes from this clone's copy of `{}/{branch}` ({short}, {date}), which may be out of \
             date{}",
            tracked_branch.remote,
            match branch_fetch {
                None => remedy.choose_advice("; pass --deepen to fetch newer commits"),
                Some(_) => ": the branch could not be fetched",
            }
        )),
        (None, Some(field)) if branches.is_unproven() => Some(format!(
            "the newest known commit of the target branch `{branch}` is {short} from {date} ({field}): no remote of \
             this clone is the target's repository, so newer commits of the branch are not considered"
        )),
        _ => None,
    })
}

/// Returns the note that the target of a queued change is unknown for this reason.
fn describe_unknown_target(ci: &CiContext, reason: &str, branch_fetch: Option<BranchFetch>) -> String {
    let advice = match branch_fetch {
        None => format!(
            "; fetch the branch first{}",
            HistoryRemedy::for_run(ci).choose_advice(", or pass --deepen")
        ),
        Some(_) => ": the branch could not be fetched".to_owned(),
    };
    format!("the gate configuration of the target branch is not used, because {reason}{advice}")
}

/// Returns the date of the commit for messages.
fn describe_date(repo: &Repository, commit: &CommitId) -> Result<String, GitError> {
    match repo.commit_time(commit) {
        Err(GitError::TimeOutOfRange { .. }) => Ok("no valid date".to_owned()),
        time => Ok(time?.strftime("%Y-%m-%d").to_string()),
    }
}
