//! Detects a value that is still the source of a script or job definition: a variable or an expression that was not
//! replaced with its value, or quotes that became part of the value.

/// Maximum number of characters of a fragment that a message shows.
const MAX_FRAGMENT: usize = 40;

/// The reason why a text is not a finished value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnexpandedValue<'t> {
    /// The template expression of a CI host, with its braces.
    Expression(&'t str),
    /// The reference to a variable in the syntax of a shell or a CI host.
    Variable(&'t str),
    /// The text is in quotes, single or double.
    Quotes,
}

impl<'t> UnexpandedValue<'t> {
    /// Finds what should have been expanded or removed before the text became a value: an expression `{{ }}`, otherwise
    /// the first variable, otherwise quotes around the text.
    pub fn find(text: &'t str) -> Option<Self> {
        if let Some(start) = text.find("{{") {
            let dollar_length = usize::from(text[..start].ends_with('$'));
            return Some(Self::Expression(cut_fragment(
                &text[start - dollar_length..],
                "}}",
            )));
        }
        if let Some(variable) = find_unexpanded_variable(text) {
            return Some(Self::Variable(variable));
        }
        let is_quoted = |quote: char| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
        (is_quoted('"') || is_quoted('\'')).then_some(Self::Quotes)
    }
}

/// Returns the first variable in the text: `$(X)`, `${X}`, `%X%` or `$X`.
fn find_unexpanded_variable(text: &str) -> Option<&str> {
    text.char_indices().find_map(|(start, sign)| {
        let candidate = &text[start..];
        match sign {
            '$' if candidate.starts_with("$(") => Some(cut_fragment(candidate, ")")),
            '$' if candidate.starts_with("${") => Some(cut_fragment(candidate, "}")),
            '$' => find_shell_variable(candidate, start == 0),
            '%' => find_percent_variable(candidate),
            _ => None,
        }
    })
}

/// Returns the start of the text up to and including the end mark, but no more than [`MAX_FRAGMENT`] characters.
fn cut_fragment<'t>(text: &'t str, end_mark: &str) -> &'t str {
    let length = text
        .find(end_mark)
        .map_or(text.len(), |position| position + end_mark.len());
    match text.char_indices().nth(MAX_FRAGMENT) {
        Some((limit, _)) if limit < length => &text[..limit],
        _ => &text[..length],
    }
}

/// Returns `$NAME` at the start of the text, which is the start of the value if `is_first` is true. A `$` in the middle
/// of a value begins a variable only if two or more characters without a lowercase letter follow, because `a$b` and
/// `a$B` may be names.
fn find_shell_variable(text: &str, is_first: bool) -> Option<&str> {
    let name = &text[1..=variable_name_length(&text[1..])];
    let is_capital = name.len() > 1 && !name.contains(|c: char| c.is_ascii_lowercase());
    (!name.is_empty() && (is_first || is_capital)).then(|| &text[..=name.len()])
}

/// Returns `%NAME%` at the start of the text. Returns `None` if two hexadecimal digits follow, because the second `%`
/// then begins an escape in a URL (`%C3%A4`).
fn find_percent_variable(text: &str) -> Option<&str> {
    let length = variable_name_length(&text[1..]);
    let suffix = text[1 + length..].strip_prefix('%')?;
    let mut digits = suffix.chars().take(2).filter(char::is_ascii_hexdigit);
    let is_escape = digits.by_ref().count() == 2;
    (length > 0 && !is_escape).then(|| &text[..length + 2])
}

/// Returns the length of the variable name at the start of the text, or 0 if the text does not start with a name.
fn variable_name_length(text: &str) -> usize {
    if !text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        return 0;
    }
    text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unexpanded_values_show_their_fragment() {
        for (text, expected) in [
            ("$(PREFIX)", UnexpandedValue::Variable("$(PREFIX)")),
            (
                "sales-$(Build.BuildId)-x",
                UnexpandedValue::Variable("$(Build.BuildId)"),
            ),
            ("https://${HOST}/v1", UnexpandedValue::Variable("${HOST}")),
            ("%PREFIX%", UnexpandedValue::Variable("%PREFIX%")),
            ("https://%DB_HOST%/v1", UnexpandedValue::Variable("%DB_HOST%")),
            ("$prefix", UnexpandedValue::Variable("$prefix")),
            ("sales-$ENV", UnexpandedValue::Variable("$ENV")),
            (
                "${{ vars.PREFIX }}",
                UnexpandedValue::Expression("${{ vars.PREFIX }}"),
            ),
            ("a-{{ b }}", UnexpandedValue::Expression("{{ b }}")),
            ("\"sales\"", UnexpandedValue::Quotes),
            ("'sales'", UnexpandedValue::Quotes),
            ("$(open", UnexpandedValue::Variable("$(open")),
        ] {
            assert_eq!(UnexpandedValue::find(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn signs_that_are_no_variable_are_accepted() {
        for text in [
            "sales",
            "50%",
            "100%-or-5%",
            "a$b",
            "US$1",
            "it's",
            "\"",
            "",
            "$",
            "%%",
            "{tag}",
            "https://h.example/%C3%A4%20b",
            "a%E4x%20",
            "ü%ü%",
            "x$Y",
        ] {
            assert_eq!(UnexpandedValue::find(text), None, "{text}");
        }
    }
}
