//! Where the gate's own files are read: in what is judged, or in the branch that the change goes to.

use crate::base::git::Repository;
use crate::job::ci::CiContext;
use crate::job::context::{ContextError, PolicyTip, policy_tip};
use clap::ValueEnum;

/// Which version of the gate's own files counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// In CI the base's; on the default branch and on a laptop the checkout's.
    #[default]
    Auto,
    /// As the branch has them that the change goes to, else the default branch.
    Base,
    /// As they are checked out.
    Head,
}

/// Where the gate's own files are read. Without what the host says there is no place for them. `is_hosts` as in
/// [`policy_tip`].
pub fn tip(
    repo: &Repository,
    ci: Option<&CiContext>,
    choice: Choice,
    is_hosts: bool,
) -> Result<PolicyTip, ContextError> {
    if choice == Choice::Head {
        let why = "as asked for by --policy head".to_owned();
        return Ok(PolicyTip::Head { why });
    }
    let Some(ci) = ci else {
        let why = "what the CI host says of this run cannot be read".to_owned();
        return Ok(PolicyTip::Unknown { why });
    };
    match policy_tip(repo, ci, is_hosts)? {
        PolicyTip::Head { .. } if choice == Choice::Base => default(repo, ci),
        tip => Ok(tip),
    }
}

/// The default branch as the remote has it, also where it is what is checked out.
fn default(repo: &Repository, ci: &CiContext) -> Result<PolicyTip, ContextError> {
    let tip = match &ci.default_branch {
        Some(name) => repo.remote_branch(name)?,
        None => repo.told_default_branch()?,
    };
    Ok(match tip {
        Some(tip) => PolicyTip::At {
            commit: tip.tip,
            branch: tip.branch,
            source: tip.reference,
        },
        None => PolicyTip::Unknown {
            why: "this clone does not have the remote's default branch".to_owned(),
        },
    })
}
