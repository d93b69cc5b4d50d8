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
        if let Some((_, reference)) = find_reference(text) {
            let fragment = match reference.char_indices().nth(MAX_FRAGMENT) {
                Some((limit, _)) => &reference[..limit],
                None => reference,
            };
            let is_expression = fragment.trim_start_matches('$').starts_with("{{");
            return Some(if is_expression {
                Self::Expression(fragment)
            } else {
                Self::Variable(fragment)
            });
        }
        let is_quoted = |quote: char| text.len() > 1 && text.starts_with(quote) && text.ends_with(quote);
        (is_quoted('"') || is_quoted('\'')).then_some(Self::Quotes)
    }

    /// Finds an expression or a variable like [`Self::find`], but only in a text without any word of its own. A
    /// sentence may contain a sign that looks like a variable.
    pub fn find_without_words(text: &'t str) -> Option<Self> {
        let mut remaining_text = text;
        while let Some((start, reference)) = find_reference(remaining_text) {
            if has_word(&remaining_text[..start]) {
                return None;
            }
            remaining_text = &remaining_text[start + reference.len()..];
        }
        match Self::find(text) {
            Some(Self::Quotes) | None => None,
            value => value.filter(|_| !has_word(remaining_text)),
        }
    }

    /// Describes the defect, for a message whose subject is the value.
    pub fn describe(self) -> String {
        match self {
            Self::Expression(fragment) => {
                format!("contains `{fragment}`, an expression that was not replaced with its value")
            }
            Self::Variable(fragment) => {
                format!("contains `{fragment}`, a variable that was not replaced with its value")
            }
            Self::Quotes => "is in quotes".to_owned(),
        }
    }
}

fn has_word(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// Returns the position and the text of the first expression `{{ }}`, otherwise of the first variable: `$(X)`, `${X}`,
/// `%X%` or `$X`.
fn find_reference(text: &str) -> Option<(usize, &str)> {
    if let Some(brace) = text.find("{{") {
        let start = brace - usize::from(text[..brace].ends_with('$'));
        // Without `$`, a comma before the end separates the alternatives of a glob: `{{a,b},c}`.
        let content = text[brace..].split('}').next().unwrap_or_default();
        if start < brace || !content.contains(',') {
            return Some((start, cut_after(&text[start..], "}}")));
        }
    }
    text.char_indices().find_map(|(start, sign)| {
        let candidate = &text[start..];
        let variable = match sign {
            '$' if candidate.starts_with("$(") => Some(cut_after(candidate, ")")),
            '$' if candidate.starts_with("${") => Some(cut_after(candidate, "}")),
            '$' => find_shell_variable(candidate, start == 0),
            '%' => find_percent_variable(candidate),
            _ => None,
        };
        variable.map(|variable| (start, variable))
    })
}

/// Returns the start of the text up to and including the end mark; the complete text without that mark.
fn cut_after<'t>(text: &'t str, end_mark: &str) -> &'t str {
    match text.find(end_mark) {
        Some(position) => &text[..position + end_mark.len()],
        None => text,
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
            ("{{ b", UnexpandedValue::Expression("{{ b")),
            (
                "${{ format('{0}', b) }}",
                UnexpandedValue::Expression("${{ format('{0}', b) }}"),
            ),
            ("\"sales\"", UnexpandedValue::Quotes),
            ("'sales'", UnexpandedValue::Quotes),
            ("$(open", UnexpandedValue::Variable("$(open")),
        ] {
            assert_eq!(UnexpandedValue::find(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn text_without_words_is_unexpanded() {
        let long_variable = format!("$({})", "a".repeat(2 * MAX_FRAGMENT));
        for text in [
            "$(reason)",
            "$REASON",
            "%REASON%",
            "${{ x.y }}",
            "$(a): $(b)",
            "\"$(a)\"",
            &long_variable,
        ] {
            assert!(UnexpandedValue::find_without_words(text).is_some(), "{text}");
        }
        for text in [
            "costs $5",
            "moved to $(sales)",
            "$TEAM agreed",
            "'agreed'",
            "100%",
            "",
        ] {
            assert_eq!(UnexpandedValue::find_without_words(text), None, "{text}");
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
            "{{a,b},c}/*",
            "https://h.example/%C3%A4%20b",
            "a%E4x%20",
            "ü%ü%",
            "x$Y",
        ] {
            assert_eq!(UnexpandedValue::find(text), None, "{text}");
        }
    }
}
