//! `sluicegate init`: a configuration file and a CI job for this repository, as far as the repository tells what it needs.
//!
//! What is done is planned first, so that a dry run shows exactly what a run writes. Nothing that exists is overwritten:
//! a job goes beside what is there and says how it is taken up, or is shown to be added by hand.

mod adopt;
mod config;
mod figures;
mod git_diff;
mod hosts;
mod look;
mod plan;
mod tell;
mod today;
mod write;

use crate::base::exit::ExitStatus;
use crate::commands::kit::output::json;
use crate::commands::{CommandResult, Run};
use crate::job::cli::{InitArgs, OutputFormat};
use plan::InitPlan;

pub(crate) fn run(run: &Run, args: &InitArgs) -> CommandResult {
    if args.git_diff {
        return git_diff::run(run, args.dry_run);
    }
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
    run.ui.out(&shown)?;
    Ok(ExitStatus::Success)
}
