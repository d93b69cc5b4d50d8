//! How many findings there are, as aligned columns that fit the terminal.

use super::super::view::TableRow;
use crate::base::text::wrap;
use crate::base::text::{self, count};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns where the terminal's width is not known.
const WIDTH: usize = 80;

/// The columns beside the name: level, findings and files.
const BESIDE: usize = 32;

/// The least columns for a name, however narrow the terminal.
const LEAST: usize = 20;

/// Rows of a table.
const MOST: usize = 30;

/// A table of these rows under a heading, how many more there are, and an empty line; nothing for no rows.
pub(super) fn push(
    shown: &mut String,
    heading: &str,
    rows: &[TableRow<'_>],
    more: usize,
    width: Option<usize>,
) {
    if rows.is_empty() {
        return;
    }
    let most = width.unwrap_or(WIDTH).saturating_sub(BESIDE).max(LEAST);
    let name = |row: &TableRow<'_>| wrap::middle(&text::line(row.name), most);
    let named: Vec<String> = rows.iter().take(MOST).map(name).collect();
    let widest = named
        .iter()
        .map(|name| name.width())
        .chain([heading.width()])
        .max();
    let widest = widest.unwrap_or(most);
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
