//! Runs `sluicegate executions`.

use crate::error::Failure;
use crate::job::cli::{ExecutionsVerb, OutputArgs, PaceArgs};
use crate::operations::executions::execution_termination::terminate_execution;
use crate::operations::executions::start_pace;
use crate::session::resource::require_status;
use crate::session::response_output;
use crate::session::watched_execution::{
    WatchedExecution, execution_request_failure, list_execution_fields, report_last_state,
};
use crate::session::{CommandResult, Session};

/// Runs `sluicegate executions`: shows, waits for and terminates executions of pipelines.
pub(crate) fn run(session: &Session, verb: ExecutionsVerb) -> CommandResult {
    match verb {
        ExecutionsVerb::Show {
            id,
            wait: false,
            output,
            ..
        } => print_execution(session, &id, output),
        ExecutionsVerb::Show { id, pace, output, .. } => {
            let execution = session.block_on(follow_execution(session, &id, &pace))??;
            report_last_state(session, &execution, output)
        }
        ExecutionsVerb::Cancel {
            id,
            cancel,
            wait,
            pace,
            output,
        } => terminate_execution(session, &id, &cancel, wait.then_some(&pace), output),
    }
}

/// Prints the state of an execution as the platform reports it.
fn print_execution(session: &Session, id: &str, output: OutputArgs) -> CommandResult {
    let project = session.create_project_client()?;
    session.block_on(async {
        let response = match project.platform.fetch_execution(project.id, id).await {
            Ok(response) => response,
            Err(error) => return Err(execution_request_failure(&project, id, error).await),
        };
        require_status(response.result.status.as_ref())?;
        session.print_response(output, &response.raw, || {
            response_output::format_field_lines(&list_execution_fields(&response.raw).into())
        })
    })?
}

/// Waits for the end of an execution, within the time limit of the flags and settings.
async fn follow_execution(session: &Session, id: &str, pace: &PaceArgs) -> Result<WatchedExecution, Failure> {
    let pace = start_pace(session, pace)?;
    WatchedExecution::follow(session, &session.create_project_client()?, id, pace).await
}
