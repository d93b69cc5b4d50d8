//! Waiting for what goes on remotely: executions, streaming pipelines, agent tasks.
//!
//! The platform tells nobody, so it is asked again and again: at first soon, then less and less often, and never
//! beyond a deadline. What a status means is decided here, from the answer alone. A status that the API document does
//! not know is never taken for an end, and never for a success.

mod executions;
mod messages;
mod pace;
mod streams;
mod tasks;

use crate::platform::http::HttpError;

pub(crate) use executions::execution;
pub(crate) use messages::MessageReader;
pub(crate) use pace::{Pace, changed_in_time};
pub(crate) use streams::stream;
pub(crate) use tasks::{Policy, TaskEnd, Turn, scope_word, task};

/// The failure of a wait in which no answer came at all.
pub(crate) fn silent() -> HttpError {
    HttpError::late("no answer came within the time that was to be waited")
        .with_hint("it goes on; a longer wait can be asked for with --timeout")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    Good,
    Bad,
    /// Not at all before the deadline.
    Deadline,
}
