//! Finds the commit whose findings are known in a run that selects all pipelines.

use super::ContextError;
use super::base::{Base, EarlierCommit};
use super::base_search::{BaseSearch, describe_merge_bases};
use super::merge_check::may_be_on_branch;
use crate::job::ci::{BaseHint, Host, Trigger};
use sluicegate_git::{CommitId, GitError, is_full_id};

const FIRST_PARENT: &str = "the first parent of head";

impl BaseSearch<'_> {
    /// Sets the earlier commit of the base if the clone cannot connect `previous`, the commit that the host names, with
    /// head. In a shallow clone, `previous` is recorded as missing, and a comparison with it fails. In a complete
    /// clone, the branch no longer has that commit, and nothing shows which findings are known, so the earlier commit
    /// is unknown.
    pub(super) fn set_unavailable_earlier_commit(
        &self,
        base: Base,
        previous: &str,
        source: &'static str,
    ) -> Base {
        base.with_earlier_commit(if self.repo.is_shallow() {
            EarlierCommit::NotInClone {
                commit: previous.to_owned(),
                source,
                is_named_by_host: true,
            }
        } else {
            EarlierCommit::Unknown
        })
    }

    /// Sets the earlier commits of the base to `commits`, the merge-bases of head with the commit before a forced push.
    /// Without merge-bases, the earlier commit is unknown. The base stays unchanged if head itself is a merge-base.
    pub(super) fn set_earlier_commits_of_forced_push(
        &self,
        base: Base,
        commits: Vec<CommitId>,
        previous: &str,
    ) -> Base {
        if commits.is_empty() {
            return base.with_earlier_commit(EarlierCommit::Unknown);
        }
        if self.is_head_among(&commits) {
            return base;
        }
        let source = format!("{} with {previous}", describe_merge_bases(&commits));
        base.with_earlier_commit(EarlierCommit::Found {
            commits,
            source,
            is_named_by_host: true,
        })
    }

    /// Sets the earlier commit of a run on the default branch whose event does not name one: the commit of the host's
    /// last run, otherwise the first parent of head. There is no such commit for a push that created the branch. It is
    /// unknown for an unmerged change, for a fork, and for a head that is not on the branch.
    pub(super) fn set_earlier_commit(&self, base: Base, default_branch: &str) -> Result<Base, ContextError> {
        let (ci, head) = (self.ci, &self.head.commit);
        let is_host_commit = self.head.commit_source.is_host();
        if ci.trigger == Trigger::Change || ci.fork {
            return Ok(base.with_earlier_commit(EarlierCommit::Unknown));
        }
        if is_host_commit && ci.base == BaseHint::CreatedBranch {
            return Ok(base.with_earlier_commit(EarlierCommit::None));
        }
        // A host with this event always names the commit, so the job lacks its variable or file.
        if is_host_commit && ci.event == "push" && ci.base == BaseHint::DefaultBranch {
            let base = base.with_reason("neither the event nor a variable names the commit before the push");
            return Ok(base.with_earlier_commit(EarlierCommit::Unknown));
        }
        // A user who starts a run manually may combine the branch with any commit.
        if !ci.is_push() && !may_be_on_branch(self.repo, ci, default_branch, head, self.head.commit_source)? {
            return Ok(base.with_earlier_commit(EarlierCommit::Unknown));
        }
        // The host's earlier runs precede only the host's commit.
        for (id, variable) in ci.earlier_commits.iter().filter(|_| is_host_commit) {
            if is_full_id(id) && !self.is_later_commit(id)? {
                return self.set_commit_of_earlier_run(base, id, variable);
            }
        }
        Ok(base.with_earlier_commit(self.find_first_parent()?))
    }

    /// Returns whether the commit is head or descends from head, because the host runs an older commit again.
    fn is_later_commit(&self, id: &str) -> Result<bool, ContextError> {
        Ok(match self.repo.find_commit_with_id(id)? {
            Some(commit) => self.repo.contains_commit(&commit, &self.head.commit)?,
            None => false,
        })
    }

    /// Sets the commit of an earlier run as the earlier commit of the base. `id` is that commit, and `variable` names
    /// it. If head does not descend from it, the merge-bases are used. No other commit is used if the clone lacks the
    /// commit or the history after it, because the findings of a failed run between them would then be known.
    fn set_commit_of_earlier_run(
        &self,
        base: Base,
        id: &str,
        variable: &'static str,
    ) -> Result<Base, ContextError> {
        let Some(commit) = self.repo.find_commit_with_id(id)? else {
            // With --deepen, this error makes the program fetch more history.
            if self.may_fetch && self.repo.is_shallow() {
                return Err(self.missing_base_error(id, variable));
            }
            let base = base.with_reason(&format!("{variable} ({id}) is not in this clone"));
            return Ok(self.set_unavailable_earlier_commit(base, id, variable));
        };
        let commits = match self.repo.find_merge_bases(&commit, &self.head.commit) {
            Err(GitError::ShallowHistory { .. }) if !self.may_fetch => {
                return Ok(self.set_unavailable_earlier_commit(base, id, variable));
            }
            result => result?,
        };
        if commits != [commit.clone()] {
            let base = self.set_earlier_commits_of_forced_push(base, commits, variable);
            return Ok(base.with_reason(&format!(
                "{variable} ({}) is not an ancestor of head",
                commit.short()
            )));
        }
        let source = format!("{variable}, the commit of an earlier run");
        Ok(base.with_earlier_commit(EarlierCommit::Found {
            commits,
            source,
            is_named_by_host: true,
        }))
    }

    /// Returns the first parent of head as the earlier commit, if the host does not name an earlier commit.
    fn find_first_parent(&self) -> Result<EarlierCommit, ContextError> {
        let Some(parent) = self.repo.recorded_parents(&self.head.commit)?.into_iter().next() else {
            return Ok(EarlierCommit::None);
        };
        if self.repo.has_commit(parent.as_str()) {
            let host = match self.ci.host {
                Host::Unknown => "the CI host".to_owned(),
                host => host.describe(),
            };
            return Ok(EarlierCommit::Found {
                commits: vec![parent],
                source: format!("{FIRST_PARENT}, because {host} does not name an earlier commit"),
                is_named_by_host: false,
            });
        }
        // With --deepen, this error makes the program fetch more history.
        if self.may_fetch {
            return Err(self.missing_base_error(parent.as_str(), FIRST_PARENT));
        }
        Ok(EarlierCommit::NotInClone {
            commit: parent.to_string(),
            source: FIRST_PARENT,
            is_named_by_host: false,
        })
    }
}
