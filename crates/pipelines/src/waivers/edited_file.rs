//! Edits the waivers file in place: other entries and comments keep their bytes.
//!
//! Only a list with entries on separate lines can be edited. The result is read again and must contain exactly the
//! expected entries; otherwise nothing is changed.

use super::{PlacedWaiver, WaiverEntry, parse_waivers_file};
use sluicegate_yaml::{
    DocumentError, Tree, find_line_ending, indent_width, is_comment_outside_entry, is_entry_start,
    remove_empty_brackets, split_lines,
};
use std::collections::BTreeMap;
use std::ops::Range;

/// The reason why the file cannot be edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Unreadable(#[from] DocumentError),
    /// The formatting of the file does not allow editing.
    #[error("the file cannot be edited in place: each entry of the list must start on its own line")]
    UnsupportedForm,
}

/// Returns the text of the waivers file with these entries inserted, one line each, ordered by rule, path and subject.
/// Fails if the file cannot be edited in place.
pub fn add_entries(text: &str, new_entries: &[WaiverEntry]) -> Result<String, EditError> {
    let mut file = EditedFile::parse(text)?;
    let mut entries = new_entries.to_vec();
    entries.sort();
    for entry in &entries {
        file.plan_insertion(entry);
    }
    entries.extend(file.items.iter().map(|item| item.entry.clone()));
    file.into_verified_text(entries)
}

/// Returns the text of the waivers file without the entries whose flag is true; `removal_flags` is in file order. Fails
/// if the file cannot be edited in place.
pub fn remove_entries(text: &str, removal_flags: &[bool]) -> Result<String, EditError> {
    let mut file = EditedFile::parse(text)?;
    let mut remaining_entries = Vec::new();
    let mut removed_ranges = Vec::new();
    for (index, item) in file.items.iter().enumerate() {
        if removal_flags.get(index) == Some(&true) {
            removed_ranges.push(file.exclude_comments_at_end(item));
        } else {
            remaining_entries.push(item.entry.clone());
        }
    }
    for range in removed_ranges {
        // The lines are emptied and not removed, so that the other ranges stay valid.
        file.lines
            .get_mut(range)
            .ok_or(EditError::UnsupportedForm)?
            .fill(String::new());
    }
    file.into_verified_text(remaining_entries)
}

struct LocatedEntry {
    entry: WaiverEntry,
    /// The lines of the entry, without the comments before it, and without those after it that are not indented further
    /// than its dash.
    lines: Range<usize>,
}

struct EditedFile {
    /// The byte order mark at the beginning of the file, or an empty text.
    byte_order_mark: &'static str,
    lines: Vec<String>,
    items: Vec<LocatedEntry>,
    /// The new text before a line, by the line's index.
    insertions: BTreeMap<usize, String>,
    ending: &'static str,
}

/// Parses the waivers of a file. An edit does not depend on which rules exist, so every rule id is accepted.
fn parse_waivers_of_any_rule(text: &str) -> Result<Vec<PlacedWaiver>, DocumentError> {
    let is_known_rule = |_: &str| true;
    parse_waivers_file(text.as_bytes(), &is_known_rule)
}

impl EditedFile {
    /// Parses the lines of the waivers file, so that entries can be added and removed without changing the others.
    /// Fails for entries that are not written on lines of their own.
    fn parse(text: &str) -> Result<Self, EditError> {
        let placed_waivers = parse_waivers_of_any_rule(text)?;
        let (byte_order_mark, text) = match text.strip_prefix('\u{feff}') {
            Some(content) => ("\u{feff}", content),
            None => ("", text),
        };
        let text_without_brackets = if placed_waivers.is_empty() {
            remove_brackets_of_list(text)
        } else {
            None
        };
        let lines = split_lines(text_without_brackets.as_deref().unwrap_or(text));
        let items = locate_entries(&lines, placed_waivers).ok_or(EditError::UnsupportedForm)?;
        Ok(Self {
            byte_order_mark,
            insertions: BTreeMap::new(),
            lines,
            items,
            ending: find_line_ending(text),
        })
    }

    /// Plans to insert an entry before the first entry that is greater by rule, path and subject, and above the
    /// comments of that entry. If no entry is greater, the new entry is inserted after the last one.
    fn plan_insertion(&mut self, entry: &WaiverEntry) {
        let next = self
            .items
            .iter()
            .find(|item| item.entry.subject() > entry.subject());
        let line_index = match (next, self.items.last()) {
            (Some(item), _) => self.first_comment_line(item.lines.start),
            (None, Some(last)) => last.lines.end,
            (None, None) => self.lines.len(),
        };
        let indent: String = self
            .items
            .first()
            .and_then(|item| self.lines.get(item.lines.start))
            .map(|line| line.chars().take_while(|c| *c == ' ').collect())
            .unwrap_or_default();
        let line = format!("{indent}- {entry}{}", self.ending);
        self.insertions.entry(line_index).or_default().push_str(&line);
    }

    /// Returns the text of the file with the planned insertions.
    fn to_text(&self) -> String {
        let mut text = self.byte_order_mark.to_owned();
        for line_index in 0..=self.lines.len() {
            text.extend(self.insertions.get(&line_index).map(String::as_str));
            text.extend(self.lines.get(line_index).map(String::as_str));
        }
        text
    }

    /// Returns the line of the first of the comments directly above the entry at line `start`, or `start` if there are
    /// no comments. Comments at the beginning of the file belong to the file and not to the entry.
    fn first_comment_line(&self, start: usize) -> usize {
        let dash_indent = self.lines.get(start).map_or(0, |line| indent_width(line));
        let mut first_comment = start;
        for (index, line) in self.lines.iter().enumerate().take(start).rev() {
            if !is_comment_outside_entry(line, dash_indent) {
                break;
            }
            first_comment = index;
        }
        if first_comment == 0 { start } else { first_comment }
    }

    /// Returns the lines of the entry without the comments at their end, so that a removal keeps them. A line at the
    /// end that looks like a comment may be part of a text: then the entry differs without it, and without the lines
    /// above it, too. Only the lines of the entry are read again, and few times, because a file may have very many of
    /// both. An entry that cannot be read alone has an alias of a text in another entry: then all of these lines are
    /// kept.
    fn exclude_comments_at_end(&self, item: &LocatedEntry) -> Range<usize> {
        let Range { start, end } = item.lines;
        let is_comment_form =
            |index: &usize| self.lines.get(*index).is_some_and(|line| has_comment_form(line));
        let comment_count = (start + 1..end).rev().take_while(is_comment_form).count();
        let has_only_comments_at_end = comment_count == 0
            || self.is_entry(item, start..end - comment_count)
            || !self.is_entry(item, start..end);
        if has_only_comments_at_end {
            return start..end - comment_count;
        }
        // Up to `kept_end`, the lines are the entry; up to `changed_end`, they are not.
        let (mut changed_end, mut kept_end) = (end - comment_count, end);
        while kept_end - changed_end > 1 {
            let middle = usize::midpoint(changed_end, kept_end);
            if self.is_entry(item, start..middle) {
                kept_end = middle;
            } else {
                changed_end = middle;
            }
        }
        start..kept_end
    }

    /// Returns whether these lines alone are the entry.
    fn is_entry(&self, item: &LocatedEntry, lines: Range<usize>) -> bool {
        let text = self.lines.get(lines).map(<[String]>::concat).unwrap_or_default();
        parse_waivers_of_any_rule(&text)
            .is_ok_and(|waivers| matches!(waivers.as_slice(), [waiver] if waiver.entry == item.entry))
    }

    /// Returns the edited text if it contains exactly these entries, in any order. Otherwise the edit damaged the file,
    /// and this fails.
    fn into_verified_text(self, mut entries: Vec<WaiverEntry>) -> Result<String, EditError> {
        let text = self.to_text();
        let mut reread_entries: Vec<WaiverEntry> = parse_waivers_of_any_rule(&text)
            .map_err(|_| EditError::UnsupportedForm)?
            .into_iter()
            .map(|waiver| waiver.entry)
            .collect();
        reread_entries.sort();
        entries.sort();
        if reread_entries == entries {
            Ok(text)
        } else {
            Err(EditError::UnsupportedForm)
        }
    }
}

/// Returns the file without the brackets of its empty list, so that entries can be added on lines of their own.
/// Comments stay. Returns `None` if the file has no such brackets.
fn remove_brackets_of_list(text: &str) -> Option<String> {
    let tree = Tree::parse(text.as_bytes()).ok()?;
    remove_empty_brackets(text, tree.root().position())
}

/// Returns the entries with their lines, from the dash to the last line that is not blank or a comment after the entry.
/// Returns `None` if an entry does not begin with a dash on a line of its own, for example in `[{ … }, { … }]`.
fn locate_entries(lines: &[String], placed_waivers: Vec<PlacedWaiver>) -> Option<Vec<LocatedEntry>> {
    let mut starts: Vec<usize> = Vec::with_capacity(placed_waivers.len());
    for waiver in &placed_waivers {
        let line_index = usize::try_from(waiver.position.line).ok()?.checked_sub(1)?;
        let earlier_start = starts.last().copied();
        // The dash may be on a line above the first key of the entry.
        let start = (earlier_start.unwrap_or_default()..=line_index)
            .rev()
            .find(|index| lines.get(*index).is_some_and(|line| is_entry_start(line)))?;
        if earlier_start == Some(start) {
            return None;
        }
        starts.push(start);
    }
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    let mut located_entries = Vec::with_capacity(placed_waivers.len());
    for ((waiver, start), end) in placed_waivers.into_iter().zip(&starts).zip(ends) {
        let dash_indent = lines.get(*start).map_or(0, |line| indent_width(line));
        let final_line = (*start..end)
            .rev()
            .find(|index| {
                lines
                    .get(*index)
                    .is_some_and(|line| has_content(line, dash_indent))
            })
            .unwrap_or(*start);
        located_entries.push(LocatedEntry {
            entry: waiver.entry,
            lines: *start..final_line + 1,
        });
    }
    Some(located_entries)
}

/// Returns whether the line is blank or looks like a comment. Within a text on several lines, it may be part of the
/// text.
fn has_comment_form(line: &str) -> bool {
    let content = line.trim();
    content.is_empty() || content.starts_with('#')
}

/// Returns whether the line belongs to an entry whose dash has this indentation: it is not blank, not a comment after
/// the entry, and not `...`, which ends a YAML document.
fn has_content(line: &str, dash_indent: usize) -> bool {
    let content = line.trim();
    !content.is_empty() && content != "..." && !is_comment_outside_entry(line, dash_indent)
}
