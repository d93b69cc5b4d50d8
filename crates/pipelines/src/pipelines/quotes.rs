//! Finds quotes in sentences that come from outside.

/// The opening and closing quotes of names.
pub(super) const QUOTES: [(char, char); 6] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('‘', '’'),
    ('«', '»'),
];

/// An opening quote in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenedQuote<'t> {
    /// The index in [`QUOTES`].
    pub kind: usize,
    pub closing: char,
    /// The text before it.
    pub before: &'t str,
    /// The text after it.
    pub after: &'t str,
}

/// Returns all opening quotes in the text, whether or not they are closed.
pub(super) fn opened(text: &str) -> impl Iterator<Item = OpenedQuote<'_>> {
    text.char_indices().filter_map(|(at, c)| {
        let kind = QUOTES.iter().position(|(opening, _)| *opening == c)?;
        let (_, closing) = *QUOTES.get(kind)?;
        let (before, rest) = text.split_at(at);
        let after = rest.strip_prefix(c)?;
        Some(OpenedQuote {
            kind,
            closing,
            before,
            after,
        })
    })
}

/// Returns the first opening quote in the text that is not an apostrophe.
pub(super) fn first(text: &str) -> Option<OpenedQuote<'_>> {
    opened(text).find(|quote| !(quote.closing == '\'' && is_inside_word(quote.before, quote.after)))
}

/// Returns whether the text has an opening or closing quote that is not an apostrophe.
pub(super) fn has_any(text: &str) -> bool {
    text.char_indices().any(|(at, c)| {
        let (before, rest) = text.split_at(at);
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let is_quote = QUOTES
            .iter()
            .any(|(opening, closing)| [*opening, *closing].contains(&c));
        is_quote && !(matches!(c, '\'' | '’') && is_inside_word(before, after))
    })
}

impl OpenedQuote<'_> {
    /// Returns whether all quotes of this kind are balanced in the text that follows, so that no part of a name
    /// remains.
    pub(super) fn leaves_whole(&self, text: &str) -> bool {
        let mut is_open = false;
        for (at, c) in text.char_indices() {
            let (before, rest) = text.split_at(at);
            let after = rest.get(c.len_utf8()..).unwrap_or_default();
            if c == '\'' && is_inside_word(before, after) {
                continue;
            }
            let opens = QUOTES.get(self.kind).is_some_and(|(opening, _)| *opening == c);
            match (is_open, opens, c == self.closing) {
                (true, _, true) => is_open = false,
                (false, true, _) => is_open = true,
                (false, false, true) => return false,
                _ => {}
            }
        }
        !is_open && !text.starts_with(is_word)
    }
}

/// Returns whether the character can be part of a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_inside_word(before: &str, after: &str) -> bool {
    before.ends_with(is_word) && after.starts_with(is_word)
}
