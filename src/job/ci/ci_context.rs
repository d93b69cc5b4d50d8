//! The context of a run, which each host's file creates.

use super::Host;
use crate::env::Env;
use sluicegate_base::remote_url::RemoteUrl;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trigger {
    /// An unmerged change: a pull or merge request, or a merge queue.
    Change,
    /// A commit that was pushed to a branch or as a tag. If the host does not name the event, a user may have selected
    /// the commit.
    Commit,
    /// No commit: a schedule, a manual run, a comment, another workflow. The run is on the default branch or on a
    /// branch that a user selected, and its job may check out any commit.
    Any,
}

impl Trigger {
    /// Returns the trigger for a host that does not name its events: a run without a change is treated as a run for a
    /// commit.
    pub(super) const fn for_commit_or_change(is_change: bool) -> Self {
        if is_change { Self::Change } else { Self::Commit }
    }
}

/// The origin of the clone's copy of the change's target branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TargetCopy {
    /// An earlier step of the job created the copy at an unknown time, or the clone lacks the branch.
    Cloned,
    /// This run fetched the branch, so the copy is its newest state.
    Fetched,
}

/// The CI host's description of this run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CiContext {
    pub host: Host,
    /// The host's name for the event; `local` without a host.
    pub event: String,
    /// The subject of the event. It depends on the host's variables, never on whether a number can be parsed.
    pub trigger: Trigger,
    /// The branch name to send to the platform, without `refs/heads/`.
    pub branch: Option<String>,
    /// The commit to review, which the remote has, or `None` for the checked-out commit.
    pub commit: Option<String>,
    /// The commit that the host checks out if it is not `commit`: a trial merge.
    pub checkout: Option<String>,
    /// `commit` or the checked-out commit may be a merge that the host created and that is on no branch of the remote.
    /// One of its parents is then the commit to review.
    pub may_be_local_merge: bool,
    /// The tag of the event, if any.
    pub tag: Option<String>,
    /// The number of the pull request or merge request.
    pub pull_request: Option<u64>,
    /// The branch belongs to another repository than the target of the change.
    pub fork: bool,
    pub target_repository: TargetRepository,
    /// The change is in a queue: the host's merge may contain other changes that are not merged yet.
    pub is_queued: bool,
    pub base: BaseHint,
    /// A commit at which the host saw the target branch, and the name of the variable or field. It may be outdated.
    pub target_tip: Option<(String, &'static str)>,
    pub target_copy: TargetCopy,
    /// The commits of earlier runs on the same branch, the preferred one first, each with the name of its variable.
    pub earlier_commits: Vec<(String, &'static str)>,
    /// The number of this run on the host.
    pub run_number: Option<String>,
    /// The name of the repository's default branch.
    pub default_branch: Option<String>,
    /// Why the run has no pipelines to review, for example a deleted branch.
    pub idle_reason: Option<String>,
    pub history_fetch: HistoryFetch,
}

/// The fetch of missing commits in this run, which the job requests with `--deepen`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryFetch {
    NotRequested,
    /// Set before the fetch.
    Requested,
}

/// The repository that the change goes to, from the data of the event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TargetRepository {
    /// URLs of the repository: each works, and they may differ in host and path.
    pub urls: Vec<String>,
    /// The event states that the change comes from this repository. The absence of a fork's variable states it only on
    /// hosts that always set that variable for a fork.
    pub contains_change: bool,
}

impl TargetRepository {
    /// Creates a repository from the values of the host's URL variables. Variables that are not set are skipped.
    /// `contains_change` states that the change comes from this repository.
    pub(super) fn new(urls: impl IntoIterator<Item = Option<String>>, contains_change: bool) -> Self {
        Self {
            urls: urls.into_iter().flatten().collect(),
            contains_change,
        }
    }
}

/// The base of the change, as far as the host knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BaseHint {
    /// The host does not know the base: use the merge-base with the default branch, or review everything on the default
    /// branch itself.
    DefaultBranch,
    /// The merge-base with the target branch of a pull request.
    MergeBaseWith {
        branch: String,
        /// A commit at which the host saw the target, for a clone without that branch. It may be outdated.
        seen_commit: Option<String>,
    },
    Commit {
        id: String,
        source: &'static str,
        /// The target branch of the change.
        target: String,
    },
    /// The commit of the branch before this push. After a forced push, it may no longer exist.
    PushedFrom { previous: String, source: &'static str },
    /// The push created the branch, so the branch has no earlier commit. Otherwise like [`Self::DefaultBranch`].
    CreatedBranch,
    /// No base: everything is reviewed.
    All { reason: &'static str },
}

impl CiContext {
    /// Creates the context of a job about which only the host and the event are known. It is treated as a run for a
    /// commit.
    pub(super) fn new(host: Host, event: impl Into<String>) -> Self {
        Self {
            host,
            event: event.into(),
            trigger: Trigger::Commit,
            branch: None,
            commit: None,
            checkout: None,
            may_be_local_merge: false,
            tag: None,
            pull_request: None,
            fork: false,
            target_repository: TargetRepository::default(),
            is_queued: false,
            base: BaseHint::DefaultBranch,
            target_tip: None,
            target_copy: TargetCopy::Cloned,
            earlier_commits: Vec::new(),
            run_number: None,
            default_branch: None,
            idle_reason: None,
            history_fetch: HistoryFetch::NotRequested,
        }
    }

    /// Returns the branch that the change goes to, if the host names it.
    pub fn target_branch(&self) -> Option<&str> {
        match &self.base {
            BaseHint::MergeBaseWith { branch, .. } | BaseHint::Commit { target: branch, .. } => Some(branch),
            BaseHint::DefaultBranch
            | BaseHint::PushedFrom { .. }
            | BaseHint::CreatedBranch
            | BaseHint::All { .. } => None,
        }
    }

    /// Returns whether the base that the host names is a commit of the target. In a merge queue, it may be another
    /// queued change. On a GitLab merge train, it is the merge-base of the merge request with its target. It may be an
    /// old commit, so it is not evidence of the newest one.
    pub const fn has_merged_base(&self) -> bool {
        !self.is_queued || matches!(self.host, Host::GitLab)
    }

    /// Returns whether the event is certainly a push, so that the branch contains the commit. It returns false for
    /// hosts that never name the event, and if the variable of the event is not set, because a user may then have
    /// started the build with any branch and any commit.
    pub fn is_push(&self) -> bool {
        let names_event = !matches!(self.host, Host::Bitbucket | Host::CircleCi | Host::Jenkins);
        self.trigger == Trigger::Commit && names_event && self.event != "unknown"
    }

    /// Returns whether the commit that the host names is on the branch that it names: for a push, and on hosts on which
    /// nobody can start a run of a branch with another commit.
    pub fn has_commit_of_branch(&self) -> bool {
        let is_commit_fixed = matches!(self.host, Host::GitHub | Host::Gitea | Host::GitLab);
        self.is_push() || (is_commit_fixed && self.trigger != Trigger::Change)
    }

    /// Turns this context into the context for a tag: it has no branch, and everything is reviewed.
    pub(super) fn for_tag(self, tag: impl Into<String>) -> Self {
        let reason = "a tag has no previous state";
        Self {
            tag: Some(tag.into()),
            branch: None,
            base: BaseHint::All { reason },
            ..self
        }
    }
}

/// Reads the commits of earlier runs from these variables. Returns each commit with the name of its variable, and skips
/// variables that are not set or mean "no commit".
pub(super) fn read_earlier_commits(env: &Env, variables: &[&'static str]) -> Vec<(String, &'static str)> {
    let named_commits = variables
        .iter()
        .filter_map(|name| Some((env.get(name)?.to_owned(), *name)));
    named_commits.filter(|(commit, _)| !is_null_id(commit)).collect()
}

/// Returns whether a commit id is all zeros, which hosts use for "no commit".
pub(super) fn is_null_id(commit: &str) -> bool {
    commit.bytes().all(|byte| byte == b'0')
}

/// Returns the name of a branch without `refs/heads/`.
pub(super) fn strip_branch_prefix(name: &str) -> String {
    name.strip_prefix("refs/heads/").unwrap_or(name).to_owned()
}

/// Returns whether two URLs name the same repository. One may be for SSH and the other for HTTPS. On one host, the
/// complete paths are compared, because groups can be nested; on different hosts, which are usually two names of one
/// host, only owner and name.
pub(super) fn is_same_repository(first: &str, second: &str) -> bool {
    let (first_url, second_url) = (RemoteUrl::parse(first), RemoteUrl::parse(second));
    match (&first_url, &second_url) {
        (Some(first_url), Some(second_url)) if first_url.host() == second_url.host() => {
            normalize_repository_path(first_url.path()) == normalize_repository_path(second_url.path())
        }
        _ => normalize_owner_and_name(first) == normalize_owner_and_name(second),
    }
}

/// Returns the path in lower case and without `scm/`, with which Bitbucket Data Center's HTTPS paths begin.
fn normalize_repository_path(path: &str) -> String {
    let path = path.to_lowercase();
    path.strip_prefix("scm/").map(str::to_owned).unwrap_or(path)
}

/// Returns the `owner/name` of a repository from its URL or name, in lower case.
fn normalize_owner_and_name(url: &str) -> String {
    let url_without_slash = url.trim_end_matches('/');
    let repository = url_without_slash
        .strip_suffix(".git")
        .unwrap_or(url_without_slash)
        .to_lowercase();
    let mut parts = repository.rsplit(['/', ':']);
    let name = parts.next().unwrap_or_default().to_owned();
    format!("{}/{name}", parts.next().unwrap_or_default())
}
