//! Chooses the agent's branch on the remote, and checks the remote's branches after the agent's work.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::context::Target;
use crate::workspace::Workspace;
use sluicegate_base::text::quote_shell_word;
use sluicegate_git::{Change, ChangeKind, CommitId, FetchTarget, FileKind, Repository};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of names that are tried for a new branch.
const MAX_BRANCH_NAMES: usize = 20;

/// Number of commits of the new branch to fetch into a shallow clone.
const FETCH_DEPTH: u32 = 100;

/// The reviewed branch and the new branch.
pub(super) struct RemoteBranches {
    remote: String,
    pub(super) reviewed_branch: String,
    pub(super) reviewed_commit: CommitId,
    /// The name of the branch that the agent creates.
    pub(super) fix_branch: String,
}

impl RemoteBranches {
    /// Finds the remote of the reviewed branch, and chooses a free name for the branch of the fix. Fails if the remote
    /// has the reviewed branch at another commit, or if all names to try are taken.
    pub(super) fn for_new_task(
        repo: &Repository,
        target: &Target,
        requested_name: Option<&str>,
    ) -> Result<Self, Failure> {
        let reviewed_branch = target.require_branch()?.to_owned();
        let Some(remote_branch) = repo.find_remote_branch(&reviewed_branch)? else {
            let message = format!("this clone has no remote with the branch `{reviewed_branch}`");
            return Err(Failure::from_message(ExitStatus::Context, message)
                .with_hint("push the branch, and run `git fetch`, so that this clone knows it"));
        };
        let remote = remote_branch.remote;
        let names = match requested_name {
            Some(name) => vec![name.to_owned()],
            None => list_name_candidates(&target.head),
        };
        // One query returns which names are taken, and the commit of the reviewed branch.
        let queried_names: Vec<&str> = names
            .iter()
            .chain([&reviewed_branch])
            .map(String::as_str)
            .collect();
        let tips = repo.query_branch_tips(&remote, &queried_names)?;
        let fix_branch = names
            .iter()
            .find(|name| !tips.contains_key(name.as_str()))
            .ok_or_else(|| taken_names_failure(&names))?;
        let branches = Self {
            remote,
            fix_branch: fix_branch.clone(),
            reviewed_branch,
            reviewed_commit: target.head.clone(),
        };
        if let Some(difference) = branches.describe_branch_difference(&tips) {
            let message = format!("the branch on the remote differs from the reviewed commit: {difference}");
            return Err(Failure::from_message(ExitStatus::Context, message)
                .with_hint("fetch the branch and review its newest commit, or push your commit"));
        }
        Ok(branches)
    }

    /// Queries the remote for the commit of the branch that the agent pushes; `None` if the branch does not exist.
    /// Fails if the reviewed branch was moved meanwhile.
    pub(super) fn find_fix_commit(&self, repo: &Repository) -> Result<Option<CommitId>, Failure> {
        let tips = repo.query_branch_tips(&self.remote, &[&self.reviewed_branch, &self.fix_branch])?;
        if let Some(difference) = self.describe_branch_difference(&tips) {
            let message = format!("the reviewed branch was moved while the agent worked: {difference}");
            let refspec = format!("{}:refs/heads/{}", self.reviewed_commit, self.reviewed_branch);
            return Err(rejected_fix_failure(message).with_hint(format!(
                "find out who moved the branch; `git push --force {} {}` restores the branch",
                quote_shell_word(&self.remote),
                quote_shell_word(&refspec)
            )));
        }
        Ok(tips.get(&self.fix_branch).cloned())
    }

    /// Describes how the remote's reviewed branch differs from the reviewed commit; `None` if the branch is at that
    /// commit. `tips` are the commits of the remote's branches.
    fn describe_branch_difference(&self, tips: &BTreeMap<String, CommitId>) -> Option<String> {
        let (branch, reviewed_commit) = (&self.reviewed_branch, self.reviewed_commit.short());
        match tips.get(branch) {
            Some(tip) if *tip == self.reviewed_commit => None,
            Some(tip) => Some(format!(
                "`{branch}` is at {}, not at {reviewed_commit}",
                tip.short()
            )),
            None => Some(format!(
                "`{branch}` no longer exists; it was reviewed at {reviewed_commit}"
            )),
        }
    }

    /// Fetches the agent's branch into its remote-tracking branch only, and returns its commit. Fails if that commit
    /// does not descend from the reviewed commit, because the agent then rewrote the history.
    pub(super) fn fetch_fix_branch(&self, workspace: &mut Workspace<'_>) -> Result<CommitId, Failure> {
        let target = [FetchTarget::Branch(&self.fix_branch)];
        workspace
            .repo
            .fetch_history_from(&self.remote, &target, FETCH_DEPTH)?;
        // A repository must be opened again to contain fetched commits.
        workspace.repo = workspace.repo.reopen()?;
        let repo = &workspace.repo;
        let branches = repo.find_remote_branches_with_name(&self.fix_branch)?;
        let tracked_branch = branches.into_iter().find(|branch| branch.remote == self.remote);
        let tip = tracked_branch
            .ok_or_else(|| rejected_fix_failure(format!("the branch `{}` was not fetched", self.fix_branch)))?
            .tip;
        if !repo.contains_commit(&tip, &self.reviewed_commit)? {
            let message = format!(
                "the branch `{}` does not descend from the reviewed commit {}",
                self.fix_branch,
                self.reviewed_commit.short()
            );
            return Err(rejected_fix_failure(message)
                .with_hint("do not use the branch: the agent rewrote its history"));
        }
        Ok(tip)
    }
}

/// Returns the failure for a fix that must not be used.
pub(super) fn rejected_fix_failure(message: String) -> Failure {
    Failure::from_message(ExitStatus::GateFailed, message)
}

/// Returns the names to try for the branch of the fix: one with the short id of the commit, then the same with a number
/// from 2 to `MAX_BRANCH_NAMES`.
fn list_name_candidates(commit: &CommitId) -> Vec<String> {
    let name = format!("sluicegate-fix-{}", commit.short());
    let numbered_names = (2..=MAX_BRANCH_NAMES).map(|number| format!("{name}-{number}"));
    std::iter::once(name.clone()).chain(numbered_names).collect()
}

/// Returns the failure if the remote already has a branch with each of the names. The message contains only the first
/// name.
fn taken_names_failure(names: &[String]) -> Failure {
    let name = names.first().map_or("", String::as_str);
    Failure::usage(format!("the remote already has a branch `{name}`"))
        .with_hint("pass another name with --target-branch, or delete the branch")
}

/// Returns the changes that the task does not permit: everything except new content for the regular files in
/// `task_paths`.
pub(super) fn list_foreign_changes<'c>(
    changes: &'c [Change],
    task_paths: &BTreeSet<&str>,
) -> Vec<&'c Change> {
    changes
        .iter()
        .filter(|change| {
            let is_edit = change.kind == ChangeKind::Modified && change.file_kind == Some(FileKind::Regular);
            !(is_edit && task_paths.contains(change.path.as_str()))
        })
        .collect()
}

/// Returns the path of a change that the task does not permit, with the kind of the change.
pub(super) fn describe_foreign_change(change: &Change) -> String {
    let action = match &change.kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "changed",
        ChangeKind::Renamed { .. } => "renamed",
        ChangeKind::Deleted => "deleted",
        ChangeKind::TypeChanged => "replaced by a link or a submodule",
    };
    format!("{} ({action})", change.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(path: &str, kind: ChangeKind, file_kind: Option<FileKind>) -> Change {
        Change {
            path: path.to_owned(),
            kind,
            file_kind,
            base_index: 0,
        }
    }

    #[test]
    fn every_change_but_an_edit_of_a_chosen_pipeline_is_foreign() {
        let from = "a.orch.yaml".to_owned();
        let changes = [
            change("a.orch.yaml", ChangeKind::Modified, Some(FileKind::Regular)),
            change("a.orch.yaml", ChangeKind::Deleted, None),
            change("a.orch.yaml", ChangeKind::TypeChanged, Some(FileKind::Symlink)),
            change(
                "b.orch.yaml",
                ChangeKind::Renamed {
                    from,
                    is_certain: true,
                },
                Some(FileKind::Regular),
            ),
            change("b.orch.yaml", ChangeKind::Modified, Some(FileKind::Regular)),
            change("c.orch.yaml", ChangeKind::Added, Some(FileKind::Regular)),
        ];
        let task_paths = BTreeSet::from(["a.orch.yaml"]);
        let foreign = list_foreign_changes(&changes, &task_paths);
        assert_eq!(foreign, changes[1..].iter().collect::<Vec<_>>());
    }
}
