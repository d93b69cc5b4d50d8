//! The verbs: one file each, which reads like the story and leaves the work to the rooms.

mod artifacts;
mod check;
mod ci;
mod client;
mod context;
mod deliver;
mod demo;
mod doctor;
mod events;
mod failure;
mod gate_changes;
mod init;
mod judgement;
mod manual;
mod output;
mod pipelines;
mod platform_folder;
mod projects;
mod provision;
mod publish;
mod published;
mod report;
mod resource;
mod review;
mod rules;
mod secret_value;
mod serve;
mod signals;
mod streaming;
mod tasks;
mod unselected;
mod variables;
mod verify;
mod versions;
mod workspace;

use crate::cli::{Cli, Command, GlobalArgs};
use crate::env::Env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::settings;
use crate::ui::{self, ColorChoice, Ui};
use signals::Signals;
use std::sync::{Arc, OnceLock};
use tokio::runtime::Runtime;

/// What every command is given.
pub(crate) struct Run {
    env: Env,
    global: GlobalArgs,
    ui: Ui,
    signals: Signals,
    runtime: Arc<OnceLock<Runtime>>,
}

/// How a command ends.
type Outcome = Result<ExitStatus, Failure>;

/// Runs the command and gives its exit status; an interrupt ends it at any point.
pub fn run(cli: Cli, env: Env) -> ExitStatus {
    let color = settings::color(&cli.global, &env);
    let ui = Ui::new(
        cli.global.quiet,
        *color.as_ref().unwrap_or(&ColorChoice::Auto),
        is_ci(&env),
    );
    if let Err(error) = color {
        return ui.fail(&Failure::from(error));
    }
    ui::start_log(cli.global.verbose);
    for warning in settings::unknown_variables(&env) {
        ui.warn(&warning);
    }
    signals::guard(ui, move |signals| {
        let run = Run {
            env,
            global: cli.global,
            ui,
            signals,
            runtime: Arc::default(),
        };
        dispatch(&run, cli.command).unwrap_or_else(|failure| ui.fail(&failure))
    })
}

fn dispatch(run: &Run, command: Command) -> Outcome {
    match command {
        Command::Review(args) => review::run(run, &args),
        Command::Report(args) => report::run(run, &args),
        Command::Check(args) => check::run(run, &args),
        Command::Publish(args) => publish::run(run, &args),
        Command::Ci(args) => ci::run(run, &args),
        Command::Verify(args) => verify::run(run, &args),
        Command::Context(args) => context::run(run, &args),
        Command::Init(args) => init::run(run, &args),
        Command::Doctor(args) => doctor::run(run, &args),
        Command::Artifacts(args) => artifacts::run(run, args.verb),
        Command::SharedPipelines(args) => artifacts::run_shared(run, &args.verb),
        Command::Pipelines(args) => pipelines::run(run, args.verb),
        Command::Executions(args) => pipelines::run_executions(run, args.verb),
        Command::Variables(args) => variables::run(run, args.verb),
        Command::Streaming(args) => streaming::run(run, args.verb),
        Command::Tasks(args) => tasks::run(run, args.verb),
        Command::Projects(args) => projects::projects(run, args.verb),
        Command::Environments(args) => projects::environments(run, args.verb),
        Command::Connections(args) => projects::connections(run, args.verb),
        Command::Secrets(args) => projects::secrets(run, args.verb),
        Command::Repositories(args) => projects::repositories(run, args.verb),
        Command::Provision(args) => provision::run(run, args.verb),
        Command::Events(args) => events::run(run, args.verb),
        Command::Rules(args) => rules::run(run, args.verb),
        Command::Serve(args) => serve::run(run, args),
        Command::Demo(args) => demo::run(run, &args),
        Command::Schema(_) => manual::schema(run),
        Command::Completions(args) => manual::completions(run, args.shell),
        Command::Man(args) => manual::pages(run, &args.dir),
    }
}

/// Every CI host sets `CI`, or names itself in a variable that detection knows.
fn is_ci(env: &Env) -> bool {
    env.get("CI").is_some()
}
