//! Which commit the change is compared with.
//!
//! In the end there is a commit that head surely descends from or parted from, or nothing and so every pipeline.

use super::{ContextError, RevisionWish, head::JudgedHead};
use crate::base::git::{CommitId, GitError, RemoteBranch, Repository, WHOLE_HISTORY};
use crate::job::ci::{BaseHint, CiContext, Host};

/// The base, or no commit for every pipeline.
pub(super) struct Base {
    pub commits: Vec<CommitId>,
    pub source: String,
    pub warnings: Vec<String>,
}

impl Base {
    pub(super) fn everything(why: impl Into<String>) -> Self {
        Self {
            commits: Vec::new(),
            source: why.into(),
            warnings: Vec::new(),
        }
    }

    fn at(commits: Vec<CommitId>, source: String) -> Self {
        Self {
            commits,
            source,
            warnings: Vec::new(),
        }
    }

    /// The same, and why it is not the base that the host named.
    fn because(mut self, why: &str) -> Self {
        self.source = format!("{}; {why}", self.source);
        self
    }

    fn warn(mut self, warning: String) -> Self {
        self.warnings.push(warning);
        self
    }
}

pub(super) struct Search<'a> {
    pub repo: &'a Repository,
    pub ci: &'a CiContext,
    pub head: &'a JudgedHead,
    /// What is judged may differ from head, as files do that changed since it was committed. On a laptop they are
    /// compared also where head itself is on the remote already; a CI host checks out what it was asked to judge.
    pub beyond_head: bool,
    /// What is missing can still be fetched, so nothing second best is taken for it.
    pub may_fetch: bool,
}

impl Search<'_> {
    pub(super) fn run(&self, wish: &RevisionWish) -> Result<Base, ContextError> {
        match (wish.all, &wish.base) {
            (true, _) => Ok(Base::everything("everything was asked for")),
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
            return Err(self.nothing_brought(&format!("`{revision}`, as asked for")));
        }
        let source = format!("{} with `{revision}`, as asked for", merge_bases(&bases));
        let found = Base::at(bases, source);
        Ok(match named.ambiguity {
            Some(ambiguity) => found.warn(ambiguity),
            None => found,
        })
    }

    /// What the host says about the base holds for the commit that it named, not for another one.
    fn detected(&self) -> Result<Base, ContextError> {
        match &self.ci.base {
            BaseHint::MergeBaseWith { branch, seen_at } => self.target(branch, seen_at.as_deref()),
            _ if !self.head.is_hosts => self.default_branch(),
            BaseHint::Commit { id, source, target } => self.named(id, source, target.as_deref()),
            BaseHint::PushedFrom { before, source } if self.is_default()? => self.pushed_from(before, source),
            BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } => self.default_branch(),
            BaseHint::All { why } => Ok(Base::everything(*why)),
        }
    }

    /// The target of a pull request may hold head already when the job runs late; where the host saw the target
    /// before still tells what the change is.
    fn target(&self, branch: &str, seen_at: Option<&str>) -> Result<Base, ContextError> {
        let tip = self.repo.remote_branch(branch)?;
        let seen_at = seen_at.filter(|id| self.repo.has_commit(id));
        match (tip, seen_at) {
            (Some(tip), seen_at) => match (self.parted_from(&tip, "target")?, seen_at) {
                (Base { commits, .. }, Some(id)) if commits.is_empty() => self.seen(branch, id),
                (base, _) => self.brought(base, &tip),
            },
            (None, Some(id)) if !self.may_fetch => {
                let base = self.seen(branch, id)?;
                let warning = format!(
                    "the target branch `{branch}` is not in this clone, so the base may be older than need be"
                );
                Ok(base.warn(warning))
            }
            (None, _) => Err(self.branch_not_in_clone(branch, "target")),
        }
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
            .map(|branch| self.repo.remote_branch(branch))
            .transpose()?
            .flatten();
        if self.repo.has_commit(id) {
            let base = self.ancestor(&self.repo.resolve(id)?, source)?;
            return match &tip {
                Some(tip) => self.with_others(base, tip),
                None => Ok(base),
            };
        }
        match tip {
            Some(tip) => self.brought(self.parted_from(&tip, "target")?, &tip),
            None => Err(self.base_not_in_clone(id, source)),
        }
    }

    /// Adds the other merge-bases with the target: the host names one, which a criss-cross merge leaves for the change
    /// to choose. Where the clone cannot tell them, the host is believed.
    fn with_others(&self, mut base: Base, target: &RemoteBranch) -> Result<Base, ContextError> {
        let others = match self.repo.merge_bases(&target.tip, &self.head.commit) {
            Err(GitError::ShallowHistory { .. } | GitError::MissingObject { .. }) => return Ok(base),
            others => others?,
        };
        if others.len() > 1 {
            let new = |other: &CommitId| !base.commits.contains(other);
            let new: Vec<CommitId> = others.into_iter().filter(new).collect();
            base.commits.extend(new);
            base.source = format!(
                "{}, and the other merge-bases with the target branch `{}/{}`",
                base.source, target.remote, target.branch
            );
        }
        Ok(base)
    }

    /// A change without a commit of its own is none, whatever the references of the clone say.
    fn brought(&self, base: Base, target: &RemoteBranch) -> Result<Base, ContextError> {
        let is_in_target = || self.repo.contains(&target.tip, &self.head.commit);
        if base.commits.is_empty() && !self.beyond_head && is_in_target()? {
            return Err(self.nothing_brought(&format!("`{}/{}`", target.remote, target.branch)));
        }
        Ok(base)
    }

    /// In a pull or merge request, unless the event itself has the same commit on both sides.
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

    /// A commit that the host names as the base. If head does not descend from it, as after a forced push, their
    /// merge-base is meant; where the clone is cut off between the two, the host is believed.
    fn ancestor(&self, named: &CommitId, source: &'static str) -> Result<Base, ContextError> {
        match self.repo.merge_bases(named, &self.head.commit) {
            Ok(bases) if bases == [named.clone()] => Ok(Base::at(bases, source.to_owned())),
            Ok(_) => self.merge_base(named, &format!("{source} ({}), which head left", named.short())),
            Err(GitError::ShallowHistory { .. }) if !self.may_fetch => {
                let warning = format!(
                    "this shallow clone does not show that head descends from {} ({source}); the host is believed",
                    named.short()
                );
                Ok(Base::at(vec![named.clone()], source.to_owned()).warn(warning))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// On another branch than the default one each push is judged with all that the branch brings: against what was
    /// there before alone, one more commit would turn red into green.
    fn is_default(&self) -> Result<bool, ContextError> {
        if let Some(name) = &self.ci.default_branch {
            return Ok(self.is_on(name));
        }
        Ok(self.known_default()?.is_some_and(|tip| self.is_on(&tip.branch)))
    }

    /// After a forced push, what was there before is no ancestor of head, or not in the clone at all.
    fn pushed_from(&self, before: &str, source: &'static str) -> Result<Base, ContextError> {
        if !self.repo.has_commit(before) {
            if self.may_fetch && self.repo.is_shallow() {
                return Err(self.base_not_in_clone(before, source));
            }
            return self.without_before(&format!("{source} ({before}) is not in this clone"));
        }
        let before = self.repo.resolve(before)?;
        let short = before.short();
        match self.repo.merge_bases(&before, &self.head.commit) {
            Ok(bases) if bases == [before.clone()] && before != self.head.commit => {
                Ok(Base::at(bases, source.to_owned()))
            }
            Ok(_) => {
                let base = self.default_branch()?;
                Ok(base.because(&format!("{source} ({short}) is no ancestor of head")))
            }
            Err(GitError::ShallowHistory { .. }) if !self.may_fetch => self.without_before(&format!(
                "this clone does not show how head follows {source} ({short})"
            )),
            Err(error) => Err(error.into()),
        }
    }

    /// The default branch stands in for what was there before the push; with a whole history that might not be needed.
    fn without_before(&self, why: &str) -> Result<Base, ContextError> {
        let base = self.default_branch()?.because(why);
        if !base.commits.is_empty() || !self.repo.is_shallow() {
            return Ok(base);
        }
        let whole = self.ci.host.whole_history().unwrap_or(WHOLE_HISTORY);
        Ok(base.warn(format!(
            "everything is taken, as {why}; more history helps: {whole}, or --deepen"
        )))
    }

    fn default_branch(&self) -> Result<Base, ContextError> {
        let Some(name) = &self.ci.default_branch else {
            return match self.known_default()? {
                Some(tip) if self.is_on(&tip.branch) => Ok(Base::everything(on_default(&tip.branch))),
                Some(tip) => self.parted_from(&tip, "default"),
                None if self.may_fetch => Err(self.branch_not_in_clone("HEAD", "default")),
                None => Ok(self.unknown_default()),
            };
        };
        if self.is_on(name) {
            return Ok(Base::everything(on_default(name)));
        }
        match self.repo.remote_branch(name)? {
            Some(tip) => self.parted_from(&tip, "default"),
            None => Err(self.branch_not_in_clone(name, "default")),
        }
    }

    /// The default branch by the clone's word. In CI it is not guessed by its usual name: anybody may push a `main`
    /// beside the real one, and so choose what is compared.
    fn known_default(&self) -> Result<Option<RemoteBranch>, GitError> {
        match self.ci.host {
            Host::None => self.repo.likely_default_branch(),
            _ => self.repo.told_default_branch(),
        }
    }

    fn unknown_default(&self) -> Base {
        let base = Base::everything("this clone does not tell which branch is the remote's default one");
        if self.ci.host == Host::None {
            return if self.repo.is_shallow() {
                base.warn(SHALLOW_AND_ALONE.to_owned())
            } else {
                base
            };
        }
        let warning = "every pipeline is taken, as this clone does not tell which branch is the remote's default \
                       one: name it by `git remote set-head origin BRANCH` before, or use --deepen";
        base.warn(warning.to_owned())
    }

    fn branch_not_in_clone(&self, branch: &str, role: &'static str) -> ContextError {
        ContextError::BranchNotInClone {
            branch: branch.to_owned(),
            role,
            host: self.ci.host,
        }
    }

    fn base_not_in_clone(&self, commit: &str, source_name: &'static str) -> ContextError {
        ContextError::BaseNotInClone {
            commit: commit.to_owned(),
            source_name,
            host: self.ci.host,
        }
    }

    /// In CI the remote-tracking branch of the default branch says nothing about what it was before the push. On a
    /// laptop it does: what is not pushed yet has changed.
    fn is_on(&self, default: &str) -> bool {
        self.ci.host != Host::None && self.head.branch.as_deref() == Some(default)
    }

    fn parted_from(&self, tip: &RemoteBranch, role: &str) -> Result<Base, ContextError> {
        self.merge_base(
            &tip.tip,
            &format!("the {role} branch `{}/{}`", tip.remote, tip.branch),
        )
    }

    /// A merge-base that is head itself would leave nothing to judge, and look green.
    fn merge_base(&self, other: &CommitId, name: &str) -> Result<Base, ContextError> {
        let bases = self.repo.merge_bases(other, &self.head.commit)?;
        if bases.is_empty() {
            return Ok(Base::everything(format!(
                "head has no commit in common with {name}"
            )));
        }
        if self.is_head(&bases) && !self.beyond_head {
            return Ok(Base::everything(format!("head is already in {name}")));
        }
        let source = format!("{} with {name}", merge_bases(&bases));
        Ok(Base::at(bases, source))
    }

    /// An ancestor of the other side is the only merge-base.
    fn is_head(&self, bases: &[CommitId]) -> bool {
        bases.contains(&self.head.commit)
    }
}

/// A shallow clone has one branch alone, unless it was made otherwise.
const SHALLOW_AND_ALONE: &str = "every pipeline is taken, with the findings of others: the clone is shallow, and this clone does not tell which branch is the remote's default one
hint: `git fetch --unshallow origin '+refs/heads/*:refs/remotes/origin/*'`, then `git remote set-head origin --auto`";

/// Names the merge-bases in a sentence about where they came from.
fn merge_bases(bases: &[CommitId]) -> String {
    match bases.len() {
        0 | 1 => "the merge-base".to_owned(),
        several => format!("the {several} merge-bases"),
    }
}

fn on_default(name: &str) -> String {
    format!("head is on the default branch `{name}`")
}
