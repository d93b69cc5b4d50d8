//! Runs `sluicegate completions`, and prints the candidates that the completion scripts request.

use crate::env::Env;
use crate::exit::ExitStatus;
use crate::job::cli::GlobalArgs;
use crate::operations::completions::{CompletionRequest, render_completion_script};
use crate::session::{CommandResult, Session, has_ci_variables, signals};
use crate::ui::{ColorChoice, Ui};
use clap_complete::Shell;

/// Prints the completion script for the shell.
pub(crate) fn run(session: &Session, shell: Shell) -> CommandResult {
    session.ui.print_result(&render_completion_script(shell)?)?;
    Ok(ExitStatus::Success)
}

/// Prints the candidates for a word to a completion script. A failure prints neither candidates nor a message, because
/// a message would appear in the line that the user edits.
pub(crate) fn print_candidates(request: CompletionRequest, env: Env) -> ExitStatus {
    let is_quiet = true;
    let ui = Ui::new(is_quiet, ColorChoice::Never, has_ci_variables(&env));
    let annotate = |_, _, _: &str| false;
    signals::run_until_signal(ui, annotate, move |signals| {
        let session = Session::new(env, GlobalArgs::default(), ui, signals, "Completion failed");
        match request.print_candidates(session) {
            Ok(()) => ExitStatus::Success,
            Err(failure) => failure.status(),
        }
    })
}
