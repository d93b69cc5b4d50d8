//! Errors that prevent the program from resolving the commit to review and its base.

use super::branch_role::BranchRole;
use super::command_hint::{fetch_hint, target_remote_hint};
use super::fetch_source::FetchSource;
use super::history_remedy::HistoryRemedy;
use super::merge_unknown_reason::{MergeUnknownReason, default_branch_hint};
use crate::job::ci::{CiContext, CiError, Host};
use sluicegate_base::text::join_with_or;
use sluicegate_git::{CommitId, GitError};

/// The host's context and the clone do not match.
#[derive(Debug, thiserror::Error)]
pub enum ContextError {
    #[error(transparent)]
    Git(#[from] GitError),
    /// The clone is shallow, and its history is not long enough.
    #[error("{error}")]
    Shallow {
        /// The error with the two commits that the history does not connect.
        error: GitError,
        remedy: HistoryRemedy,
    },
    /// The host's context is invalid.
    #[error(transparent)]
    Ci(#[from] CiError),
    /// The commit that the host set is not in the clone.
    #[error("commit {commit}{}, which {} set for this run, is not in this clone", describe_fork(*is_fork), remedy.host)]
    CommitNotInClone {
        commit: String,
        remedy: HistoryRemedy,
        /// The commit belongs to a fork, so no branch of the clone has it.
        is_fork: bool,
        /// The source of the commit, if more history of the clone's branches would not contain it.
        fetch_source: Option<FetchSource>,
    },
    /// The base of the change is not in the clone.
    #[error("the base commit {commit} ({source_name}) is not in this clone")]
    BaseNotInClone {
        commit: String,
        source_name: &'static str,
        remedy: HistoryRemedy,
    },
    /// Neither the event nor the clone shows the base of the change.
    #[error("the base is unknown: {reason}")]
    BaseUnknown { reason: String },
    /// The branch to compare the change with is not in the clone.
    #[error("the {role} branch `{branch}` is not among the remote branches of this clone")]
    BranchNotInClone {
        branch: String,
        role: BranchRole,
        /// The remote that should have the branch.
        remote: String,
        remedy: HistoryRemedy,
        /// The branch alone is not enough: the clone also lacks the history between it and the queued change.
        needs_history: bool,
    },
    /// The host names one merge-base, and the change may have more of them.
    #[error(
        "could not find all merge-bases of the change: {} ({source_name}) is one of them, and this clone lacks the \
         newest commit of the target branch `{branch}`",
        commit.short()
    )]
    MergeBasesUnknown {
        commit: CommitId,
        source_name: &'static str,
        branch: String,
        remote: String,
        remedy: HistoryRemedy,
    },
    /// No remote of the clone is the target's repository, and the clone has no commit that the event names for the
    /// target.
    #[error("could not prove which commits {} has: {}", describe_target(branch), describe_other_target(remotes, repository.as_deref()))]
    TargetNotProven {
        branch: String,
        /// The remotes of the clone, each with its repository, as text.
        remotes: Vec<String>,
        /// The target's repository without user and scheme, if the event names it.
        repository: Option<String>,
        /// The URL of the target's repository in the event.
        url: Option<String>,
    },
    /// The clone's copy of the target branch and the commit that the event names for it have diverged: a forced push
    /// replaced one of them, or the commit belongs to an earlier target of the change.
    #[error(
        "could not determine the newest commit of the target branch `{branch}`: `{remote}/{branch}` ({}) and {} \
         ({field}) have diverged",
        tip.short(), commit.short()
    )]
    TargetReplaced {
        branch: String,
        remote: String,
        tip: CommitId,
        commit: CommitId,
        /// The host's variable or field with the commit.
        field: &'static str,
        remedy: HistoryRemedy,
    },
    /// The requested base and head have no common history.
    #[error("`{revision}` and {head} have no commit in common")]
    NoCommonHistory { revision: String, head: CommitId },
    /// In a pull or merge request, the base already contains the commit to review.
    #[error("the change has no commits of its own: {head} is already in {base}")]
    EmptyChange { base: String, head: CommitId },
    /// The checkout is not the commit of the event.
    #[error(
        "the checkout is at {}, which is neither the event's commit ({}) nor an unedited merge of that commit with its \
         target",
        checked_out.short(), sluicegate_git::short_id(commit)
    )]
    OtherCheckout {
        checked_out: CommitId,
        commit: String,
        host: Host,
        /// The event is about a pull or merge request.
        is_change: bool,
    },
    /// No branch that may be published contains the commit to publish.
    #[error("{}", describe_unmerged(head, branches))]
    NotMerged {
        head: CommitId,
        /// The searched branches of the remote.
        branches: Vec<String>,
        /// The branch of the run, if the clone's copy of it may be outdated.
        ahead_of: Option<String>,
        /// The remote with the searched branches.
        remote: String,
        remedy: HistoryRemedy,
    },
    /// The clone cannot show whether the commit to publish is merged.
    #[error("could not determine whether {head} is merged: {reason}")]
    MergeUnknown {
        head: CommitId,
        reason: MergeUnknownReason,
        remedy: HistoryRemedy,
    },
    /// The host created a merge in the clone, and either parent may be the change.
    #[error("could not determine which parent of {commit}, a merge created by {}, is the change", remedy.host)]
    AmbiguousMerge { commit: CommitId, remedy: HistoryRemedy },
    /// The host may have created the merge, but its files differ from a clean merge of its parents.
    #[error(
        "could not determine whether {commit} is the change or a merge created by {host}: no remote-tracking branch \
         contains it, and its files differ from those of a clean merge of its parents"
    )]
    EditedMerge { commit: CommitId, host: Host },
    /// The CI host is unknown, and the clone does not show the values that an unknown host does not report.
    #[error("could not determine {missing} on an unknown CI host: {reason}")]
    UnknownHost { missing: &'static str, reason: String },
    /// Neither the CI host nor the job names the branch of the run. A branch that contains the commit is not used
    /// instead, because several branches contain the commit after a branch was created from another.
    #[error("the branch of this run is unknown: {} does not name it", describe_host(*host))]
    BranchNotNamed { host: Host },
    /// No branch is checked out, and no remote branch contains the commit.
    #[error("no known remote branch contains commit {head}")]
    NoBranch { head: CommitId, remedy: HistoryRemedy },
    /// The remote, which the platform reads, does not have the commit.
    #[error("commit {head} is not on the remote, branch `{branch}`")]
    NotOnRemote {
        head: CommitId,
        /// The branch that should contain the commit.
        branch: String,
    },
    /// The remote, which the platform reads, does not have the branch of the run.
    #[error("the remote has no branch `{branch}`, according to this clone")]
    NoBranchOnRemote {
        branch: String,
        /// The step that corrects the branch or pushes it.
        hint: String,
    },
    /// The clone has no remote, so nothing shows which commits the platform can read.
    #[error("this clone has no remote, and the platform reads commits from the remote")]
    NoRemote,
    /// The branch belongs to a fork, so it is not on the platform's remote.
    #[error("the branch `{branch}` belongs to a fork, and the platform reads the project's own remote only")]
    Fork { branch: String },
}

/// The hint for a run on an unknown CI host: the clone can learn the default branch, and the job can set the values
/// that the host does not report. It names variables and not flags, because few commands have all of these flags. It
/// does not name SLUICEGATE_POLICY=head: with this variable in the job, every change would decide its own verdict.
const UNKNOWN_HOST: &str = "run `git remote set-head origin --auto` first, so that the clone knows the default branch; \
     if the CI host does not report them, also set SLUICEGATE_BASE (the commit to compare with) and SLUICEGATE_BRANCH \
     (the branch of the run)";

/// Returns the message that head is not merged, with the remote's branches that were searched for it.
fn describe_unmerged(head: &CommitId, branches: &[String]) -> String {
    format!(
        "commit {head} is not merged: it is not in {} on the remote",
        join_with_or(branches.iter().map(|branch| format!("`{branch}`")))
    )
}

/// Returns the part of a message that names the origin of a commit, or an empty text for a commit of the repository.
const fn describe_fork(is_fork: bool) -> &'static str {
    if is_fork { " of a fork" } else { "" }
}

/// Returns the name of the host for messages.
fn describe_host(host: Host) -> String {
    match host {
        Host::Unknown => "the CI host".to_owned(),
        host => host.to_string(),
    }
}

/// Describes the target branch of a change. Its name is `HEAD` if only the remote knows its default branch.
fn describe_target(branch: &str) -> String {
    match branch {
        "HEAD" => "the remote's default branch".to_owned(),
        _ => format!("the target branch `{branch}`"),
    }
}

/// Describes that the remotes of the clone are not the repository that the change goes to, or cannot be compared with
/// it.
fn describe_other_target(remotes: &[String], repository: Option<&str>) -> String {
    let remotes = remotes.join(", ");
    match repository {
        Some(repository) => format!("the change goes to {repository}, but the remote {remotes}"),
        None => {
            format!("the event does not name the repository of the change's target, and the remote {remotes}")
        }
    }
}

/// The end of a hint about the base of the change, with the flags and their variables.
const BASE_OR_ALL: &str =
    "--base (SLUICEGATE_BASE), or none and select all pipelines with --all (SLUICEGATE_ALL=true)";

const BASE_UNKNOWN_HINT: &str = "fetch the base into this clone, or allow changes to the gate configuration with \
    --gate-changes warn (SLUICEGATE_GATE_CHANGES=warn)";

const NO_REMOTE_HINT: &str = "add the remote with `git remote add origin URL` and push the commit, or check it locally \
    with `sluicegate check`";

const FORK_HINT: &str = "run `sluicegate check`, which works without a remote and a token; to do so only for forks, \
    pass --fork check to the review";

const NOT_MERGED_HINT: &str = "push and merge the commit first, or list its branch in `publish-on.branches` in the \
    default branch's sluicegate.yaml";

const EDITED_MERGE_HINT: &str = "fetch the change into a remote-tracking branch first \
    (`git fetch origin +REF:refs/remotes/origin/change`), or pass the commit to review with --head \
    (SLUICEGATE_HEAD)";

impl ContextError {
    /// Returns an instruction that fixes the error, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Ci(error) => Some(error.hint()),
            Self::CommitNotInClone { remedy, is_fork, fetch_source: Some(source), .. } => {
                Some(missing_commit_hint(*remedy, *is_fork, source))
            }
            Self::Shallow { remedy, .. }
            | Self::CommitNotInClone { remedy, .. }
            | Self::BaseNotInClone { remedy, .. }
            | Self::BranchNotInClone { remedy, needs_history: true, .. }
            | Self::MergeUnknown { remedy, reason: MergeUnknownReason::ShallowClone, .. } => Some(remedy.hint()),
            Self::MergeUnknown { reason: MergeUnknownReason::NoDefaultBranch { remote }, .. } => Some(default_branch_hint(remote)),
            Self::BranchNotInClone { remedy, branch, remote, .. }
            | Self::MergeBasesUnknown { remedy, branch, remote, .. }
            | Self::MergeUnknown { remedy, reason: MergeUnknownReason::NoRemoteBranch { branch, remote }, .. } => {
                Some(format!("{}; {}", fetch_hint(remote, branch), remedy.hint()))
            }
            Self::BaseUnknown { .. } => Some(BASE_UNKNOWN_HINT.to_owned()),
            Self::TargetNotProven { url, .. } => Some(target_remote_hint(url.as_deref())),
            Self::TargetReplaced { branch, remote, remedy, .. } => Some(replaced_target_hint(remote, branch, *remedy)),
            Self::NoCommonHistory { .. } => Some(format!("pass another {BASE_OR_ALL}")),
            Self::EmptyChange { .. } => Some(format!(
                "a job that runs after the merge has no changes to review: pass another {BASE_OR_ALL}"
            )),
            Self::OtherCheckout { host, is_change, commit, .. } => Some(checkout_hint(*host, *is_change, commit)),
            Self::NotMerged { remedy: HistoryRemedy { host: Host::Unknown, .. }, .. } => Some(
                "merge the commit first: on an unknown CI host, only commits on the default branch are published"
                    .to_owned(),
            ),
            Self::NotMerged { ahead_of: Some(branch), remote, remedy, .. } => Some(format!(
                "merge the commit first; if the branch already contains it, this clone is outdated: {}{}",
                fetch_hint(remote, branch),
                remedy.choose_advice("; or pass --deepen (SLUICEGATE_DEEPEN=true)")
            )),
            Self::NotMerged { .. } => Some(NOT_MERGED_HINT.to_owned()),
            Self::AmbiguousMerge { remedy, .. } => {
                Some(format!("pass the commit with --head (SLUICEGATE_HEAD), or {}", remedy.hint()))
            }
            Self::EditedMerge { .. } => Some(EDITED_MERGE_HINT.to_owned()),
            Self::NoBranch { remedy: HistoryRemedy { host: Host::None, .. }, .. } => {
                Some("push the commit, or pass its branch with --branch (SLUICEGATE_BRANCH)".to_owned())
            }
            Self::UnknownHost { .. } => Some(UNKNOWN_HOST.to_owned()),
            Self::BranchNotNamed { .. } => {
                Some("pass the branch of the run with --branch (SLUICEGATE_BRANCH)".to_owned())
            }
            Self::NoBranch { remedy, .. } => {
                Some(format!("pass the commit's branch with --branch (SLUICEGATE_BRANCH), or {}", remedy.hint()))
            }
            Self::NotOnRemote { .. } => {
                Some("push the commit first, or check it locally with `sluicegate check`".to_owned())
            }
            Self::NoBranchOnRemote { hint, .. } => Some(hint.clone()),
            Self::NoRemote => Some(NO_REMOTE_HINT.to_owned()),
            Self::Fork { .. } => Some(FORK_HINT.to_owned()),
        }
    }

    /// Returns whether commits that can still be fetched might resolve the error.
    pub const fn is_fixable_by_fetch(&self) -> bool {
        matches!(
            self,
            Self::TargetNotProven { .. }
                | Self::TargetReplaced { .. }
                | Self::BranchNotInClone { .. }
                | Self::MergeBasesUnknown { .. }
                | Self::Shallow { .. }
                | Self::Git(GitError::ShallowHistory { .. } | GitError::MissingObject { .. })
        )
    }

    /// Adds the run's remedy to the error of a shallow clone.
    pub(super) fn with_remedy_for(self, ci: &CiContext) -> Self {
        match self {
            Self::Git(error @ GitError::ShallowHistory { .. }) => Self::Shallow {
                error,
                remedy: HistoryRemedy::for_run(ci),
            },
            error => error,
        }
    }
}

/// Returns the hint that fetches a commit from this remote and reference. The history of the clone's remote never has a
/// commit of a fork.
fn missing_commit_hint(remedy: HistoryRemedy, is_fork: bool, source: &FetchSource) -> String {
    let alternative = if is_fork {
        remedy
            .choose_advice("; or pass --deepen (SLUICEGATE_DEEPEN=true)")
            .to_owned()
    } else {
        format!("; or {}", remedy.hint())
    };
    format!(
        "fetch the commit: `git fetch {} {}`{alternative}",
        source.remote, source.reference
    )
}

/// Returns the hint for a target branch whose tip has diverged from the commit that the event names.
fn replaced_target_hint(remote: &str, branch: &str, remedy: HistoryRemedy) -> String {
    format!(
        "a forced push replaced the branch, or the change had another target before; if this clone is older than the \
         event, {}{}; otherwise update the change to the current `{branch}` and push it, and the host starts a new job",
        fetch_hint(remote, branch),
        remedy.choose_advice(", or pass --deepen (SLUICEGATE_DEEPEN=true)")
    )
}

/// Returns the hint that checks out the commit of the event. On GitHub and Gitea, the checkout action is configured; by
/// default, it checks out a trial merge for a pull request.
fn checkout_hint(host: Host, is_change: bool, commit: &str) -> String {
    let step = match (host, is_change) {
        (Host::GitHub | Host::Gitea, true) => {
            "add `ref: ${{ github.event.pull_request.head.sha }}` to the `with:` of actions/checkout"
                .to_owned()
        }
        (Host::GitHub | Host::Gitea, false) => {
            "remove `ref:` from the `with:` of actions/checkout".to_owned()
        }
        _ => format!("run `git checkout {commit}` first"),
    };
    format!("{step}; or check the commit instead of the files on disk: `--head {commit}` (SLUICEGATE_HEAD)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkout_hint_names_the_step_of_the_host() {
        let hint_for_push = checkout_hint(Host::GitHub, false, "abc");
        let step = "remove `ref:` from the `with:` of actions/checkout";
        assert!(hint_for_push.starts_with(step), "{hint_for_push}");
        assert_eq!(checkout_hint(Host::Gitea, false, "abc"), hint_for_push);
        let hint_for_change = checkout_hint(Host::Gitea, true, "abc");
        assert!(
            hint_for_change.contains("pull_request.head.sha"),
            "{hint_for_change}"
        );
        assert_eq!(checkout_hint(Host::GitHub, true, "abc"), hint_for_change);
        for is_change in [false, true] {
            let hint = checkout_hint(Host::GitLab, is_change, "abc");
            assert!(hint.starts_with("run `git checkout abc` first; "), "{hint}");
        }
    }

    #[test]
    fn fetch_fixes_missing_history_and_no_other_error() {
        let object = GitError::MissingObject {
            kind: "commit",
            id: "4444444444444444444444444444444444444444".to_owned(),
            partial: false,
        };
        assert!(ContextError::Git(object).is_fixable_by_fetch());
        let broken_clone = GitError::NoCommit {
            root: "/clone".into(),
        };
        assert!(!ContextError::Git(broken_clone).is_fixable_by_fetch());
        let fork = ContextError::Fork {
            branch: "change".to_owned(),
        };
        assert!(!fork.is_fixable_by_fetch());
    }
}
