//! Compares files that are not pipelines line by line.

use super::diff_line::{DiffLine, Sign};
use super::line_diff::{self, TextLine, find_other_line};
use super::value_text::{truncate, truncate_pair};
use sluicegate_base::text;

/// Maximum number of lines that are shown.
const MAX_LINES: usize = 2_000;

/// Maximum number of characters of a line that are shown.
const MAX_LINE_CHARS: usize = 400;

/// Compares two versions of a file that is not a pipeline. Returns the lines that differ and the lines around them, up
/// to a maximum number. A file that contains a NUL byte is reported as binary. If no line differs, the texts may differ
/// in their line endings, which a remark says.
pub fn compare_plain_files(base: &str, head: &str) -> Vec<DiffLine> {
    if base.contains('\0') || head.contains('\0') {
        return vec![DiffLine::remark("binary file: content not shown")];
    }
    let base_lines: Vec<&str> = base.lines().collect();
    let head_lines: Vec<&str> = head.lines().collect();
    let text_lines = line_diff::compare_lines(&base_lines, &head_lines);
    if text_lines.is_empty() && base != head {
        let line_breaks = ['\r', '\n'];
        let differs_at_end = base.ends_with('\n') != head.ends_with('\n')
            && base.trim_end_matches(line_breaks) == head.trim_end_matches(line_breaks);
        return vec![DiffLine::remark(if differs_at_end {
            "only the line break at the end of the file changed"
        } else {
            "only the line endings changed"
        })];
    }
    let shown_count = text_lines.len().min(MAX_LINES);
    let mut lines: Vec<DiffLine> = (0..shown_count)
        .filter_map(|index| format_line(&text_lines, index))
        .collect();
    if text_lines.len() > MAX_LINES {
        let omission = text::format_count(text_lines.len() - MAX_LINES, "more line");
        lines.push(DiffLine::remark(&format!("\u{2026} {omission}")));
    }
    lines
}

/// Formats the line at this index of the comparison, truncated to [`MAX_LINE_CHARS`] characters. If the line replaced
/// another one, or was replaced by it, their first difference is visible.
fn format_line(lines: &[TextLine<'_>], index: usize) -> Option<DiffLine> {
    let (sign, content) = match lines.get(index)? {
        TextLine::Unchanged(line) => (Sign::None, *line),
        TextLine::Removed(line) => (Sign::Removed, *line),
        TextLine::Added(line) => (Sign::Added, *line),
        TextLine::Omitted(lines) => {
            let omission = text::format_count(*lines, "unchanged line");
            return Some(DiffLine::remark(&format!("\u{2026} {omission}")));
        }
    };
    let visible_part = match find_other_line(lines, index) {
        Some(other_line) => truncate_pair(content, other_line, MAX_LINE_CHARS).0,
        None => truncate(content, MAX_LINE_CHARS),
    };
    Some(DiffLine {
        component: None,
        omitted_line_count: 0,
        depth: 1,
        sign,
        is_value: true,
        text: text::escape_line(&visible_part),
    })
}
