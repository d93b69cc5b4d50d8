//! The lines of a list that is edited in place. Each entry of such a list is on lines of its own.

/// Returns the line ending of the document. A document with both line endings has the one of Windows.
pub fn find_line_ending(document: &str) -> &'static str {
    if document.contains("\r\n") { "\r\n" } else { "\n" }
}

/// Returns the lines of the document with their line endings. The last line gets one if it has none.
pub fn split_lines(document: &str) -> Vec<String> {
    let mut lines: Vec<String> = document.split_inclusive('\n').map(str::to_owned).collect();
    if let Some(last_line) = lines.last_mut().filter(|line| !line.ends_with('\n')) {
        last_line.push_str(find_line_ending(document));
    }
    lines
}

/// Returns whether the line begins an entry of a list: with a dash, and a blank or nothing after it.
pub fn is_entry_start(line: &str) -> bool {
    let content = line.trim_start_matches(' ');
    content
        .strip_prefix('-')
        .is_some_and(|text_after| text_after.is_empty() || text_after.starts_with(char::is_whitespace))
}

/// Returns whether the line is a comment that is not indented further than the dash of an entry. A line that is
/// indented further may look like a comment but be part of a text, such as a reason on several lines.
pub fn is_comment_outside_entry(line: &str, dash_indent: usize) -> bool {
    line.trim_start().starts_with('#') && indent_width(line) <= dash_indent
}

/// Returns the number of spaces at the beginning of the line; YAML does not allow tabs there.
pub fn indent_width(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}
