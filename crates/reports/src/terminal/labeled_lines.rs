//! Prints messages with a label such as `warning`, wrapped to the width of the terminal.

use super::{INDENT, MIN_COLUMNS, Style, bold, paint};
use anstyle::AnsiColor;
use sluicegate_base::text::{self, wrap};
use std::fmt::Write as _;

pub(super) const ERROR_LABEL: &str = "error";
pub(super) const WARNING_LABEL: &str = "warning";

/// Adds a label such as `warning` and a message, wrapped to the width of the terminal. `shown_label` is the label with
/// its color codes and link. Each line is escaped after wrapping, because it could start like a command of the host.
pub(super) fn push_wrapped(output: &mut String, label: &str, shown_label: &str, message: &str, style: Style) {
    let lines = wrap_text(&format!("{label}: {message}"), style.width);
    for (line_index, line) in lines.iter().enumerate() {
        // On a very narrow terminal, the label itself is wrapped. It then has no color.
        match line.strip_prefix(label) {
            Some(message_start) if line_index == 0 => {
                let _ = writeln!(output, "{shown_label}{}", text::escape_line(message_start));
            }
            _ => {
                let indent = if line_index == 0 { 0 } else { INDENT };
                let _ = writeln!(output, "{:indent$}{}", "", text::escape_line(line));
            }
        }
    }
}

/// Adds a label such as `warning`, in its color, and a message of one line, wrapped to the width of the terminal.
pub(super) fn push_labeled(output: &mut String, label: &str, message: &str, style: Style) {
    push_wrapped(
        output,
        label,
        &paint_label(label, style),
        &text::escape_line(message),
        style,
    );
}

/// Returns the label in its color.
fn paint_label(label: &str, style: Style) -> String {
    match label {
        ERROR_LABEL => paint(label, bold(AnsiColor::Red), style),
        WARNING_LABEL => paint(label, bold(AnsiColor::Yellow), style),
        _ => label.to_owned(),
    }
}

/// Wraps each line of a text at spaces, so that it fits the terminal with indentation. Without `width`, wraps nothing.
pub(super) fn wrap_text(text: &str, width: Option<usize>) -> Vec<String> {
    let columns = width.map_or(usize::MAX, |width| width.saturating_sub(INDENT).max(MIN_COLUMNS));
    text.lines()
        .flat_map(|line| wrap::wrap_lines(line, "", "", columns))
        .collect()
}
