//! The branches of the target's repository, and the newest commit that each provably has.
//!
//! A remote-tracking reference proves neither whose branch it is nor how old it is: a job may clone the fork of a
//! change, or reuse a workspace. A reference is therefore used only if its remote is the repository that the event
//! names, or if the event states that the change comes from that repository. The commits that the event names for the
//! target are used, too, and the newest commit wins; it is an error if neither contains the other. Policy, bases, the
//! comparison with the tip and the search for merged commits all use this type.

use super::branch_role::BranchRole;
use super::event_commit::{EventCommit, EventRole};
use super::history_remedy::HistoryRemedy;
use super::{CommitSource, ContextError};
use crate::job::ci::{CiContext, Host, TargetCopy, Trigger};
use sluicegate_git::{CommitId, GitError, RemoteBranch, RemoteUrl, Repository};

pub(super) struct TargetBranches<'a> {
    pub(super) repo: &'a Repository,
    pub(super) ci: &'a CiContext,
    /// The remotes that are the target's repository.
    remotes: Vec<String>,
    /// The other remotes, which prove nothing, as text.
    other_remotes: Vec<String>,
}

/// The newest commit that provably belongs to a branch of the target's repository.
#[derive(Debug, Clone)]
pub(super) struct TargetTip {
    pub commit: CommitId,
    pub branch: String,
    /// The remote-tracking branch, even if the event names a newer commit.
    pub tracked_branch: Option<RemoteBranch>,
    /// The host's variable or field with the commit, if the commit is not that of `tracked_branch`.
    pub field: Option<&'static str>,
    /// The clone has a commit that the event names for the branch. If `tracked_branch` contains this commit, it is at
    /// least as new as the event. A commit at which the change started is not considered if the branch was replaced.
    pub is_named: bool,
    /// A commit that the event names for the branch, but that the fetched branch does not contain, with the host's
    /// variable or field.
    pub ignored_commit: Option<(CommitId, &'static str)>,
}

impl<'a> TargetBranches<'a> {
    /// Finds the clone's remotes that are the target's repository, by the URLs that the event names. If no remote has
    /// such a URL, but the commits of this run are in the repository of the event, every remote is accepted.
    /// The host's own commit ([`CommitSource::Host`]) is in the repository of the event.
    pub(super) fn for_event(
        repo: &'a Repository,
        ci: &'a CiContext,
        commit_source: CommitSource,
    ) -> Result<Self, GitError> {
        let urls = &ci.target_repository.urls;
        let target_urls: Vec<RemoteUrl> = urls
            .iter()
            .flat_map(|url| [RemoteUrl::parse(url), repo.resolve_remote_url(url)])
            .flatten()
            .collect();
        let (target_remotes, other_remotes): (Vec<_>, Vec<_>) = repo
            .list_remote_repositories()?
            .into_iter()
            .partition(|(_, url)| url.as_ref().is_some_and(|url| target_urls.contains(url)));
        let accepts_every_remote = target_remotes.is_empty() && is_in_event_repository(ci, commit_source);
        let (remotes, other_remotes) = if accepts_every_remote {
            (other_remotes, Vec::new())
        } else {
            (target_remotes, other_remotes)
        };
        Ok(Self {
            repo,
            ci,
            remotes: remotes.into_iter().map(|(name, _)| name).collect(),
            other_remotes: other_remotes
                .into_iter()
                .map(|(name, url)| describe_remote(&name, url.as_ref()))
                .collect(),
        })
    }

    /// Returns the newest commit that provably belongs to the branch: the tip of the remote-tracking branch or a commit
    /// that the event names for the branch. Returns `None` if the clone has no such commit. Fails instead if the clone
    /// has remotes, but none of them is the target's repository, or if the history of the branch was replaced.
    pub(super) fn find_tip(&self, branch: &str) -> Result<Option<TargetTip>, ContextError> {
        let tracked_branch = self.find_tracked_branch(branch)?;
        let newest_event_commit = self.find_newest_event_commit(branch, tracked_branch.is_some())?;
        let mut is_named = newest_event_commit.is_some();
        let mut ignored_commit = None;
        let (commit, field) = match (&tracked_branch, newest_event_commit) {
            (Some(remote_branch), None) => (remote_branch.tip.clone(), None),
            (Some(remote_branch), Some(event_commit))
                if self.is_descendant(&remote_branch.tip, &event_commit.commit)? =>
            {
                (remote_branch.tip.clone(), None)
            }
            // The clone's copy of the branch is older than the commit of the event, or its history was replaced.
            (Some(remote_branch), Some(event_commit)) => {
                let is_newer = self
                    .repo
                    .contains_commit(&event_commit.commit, &remote_branch.tip)?;
                match event_commit.role {
                    // The commit may belong to an earlier target of the change.
                    EventRole::Tip if is_newer && !self.trusts_event_commits() => {
                        ignored_commit = Some((event_commit.commit, event_commit.field));
                        (remote_branch.tip.clone(), None)
                    }
                    EventRole::Tip if !is_newer => {
                        return Err(replaced_target_error(self.ci, remote_branch, event_commit));
                    }
                    // The start of the change proves nothing about a branch that was replaced.
                    EventRole::Base if !is_newer => {
                        is_named = false;
                        (remote_branch.tip.clone(), None)
                    }
                    _ => (event_commit.commit, Some(event_commit.field)),
                }
            }
            (None, Some(event_commit)) => (event_commit.commit, Some(event_commit.field)),
            (None, None) if self.is_unproven() => return Err(self.unproven_target_error(branch)),
            (None, None) => return Ok(None),
        };
        Ok(Some(TargetTip {
            commit,
            branch: branch.to_owned(),
            tracked_branch,
            field,
            is_named,
            ignored_commit,
        }))
    }

    /// Returns the remote-tracking branch with this name of a remote that is the target's repository.
    pub(super) fn find_tracked_branch(&self, branch: &str) -> Result<Option<RemoteBranch>, GitError> {
        let branches = self.repo.find_remote_branches_with_name(branch)?;
        Ok(branches
            .into_iter()
            .find(|branch| self.is_on_target_remote(branch)))
    }

    /// Returns the default branch that the clone records for the target's repository.
    pub(super) fn find_recorded_default_branch(&self) -> Result<Option<RemoteBranch>, GitError> {
        let branches = self.repo.list_recorded_default_branches()?;
        Ok(branches
            .into_iter()
            .find(|branch| self.is_on_target_remote(branch)))
    }

    /// Returns the remote-tracking branch of the target's default branch, which the host names, otherwise the clone.
    pub(super) fn find_default_branch(&self) -> Result<Option<RemoteBranch>, GitError> {
        match &self.ci.default_branch {
            Some(name) => self.find_tracked_branch(name),
            None => self.find_recorded_default_branch(),
        }
    }

    /// Returns the name of the target's default branch from the host, otherwise from the clone.
    pub(super) fn find_default_branch_name(&self) -> Result<Option<String>, GitError> {
        match &self.ci.default_branch {
            Some(name) => Ok(Some(name.clone())),
            None => Ok(self.find_recorded_default_branch()?.map(|branch| branch.branch)),
        }
    }

    /// Returns the error for a branch that the clone lacks.
    pub(super) fn missing_branch_error(
        &self,
        branch: &str,
        role: BranchRole,
        needs_history: bool,
    ) -> ContextError {
        ContextError::BranchNotInClone {
            branch: branch.to_owned(),
            role,
            remote: self.fetch_remote(),
            remedy: HistoryRemedy::for_run(self.ci),
            needs_history,
        }
    }

    /// Returns whether the branch belongs to a remote that is the target's repository.
    pub(super) fn is_on_target_remote(&self, branch: &RemoteBranch) -> bool {
        self.remotes.contains(&branch.remote)
    }

    /// Returns the remote to fetch the target's branches from.
    pub(super) fn remote(&self) -> Option<&str> {
        self.remotes.first().map(String::as_str)
    }

    /// Returns the remote that a command should fetch the target's branches from: `origin` if none is known.
    pub(super) fn fetch_remote(&self) -> String {
        self.remote().unwrap_or("origin").to_owned()
    }

    /// Returns whether the clone has remotes, but none of them is the target's repository, so that no remote-tracking
    /// branch proves anything about the target.
    pub(super) const fn is_unproven(&self) -> bool {
        self.remotes.is_empty() && !self.other_remotes.is_empty()
    }

    /// Returns the error for a clone without the target's repository: nothing proves which commits are on `branch`.
    pub(super) fn unproven_target_error(&self, branch: &str) -> ContextError {
        let urls = &self.ci.target_repository.urls;
        ContextError::TargetNotProven {
            branch: branch.to_owned(),
            remotes: self.other_remotes.clone(),
            repository: urls
                .iter()
                .find_map(|url| RemoteUrl::parse(url))
                .map(|url| url.to_string()),
            url: urls.first().cloned(),
        }
    }

    /// Returns whether the commit belongs to this branch of the target: the event names the commit, or the branch
    /// contains it. Fails if the history of a shallow clone is too short to show it.
    pub(super) fn contains_commit(&self, branch: &str, commit: &CommitId) -> Result<bool, ContextError> {
        // All commits that the event names are accepted, as in a clone without a remote-tracking branch.
        let is_tracked = false;
        if self.trusts_event_commits()
            && self
                .find_event_commits(branch, is_tracked)?
                .iter()
                .any(|event_commit| event_commit.commit == *commit)
        {
            return Ok(true);
        }
        let Some(tip) = self.find_tip(branch)? else {
            return Ok(false);
        };
        if self.repo.has_commit(commit.as_str()) {
            return Ok(self.is_descendant(&tip.commit, commit)?);
        }
        if self.repo.is_shallow() {
            return Err(ContextError::Git(GitError::ShallowHistory {
                first: tip.commit,
                second: commit.clone(),
            }));
        }
        Ok(false)
    }

    /// Returns whether a commit that the event names for the target is a commit of the target although the clone's copy
    /// of the branch lacks it. After this run fetched the branch, only GitLab is trusted, which starts a new pipeline
    /// if the target of a merge request changes: another host's commits may belong to the earlier target.
    fn trusts_event_commits(&self) -> bool {
        self.ci.target_copy == TargetCopy::Cloned || self.ci.host == Host::GitLab
    }

    /// Returns whether `commit` is `ancestor` or descends from it. Fails if a shallow clone lacks the history between
    /// the two commits.
    fn is_descendant(&self, commit: &CommitId, ancestor: &CommitId) -> Result<bool, GitError> {
        if self.repo.contains_commit(commit, ancestor)? {
            return Ok(true);
        }
        if !self.repo.contains_commit(ancestor, commit)? {
            // The result is not needed: it is an error if the history of a shallow clone does not connect the two.
            self.repo.find_merge_bases(commit, ancestor)?;
        }
        Ok(false)
    }
}

impl TargetTip {
    /// Describes the commit for messages, for example "`origin/main`", or "`main` as the host saw it (1a2b3c4)" for a
    /// commit that the event names.
    pub(super) fn describe(&self) -> String {
        match (&self.tracked_branch, self.field) {
            (Some(branch), None) => format!("`{}/{}`", branch.remote, branch.branch),
            _ => format!("`{}` as the host saw it ({})", self.branch, self.commit.short()),
        }
    }

    /// Describes where the commit was found: the full name of the reference, or the host's variable or field.
    pub(super) fn describe_source(&self, role: BranchRole) -> String {
        match (&self.tracked_branch, self.field) {
            (Some(branch), None) => branch.reference.clone(),
            (Some(branch), Some(field)) => format!("{field}, which is newer than {}", branch.reference),
            (None, field) => format!(
                "{}, because the {role} branch is not in this clone",
                field.unwrap_or("the event")
            ),
        }
    }
}

/// Returns the error for a branch whose tip in the clone and whose tip in the event have diverged: somebody replaced
/// the history of the branch, and nothing shows whether this happened before the event or after it; or the tip in the
/// event is that of an earlier target of the change.
fn replaced_target_error(
    ci: &CiContext,
    remote_branch: &RemoteBranch,
    event_commit: EventCommit,
) -> ContextError {
    ContextError::TargetReplaced {
        branch: remote_branch.branch.clone(),
        remote: remote_branch.remote.clone(),
        tip: remote_branch.tip.clone(),
        commit: event_commit.commit,
        field: event_commit.field,
        remedy: HistoryRemedy::for_run(ci),
    }
}

/// Returns whether the commits of this run are treated as commits of the event's repository, so that the remotes of the
/// clone are trusted without comparing URLs. For a change, the event must state that it comes from that repository. A
/// job that selects its own commit may have cloned another repository; its remotes are trusted only if the host does
/// not name a URL.
fn is_in_event_repository(ci: &CiContext, commit_source: CommitSource) -> bool {
    match ci.trigger {
        _ if ci.host.is_local() => true,
        Trigger::Change => ci.target_repository.contains_change,
        Trigger::Commit | Trigger::Any => commit_source.is_host() || ci.target_repository.urls.is_empty(),
    }
}

/// Describes a remote and its URL, for the error that no remote is the target's repository.
fn describe_remote(name: &str, url: Option<&RemoteUrl>) -> String {
    match url {
        Some(url) => format!("`{name}` is {url}"),
        None => format!("`{name}` has no usable URL"),
    }
}
