//! The commit that the gate configuration is read from: the reviewed one, or the target branch's.

use crate::job::ci::CiContext;
use crate::job::context::{ContextError, PolicyTip, default_tip, policy_tip};
use clap::ValueEnum;
use sluicegate_git::Repository;

/// Where to read the gate configuration (sluicegate.yaml, waivers, rules file) from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Choice {
    /// The target branch in CI; the checkout on the default branch and in a local run.
    #[default]
    Auto,
    /// The target branch of the change; without one, the default branch.
    Base,
    /// The checkout.
    Head,
}

/// Returns the commit that the gate configuration is read from. Without the CI host's context it is unknown.
/// `is_hosts` as in [`policy_tip`].
pub fn tip(
    repo: &Repository,
    ci: Option<&CiContext>,
    choice: Choice,
    is_hosts: bool,
) -> Result<PolicyTip, ContextError> {
    if choice == Choice::Head {
        let why = "--policy head was requested".to_owned();
        return Ok(PolicyTip::Head { why });
    }
    let Some(ci) = ci else {
        let why = "the context of the CI host cannot be read".to_owned();
        return Ok(PolicyTip::Unknown { why });
    };
    match policy_tip(repo, ci, is_hosts)? {
        PolicyTip::Head { .. } if choice == Choice::Base => default_tip(repo, ci, is_hosts),
        tip => Ok(tip),
    }
}
