//! Prints numbers of findings as aligned columns that fit the terminal.

use super::super::view::TableRow;
use sluicegate_base::text::wrap;
use sluicegate_base::text::{self, format_and_more_of};
use std::fmt::{Display, Write as _};
use unicode_width::UnicodeWidthStr as _;

/// Number of columns if the terminal's width is unknown.
const DEFAULT_COLUMNS: usize = 80;

/// Width of the columns next to the name: level, findings and files.
const OTHER_COLUMNS_WIDTH: usize = 32;

/// Minimum number of columns for a name, even if the terminal is narrower.
const MIN_NAME_COLUMNS: usize = 20;

/// Maximum number of rows in a table.
const MAX_ROWS: usize = 30;

/// The columns of a table.
struct Columns {
    name_columns: usize,
    has_levels: bool,
}

impl Columns {
    /// Adds a row with aligned columns. `findings` and `files` are numbers, or titles in the first row. A table without
    /// levels has no column for them.
    fn push_row(
        &self,
        output: &mut String,
        name: &str,
        level: &str,
        findings: impl Display,
        files: impl Display,
    ) {
        let gap = " ".repeat(self.name_columns.saturating_sub(name.width()));
        // The longest level, `not evaluated`, has 13 characters.
        let level = if self.has_levels {
            format!("  {level:<13}")
        } else {
            String::new()
        };
        let _ = writeln!(output, "{name}{gap}{level}  {findings:>8}  {files:>5}");
    }
}

/// Adds a table of rules or of directories with at most [`MAX_ROWS`] rows, and an empty line after it; adds no text if
/// there are no rows. The last line counts the rows that are not shown: `omitted_count`, which the caller omitted, and
/// those beyond the limit.
pub(super) fn push_table(
    output: &mut String,
    heading: &str,
    rows: &[TableRow<'_>],
    omitted_count: usize,
    width: Option<usize>,
) {
    if rows.is_empty() {
        return;
    }
    // A longer name is shortened in the middle.
    let max_name_columns = width
        .unwrap_or(DEFAULT_COLUMNS)
        .saturating_sub(OTHER_COLUMNS_WIDTH)
        .max(MIN_NAME_COLUMNS);
    let names: Vec<String> = rows
        .iter()
        .take(MAX_ROWS)
        .map(|row| wrap::shorten_middle(&text::escape_line(row.name), max_name_columns))
        .collect();
    let longest_name_columns = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let name_columns = longest_name_columns.max(heading.width());
    let has_levels = rows.iter().any(|row| !row.level.is_empty());
    let columns = Columns {
        name_columns,
        has_levels,
    };
    columns.push_row(output, heading, "LEVEL", "FINDINGS", "FILES");
    for (row, name) in rows.iter().zip(&names) {
        columns.push_row(output, name, row.level, row.findings, row.files);
    }
    let hidden_count = omitted_count + rows.len().saturating_sub(MAX_ROWS);
    if hidden_count > 0 {
        // Only rules have levels. A rule has a row for each of its levels.
        let noun = if has_levels { "row" } else { "folder" };
        let _ = writeln!(output, "{}", format_and_more_of(hidden_count, noun));
    }
    output.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_rows_of_rules_that_have_another_row_are_not_called_rules() {
        let names: Vec<String> = (0..31).map(|number| format!("rule-{number}")).collect();
        let mut rows = Vec::new();
        for level in ["error", "not evaluated"] {
            let row_count = if level == "error" { 31 } else { 2 };
            rows.extend(names.iter().take(row_count).map(|name| TableRow {
                name,
                level,
                findings: 1,
                files: 1,
            }));
        }
        let mut output = String::new();
        push_table(&mut output, "RULE", &rows, 0, None);
        assert!(output.ends_with("and 3 more rows\n\n"), "{output}");
    }
}
