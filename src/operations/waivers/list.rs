//! Runs `sluicegate waivers list`.

use super::{WaiversFile, entry_to_json};
use crate::error::Failure;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::Session;
use crate::session::response_output::{format_json, format_table_within};
use crate::workspace::Workspace;
use serde_json::Value;
use sluicegate_git::Snapshot;
use sluicegate_pipelines::waivers::{FILE_NAME, PlacedWaiver, WaiverEntry, WaiverStatus};

/// Prints the waivers in the file, each with its state: used, exceeded, unused, expired or not judged.
pub(crate) fn print_waivers(
    session: &Session,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    mut waivers_file: WaiversFile,
    output: OutputArgs,
) -> Result<(), Failure> {
    let statuses = waivers_file.match_with_findings(workspace, snapshot)?;
    let entries_with_status = waivers_file.entries.iter().zip(statuses);
    let text = match output.output {
        OutputFormat::Json => format_json(&Value::Array(
            entries_with_status
                .map(|(waiver, status)| waiver_to_json(waiver, status))
                .collect(),
        )),
        OutputFormat::Text if !waivers_file.path.exists() => format!("there is no {FILE_NAME}\n"),
        OutputFormat::Text if waivers_file.entries.is_empty() => format!("{FILE_NAME} has no waivers\n"),
        OutputFormat::Text => format_table_within(
            &["state", "rule", "path", "about", "until", "owner", "reason"],
            &entries_with_status
                .map(|(waiver, status)| format_row(&waiver.entry, status))
                .collect::<Vec<_>>(),
            session.ui.width(),
        ),
    };
    session.ui.print_result(&text)
}

/// Returns the name of the waiver's state. An exceeded waiver does not allow the size of any finding. If some of its
/// files could not be evaluated, an unmatched waiver is not judged.
const fn state_name(status: WaiverStatus) -> &'static str {
    match status {
        WaiverStatus { is_expired: true, .. } => "expired",
        status if status.is_matched() => "used",
        WaiverStatus { effect: Some(_), .. } => "exceeded",
        WaiverStatus {
            is_conclusive: true, ..
        } => "unused",
        _ => "not judged",
    }
}

/// Returns a waiver as JSON, with its state and its line in the file.
pub(crate) fn waiver_to_json(waiver: &PlacedWaiver, status: WaiverStatus) -> Value {
    let mut value = entry_to_json(&waiver.entry);
    value["state"] = state_name(status).into();
    value["line"] = waiver.position.line.into();
    value
}

/// Returns the table cells of a waiver.
fn format_row(entry: &WaiverEntry, status: WaiverStatus) -> Vec<String> {
    let size = entry.size.map(|size| format!("up to {size}"));
    vec![
        state_name(status).to_owned(),
        entry.rule.clone(),
        entry.path.clone(),
        format_optional_cell(entry.about.clone().or(size)),
        format_optional_cell(entry.last_day.map(|until| until.to_string())),
        format_optional_cell(entry.owner.clone()),
        entry.reason.clone(),
    ]
}

/// Returns the text of a table cell, or `-` if it has no value.
fn format_optional_cell(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}
