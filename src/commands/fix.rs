//! Runs `sluicegate fix`: checks the files, proves the fixes of their findings, writes the fixed files.

use crate::error::Failure;
use crate::gate::check_subject::CheckSubject;
use crate::gate::local_review::LocalReview;
use crate::gate::project_checks::fix_destination::FixDestination;
use crate::gate::project_checks::project_fixes::{FixScope, FixSource};
use crate::gate::{RunFindings, is_within_any};
use crate::job::cli::{CheckArgs, FixArgs, RangeArgs, SelectionArgs};
use crate::job::context::DeepenSubject;
use crate::job::settings::{CheckSettings, SettingSources};
use crate::operations::agent_fix;
use crate::operations::local_fix::fix_execution;
use crate::operations::local_fix::fix_summary::FixSummary;
use crate::session::{CommandResult, Session};
use crate::workspace::checkout_lock::CheckoutLock;
use crate::workspace::{WarningTiming, Workspace};
use std::mem;

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
    let mut settings: CheckSettings = workspace.resolve_settings(
        session,
        |sources| sources.resolve_check_settings(&check_args),
        |check| &check.gate.selection,
    )?;
    // Only files on disk can be changed, so the commit of a CI job does not matter.
    settings.gate.revisions.head = None;
    // With `--all`, no base would be searched, but the base shows what the change renamed. Therefore the flag is turned
    // off here, and `find_fixes` adds the unchanged pipelines.
    let includes_unchanged = mem::take(&mut settings.gate.revisions.all);
    let subject = CheckSubject {
        session,
        workspace: &workspace,
        settings: &settings,
    };
    let destination = FixDestination {
        repo: &workspace.repo,
        index: session.hook_index_path(&workspace.repo),
        is_staged: args.staged,
    };
    let mut run_findings = find_fixes(&subject, &check_args, includes_unchanged, &destination)?;
    if !args.dry_run {
        let signals = &session.signals;
        signals.hold_during(|| fix_execution::write_fixes(signals, &destination, &mut run_findings.fixes))?;
    }
    let summary = FixSummary::new(&run_findings);
    summary.print(session, &workspace.repo, args)?;
    // A signal after the last file came too late to undo the fixes.
    let signal_status = session.signals.pending_status();
    Ok(signal_status.unwrap_or_else(|| summary.exit_status(settings.gate.verdict.fail_on)))
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

/// Checks the files, and returns the findings within the paths that the user named, with their fixes. With
/// `includes_unchanged`, checks all pipelines. This is possible without a base, so a base that cannot be found is then
/// an error only if the user named the base.
fn find_fixes(
    subject: &CheckSubject<'_>,
    args: &CheckArgs,
    includes_unchanged: bool,
    destination: &FixDestination<'_>,
) -> Result<RunFindings, Failure> {
    let snapshot = subject.open_local_files()?;
    let (session, workspace) = (subject.session, subject.workspace);
    if let Some(note) = workspace.describe_unstaged_gate_files(session, &snapshot)? {
        session.ui.say(&format!("note: {note}"));
    }
    let paths = subject.resolve_paths(&snapshot, &args.selection.paths)?;
    let has_named_base = subject.settings.gate.revisions.base.is_some();
    let change = match subject.find_comparison(&paths) {
        Err(_) if includes_unchanged && !has_named_base => subject.find_comparison_without_base()?,
        change => change?,
    };
    let mut selected_run = subject.build_run(snapshot, paths, change, &|sources: &SettingSources<'_>| {
        Ok(sources.resolve_check_settings(args)?.gate.selection)
    })?;
    if includes_unchanged {
        selected_run.select_all_pipelines()?;
    }
    // `None`: the rules of the project are evaluated, instead of a rules file of the user.
    let mut engine = LocalReview::for_check(&mut selected_run, None)?;
    // `None`: no publish follows that needs more pipelines.
    let mut gate = selected_run.complete(None)?;
    // A check of all pipelines knows only the findings at a base that the user named.
    if has_named_base || !includes_unchanged {
        gate.set_change_baseline()?;
    }
    // If the user named no paths, all findings are fixed.
    let wanted_paths = gate.subject.paths.list_paths();
    let fix_scope = FixScope {
        is_wanted: &|path| is_within_any(path, &wanted_paths),
        find_obstacles: &|paths| destination.find_obstacles(paths),
        content: FixSource::DiskFile,
        max_files: None,
    };
    let mut run_findings = gate.find_fixes(&mut engine, &fix_scope)?;
    // The findings that are left are counted as a check counts them.
    run_findings.fold_consequences();
    for files in [&mut run_findings.files, &mut run_findings.project_files] {
        files.retain(|file| is_within_any(&file.path, &wanted_paths));
    }
    let unreviewed_files = &mut run_findings.unreviewed_files;
    unreviewed_files.retain(|file| is_within_any(&file.path, &wanted_paths));
    Ok(run_findings)
}
