//! Runs `sluicegate doctor`: checks all requirements of a job, each with a hint if it is not met.
//!
//! A check fails with the exit code that the job would end with. A check is not applicable, and never a failure, if an
//! earlier check failed or the feature is not configured.

use crate::exit::ExitStatus;
use crate::job::cli::{DoctorArgs, OutputFormat};
use crate::operations::doctor::{doctor_check, local_checks, remote_checks};
use crate::session::{CommandResult, Session};

/// Runs `sluicegate doctor`: checks the settings, the clone and the connection to the platform.
pub(crate) fn run(session: &Session, args: &DoctorArgs) -> CommandResult {
    let mut checks = Vec::new();
    let settings = local_checks::run_local_checks(session, &mut checks);
    session.block_on(remote_checks::run_remote_checks(session, settings, &mut checks))?;
    let text = if args.json || args.output.output == OutputFormat::Json {
        doctor_check::render_json(&checks)
    } else {
        doctor_check::render_text(&checks, session.ui.colors_output(), session.ui.width())
    };
    session.ui.print_result(&text)?;
    let status = checks
        .iter()
        .fold(ExitStatus::Success, |worst, check| worst.worse(check.status()));
    if let Some(failures) = doctor_check::describe_failed_checks(&checks) {
        session.annotate_printed_failure(status, &failures);
    }
    Ok(status)
}
