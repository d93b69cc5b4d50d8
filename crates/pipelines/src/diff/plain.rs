//! Compares files that are not pipelines line by line.

use super::line::{Line, Sign};
use super::line_diff;
use sluicegate_base::text;

/// Maximum number of lines that are shown.
const MAX_LINES: usize = 2_000;

/// Maximum number of characters of a line that are shown.
const MAX_LINE_CHARS: usize = 400;

/// Returns the lines that differ, and those around them. A file that contains a NUL is reported as binary.
pub fn plain(base: &str, head: &str) -> Vec<Line> {
    if base.contains('\0') || head.contains('\0') {
        return vec![Line::remark("binary")];
    }
    let [old, new] = [base, head].map(|side| side.lines().collect::<Vec<_>>());
    let all = line_diff::compare_lines(&old, &new);
    let mut lines: Vec<Line> = all.iter().take(MAX_LINES).map(format_line).collect();
    if all.len() > MAX_LINES {
        let omission = text::count(all.len() - MAX_LINES, "more line");
        lines.push(Line::remark(&format!("\u{2026} {omission}")));
    }
    lines
}

fn format_line(line: &line_diff::TextLine<'_>) -> Line {
    let (sign, content) = match line {
        line_diff::TextLine::Unchanged(line) => (Sign::None, *line),
        line_diff::TextLine::Removed(line) => (Sign::Removed, *line),
        line_diff::TextLine::Added(line) => (Sign::Added, *line),
        line_diff::TextLine::Omitted(lines) => {
            return Line::remark(&format!("\u{2026} {} as before", text::count(*lines, "line")));
        }
    };
    let visible_part: String = content.chars().take(MAX_LINE_CHARS).collect();
    let end = if visible_part.len() < content.len() {
        "\u{2026}"
    } else {
        ""
    };
    Line {
        component: None,
        depth: 1,
        sign,
        is_value: true,
        text: text::line(&(visible_part + end)),
    }
}
