//! Compares files that are not pipelines line by line.

use super::diff_line::{DiffLine, Sign};
use super::line_diff;
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
    let mut lines: Vec<DiffLine> = text_lines.iter().take(MAX_LINES).map(format_line).collect();
    if text_lines.len() > MAX_LINES {
        let omission = text::format_count(text_lines.len() - MAX_LINES, "more line");
        lines.push(DiffLine::remark(&format!("\u{2026} {omission}")));
    }
    lines
}

/// Formats a line of the comparison, truncated to [`MAX_LINE_CHARS`] characters.
fn format_line(line: &line_diff::TextLine<'_>) -> DiffLine {
    let (sign, content) = match line {
        line_diff::TextLine::Unchanged(line) => (Sign::None, *line),
        line_diff::TextLine::Removed(line) => (Sign::Removed, *line),
        line_diff::TextLine::Added(line) => (Sign::Added, *line),
        line_diff::TextLine::Omitted(lines) => {
            return DiffLine::remark(&format!(
                "\u{2026} {}",
                text::format_count(*lines, "unchanged line")
            ));
        }
    };
    let visible_part: String = content.chars().take(MAX_LINE_CHARS).collect();
    let ellipsis = if visible_part.len() < content.len() {
        "\u{2026}"
    } else {
        ""
    };
    DiffLine {
        component: None,
        depth: 1,
        sign,
        is_value: true,
        text: text::escape_line(&(visible_part + ellipsis)),
    }
}
