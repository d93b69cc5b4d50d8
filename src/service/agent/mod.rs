//! The simulated agent (API document, "Agent task" and "States and transitions").
//!
//! It changes nothing; it acts out what an agent would do, so that a client meets every state. What it does follows
//! from the message and the time alone: a task is a state that is moved on to a time, by which it says its messages.
//! So nothing runs in the background, and a restart interrupts nothing.

mod decision;
mod plan;
mod task;
mod tools;

pub(super) use decision::{GivenAnswer, GivenDecision, OpenDecision, Verdict};
pub(super) use task::{AgentMode, AgentTask, Message, TaskConfig, TaskStatus};
pub(super) use tools::{TOOLS, acceptance_of};
