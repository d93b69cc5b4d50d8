//! The overview as aligned columns, within 80.

use super::super::shorten;
use super::super::view::TableRow;
use crate::base::text::{self, count};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// The widest name, in columns; with the numbers it stays within 80.
const NAME: usize = 40;

/// Rows of a table.
const MOST: usize = 30;

/// A table of these rows under a heading, how many more there are, and an empty line; nothing for no rows.
pub(super) fn push(shown: &mut String, heading: &str, rows: &[TableRow<'_>], more: usize) {
    if rows.is_empty() {
        return;
    }
    let named: Vec<String> = rows.iter().take(MOST).map(name).collect();
    let widest = named
        .iter()
        .map(|name| name.width())
        .chain([heading.width()])
        .max();
    let widest = widest.unwrap_or(NAME);
    let levels = rows.iter().any(|row| !row.level.is_empty());
    let mut line = |name: &str, level: &str, findings: &str, files: &str| {
        let gap = " ".repeat(widest.saturating_sub(name.width()));
        let level = if levels {
            format!("  {level:<13}")
        } else {
            String::new()
        };
        let _ = writeln!(shown, "{name}{gap}{level}  {findings:>8}  {files:>5}");
    };
    line(heading, "LEVEL", "FINDINGS", "FILES");
    for (row, name) in rows.iter().zip(&named) {
        line(name, row.level, &row.findings.to_string(), &row.files.to_string());
    }
    let more = more + rows.len().saturating_sub(MOST);
    if more > 0 {
        let what = if levels { "rule" } else { "folder" };
        let _ = writeln!(shown, "and {}", count(more, &format!("more {what}")));
    }
    shown.push('\n');
}

fn name(row: &TableRow<'_>) -> String {
    let mut name = text::line(row.name);
    let mut limit = NAME;
    while name.width() > NAME {
        name = shorten::to_chars(&name, limit);
        limit -= 1;
    }
    name
}
