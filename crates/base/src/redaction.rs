//! Removes a secret from the text of a server or of git, in the encodings that [`crate::secret_search`] finds.

use crate::secret_search::SecretSearch;
use memchr::{memchr, memchr2};
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
    let mut text = text.to_owned();
    redact_texts([&mut text], secret);
    text
}

/// Removes the secret from each of the texts.
pub fn redact_texts<'t>(texts: impl IntoIterator<Item = &'t mut String>, secret: &SecretString) {
    let search = SecretSearch::new(list_secret_parts(secret));
    for text in texts {
        if let Cow::Owned(redacted_text) = search.replace(text, REPLACEMENT) {
            *text = redacted_text;
        }
    }
}

/// Returns the JSON with the secrets removed from its strings and names, unless they are short. Everything else is
/// kept, so a duplicate name stays a duplicate. The body is copied only if it contains a secret.
pub fn redact_json<'b>(body: &'b [u8], secrets: &[SecretString]) -> Cow<'b, [u8]> {
    let mut parts: Vec<&str> = secrets.iter().flat_map(list_secret_parts).collect();
    parts.retain(|part| part.chars().count() >= MIN_LENGTH_IN_DATA);
    if parts.is_empty() {
        return Cow::Borrowed(body);
    }
    let search = SecretSearch::new(parts);
    let mut output = Vec::new();
    let mut copied_length = 0;
    let mut position = 0;
    while let Some(literal) = find_quoted_string(body, position) {
        position = literal.end;
        if let Some(replacement) = redact_literal(body.get(literal.clone()).unwrap_or_default(), &search) {
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
fn redact_literal(literal: &[u8], search: &SecretSearch) -> Option<String> {
    let content = std::str::from_utf8(literal.get(1..literal.len() - 1)?).ok()?;
    let text = if content.contains('\\') {
        Cow::Owned(serde_json::from_slice(literal).ok()?)
    } else {
        Cow::Borrowed(content)
    };
    match search.replace(&text, REPLACEMENT) {
        Cow::Borrowed(_) => None,
        Cow::Owned(redacted_text) => Some(serde_json::Value::String(redacted_text).to_string()),
    }
}

/// Returns the parts of a secret that must not be shown: the complete secret and, if it has several lines like a key,
/// each of its lines. Parts that are too short are omitted.
fn list_secret_parts(secret: &SecretString) -> Vec<&str> {
    let text = secret.expose_secret();
    let complete_secret = Some(text).filter(|text| text.len() >= MIN_SECRET_LENGTH);
    let key_lines = text
        .lines()
        .map(str::trim)
        .filter(|line| line.len() >= MIN_KEY_LINE_LENGTH && text.contains('\n'));
    complete_secret.into_iter().chain(key_lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::to_hex;
    use base64::{Engine as _, engine::general_purpose::STANDARD};
    use proptest::prelude::*;

    /// A token with the characters that an encoding replaces.
    const TOKEN: &str = "eyJh-b_c.d+e/f=g?h~i\"j";

    fn is_repeated(text: &str) -> bool {
        let secret = SecretString::from(TOKEN);
        let in_data = serde_json::json!({ "message": text }).to_string();
        let data = redact_json(in_data.as_bytes(), std::slice::from_ref(&secret)).into_owned();
        let is_text_unchanged = redact(text, &secret) == text;
        let is_data_unchanged = data == in_data.as_bytes();
        assert_eq!(is_text_unchanged, is_data_unchanged, "{text}");
        !is_text_unchanged
    }

    #[test]
    fn encoded_secret_is_hidden_in_text_and_data() {
        let hex = to_hex(TOKEN.as_bytes());
        let percent: Vec<String> = TOKEN.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let unicode: Vec<String> = TOKEN.bytes().map(|byte| format!("\\u{byte:04X}")).collect();
        let (start, end) = TOKEN.split_at(9);
        let (hex_start, hex_end) = hex.split_at(7);
        for text in [
            &hex,
            &hex.to_uppercase(),
            &percent.concat(),
            &unicode.concat(),
            &format!("{start}\n{end}"),
            &format!("{start}\r\n    {end}"),
            &format!("{start}\\n{end}"),
            &format!("{start}%0A{end}"),
            &format!("{hex_start}\n{hex_end}"),
            // The token behind 0 to 3 characters, from an independent encoder.
            "ZXlKaC1iX2MuZCtlL2Y9Zz9ofmkiag==",
            "OmV5SmgtYl9jLmQrZS9mPWc/aH5pImo=",
            "OmV5SmgtYl9jLmQrZS9mPWc_aH5pImo",
            "YTpleUpoLWJfYy5kK2UvZj1nP2h-aSJq",
            "YTpleUpoLWJfYy5kK2UvZj1nP2h+aSJqfHg=",
            "YTpleUpoLWJfYy5kK2Uv\nZj1nP2h%2BaSJqfHg=",
            "YWI6ZXlKaC1iX2MuZCtlL2Y9Zz9ofmkian",
        ] {
            assert!(is_repeated(&format!("before {text} after")), "{text}");
        }
    }

    #[test]
    fn text_that_is_no_encoding_of_the_secret_is_kept() {
        let (start, end) = TOKEN.split_at(9);
        for text in [
            // The encoding of the token without its last two characters.
            "ZXlKaC1iX2MuZCtlL2Y9Zz9ofmk=",
            &format!("{start} and {end}"),
            &format!("{start}{}{end}", " ".repeat(99)),
            &TOKEN.to_uppercase(),
            "%",
            "\\u",
            "%C3%",
        ] {
            assert!(!is_repeated(text), "{text}");
        }
        // The encodings of a short secret are ordinary words.
        let short = SecretString::from("dev");
        assert_eq!(
            redact("ZGV2 646576 d ev, *** for %64ev", &short),
            "ZGV2 646576 d ev, *** for ***"
        );
    }

    #[test]
    fn words_with_blanks_are_no_split_secret() {
        for (secret, text) in [
            ("database", "the data base, data  base or data\tbase"),
            ("12345678", "1 2 3 4 5 6 7 8"),
            ("username", "user name: a"),
            ("username", "user%20name user+name user\\tname"),
            ("database", "64 61 74 61 62 61 73 65"),
        ] {
            let secret = SecretString::from(secret);
            assert_eq!(redact(text, &secret), text);
            let json = serde_json::json!([text]).to_string();
            assert_eq!(*redact_json(json.as_bytes(), &[secret]), *json.as_bytes());
        }
    }

    #[test]
    fn blank_of_a_secret_is_found_as_a_line_break() {
        for (secret, text) in [
            ("pass word 1", "pass\n word 1"),
            ("pass word 1", "pass \n word\\r\\n\\t1"),
            ("pass word 1", "pass%0A%20word%201"),
            ("line 1\nline 2\n\nline 3", "line 1\r\nline 2\r\n\r\nline 3"),
            ("line 1\r\nline 2", "line 1\nline 2"),
            ("line 1\r\nline 2", "line 1\r\nline 2"),
        ] {
            assert_eq!(redact(&format!("<{text}>"), &secret.into()), "<***>", "{text:?}");
        }
        assert_eq!(redact("no text", &"\n".repeat(9).into()), "no text");
    }

    proptest! {
        #[test]
        fn secret_in_base64_is_hidden_behind_any_text(
            secret in "[!-~]{8,40}",
            prefix in "[a-z:]{0,5}",
            suffix in "[a-z]{0,5}",
        ) {
            let encoded = STANDARD.encode(format!("{prefix}{secret}{suffix}"));
            let hidden = redact(&format!("<{encoded}>"), &SecretString::from(secret.clone()));
            prop_assert!(hidden.contains("***"), "{hidden}");
            // Of the secret, only incomplete digits at its ends and its neighbors remain.
            let max_length = 5 + STANDARD.encode(&prefix).len() + STANDARD.encode(&suffix).len() + 4;
            prop_assert!(hidden.len() <= max_length, "{hidden}");
        }

        #[test]
        fn secret_is_hidden_in_json_that_is_quoted_again(secret in r#"[a-c"\\/ü😀\u{1}]{4,12}"#, depth in 0_usize..=4) {
            let secret = format!("S{secret}E");
            let mut quoted = secret.clone();
            for _ in 0..depth {
                quoted = serde_json::Value::String(quoted).to_string();
            }
            let hidden = redact(&format!("before {quoted} after"), &SecretString::from(secret));
            prop_assert!(hidden.contains("***") && !hidden.contains(['S', 'E', 'ü']), "{hidden}");
            prop_assert!(hidden.starts_with("before ") && hidden.ends_with(" after"), "{hidden}");
        }

        #[test]
        fn search_of_any_secret_in_any_text_ends_and_keeps_other_texts(secret in "\\PC{3,12}", text in "\\PC{0,60}") {
            let secret = SecretString::from(secret);
            let hidden = redact(&text, &secret);
            prop_assert!(hidden == text || hidden.contains("***"));
            let repeated_text = text + secret.expose_secret();
            prop_assert!(redact(&repeated_text, &secret).contains("***"));
        }
    }

    #[test]
    fn line_of_key_that_server_repeats_is_hidden() {
        let key = SecretString::from("-----BEGIN KEY-----\nc2VjcmV0bGluZQ==\n-----END KEY-----");
        assert_eq!(redact("not base64: c2VjcmV0bGluZQ==", &key), "not base64: ***");
        assert_eq!(redact("nothing of it", &key), "nothing of it");
    }

    #[test]
    fn escape_sequence_that_is_quoted_again_is_hidden() {
        let secret = SecretString::from("Pa\"ss\\word/ä😀\n1");
        for text in [
            r#"Pa\\\\"ss\\\\word/ä😀\\n1"#,
            r#"Pa\\\\\\\\"ss\\\\\\\\word\\/\\u00e4\\\\ud83d\\\\ude00\\\\n1"#,
            r"Pa\\u0022ss\\u005cword\\u002fä\\ud83d\\ude00\\u000A1",
        ] {
            assert_eq!(redact(&format!("<{text}>"), &secret), "<***>", "{text}");
        }
    }

    #[test]
    fn backslash_is_no_spelling_of_a_quote() {
        let secret = SecretString::from("ab\"cdef");
        assert_eq!(redact(r"ab\cdef", &secret), r"ab\cdef");
        assert_eq!(redact(r"ab\\\\cdef", &secret), r"ab\\\\cdef");
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
