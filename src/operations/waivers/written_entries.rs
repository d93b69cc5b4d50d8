//! Writes new waivers to the waivers file, and reports them.

use super::WaiversFile;
use crate::error::Failure;
use crate::session::Session;
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::waivers::{self, FILE_NAME, WaiverEntry, remove_entries};
use std::collections::BTreeSet;

/// Maximum number of replaced waivers in the message.
const MAX_LISTED_WAIVERS: usize = 3;

/// Writes the waivers to the file, and prints how many are new or replace others. Waivers that are all in the file
/// already are not written again.
pub(super) fn write_entries(
    session: &Session,
    waivers_file: &WaiversFile,
    entries: &[WaiverEntry],
) -> Result<(), Failure> {
    let old_entries: BTreeSet<&WaiverEntry> =
        waivers_file.entries.iter().map(|waiver| &waiver.entry).collect();
    if !entries.is_empty() && entries.iter().all(|entry| old_entries.contains(entry)) {
        let verb = if entries.len() == 1 { "is" } else { "are" };
        session.ui.say(&format!(
            "{} {verb} already in {FILE_NAME}",
            format_count(entries.len(), "waiver")
        ));
        return Ok(());
    }
    let replaced_entries = add_or_replace_entries(waivers_file, entries)?;
    session
        .ui
        .say(&describe_written_entries(entries.len(), &replaced_entries));
    Ok(())
}

/// Describes how many waivers were written, and shows those that they replaced, because their reason, owner and last
/// day are no longer in the file.
fn describe_written_entries(written_count: usize, replaced_entries: &[&WaiverEntry]) -> String {
    let replaced_count = replaced_entries.len();
    let new_count = written_count.saturating_sub(replaced_count);
    let new_waivers = format!("{} added to {FILE_NAME}", format_count(new_count, "waiver"));
    if replaced_entries.is_empty() {
        return new_waivers;
    }
    let replaced_waivers = format_count(replaced_count, "waiver");
    let description = match new_count {
        0 => format!("{replaced_waivers} in {FILE_NAME} replaced"),
        _ => format!("{new_waivers}, {replaced_waivers} replaced"),
    };
    let lines: Vec<String> = replaced_entries
        .iter()
        .map(|entry| format!("`- {entry}`"))
        .collect();
    format!(
        "{description}: {}",
        List::with_limit(&lines, MAX_LISTED_WAIVERS).join_with_semicolons()
    )
}

/// Writes the waivers to the file, replacing those with the same rule, path and subject. Returns the replaced ones.
fn add_or_replace_entries<'f>(
    waivers_file: &'f WaiversFile,
    entries: &[WaiverEntry],
) -> Result<Vec<&'f WaiverEntry>, Failure> {
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    let subjects: BTreeSet<_> = entries.iter().map(WaiverEntry::subject).collect();
    let is_replaced: Vec<bool> = waivers_file
        .entries
        .iter()
        .map(|placed_waiver| subjects.contains(&placed_waiver.entry.subject()))
        .collect();
    let text = if is_replaced.contains(&true) {
        remove_entries(&waivers_file.text, &is_replaced)
    } else {
        Ok(waivers_file.text.clone())
    };
    waivers_file.write(text.and_then(|text| waivers::add_entries(&text, entries)))?;
    let old_entries = waivers_file.entries.iter().zip(is_replaced);
    Ok(old_entries
        .filter(|(_, is_replaced)| *is_replaced)
        .map(|(waiver, _)| &waiver.entry)
        .collect())
}
