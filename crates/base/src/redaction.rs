//! Removes a secret from the text of a server or of git: verbatim, and as a form, a URL or JSON encodes it.

use memchr::{memchr, memchr2, memmem};
use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use std::ops::Range;

/// Minimum length of a secret, in bytes. A shorter text is not a secret and occurs in many ordinary words.
const MIN_SECRET_LENGTH: usize = 3;

/// Minimum length of a line of a key, in bytes. A shorter line is not a secret and occurs in other words.
const MIN_KEY_LINE_LENGTH: usize = 8;

/// Minimum length of a secret that is removed from a JSON response, in characters. A shorter secret, such as the token
/// `dev` of a local platform, may also be an ordinary value, such as a prefix.
const MIN_LENGTH_IN_DATA: usize = 6;

const REPLACEMENT: &str = "***";

/// Returns the text without the secret, in case a server repeats it.
pub fn redact(text: &str, secret: &SecretString) -> String {
    remove_parts(text, &list_secret_parts(secret))
}

/// Returns the JSON with the secrets removed from its strings and names, unless they are short. Everything else is
/// kept, so a duplicate name stays a duplicate. The body is copied only if it contains a secret.
pub fn redact_json<'b>(body: &'b [u8], secrets: &[SecretString]) -> Cow<'b, [u8]> {
    let mut parts: Vec<SecretPart> = secrets.iter().flat_map(list_secret_parts).collect();
    parts.retain(|part| part.spellings.len() >= MIN_LENGTH_IN_DATA && part.may_occur_in(body));
    if parts.is_empty() {
        return Cow::Borrowed(body);
    }
    let mut output = Vec::new();
    let mut copied_length = 0;
    let mut position = 0;
    while let Some(literal) = find_quoted_string(body, position) {
        position = literal.end;
        if let Some(replacement) = redact_literal(body.get(literal.clone()).unwrap_or_default(), &parts) {
            output.extend_from_slice(body.get(copied_length..literal.start).unwrap_or_default());
            output.extend_from_slice(replacement.as_bytes());
            copied_length = literal.end;
        }
    }
    if copied_length == 0 {
        return Cow::Borrowed(body);
    }
    output.extend_from_slice(body.get(copied_length..).unwrap_or_default());
    Cow::Owned(output)
}

/// Returns the range of the first string or name at or after `start_position` in the JSON, including its quotes.
pub fn find_quoted_string(body: &[u8], start_position: usize) -> Option<Range<usize>> {
    let start = start_position + memchr(b'"', body.get(start_position..)?)?;
    let mut position = start + 1;
    loop {
        position += memchr2(b'"', b'\\', body.get(position..)?)?;
        if body.get(position) == Some(&b'"') {
            return Some(start..position + 1);
        }
        // Skip the backslash and the character that it escapes.
        position += 2;
    }
}

/// Returns a string literal without the secrets, or `None` if it is not valid JSON or does not contain any.
fn redact_literal(literal: &[u8], parts: &[SecretPart]) -> Option<String> {
    if !parts.iter().any(|part| part.may_occur_in(literal)) {
        return None;
    }
    let text: String = serde_json::from_slice(literal).ok()?;
    let redacted_text = remove_parts(&text, parts);
    (redacted_text != text).then(|| serde_json::Value::String(redacted_text).to_string())
}

/// Replaces each of these parts in the text with `***`, in all its spellings.
fn remove_parts(text: &str, parts: &[SecretPart]) -> String {
    parts
        .iter()
        .fold(text.to_owned(), |text, part| part.remove_from(text))
}

/// Returns the parts of a secret that must not be shown: the complete secret and, if it has several lines like a key,
/// each of its lines. Parts that are too short are omitted.
fn list_secret_parts(secret: &SecretString) -> Vec<SecretPart> {
    let text = secret.expose_secret();
    let complete_secret = Some(text).filter(|text| text.len() >= MIN_SECRET_LENGTH);
    let key_lines = text
        .lines()
        .map(str::trim)
        .filter(|line| line.len() >= MIN_KEY_LINE_LENGTH && text.contains('\n'));
    complete_secret
        .into_iter()
        .chain(key_lines)
        .map(SecretPart::new)
        .collect()
}

/// A text that must not be shown.
struct SecretPart {
    /// The longest part that has only one spelling. A text without this part cannot contain the secret.
    plain_part: String,
    /// The spellings of each character.
    spellings: Vec<Vec<String>>,
}

impl SecretPart {
    /// Prepares the search for a part of a secret. Its longest run of letters and digits has only one spelling, so a
    /// text without this run cannot contain the part.
    fn new(text: &str) -> Self {
        let longest_part = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .max_by_key(|part| part.len());
        Self {
            plain_part: longest_part.unwrap_or_default().to_owned(),
            spellings: text.chars().map(list_spellings).collect(),
        }
    }

    /// Returns whether the text may contain the secret: false if the run of letters and digits is missing.
    fn may_occur_in(&self, bytes: &[u8]) -> bool {
        memmem::find(bytes, self.plain_part.as_bytes()).is_some()
    }

    /// Replaces the secret with `***`, wherever the text contains it in any spelling.
    fn remove_from(&self, text: String) -> String {
        if !self.may_occur_in(text.as_bytes()) {
            return text;
        }
        let mut output = String::with_capacity(text.len());
        let mut tail = text.as_str();
        while let Some(c) = tail.chars().next() {
            let secret_length = self.find_secret_length(tail);
            match secret_length {
                Some(_) => output.push_str(REPLACEMENT),
                None => output.push(c),
            }
            tail = tail
                .get(secret_length.unwrap_or(c.len_utf8())..)
                .unwrap_or_default();
        }
        output
    }

    /// Returns the length of the longest spelling of the secret at the start of `text`; `None` if `text` does not start
    /// with the secret. Each character may have another spelling, so all possible ends are followed.
    fn find_secret_length(&self, text: &str) -> Option<usize> {
        let has_first_character = self
            .spellings
            .first()?
            .iter()
            .any(|variant| starts_with_spelling(variant, text));
        if !has_first_character {
            return None;
        }
        let mut ends = vec![0];
        for spellings in &self.spellings {
            let mut next_ends = Vec::new();
            for end in ends {
                let tail = text.get(end..).unwrap_or_default();
                next_ends.extend(
                    spellings
                        .iter()
                        .filter(|variant| starts_with_spelling(variant, tail))
                        .map(|variant| end + variant.len()),
                );
            }
            next_ends.sort_unstable();
            next_ends.dedup();
            ends = next_ends;
        }
        ends.last().copied()
    }
}

/// Returns whether `text` starts with `variant`. Escape sequences are compared without case.
fn starts_with_spelling(variant: &str, text: &str) -> bool {
    let Some(start) = text.as_bytes().get(..variant.len()) else {
        return false;
    };
    match variant.as_bytes() {
        [b'%' | b'\\', _, ..] => start.eq_ignore_ascii_case(variant.as_bytes()),
        bytes => start == bytes,
    }
}

/// Returns the spellings of a character: verbatim, in a form or a URL, in JSON. A letter or a digit has only one.
fn list_spellings(c: char) -> Vec<String> {
    let verbatim = c.to_string();
    if c.is_ascii_alphanumeric() {
        return vec![verbatim];
    }
    let percent_escapes: Vec<String> = verbatim.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mut buffer = [0; 2];
    let unicode_escapes: Vec<String> = c
        .encode_utf16(&mut buffer)
        .iter()
        .map(|unit| format!("\\u{unit:04X}"))
        .collect();
    let json_literal = serde_json::Value::String(verbatim.clone()).to_string();
    let mut spellings = vec![
        percent_escapes.concat(),
        unicode_escapes.concat(),
        json_literal[1..json_literal.len() - 1].to_owned(),
        // JSON also permits `\/`, which serde_json does not write.
        format!("\\{c}"),
        verbatim,
    ];
    if c == ' ' {
        spellings.push("+".to_owned());
    }
    spellings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_key_that_server_repeats_is_hidden() {
        let key = SecretString::from("-----BEGIN KEY-----\nc2VjcmV0bGluZQ==\n-----END KEY-----");
        assert_eq!(redact("not base64: c2VjcmV0bGluZQ==", &key), "not base64: ***");
        assert_eq!(redact("nothing of it", &key), "nothing of it");
    }

    #[test]
    fn backslash_is_no_spelling_of_a_quote() {
        let secret = SecretString::from("ab\"cdef");
        assert_eq!(redact(r"ab\cdef", &secret), r"ab\cdef");
        assert_eq!(redact(r#"ab\"cdef"#, &secret), "***");
    }

    #[test]
    fn secret_is_hidden_in_every_sent_or_repeated_form() {
        let secret = SecretString::from("p4ss+w0rd/ with=\"sïgns\\%😀\n2\"");
        let text = secret.expose_secret();
        let form: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
        let json = serde_json::Value::String(text.to_owned()).to_string();
        let other = r"p4ss\u002bw0rd\/ with\u003D\u0022s\u00efgns\\%\ud83d\ude00\n2\u0022";
        for form in [
            text,
            &form,
            &form.to_lowercase(),
            &form.replace('+', "%20"),
            &json,
            other,
        ] {
            let hidden = redact(&format!("before {form} after"), &secret);
            assert!(hidden.contains("***"), "{hidden}");
            assert!(!hidden.contains("p4ss") && hidden.ends_with(" after"), "{hidden}");
        }
        assert_eq!(
            redact("p4ss%2Bw0rd%2F and more", &secret),
            "p4ss%2Bw0rd%2F and more"
        );
        let percent = SecretString::from("%25a%2");
        assert_eq!(redact("%25a%2,%2525a%252", &percent), "***,***");
    }

    #[test]
    fn of_json_the_texts_and_names_alone_are_changed() {
        let secrets = ["t0/ken", "0ther!", "local"].map(SecretString::from);
        let hidden = |body: &str| {
            let hidden = redact_json(body.as_bytes(), &secrets);
            (
                String::from_utf8(hidden.to_vec()).unwrap(),
                matches!(hidden, Cow::Borrowed(_)),
            )
        };
        let body = r#"{ "a\"b": [1.50], "it is t0\/ken": "t0/ken", "x": {}, "x": "\\", "y": "an 0ther!\n" }"#;
        let without = r#"{ "a\"b": [1.50], "it is ***": "***", "x": {}, "x": "\\", "y": "an ***\n" }"#;
        assert_eq!(hidden(body), (without.to_owned(), false));
        for body in [
            r#"{ "ken": "t0" }"#,
            r#"{ "a": "t0 and ken" }"#,
            r#"{ "a": "t0/k"#,
            r#"{ "prefix": "local" }"#,
            "",
            "\"\\",
        ] {
            assert_eq!(hidden(body), (body.to_owned(), true));
        }
    }
}
