//! Escapes text for hosts that render GitHub Flavored Markdown.

use super::file_uri;
use sluicegate_base::text;
use std::fmt::Write as _;

/// Escapes text for a table cell, a list item or a heading: a host shows it literally on one line, without markup,
/// HTML, links, images, mentions or issue references.
///
/// Character references never act as markup
/// (<https://spec.commonmark.org/0.31.2/#entity-and-numeric-character-references>), so every character that could start
/// markup becomes one. Hosts search the rendered text for mentions and references: an invisible word joiner after the
/// character that begins a reference prevents them.
pub(super) fn escape(raw: &str) -> String {
    let line = text::escape_line(raw);
    let mut markdown = String::with_capacity(line.len() * 2);
    let mut remaining_chars = line.trim().chars();
    while let Some(c) = remaining_chars.next() {
        let next = remaining_chars.clone().next();
        let is_reference = is_reference_at(c, &markdown, remaining_chars.as_str());
        if is_markup(c) || is_markup_at(c, &markdown, next) {
            let _ = write!(markdown, "&#{};", u32::from(c));
        } else {
            markdown.push(c);
        }
        if is_reference {
            markdown.push_str("&#8288;");
        }
    }
    markdown
}

/// Returns whether the character can start or end markup at any position.
const fn is_markup(c: char) -> bool {
    matches!(
        c,
        '&' | '<' | '\\' | '`' | '*' | '_' | '~' | '[' | ']' | '|' | '#' | '@' | '$' | '^' | '{' | '}'
    )
}

/// Returns whether the character can be markup only at this position: the mark of a list, quote or heading at the start
/// of the line, the dot after `www`, the dot or parenthesis after the number of a list item, or a colon that a space
/// does not follow, as in an address or an emoji. Parentheses make a link only after brackets, which are always
/// escaped.
fn is_markup_at(c: char, preceding_text: &str, next: Option<char>) -> bool {
    match c {
        // At the end of the text: a link that follows would become an image.
        '!' => next.is_none(),
        ':' => next.is_some_and(|next| !next.is_whitespace()),
        '-' | '+' | '=' | '>' => preceding_text.is_empty(),
        '.' => ends_with_word(preceding_text, "www") || is_number_of_item(preceding_text),
        ')' => !preceding_text.is_empty() && is_number_of_item(preceding_text),
        _ => false,
    }
}

/// Returns whether the character begins a mention or a reference, which would appear on the page of its target, too:
/// an issue (`#1`, `GH-1`), merge or pull request (`!1`), snippet (`$1`), epic (`&1`), milestone (`%1`), label
/// (`~bug`), iteration (`*iteration:1`) or another object (`[vulnerability:1]`). Ids of commits stay, because people
/// copy them.
///
/// GitHub: <https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/autolinked-references-and-urls>,
/// GitLab: <https://docs.gitlab.com/user/markdown/#gitlab-specific-references>.
fn is_reference_at(c: char, preceding_text: &str, following_text: &str) -> bool {
    let has_number = following_text.starts_with(|next: char| next.is_ascii_digit());
    match c {
        '@' | '#' => true,
        '!' | '$' | '&' => has_number,
        '%' | '~' => {
            following_text.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '"' | '_'))
        }
        '-' => has_number && (ends_with_word(preceding_text, "gh") || ends_with_word(preceding_text, "gl")),
        '*' => following_text.starts_with("iteration:"),
        '[' => match following_text.split_once(':') {
            Some((kind, _)) => kind
                .chars()
                .all(|letter| letter.is_ascii_lowercase() || letter == '_'),
            None => false,
        },
        _ => false,
    }
}

/// Returns whether the text ends with this word of ASCII letters, in any letter case.
fn ends_with_word(text: &str, word: &str) -> bool {
    let end = text
        .len()
        .checked_sub(word.len())
        .and_then(|start| text.get(start..));
    end.is_some_and(|end| end.eq_ignore_ascii_case(word))
}

/// Returns whether the text at the start of a line is the number of a list item, if a dot or a parenthesis follows.
fn is_number_of_item(preceding_text: &str) -> bool {
    preceding_text.chars().all(|c| c.is_ascii_digit())
}

/// Renders text as code, in an HTML element: unlike text between backticks, its content can be escaped.
pub(super) fn render_code(raw: &str) -> String {
    format!("<code>{}</code>", escape(raw))
}

/// Escapes a sentence of this program as [`escape`] does, but renders names in backticks as code. A backtick without a
/// second one is escaped.
pub(super) fn escape_prose(raw: &str) -> String {
    let mut parts = raw.split('`');
    let mut markdown = escape_part(parts.next().unwrap_or_default());
    while let Some(name) = parts.next() {
        match parts.next() {
            Some(following_text) => {
                let _ = write!(markdown, "{}{}", render_code(name), escape_part(following_text));
            }
            None => markdown.push_str(&escape(&format!("`{name}"))),
        }
    }
    markdown
}

/// Escapes a part of a sentence. [`escape`] removes spaces at both ends, so a space at each end is added again.
fn escape_part(part: &str) -> String {
    let space_if = |is_present| if is_present { " " } else { "" };
    let (leading_space, trailing_space) = (space_if(part.starts_with(' ')), space_if(part.ends_with(' ')));
    format!("{leading_space}{}{trailing_space}", escape(part))
}

/// Renders `text` as a link to a line of a file; `url_template` is the host's URL template for files.
pub(super) fn render_source_link(url_template: &str, path: &str, line: u32, text: &str) -> String {
    format!(
        "[{}]({})",
        escape(text),
        file_uri::build_line_url(url_template, path, line)
    )
}

/// Renders a paragraph with the commit that a comment is about, because the comment may remain when the change has
/// newer commits.
pub(super) fn render_commit(id: &str) -> String {
    format!("Commit: {}\n\n", render_code(text::short_id(id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_becomes_text() {
        insta::assert_snapshot!(escape("a|b <img src=x> ![i](http://x) @me #1\n# no"), @"a&#124;b &#60;img src=x> !&#91;i&#93;(http&#58;//x) &#64;&#8288;me &#35;&#8288;1 &#35;&#8288; no");
        insta::assert_snapshot!(escape("- x"), @"&#45; x");
        insta::assert_snapshot!(escape("1. see www.x.y"), @"1&#46; see www&#46;x.y");
        insta::assert_snapshot!(escape("7) see (1) and 2)"), @"7&#41; see (1) and 2)");
        assert_eq!(
            escape("plain words, load/it.orch.yaml"),
            "plain words, load/it.orch.yaml"
        );
    }

    #[test]
    fn reference_to_other_object_is_broken_up() {
        insta::assert_snapshot!(escape("!45 g/p!45 $1 &2 %3 %\"4.0\" ~bug GH-12 gl-3 *iteration:4 [issue:5]"), @"!&#8288;45 g/p!&#8288;45 &#36;&#8288;1 &#38;&#8288;2 %&#8288;3 %&#8288;\"4.0\" &#126;&#8288;bug GH-&#8288;12 gl-&#8288;3 &#42;&#8288;iteration&#58;4 &#91;&#8288;issue&#58;5&#93;");
        assert_eq!(escape("100 %, done! a-1"), "100 %, done! a-1");
    }

    #[test]
    fn link_cannot_be_left() {
        let link = render_source_link(
            "https://h/o/r/blob/1f/{path}#L{line}",
            "a (b) #%.orch.yaml",
            7,
            "a](x)",
        );
        insta::assert_snapshot!(link, @"[a&#93;(x)](https://h/o/r/blob/1f/a%20%28b%29%20%23%25.orch.yaml#L7)");
    }

    #[test]
    fn names_in_backticks_are_code() {
        insta::assert_snapshot!(escape_prose("the parameter `p_limit` of `a|b` is gone"), @"the parameter <code>p&#95;limit</code> of <code>a&#124;b</code> is gone");
        insta::assert_snapshot!(escape_prose("one ` alone"), @"one &#96; alone");
        insta::assert_snapshot!(escape_prose("`a\n# b` and\n# c"), @"<code>a &#35;&#8288; b</code> and &#35;&#8288; c");
    }

    /// Returns the visible text: resolves the references and removes the invisible joiners.
    fn visible_text(escaped: &str) -> String {
        let parsed = roxmltree::Document::parse(&format!("<a>{escaped}</a>"))
            .unwrap()
            .root_element()
            .text()
            .unwrap_or("")
            .to_owned();
        parsed.replace('\u{2060}', "")
    }

    proptest! {
        #[test]
        fn nothing_acts_and_everything_is_seen(raw in "(\\PC|[|<>\\[\\]()!@#`*_~:\\\\\\r\\n.-]|www|http){0,60}") {
            let escaped = escape(&raw);
            let plain = escaped.replace("&#", "");
            prop_assert!(!plain.contains(['<', '|', '[', ']', '\n', '\r', '`', '*', '_', '@', '\\']), "{escaped}");
            let mut colons = plain.match_indices(':');
            prop_assert!(colons.all(|(at, _)| plain[at + 1..].chars().next().is_none_or(char::is_whitespace)), "{escaped}");
            prop_assert!(!escaped.to_lowercase().contains("www."));
            let prose = escape_prose(&raw).replace("<code>", "").replace("</code>", "").replace("&#", "");
            prop_assert!(!prose.contains(['<', '|', '[', ']', '\n', '\r', '`', '*', '_', '@', '\\']), "{prose}");
            prop_assert_eq!(visible_text(&escaped), text::escape_line(&raw).trim().replace('\u{2060}', ""));
        }
    }
}
