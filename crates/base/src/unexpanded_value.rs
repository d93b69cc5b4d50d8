//! Detects a value that is still the source of a script or job definition: a variable or an expression that was not
//! replaced with its value, or quotes that became part of the value.

/// Maximum number of characters of a fragment that a message shows.
const MAX_FRAGMENT: usize = 40;

/// The output of a Go template for a variable without a value: <https://pkg.go.dev/text/template>.
const NO_VALUE: &str = "<no value>";

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

    /// Finds an expression or a variable that is the complete text of a secret. A generated secret may contain such
    /// signs, so a variable needs its end mark, or a name without lowercase letters.
    pub fn find_as_secret(text: &'t str) -> Option<Self> {
        let has_end_mark = text.ends_with([')', '}', '%']);
        let is_capital = !text.contains(|c: char| c.is_ascii_lowercase());
        Self::find_without_words(text).filter(|_| has_end_mark || is_capital)
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
/// `$[X]`, `#{X}`, `%X%` or `$X`, or what a Go template writes for a variable without a value.
fn find_reference(text: &str) -> Option<(usize, &str)> {
    if let Some(brace) = text.find("{{") {
        let start = brace - usize::from(text[..brace].ends_with('$'));
        // Without `$`, a comma before the end separates the alternatives of a glob: `{{a,b},c}`.
        let content = text[brace..].split('}').next().unwrap_or_default();
        if start < brace || !content.contains(',') {
            return Some((start, cut_after(&text[start..], "}}")));
        }
    }
    for (start, sign) in text.char_indices() {
        let candidate = &text[start..];
        let variable = match sign {
            '$' if candidate.starts_with("$(") => Some(cut_after(candidate, ")")),
            '$' if candidate.starts_with("${") => Some(cut_after(candidate, "}")),
            '$' if candidate.starts_with("$[") => Some(cut_after(candidate, "]")),
            '$' => find_shell_variable(&text[..start], candidate),
            '#' if candidate.starts_with("#{") => find_hash_variable(candidate),
            '%' => find_percent_variable(candidate),
            '<' if candidate.starts_with(NO_VALUE) => Some(NO_VALUE),
            _ => None,
        };
        if let Some(variable) = variable {
            return Some((start, variable));
        }
    }
    None
}

/// Returns the start of the text up to and including the end mark; the complete text without that mark.
fn cut_after<'t>(text: &'t str, end_mark: &str) -> &'t str {
    match text.find(end_mark) {
        Some(position) => &text[..position + end_mark.len()],
        None => text,
    }
}

/// Returns `$NAME` at the start of the text. `prefix` is the value before it. A `$` in the middle of a value begins a
/// variable only after a separator, or if two or more characters without a lowercase letter follow, because `a$b` and
/// `a$B` may be names.
fn find_shell_variable<'t>(prefix: &str, text: &'t str) -> Option<&'t str> {
    let name = &text[1..=variable_name_length(&text[1..])];
    let is_capital = name.len() > 1 && !name.contains(|c: char| c.is_ascii_lowercase());
    let is_separate = prefix.is_empty() || prefix.ends_with(['.', '-', '_', '+']);
    (!name.is_empty() && (is_separate || is_capital)).then(|| &text[..=name.len()])
}

/// Returns `#{NAME}` at the start of the text. A comma separates the alternatives of a glob: `#{a,b}`.
fn find_hash_variable(text: &str) -> Option<&str> {
    let variable = cut_after(text, "}");
    (!variable.contains(',')).then_some(variable)
}

/// Returns `%NAME%` at the start of the text. The name may have dots and hyphens (`%env.BUILD-ID%`) or parentheses
/// (`%PROGRAMFILES(X86)%`). Returns `None` if the first `%` begins an escape in a URL and the second one, too
/// (`%C3%A4`).
fn find_percent_variable(text: &str) -> Option<&str> {
    let content = text[1..].split('%').next()?;
    let suffix = text[1 + content.len()..].strip_prefix('%')?;
    let is_name = content.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && content
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_.-()".contains(c))
        && (content.contains('.') || !content.contains('-'));
    let is_escape = starts_with_hex_digits(content) && starts_with_hex_digits(suffix);
    (is_name && !is_escape).then(|| &text[..content.len() + 2])
}

/// Returns whether the text starts with two hexadecimal digits.
fn starts_with_hex_digits(text: &str) -> bool {
    text.len() > 1 && text.bytes().take(2).all(|byte| byte.is_ascii_hexdigit())
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
            (
                "$[variables.version]",
                UnexpandedValue::Variable("$[variables.version]"),
            ),
            ("#{Version}#", UnexpandedValue::Variable("#{Version}")),
            ("1.%build.number%", UnexpandedValue::Variable("%build.number%")),
            (
                "%dep.My-Build.id%",
                UnexpandedValue::Variable("%dep.My-Build.id%"),
            ),
            (
                "%PROGRAMFILES(X86)%/x",
                UnexpandedValue::Variable("%PROGRAMFILES(X86)%"),
            ),
            ("%BUILD%20", UnexpandedValue::Variable("%BUILD%")),
            ("1.0.$build", UnexpandedValue::Variable("$build")),
            ("1.<no value>", UnexpandedValue::Variable("<no value>")),
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
    fn secret_that_is_one_complete_variable_is_unexpanded() {
        for text in [
            "$(SECRET)",
            "${secret}",
            "${{ secrets.X }}",
            "%SECRET%",
            "$SECRET",
        ] {
            assert!(UnexpandedValue::find_as_secret(text).is_some(), "{text}");
        }
        for text in [
            "$ecret",
            "$(aB3d",
            "{{aB3d",
            "a$(SECRET)",
            "'secret'",
            "pa$$word",
            "",
        ] {
            assert_eq!(UnexpandedValue::find_as_secret(text), None, "{text}");
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
            "5%off-10%",
            "a#{b,c}/**",
            "#1",
            "a<b>",
            "[$]dir/**",
            "x/$dir",
        ] {
            assert_eq!(UnexpandedValue::find(text), None, "{text}");
        }
    }
}
