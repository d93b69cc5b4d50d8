//! Runs `sluicegate check`: finds the base, selects the pipelines, evaluates the rules locally, delivers the reports.

use crate::delivery::deliver_gate_report;
use crate::delivery::run_opening::NamedDestinations;
use crate::error::Failure;
use crate::gate::check_subject::CheckSubject;
use crate::gate::check_subject::check_paths::CheckPaths;
use crate::gate::local_review::LocalReview;
use crate::gate::run::{GateRun, SelectedRun};
use crate::job::cli::CheckArgs;
use crate::job::context::{DeepenSubject, RequestedRevisions};
use crate::job::policy::CheckoutFiles;
use crate::job::settings::SettingSources;
use crate::session::{CommandResult, Session};
use crate::workspace::Workspace;
use crate::workspace::standard_input::StandardInput;
use std::mem;

/// Runs `sluicegate check`: evaluates the rules locally, without the platform, and delivers the reports. A report that
/// cannot be delivered makes the exit status worse.
pub(crate) fn run(session: &Session, args: &CheckArgs) -> CommandResult {
    let mut workspace = open_workspace(session, args)?;
    let settings = workspace.resolve_settings(
        session,
        |sources| sources.resolve_check_settings(args),
        |check| &check.gate.selection,
    )?;
    session.reject_linked_reports(&workspace.repo, &settings.gate.verdict.destinations)?;
    let input = StandardInput::read_if_requested(session, &workspace, args)?;
    let subject = CheckSubject {
        session,
        workspace: &workspace,
        settings: &settings,
    };
    let mut selected_run = build_run(&subject, input.as_ref(), args)?;
    let mut engine = LocalReview::for_check(&mut selected_run, settings.rules_file.as_deref())?;
    // `None`: no publish follows that needs more pipelines.
    let mut gate = selected_run.complete(None)?;
    gate.set_change_baseline()?;
    add_notes(&mut gate)?;
    // A check accepts a breaking change only for the reason that the job gives, and looks for no other.
    let mut evaluated_run = gate.evaluate(&mut engine, &|| Ok(None))?;
    let delivery_status = deliver_gate_report(&mut evaluated_run, &settings.gate.verdict.destinations);
    let status = evaluated_run.status.worse(delivery_status);
    // The process ends next, and the operating system frees the memory of all these files at once.
    mem::forget(evaluated_run);
    Ok(status)
}

/// Opens the files to check: a repository, or a directory without git. Also replaces the reports of an earlier run,
/// which would look current if this run failed.
fn open_workspace<'a>(session: &'a Session, args: &CheckArgs) -> Result<Workspace<'a>, Failure> {
    let destinations = NamedDestinations::for_check(args);
    let paths = match &args.stdin_path {
        Some(path) => std::slice::from_ref(path),
        None => args.selection.paths.as_slice(),
    };
    let repo = session.open_repository_or_directory(paths, "check");
    let local_files = match &repo {
        Ok(repo) => session.choose_local_files(repo, args.staged),
        Err(_) => CheckoutFiles::OnDisk,
    };
    let (workspace, _) = destinations.replace_reports_and_open(session, repo, local_files, |workspace| {
        resolve_revisions(session, workspace, args)
    })?;
    Ok(workspace)
}

/// Returns the revisions to check, and what `--deepen` fetches the history of. A directory without git has no
/// revisions, so an argument that needs them is an error.
fn resolve_revisions(
    session: &Session,
    workspace: &Workspace<'_>,
    args: &CheckArgs,
) -> Result<(RequestedRevisions, DeepenSubject), Failure> {
    let revisions = workspace.sources.resolve_revisions_to_check(args)?;
    let needs_git = args.staged || revisions.base.is_some() || revisions.head.is_some() || revisions.deepen;
    if needs_git {
        workspace.require_repository(session)?;
    }
    let subject = match revisions.head {
        Some(_) => DeepenSubject::Commit,
        None => DeepenSubject::Checkout,
    };
    Ok((revisions, subject))
}

/// Builds the run of the gate: resolves the files to check, which are the text on standard input or the paths of the
/// arguments, and the base to compare them with. Selects the pipelines.
fn build_run<'a>(
    subject: &CheckSubject<'a>,
    input: Option<&StandardInput>,
    args: &CheckArgs,
) -> Result<SelectedRun<'a>, Failure> {
    let mut snapshot = subject.open_snapshot(input.is_some())?;
    let mut paths = CheckPaths::default();
    match input {
        Some(input) => paths.named_files.push(input.add_to_snapshot(&mut snapshot)),
        None => paths = subject.resolve_paths(&snapshot, &args.selection.paths)?,
    }
    let change = subject.find_comparison(&paths)?;
    subject.build_run(snapshot, paths, change, &|sources: &SettingSources<'_>| {
        Ok(sources.resolve_check_settings(args)?.gate.selection)
    })
}

/// Adds a note to the report if the checked commit differs from the files on disk, a note if gate files on disk are not
/// staged, and a note if the files are not in a git repository. With `--head`, the user chose the commit, so the first
/// note is omitted.
fn add_notes(gate: &mut GateRun<'_>) -> Result<(), Failure> {
    let files = &gate.subject;
    let settings = files.settings;
    let is_checkout = settings.revisions.head.is_none();
    let difference_note = is_checkout
        .then(|| {
            files
                .workspace
                .describe_differences_on_disk(gate.session, &files.snapshot, &settings.selection)
        })
        .flatten();
    let unstaged_files_note = files
        .workspace
        .describe_unstaged_gate_files(gate.session, &files.snapshot)?;
    let missing_repository_notes = files.workspace.describe_missing_repository(&files.snapshot)?;
    gate.add_notes(difference_note);
    gate.add_notes(unstaged_files_note);
    gate.add_notes(missing_repository_notes);
    Ok(())
}
