//! Compares files that are not pipelines line by line.

use super::line::{Line, Sign};
use super::lines;
use sluicegate_base::text;

/// Maximum number of lines that are shown.
const MOST_LINES: usize = 2_000;

/// Maximum number of characters of a line that are shown.
const WIDTH: usize = 400;

/// Returns the lines that differ, and those around them. A file that contains a NUL is reported as binary.
pub fn plain(before: &str, after: &str) -> Vec<Line> {
    if before.contains('\0') || after.contains('\0') {
        return vec![Line::remark("binary")];
    }
    let [old, new] = [before, after].map(|side| side.lines().collect::<Vec<_>>());
    let all = lines::compare(&old, &new);
    let mut shown: Vec<Line> = all.iter().take(MOST_LINES).map(line).collect();
    if all.len() > MOST_LINES {
        let more = text::format_count(all.len() - MOST_LINES, "more line");
        shown.push(Line::remark(&format!("\u{2026} {more}")));
    }
    shown
}

fn line(line: &lines::TextLine<'_>) -> Line {
    let (sign, said) = match line {
        lines::TextLine::Same(line) => (Sign::None, *line),
        lines::TextLine::Gone(line) => (Sign::Removed, *line),
        lines::TextLine::New(line) => (Sign::Added, *line),
        lines::TextLine::Skipped(lines) => {
            return Line::remark(&format!(
                "\u{2026} {} as before",
                text::format_count(*lines, "line")
            ));
        }
    };
    let cut: String = said.chars().take(WIDTH).collect();
    let end = if cut.len() < said.len() { "\u{2026}" } else { "" };
    Line {
        component: None,
        depth: 1,
        sign,
        is_value: true,
        text: text::escape_line(&(cut + end)),
    }
}
