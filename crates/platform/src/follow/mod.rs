//! Waits for remote operations: executions, streaming pipelines, agent tasks.
//!
//! The platform does not send notifications, so it is polled: at first after short waits, then less and less often, and
//! never beyond a deadline. A status is interpreted here, from the response alone. A status that the API document does
//! not define is never treated as an end or a success.

mod executions;
mod messages;
mod pace;
mod streaming;
mod tasks;

pub use executions::{APPEARANCE_LIMIT, find_execution_end, poll_execution};
pub use messages::MessageReader;
pub use pace::{Pace, send_change};
pub use streaming::poll_streaming_status;
pub use tasks::{ApprovalPolicy, TaskEnd, TaskEvent, approval_scope, follow_task_to_end};

/// The end of a wait for an execution or a streaming pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollEnd {
    Succeeded,
    Failed,
    /// The deadline passed before the end.
    Deadline,
}
