//! Runs `sluicegate mv`: moves a file or directory and updates every reference to it, or repairs broken references.
//!
//! All new content is computed in memory first, so that no file is changed if an error occurs. Then git moves the
//! files, and the edited files are written and staged. After a failure to write, or at a signal, all changes are
//! undone.

use crate::exit::ExitStatus;
use crate::job::cli::MvArgs;
use crate::operations::file_moves::reference_reader::ReferenceReader;
use crate::operations::file_moves::{linked_files, move_paths, move_plan, move_summary, plan_execution};
use crate::session::{CommandResult, Session};

/// Runs `sluicegate mv`: moves a pipeline or directory with all references to it, or repairs broken references.
pub(crate) fn run(session: &Session, args: &MvArgs) -> CommandResult {
    // Held until the files are written.
    let _lock = if args.dry_run {
        None
    } else {
        session.lock_checkout()?
    };
    let workspace = session.open_workspace()?;
    let snapshot = workspace
        .repo
        .read_disk_snapshot(session.hook_index_path(&workspace.repo))?;
    let reader = ReferenceReader {
        workspace: &workspace,
        snapshot: &snapshot,
    };
    let plan = match (&args.old, &args.new) {
        (Some(old), Some(new)) => {
            let path_move = move_paths::resolve_move(session, &reader, old, new, args.force)?;
            move_plan::plan_move(&reader, path_move)?
        }
        _ => move_plan::plan_repair(session, &reader)?,
    };
    linked_files::reject_linked_files(workspace.repo.root(), plan.path_move.as_ref(), &plan.edits)?;
    let unstaged_files = if args.dry_run {
        plan_execution::UnstagedFiles::default()
    } else {
        let signals = &session.signals;
        signals.hold_during(|| plan_execution::execute_plan(signals, &workspace.repo, &plan))?
    };
    move_summary::print_summary(session, &plan, &unstaged_files, args)?;
    // A signal after the last edit came too late to undo the move.
    Ok(session.signals.pending_status().unwrap_or(ExitStatus::Success))
}
