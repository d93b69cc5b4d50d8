//! No CI host: the run reviews the checked-out commit.

use super::{CiContext, CiError, Host, TargetRepository};
use crate::env::Env;

/// No setting, because the clone may have been created in any way.
pub(super) const FULL_HISTORY_SETTING: Option<&str> = None;

/// Returns true for every environment: this host is tried last, when no CI host was detected.
pub(super) const fn is_detected(_: &Env) -> bool {
    true
}

/// Returns the context of a local run, for which no host's variables are read.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the functions of all hosts have the same signature"
)]
pub(super) fn read_context(_: &Env) -> Result<CiContext, CiError> {
    Ok(CiContext::new(Host::None, "local"))
}

/// Returns a repository without URLs, because a local run does not have an event that names one.
pub(super) fn read_target_repository(_: &Env) -> TargetRepository {
    TargetRepository::default()
}
