//! The simulated agent (API document, "Agent task" and "States and transitions").
//!
//! The agent changes nothing. It acts out the steps of an agent, so that a client meets every state. Its behavior
//! follows from the instruction and the time alone: a task is a state that is advanced to a given time and emits the
//! messages that are due. Therefore nothing runs in the background, and a restart does not interrupt a task.

mod decision;
mod task;
mod tool_selection;
mod tools;

pub(super) use decision::{DecisionOutcome, OpenDecision, SubmittedAnswer, SubmittedDecision};
pub(super) use task::{AgentMode, AgentTask, Message, TaskConfig, TaskStatus};
pub(super) use tools::{TOOLS, find_acceptance_event};
