//! Gitea and Forgejo Actions.
//!
//! Both run GitHub's workflows with GitHub's variables and payloads, and add a variable that identifies them:
//! <https://docs.gitea.com/usage/actions/comparison>, <https://forgejo.org/docs/latest/user/actions/>.

use super::{CiContext, CiError, Host, TargetRepository, github};
use crate::env::Env;

/// The same setting as on GitHub, because Gitea and Forgejo use GitHub's checkout action.
pub(super) const FULL_HISTORY_SETTING: Option<&str> = github::FULL_HISTORY_SETTING;

/// Returns whether Gitea or Forgejo Actions runs the job. Both also set GitHub's variables, so they are recognized by a
/// variable of their own.
pub(super) fn is_detected(env: &Env) -> bool {
    ["GITEA_ACTIONS", "FORGEJO_ACTIONS"]
        .iter()
        .any(|name| env.get(name) == Some("true"))
}

/// Reads the context of a job from GitHub's variables, which Gitea and Forgejo set too.
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    github::read_context_as(Host::Gitea, env)
}

/// Reads the repository of the run from GitHub's variables and payload, which Gitea and Forgejo provide too.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    github::read_target_repository(env)
}
