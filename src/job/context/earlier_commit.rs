//! Finds the commit whose findings are known in a run that selects all pipelines.

use super::ContextError;
use super::base::{Base, EarlierCommit};
use super::base_search::{BaseSearch, describe_merge_bases};
use super::merge_check::may_be_on_branch;
use crate::job::ci::{BaseHint, Host, Trigger};
use sluicegate_git::CommitId;

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
        base.with_earlier_commit(EarlierCommit::Found { commits, source })
    }

    /// Returns the commit whose findings a run on the default branch treats as known, if the event does not name one:
    /// the commit of the host's last run, otherwise the first parent of head. There is no such commit for a push that
    /// created the branch. It is unknown for an unmerged change, for a fork, and for a head that is not on the branch.
    pub(super) fn find_earlier_commit(&self, default_branch: &str) -> Result<EarlierCommit, ContextError> {
        let (ci, head) = (self.ci, &self.head.commit);
        let is_branch_new = self.head.commit_source.is_host() && ci.base == BaseHint::CreatedBranch;
        if ci.trigger == Trigger::Change || ci.fork {
            return Ok(EarlierCommit::Unknown);
        }
        if is_branch_new {
            return Ok(EarlierCommit::None);
        }
        // A user who starts a run manually may combine the branch with any commit.
        if !ci.is_push() && !may_be_on_branch(self.repo, ci, default_branch, head, self.head.commit_source)? {
            return Ok(EarlierCommit::Unknown);
        }
        if let Some(earlier_commit) = self.find_commit_of_earlier_run()? {
            return Ok(earlier_commit);
        }
        let Some(parent) = self.repo.recorded_parents(head)?.into_iter().next() else {
            return Ok(EarlierCommit::None);
        };
        if self.repo.has_commit(parent.as_str()) {
            let host = match ci.host {
                Host::Unknown => "the CI host".to_owned(),
                host => host.describe(),
            };
            return Ok(EarlierCommit::Found {
                commits: vec![parent],
                source: format!("{FIRST_PARENT}, because {host} does not name an earlier commit"),
            });
        }
        // With --deepen, this error makes the program fetch more history.
        if self.may_fetch {
            return Err(self.missing_base_error(parent.as_str(), FIRST_PARENT));
        }
        Ok(EarlierCommit::NotInClone {
            commit: parent.to_string(),
            source: FIRST_PARENT,
        })
    }

    /// Returns the commit of an earlier run: the first one that the host names, that the clone has, and that head
    /// descends from. `None` if the job selected another commit than the host's, because the host's earlier runs
    /// precede only the host's commit.
    fn find_commit_of_earlier_run(&self) -> Result<Option<EarlierCommit>, ContextError> {
        let head = &self.head.commit;
        if !self.head.commit_source.is_host() {
            return Ok(None);
        }
        for (id, variable) in &self.ci.earlier_commits {
            if let Some(commit) = self.repo.find_commit_with_id(id)?.filter(|commit| commit != head)
                && self.repo.contains_commit(head, &commit)?
            {
                let source = format!("{variable}, the commit of an earlier run");
                return Ok(Some(EarlierCommit::Found {
                    commits: vec![commit],
                    source,
                }));
            }
        }
        Ok(None)
    }
}
