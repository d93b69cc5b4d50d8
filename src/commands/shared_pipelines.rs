//! Runs `sluicegate shared-pipelines`.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{AddSharedPipelineArgs, OutputFormat, SharedPipelinesVerb};
use crate::operations::artifacts::print_shared_pipelines;
use crate::session::response_output::format_json;
use crate::session::user_file::read_text_or_empty;
use crate::session::{CommandResult, Session};
use crate::workspace::Workspace;
use crate::workspace::config_dir_prompt::require_config_dir;
use crate::workspace::omitted_file::reject_omitted_file;
use serde_json::json;
use sluicegate_base::text::{self, format_count, format_path};
use sluicegate_git::SnapshotFile;
use sluicegate_pipelines::pipelines::{NewSharedEntry, SharedEditError, is_pipeline, shared_pipelines_path};
use sluicegate_yaml::MAX_DOCUMENT_BYTES;

/// Runs `sluicegate shared-pipelines`: lists the shared pipelines of the platform, or adds one to the working tree.
pub(crate) fn run(session: &Session, verb: SharedPipelinesVerb) -> CommandResult {
    match verb {
        SharedPipelinesVerb::List { output } => print_shared_pipelines(session, output),
        SharedPipelinesVerb::Add(args) => add_pipeline(session, &args),
    }
}

/// Runs `sluicegate shared-pipelines add`: adds a pipeline to the shared-pipelines file, which offers it to consumers.
fn add_pipeline(session: &Session, args: &AddSharedPipelineArgs) -> CommandResult {
    let workspace = session.open_workspace()?;
    let snapshot = workspace
        .repo
        .read_disk_snapshot(session.hook_index_path(&workspace.repo))?;
    let path = workspace.resolve_typed_path(session, &args.path)?;
    if !is_pipeline(&path) {
        let message = format!(
            "{} is not a pipeline: its name does not end in .orch.yaml or .tran.yaml",
            format_path(&args.path)
        );
        return Err(Failure::usage(message));
    }
    let file = snapshot.find_file(&path)?.ok_or_else(|| {
        Failure::usage(format!("the pipeline {} does not exist", format_path(&args.path)))
            .with_hint(Workspace::describe_path_mistake(&path, &args.path, &snapshot))
    })?;
    let entry = build_shared_entry(&workspace, &file, &path, args)?;
    let config_dir = match workspace.find_config_dir(&snapshot)? {
        Some(config_dir) => config_dir,
        None => require_config_dir(&snapshot, session, "sluicegate shared-pipelines add <PATH>")?,
    };
    // Held until the file is written. Not before, because the command may ask for the directory.
    let _lock = session.lock_checkout()?;
    let shared_file = shared_pipelines_path(&config_dir);
    let full_path = workspace.repo.root().join(&shared_file);
    reject_omitted_file(&workspace.repo, &shared_file)?;
    session.reject_linked_paths(&workspace.repo, std::iter::once(full_path.as_path()))?;
    let old_text = read_text_or_empty(&full_path, MAX_DOCUMENT_BYTES)?;
    let edited_text = entry
        .build_edited_text(&old_text)
        .map_err(|error| edit_failure(&shared_file, &error))?;
    atomic_file::replace_file(&full_path, old_text.as_bytes(), edited_text.as_bytes())
        .map_err(|error| Failure::usage(format!("could not write {shared_file}: {error}")))?;
    print_added_entry(session, args, &entry, &shared_file)?;
    Ok(ExitStatus::Success)
}

/// Builds the entry for this pipeline file. Fails if the file is not a valid pipeline, or if the entry has no id.
fn build_shared_entry(
    workspace: &Workspace<'_>,
    file: &SnapshotFile,
    path: &str,
    args: &AddSharedPipelineArgs,
) -> Result<NewSharedEntry, Failure> {
    let entry = workspace
        .read_document(file)?
        .and_then(|bytes| NewSharedEntry::for_pipeline(path, args.id.clone(), &bytes))
        .map_err(|error| Failure::usage(format!("could not read the pipeline {path}: {error}")))?;
    if entry.id.trim().is_empty() {
        return Err(
            Failure::usage("the id of the shared pipeline is empty").with_hint("pass an id with --id")
        );
    }
    Ok(entry)
}

/// Prints the added entry, and the private variables that it omits because consumers cannot set them.
fn print_added_entry(
    session: &Session,
    args: &AddSharedPipelineArgs,
    entry: &NewSharedEntry,
    file: &str,
) -> Result<(), Failure> {
    if !entry.private_names.is_empty() {
        session.ui.say(&format!(
            "skipped {}, which consumers cannot set: {}",
            format_count(entry.private_names.len(), "private variable"),
            entry.private_names.join(", ")
        ));
    }
    match args.output.output {
        OutputFormat::Json => session.ui.print_result(&format_json(&json!({
            "file": file,
            "id": entry.id,
            "pipeline": entry.path,
            "parameters": entry.parameter_names(),
        }))),
        OutputFormat::Text => {
            let message = format!(
                "added {} as `{}` with {} to {file}",
                entry.path,
                entry.id,
                format_count(entry.parameters.len(), "parameter")
            );
            session.ui.print_result(&(text::escape_line(&message) + "\n"))
        }
    }
}

/// Returns the error that the shared-pipelines file cannot be edited, with what to do instead.
fn edit_failure(file: &str, error: &SharedEditError) -> Failure {
    let failure = Failure::usage(format!("{file} was not changed: {error}"));
    failure.with_hint(match error {
        SharedEditError::AlreadyShared { .. } => "edit the existing entry, for example to enable it",
        SharedEditError::UsedId { .. } => "pass another id with --id",
        SharedEditError::Unreadable(_) => "correct the shared-pipelines file first",
        SharedEditError::UnsupportedForm => "start each entry on its own line, as `- pipeline: …`",
    })
}
