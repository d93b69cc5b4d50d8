//! Describes the changed lines of a text, such as SQL.

use super::description::Description;
use super::diff_line::Sign;
use super::leaf::Leaf;
use super::line_diff::{self, TextLine};
use super::value_text::{escape_invisible, truncate};
use sluicegate_base::text;

/// Maximum number of lines for one value.
const MAX_VALUE_LINES: usize = 40;

/// Maximum number of characters of a line of text on a page where long lines scroll.
const MAX_PAGE_WIDTH: usize = 2_000;

impl Description {
    /// Shows the lines that differ between the two versions of a value, base and head, and the lines around them, up to
    /// [`MAX_VALUE_LINES`]. A missing version has no lines.
    pub(super) fn describe_multiline_value(&mut self, depth: usize, sides: [Option<&Leaf>; 2]) {
        let texts = sides.map(|side| side.map(Leaf::to_string));
        let [base_lines, head_lines] = texts.each_ref().map(|side| split_lines(side.as_deref()));
        let lines = line_diff::compare_lines(&base_lines, &head_lines);
        let style = LineStyle {
            width: self.multiline_width(depth),
            shows_line_ends: count_carriage_returns(&base_lines) != count_carriage_returns(&head_lines),
        };
        for line in lines.iter().take(MAX_VALUE_LINES) {
            let (sign, line) = match line {
                TextLine::Unchanged(line) => (Sign::None, style.format_line(line)),
                TextLine::Removed(line) => (Sign::Removed, style.format_line(line)),
                TextLine::Added(line) => (Sign::Added, style.format_line(line)),
                TextLine::Omitted(lines) => {
                    let omission = text::format_count(*lines, "unchanged line");
                    (Sign::None, format!("\u{2026} {omission}"))
                }
            };
            self.push_value(depth, sign, &line);
        }
        if lines.len() > MAX_VALUE_LINES {
            let omission = text::format_count(lines.len() - MAX_VALUE_LINES, "more line");
            self.push_value(depth, Sign::None, &format!("\u{2026} {omission}"));
        }
    }

    /// Returns the maximum number of characters of one line of a multi-line value. On a page it is large, because long
    /// lines scroll there.
    fn multiline_width(&self, depth: usize) -> usize {
        if self.is_page {
            MAX_PAGE_WIDTH
        } else {
            self.value_width(depth)
        }
    }
}

/// How the lines of a text are shown.
struct LineStyle {
    width: usize,
    /// Whether a carriage return at the end of a line is shown. If both texts have the same line ends, it tells a reader
    /// nothing.
    shows_line_ends: bool,
}

impl LineStyle {
    /// Returns up to `width` characters of the line, with escapes for characters that would not be seen.
    fn format_line(&self, line: &str) -> String {
        let content = if self.shows_line_ends {
            line
        } else {
            line.strip_suffix('\r').unwrap_or(line)
        };
        truncate(&escape_invisible(content), self.width)
    }
}

/// Returns the number of lines that end in a carriage return.
fn count_carriage_returns(lines: &[&str]) -> usize {
    lines.iter().filter(|line| line.ends_with('\r')).count()
}

/// Returns the lines of the text; no lines if there is no text.
fn split_lines(text: Option<&str>) -> Vec<&str> {
    text.map(|text| text.split('\n').collect()).unwrap_or_default()
}
