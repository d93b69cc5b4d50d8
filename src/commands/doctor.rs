//! Runs `sluicegate doctor`: checks all requirements of a job, each with a hint if it is not met.
//!
//! A check fails with the exit code that the job would end with. A check that cannot be made, because a check before it
//! failed or the feature is not configured, is not applicable and never a failure.

use crate::exit::ExitStatus;
use crate::job::cli::{DoctorArgs, OutputFormat};
use crate::operations::doctor::{check, local, remote};
use crate::session::{CommandResult, Run};

pub(crate) fn run(run: &Run, args: &DoctorArgs) -> CommandResult {
    let mut checks = Vec::new();
    let settings = local::examine(run, &mut checks);
    run.requests(remote::examine(run, settings, &mut checks))?;
    let shown = if args.json || args.output.output == OutputFormat::Json {
        check::as_json(&checks)
    } else {
        check::as_text(&checks, run.ui.colors_output(), run.ui.width())
    };
    run.ui.print_result(&shown)?;
    Ok(checks
        .iter()
        .fold(ExitStatus::Success, |worst, check| worst.worse(check.status())))
}
