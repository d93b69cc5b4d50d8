//! The branches of the target's repository, and the newest commit that each provably has.
//!
//! A remote-tracking reference proves neither whose branch it is nor how old it is: a job may clone the fork of a
//! change, or reuse a workspace. A reference is therefore used only if its remote is the repository that the event
//! names, or if the event states that the change comes from that repository. The commits that the event names for the
//! target are used, too, and the newest commit wins; it is an error if neither contains the other. Policy, bases, the
//! comparison with the tip and the search for merged commits all use this type.

use super::branch_role::BranchRole;
use super::{CommitSource, ContextError};
use crate::job::ci::{BaseHint, CiContext, Host, Trigger};
use sluicegate_git::{CommitId, GitError, RemoteBranch, RemoteUrl, Repository};

pub(super) struct TargetBranches<'a> {
    repo: &'a Repository,
    ci: &'a CiContext,
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
    /// The event names a commit of the branch that the clone has, so the age of `tracked_branch` is known.
    pub is_named: bool,
}

/// A commit that the event names for the target.
struct EventCommit {
    commit: CommitId,
    field: &'static str,
    role: EventRole,
}

/// The role of a commit that the event names.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EventRole {
    /// The commit was the newest one of the target.
    Tip,
    /// The change started at this commit of the target.
    Base,
    /// The run is about this commit.
    Run,
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
                    EventRole::Tip if !is_newer => {
                        return Err(replaced_target_error(remote_branch, event_commit));
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
        }))
    }

    /// Returns the newest commit that the event names for the branch. If two commits are not related, the more trusted
    /// one is returned. `is_tracked` states that the branch has a remote-tracking branch.
    fn find_newest_event_commit(
        &self,
        branch: &str,
        is_tracked: bool,
    ) -> Result<Option<EventCommit>, GitError> {
        let mut newest: Option<EventCommit> = None;
        for event_commit in self.find_event_commits(branch, is_tracked)? {
            let is_newer = match &newest {
                // A commit contains itself, but the first name of the same commit is the more trusted one.
                Some(newest_commit) => {
                    event_commit.commit != newest_commit.commit
                        && self
                            .repo
                            .contains_commit(&event_commit.commit, &newest_commit.commit)?
                }
                None => true,
            };
            if is_newer {
                newest = Some(event_commit);
            }
        }
        Ok(newest)
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
        if self
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

    /// Returns the commits that the event names for the branch, as far as the clone has them, the most trusted one
    /// first. If the branch has a remote-tracking branch (`is_tracked`), the commit of a run that may be on another
    /// branch is skipped.
    fn find_event_commits(&self, branch: &str, is_tracked: bool) -> Result<Vec<EventCommit>, GitError> {
        let mut commits = Vec::new();
        if self.ci.target_branch() == Some(branch) {
            commits.extend(self.find_target_commits()?);
        }
        // On GitHub and Gitea, a user who starts a build can select a branch. On other hosts, the user can select any
        // commit, so it may not be on the branch.
        let is_on_branch = matches!(self.ci.host, Host::GitHub | Host::Gitea);
        if is_on_branch || !is_tracked {
            commits.extend(self.find_run_commit(branch)?);
        }
        Ok(commits)
    }

    /// Returns the commits of the target branch that the event of a change names: the tip, from two sources, and the
    /// commit at which the change started. The most reliable one comes first. For a queued change, the host's merge and
    /// the base prove nothing about the target: they may contain another queued change, which is not merged yet, and on
    /// GitLab, the base may be an old commit, which the author chose.
    fn find_target_commits(&self) -> Result<Vec<EventCommit>, GitError> {
        let mut commits = Vec::new();
        // The host may have created its trial merge after it wrote the event, so the merge may have a newer tip.
        if !self.ci.is_queued
            && let Some(parent) = self.find_merged_target()?
        {
            let field = "the first parent of the host's merge";
            commits.extend(self.find_event_commit(parent.as_str(), field, EventRole::Tip)?);
        }
        if let Some((id, field)) = &self.ci.target_tip {
            commits.extend(self.find_event_commit(id, field, EventRole::Tip)?);
        }
        if !self.ci.is_queued
            && let BaseHint::Commit { id, source, .. } = &self.ci.base
        {
            commits.extend(self.find_event_commit(id, source, EventRole::Base)?);
        }
        Ok(commits)
    }

    /// Returns the host's commit of a run on this branch. The commit of an unmerged change is not on the target's
    /// branch, even if both branches have the same name.
    fn find_run_commit(&self, branch: &str) -> Result<Option<EventCommit>, GitError> {
        let is_run_branch = self.ci.trigger != Trigger::Change && self.ci.branch.as_deref() == Some(branch);
        match &self.ci.commit {
            Some(id) if is_run_branch => self.find_event_commit(id, "the host's own commit", EventRole::Run),
            _ => Ok(None),
        }
    }

    /// Returns the commit with this id if the clone has it. `field` is the source of the id, for messages.
    fn find_event_commit(
        &self,
        id: &str,
        field: &'static str,
        role: EventRole,
    ) -> Result<Option<EventCommit>, GitError> {
        let commit = self.repo.find_commit_with_id(id)?;
        Ok(commit.map(|commit| EventCommit { commit, field, role }))
    }

    /// Returns the target's commit in the host's trial merge: the first parent of the merge, if another parent is the
    /// host's commit.
    fn find_merged_target(&self) -> Result<Option<CommitId>, GitError> {
        let (Some(merge), Some(host_commit)) = (&self.ci.checkout, &self.ci.commit) else {
            return Ok(None);
        };
        let Some(merge) = self.repo.find_commit_with_id(merge)? else {
            return Ok(None);
        };
        let parents = self.repo.recorded_parents(&merge)?;
        Ok(match parents.as_slice() {
            [first, other_parents @ ..]
                if other_parents.iter().any(|parent| parent.as_str() == host_commit) =>
            {
                Some(first.clone())
            }
            _ => None,
        })
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
/// the history of the branch, and nothing shows whether this happened before the event or after it.
fn replaced_target_error(remote_branch: &RemoteBranch, event_commit: EventCommit) -> ContextError {
    ContextError::TargetReplaced {
        branch: remote_branch.branch.clone(),
        remote: remote_branch.remote.clone(),
        tip: remote_branch.tip.clone(),
        commit: event_commit.commit,
        field: event_commit.field,
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
