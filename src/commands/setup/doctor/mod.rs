//! `sluicegate doctor`: everything that a job needs, checked one by one, each with what to do if it is not there.
//!
//! A check fails with the exit code that the job itself would end with. What cannot be checked, because something it
//! needs failed or nobody asked for it, is not applicable and never a failure.

mod check;
mod local;
mod remote;

use crate::base::exit::ExitStatus;
use crate::commands::{CommandResult, Run};
use crate::job::cli::{DoctorArgs, OutputFormat};

pub(crate) fn run(run: &Run, args: &DoctorArgs) -> CommandResult {
    let mut checks = Vec::new();
    let settings = local::examine(run, &mut checks);
    run.requests(remote::examine(run, settings, &mut checks))?;
    let shown = if args.json || args.output.output == OutputFormat::Json {
        check::as_json(&checks)
    } else {
        check::as_text(&checks, run.ui.colors_output(), run.ui.width())
    };
    run.ui.out(&shown)?;
    Ok(checks
        .iter()
        .fold(ExitStatus::Success, |worst, check| worst.worse(check.status())))
}
