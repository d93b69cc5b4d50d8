//! Which commit says how a change is judged: the branch that the change goes to, as the remote has it.
//!
//! Not the merge-base, which a change can choose from the past, and not what was there before a push, which the same
//! hand may have pushed. A default branch is not guessed by its usual name either, as anybody may push that. Only
//! references that a remote is fetched into are asked, by their full names.

use super::ContextError;
use crate::ci::{BaseHint, CiContext, Host};
use crate::git::{CommitId, RemoteBranch, Repository, Wanted};

/// Where the policy of a run is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyTip {
    /// In what is judged itself: on somebody's own machine, or on the default branch.
    Head {
        /// Why, for people.
        why: String,
    },
    /// In this commit.
    At {
        /// The commit.
        commit: CommitId,
        /// The branch that it is the tip of, without `refs/heads/`.
        branch: String,
        /// How it is known: the full name of the reference, or where the host names it.
        source: String,
    },
    /// Nowhere that this clone has.
    Unknown {
        /// Why, for people.
        why: String,
    },
}

/// The tip of the branch that the change goes to: of the target in a pull or merge request and a merge queue, else of
/// the default branch.
///
/// Where the clone lacks the tip, the commit at which the host saw it stands for it, and last the one that the host
/// names as the base of the change.
pub fn policy_tip(repo: &Repository, ci: &CiContext) -> Result<PolicyTip, ContextError> {
    if ci.host == Host::None {
        let why = "no CI host runs this".to_owned();
        return Ok(PolicyTip::Head { why });
    }
    let seen = ci.target_tip.as_ref().map(|(id, source)| (id.as_str(), *source));
    match &ci.base {
        BaseHint::MergeBaseWith { branch, .. } => tip_of(repo, branch, "target", &[seen]),
        BaseHint::Commit { id, source, target } => match target {
            Some(branch) => tip_of(repo, branch, "target", &[seen, Some((id, source))]),
            None => Ok(PolicyTip::Unknown {
                why: "the host does not name the target branch".to_owned(),
            }),
        },
        BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::All { .. } => default(repo, ci),
    }
}

/// Fetches the branch that [`policy_tip`] reads, where the clone lacks it; `say` is told. A branch that cannot be fetched
/// stays away.
pub fn fetch_policy(repo: &mut Repository, ci: &CiContext, say: &dyn Fn(&str)) -> Result<(), ContextError> {
    let branch = match &ci.base {
        BaseHint::MergeBaseWith { branch, .. } => Some(branch),
        BaseHint::Commit { target, .. } => target.as_ref(),
        BaseHint::DefaultBranch | BaseHint::PushedFrom { .. } | BaseHint::All { .. } => {
            ci.default_branch.as_ref()
        }
    };
    let Some(branch) = branch.filter(|branch| ci.host != Host::None && ci.branch.as_ref() != Some(branch))
    else {
        return Ok(());
    };
    if repo.remote_branch(branch)?.is_none() {
        say(&format!(
            "fetching the branch {branch}, which says how the change is judged"
        ));
        match repo.fetch_history(&[Wanted::Branch(branch)], 1) {
            Ok(()) => *repo = repo.reopen()?,
            Err(error) => say(&format!("it was not fetched: {error}")),
        }
    }
    Ok(())
}

fn default(repo: &Repository, ci: &CiContext) -> Result<PolicyTip, ContextError> {
    let on_default = |name: &str| ci.branch.as_deref() == Some(name);
    let head = |name: &str| PolicyTip::Head {
        why: format!("head is on the default branch `{name}`"),
    };
    match &ci.default_branch {
        Some(name) if on_default(name) => Ok(head(name)),
        Some(name) => tip_of(repo, name, "default", &[]),
        None => Ok(match repo.told_default_branch()? {
            Some(tip) if on_default(&tip.branch) => head(&tip.branch),
            Some(tip) => at(tip),
            None => PolicyTip::Unknown {
                why: "this clone does not tell which branch is the remote's default one (`git remote set-head origin \
                      BRANCH` in the job does)"
                    .to_owned(),
            },
        }),
    }
}

fn tip_of(
    repo: &Repository,
    branch: &str,
    role: &str,
    named: &[Option<(&str, &str)>],
) -> Result<PolicyTip, ContextError> {
    if let Some(tip) = repo.remote_branch(branch)? {
        return Ok(at(tip));
    }
    let mut named = named.iter().flatten();
    let named = named.find_map(|(id, source)| Some((repo.commit_with_id(id)?, source)));
    Ok(match named {
        Some((commit, source)) => PolicyTip::At {
            commit,
            branch: branch.to_owned(),
            source: format!("{source}, as the {role} branch is not in this clone"),
        },
        None => PolicyTip::Unknown {
            why: format!("the {role} branch `{branch}` is not among the remote branches of this clone"),
        },
    })
}

fn at(tip: RemoteBranch) -> PolicyTip {
    PolicyTip::At {
        commit: tip.tip,
        branch: tip.branch,
        source: tip.reference,
    }
}
