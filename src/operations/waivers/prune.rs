//! Runs `sluicegate waivers prune`.

use super::WaiversFile;
use super::list::waiver_to_json;
use crate::error::Failure;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::Session;
use crate::session::response_output::format_json;
use crate::workspace::Workspace;
use sluicegate_base::text::{self, format_count};
use sluicegate_git::Snapshot;
use sluicegate_pipelines::waivers::{FILE_NAME, PlacedWaiver, WaiverStatus, remove_entries};
use std::fmt::Write as _;

/// Removes the waivers that are expired or match no finding, and prints them. A waiver stays if some of its files could
/// not be evaluated, except an expired waiver that matches a finding.
pub(crate) fn prune_waivers(
    session: &Session,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    mut waivers_file: WaiversFile,
    output: OutputArgs,
) -> Result<(), Failure> {
    let statuses = waivers_file.match_with_findings(workspace, snapshot)?;
    // One flag for each waiver of the file, in the same order.
    let removal_flags: Vec<bool> = statuses.iter().copied().map(WaiverStatus::is_unneeded).collect();
    let entries_with_status = waivers_file.entries.iter().zip(statuses);
    let removed_entries: Vec<(&PlacedWaiver, WaiverStatus)> = entries_with_status
        .filter(|(_, status)| status.is_unneeded())
        .collect();
    if removed_entries.is_empty() {
        session.ui.say(&format!("nothing to remove from {FILE_NAME}"));
    } else {
        waivers_file.write(remove_entries(&waivers_file.text, &removal_flags))?;
    }
    match output.output {
        OutputFormat::Json => session.ui.print_result(&format_json(
            &removed_entries
                .into_iter()
                .map(|(waiver, status)| waiver_to_json(waiver, status))
                .collect::<serde_json::Value>(),
        )),
        OutputFormat::Text if removed_entries.is_empty() => Ok(()),
        OutputFormat::Text => session
            .ui
            .print_result(&describe_removed_waivers(&removed_entries)),
    }
}

/// Describes how many waivers were removed, and lists them.
fn describe_removed_waivers(removed_entries: &[(&PlacedWaiver, WaiverStatus)]) -> String {
    let mut lines = String::new();
    for (waiver, _) in removed_entries {
        let _ = writeln!(lines, "  {}", text::escape_line(&waiver.entry.describe()));
    }
    format!(
        "{} removed from {FILE_NAME}\n{lines}",
        format_count(removed_entries.len(), "waiver")
    )
}
