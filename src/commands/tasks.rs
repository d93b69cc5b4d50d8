//! Runs `sluicegate tasks`.

use crate::job::cli::TasksVerb;
use crate::operations::tasks::{
    create, decide, delete_task, list, messages, permissions, show_task, stop_task,
};
use crate::session::{CommandResult, Session};

/// Runs `sluicegate tasks`: creates, follows, answers, stops and deletes the tasks of agents.
pub(crate) fn run(session: &Session, verb: TasksVerb) -> CommandResult {
    match verb {
        TasksVerb::Create(args) => create::create_task(session, args),
        TasksVerb::Send {
            id,
            message,
            mode,
            target_branch,
            grant,
            wait,
            output,
        } => {
            let message = create::build_follow_up(session, &message, mode, target_branch, &grant)?;
            create::send_message(session, &id, &message, &wait, output)
        }
        TasksVerb::List(args) => list::print_tasks(session, args),
        TasksVerb::Show(args) => show_task(session, &args),
        TasksVerb::Messages {
            id,
            follow,
            limit,
            pace,
            output,
        } => messages::print_messages(session, &id, usize::from(limit), follow.then_some(&pace), output),
        TasksVerb::Decide(args) => decide::send_task_decisions(session, &args),
        TasksVerb::Stop(args) => stop_task(session, &args),
        TasksVerb::Delete(args) => delete_task(session, &args),
        TasksVerb::Permissions { id, tools, output } => {
            permissions::replace_permissions(session, &id, &tools.grant, output)
        }
    }
}
