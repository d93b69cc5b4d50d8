//! Runs `sluicegate waivers prune`.

use super::Waived;
use super::list::placed_as_json;
use crate::error::Failure;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::session::Run;
use crate::session::output::json;
use sluicegate_base::text::{self, count};
use sluicegate_git::Snapshot;
use sluicegate_pipelines::waivers::{FILE_NAME, PlacedWaiver, WaiverStatus, remove_entries};

pub(crate) fn prune(
    run: &Run,
    snapshot: &Snapshot<'_>,
    mut file: Waived,
    output: OutputArgs,
) -> Result<(), Failure> {
    let standings = file.standings(snapshot)?;
    let goes: Vec<bool> = standings.iter().copied().map(WaiverStatus::is_unneeded).collect();
    let all = file.placed.iter().zip(standings);
    let gone: Vec<(&PlacedWaiver, WaiverStatus)> =
        all.filter(|(_, standing)| standing.is_unneeded()).collect();
    if gone.is_empty() {
        run.ui.say(&format!("nothing to remove from {FILE_NAME}"));
    } else {
        file.write(remove_entries(&file.text, &goes))?;
    }
    match output.output {
        OutputFormat::Json => run
            .ui
            .print_result(&json(&gone.into_iter().map(placed_as_json).collect())),
        OutputFormat::Text if gone.is_empty() => Ok(()),
        OutputFormat::Text => run.ui.print_result(&words(&gone)),
    }
}

fn words(gone: &[(&PlacedWaiver, WaiverStatus)]) -> String {
    let line =
        |(placed, _): &(&PlacedWaiver, WaiverStatus)| format!("  {}\n", text::line(&placed.entry.describe()));
    let lines: String = gone.iter().map(line).collect();
    format!(
        "{} removed from {FILE_NAME}\n{lines}",
        count(gone.len(), "waiver")
    )
}
