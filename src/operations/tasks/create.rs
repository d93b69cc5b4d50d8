//! Runs `sluicegate tasks create` and `send`, which start a turn of the agent.

use super::task_wait::{TaskWait, fetch_task_before_resume};
use super::{TASK_CHECK_INSTRUCTION, read_message, task_request_failure};
use crate::error::Failure;
use crate::job::cli::{CreateTaskArgs, MessageArgs, OutputArgs, WaitArgs};
use crate::session::resource::{RemoteProject, created_without_id_failure};
use crate::session::resource_lookup::creation_failure;
use crate::session::response_output;
use crate::session::{CommandResult, Session};
use sluicegate_base::text;
use sluicegate_platform::api::{AGENT_NAME, AgentConfig, FollowUp, NewTask, Permission};
use sluicegate_platform::follow::send_change;

/// Creates a task for an agent. With `--wait`, follows it until it ends.
pub(crate) fn create_task(session: &Session, args: CreateTaskArgs) -> CommandResult {
    let sources = session.read_setting_sources()?;
    let environment = sources.resolve_environment(args.environment)?;
    let wait = TaskWait::from_args(session, &args.wait)?;
    let message = read_message(session, &args.message)?;
    let RemoteProject {
        platform,
        id: project,
    } = session.create_project_client()?;
    let task = NewTask {
        message,
        agent_config: AgentConfig {
            name: Some(AGENT_NAME.to_owned()),
            mode: Some(args.mode.to_uppercase()),
            project_id: Some(project.to_string()),
            source_branch_name: Some(args.source_branch),
            environment_name: Some(environment),
            target_branch_name: args.target_branch,
            generate_branch: args.generate_branch.then_some(true),
            graph_id: args.graph_id,
            working_directory: args.working_directory,
        },
        granted_permissions: args.grant.iter().map(Permission::from).collect(),
    };
    session.block_on(async {
        // With `--wait`, its time limit also applies to the creation.
        let pace = wait.as_ref().map(|wait| &wait.pace);
        let response = send_change(pace, platform.create_task(&task))
            .await
            .map_err(|error| creation_failure(error, TASK_CHECK_INSTRUCTION))?;
        let id = response.task_id.as_deref().ok_or_else(|| {
            created_without_id_failure(
                "the task was created, but the response contains no usable taskId",
                TASK_CHECK_INSTRUCTION,
            )
        })?;
        let Some(wait) = wait else {
            return session.print_response(args.output, &response.raw, || {
                response_output::format_headline_and_fields(&format!("created task {id}"), &response.raw)
            });
        };
        session.ui.say(&format!("created task {id}"));
        // A new task has no state from before this command.
        let earlier_state = None;
        wait.follow_task(session, &platform, id, earlier_state, args.output)
            .await
    })?
}

/// Builds a message to an existing task, with the text from the flags or from a file. The agent's configuration, with
/// its required name, is included only if the mode or the target branch changes.
pub(crate) fn build_follow_up(
    session: &Session,
    args: &MessageArgs,
    mode: Option<String>,
    target_branch: Option<String>,
    grant: &[String],
) -> Result<FollowUp, Failure> {
    let has_overrides = mode.is_some() || target_branch.is_some();
    Ok(FollowUp {
        message: read_message(session, args)?,
        granted_permissions: grant.iter().map(Permission::from).collect(),
        agent_config: has_overrides.then(|| AgentConfig {
            name: Some(AGENT_NAME.to_owned()),
            mode: mode.map(|mode| mode.to_uppercase()),
            target_branch_name: target_branch,
            ..AgentConfig::default()
        }),
    })
}

/// Sends a message to a task. With `--wait`, follows the task until it has answered.
pub(crate) fn send_message(
    session: &Session,
    id: &str,
    message: &FollowUp,
    wait_args: &WaitArgs,
    output: OutputArgs,
) -> CommandResult {
    let wait = TaskWait::from_args(session, wait_args)?;
    let platform = session.create_account_client()?;
    session.block_on(async {
        // The wait needs the state before the message, because the platform may report the old status for a while.
        let earlier_task = fetch_task_before_resume(&platform, id, wait.as_ref()).await?;
        let pace = wait.as_ref().map(|wait| &wait.pace);
        let response = match send_change(pace, platform.send_task_message(id, message)).await {
            Ok(response) => response,
            Err(error) => return Err(task_request_failure(&platform, id, error).await),
        };
        let Some(wait) = wait else {
            return session.print_response(output, &response.raw, || {
                text::escape_line(&format!("sent the message to task {id}")) + "\n"
            });
        };
        // A message decides nothing.
        let decided_ids = Vec::new();
        let earlier_state = earlier_task.map(|task| (task, decided_ids));
        wait.follow_task(session, &platform, id, earlier_state, output)
            .await
    })?
}
