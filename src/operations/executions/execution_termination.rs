//! Terminates an execution, and reports its end or that it had ended before.

use super::start_pace;
use crate::error::Failure;
use crate::job::cli::{CancelArgs, OutputArgs, PaceArgs};
use crate::session::watched_execution::{
    WatchedExecution, execution_request_failure, print_last_state, report_last_state,
};
use crate::session::{CommandResult, Session};
use sluicegate_base::text;
use sluicegate_platform::follow::{PollEnd, send_change};
use sluicegate_platform::http::request_for_hint;

/// Requests the platform to terminate an execution, unless it has already ended. With `wait_args` (`--wait`), waits for
/// the end of the execution and prints its last state. Without them, only prints that the termination was requested,
/// and the state if the response is empty.
pub(crate) fn terminate_execution(
    session: &Session,
    id: &str,
    cancel: &CancelArgs,
    wait_args: Option<&PaceArgs>,
    output: OutputArgs,
) -> CommandResult {
    let status = session
        .read_setting_sources()?
        .resolve_cancel_status(cancel.cancel_status.clone())?;
    let project = session.create_project_client()?;
    let pace = wait_args.map(|pace| start_pace(session, pace)).transpose()?;
    session.block_on(async {
        // The platform's response to a termination does not show that the execution had ended before.
        let first_response = request_for_hint(project.platform.fetch_execution(project.id, id)).await;
        let first_state = first_response.map(|response| WatchedExecution::from_response(id, response));
        if let Some(execution) = first_state.filter(WatchedExecution::has_ended) {
            return print_uncancelled_execution(session, &execution, output);
        }
        let request = project
            .platform
            .terminate_execution(project.id, id, &status, cancel.force);
        let response = match send_change(pace.as_ref(), request).await {
            Ok(response) => response,
            Err(error) => {
                let ended_execution =
                    WatchedExecution::find_end_after_refusal(session, &project, id, &error, pace).await;
                return match ended_execution {
                    Some(execution) if error.has_maybe_processed_try() => {
                        print_terminated_execution(session, execution, output)
                    }
                    Some(execution) => print_uncancelled_execution(session, &execution, output),
                    None => Err(execution_request_failure(&project, id, error).await),
                };
            }
        };
        let message = format!("requested the termination of execution {id}");
        match (pace, response) {
            (Some(pace), _) => {
                let execution = WatchedExecution::follow(session, &project, id, pace).await?;
                print_terminated_execution(session, execution, output)
            }
            (None, Some(response)) => {
                session.print_response(output, &response.raw, || text::escape_line(&message) + "\n")
            }
            (None, None) => {
                let response = project.platform.fetch_execution(project.id, id).await;
                let response = response.map_err(|error| {
                    Failure::from(error).context(format!("{message}, but could not read its state"))
                })?;
                session.ui.say(&message);
                print_last_state(session, &WatchedExecution::from_response(id, response), output)
            }
        }
    })?
}

/// Prints the last state of an execution after the wait for its termination. The execution was meant to end, so its end
/// is a success in every state.
fn print_terminated_execution(
    session: &Session,
    execution: WatchedExecution,
    output: OutputArgs,
) -> CommandResult {
    match execution.end {
        PollEnd::Deadline => report_last_state(session, &execution.with_requested_termination(), output),
        PollEnd::Succeeded => print_uncancelled_execution(session, &execution, output),
        PollEnd::Failed => print_last_state(session, &execution, output),
    }
}

/// Prints the state of an execution that ended before it could be terminated.
fn print_uncancelled_execution(
    session: &Session,
    execution: &WatchedExecution,
    output: OutputArgs,
) -> CommandResult {
    execution.warn_that_nothing_was_canceled(session);
    print_last_state(session, execution, output)
}
