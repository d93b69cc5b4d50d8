//! Checks the files of `sluicegate fix`, and proves the fixes of their findings.

use crate::error::Failure;
use crate::gate::check_subject::CheckSubject;
use crate::gate::local_review::LocalReview;
use crate::gate::project_checks::fix_destination::FixDestination;
use crate::gate::project_checks::project_fixes::{FixScope, FixSource};
use crate::gate::{RunFindings, is_within_any};
use crate::job::cli::CheckArgs;
use crate::job::settings::{CheckSettings, SettingSources};
use crate::session::Session;
use crate::workspace::Workspace;
use std::mem;

/// Checks the files, and returns the findings within the paths that the user named, with their fixes. With `--all`,
/// checks all pipelines. This is possible without a base, so a base that cannot be found is then an error only if the
/// user named the base.
pub(crate) fn find_fixes(
    session: &Session,
    workspace: &Workspace<'_>,
    mut settings: CheckSettings,
    args: &CheckArgs,
    destination: &FixDestination<'_>,
) -> Result<RunFindings, Failure> {
    // Only files on disk can be changed, so the commit of a CI job does not matter.
    settings.gate.revisions.head = None;
    // With `--all`, no base would be searched, but the base shows what the change renamed. Therefore the flag is turned
    // off here, and the unchanged pipelines are added below.
    let includes_unchanged = mem::take(&mut settings.gate.revisions.all);
    let subject = CheckSubject {
        session,
        workspace,
        settings: &settings,
    };
    let snapshot = subject.open_local_files()?;
    if let Some(note) = workspace.describe_unstaged_gate_files(session, &snapshot)? {
        session.ui.say(&format!("note: {note}"));
    }
    let paths = subject.resolve_paths(&snapshot, &args.selection.paths)?;
    let has_named_base = settings.gate.revisions.base.is_some();
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
