//! Runs `sluicegate schema`.

use crate::exit::ExitStatus;
use crate::job::cli::SchemaDocument;
use crate::operations::schemas::load_schema;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};

/// Prints the JSON schema of a document.
pub(crate) fn run(session: &Session, document: SchemaDocument) -> CommandResult {
    session.ui.print_result(&format_json(&load_schema(document)))?;
    Ok(ExitStatus::Success)
}
