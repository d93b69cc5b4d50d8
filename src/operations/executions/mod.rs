//! Starts pipelines on the platform, and follows and terminates their executions.

pub(crate) mod execute;
pub(crate) mod execution_termination;
mod start_failure;

use crate::error::Failure;
use crate::job::cli::PaceArgs;
use crate::session::Session;
use sluicegate_platform::follow::Pace;

/// Default time to wait for the end of an execution, in seconds.
pub(crate) const DEFAULT_TIMEOUT_SECONDS: u64 = 3600;

/// Starts the clock of a wait. The flags and settings say how long to wait and how often to poll.
pub(crate) fn start_pace(session: &Session, pace: &PaceArgs) -> Result<Pace, Failure> {
    let poll_settings = session
        .read_setting_sources()?
        .resolve_poll_settings(pace, DEFAULT_TIMEOUT_SECONDS)?;
    Ok(Pace::new(poll_settings.first_interval, poll_settings.time_limit))
}
