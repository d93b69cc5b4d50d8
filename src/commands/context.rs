//! Runs `sluicegate context`: shows the detected settings and the reason for each.

use crate::delivery::run_context::{
    RunContextText, build_context_json, describe_remote_state, list_unchanged_files,
};
use crate::exit::ExitStatus;
use crate::gate::selection::SelectionRequest;
use crate::job::cli::{ContextArgs, OutputFormat};
use crate::job::context::{Comparison, DeepenSubject};
use crate::job::settings::{SelectionPurpose, SettingSources};
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use crate::workspace::WarningTiming;
use std::mem;

/// Runs `sluicegate context`: prints what the job would review and why, without evaluating a rule. Warns about gate
/// configuration files that cannot be used, and about what a review would miss: files whose names only look like those
/// of pipelines, and directories with pipelines that are now a symbolic link or a submodule.
pub(crate) fn run(session: &Session, args: &ContextArgs) -> CommandResult {
    let mut workspace = session.open_workspace()?;
    let revisions = workspace
        .sources
        .resolve_revisions(&args.selection, args.branch.clone())?;
    workspace.deepen(session, &revisions, DeepenSubject::Commit)?;
    workspace.warn_of_config_files(session, WarningTiming::AtOnce);
    let globs = &args.selection.globs;
    let resolve = |sources: &SettingSources<'_>| sources.resolve_selection(globs, SelectionPurpose::Review);
    // The last argument returns the selection of the settings. Here, the settings are only the selection.
    let selection = workspace.resolve_settings(session, resolve, |selection| selection)?;
    let target = workspace.resolve_target(session, &revisions)?;
    let snapshot = workspace.repo.snapshot(target.head.clone());
    let paths = workspace.resolve_typed_paths(session, &args.selection.paths, &snapshot, &target.bases)?;
    let request = SelectionRequest {
        selection: &selection,
        paths: &paths,
        named_files: &[],
        revisions: &revisions,
        resolve: &resolve,
    };
    let selection_result =
        workspace.select_pipelines(session, &snapshot, &Comparison::from(target.clone()), &request)?;
    let unusable_files = &selection_result.unusable_files;
    for problem in unusable_files.new_problems().chain(unusable_files.old_problems()) {
        session.ui.warn(&format!(
            "a gate configuration file cannot be used: {}",
            problem.message
        ));
    }
    let named_base = selection_result.named_base.as_ref();
    let selected_pipelines = selection_result.pipelines;
    let unchanged_files = list_unchanged_files(&snapshot, &paths, &selected_pipelines)?;
    for warning in selected_pipelines.warnings() {
        session.ui.warn(&warning);
    }
    if args.json || args.output.output == OutputFormat::Json {
        let mut document = build_context_json(&target, &selected_pipelines, named_base);
        document["policy"] = workspace.describe_config_file_source().into();
        session.ui.print_result(&format_json(&document))?;
    } else {
        let remote = describe_remote_state(&target, &workspace.repo);
        let policy = workspace.describe_config_file_source();
        let context_text = RunContextText {
            target: &target,
            selection: &selected_pipelines,
            named_base,
            paths: &paths,
            unchanged_files,
        };
        session.ui.print_result(&context_text.render(&remote, policy))?;
    }
    // The process ends next; skipping the unmapping of git's packs saves 2 % of the time.
    mem::forget(snapshot);
    mem::forget(workspace);
    Ok(ExitStatus::Success)
}
