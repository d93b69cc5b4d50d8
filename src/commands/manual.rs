//! Generates files about the program for other programs: schema and completion scripts.

use crate::exit::ExitStatus;
use crate::job::cli::{self, SchemaDocument};
use crate::operations::schemas::load_schema;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Run};
use clap_complete::Shell;

/// Prints the JSON schema of a document.
pub(crate) fn print_schema(run: &Run, document: SchemaDocument) -> CommandResult {
    run.ui.print_result(&format_json(&load_schema(document)))?;
    Ok(ExitStatus::Success)
}

/// Prints the completions for this shell.
pub(crate) fn print_completions(run: &Run, shell: Shell) -> CommandResult {
    let mut script = Vec::new();
    clap_complete::generate(
        shell,
        &mut cli::build_completions_tree(),
        "sluicegate",
        &mut script,
    );
    run.ui.print_result(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Success)
}
