//! Fetches missing data into a clone (--deepen): the commit to review, the branch to compare with, history.
//!
//! Each step fetches more history than the previous one, up to a limit, so that one branch cannot make a job fetch an
//! unlimited history. If the run can be resolved without a fetch, none is made.

use super::head::may_infer_branch;
use super::settle::Settling;
use super::target_branches::TargetBranches;
use super::{ContextError, RevisionWish, judges_hosts};
use crate::job::ci::{BaseHint, CiContext, Host};
use sluicegate_git::{GitError, Repository, Wanted};

/// The number of additional commits that each step fetches.
const STEPS: [u32; 5] = [50, 200, 1_000, 5_000, 20_000];

/// The subject of the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeepenSubject {
    /// The commit that the host or the user set, on a branch of the remote.
    Commit,
    Checkout,
}

/// Fetches missing commits and history, and reports each step to `say`. If some are still missing at the end, resolving
/// the run reports it.
pub fn deepen(
    repo: &mut Repository,
    ci: &mut CiContext,
    wish: &RevisionWish,
    subject: DeepenSubject,
    say: &dyn Fn(&str),
) -> Result<(), ContextError> {
    let mut fetching = Fetching {
        is_hosts: judges_hosts(repo, ci, wish)?,
        repo,
        ci,
        wish,
        subject,
        say,
    };
    // The policy of an unknown host is that of the default branch, even if the job names the base.
    if fetching.ci.host == Host::Unknown {
        fetching.default_branch();
    }
    for depth in STEPS {
        let missing = fetching.missing();
        let was_whole = !fetching.repo.is_shallow();
        if missing.is_empty() || !fetching.fetch(&missing, depth)? || was_whole {
            break;
        }
    }
    Ok(())
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum MissingHistory {
    Branch(String),
    Commit(String),
}

struct Fetching<'a> {
    /// The run reviews the host's own commit.
    is_hosts: bool,
    repo: &'a mut Repository,
    ci: &'a mut CiContext,
    wish: &'a RevisionWish,
    subject: DeepenSubject,
    say: &'a dyn Fn(&str),
}

impl Fetching<'_> {
    fn missing(&mut self) -> Vec<MissingHistory> {
        let settling = Settling {
            repo: self.repo,
            ci: self.ci,
            wish: self.wish,
            may_fetch: true,
        };
        let on_no_branch = match self.subject {
            DeepenSubject::Commit => settling
                .commit()
                .map(|target| target.branch.is_none() && self.needs_branch_in_clone(target.is_hosts)),
            DeepenSubject::Checkout => settling.checkout().map(|_| false),
        };
        match on_no_branch {
            Ok(false) => Vec::new(),
            Ok(true) => self
                .default_branch()
                .into_iter()
                .map(MissingHistory::Branch)
                .collect(),
            Err(error) => self.missing_by(&error),
        }
    }

    /// Returns whether a fetched branch may be the one that contains the commit.
    fn needs_branch_in_clone(&self, is_hosts: bool) -> bool {
        !self.ci.host.is_local() && (self.ci.host == Host::Unknown || may_infer_branch(self.ci, is_hosts))
    }

    /// Returns what to fetch to fix this error, or an empty list if a fetch cannot fix it.
    fn missing_by(&mut self, error: &ContextError) -> Vec<MissingHistory> {
        let asked = match error {
            ContextError::Shallow { .. }
            | ContextError::BaseNotInClone { .. }
            | ContextError::MergeUntold { .. }
            | ContextError::BranchNotInClone { .. } => None,
            // A commit that the event names is the target's, whichever repository it comes from.
            ContextError::TargetNotProven { .. } => self.target_commit().map(MissingHistory::Commit),
            ContextError::CommitNotInClone { commit, .. } => Some(MissingHistory::Commit(commit.clone())),
            ContextError::Git(GitError::UnknownRevision { revision, .. }) => Some(named(revision)),
            _ => return Vec::new(),
        };
        let head = self
            .head_branch()
            .filter(|_| !self.ci.fork)
            .map(MissingHistory::Branch);
        let base = self.base_branch().map(MissingHistory::Branch);
        let mut missing: Vec<MissingHistory> = Vec::new();
        for one in [head, base, asked, self.head_commit()].into_iter().flatten() {
            if !missing.contains(&one) {
                missing.push(one);
            }
        }
        missing
    }

    /// Returns the commit that the event names for the target.
    fn target_commit(&self) -> Option<String> {
        match (&self.ci.target_tip, &self.ci.base) {
            (Some((id, _)), _) | (None, BaseHint::Commit { id, .. }) => Some(id.clone()),
            _ => None,
        }
    }

    fn head_branch(&self) -> Option<String> {
        let local = || self.repo.head().ok()?.branch;
        let named = self.wish.branch.clone().or_else(|| self.ci.branch.clone());
        named.or_else(|| {
            let local = local().filter(|_| self.ci.host.is_local())?;
            Some(self.repo.upstream(&local).map_or(local, |(_, followed)| followed))
        })
    }

    /// Returns the commit if it may not be on a branch of the remote: the commit of a fork or of a deleted branch, or
    /// the host's checked-out trial merge.
    fn head_commit(&self) -> Option<MissingHistory> {
        if self.subject == DeepenSubject::Checkout {
            let checked_out = self.repo.head().ok().filter(|_| !self.ci.host.is_local())?;
            return Some(MissingHistory::Commit(checked_out.commit.to_string()));
        }
        let id = self.ci.commit.clone()?;
        let elsewhere = self.ci.fork || self.ci.branch.is_none() || !self.repo.has_commit(&id);
        elsewhere.then_some(MissingHistory::Commit(id))
    }

    fn base_branch(&mut self) -> Option<String> {
        if let Some(revision) = &self.wish.base {
            return match named(revision) {
                MissingHistory::Branch(name) => Some(name),
                MissingHistory::Commit(_) => None,
            };
        }
        match &self.ci.base {
            _ if self.wish.all => None,
            BaseHint::All { .. } => None,
            BaseHint::MergeBaseWith { branch, .. } => Some(branch.clone()),
            BaseHint::Commit { target, .. } => target.clone(),
            BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::CreatedBranch => {
                self.default_branch()
            }
        }
    }

    /// Returns the default branch from the host, the clone or the remote itself, and stores it for the next steps. A
    /// remote that is not the target's repository is not asked.
    fn default_branch(&mut self) -> Option<String> {
        if self.ci.default_branch.is_none() {
            let branches = TargetBranches::new(self.repo, self.ci, self.is_hosts).ok()?;
            let recorded = branches.recorded_default().ok().flatten();
            let name = match recorded {
                Some(recorded) => Some(recorded.branch),
                None => self.ask_default_branch(branches.remote()?),
            };
            self.ci.default_branch = name;
        }
        self.ci.default_branch.clone()
    }

    fn ask_default_branch(&self, remote: &str) -> Option<String> {
        (self.say)("querying the remote for its default branch (--deepen)");
        match self.repo.ask_default_branch(remote) {
            Ok(name) => name,
            Err(error) => {
                (self.say)(&error.to_string());
                None
            }
        }
    }

    /// Fetches everything at once, or one by one if that fails, because one item may be missing on the remote, for
    /// example a branch that was deleted after its merge. Returns whether any fetch succeeded.
    fn fetch(&mut self, missing: &[MissingHistory], depth: u32) -> Result<bool, ContextError> {
        let mut came = self.fetch_some(missing, depth)?;
        if !came && missing.len() > 1 {
            for one in missing {
                came |= self.fetch_some(std::slice::from_ref(one), depth)?;
            }
        }
        *self.repo = self.repo.reopen()?;
        Ok(came)
    }

    fn fetch_some(&self, missing: &[MissingHistory], depth: u32) -> Result<bool, ContextError> {
        let names: Vec<String> = missing.iter().map(MissingHistory::name).collect();
        let back = if self.repo.is_shallow() {
            format!(", up to {depth} commits further back")
        } else {
            String::new()
        };
        (self.say)(&format!("fetching {}{back} (--deepen)", names.join(" and ")));
        let wanted: Vec<Wanted<'_>> = missing.iter().map(MissingHistory::wanted).collect();
        match self.repo.fetch_history(&wanted, depth) {
            Ok(()) => Ok(true),
            Err(GitError::NoRemote { .. }) => Ok(false),
            Err(error @ GitError::NotOurs { .. }) => Err(error.into()),
            Err(error) => {
                (self.say)(&error.to_string());
                Ok(false)
            }
        }
    }
}

impl MissingHistory {
    fn name(&self) -> String {
        match self {
            Self::Branch(name) => format!("the branch `{name}`"),
            Self::Commit(id) => format!("the commit {id}"),
        }
    }

    fn wanted(&self) -> Wanted<'_> {
        match self {
            Self::Branch(name) => Wanted::Branch(name),
            Self::Commit(id) => Wanted::Commit(id),
        }
    }
}

/// Parses a revision to fetch: a full id, or a branch, optionally with the prefix `origin/`.
fn named(revision: &str) -> MissingHistory {
    if revision.len() == 40 && revision.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return MissingHistory::Commit(revision.to_owned());
    }
    let name = revision.strip_prefix("refs/heads/").unwrap_or(revision);
    MissingHistory::Branch(name.strip_prefix("origin/").unwrap_or(name).to_owned())
}
