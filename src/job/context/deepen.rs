//! Fetches missing data into a clone (--deepen): the commit to review, the branch to compare with, history.
//!
//! Each step fetches more history than the previous one, up to a limit, so that one branch cannot make a job fetch an
//! unlimited history. If the run can be resolved without a fetch, nothing is fetched.

use super::head::may_infer_branch;
use super::target_branches::TargetBranches;
use super::target_resolver::TargetResolver;
use super::{CommitSource, ContextError, RequestedRevisions, find_commit_source};
use crate::job::ci::{BaseHint, CiContext, Host};
use sluicegate_base::text::join_with_and;
use sluicegate_git::{FetchTarget, GitError, Repository, is_full_id};

/// The number of additional commits that each step fetches.
const DEPTH_STEPS: [u32; 5] = [50, 200, 1_000, 5_000, 20_000];

/// The subject of the review.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeepenSubject {
    /// The commit that the host or the user set, on a branch of the remote.
    Commit,
    Checkout,
}

/// Fetches missing commits and history in growing depth until the run can be resolved, and reports each step to
/// `report`. If commits are still missing at the end, the error is left to the resolution of the run. Returns whether
/// any fetch succeeded.
pub fn fetch_missing_history(
    repo: &mut Repository,
    ci: &mut CiContext,
    revisions: &RequestedRevisions,
    subject: DeepenSubject,
    report: &dyn Fn(&str),
) -> Result<bool, ContextError> {
    let mut fetcher = HistoryFetcher {
        commit_source: find_commit_source(repo, ci, revisions)?,
        repo,
        ci,
        revisions,
        subject,
        report,
    };
    // The policy of an unknown host is that of the default branch, even if the job names the base.
    if fetcher.ci.host == Host::Unknown {
        fetcher.resolve_default_branch();
    }
    let mut has_fetched = false;
    for depth in DEPTH_STEPS {
        let missing_items = fetcher.find_missing_items();
        if missing_items.is_empty() {
            break;
        }
        // A complete clone has all history, so a step with more depth would fetch nothing more.
        let is_last_step = !fetcher.repo.is_shallow();
        let is_fetched = fetcher.fetch_missing_items(&missing_items, depth)?;
        has_fetched |= is_fetched;
        if is_last_step || !is_fetched {
            break;
        }
    }
    Ok(has_fetched)
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum MissingItem {
    /// A branch of the first remote.
    Branch(String),
    /// A branch of the target's repository, which is another remote.
    TargetBranch {
        remote: String,
        name: String,
    },
    Commit(String),
}

struct HistoryFetcher<'a> {
    commit_source: CommitSource,
    repo: &'a mut Repository,
    ci: &'a mut CiContext,
    revisions: &'a RequestedRevisions,
    subject: DeepenSubject,
    report: &'a dyn Fn(&str),
}

impl HistoryFetcher<'_> {
    /// Resolves the run. If that fails, returns the commits and branches that the clone lacks according to the error.
    /// If only the branch of a reviewed commit is not found, the default branch may still have to be fetched.
    fn find_missing_items(&mut self) -> Vec<MissingItem> {
        match self.resolve_run(self.revisions) {
            Ok(false) if self.revisions.all => self.find_items_of_change(),
            Ok(false) => Vec::new(),
            Ok(true) => match self.resolve_default_branch() {
                Some(name) => vec![self.find_target_item(name)],
                None => Vec::new(),
            },
            Err(error) => self.select_items_for_error(&error),
        }
    }

    /// Resolves a run with these revisions. Returns whether the default branch still has to be fetched. A review of the
    /// checked-out files does not need a branch.
    fn resolve_run(&self, revisions: &RequestedRevisions) -> Result<bool, ContextError> {
        let resolver = TargetResolver {
            repo: self.repo,
            ci: self.ci,
            revisions,
            may_fetch: true,
        };
        match self.subject {
            DeepenSubject::Commit => resolver
                .resolve_commit()
                .map(|target| target.branch.is_none() && self.needs_default_branch(target.commit_source)),
            DeepenSubject::Checkout => resolver.resolve_checkout().map(|_| false),
        }
    }

    /// Returns the items that the clone lacks to find the base of the change. A run over all pipelines compares the
    /// gate configuration and the shared pipelines with this base. Nothing is fetched in a local run, or if no branch
    /// to compare with is known: without a target, this is the default branch, which the remote is asked for.
    fn find_items_of_change(&mut self) -> Vec<MissingItem> {
        if self.ci.host.is_local() {
            return Vec::new();
        }
        let revisions = RequestedRevisions {
            all: false,
            ..self.revisions.clone()
        };
        let Err(error) = self.resolve_run(&revisions) else {
            return Vec::new();
        };
        let is_base_named = revisions.base.is_some() || self.ci.target_branch().is_some();
        if !is_base_named && self.resolve_default_branch().is_none() {
            return Vec::new();
        }
        self.select_items_for_error(&error)
    }

    /// Returns whether the default branch has to be fetched to find the branch of the run. In CI, the host does not
    /// name this branch if it is unknown, for a tag, and for a commit that the job selects. It is then the branch that
    /// contains the commit, and the default branch is the one that most probably does.
    fn needs_default_branch(&self, commit_source: CommitSource) -> bool {
        !self.ci.host.is_local()
            && (self.ci.host == Host::Unknown || may_infer_branch(self.ci, commit_source))
    }

    /// Returns the items to fetch to fix this error, or an empty list if a fetch cannot fix it. The items are the
    /// branches of head and of the base, the item that the error names, and the reviewed commit, without duplicates.
    fn select_items_for_error(&mut self, error: &ContextError) -> Vec<MissingItem> {
        let requested_item = match error {
            ContextError::Shallow { .. }
            | ContextError::BaseNotInClone { .. }
            | ContextError::AmbiguousMerge { .. }
            | ContextError::MergeBasesUnknown { .. }
            | ContextError::BranchNotInClone { .. } => None,
            // An id names the same commit in every repository, so any remote may provide it.
            ContextError::TargetNotProven { .. } => self.find_target_commit().map(MissingItem::Commit),
            ContextError::CommitNotInClone { commit, .. } => Some(MissingItem::Commit(commit.clone())),
            ContextError::Git(GitError::UnknownRevision { revision, .. }) => Some(parse_revision(revision)),
            _ => return Vec::new(),
        };
        // The branch of a fork is not on the remote.
        let head = self
            .find_head_branch()
            .filter(|_| !self.ci.fork)
            .map(MissingItem::Branch);
        let base = self.find_base_branch().map(|name| self.find_target_item(name));
        let mut items: Vec<MissingItem> = Vec::new();
        for item in [head, base, requested_item, self.find_head_item()]
            .into_iter()
            .flatten()
        {
            if !items.contains(&item) {
                items.push(item);
            }
        }
        items
    }

    /// Returns the item for a branch of the target's repository. The branch is fetched from the first remote if no
    /// remote is known to be that repository.
    fn find_target_item(&self, name: String) -> MissingItem {
        let first_remote = self.repo.first_remote_name().ok();
        let target_remote = TargetBranches::for_event(self.repo, self.ci, self.commit_source)
            .ok()
            .and_then(|branches| branches.remote().map(str::to_owned))
            .filter(|remote| first_remote.as_ref() != Some(remote));
        match target_remote {
            Some(remote) => MissingItem::TargetBranch { remote, name },
            None => MissingItem::Branch(name),
        }
    }

    /// Returns the commit that the event names for the target.
    fn find_target_commit(&self) -> Option<String> {
        match (&self.ci.target_tip, &self.ci.base) {
            (Some((id, _)), _) | (None, BaseHint::Commit { id, .. }) => Some(id.clone()),
            _ => None,
        }
    }

    /// Returns the name of head's branch on the remote: the branch that the job or the host names. In a local run, this
    /// is otherwise the upstream of the checked-out branch, or the branch's own name if it has no upstream.
    fn find_head_branch(&self) -> Option<String> {
        if let Some(branch) = self.revisions.branch.as_ref().or(self.ci.branch.as_ref()) {
            return Some(branch.clone());
        }
        if !self.ci.host.is_local() {
            return None;
        }
        let local_branch = self.repo.head().ok()?.branch?;
        match self.repo.find_upstream(&local_branch) {
            Some((_, upstream)) => Some(upstream),
            None => Some(local_branch),
        }
    }

    /// Returns the reviewed commit if it must be fetched by its id, because it may be on no branch of the remote: the
    /// commit of a fork or of a deleted branch. For a review of the checked-out files in CI, this is always the
    /// checked-out commit, because it may be a trial merge.
    fn find_head_item(&self) -> Option<MissingItem> {
        if self.subject == DeepenSubject::Checkout {
            let checked_out = self.repo.head().ok().filter(|_| !self.ci.host.is_local())?;
            return Some(MissingItem::Commit(checked_out.commit.to_string()));
        }
        let id = self.ci.commit.clone()?;
        let needs_fetch_by_id = self.ci.fork || self.ci.branch.is_none() || !self.repo.has_commit(&id);
        needs_fetch_by_id.then_some(MissingItem::Commit(id))
    }

    /// Returns the branch to fetch to find the base: the branch from `--base`, the target of the change, or the default
    /// branch. Returns `None` if `--base` or the event names only a commit, or if the event has no base.
    fn find_base_branch(&mut self) -> Option<String> {
        if let Some(revision) = &self.revisions.base {
            return match parse_revision(revision) {
                MissingItem::Branch(name) => Some(name),
                MissingItem::Commit(_) | MissingItem::TargetBranch { .. } => None,
            };
        }
        match &self.ci.base {
            BaseHint::All { .. } => None,
            BaseHint::MergeBaseWith { branch, .. } | BaseHint::Commit { target: branch, .. } => {
                Some(branch.clone())
            }
            BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::CreatedBranch => {
                self.resolve_default_branch()
            }
        }
    }

    /// Returns the default branch from the host, the clone or the remote, and stores it in the context of the run. Only
    /// a remote that is the target's repository is queried. Failures are not errors: the branch is then unknown.
    fn resolve_default_branch(&mut self) -> Option<String> {
        if self.ci.default_branch.is_none() {
            let branches = TargetBranches::for_event(self.repo, self.ci, self.commit_source).ok()?;
            let default_branch = branches.find_recorded_default_branch().ok().flatten();
            let name = match default_branch {
                Some(branch) => Some(branch.branch),
                None => self.query_default_branch(branches.remote()?),
            };
            self.ci.default_branch = name;
        }
        self.ci.default_branch.clone()
    }

    /// Requests the name of the default branch from the remote. A failure is only reported, because the run may not
    /// need the name.
    fn query_default_branch(&self, remote: &str) -> Option<String> {
        (self.report)("querying the remote for its default branch (--deepen)");
        match self.repo.query_default_branch(remote) {
            Ok(name) => name,
            Err(error) => {
                (self.report)(&error.to_string());
                None
            }
        }
    }

    /// Fetches all items in one request. If that fails, the items are fetched one by one, because the remote may lack
    /// one of them, for example a branch that was deleted after its merge. Reopens the repository, which a fetch may
    /// have changed. Returns whether any fetch succeeded.
    fn fetch_missing_items(&mut self, items: &[MissingItem], depth: u32) -> Result<bool, ContextError> {
        let mut is_fetched = self.fetch_items(items, depth)?;
        if !is_fetched && items.len() > 1 {
            for item in items {
                is_fetched |= self.fetch_items(std::slice::from_ref(item), depth)?;
            }
        }
        *self.repo = self.repo.reopen()?;
        Ok(is_fetched)
    }

    /// Fetches these items in one request. Returns `false` if the fetch failed, which is reported, or if there is no
    /// remote. Fails in a repository of another user, because no fetch is allowed there.
    fn fetch_items(&self, items: &[MissingItem], depth: u32) -> Result<bool, ContextError> {
        let depth_note = if self.repo.is_shallow() {
            format!(", up to {depth} commits further back")
        } else {
            String::new()
        };
        (self.report)(&format!(
            "fetching {}{depth_note} (--deepen)",
            join_with_and(items.iter().map(MissingItem::describe))
        ));
        match self.fetch_from_remotes(items, depth) {
            Ok(()) => Ok(true),
            Err(GitError::NoRemote { .. }) => Ok(false),
            Err(error @ GitError::ForeignRepository { .. }) => Err(error.into()),
            Err(error) => {
                (self.report)(&error.to_string());
                Ok(false)
            }
        }
    }

    /// Fetches the items of the first remote in one request, then each branch of the target's repository.
    fn fetch_from_remotes(&self, items: &[MissingItem], depth: u32) -> Result<(), GitError> {
        let mut targets = Vec::new();
        for item in items {
            match item {
                MissingItem::Branch(name) => targets.push(FetchTarget::Branch(name)),
                MissingItem::Commit(id) => targets.push(FetchTarget::Commit(id)),
                MissingItem::TargetBranch { .. } => {}
            }
        }
        self.repo.fetch_history(&targets, depth)?;
        for item in items {
            if let MissingItem::TargetBranch { remote, name } = item {
                self.repo
                    .fetch_history_from(remote, &[FetchTarget::Branch(name)], depth)?;
            }
        }
        Ok(())
    }
}

impl MissingItem {
    /// Describes the item for a progress message.
    fn describe(&self) -> String {
        match self {
            Self::Branch(name) => format!("the branch `{name}`"),
            Self::TargetBranch { remote, name } => format!("the branch `{name}` of `{remote}`"),
            Self::Commit(id) => format!("commit {id}"),
        }
    }
}

/// Parses a revision to fetch: a full id, or a branch, optionally with the prefix `refs/heads/` or `origin/`.
fn parse_revision(revision: &str) -> MissingItem {
    if is_full_id(revision) {
        return MissingItem::Commit(revision.to_owned());
    }
    let name = revision.strip_prefix("refs/heads/").unwrap_or(revision);
    MissingItem::Branch(name.strip_prefix("origin/").unwrap_or(name).to_owned())
}
