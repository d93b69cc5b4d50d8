//! Runs `sluicegate demo`: the complete workflow on a small project, with the same commands that a CI job runs.

use super::dispatch;
use crate::job::cli::DemoArgs;
use crate::operations::demo;
use crate::session::{CommandResult, Run};

/// Runs `sluicegate demo`, whose steps are commands that [`dispatch`] runs.
pub(crate) fn run(run: &Run, args: &DemoArgs) -> CommandResult {
    demo::run_demo(run, args, dispatch)
}
