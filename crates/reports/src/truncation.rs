//! Truncates text to a limit, with a visible mark.

use sluicegate_base::text::is_unsafe;

/// Maximum number of lines in a table or list.
pub(super) const MAX_SECTION_LINES: usize = 500;

/// The end of a truncated text.
const ELLIPSIS: char = '…';

/// Truncates the text to `limit` UTF-16 code units. A truncated text ends with `…`.
pub(super) fn truncate(text: &str, limit: usize) -> String {
    escape_and_truncate(text, limit, |c, output| output.push(c))
}

/// Makes control characters visible as [`sluicegate_base::text::escape_controls`] does, and truncates the result to
/// `limit` UTF-16 code units, but never within such an escape.
pub(super) fn escape_controls_and_truncate(text: &str, limit: usize) -> String {
    escape_and_truncate(&text.replace("\r\n", "\n"), limit, push_visible_char)
}

/// Adds a character to `output`, escaped if it is a control character other than a tab or a line feed.
fn push_visible_char(c: char, output: &mut String) {
    if is_unsafe(c) && c != '\t' {
        output.extend(c.escape_unicode());
    } else {
        output.push(c);
    }
}

/// Escapes the text character by character, and truncates the result to `limit` UTF-16 code units, which the .NET
/// runners of GitHub and Azure count. Never truncates within an escape; a truncated text ends with `…`.
pub(super) fn escape_and_truncate(text: &str, limit: usize, escape: impl Fn(char, &mut String)) -> String {
    let mut output = String::with_capacity(text.len());
    let mut units = 0;
    let mut end_before_mark = 0;
    for c in text.chars() {
        let start = output.len();
        escape(c, &mut output);
        units += output[start..].encode_utf16().count();
        if units > limit {
            output.truncate(end_before_mark);
            output.push(ELLIPSIS);
            return output;
        }
        if units < limit {
            end_before_mark = output.len();
        }
    }
    output
}

/// Adds lines to `text` until it exceeds `max_bytes`, but at most [`MAX_SECTION_LINES`]. If there are more,
/// `render_omission` creates the last line from the number of omitted lines.
pub(super) fn push_lines(
    text: &mut String,
    lines: impl ExactSizeIterator<Item = String>,
    max_bytes: usize,
    render_omission: impl Fn(usize) -> String,
) {
    let line_count = lines.len();
    for (line_index, line) in lines.enumerate() {
        if line_index == MAX_SECTION_LINES || text.len() > max_bytes {
            text.push_str(&render_omission(line_count - line_index));
            return;
        }
        text.push_str(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_base::text::escape_controls;

    #[test]
    fn short_text_is_unchanged_and_cut_text_is_marked() {
        assert_eq!(truncate("abc", 3), "abc");
        assert_eq!(truncate("abcd", 3), "ab…");
        assert_eq!(truncate("😀😀", 3), "😀…");
    }

    #[test]
    fn escape_is_never_cut_in_two() {
        let percent = |c, shown: &mut String| {
            if c == '%' {
                shown.push_str("%25");
            } else {
                shown.push(c);
            }
        };
        assert_eq!(escape_and_truncate("a%%", 7, percent), "a%25%25");
        assert_eq!(escape_and_truncate("a%%", 6, percent), "a%25…");
        assert_eq!(escape_and_truncate("a%%", 4, percent), "a…");
    }

    #[test]
    fn visible_control_character_is_never_cut_in_two() {
        let text = "ab\u{202e}cd\r\n\te";
        let visible_text = escape_controls(text);
        for limit in 1..20 {
            let short_text = escape_controls_and_truncate(text, limit);
            let start = short_text.strip_suffix('…').unwrap_or(&short_text);
            assert!(visible_text.starts_with(start) && short_text.chars().count() <= limit);
            assert_eq!(start.contains("\\u"), start.contains('}'), "{short_text}");
        }
        assert_eq!(escape_controls_and_truncate(text, 20), visible_text);
    }
}
