//! `sluicegate` reviews pipelines before they are merged and publishes them afterwards. `docs/ARCHITECTURE.md` contains
//! the map, and `tests/it/architecture/mod.rs` checks that the code follows it.
//!
//! A run passes through these modules from the top down. [`job`] parses the arguments and settings and finds the
//! target. [`workspace`] opens the repository with its settings. [`gate`] selects the changed pipelines, has them
//! reviewed and decides the verdict. `sluicegate_reports` renders the results, with one file for each format, and
//! [`delivery`] writes them. [`publish`] plans, uploads and verifies a version, and [`publication`] is one such
//! publish. Each command in [`commands`] calls these modules in that order.
//!
//! All of them use [`session`], [`env`](mod@env), [`exit`], [`error`] and [`ui`]: one call of the program, its
//! environment, which is read once, the exit codes, the error that ends a run, and the terminal.
//!
//! The other packages below this one are `sluicegate_pipelines`, which reads and evaluates the documents and defines
//! the findings, `sluicegate_yaml`, which reads YAML, `sluicegate_git`, which reads repositories,
//! `sluicegate_platform`, the client of the platform, `sluicegate_local_platform`, the platform on this machine, and
//! `sluicegate_base`, helpers that several of them use.

// Only tests use the library from outside; items that no test uses are `pub(crate)`.

mod atomic_file;
mod attestation;
mod commands;
mod delivery;
mod document_content;
pub mod env;
mod error;
pub mod exit;
mod gate;
mod hosts;
mod interface_version;
pub mod job;
mod operations;
mod publication;
pub mod publish;
mod session;
mod ui;
mod workspace;

use job::cli::GlobalArgs;
use operations::completions::CompletionRequest;
use std::ffi::OsString;
use std::io::Write as _;

/// Runs the program with `args` in this environment. The first of `args` is the program's name.
pub fn run(args: impl IntoIterator<Item = OsString>, env: env::Env) -> exit::ExitStatus {
    let args: Vec<OsString> = args.into_iter().collect();
    if job::cli::is_version_request(&args) {
        return print_version();
    }
    if let Some(request) = CompletionRequest::from_call(&args, &env) {
        return commands::print_candidates(request, env);
    }
    match job::cli::parse(args.clone()) {
        Ok(cli) => commands::run_command(cli, env),
        Err(error) => print_argument_error(error, &args, &env),
    }
}

/// Prints the help text or the error in the arguments. In CI, the error is an annotation if the host has annotations.
fn print_argument_error(error: clap::Error, args: &[OsString], env: &env::Env) -> exit::ExitStatus {
    let flags = GlobalArgs {
        color: job::cli::find_requested_color(args),
        ..GlobalArgs::default()
    };
    let color = job::settings::resolve_color_choice(&flags, env).unwrap_or_default();
    let (is_quiet, is_ci) = (false, false);
    let ui = ui::Ui::new(is_quiet, color, is_ci);
    if !error.use_stderr() {
        return conclude_print(ui, error.print());
    }
    let message = job::cli::describe_usage_error(error, args);
    let has_verdict = job::cli::has_verdict_command(args);
    if !session::step_report::report_usage_error(env, &message, has_verdict) {
        ui.print_usage_error(&message);
    }
    // A request to the CI host may take long, so the error is printed first.
    if let Some(call) = job::cli::RejectedCall::from_args(args) {
        replace_files_of_rejected_call(call, env.clone(), &message);
    }
    exit::ExitStatus::Usage
}

/// Replaces or removes the files that an earlier run left at the destinations of a call whose arguments are invalid.
/// The first paragraph of `message` describes the invalid argument.
fn replace_files_of_rejected_call(call: job::cli::RejectedCall, mut env: env::Env, message: &str) {
    // The paths of a call in a directory that does not exist are unknown.
    if let Some(directory) = &call.cli.global.directory
        && env.change_directory(directory).is_err()
    {
        return;
    }
    let other_inputs = call.list_possible_files();
    let job::cli::Cli { global, command } = call.cli;
    let paragraph = message.lines().take_while(|line| !line.is_empty());
    let reason = paragraph.map(str::trim).collect::<Vec<_>>().join(" ");
    let reason = reason.strip_prefix("error: ").unwrap_or(&reason);
    let failure = error::Failure::usage(format!("invalid arguments: {reason}"));
    let color = job::settings::resolve_color_choice(&global, &env).unwrap_or_default();
    let ui = ui::Ui::new(global.quiet, color, session::has_ci_variables(&env));
    session::signals::run_until_signal(
        ui,
        |_, _, _| false,
        move |signals| {
            let title = session::step_report::failure_title(&command);
            let mut session = session::Session::new(env, global, ui, signals, title);
            session.set_job_annotations(session::step_report::requested_annotations(&session, &command));
            delivery::early_failure::replace_files_of_rejected_call(
                &session,
                &command,
                other_inputs,
                &failure,
            );
            failure.status()
        },
    );
}

/// Prints the program's name and version.
fn print_version() -> exit::ExitStatus {
    let (is_quiet, is_ci) = (false, false);
    let ui = ui::Ui::new(is_quiet, ui::ColorChoice::default(), is_ci);
    let text = format!("sluicegate {}\n", env!("CARGO_PKG_VERSION"));
    conclude_print(ui, std::io::stdout().write_all(text.as_bytes()))
}

/// Returns the exit status of a text that was printed on standard output, and reports a failure to write it.
fn conclude_print(ui: ui::Ui, result: std::io::Result<()>) -> exit::ExitStatus {
    match ui::accept_closed_output(result) {
        Ok(()) => exit::ExitStatus::Success,
        Err(failure) => ui.print_failure(&failure),
    }
}
