//! The overview as aligned columns, within 80.

use super::super::overview::OverviewRow;
use super::super::shorten;
use crate::base::text;
use std::fmt::Write as _;
use unicode_width::UnicodeWidthStr as _;

/// The widest name, in columns; with the numbers it stays within 80.
const NAME: usize = 40;

/// Rows of a table.
const MOST: usize = 30;

/// A table of these rows under a heading, `more` as its last line, and an empty line; nothing for no rows.
pub(super) fn push(shown: &mut String, heading: &str, rows: &[OverviewRow<'_>], more: Option<String>) {
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
    let cut = (rows.len() > MOST).then(|| format!("and {} more", rows.len() - MOST));
    if let Some(more) = more.or(cut) {
        let _ = writeln!(shown, "{more}");
    }
    shown.push('\n');
}

fn name(row: &OverviewRow<'_>) -> String {
    let mut name = text::line(row.name);
    let mut limit = NAME;
    while name.width() > NAME {
        name = shorten::to_chars(&name, limit);
        limit -= 1;
    }
    name
}
