//! `sluicegate waivers prune`.

use super::Waived;
use crate::commands::Run;
use crate::error::Failure;
use crate::git::Snapshot;
use crate::text::{self, count};
use crate::waivers::{FILE_NAME, Standing, remove};

pub(super) fn prune(run: &Run, snapshot: &Snapshot<'_>, mut file: Waived) -> Result<(), Failure> {
    let standings = file.standings(snapshot)?;
    let goes: Vec<bool> = standings.iter().copied().map(Standing::is_vain).collect();
    let gone = file.placed.iter().zip(&goes).filter(|(_, goes)| **goes);
    let gone: Vec<String> = gone.map(|(placed, _)| placed.entry.in_words()).collect();
    if gone.is_empty() {
        run.ui.say(&format!("nothing to remove from {FILE_NAME}"));
        return Ok(());
    }
    file.write(remove(&file.text, &goes))?;
    let lines: Vec<String> = gone
        .iter()
        .map(|entry| format!("  {}\n", text::line(entry)))
        .collect();
    run.ui.out(&format!(
        "{} removed from {FILE_NAME}\n{}",
        count(gone.len(), "waiver"),
        lines.concat()
    ))
}
