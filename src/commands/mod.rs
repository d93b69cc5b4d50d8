//! The commands: one file each, which outlines the steps and leaves the work to other modules.

mod artifacts;
mod artifacts_diff;
mod artifacts_impact;
mod check;
mod ci;
mod completions;
mod context;
mod demo;
mod diff;
mod doctor;
mod document_schema;
mod events;
mod executions;
mod fix;
mod init;
mod inspect;
mod man;
mod mv;
mod pipelines;
mod provision;
mod publish;
mod report;
mod review;
mod reviewed_commit;
mod rules;
mod serve;
mod settings;
mod shared_pipelines;
mod streaming;
mod tasks;
mod variables;
mod verify;
mod waivers;

pub(crate) use completions::print_candidates;

use crate::delivery::early_failure::replace_files_of_failed_call;
use crate::delivery::unfinished_files;
use crate::env::Env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{Cli, Command};
use crate::job::settings as job_settings;
use crate::operations;
use crate::session::request_timeouts::reject_two_timeouts;
use crate::session::step_report::{self, report_interruption, report_usage_error};
use crate::session::{CommandResult, Session, has_ci_variables, signals};
use crate::ui::{self, ColorChoice, Ui};

/// Runs the command and returns its exit status. Reports a failure to the user and to the CI host. A signal ends the
/// command at any point.
pub(crate) fn run_command(cli: Cli, mut env: Env) -> ExitStatus {
    let directory_result = match &cli.global.directory {
        Some(directory) => env.change_directory(directory),
        None => Ok(()),
    };
    // An invalid color is reported after old reports were replaced.
    let (color, color_result) = match job_settings::resolve_color_choice(&cli.global, &env) {
        Ok(color) => (color, Ok(())),
        Err(error) => (ColorChoice::Auto, Err(Failure::from(error))),
    };
    let ui = Ui::new(cli.global.quiet, color, has_ci_variables(&env));
    // A wrong directory is reported only now, because the report needs the `Ui`. The paths of old reports are unknown.
    if let Err(failure) = directory_result.map_err(Failure::usage) {
        // An annotation also shows the failure in the log, so it is not printed again.
        let has_verdict = step_report::has_verdict(&cli.command);
        if !report_usage_error(&env, &failure.describe(), has_verdict) {
            ui.print_failure(&failure);
        }
        return failure.status();
    }
    ui::start_log(cli.global.verbose);
    for warning in job_settings::describe_unknown_variables(&env) {
        ui.warn(&warning);
    }
    let host_env = env.clone();
    let annotate = |style, status, message: &str| report_interruption(&host_env, style, status, message);
    signals::run_until_signal(ui, annotate, move |signals| {
        let title = step_report::failure_title(&cli.command);
        let mut global = cli.global;
        let timeout = cli.command.request_timeout_without_wait();
        let timeout_check = reject_two_timeouts(timeout, global.timeout);
        global.timeout = global.timeout.or(timeout);
        let mut session = Session::new(env, global, ui, signals, title);
        session.set_job_annotations(step_report::requested_annotations(&session, &cli.command));
        let status = unfinished_files::replace_files_named_by_flags(&session, &cli.command, Vec::new())
            .and(color_result)
            .and(timeout_check)
            .and_then(|()| session.redirect_results())
            .inspect_err(|_| replace_files_of_failed_call(&session, &cli.command))
            .and_then(|()| dispatch(&session, cli.command))
            .unwrap_or_else(|failure| {
                session.write_undecided_output();
                unfinished_files::record_failure_in_reports(&session, &failure);
                session.report_failure(&failure)
            });
        let status = match session.ui.finish_output_file() {
            Ok(()) => status,
            Err(failure) => status.worse(session.report_failure(&failure)),
        };
        session.print_deferred_warnings();
        session.report_unexplained_failure(status);
        status
    })
}

/// Runs the command with its arguments.
fn dispatch(session: &Session, command: Command) -> CommandResult {
    match command {
        Command::Review(args) => review::run(session, &args),
        Command::Report(args) => report::run(session, &args),
        Command::Check(args) => check::run(session, &args),
        Command::Publish(args) => publish::run(session, &args),
        Command::Ci(args) => ci::run(session, &args),
        Command::Verify(args) => verify::run(session, &args),
        Command::Diff(args) => diff::run(session, &args),
        Command::Context(args) => context::run(session, &args),
        Command::Init(args) => init::run(session, &args),
        Command::Doctor(args) => doctor::run(session, &args),
        Command::Settings(args) => settings::run(session, &args),
        Command::Artifacts(args) => artifacts::run(session, args.verb),
        Command::SharedPipelines(args) => shared_pipelines::run(session, args.verb),
        Command::Pipelines(args) => pipelines::run(session, args.verb),
        Command::Executions(args) => executions::run(session, args.verb),
        Command::Variables(args) => variables::run(session, args.verb),
        Command::Streaming(args) => streaming::run(session, args.verb),
        Command::Tasks(args) => tasks::run(session, args.verb),
        // The next five commands only send a request, so there are no steps to outline.
        Command::Projects(args) => operations::projects::run_projects(session, args.verb),
        Command::Environments(args) => operations::projects::run_environments(session, args.verb),
        Command::Connections(args) => operations::projects::run_connections(session, args.verb),
        Command::Secrets(args) => operations::projects::run_secrets(session, args.verb),
        Command::Repositories(args) => operations::projects::run_repositories(session, args.verb),
        Command::Provision(args) => provision::run(session, args.verb),
        Command::Events(args) => events::run(session, args.verb),
        Command::Rules(args) => rules::run(session, args.verb),
        Command::Inspect(args) => inspect::run(session, &args),
        Command::Waivers(args) => waivers::run(session, args.verb),
        Command::Fix(args) => fix::run(session, &args),
        Command::Mv(args) => mv::run(session, &args),
        Command::Serve(args) => serve::run(session, args),
        Command::Demo(args) => demo::run(session, &args),
        Command::Schema(args) => document_schema::run(session, args.document),
        Command::Completions(args) => completions::run(session, args.shell),
        Command::Man(args) => man::run(session, &args),
    }
}
