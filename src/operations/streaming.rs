//! Streaming pipelines of the platform.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, PaceArgs, StreamArgs};
use crate::session::output;
use crate::session::resource::{RemoteProject, Sought, perhaps_made};
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_platform::api::StreamingCommand;
use sluicegate_platform::desired::{self, Document};
use sluicegate_platform::follow::{self, Pace, PollEnd};
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::path::Path;
use uuid::Uuid;

/// Default time to wait for a status, in seconds.
const PATIENCE: u64 = 300;

pub(crate) fn create(run: &Run, file: &Path, key_vault: Option<String>, output: OutputArgs) -> CommandResult {
    let document = Document::read(&run.env.current_dir().join(file), file)?;
    let definition = desired::streaming(&document, &run.sources()?.key_vault(key_vault))?;
    for note in &definition.notes {
        run.ui.say(note);
    }
    let project = run.project()?;
    run.requests(async {
        let made = project
            .platform
            .create_streaming_pipeline(project.id, &definition.body)
            .await;
        let made = match made {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(refused(error, &document)),
            made => project.read(made).await?,
        };
        run.show(output, &made.raw, || output::facts(&made.raw))
    })?
}

/// Returns the platform's complaints about fields, each with its line of the file.
fn refused(error: HttpError, document: &Document) -> Failure {
    let complaints = document.complaints(error.violations());
    if complaints.is_empty() {
        return perhaps_made(error, "check the project before you repeat the command");
    }
    let said = error.to_string();
    let head = said.split("\n- ").next().unwrap_or_default();
    let failure = Failure::from(error);
    let message = format!("{head}\n  {}", complaints.join("\n  "));
    Failure::new(failure.status(), anyhow::Error::msg(message))
        .hint("fix these lines and run the command again")
}

fn not_there(id: &str, error: HttpError) -> Failure {
    let sought = Sought {
        what: "streaming pipeline",
        name: id,
        list: None,
        alone: Some("streaming status"),
    };
    let is_name = Uuid::parse_str(id).is_err() && matches!(error.status(), Some(400 | 404 | 422));
    let failure = sought.missing_among(error, Some(Vec::new()));
    if is_name {
        // The API has no list of streaming pipelines to look the name up in.
        return failure.hint(
            "pass the ID that `sluicegate streaming create` printed: the platform's API cannot find a streaming \
             pipeline by its name",
        );
    }
    failure
}

pub(crate) fn show(run: &Run, args: &StreamArgs) -> CommandResult {
    let RemoteProject { platform, id } = run.project()?;
    run.requests(async {
        let shown = match platform.streaming_pipeline(id, &args.id).await {
            Ok(shown) => shown,
            Err(error) => return Err(not_there(&args.id, error)),
        };
        run.show(args.output, &shown.raw, || output::facts(&shown.raw))
    })?
}

/// Sends a command; success only means that the agent received it.
pub(crate) fn command(run: &Run, args: &StreamArgs, command: StreamingCommand) -> CommandResult {
    let RemoteProject { platform, id } = run.project()?;
    run.requests(async {
        let answer = match platform.send_streaming_command(id, &args.id, command).await {
            Ok(answer) => answer,
            Err(error) => return Err(not_there(&args.id, error)),
        };
        run.show(args.output, &answer, || {
            let word = command.name();
            text::escape_line(&format!(
                "sent the streaming agent the command to {word} {}",
                args.id
            )) + "\n"
        })
    })?
}

pub(crate) fn status(run: &Run, id: &str, output: OutputArgs) -> CommandResult {
    let RemoteProject {
        platform,
        id: project,
    } = run.project()?;
    run.requests(async {
        let status = match platform.streaming_status(project, id).await {
            Ok(status) => status,
            Err(error) => return Err(not_there(id, error)),
        };
        run.show(output, &status.raw, || output::facts(&status.raw))
    })?
}

pub(crate) fn wait(run: &Run, id: &str, state: &str, pace: &PaceArgs, output: OutputArgs) -> CommandResult {
    let waiting = run.sources()?.poll_settings(pace, PATIENCE)?;
    let RemoteProject {
        platform,
        id: project,
    } = run.project()?;
    let pace = Pace::new(waiting.first_interval, waiting.time_limit);
    run.requests(async {
        let told = |status: &str| run.ui.say(&format!("the status is {status}"));
        let (status, end) = match follow::poll_stream(&platform, project, id, state, pace, told).await {
            Ok(waited) => waited,
            Err(error) => return Err(not_there(id, error)),
        };
        run.show(output, &status.raw, || output::facts(&status.raw))?;
        if end == PollEnd::Succeeded {
            return Ok(ExitStatus::Success);
        }
        let message = format!(
            "the streaming pipeline {id} was not {state} within {} s: its status is {}",
            waiting.time_limit.as_secs(),
            status.status.as_deref().unwrap_or("unknown")
        );
        Err(Failure::new(
            ExitStatus::RemoteFailed,
            anyhow::Error::msg(message),
        ))
    })?
}
