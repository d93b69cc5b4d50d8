//! The settings that a review needs and that the configuration file may set.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::settings::Connection;
use crate::workspace::gate_file_problems::{GatePart, UnusableGateFiles};

/// Fails if the project or the agent version is not set. If the change makes the configuration file unusable, which may
/// set both, the gate fails.
pub(super) fn require_file_settings(
    connection: &Connection,
    unusable_files: &UnusableGateFiles,
) -> Result<(), Failure> {
    let agent_version = connection.require_agent_version();
    let Some(error) = connection.require_project_id().err().or(agent_version.err()) else {
        return Ok(());
    };
    let is_caused_by_change = connection.has_unusable_file()
        && unusable_files.has_problem(GatePart::Settings)
        && unusable_files.new_problems().next().is_some();
    Err(if is_caused_by_change {
        Failure::from(error).with_status(ExitStatus::GateFailed)
    } else {
        error.into()
    })
}
