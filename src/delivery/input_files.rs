//! The files that a command reads because its arguments name them. No output of the command may replace them.

use crate::job::cli::{
    Command, CreateTaskArgs, EnvironmentsVerb, PipelinesVerb, ProvisionVerb, RulesVerb, SecretsVerb,
    StreamingVerb, TasksVerb, VariablesVerb, WaiversVerb,
};
use crate::job::settings;
use crate::session::Session;
use std::path::PathBuf;

/// Returns the files that the command reads because flags, arguments or the environment name them, without pipelines.
pub(super) fn list_input_files(session: &Session, command: &Command) -> Vec<PathBuf> {
    let mut files = settings::requested_connection_files(&session.global, &session.env);
    match command {
        Command::Check(args) => files.extend(args.rules.clone()),
        Command::Publish(args) => files.extend(args.require_review.clone()),
        Command::Report(args) => files.extend(args.files.iter().chain(&args.compare).cloned()),
        Command::Verify(args) => files.extend(args.receipt.iter().chain(&args.attestation).cloned()),
        Command::Diff(args) => files.extend(args.files.iter().cloned()),
        Command::Fix(args) => files.extend(args.agent_fix.from.clone()),
        Command::Inspect(args) => files.push(args.file.clone()),
        Command::Serve(args) => files.extend(args.vocabulary.clone()),
        Command::Rules(args) => {
            if let RulesVerb::Test { file, .. } | RulesVerb::Lint { file, .. } = &args.verb {
                files.extend(file.clone());
            }
        }
        Command::Waivers(args) => {
            if let WaiversVerb::Add(args) = &args.verb {
                files.extend(args.from.clone());
            }
        }
        _ => files.extend(list_request_files(command)),
    }
    files
}

/// Returns the files with the content of requests that the arguments name, and the files that record earlier requests.
fn list_request_files(command: &Command) -> Vec<PathBuf> {
    match command {
        Command::Pipelines(args) => match &args.verb {
            PipelinesVerb::Run(args) => args.grids.iter().map(|(_, file)| PathBuf::from(file)).collect(),
            PipelinesVerb::List { .. } => Vec::new(),
        },
        Command::Variables(args) => match &args.verb {
            VariablesVerb::Apply(args) => vec![args.file.clone()],
            _ => Vec::new(),
        },
        Command::Streaming(args) => match &args.verb {
            StreamingVerb::Create { file, .. } => vec![file.clone()],
            _ => Vec::new(),
        },
        Command::Tasks(args) => match &args.verb {
            TasksVerb::Create(CreateTaskArgs { message, .. }) | TasksVerb::Send { message, .. } => {
                message.message_file.iter().cloned().collect()
            }
            _ => Vec::new(),
        },
        Command::Environments(args) => match &args.verb {
            EnvironmentsVerb::Create { file, .. } => vec![file.clone()],
            EnvironmentsVerb::List { .. } => Vec::new(),
        },
        Command::Secrets(args) => {
            let SecretsVerb::Create { value, .. } = &args.verb;
            value.value_file.iter().cloned().collect()
        }
        Command::Provision(args) => {
            let ProvisionVerb::Apply(args) = &args.verb;
            vec![args.file.clone(), args.state_file()]
        }
        _ => Vec::new(),
    }
}
