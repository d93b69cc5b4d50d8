//! Runs `sluicegate mv`: moves a file or directory and updates every reference to it, or repairs broken references.
//!
//! All new content is computed in memory first, so that an error changes no file. Then git moves the files, and the
//! edited files are written and staged; a failure to write is undone.

use crate::exit::ExitStatus;
use crate::job::cli::MvArgs;
use crate::operations::moving::read::Reading;
use crate::operations::moving::{carry_out, links, place, plan, tell};
use crate::session::{CommandResult, Run};

pub(crate) fn run(run: &Run, args: &MvArgs) -> CommandResult {
    let workspace = run.workspace()?;
    let snapshot = workspace.repo.disk_snapshot(run.index())?;
    let reading = Reading {
        workspace: &workspace,
        snapshot: &snapshot,
    };
    let plan = match (&args.old, &args.new) {
        (Some(old), Some(new)) => {
            let moves = place::settle(run, &reading, old, new, args.force)?;
            plan::moving(&reading, moves)?
        }
        _ => plan::repairing(&reading)?,
    };
    links::refuse_linked_files(workspace.repo.root(), &plan)?;
    let unstaged = if args.dry_run {
        carry_out::UnstagedFiles::default()
    } else {
        carry_out::carry_out(&workspace.repo, &plan)?
    };
    tell::tell(run, &plan, &unstaged, args)?;
    Ok(ExitStatus::Success)
}
