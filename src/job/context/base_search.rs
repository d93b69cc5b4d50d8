//! Finds the commit to compare the change with.
//!
//! The result is a commit that is certainly a merge-base or an ancestor of head, or no commit, which selects every
//! pipeline.

use super::base::{Base, EarlierCommit};
use super::branch_role::BranchRole;
use super::history_remedy::HistoryRemedy;
use super::target_branches::{TargetBranches, TargetTip};
use super::{ContextError, RequestedRevisions, head::ReviewedHead};
use crate::job::ci::{BaseHint, CiContext};
use sluicegate_git::{CommitId, GitError, Repository};
use std::iter;

pub(super) struct BaseSearch<'a> {
    pub repo: &'a Repository,
    pub ci: &'a CiContext,
    pub head: &'a ReviewedHead,
    pub branches: TargetBranches<'a>,
    /// The reviewed files may differ from head, because they changed since the commit. In a local run, they are
    /// compared even if head itself is already on the remote. A CI host checks out exactly the files to review.
    pub includes_uncommitted: bool,
    /// Missing commits can still be fetched, so no fallback is used.
    pub may_fetch: bool,
}

impl BaseSearch<'_> {
    /// Returns the base that head is compared with: the base from `--all` or `--base`, otherwise the base that the CI
    /// event implies.
    pub(super) fn find_base(&self, revisions: &RequestedRevisions) -> Result<Base, ContextError> {
        match (revisions.all, &revisions.base) {
            (true, _) => Ok(Base::for_all_pipelines("all pipelines were requested")),
            (false, Some(revision)) => self.find_requested_base(revision),
            (false, None) => self.find_event_base(),
        }
    }

    /// Returns the merge-bases of head with the revision that the job passes with `--base`. Fails without common
    /// history, and for a change without commits of its own. An ambiguous revision causes only a warning.
    fn find_requested_base(&self, revision: &str) -> Result<Base, ContextError> {
        let named_commit = self.repo.resolve_revision(revision)?;
        let bases = self
            .repo
            .find_merge_bases(&named_commit.commit, &self.head.commit)?;
        if bases.is_empty() {
            return Err(ContextError::NoCommonHistory {
                revision: revision.to_owned(),
                head: self.head.commit.clone(),
            });
        }
        let is_empty_change =
            self.is_head_among(&bases) && !self.includes_uncommitted && self.needs_own_commits();
        if is_empty_change {
            return Err(self.empty_change_error(&format!("`{revision}`, as requested")));
        }
        let source = format!("{} with `{revision}`, as requested", describe_merge_bases(&bases));
        let base = Base::from_commits(bases, source);
        Ok(match named_commit.ambiguity {
            Some(ambiguity) => base.with_warning(ambiguity),
            None => base,
        })
    }

    /// Returns the base for the kind of the CI event. If another commit than the host's is reviewed, a base commit in
    /// the event is not used, because it belongs to the host's commit: only the target branch still applies, and in an
    /// event without one, the base is that of the default branch.
    fn find_event_base(&self) -> Result<Base, ContextError> {
        match &self.ci.base {
            BaseHint::MergeBaseWith { branch, seen_commit } => {
                self.find_target_base(branch, seen_commit.as_deref())
            }
            BaseHint::Commit { target, .. } if !self.head.commit_source.is_host() => {
                self.find_target_base(target, None)
            }
            _ if !self.head.commit_source.is_host() => self.find_default_branch_base(),
            BaseHint::Commit { id, source, target } => self.find_named_base(id, source, target),
            BaseHint::PushedFrom { previous, source } if self.is_on_default_branch()? => {
                self.find_push_base(previous, source)
            }
            BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::CreatedBranch => {
                self.find_default_branch_base()
            }
            BaseHint::All { reason } => Ok(Base::for_all_pipelines(*reason)),
        }
    }

    /// Returns the merge-base with the target of a pull request. If the job runs late, the target may already contain
    /// head. The base is then the merge-base with the commit at which the host saw the target. If the clone lacks that
    /// commit, the change has no commits of its own, which is an error. A target without a remote-tracking branch
    /// causes a warning.
    fn find_target_base(&self, branch: &str, seen_commit: Option<&str>) -> Result<Base, ContextError> {
        let Some(tip) = self.branches.find_tip(branch)? else {
            return Err(self.missing_branch_error(branch, BranchRole::Target));
        };
        let base = self.find_branch_base(&tip, BranchRole::Target)?;
        if base.commits.is_empty() {
            return match seen_commit.filter(|id| self.repo.has_commit(id)) {
                Some(id) => self.find_seen_target_base(branch, id),
                None => self.require_own_commits(base, &tip),
            };
        }
        let base = self.add_missing_merge_bases(base, &tip)?;
        if tip.tracked_branch.is_some() {
            return Ok(base);
        }
        let warning =
            format!("the target branch `{branch}` is not in this clone, so the base may be outdated");
        Ok(base.with_warning(warning))
    }

    /// Returns the merge-base with the commit `id`, at which the host saw the target branch. It is for a job that runs
    /// late, when the branch already contains head.
    fn find_seen_target_base(&self, branch: &str, id: &str) -> Result<Base, ContextError> {
        let seen_commit = self.repo.resolve(id)?;
        let name = format!(
            "the target branch `{branch}` as the host saw it ({})",
            seen_commit.short()
        );
        self.find_merge_base(&seen_commit, &name)
    }

    /// Returns the base for an event that names a commit as the base: that commit, or if the clone lacks it, the
    /// merge-base with the target branch. If head is a merge of the change with its target, the merge-base comes first,
    /// because such a merge may contain newer files of the target than the named commit; without the target branch, the
    /// merge's own parent is the base. If the event names head itself, all pipelines are reviewed. Next to a base that
    /// may be a queued change, the target branch is required.
    fn find_named_base(&self, id: &str, source: &'static str, target: &str) -> Result<Base, ContextError> {
        if self.is_head(id) {
            return Ok(Base::for_all_pipelines(format!(
                "{source} is the head commit itself"
            )));
        }
        // Head differs from the change in the host's merge. Without a merge-base, the named commit is tried next.
        let is_host_merge = self.head.change_commit.as_ref() != Some(&self.head.commit);
        let tip = match self.branches.find_tip(target)? {
            None if !self.ci.has_merged_base() => {
                return Err(self.missing_branch_error(target, BranchRole::Target));
            }
            None if is_host_merge => match self.find_host_merge_base(target)? {
                Some(base) => return Ok(base),
                None => None,
            },
            tip => tip,
        };
        if let Some(tip) = tip.as_ref().filter(|_| is_host_merge)
            && let Ok(base) = self.find_branch_base(tip, BranchRole::Target)
            && !base.commits.is_empty()
        {
            return self.add_missing_merge_bases(base, tip);
        }
        if self.repo.has_commit(id) {
            let base = self.find_ancestor_base(&self.repo.resolve(id)?, source)?;
            return match &tip {
                Some(tip) if tip.field != Some(source) => self.add_missing_merge_bases(base, tip),
                // The clone has no newer commit of the target than the one that the event names.
                _ => self.require_single_line(base, source, target),
            };
        }
        match tip {
            Some(tip) => {
                let base =
                    self.require_own_commits(self.find_branch_base(&tip, BranchRole::Target)?, &tip)?;
                self.add_missing_merge_bases(base, &tip)
            }
            None => Err(self.missing_base_error(id, source)),
        }
    }

    /// Returns the base if it is certainly the only merge-base with the target branch, whose newest commits the clone
    /// lacks. A commit that neither is in the history of the base nor descends from it may be in the target, too, and
    /// is then another merge-base.
    fn require_single_line(
        &self,
        base: Base,
        source: &'static str,
        target: &str,
    ) -> Result<Base, ContextError> {
        for commit in &base.commits {
            if !self.repo.has_side_history(&self.head.commit, commit)? {
                continue;
            }
            if self.branches.is_unproven() {
                return Err(self.branches.unproven_target_error(target));
            }
            return Err(ContextError::MergeBasesUnknown {
                commit: commit.clone(),
                source_name: source,
                branch: target.to_owned(),
                remote: self.branches.fetch_remote(),
                remedy: HistoryRemedy::for_run(self.ci),
            });
        }
        Ok(base)
    }

    /// Returns the base of a merge that the host created, in a clone without the target branch: the merge's first
    /// parent, which GitLab chooses. On a merge train, that parent may contain merge requests before this one, which
    /// have runs of their own. Compared with an older commit, the files that others changed on the target would be
    /// changes, too. Returns `None` for a commit with one parent: with fast-forward merges, GitLab rebases the change,
    /// and only the named commit is certainly before the change's first commit. Fails while the target branch can still
    /// be fetched, and if the clone lacks the parents.
    fn find_host_merge_base(&self, branch: &str) -> Result<Option<Base>, ContextError> {
        match self.repo.parents(&self.head.commit)?.as_slice() {
            [first, _, ..] if !self.may_fetch && self.repo.has_commit(first.as_str()) => {
                Ok(Some(Base::from_commits(
                    vec![first.clone()],
                    "the first parent of the host's merge".to_owned(),
                )))
            }
            [_] if !self.may_fetch => Ok(None),
            _ => Err(self.missing_branch_error(branch, BranchRole::Target)),
        }
    }

    /// Adds the merge-bases with the target that `base` lacks: those of head, and those of the change that head
    /// contains. With criss-cross merges, a change has several merge-bases, but the host names only one, and the
    /// author of the change could determine which. A single merge-base is added only for a merge that the host created,
    /// which may contain newer commits of the target, and for the commit of a queue, because its base may be another
    /// queued change that can still fail; the change in a GitLab merge train has no other change in it. Fails if the
    /// clone lacks the history.
    pub(super) fn add_missing_merge_bases(
        &self,
        mut base: Base,
        target: &TargetTip,
    ) -> Result<Base, ContextError> {
        if base.commits.is_empty() {
            return Ok(base);
        }
        let head = self.head;
        let mut merge_bases = Vec::new();
        for commit in iter::once(&head.commit).chain(&head.change_commit) {
            // Only head can differ from the change's newest commit: it is then a merge with the target.
            let is_host_merge = head.change_commit.as_ref() != Some(commit);
            let is_queued = self.ci.is_queued && *commit == head.commit;
            let bases = self.repo.find_merge_bases(&target.commit, commit)?;
            if bases.len() > 1 || is_host_merge || is_queued {
                merge_bases.extend(bases);
            }
        }
        let known_count = base.commits.len();
        for merge_base in merge_bases {
            if !base.commits.contains(&merge_base) {
                base.commits.push(merge_base);
            }
        }
        if base.commits.len() > known_count {
            base.source = format!(
                "{}, and the other merge-bases with the target branch {}",
                base.source,
                target.describe()
            );
        }
        Ok(base)
    }

    /// Returns a base of the commit that the host names. If that commit is not an ancestor of head, for example after a
    /// forced push, the base is the merge-base of the two commits. Fails if a shallow clone lacks the history between
    /// them.
    fn find_ancestor_base(&self, commit: &CommitId, source: &'static str) -> Result<Base, ContextError> {
        let bases = self.repo.find_merge_bases(commit, &self.head.commit)?;
        if bases == [commit.clone()] {
            return Ok(Base::from_commits(bases, source.to_owned()));
        }
        self.find_merge_base(
            commit,
            &format!("{source} ({}), which is not an ancestor of head", commit.short()),
        )
    }

    /// Returns whether the run is on the default branch. On other branches, each push is reviewed with all changes on
    /// the branch: compared only with the previous push, one more commit would turn a failed gate into a passed one.
    fn is_on_default_branch(&self) -> Result<bool, ContextError> {
        match self.find_default_branch_name()? {
            Some(name) => self.is_ci_run_on_default_branch(&name),
            None => Ok(false),
        }
    }

    /// Returns the base of a push to the default branch: the commit that the branch had before. All pipelines are
    /// reviewed instead if head does not descend from that commit, for example after a forced push, or if that commit
    /// is head itself, because head has no changes compared with itself. They are also reviewed if the clone lacks the
    /// commit or the history between it and head, but that is an error while more history can be fetched.
    fn find_push_base(&self, previous: &str, source: &'static str) -> Result<Base, ContextError> {
        if !self.repo.has_commit(previous) {
            return self.find_base_of_unknown_push(previous, source);
        }
        let previous_commit = self.repo.resolve(previous)?;
        let short = previous_commit.short();
        if previous_commit == self.head.commit {
            let base = self.find_default_branch_base()?;
            return Ok(base.with_reason(&format!("{source} ({short}) is head itself")));
        }
        match self.repo.find_merge_bases(&previous_commit, &self.head.commit) {
            Ok(bases) if bases == [previous_commit.clone()] => {
                Ok(Base::from_commits(bases, source.to_owned()))
            }
            Ok(bases) => {
                let base = self.find_default_branch_base()?;
                let base =
                    self.set_earlier_commits_of_forced_push(base, bases, &format!("{source} ({short})"));
                Ok(base.with_reason(&format!("{source} ({short}) is not an ancestor of head")))
            }
            Err(GitError::ShallowHistory { .. }) if !self.may_fetch => {
                let base = self.find_base_without_previous(&format!(
                    "this clone does not show how head descends from {source} ({short})"
                ))?;
                Ok(self.set_unavailable_earlier_commit(base, previous_commit.as_str(), source))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the base of a push to the default branch if the clone lacks the commit before the push. That is an error
    /// while more history can be fetched.
    fn find_base_of_unknown_push(&self, previous: &str, source: &'static str) -> Result<Base, ContextError> {
        if self.may_fetch && self.repo.is_shallow() {
            return Err(self.missing_base_error(previous, source));
        }
        let reason = format!("{source} ({previous}) is not in this clone");
        let base = self.find_base_without_previous(&reason)?;
        Ok(self.set_unavailable_earlier_commit(base, previous, source))
    }

    /// Returns the base of a push to the default branch if the clone does not show the commit before the push: all
    /// pipelines are reviewed. In a shallow clone, a warning explains how to fetch more history.
    fn find_base_without_previous(&self, reason: &str) -> Result<Base, ContextError> {
        let base = self.find_default_branch_base()?.with_reason(reason);
        if !base.commits.is_empty() || !self.repo.is_shallow() {
            return Ok(base);
        }
        let remedy = HistoryRemedy::for_run(self.ci);
        let warning = format!(
            "all pipelines are selected, and changes to the gate configuration are not reported, because {reason}; to \
             avoid this, {}{}",
            remedy.describe_step(),
            remedy.choose_advice(", or pass --deepen")
        );
        Ok(base.with_explanation(reason, warning))
    }

    /// Returns the error for a branch that the clone lacks.
    pub(super) fn missing_branch_error(&self, branch: &str, role: BranchRole) -> ContextError {
        let needs_history = self.ci.is_queued && self.repo.is_shallow();
        self.branches.missing_branch_error(branch, role, needs_history)
    }

    /// Returns the error for a base commit that the clone lacks. `source_name` is the variable or field that names it.
    pub(super) fn missing_base_error(&self, commit: &str, source_name: &'static str) -> ContextError {
        ContextError::BaseNotInClone {
            commit: commit.to_owned(),
            source_name,
            remedy: HistoryRemedy::for_run(self.ci),
        }
    }

    /// Returns the merge-base with this branch.
    pub(super) fn find_branch_base(&self, tip: &TargetTip, role: BranchRole) -> Result<Base, ContextError> {
        self.find_merge_base(&tip.commit, &format!("the {role} branch {}", tip.describe()))
    }

    /// Returns a base of the merge-bases with another commit, which is called `name` in messages. If there is no
    /// merge-base, or if head itself is a merge-base, all pipelines are selected: compared with itself, head would have
    /// no changes and would pass. If head is a merge-base, the findings of head are known. If uncommitted files are
    /// reviewed, head may be the base, because these files are changes to head.
    fn find_merge_base(&self, commit: &CommitId, name: &str) -> Result<Base, ContextError> {
        let bases = self.repo.find_merge_bases(commit, &self.head.commit)?;
        if bases.is_empty() {
            return Ok(Base::for_unknown_base(format!(
                "head has no commit in common with {name}"
            )));
        }
        if self.is_head_among(&bases) && !self.includes_uncommitted {
            let source = format!("head itself, which is already in {name}");
            let base = Base::for_all_pipelines(format!("head is already in {name}"));
            return Ok(base.with_earlier_commit(EarlierCommit::Found {
                commits: bases,
                source,
                is_named_by_host: false,
            }));
        }
        let source = format!("{} with {name}", describe_merge_bases(&bases));
        Ok(Base::from_commits(bases, source))
    }
}

/// Returns "the merge-base" or, for example, "the 2 merge-bases", for messages about where the base comes from.
pub(super) fn describe_merge_bases(bases: &[CommitId]) -> String {
    match bases.len() {
        0 | 1 => "the merge-base".to_owned(),
        several => format!("the {several} merge-bases"),
    }
}
