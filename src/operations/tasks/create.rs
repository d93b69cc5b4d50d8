//! Runs `sluicegate tasks create` and `send`, which start a turn of the agent.

use super::wait::{TaskWait, told_to_go_on};
use super::{message, no_task, platform};
use crate::error::Failure;
use crate::job::cli::{CreateTaskArgs, MessageArgs, OutputArgs, WaitArgs};
use crate::session::resource::{RemoteProject, made_nameless, perhaps_made};
use crate::session::{CommandResult, Run};
use sluicegate_base::text;
use sluicegate_platform::api::{AGENT_NAME, AgentConfig, FollowUp, NewTask, Permission};
use sluicegate_platform::follow::send_before_deadline;

/// Hint to check whether a task was created.
const LOOK: &str = "run `sluicegate tasks list` to check";

pub(crate) fn create(run: &Run, args: CreateTaskArgs) -> CommandResult {
    let sources = run.sources()?;
    let environment = sources.environment(args.environment)?;
    let waiting = TaskWait::of(run, &args.wait)?;
    let said = message(run, &args.message)?;
    let RemoteProject {
        platform,
        id: project,
    } = run.project()?;
    let task = NewTask {
        message: said,
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
    run.requests(async {
        let pace = waiting.as_ref().map(|it| &it.pace);
        let made = send_before_deadline(pace, platform.create_task(&task))
            .await
            .map_err(|error| perhaps_made(error, LOOK))?;
        let Some(waiting) = waiting else {
            return run.show(args.output, &made.raw, || {
                let id = made.task_id.as_deref().unwrap_or("(without an id)");
                text::escape_line(&format!("created the task {id}")) + "\n"
            });
        };
        let id = made.task_id.as_deref().ok_or_else(|| {
            made_nameless("the task was created, but the response contains no taskId", LOOK)
        })?;
        run.ui.say(&format!("created the task {id}"));
        waiting.follow(run, &platform, id, None, args.output).await
    })?
}

/// Returns a follow-up message; it includes the agent's name if it overrides the agent's configuration.
pub(crate) fn follow_up(
    run: &Run,
    args: &MessageArgs,
    mode: Option<String>,
    target_branch: Option<String>,
    grant: &[String],
) -> Result<FollowUp, Failure> {
    let overridden = mode.is_some() || target_branch.is_some();
    Ok(FollowUp {
        message: message(run, args)?,
        granted_permissions: grant.iter().map(Permission::from).collect(),
        agent_config: overridden.then(|| AgentConfig {
            name: Some(AGENT_NAME.to_owned()),
            mode: mode.map(|mode| mode.to_uppercase()),
            target_branch_name: target_branch,
            ..AgentConfig::default()
        }),
    })
}

pub(crate) fn send(
    run: &Run,
    id: &str,
    message: &FollowUp,
    wait: &WaitArgs,
    output: OutputArgs,
) -> CommandResult {
    let waiting = TaskWait::of(run, wait)?;
    let platform = platform(run)?;
    run.requests(async {
        let before = told_to_go_on(&platform, id, waiting.as_ref()).await?;
        let pace = waiting.as_ref().map(|it| &it.pace);
        let sent = match send_before_deadline(pace, platform.send_task_message(id, message)).await {
            Ok(sent) => sent,
            Err(error) => return Err(no_task(&platform, id, error).await),
        };
        match waiting {
            None => run.show(output, &sent.raw, || {
                text::escape_line(&format!("sent the message to the task {id}")) + "\n"
            }),
            Some(waiting) => {
                let before = before.map(|task| (task, Vec::new()));
                waiting.follow(run, &platform, id, before, output).await
            }
        }
    })?
}
