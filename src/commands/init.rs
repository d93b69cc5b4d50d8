//! Runs `sluicegate init`: writes a configuration file and a CI job for this repository, with the detected values.
//!
//! All steps are planned first, so that a dry run shows exactly what a run writes. Existing files are never
//! overwritten: a job is written next to an existing one with instructions to include it, or shown to be added by hand.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci;
use crate::job::cli::{InitArgs, OutputFormat};
use crate::job::context::ContextError;
use crate::job::settings;
use crate::operations::init::plan::InitPlan;
use crate::operations::init::{git_diff, look, tell, write};
use crate::session::output::json;
use crate::session::{CommandResult, Run};

pub(crate) fn run(run: &Run, args: &InitArgs) -> CommandResult {
    if args.git_diff {
        return git_diff::run(run, args.dry_run);
    }
    check_ci(run)?;
    let workspace = run.workspace()?;
    let seen = look::look(run, &workspace, args)?;
    let plan = InitPlan::new(&seen);
    if !args.dry_run {
        write::all(&seen.root, &plan)?;
    }
    let shown = match args.output.output {
        OutputFormat::Json => json(&tell::document(&seen, &plan, args.dry_run)),
        OutputFormat::Text => tell::all(&seen, &plan, args.dry_run),
    };
    run.ui.print_result(&shown)?;
    Ok(ExitStatus::Success)
}

/// Returns an error if the host of `--ci` does not run this command: the flag describes a running job, and `--host` selects the
/// host of the job to write.
fn check_ci(run: &Run) -> Result<(), Failure> {
    let Some(host) = settings::requested_host(&run.global, &run.env)? else {
        return Ok(());
    };
    match ci::detect_context(&run.env, Some(host)) {
        Ok(_) => Ok(()),
        Err(error) => Err(Failure::from(ContextError::from(error)).hint(format!(
            "`--ci` and SLUICEGATE_CI describe the job that runs this command; to write a job for this CI host, run \
             `sluicegate init --host {host}` without them"
        ))),
    }
}
