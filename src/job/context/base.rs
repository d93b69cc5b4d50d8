//! Finds the commit to compare the change with.
//!
//! The result is a commit that is certainly a merge-base or an ancestor of head, or no commit, which selects every
//! pipeline.

use super::base_commits::{Base, EarlierCommit};
use super::target_branches::{TargetBranches, TargetTip};
use super::{ContextError, RevisionWish, head::JudgedHead};
use crate::job::ci::{BaseHint, CiContext, Host};
use sluicegate_git::{CommitId, GitError, Repository, WHOLE_HISTORY};

pub(super) struct Search<'a> {
    pub repo: &'a Repository,
    pub ci: &'a CiContext,
    pub head: &'a JudgedHead,
    pub branches: TargetBranches<'a>,
    /// The reviewed files may differ from head, because they changed since the commit. In a local run, they are
    /// compared even if head itself is already on the remote. A CI host checks out exactly the files to review.
    pub beyond_head: bool,
    /// Missing commits can still be fetched, so no fallback is used.
    pub may_fetch: bool,
}

impl Search<'_> {
    pub(super) fn run(&self, wish: &RevisionWish) -> Result<Base, ContextError> {
        match (wish.all, &wish.base) {
            (true, _) => Ok(Base::everything("all pipelines were requested")),
            (false, Some(revision)) => self.asked_for(revision),
            (false, None) => self.detected(),
        }
    }

    fn asked_for(&self, revision: &str) -> Result<Base, ContextError> {
        let named = self.repo.named(revision)?;
        let bases = self.repo.merge_bases(&named.commit, &self.head.commit)?;
        if bases.is_empty() {
            return Err(ContextError::NoCommonHistory {
                revision: revision.to_owned(),
                head: self.head.commit.clone(),
            });
        }
        if self.is_head(&bases) && !self.beyond_head && self.must_bring_something() {
            return Err(self.nothing_brought(&format!("`{revision}`, as requested")));
        }
        let source = format!("{} with `{revision}`, as requested", merge_bases(&bases));
        let found = Base::at(bases, source);
        Ok(match named.ambiguity {
            Some(ambiguity) => found.warn(ambiguity),
            None => found,
        })
    }

    /// Returns the detected base. The host's base is valid only for the host's commit.
    fn detected(&self) -> Result<Base, ContextError> {
        match &self.ci.base {
            BaseHint::MergeBaseWith { branch, seen_at } => self.target(branch, seen_at.as_deref()),
            _ if !self.head.is_hosts => self.default_branch(),
            BaseHint::Commit { id, source, target } => self.named(id, source, target.as_deref()),
            BaseHint::PushedFrom { before, source } if self.is_default()? => self.pushed_from(before, source),
            BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::CreatedBranch => {
                self.default_branch()
            }
            BaseHint::All { why } => Ok(Base::everything(*why)),
        }
    }

    /// Returns the merge-base with the target of a pull request. If the job runs late, the target may already contain
    /// head; the commit at which the host saw the target then still gives the base.
    fn target(&self, branch: &str, seen_at: Option<&str>) -> Result<Base, ContextError> {
        let Some(tip) = self.branches.tip(branch)? else {
            return Err(self.branch_not_in_clone(branch, "target"));
        };
        if tip.tracked.is_none() && self.may_fetch && !self.branches.is_unproven() {
            return Err(self.branch_not_in_clone(branch, "target"));
        }
        let base = self.parted_from(&tip, "target")?;
        if base.commits.is_empty() {
            return match seen_at.filter(|id| self.repo.has_commit(id)) {
                Some(id) => self.seen(branch, id),
                None => self.brought(base, &tip),
            };
        }
        let base = self.with_bases_of_change(base, &tip)?;
        if tip.tracked.is_some() {
            return Ok(base);
        }
        let warning =
            format!("the target branch `{branch}` is not in this clone, so the base may be outdated");
        Ok(base.warn(warning))
    }

    fn seen(&self, branch: &str, id: &str) -> Result<Base, ContextError> {
        let other = self.repo.resolve(id)?;
        let name = format!(
            "the target branch `{branch}` as the host saw it ({})",
            other.short()
        );
        self.merge_base(&other, &name)
    }

    fn named(&self, id: &str, source: &'static str, target: Option<&str>) -> Result<Base, ContextError> {
        if id == self.head.commit.as_str() {
            return Ok(Base::everything(format!("{source} is the head itself")));
        }
        let tip = target
            .map(|branch| self.branches.tip(branch))
            .transpose()?
            .flatten();
        // The named commit is the base of the change. A merge of it has newer files of the target, too.
        if let Some(tip) = tip
            .as_ref()
            .filter(|_| self.head.change.as_ref() != Some(&self.head.commit))
            && let Ok(base) = self.parted_from(tip, "target")
            && !base.commits.is_empty()
        {
            return self.with_bases_of_change(base, tip);
        }
        if self.repo.has_commit(id) {
            let base = self.ancestor(&self.repo.resolve(id)?, source)?;
            return match &tip {
                Some(tip) => self.with_bases_of_change(base, tip),
                None => Ok(base),
            };
        }
        match tip {
            Some(tip) => {
                let base = self.brought(self.parted_from(&tip, "target")?, &tip)?;
                self.with_bases_of_change(base, &tip)
            }
            None => Err(self.base_not_in_clone(id, source)),
        }
    }

    /// Adds the other merge-bases of the change and its target. The host names only one, and a merge that the host
    /// created has only one: with criss-cross merges, a change could choose it. For such a merge, its own merge-base
    /// is added, too. For a queued change, the host names the change before it in the queue, which is not merged yet
    /// and may fail. If the clone cannot find the others, the base is used alone.
    fn with_bases_of_change(&self, mut base: Base, target: &TargetTip) -> Result<Base, ContextError> {
        if base.commits.is_empty() {
            return Ok(base);
        }
        let head = self.head;
        let mut others = Vec::new();
        let is_merge = |commit: &CommitId| head.change.as_ref() != Some(commit);
        for commit in [Some(&head.commit), head.change.as_ref()].into_iter().flatten() {
            match self.repo.merge_bases(&target.commit, commit) {
                Ok(bases) if bases.len() > 1 || is_merge(commit) || self.ci.is_queued => {
                    others.extend(bases);
                }
                Ok(_) | Err(GitError::ShallowHistory { .. } | GitError::MissingObject { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let known_count = base.commits.len();
        for other in others {
            if !base.commits.contains(&other) {
                base.commits.push(other);
            }
        }
        if base.commits.len() > known_count {
            base.source = format!(
                "{}, and the other merge-bases with the target branch {}",
                base.source,
                target.name()
            );
        }
        Ok(base)
    }

    /// Fails if the change has no commit of its own, regardless of the references of the clone.
    fn brought(&self, base: Base, target: &TargetTip) -> Result<Base, ContextError> {
        let is_in_target = || self.repo.contains(&target.commit, &self.head.commit);
        if base.commits.is_empty() && !self.beyond_head && is_in_target()? {
            return Err(self.nothing_brought(&target.name()));
        }
        Ok(base)
    }

    /// Returns whether the change must have commits: in a pull or merge request, unless the event itself has the same
    /// commit on both sides.
    fn must_bring_something(&self) -> bool {
        let head = self.head.commit.as_str();
        match &self.ci.base {
            BaseHint::MergeBaseWith { seen_at, .. } => seen_at.as_deref() != Some(head),
            BaseHint::Commit { id, .. } => id != head,
            _ => false,
        }
    }

    fn nothing_brought(&self, base: &str) -> ContextError {
        ContextError::NothingBrought {
            base: base.to_owned(),
            head: self.head.commit.clone(),
        }
    }

    /// Returns the commit that the host sets as the base. If it is not an ancestor of head, as after a forced push,
    /// their merge-base is used. If the shallow clone does not connect the two, the host's commit is used with a
    /// warning.
    fn ancestor(&self, named: &CommitId, source: &'static str) -> Result<Base, ContextError> {
        match self.repo.merge_bases(named, &self.head.commit) {
            Ok(bases) if bases == [named.clone()] => Ok(Base::at(bases, source.to_owned())),
            Ok(_) => self.merge_base(
                named,
                &format!("{source} ({}), which is not an ancestor of head", named.short()),
            ),
            Err(GitError::ShallowHistory { .. }) if !self.may_fetch => {
                let warning = format!(
                    "could not verify in this shallow clone that head descends from {} ({source}); \
                     using it as the base anyway",
                    named.short()
                );
                Ok(Base::at(vec![named.clone()], source.to_owned()).warn(warning))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether the run is on the default branch. On other branches, each push is reviewed with all changes of
    /// the branch: compared only with the previous push, one more commit would turn a failed gate into a passed one.
    fn is_default(&self) -> Result<bool, ContextError> {
        Ok(self.default_name()?.is_some_and(|name| self.is_on(&name)))
    }

    /// Returns the commit before a push. After a forced push, that commit is not an ancestor of head, or not in the
    /// clone.
    fn pushed_from(&self, before: &str, source: &'static str) -> Result<Base, ContextError> {
        if !self.repo.has_commit(before) {
            if self.may_fetch && self.repo.is_shallow() {
                return Err(self.base_not_in_clone(before, source));
            }
            let base = self.without_before(&format!("{source} ({before}) is not in this clone"))?;
            return Ok(self.cut_off(base, before, source));
        }
        let before = self.repo.resolve(before)?;
        let short = before.short();
        match self.repo.merge_bases(&before, &self.head.commit) {
            Ok(bases) if bases == [before.clone()] && before != self.head.commit => {
                Ok(Base::at(bases, source.to_owned()))
            }
            Ok(bases) => {
                let base = self.default_branch()?;
                let base = self.at_merge_base_of_forced_push(base, bases, &format!("{source} ({short})"));
                Ok(base.because(&format!("{source} ({short}) is not an ancestor of head")))
            }
            Err(GitError::ShallowHistory { .. }) if !self.may_fetch => {
                let base = self.without_before(&format!(
                    "this clone does not show how head follows {source} ({short})"
                ))?;
                Ok(self.cut_off(base, before.as_str(), source))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the merge-base with the default branch instead of the commit before the push, with a warning if more
    /// history might help.
    fn without_before(&self, why: &str) -> Result<Base, ContextError> {
        let base = self.default_branch()?.because(why);
        if !base.commits.is_empty() || !self.repo.is_shallow() {
            return Ok(base);
        }
        let whole = self.ci.host.whole_history().unwrap_or(WHOLE_HISTORY);
        Ok(base.warn(format!(
            "all pipelines are selected, because {why}; for more history, use {whole}, or --deepen"
        )))
    }

    fn default_branch(&self) -> Result<Base, ContextError> {
        let Some(name) = self.default_name()? else {
            return match self.ci.host {
                _ if self.branches.is_unproven() => Err(self.branches.not_proven("HEAD")),
                _ if self.may_fetch => Err(self.branch_not_in_clone("HEAD", "default")),
                Host::Unknown => Err(ContextError::UnknownHost {
                    missing: "the base",
                    why: NO_DEFAULT.to_owned(),
                }),
                _ => Ok(self.unknown_default()),
            };
        };
        if self.is_on(&name) {
            return Ok(Base::everything(on_default(&name)).with_earlier(self.earlier_commit(&name)?));
        }
        match self.branches.tip(&name)? {
            Some(tip) => {
                let base = self.with_bases_of_change(self.parted_from(&tip, "default")?, &tip)?;
                // An unknown host does not report whether the run is on the default branch.
                if base.commits.is_empty() && self.ci.host == Host::Unknown {
                    let is_default = self.repo.contains(&tip.commit, &self.head.commit)?;
                    let earlier = is_default.then(|| self.earlier_commit(&name)).transpose()?;
                    return Ok(base.with_earlier(earlier.unwrap_or(EarlierCommit::None)));
                }
                Ok(base)
            }
            None => Err(self.branch_not_in_clone(&name, "default")),
        }
    }

    fn default_name(&self) -> Result<Option<String>, GitError> {
        match &self.ci.default_branch {
            Some(name) => Ok(Some(name.clone())),
            None => self.known_default(),
        }
    }

    /// Returns the default branch that the clone knows. In CI, it is not guessed by its usual name: anyone may push a
    /// `main` beside the real one, and so choose the base.
    fn known_default(&self) -> Result<Option<String>, GitError> {
        let known = match self.ci.host {
            Host::None => self.repo.likely_default_branch(),
            _ => self.branches.recorded_default(),
        };
        Ok(known?.map(|branch| branch.branch))
    }

    fn unknown_default(&self) -> Base {
        let base = Base::everything(NO_DEFAULT);
        if self.ci.host.is_local() {
            return if self.repo.is_shallow() {
                base.warn(SHALLOW_AND_ALONE.to_owned())
            } else {
                base
            };
        }
        let warning = "all pipelines are selected: this clone does not know the remote's default branch; run \
                       `git remote set-head origin BRANCH` first, or pass --deepen";
        base.warn(warning.to_owned())
    }

    fn branch_not_in_clone(&self, branch: &str, role: &'static str) -> ContextError {
        ContextError::BranchNotInClone {
            branch: branch.to_owned(),
            role,
            host: self.ci.host,
        }
    }

    pub(super) fn base_not_in_clone(&self, commit: &str, source_name: &'static str) -> ContextError {
        ContextError::BaseNotInClone {
            commit: commit.to_owned(),
            source_name,
            host: self.ci.host,
        }
    }

    /// Returns whether a CI run is on the default branch. In CI, its remote-tracking branch does not show the state
    /// before the push. In a local run it does: commits that are not pushed yet are the change. An unknown host does not
    /// report the branch, and a checked-out one may be that of a fork.
    fn is_on(&self, default: &str) -> bool {
        !matches!(self.ci.host, Host::None | Host::Unknown) && self.head.branch.as_deref() == Some(default)
    }

    fn parted_from(&self, tip: &TargetTip, role: &str) -> Result<Base, ContextError> {
        self.merge_base(&tip.commit, &format!("the {role} branch {}", tip.name()))
    }

    /// Returns the merge-bases with another commit. If head itself is one, no pipeline would have changed and the gate
    /// would pass, so every pipeline is selected instead.
    fn merge_base(&self, other: &CommitId, name: &str) -> Result<Base, ContextError> {
        let bases = self.repo.merge_bases(other, &self.head.commit)?;
        if bases.is_empty() {
            return Ok(Base::everything(format!(
                "head has no commit in common with {name}"
            )));
        }
        if self.is_head(&bases) && !self.beyond_head {
            let source = format!("head itself, which is already in {name}");
            let base = Base::everything(format!("head is already in {name}"));
            return Ok(base.with_earlier(EarlierCommit::Found {
                commits: bases,
                source,
            }));
        }
        let source = format!("{} with {name}", merge_bases(&bases));
        Ok(Base::at(bases, source))
    }

    /// Returns whether head is a merge-base. Head is then an ancestor of the other side and the only merge-base.
    pub(super) fn is_head(&self, bases: &[CommitId]) -> bool {
        bases.contains(&self.head.commit)
    }
}

const NO_DEFAULT: &str = "this clone does not know the remote's default branch";

/// The warning for a shallow clone, which by default has only one branch.
const SHALLOW_AND_ALONE: &str = "all pipelines are selected, including unchanged ones: the clone is shallow and does not know the remote's default branch
hint: run `git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*'`, then `git remote set-head origin --auto`";

/// Returns the number of merge-bases as text for the source of the base.
pub(super) fn merge_bases(bases: &[CommitId]) -> String {
    match bases.len() {
        0 | 1 => "the merge-base".to_owned(),
        several => format!("the {several} merge-bases"),
    }
}

fn on_default(name: &str) -> String {
    format!("head is on the default branch `{name}`")
}
