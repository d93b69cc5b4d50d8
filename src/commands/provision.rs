//! Runs `sluicegate provision`.

use crate::job::cli::ProvisionVerb;
use crate::operations::provision::apply_provision;
use crate::session::{CommandResult, Session};

/// Runs `sluicegate provision`, whose only verb is `apply`.
pub(crate) fn run(session: &Session, verb: ProvisionVerb) -> CommandResult {
    let ProvisionVerb::Apply(args) = verb;
    apply_provision(session, &args)
}
