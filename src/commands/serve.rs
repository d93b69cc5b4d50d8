//! Runs `sluicegate serve`: starts the local platform, prints its address, stops on a signal.

use crate::error::Failure;
use crate::job::cli::{ReviewRequestFields, ServeArgs};
use crate::job::settings::variable;
use crate::operations::behavior_flag::to_agent_behavior;
use crate::session::{CommandResult, Session};
use secrecy::ExposeSecret as _;
use sluicegate_base::input;
use sluicegate_local_platform::{Clock, Options, Role, RunningPlatform, Vocabulary};
use std::path::Path;
use uuid::Uuid;

/// The agent version in the printed settings. The local platform accepts any version.
const ANY_AGENT: &str = "1.0.0";

/// Maximum size of a vocabulary file, in bytes; it has five short lines.
const MAX_VOCABULARY_BYTES: u64 = 64 * 1024;

/// Runs `sluicegate serve`: starts a local platform, and stops it at a signal.
pub(crate) fn run(session: &Session, args: ServeArgs) -> CommandResult {
    if let Some(path) = &args.data {
        session.reject_repository_links_in(&session.env.current_dir().join(path))?;
    }
    let options = read_options(session, args)?;
    let project = options.projects.first().map(|(id, _)| *id);
    let mut signals = session.signals.clone();
    session.block_on(async move {
        let platform = sluicegate_local_platform::start(options).await?;
        print_connection(session, &platform, project)?;
        let status = signals.wait().await;
        platform.stop().await;
        Ok(status)
    })?
}

/// Converts the arguments to the options of the local platform. Reads the vocabulary file, if one is given.
fn read_options(session: &Session, args: ServeArgs) -> Result<Options, Failure> {
    let current_dir = session.env.current_dir();
    let mut vocabulary = match args.vocabulary {
        Some(path) => {
            session.reject_link_out_of_repository(&path)?;
            read_vocabulary(&current_dir.join(path))?
        }
        None => Vocabulary::default(),
    };
    vocabulary.review = match args.review_request {
        ReviewRequestFields::Pipelines => sluicegate_local_platform::ReviewFields::Pipelines,
        ReviewRequestFields::FilePaths => sluicegate_local_platform::ReviewFields::FilePaths,
    };
    let mut tokens = Vec::new();
    for flag in args.token {
        let role: Role = flag
            .role
            .parse()
            .map_err(|error: sluicegate_local_platform::UnknownRole| Failure::usage(error.to_string()))?;
        tokens.push((flag.token, role));
    }
    Ok(Options {
        listen: args.listen,
        data: args.data.map(|path| current_dir.join(path)),
        projects: args
            .project
            .into_iter()
            .map(|flag| (flag.id, current_dir.join(flag.repository)))
            .collect(),
        tokens,
        vocabulary,
        clock: Clock::default(),
        agent_behavior: to_agent_behavior(args.agent_behavior),
    })
}

/// Reads the file with the names that the local platform uses instead of the neutral ones.
fn read_vocabulary(path: &Path) -> Result<Vocabulary, Failure> {
    input::read_text_file(path, MAX_VOCABULARY_BYTES)
        .map_err(|error| error.to_string())
        .and_then(|text| Vocabulary::parse(&text).map_err(|error| error.to_string()))
        .map_err(|reason| {
            Failure::usage(format!(
                "could not read the vocabulary file {}: {reason}",
                sluicegate_base::text::format_path(path)
            ))
        })
}

/// Prints the address, a generated token, and the settings that a client needs. Programs may wait for the first line.
/// Warns if other machines can reach the address.
fn print_connection(
    session: &Session,
    platform: &RunningPlatform,
    project: Option<Uuid>,
) -> Result<(), Failure> {
    session
        .ui
        .print_result(&format!("listening on http://{}\n", platform.address()))?;
    if let Some(token) = platform.generated_token() {
        session
            .ui
            .print_result(&format!("token (super-admin): {}\n", token.expose_secret()))?;
    }
    if !platform.address().ip().is_loopback() {
        session.ui.warn_with_hint(
            "other machines can reach this address and guess tokens; tokens, pipelines and secrets are sent \
             unencrypted",
            "listen on 127.0.0.1, or restrict access with a firewall",
        );
    }
    session.ui.print_result(&format_exports(platform, project))?;
    session.ui.say("press Ctrl-C to stop");
    Ok(())
}

/// Returns `export` lines to copy into another terminal, so that sluicegate uses this platform there. A token that the
/// user set is not shown.
fn format_exports(platform: &RunningPlatform, project: Option<Uuid>) -> String {
    let mut values = vec![(variable::BASE_URL, format!("http://{}", platform.address()))];
    values.extend(project.map(|id| (variable::PROJECT_ID, id.to_string())));
    values.push((variable::AGENT_VERSION, ANY_AGENT.to_owned()));
    let token = platform.generated_token();
    values.extend(token.map(|token| (variable::TOKEN, token.expose_secret().to_owned())));
    let lines = values
        .iter()
        .map(|(name, value)| format!("export {name}={value}\n"));
    lines.collect()
}
