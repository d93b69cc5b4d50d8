//! Escapes text for XML 1.0, and replaces forbidden characters.

use sluicegate_base::text::{is_plain_in_markup, is_unsafe, replace_command_marks};

/// The `##` of a CI host's command, which a host may find in a printed document; XML reads it as `##`.
const ESCAPED_MARKS: &str = "#&#35;";

/// Escapes an attribute's value. Line breaks and tabs become character references, because a parser replaces literal
/// ones with spaces (<https://www.w3.org/TR/xml/#AVNormalize>). Characters that XML 1.0 forbids become U+FFFD. Like
/// [`escape_content`], breaks up the start of CI host commands.
pub(crate) fn escape_attribute(text: &str) -> String {
    if text.bytes().all(is_plain_in_markup) {
        return text.to_owned();
    }
    let mut value = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => value.push_str("&quot;"),
            '\t' => value.push_str("&#9;"),
            '\n' => value.push_str("&#10;"),
            '\r' => value.push_str("&#13;"),
            _ => push_escaped(&mut value, c),
        }
    }
    replace_command_marks(value, ESCAPED_MARKS)
}

/// Escapes an element's content. CR LF and CR become LF, because a parser converts them anyway. If the document is
/// printed in a CI job, the host must not find a command in it: a character reference breaks up `::` at the start of a
/// line (GitHub) and `##[` (Azure). `<![CDATA[` is not used, because a text with `]]>` would need two sections,
/// and action-junit-report puts a comma between two sections.
pub(super) fn escape_content(text: &str) -> String {
    if text.bytes().all(|byte| byte == b'\n' || is_plain_in_markup(byte)) && !text.contains("::") {
        return text.to_owned();
    }
    let unified_text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut value = String::with_capacity(unified_text.len());
    unified_text.chars().for_each(|c| push_escaped(&mut value, c));
    let escaped_text = replace_command_marks(value, ESCAPED_MARKS);
    let lines = escaped_text.split('\n').map(|line| {
        let indent_length = line.len() - line.trim_start().len();
        match line[indent_length..].strip_prefix("::") {
            Some(command) => format!("{}:&#58;{command}", &line[..indent_length]),
            None => line.to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Adds a character to `value`, escaped for XML. A control character or one that changes the direction of text becomes
/// visible text, because hosts show the document to people.
fn push_escaped(value: &mut String, c: char) {
    match replace_forbidden_char(c) {
        '&' => value.push_str("&amp;"),
        '<' => value.push_str("&lt;"),
        '>' => value.push_str("&gt;"),
        '\t' | '\r' => value.push(c),
        c if is_unsafe(c) => value.extend(c.escape_unicode()),
        c => value.push(c),
    }
}

/// Returns the text that a parser reads from [`escape_attribute`].
#[cfg(test)]
pub(super) fn replace_forbidden_chars(text: &str) -> String {
    text.chars().map(to_parsed_char).collect()
}

/// Returns the text that a parser reads for a character.
#[cfg(test)]
fn to_parsed_char(c: char) -> String {
    match replace_forbidden_char(c) {
        '\t' | '\r' => c.to_string(),
        c if is_unsafe(c) => c.escape_unicode().collect(),
        c => c.to_string(),
    }
}

/// Returns the text that a parser reads from [`escape_content`].
#[cfg(test)]
pub(super) fn to_parsed_content(text: &str) -> String {
    text.replace("\r\n", "\n")
        .replace('\r', "\n")
        .chars()
        .map(to_parsed_char)
        .collect()
}

/// Returns the character, or U+FFFD if XML 1.0, production 2, forbids it (<https://www.w3.org/TR/xml/#charsets>).
const fn replace_forbidden_char(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}' => {
            c
        }
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_characters_are_replaced() {
        assert_eq!(escape_attribute("a\u{1b}b\u{fffe}c"), "a\u{fffd}b\u{fffd}c");
    }

    #[test]
    fn controls_and_direction_marks_are_visible() {
        assert_eq!(escape_attribute("a\u{9b}31m\u{202e}b"), "a\\u{9b}31m\\u{202e}b");
        assert_eq!(
            escape_content("a\u{9b}31m\u{202e}b\tc"),
            "a\\u{9b}31m\\u{202e}b\tc"
        );
    }

    #[test]
    fn breaks_and_marks_in_an_attribute_are_references() {
        assert_eq!(escape_attribute("a\tb\nc\rd"), "a&#9;b&#10;c&#13;d");
        assert_eq!(
            escape_attribute("<\"&\"> ##[x] ###vso[y] ##teamcity[z]"),
            "&lt;&quot;&amp;&quot;&gt; #&#35;[x] ##&#35;vso[y] #&#35;teamcity[z]"
        );
    }

    #[test]
    fn content_never_ends_early() {
        assert_eq!(escape_content("a]]>b</c>&"), "a]]&gt;b&lt;/c&gt;&amp;");
        assert_eq!(escape_content("a\r\n ::error::x"), "a\n :&#58;error::x");
        assert_eq!(escape_content("##[group]"), "#&#35;[group]");
        assert_eq!(escape_content("a: b\n  c"), "a: b\n  c");
        assert_eq!(escape_content("a: b\n::c"), "a: b\n:&#58;c");
    }
}
