//! Replaces the files that an earlier run, or the change, left at the destinations of a call whose arguments are invalid.
//! The host would otherwise take them for results of this run.

use super::run_opening::NamedDestinations;
use super::unfinished_files::{record_failure_in_reports, replace_files_named_by_flags};
use crate::env::Env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{Cli, Command};
use crate::job::context::{DeepenSubject, RequestedRevisions};
use crate::job::policy::CheckoutFiles;
use crate::session::{Run, is_ci, signals, step_report};
use crate::ui::{ColorChoice, Ui};

/// Replaces the files of an earlier run at the destinations of the call, and writes the verdict of a review to the step
/// outputs. `cli` has only the arguments that name files. `message` is the usage error, which the user has already seen.
pub(crate) fn replace_files_of_invalid_call(cli: Cli, mut env: Env, message: String) {
    if let Some(directory) = &cli.global.directory
        && env.change_directory(directory).is_err()
    {
        return;
    }
    let is_quiet = true;
    let ui = Ui::new(is_quiet, ColorChoice::Auto, is_ci(&env));
    signals::run_until_signal(ui, move |signals| {
        let title = step_report::failure_title(&cli.command);
        let annotations = None;
        let run = Run::new(env, cli.global, ui, signals, title, annotations);
        replace_old_files(&run, &cli.command, &message);
        ExitStatus::Usage
    });
}

/// Replaces the files of an earlier run at the destinations of this command by undecided ones with the reason, or
/// removes them, and writes the verdict of a review to the step outputs.
fn replace_old_files(run: &Run, command: &Command, message: &str) {
    // The only possible error is that the call would overwrite a file that it reads; such a file stays unchanged.
    let _ = replace_files_named_by_flags(run, command);
    replace_files_named_by_policy(run, command);
    run.write_undecided_output();
    record_failure_in_reports(run, &build_failure(message));
}

/// Replaces the files that the gate configuration names, and the reports at the paths where the host looks for them.
fn replace_files_named_by_policy(run: &Run, command: &Command) {
    let destinations = match command {
        Command::Review(args) => NamedDestinations::for_review(run, args, None),
        Command::Ci(args) => NamedDestinations::for_review(run, &args.review, Some(&args.publish)),
        Command::Check(args) => NamedDestinations {
            reports: &args.gate.destinations,
            publish: None,
            attestation: None,
            is_dry: false,
        },
        Command::Report(args) => return run.replace_default_reports(&args.destinations),
        Command::Publish(args) => {
            if let Ok(workspace) = run.open_workspace() {
                // As above, a file that the call reads stays unchanged.
                let _ = run.replace_publish_files_named_by_policy(&workspace, args);
            }
            return;
        }
        _ => return,
    };
    let repo = run.open_repository_for_paths(&[]);
    // An error in the repository or its configuration is not reported, because the usage error comes first.
    let _ = destinations.replace_reports_and_open(run, repo, CheckoutFiles::OnDisk, |_| {
        Ok((RequestedRevisions::default(), DeepenSubject::Checkout))
    });
}

/// Builds the failure with the first line of a usage error, which states the cause, and with its hint.
fn build_failure(message: &str) -> Failure {
    let first_line = message.lines().next().unwrap_or_default();
    let failure = Failure::usage(first_line.strip_prefix("error: ").unwrap_or(first_line));
    match message.lines().find_map(|line| line.strip_prefix("hint: ")) {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
