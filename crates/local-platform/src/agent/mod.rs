//! The simulated agent (API document, "Agent task" and "States and transitions").
//!
//! The agent acts out the steps of an agent, so that a client meets every state. Its behavior follows from the
//! instruction and the time alone: a task is a state that is advanced to a given time and emits the messages that are
//! due. Therefore nothing runs in the background, and a restart does not interrupt a task.
//!
//! The agent changes nothing, with one exception: an instruction that lists findings (`fix_order`) is carried out for
//! two rules (`pipeline_fix`). The branch is pushed to the project's repository when a request first sees that the push
//! is due (`branch_push`).

mod branch_push;
mod decision;
mod fix_order;
mod message;
mod pipeline_fix;
mod task;
mod task_config;
mod tool_selection;
mod tools;

pub(super) use branch_push::push_branch;
pub(super) use decision::{DecisionOutcome, OpenDecision, SubmittedAnswer, SubmittedDecision};
pub(super) use message::Message;
pub(super) use task::AgentTask;
pub(super) use task_config::{AgentMode, TaskConfig, TaskStatus};
pub(super) use tools::{TOOLS, find_acceptance_event};
