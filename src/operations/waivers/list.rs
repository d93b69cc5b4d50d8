//! Runs `sluicegate waivers list`.

use super::{Waived, as_json};
use crate::error::Failure;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::Run;
use crate::session::output::{json, table_within};
use serde_json::Value;
use sluicegate_git::Snapshot;
use sluicegate_pipelines::waivers::{FILE_NAME, PlacedWaiver, WaiverStatus};

pub(crate) fn list(
    run: &Run,
    snapshot: &Snapshot<'_>,
    mut file: Waived,
    output: OutputArgs,
) -> Result<(), Failure> {
    let standings = file.standings(snapshot)?;
    let all = file.placed.iter().zip(standings);
    let shown = match output.output {
        OutputFormat::Json => json(&Value::Array(all.map(placed_as_json).collect())),
        OutputFormat::Text if file.placed.is_empty() => format!("{FILE_NAME} has no waivers\n"),
        OutputFormat::Text => table_within(
            &["state", "rule", "path", "about", "until", "owner", "reason"],
            &all.map(row).collect::<Vec<_>>(),
            run.ui.width(),
        ),
    };
    run.ui.print_result(&shown)
}

const fn state(standing: WaiverStatus) -> &'static str {
    match standing {
        WaiverStatus { is_expired: true, .. } => "expired",
        WaiverStatus { is_matched: true, .. } => "used",
        WaiverStatus {
            is_conclusive: true, ..
        } => "unused",
        _ => "not judged",
    }
}

/// Returns a waiver of the file as JSON, with its state and line.
pub(crate) fn placed_as_json((placed, standing): (&PlacedWaiver, WaiverStatus)) -> Value {
    let mut shown = as_json(&placed.entry);
    shown["state"] = state(standing).into();
    shown["line"] = placed.position.line.into();
    shown
}

fn row((placed, standing): (&PlacedWaiver, WaiverStatus)) -> Vec<String> {
    let entry = &placed.entry;
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    let size = entry.size.map(|size| format!("up to {size}"));
    vec![
        state(standing).to_owned(),
        entry.rule.clone(),
        entry.path.clone(),
        or_none(entry.about.clone().or(size)),
        or_none(entry.last_day.map(|until| until.to_string())),
        or_none(entry.owner.clone()),
        entry.reason.clone(),
    ]
}
