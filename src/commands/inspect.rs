//! Runs `sluicegate inspect`: prints the fields of a pipeline that team rules can use.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{InspectArgs, OutputFormat};
use crate::job::policy::CheckoutFiles;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use crate::workspace::Workspace;
use sluicegate_base::text::{escape_lines, format_path};
use sluicegate_pipelines::pipelines::{PipelineFiles, is_pipeline};
use sluicegate_pipelines::team_rules::{describe_pipeline, render_description};

/// Runs `sluicegate inspect`: prints a description of a pipeline, read from disk or, in CI, from the commit.
pub(crate) fn run(session: &Session, args: &InspectArgs) -> CommandResult {
    let repo = session.open_repository_or_directory(std::slice::from_ref(&args.file), "inspect")?;
    let workspace = session.open_workspace_in(repo, CheckoutFiles::OnDisk)?;
    let snapshot = workspace.read_checkout_snapshot(session)?;
    let path = workspace.resolve_typed_path(session, &args.file)?;
    let file = snapshot.find_file(&path)?.ok_or_else(|| {
        Failure::usage(format!("the pipeline {} does not exist", format_path(&args.file)))
            .with_hint(Workspace::describe_path_mistake(&path, &args.file, &snapshot))
    })?;
    // The description resolves the calls of the pipeline, so it needs the paths of all pipelines.
    let pipeline_paths: Vec<String> = snapshot
        .list_content_files(&|path| is_pipeline(path))?
        .into_iter()
        .map(|file| file.path)
        .collect();
    let pipeline_files = PipelineFiles::new(pipeline_paths.iter().map(String::as_str));
    let description = workspace
        .read_document(&file)?
        .and_then(|bytes| describe_pipeline(&path, &bytes, &pipeline_files))
        .map_err(|error| Failure::usage(format!("could not read the pipeline {path}: {error}")))?;
    let text = match args.output.output {
        OutputFormat::Json => format_json(&description),
        OutputFormat::Text => escape_lines(&render_description(&description)).into_owned(),
    };
    session.ui.print_result(&text)?;
    Ok(ExitStatus::Success)
}
