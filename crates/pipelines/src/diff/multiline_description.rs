//! Describes the changed lines of a text, such as SQL.

use super::description::Description;
use super::diff_line::Sign;
use super::leaf::Leaf;
use super::line_diff::{self, TextLine, find_other_line, split_lines};
use super::value_text::{escape_invisible, truncate, truncate_pair};
use sluicegate_base::text;
use std::borrow::Cow;
use std::collections::HashSet;

impl Description {
    /// Shows the lines that differ between the two versions of a value, base and head, and the lines around them, up to
    /// the share of one text. A missing version has no lines.
    pub(super) fn describe_multiline_value(&mut self, depth: usize, sides: [Option<&Leaf>; 2]) {
        let texts = sides.map(|side| side.map(Leaf::to_string));
        let [base_lines, head_lines] = texts.each_ref().map(|side| split_lines(side.as_deref()));
        let lines = line_diff::compare_lines(&base_lines, &head_lines);
        let style = LineStyle {
            width: self.line_width(depth),
            changed_line_ends: find_changed_line_ends(&lines),
        };
        let mut max_line_count = self.shares.text_lines;
        // The line that counts a single omitted line would take the place of this line.
        if lines.len() == max_line_count + 1 {
            max_line_count = lines.len();
        }
        for (index, line) in lines.iter().enumerate().take(max_line_count) {
            let (sign, line) = match line {
                TextLine::Unchanged(line) => (Sign::None, style.format_line(line, None)),
                TextLine::Removed(line) => (
                    Sign::Removed,
                    style.format_line(line, find_other_line(&lines, index)),
                ),
                TextLine::Added(line) => (
                    Sign::Added,
                    style.format_line(line, find_other_line(&lines, index)),
                ),
                TextLine::Omitted(lines) => {
                    let omission = text::format_count(*lines, "unchanged line");
                    (Sign::None, format!("\u{2026} {omission}"))
                }
            };
            self.push_value(depth, sign, &line);
        }
        if lines.len() > max_line_count {
            self.push_value_omission(depth, lines.len() - max_line_count);
        }
    }
}

/// How the lines of a text are shown.
struct LineStyle<'t> {
    width: usize,
    /// The lines, without their ends, of which only the end changed. Only there does a carriage return tell a reader
    /// something.
    changed_line_ends: HashSet<&'t str>,
}

impl LineStyle<'_> {
    /// Returns up to `width` characters of the line, with escapes for characters that would not be seen. If the line
    /// replaced another one, or was replaced by it, their first difference is visible.
    fn format_line(&self, line: &str, other_line: Option<&str>) -> String {
        let shown_text = self.escape_line(line);
        match other_line {
            Some(other_line) => truncate_pair(&shown_text, &self.escape_line(other_line), self.width).0,
            None => truncate(&shown_text, self.width),
        }
    }

    /// Returns the line with escapes for characters that would not be seen.
    fn escape_line<'l>(&self, line: &'l str) -> Cow<'l, str> {
        let content = trim_line_end(line);
        if self.changed_line_ends.contains(content) {
            escape_invisible(line)
        } else {
            escape_invisible(content)
        }
    }
}

/// Returns the lines, without their ends, that were removed with one line end and added with another.
fn find_changed_line_ends<'t>(lines: &[TextLine<'t>]) -> HashSet<&'t str> {
    let mut removed_lines = HashSet::new();
    for line in lines {
        if let TextLine::Removed(line) = line {
            removed_lines.insert((trim_line_end(line), line.ends_with('\r')));
        }
    }
    let mut changed_line_ends = HashSet::new();
    for line in lines {
        if let TextLine::Added(line) = line
            && removed_lines.contains(&(trim_line_end(line), !line.ends_with('\r')))
        {
            changed_line_ends.insert(trim_line_end(line));
        }
    }
    changed_line_ends
}

/// Returns the line without a carriage return at its end.
fn trim_line_end(line: &str) -> &str {
    line.strip_suffix('\r').unwrap_or(line)
}
