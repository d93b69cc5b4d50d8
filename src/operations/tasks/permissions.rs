//! Runs `sluicegate tasks permissions`.

use super::task_request_failure;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OutputArgs;
use crate::session::{CommandResult, Session};
use sluicegate_base::text;
use sluicegate_platform::api::{Permission, Permissions};

/// Replaces the tools that a task may use without asking, prints them, and checks that the platform applied the change.
pub(crate) fn replace_permissions(
    session: &Session,
    id: &str,
    tools: &[String],
    output: OutputArgs,
) -> CommandResult {
    let platform = session.create_account_client()?;
    let permissions: Vec<Permission> = tools.iter().map(Permission::from).collect();
    session.block_on(async {
        let response = match platform.set_task_permissions(id, &permissions).await {
            Ok(response) => response,
            Err(error) => return Err(task_request_failure(&platform, id, error).await),
        };
        session.print_response(output, &response.raw, || describe_permissions(id, &response))?;
        check_granted_tools(id, tools, &response)
    })?
}

/// Returns the names of the tools that the task may use according to the response; `None` if the response has no list.
fn list_granted_tools(response: &Permissions) -> Option<Vec<&str>> {
    let permissions = response.granted_permissions.as_ref()?;
    Some(
        permissions
            .iter()
            .map(|permission| permission.tool_name.as_str())
            .collect(),
    )
}

/// Describes which tools the task may use now without asking.
fn describe_permissions(id: &str, response: &Permissions) -> String {
    let names = match list_granted_tools(response) {
        None => return text::escape_line(&format!("the permissions of task {id} were sent")) + "\n",
        Some(names) if names.is_empty() => "no tool".to_owned(),
        Some(names) => names.join(", "),
    };
    text::escape_line(&format!("task {id} may use {names} without asking")) + "\n"
}

/// Fails if the tools that the platform granted differ from the requested ones.
fn check_granted_tools(id: &str, requested_tools: &[String], response: &Permissions) -> CommandResult {
    let Some((status, message)) = compare_permissions(requested_tools, response) else {
        return Ok(ExitStatus::Success);
    };
    let id_word = text::quote_shell_word(id);
    let hint = format!("run `sluicegate tasks show {id_word}` to see the current permissions");
    Err(Failure::from_message(status, message).with_hint(hint))
}

/// Describes how the granted tools differ from the requested ones, and returns the exit status for it; `None` if they
/// are equal. The result is undecided if the response has no list.
fn compare_permissions(requested_tools: &[String], response: &Permissions) -> Option<(ExitStatus, String)> {
    let Some(granted_tools) = list_granted_tools(response) else {
        let message = "the response does not list the granted permissions";
        return Some((ExitStatus::Undecided, message.to_owned()));
    };
    let missing_tools: Vec<&str> = requested_tools
        .iter()
        .map(String::as_str)
        .filter(|tool| !granted_tools.contains(tool))
        .collect();
    if !missing_tools.is_empty() {
        let message = format!("the platform did not grant {}", missing_tools.join(", "));
        return Some((ExitStatus::RemoteFailed, message));
    }
    let extra_tools: Vec<&str> = granted_tools
        .into_iter()
        .filter(|tool| !requested_tools.iter().any(|name| name == tool))
        .collect();
    (!extra_tools.is_empty()).then(|| {
        let message = format!("the platform did not revoke {}", extra_tools.join(", "));
        (ExitStatus::RemoteFailed, message)
    })
}
