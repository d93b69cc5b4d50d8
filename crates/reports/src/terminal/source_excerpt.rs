//! Prints the lines around a finding, with its own line underlined, like a compiler.

use super::{Style, paint};
use crate::NumberedLine;
use anstyle::{AnsiColor, Style as Ansi};
use sluicegate_base::text;
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Number of columns if the terminal's width is unknown.
const DEFAULT_COLUMNS: usize = 160;

/// Minimum number of columns for a line, even if the terminal is narrower.
const MIN_COLUMNS: usize = 20;

/// Replacement for a tab.
const TAB_SPACES: &str = "    ";

/// Adds the place of a finding and the source lines around it, in the style of a compiler. `place` must be escaped.
/// `line` is the number of the line to underline. `lines` is empty if the source is unknown; only the place is then
/// added.
pub(super) fn push_excerpt(
    output: &mut String,
    place: &str,
    line: u32,
    lines: &[NumberedLine<'_>],
    mark_color: Ansi,
    style: Style,
) {
    let blue = AnsiColor::Blue.on_default().bold();
    // The last line has the longest number.
    let number_width = lines
        .last()
        .map_or(1, |(number, _)| number.to_string().len())
        .max(2);
    let gutter = |number: &str| paint(&format!("{number:>number_width$} |"), blue, style);
    let arrow = paint(&format!("{:>number_width$}-->", ""), blue, style);
    let _ = writeln!(output, "{arrow} {place}");
    if lines.is_empty() {
        return;
    }
    // The number is followed by ` | ` in each line.
    let columns = style
        .width
        .unwrap_or(DEFAULT_COLUMNS)
        .saturating_sub(number_width + 3)
        .max(MIN_COLUMNS);
    let _ = writeln!(output, "{}", gutter(""));
    for (number, source) in lines {
        let source = truncate_to_columns(&text::escape_line(&source.replace('\t', TAB_SPACES)), columns);
        let _ = writeln!(
            output,
            "{}",
            format!("{} {source}", gutter(&number.to_string())).trim_end()
        );
        if *number == line {
            let _ = writeln!(
                output,
                "{} {}",
                gutter(""),
                render_underline(&source, mark_color, style)
            );
        }
    }
}

/// Returns the marks `^^^` to print below a line: under its text, not under its indentation and trailing whitespace.
fn render_underline(line: &str, mark_color: Ansi, style: Style) -> String {
    let indent = line.len() - line.trim_start().len();
    let blanks = " ".repeat(line[..indent].width());
    let marks = "^".repeat(line.trim().width().max(1));
    format!("{blanks}{}", paint(&marks, mark_color, style))
}

/// Truncates a line to this number of terminal columns, with `…` at the end.
fn truncate_to_columns(source: &str, columns: usize) -> String {
    if source.width() <= columns {
        return source.to_owned();
    }
    let mut used_columns = 0;
    let mut line_start = String::new();
    for c in source.chars() {
        used_columns += c.width().unwrap_or(0);
        if used_columns >= columns {
            break;
        }
        line_start.push(c);
    }
    line_start.push('…');
    line_start
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: u32, lines: &[NumberedLine<'_>], width: Option<usize>) -> String {
        let mut shown = String::new();
        let style = Style {
            width,
            ..Style::default()
        };
        push_excerpt(
            &mut shown,
            &format!("a b.orch.yaml:{line}"),
            line,
            lines,
            Ansi::new(),
            style,
        );
        shown
    }

    #[test]
    fn line_is_underlined_among_its_neighbours() {
        let lines = [
            (9, "  components:"),
            (10, "    Läd 日本:"),
            (11, "\ttype: x"),
            (12, ""),
        ];
        insta::assert_snapshot!(shown(10, &lines, None), @"
          --> a b.orch.yaml:10
           |
         9 |   components:
        10 |     Läd 日本:
           |     ^^^^^^^^^
        11 |     type: x
        12 |
        ");
    }

    #[test]
    fn place_without_known_lines_stands_alone() {
        assert_eq!(shown(3, &[], None), "  --> a b.orch.yaml:3\n");
    }

    #[test]
    fn long_line_is_cut_to_terminal() {
        let long = "日本 ".repeat(40);
        let text = shown(1, &[(1, &long)], Some(40));
        assert!(text.lines().all(|line| line.width() <= 40), "{text}");
        assert!(text.contains('…'));
    }

    #[test]
    fn line_cannot_act() {
        let text = shown(1, &[(1, "::error::x \u{1b}[31m ##[group]")], None);
        assert!(!text.contains('\u{1b}') && !text.contains("##["), "{text}");
    }
}
