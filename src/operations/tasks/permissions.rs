//! Runs `sluicegate tasks permissions`.

use super::{no_task, platform};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::OutputArgs;
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_platform::api::{Permission, Permissions};

pub(crate) fn replace(run: &Run, id: &str, tools: &[String], output: OutputArgs) -> CommandResult {
    let platform = platform(run)?;
    let granted: Vec<Permission> = tools.iter().map(Permission::from).collect();
    run.requests(async {
        let answer = match platform.set_task_permissions(id, &granted).await {
            Ok(answer) => answer,
            Err(error) => return Err(no_task(&platform, id, error).await),
        };
        run.show(output, &answer.raw, || words(id, &answer))?;
        held(id, tools, &answer)
    })?
}

fn names(answer: &Permissions) -> Option<Vec<&str>> {
    let granted = answer.granted_permissions.as_ref()?;
    Some(granted.iter().map(|it| it.tool_name.as_str()).collect())
}

fn words(id: &str, answer: &Permissions) -> String {
    let names = match names(answer) {
        None => return text::escape_line(&format!("the permissions of the task {id} were sent")) + "\n",
        Some(names) if names.is_empty() => "no tool".to_owned(),
        Some(names) => names.join(", "),
    };
    text::escape_line(&format!("the task {id} may use {names} without asking")) + "\n"
}

/// Checks that the task now has the requested permissions and no others.
fn held(id: &str, asked: &[String], answer: &Permissions) -> CommandResult {
    let failed = |status, said: String| {
        let hint = format!("run `sluicegate tasks show {id}` to see the current permissions");
        Err(Failure::new(status, anyhow::Error::msg(said)).hint(hint))
    };
    let Some(names) = names(answer) else {
        let said = "the response does not list the granted permissions";
        return failed(ExitStatus::Undecided, said.to_owned());
    };
    let missing: Vec<&str> = asked
        .iter()
        .map(String::as_str)
        .filter(|tool| !names.contains(tool))
        .collect();
    if !missing.is_empty() {
        let said = format!("the platform did not grant {}", missing.join(", "));
        return failed(ExitStatus::RemoteFailed, said);
    }
    let kept: Vec<&str> = names
        .into_iter()
        .filter(|tool| !asked.iter().any(|it| it == tool))
        .collect();
    if kept.is_empty() {
        return Ok(ExitStatus::Success);
    }
    let said = format!("the platform did not revoke {}", kept.join(", "));
    failed(ExitStatus::RemoteFailed, said)
}
