//! Tables with aligned columns. Control characters in cells are escaped.

use sluicegate_base::text;
use unicode_width::UnicodeWidthStr as _;

/// Maximum width of a column: longer texts overflow, so that one long text does not fill every other row with blanks.
const MAX_COLUMN_WIDTH: usize = 100;

/// Number of blanks between two columns.
const COLUMN_GAP: usize = 2;

/// The columns of a table, with the width of the widest cell so far.
pub(crate) struct TableColumns {
    headings: Vec<String>,
    widths: Vec<usize>,
}

impl TableColumns {
    /// Creates a table with these headings. Each column is at first as wide as its heading.
    pub(crate) fn new(headings: &[&str]) -> Self {
        let headings: Vec<String> = headings.iter().map(|heading| heading.to_uppercase()).collect();
        let mut columns = Self {
            widths: vec![0; headings.len()],
            headings: Vec::new(),
        };
        columns.fit_row(&headings);
        columns.headings = headings;
        columns
    }

    /// Widens the columns to the cells of this row, up to the maximum width.
    pub(crate) fn fit_row(&mut self, row: &[String]) {
        for (width, cell) in self.widths.iter_mut().zip(row) {
            *width = text::escape_line(cell).width().min(MAX_COLUMN_WIDTH).max(*width);
        }
    }

    pub(crate) fn format_heading_line(&self) -> String {
        self.format_row(&self.headings)
    }

    /// Formats a row with its cells padded to the widths of the columns.
    pub(crate) fn format_row(&self, row: &[String]) -> String {
        let mut line = String::new();
        for (width, cell) in self.widths.iter().zip(row) {
            let cell = text::escape_line(cell);
            line.push_str(&cell);
            let padding = width.saturating_sub(cell.width()) + COLUMN_GAP;
            line.extend(std::iter::repeat_n(' ', padding));
        }
        line.truncate(line.trim_end().len());
        line.push('\n');
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cell_stands_out_and_widens_no_other_row() {
        let (long, short) = (
            vec!["x".repeat(1000), "a".to_owned()],
            vec!["y".to_owned(), "b".to_owned()],
        );
        let mut columns = TableColumns::new(&["one", "two"]);
        columns.fit_row(&long);
        assert_eq!(columns.format_row(&long), format!("{}  a\n", "x".repeat(1000)));
        assert_eq!(
            columns.format_row(&short),
            format!("y{}b\n", " ".repeat(MAX_COLUMN_WIDTH + 1))
        );
    }
}
