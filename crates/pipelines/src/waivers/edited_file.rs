//! Edits the file in place: other entries and comments keep their bytes.
//!
//! Only a list with entries on separate lines can be edited. The result is read again and must contain exactly the
//! expected entries; otherwise nothing is changed.

use super::{PlacedWaiver, WaiverEntry, waivers_file};
use crate::yaml::DocumentError;
use std::collections::BTreeMap;
use std::ops::Range;

/// The reason why the file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Unreadable(#[from] DocumentError),
    /// Its formatting does not allow editing.
    #[error("the file cannot be edited in place: each entry of the list must be on separate lines")]
    Form,
}

/// Returns the text with these entries inserted, one line each, ordered by rule, path and subject.
pub fn add(text: &str, new_entries: &[WaiverEntry]) -> Result<String, EditError> {
    let mut file = EditedFile::parse(text)?;
    let mut more = new_entries.to_vec();
    more.sort();
    for entry in &more {
        file.insert(entry);
    }
    more.extend(file.items.iter().map(|item| item.entry.clone()));
    file.into_verified_text(more)
}

/// Returns the text without the entries for which `goes` is true, by index.
pub fn remove(text: &str, removal_flags: &[bool]) -> Result<String, EditError> {
    let mut file = EditedFile::parse(text)?;
    let is_gone = |index: usize| removal_flags.get(index).copied().unwrap_or_default();
    let mut remaining_entries = Vec::new();
    for (index, item) in file.items.iter().enumerate() {
        if is_gone(index) {
            file.lines
                .get_mut(item.lines.clone())
                .ok_or(EditError::Form)?
                .fill(String::new());
        } else {
            remaining_entries.push(item.entry.clone());
        }
    }
    file.into_verified_text(remaining_entries)
}

struct LocatedEntry {
    entry: WaiverEntry,
    /// Its lines, without the comments before and after it.
    lines: Range<usize>,
}

struct EditedFile {
    lines: Vec<String>,
    items: Vec<LocatedEntry>,
    /// The new text before a line, by the line's index.
    insertions: BTreeMap<usize, String>,
    ending: &'static str,
}

impl EditedFile {
    fn parse(text: &str) -> Result<Self, EditError> {
        let placed_waivers = read(text.as_bytes(), &|_| true)?;
        let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        if let Some(last) = lines.last_mut().filter(|last| !last.ends_with('\n')) {
            last.push_str(ending);
        }
        let items = locate_entries(&lines, placed_waivers).ok_or(EditError::Form)?;
        Ok(Self {
            insertions: BTreeMap::new(),
            lines,
            items,
            ending,
        })
    }

    fn insert(&mut self, entry: &WaiverEntry) {
        let next = self
            .items
            .iter()
            .find(|item| item.entry.subject() > entry.subject());
        let line_index = match (next, self.items.last()) {
            (Some(item), _) => self.first_comment_line(item.lines.start),
            (None, Some(last)) => last.lines.end,
            (None, None) => self.lines.len(),
        };
        let first_line = self
            .items
            .first()
            .and_then(|item| self.lines.get(item.lines.start));
        let indent: String = first_line
            .map(|line| line.chars().take_while(|c| *c == ' ').collect())
            .unwrap_or_default();
        let line = format!("{indent}- {entry}{}", self.ending);
        self.insertions.entry(line_index).or_default().push_str(&line);
    }

    fn to_text(&self) -> String {
        let new = |at: usize| self.insertions.get(&at).map_or("", String::as_str);
        let lines = self.lines.iter().enumerate();
        let before: String = lines.flat_map(|(at, line)| [new(at), line]).collect();
        before + new(self.lines.len())
    }

    /// Returns the line of the first comment directly before this line. A comment at the beginning of the file belongs
    /// to no entry.
    fn first_comment_line(&self, start: usize) -> usize {
        let is_comment = |at: &usize| {
            self.lines
                .get(*at)
                .is_some_and(|line| line.trim_start().starts_with('#'))
        };
        let first = (0..start).rev().take_while(is_comment).last().unwrap_or(start);
        if first == 0 { start } else { first }
    }

    /// Returns the text if it contains these entries.
    fn into_verified_text(self, mut entries: Vec<WaiverEntry>) -> Result<String, EditError> {
        let text = self.to_text();
        let again = read(text.as_bytes(), &|_| true).map_err(|_| EditError::Form)?;
        let mut again: Vec<WaiverEntry> = again.into_iter().map(|placed| placed.entry).collect();
        again.sort();
        entries.sort();
        if again == entries {
            Ok(text)
        } else {
            Err(EditError::Form)
        }
    }
}

/// Returns the entries with their lines, or `None` if an entry does not begin with a dash on its own line.
fn locate_entries(lines: &[String], placed_waivers: Vec<PlacedWaiver>) -> Option<Vec<LocatedEntry>> {
    let mut starts = Vec::with_capacity(placed_waivers.len());
    let mut min_line = 0;
    for item in &placed_waivers {
        let line = usize::try_from(item.position.line).ok()?.checked_sub(1)?;
        let is_dash = |at: &usize| {
            lines
                .get(*at)
                .is_some_and(|line| line.trim_start_matches([' ', '\u{feff}']).starts_with('-'))
        };
        let start = (min_line..=line).rev().find(is_dash)?;
        starts.push(start);
        min_line = start + 1;
    }
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let item = |((placed, start), end): ((PlacedWaiver, &usize), usize)| {
        let is_part = |at: &usize| {
            let line = lines.get(*at).map_or("", |line| line.trim());
            !line.is_empty() && !line.starts_with('#') && line != "..."
        };
        let final_line = (*start..end).rev().find(is_part).unwrap_or(*start);
        LocatedEntry {
            entry: placed.entry,
            lines: *start..final_line + 1,
        }
    };
    Some(
        placed_waivers
            .into_iter()
            .zip(&starts)
            .zip(ends)
            .map(item)
            .collect(),
    )
}
