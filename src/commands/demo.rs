//! Runs `sluicegate demo`: the complete workflow on a small project, with the same commands that a CI job runs.

use super::dispatch;
use crate::job::cli::DemoArgs;
use crate::operations::demo;
use crate::session::{CommandResult, Session};

/// Runs `sluicegate demo`, whose steps are commands that [`dispatch`] runs.
pub(crate) fn run(session: &Session, args: &DemoArgs) -> CommandResult {
    demo::run_demo(session, args, dispatch)
}
