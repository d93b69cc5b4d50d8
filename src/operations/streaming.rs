//! Creates and controls the platform's streaming pipelines.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, PaceArgs, StreamArgs};
use crate::session::failure_conversion::http_exit_status;
use crate::session::resource::{RemoteProject, created_without_id_failure, require_status};
use crate::session::resource_lookup::{ResourceKind, ResourceLookup, creation_failure};
use crate::session::response_output;
use crate::session::{CommandResult, Session};
use sluicegate_base::text;
use sluicegate_platform::api::StreamingCommand;
use sluicegate_platform::definitions::{self, Document};
use sluicegate_platform::follow::{self, Pace, PollEnd};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::fmt::Write as _;
use std::path::Path;

/// Default time to wait for a status, in seconds.
const DEFAULT_TIMEOUT_SECONDS: u64 = 300;

/// Creates the streaming pipeline that the file describes, and prints the response. First prints a note for each value
/// of the file that is changed before it is sent.
pub(crate) fn create_stream(
    session: &Session,
    file: &Path,
    key_vault: Option<String>,
    output: OutputArgs,
) -> CommandResult {
    let document = session.load_document(file)?;
    let definition = definitions::read_streaming_definition(
        &document,
        &session.read_setting_sources()?.resolve_secret_type(key_vault)?,
    )?;
    for unknown_key in &definition.unknown_keys {
        session.ui.warn(unknown_key);
    }
    for note in &definition.notes {
        session.ui.say(note);
    }
    let project = session.create_project_client()?;
    session.block_on(async {
        let result = project
            .platform
            .create_streaming_pipeline(project.id, &definition.body)
            .await;
        let response = match result {
            // The platform may complain about fields of the file. A 404 is no such error: the project is missing.
            Err(error) if error.kind() != ErrorKind::NotFound => {
                return Err(definition_failure(error, &document));
            }
            result => project.convert_response(result).await?,
        };
        if response.streaming_pipeline_id.is_none() {
            return Err(created_without_id_failure(
                "the streaming pipeline was created, but the response contains no id",
                "check whether the project already has the streaming pipeline",
            ));
        }
        session.print_response(output, &response.raw, || {
            response_output::format_field_lines(&response.raw)
        })
    })?
}

/// Returns the failure of a creation. If the platform complains about fields of the definition, lists each complaint,
/// with its line if the file contains the field.
fn definition_failure(error: HttpError, document: &Document) -> Failure {
    let violations = error.violations();
    if !violations
        .iter()
        .any(|violation| document.contains_start_of(&violation.field))
    {
        return creation_failure(
            error,
            "check whether the project already has the streaming pipeline before you repeat the command",
        );
    }
    let complaints = document.describe_violations(violations);
    Failure::from_message(http_exit_status(error.kind()), error.summary())
        .with_entries(complaints)
        .with_hint("fix these lines and run the command again")
}

/// Returns the failure of a request about a streaming pipeline. If the user passed a name, the hint says that an id is
/// required.
async fn stream_request_failure(project: &RemoteProject, id: &str, error: HttpError) -> Failure {
    if let Some(failure) = project.find_missing_project(&error).await {
        return failure;
    }
    let lookup = ResourceLookup {
        kind: ResourceKind::StreamingPipeline,
        name: id,
        list_command: None,
        show_command: Some("streaming status"),
    };
    // The API has no list of streaming pipelines, so the failure cannot suggest an id.
    let no_ids = Some(Vec::new());
    let id_hint = "pass the ID that `sluicegate streaming create` printed: the platform's API cannot find a streaming \
                   pipeline by its name";
    lookup.request_failure_by_id(error, no_ids, id_hint)
}

/// Prints a streaming pipeline as the platform describes it.
pub(crate) fn print_stream(session: &Session, args: &StreamArgs) -> CommandResult {
    let project = session.create_project_client()?;
    session.block_on(async {
        let response = match project
            .platform
            .fetch_streaming_pipeline(project.id, &args.id)
            .await
        {
            Ok(response) => response,
            Err(error) => return Err(stream_request_failure(&project, &args.id, error).await),
        };
        session.print_response(args.output, &response.raw, || {
            response_output::format_field_lines(&response.raw)
        })
    })?
}

/// Sends a command to a streaming pipeline. A success only means that the streaming agent received the command.
pub(crate) fn send_command(session: &Session, args: &StreamArgs, command: StreamingCommand) -> CommandResult {
    let project = session.create_project_client()?;
    session.block_on(async {
        let response = match project
            .platform
            .send_streaming_command(project.id, &args.id, command)
            .await
        {
            Ok(response) => response,
            Err(error) => return Err(stream_request_failure(&project, &args.id, error).await),
        };
        session.print_response(args.output, &response, || {
            let word = command.name();
            text::escape_line(&format!(
                "sent the streaming agent the command to {word} {}",
                args.id
            )) + "\n"
        })
    })?
}

/// Prints the current status of a streaming pipeline.
pub(crate) fn print_status(session: &Session, id: &str, output: OutputArgs) -> CommandResult {
    let project = session.create_project_client()?;
    session.block_on(async {
        let status = match project.platform.fetch_streaming_status(project.id, id).await {
            Ok(status) => status,
            Err(error) => return Err(stream_request_failure(&project, id, error).await),
        };
        require_status(status.status.as_ref())?;
        session.print_response(output, &status.raw, || {
            response_output::format_field_lines(&status.raw)
        })
    })?
}

/// Waits until the streaming pipeline has this status or the time limit is reached. Prints the pipeline's last status
/// in both cases, and fails in the second.
pub(crate) fn wait_for_status(
    session: &Session,
    id: &str,
    wanted_status: &str,
    pace: &PaceArgs,
    output: OutputArgs,
) -> CommandResult {
    // A CI variable that is not set leaves an empty text, and no pipeline has such a status.
    if wanted_status.trim().is_empty() {
        return Err(Failure::usage("the value of --wait is empty")
            .with_hint("pass a status, for example `--wait streaming`"));
    }
    let poll_settings = session
        .read_setting_sources()?
        .resolve_poll_settings(pace, DEFAULT_TIMEOUT_SECONDS)?;
    let project = session.create_project_client()?;
    let pace = Pace::new(poll_settings.first_interval, poll_settings.time_limit);
    session.block_on(async {
        let poll_request =
            follow::poll_streaming_status(&project.platform, project.id, id, wanted_status, pace, |status| {
                let status = if status.is_empty() { "unknown" } else { status };
                session.ui.say(&format!("the status is {status}"));
            });
        let (status, end) = match poll_request.await {
            Ok(result) => result,
            Err(error) => return Err(stream_request_failure(&project, id, error).await),
        };
        session.print_response(output, &status.raw, || {
            response_output::format_field_lines(&status.raw)
        })?;
        if end == PollEnd::Succeeded {
            return Ok(ExitStatus::Success);
        }
        let message = format!(
            "the streaming pipeline {id} was not {wanted_status} within {} s: its status is {}",
            poll_settings.time_limit.as_secs(),
            status.status.as_deref().unwrap_or("unknown")
        );
        let mut hint = "set a longer time limit with --timeout".to_owned();
        if ["starting", "streaming"].contains(&wanted_status.to_ascii_lowercase().as_str()) {
            let id_word = text::quote_shell_word(id);
            let _ = write!(
                hint,
                "; a pipeline that is not running starts with `sluicegate streaming start {id_word}`"
            );
        } else if let Some(status) = &status.status {
            // The document of the platform's API lists only the statuses of a running pipeline.
            let status_word = text::quote_shell_word(status);
            let _ = write!(hint, ", or wait for the platform's word: `--wait {status_word}`");
        }
        Err(Failure::from_message(ExitStatus::RemoteFailed, message).with_hint(hint))
    })?
}
