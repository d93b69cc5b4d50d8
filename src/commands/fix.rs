//! Runs `sluicegate fix`: checks the files, proves the fixes of their findings, writes the fixed files.

use crate::error::Failure;
use crate::gate::project_checks::fix_destination::FixDestination;
use crate::job::cli::{CheckArgs, FixArgs, RangeArgs, SelectionArgs};
use crate::job::context::DeepenSubject;
use crate::operations::agent_fix;
use crate::operations::local_fix::fix_execution;
use crate::operations::local_fix::fix_search::find_fixes;
use crate::operations::local_fix::fix_summary::FixSummary;
use crate::session::{CommandResult, Session};
use crate::workspace::checkout_lock::CheckoutLock;
use crate::workspace::{WarningTiming, Workspace};

/// Runs `sluicegate fix`: fixes the findings for which only one value is correct, or with `--agent` lets the agent fix
/// findings. If a fix is rejected, exits with the status of a failed gate, and if a file could not be evaluated, with
/// that of a check.
pub(crate) fn run(session: &Session, args: &FixArgs) -> CommandResult {
    if args.agent_fix.agent {
        return agent_fix::run_fix(session, args);
    }
    let check_args = to_check_args(args);
    let mut workspace = open_workspace(session, &check_args)?;
    // Held until the files are written.
    let _lock = if args.dry_run {
        None
    } else {
        CheckoutLock::acquire(session, &workspace.repo)?
    };
    let settings = workspace.resolve_settings(
        session,
        |sources| sources.resolve_check_settings(&check_args),
        |check| &check.gate.selection,
    )?;
    let fail_on = settings.gate.verdict.fail_on;
    let destination = FixDestination {
        repo: &workspace.repo,
        index: session.hook_index_path(&workspace.repo),
        is_staged: args.staged,
    };
    let mut run_findings = find_fixes(session, &workspace, settings, &check_args, &destination)?;
    if !args.dry_run {
        let signals = &session.signals;
        signals.hold_during(|| fix_execution::write_fixes(signals, &destination, &mut run_findings.fixes))?;
    }
    let summary = FixSummary::new(&run_findings);
    summary.print(session, &workspace.repo, args)?;
    // A signal after the last file came too late to undo the fixes.
    let signal_status = session.signals.pending_status();
    Ok(signal_status.unwrap_or_else(|| summary.exit_status(fail_on)))
}

/// Converts the arguments of `fix` to those of a `check` of the same files.
fn to_check_args(args: &FixArgs) -> CheckArgs {
    CheckArgs {
        selection: SelectionArgs {
            paths: args.paths.clone(),
            all: args.all,
            range: RangeArgs {
                base: args.base.clone(),
                ..RangeArgs::default()
            },
            ..SelectionArgs::default()
        },
        staged: args.staged,
        ..CheckArgs::default()
    }
}

/// Opens the files to fix: a repository, or a directory without git. Such a directory has no revisions, so an argument
/// that needs revisions is an error.
fn open_workspace<'a>(session: &'a Session, args: &CheckArgs) -> Result<Workspace<'a>, Failure> {
    let repo = session.open_repository_or_directory(&args.selection.paths, "fix")?;
    let local_files = session.choose_local_files(&repo, args.staged);
    let mut workspace = session.open_workspace_in(repo, local_files)?;
    let revisions = workspace.sources.resolve_revisions_to_check(args)?;
    if args.staged || revisions.base.is_some() {
        workspace.require_repository(session)?;
    }
    workspace.deepen(session, &revisions, DeepenSubject::Checkout)?;
    workspace.warn_of_config_files(session, WarningTiming::IfNotReported);
    Ok(workspace)
}
