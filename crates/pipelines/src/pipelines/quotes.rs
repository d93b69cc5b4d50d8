//! Finds quotes in the sentences of a platform's review.

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
    pub close_quote: char,
    /// The text before the quote.
    pub text_before: &'t str,
    /// The text after the quote.
    pub text_after: &'t str,
}

/// Returns all opening quotes in the text, whether or not they are closed.
pub(super) fn list_opening_quotes(text: &str) -> impl Iterator<Item = OpenedQuote<'_>> {
    text.char_indices().filter_map(|(index, c)| {
        let kind = QUOTES.iter().position(|(open_quote, _)| *open_quote == c)?;
        let (_, close_quote) = *QUOTES.get(kind)?;
        let (text_before, text_from_quote) = text.split_at(index);
        let text_after = text_from_quote.strip_prefix(c)?;
        Some(OpenedQuote {
            kind,
            close_quote,
            text_before,
            text_after,
        })
    })
}

/// Returns the first opening quote in the text that is not an apostrophe inside a word.
pub(super) fn find_first_quote(text: &str) -> Option<OpenedQuote<'_>> {
    list_opening_quotes(text)
        .find(|quote| !(quote.close_quote == '\'' && is_inside_word(quote.text_before, quote.text_after)))
}

/// Returns whether the text has an opening or closing quote that is not an apostrophe inside a word.
pub(super) fn contains_quote(text: &str) -> bool {
    text.char_indices().any(|(index, c)| {
        let (text_before, text_from_here) = text.split_at(index);
        let text_after = text_from_here.get(c.len_utf8()..).unwrap_or_default();
        let is_quote = QUOTES
            .iter()
            .any(|(open_quote, close_quote)| [*open_quote, *close_quote].contains(&c));
        is_quote && !(matches!(c, '\'' | '’') && is_inside_word(text_before, text_after))
    })
}

impl OpenedQuote<'_> {
    /// Returns whether the name ends at its closing quote, which `text` follows: all quotes of this kind in `text` are
    /// balanced, except for apostrophes inside words, and it does not begin with a word character.
    pub(super) fn is_name_complete_before(&self, text: &str) -> bool {
        let mut is_open = false;
        for (index, c) in text.char_indices() {
            let (text_before, text_from_here) = text.split_at(index);
            let text_after = text_from_here.get(c.len_utf8()..).unwrap_or_default();
            if c == '\'' && is_inside_word(text_before, text_after) {
                continue;
            }
            let is_open_quote = QUOTES
                .get(self.kind)
                .is_some_and(|(open_quote, _)| *open_quote == c);
            match (is_open, is_open_quote, c == self.close_quote) {
                (true, _, true) => is_open = false,
                // For a kind whose opening and closing quotes are equal, this is an opening quote.
                (false, true, _) => is_open = true,
                // A second closing quote: the name itself contains the first one.
                (false, false, true) => return false,
                _ => {}
            }
        }
        !is_open && !text.starts_with(is_word_char)
    }
}

/// Returns whether the character can be part of a word.
pub(super) fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether the character between these two texts is inside a word, for example an apostrophe.
fn is_inside_word(text_before: &str, text_after: &str) -> bool {
    text_before.ends_with(is_word_char) && text_after.starts_with(is_word_char)
}
