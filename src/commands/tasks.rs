//! Runs `sluicegate tasks`.

use crate::job::cli::TasksVerb;
use crate::operations::tasks::{
    create, decide, delete_task, list, messages, permissions, show_task, stop_task,
};
use crate::session::{CommandResult, Run};

/// Runs `sluicegate tasks`: creates, follows, answers, stops and deletes the tasks of agents.
pub(crate) fn run(run: &Run, verb: TasksVerb) -> CommandResult {
    match verb {
        TasksVerb::Create(args) => create::create_task(run, args),
        TasksVerb::Send {
            id,
            message,
            mode,
            target_branch,
            grant,
            wait,
            output,
        } => {
            let message = create::build_follow_up(run, &message, mode, target_branch, &grant)?;
            create::send_message(run, &id, &message, &wait, output)
        }
        TasksVerb::List(args) => list::print_tasks(run, args),
        TasksVerb::Show(args) => show_task(run, &args),
        TasksVerb::Messages {
            id,
            follow,
            limit,
            pace,
            output,
        } => messages::print_messages(run, &id, usize::from(limit), follow.then_some(&pace), output),
        TasksVerb::Decide(args) => decide::send_task_decisions(run, &args),
        TasksVerb::Stop(args) => stop_task(run, &args),
        TasksVerb::Delete(args) => delete_task(run, &args),
        TasksVerb::Permissions { id, tools, output } => {
            permissions::replace_permissions(run, &id, &tools.grant, output)
        }
    }
}
