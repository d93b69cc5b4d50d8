//! No CI host: what is checked out is what is meant.

use super::{CiContext, CiError, Host};
use crate::base::env::Env;

/// Nobody knows what made the clone.
pub(super) const WHOLE_HISTORY: Option<&str> = None;

/// Asked last, and always the case.
pub(super) const fn is_here(_: &Env) -> bool {
    true
}

#[expect(clippy::unnecessary_wraps, reason = "every host has this signature")]
pub(super) fn read(_: &Env) -> Result<CiContext, CiError> {
    Ok(CiContext::new(Host::None, "local"))
}
