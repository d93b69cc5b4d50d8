//! Prints numbers of findings as aligned columns that fit the terminal.

use super::super::view::TableRow;
use sluicegate_base::text::wrap;
use sluicegate_base::text::{self, format_and_more_of};
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// Number of columns if the terminal's width is unknown.
const WIDTH: usize = 80;

/// Width of the columns next to the name: level, findings and files.
const BESIDE: usize = 32;

/// Minimum number of columns for a name, even if the terminal is narrower.
const LEAST: usize = 20;

/// Maximum number of rows in a table.
const MOST: usize = 30;

/// Adds a table with a heading, the number of omitted rows, and an empty line; adds no text if there are no rows.
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
    let name = |row: &TableRow<'_>| wrap::shorten_middle(&text::escape_line(row.name), most);
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
        let _ = writeln!(shown, "{}", format_and_more_of(more, what));
    }
    shown.push('\n');
}
