//! Runs `sluicegate serve`: starts the local platform, prints its address, stops on a signal.

use crate::error::Failure;
use crate::job::cli::{ReviewRequestFields, ServeArgs};
use crate::job::settings::variable;
use crate::session::{CommandResult, Run};
use secrecy::ExposeSecret as _;
use sluicegate_base::input;
use sluicegate_local_platform::{Clock, Options, Role, Running, Vocabulary};
use std::path::Path;
use uuid::Uuid;

/// The local platform accepts any agent version.
const ANY_AGENT: &str = "1.0.0";

/// Maximum size of a vocabulary file, in bytes; it has five short lines.
const VOCABULARY_LIMIT: u64 = 64 * 1024;

pub(crate) fn run(run: &Run, args: ServeArgs) -> CommandResult {
    let options = options(run, args)?;
    let project = options.projects.first().map(|(id, _)| *id);
    let mut signals = run.signals.clone();
    run.requests(async move {
        let running = sluicegate_local_platform::start(options).await?;
        announce(run, &running, project)?;
        let status = signals.take().await;
        running.stop().await;
        Ok(status)
    })?
}

fn options(run: &Run, args: ServeArgs) -> Result<Options, Failure> {
    let folder = run.env.current_dir();
    let vocabulary = args.vocabulary.map(|path| vocabulary(&folder.join(path)));
    let mut vocabulary = vocabulary.transpose()?.unwrap_or_default();
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
        data: args.data.map(|path| folder.join(path)),
        projects: args
            .project
            .into_iter()
            .map(|flag| (flag.id, folder.join(flag.repository)))
            .collect(),
        tokens,
        vocabulary,
        clock: Clock::default(),
    })
}

fn vocabulary(path: &Path) -> Result<Vocabulary, Failure> {
    let refuse =
        |why: &dyn std::fmt::Display| Failure::usage(format!("vocabulary file {}: {why}", path.display()));
    let text = input::read_text_file(path, VOCABULARY_LIMIT)
        .map_err(|error| refuse(&format!("could not read it: {error}")))?;
    Vocabulary::parse(&text).map_err(|error| refuse(&error))
}

/// Prints the address and what is needed to use it. Programs may wait for the first line.
fn announce(run: &Run, running: &Running, project: Option<Uuid>) -> Result<(), Failure> {
    run.ui
        .print_result(&format!("listening on http://{}\n", running.address()))?;
    if let Some(token) = running.generated_token() {
        run.ui
            .print_result(&format!("token (super-admin): {}\n", token.expose_secret()))?;
    }
    if !running.address().ip().is_loopback() {
        run.ui.warn(
            "other machines can reach this address and try tokens, and tokens, pipelines and secrets are sent \
             unencrypted\nhint: listen on 127.0.0.1, or restrict access with a firewall",
        );
    }
    run.ui.print_result(&exports(running, project))?;
    run.ui.say("press Ctrl-C to stop");
    Ok(())
}

/// Returns the variables for another terminal, as lines to copy. A token set by the user is not shown.
fn exports(running: &Running, project: Option<Uuid>) -> String {
    let mut values = vec![(variable::BASE_URL, format!("http://{}", running.address()))];
    values.extend(project.map(|id| (variable::PROJECT_ID, id.to_string())));
    values.push((variable::AGENT_VERSION, ANY_AGENT.to_owned()));
    let token = running.generated_token();
    values.extend(token.map(|token| (variable::TOKEN, token.expose_secret().to_owned())));
    let lines = values
        .iter()
        .map(|(name, value)| format!("export {name}={value}\n"));
    lines.collect()
}
