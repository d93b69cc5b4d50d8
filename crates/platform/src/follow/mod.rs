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

use crate::http::HttpError;

pub use executions::{APPEARANCE_LIMIT, poll_execution};
pub use messages::MessageReader;
pub use pace::{Pace, send_change};
pub use streaming::poll_streaming_status;
pub use tasks::{ApprovalPolicy, TaskEnd, TaskEvent, approval_scope, follow_task_to_end};

/// Creates the error for a wait that ended before any response arrived.
pub fn no_response_error() -> HttpError {
    HttpError::timeout("no response arrived within the timeout")
        .with_hint("pass a longer --timeout to keep waiting: the operation may still be running")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PollEnd {
    Succeeded,
    Failed,
    /// The deadline passed before the end.
    Deadline,
}
