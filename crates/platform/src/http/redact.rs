//! Removes a secret from the texts of a server: verbatim, and as a form, a URL or JSON encodes it.

use memchr::{memchr, memchr2, memmem};
use secrecy::{ExposeSecret, SecretString};
use std::borrow::Cow;
use std::ops::Range;

/// Minimum length of a secret, in bytes. A shorter text is not a secret and occurs in many ordinary words.
const SHORTEST_SECRET: usize = 3;

/// Minimum length of a line of a key, in bytes. A shorter line is not a secret and occurs in other words.
const SHORTEST_LINE: usize = 8;

/// Minimum length in a response whose names are compared, in characters. The token of a local platform may be `dev`,
/// and so may a prefix.
const SHORTEST_IN_DATA: usize = 6;

const HIDDEN: &str = "***";

/// Returns the text without the secret, in case a server repeats data that it was sent.
pub(super) fn redacted(text: &str, secret: &SecretString) -> String {
    without(text, &forbidden(secret))
}

/// Returns the JSON with the secrets removed from its strings and names, unless they are short. The rest does not
/// change, so a duplicate name stays a duplicate. Copies nothing if there is nothing to hide.
pub(super) fn redacted_json<'b>(body: &'b [u8], secrets: &[SecretString]) -> Cow<'b, [u8]> {
    let mut parts: Vec<Forbidden> = secrets.iter().flat_map(forbidden).collect();
    parts.retain(|part| part.ways.len() >= SHORTEST_IN_DATA && part.may_be_in(body));
    if parts.is_empty() {
        return Cow::Borrowed(body);
    }
    let (mut shown, mut done, mut at) = (Vec::new(), 0, 0);
    while let Some(literal) = next_literal(body, at) {
        at = literal.end;
        if let Some(hidden) = literal_without(body.get(literal.clone()).unwrap_or_default(), &parts) {
            shown.extend_from_slice(body.get(done..literal.start).unwrap_or_default());
            shown.extend_from_slice(hidden.as_bytes());
            done = literal.end;
        }
    }
    if done == 0 {
        return Cow::Borrowed(body);
    }
    shown.extend_from_slice(body.get(done..).unwrap_or_default());
    Cow::Owned(shown)
}

/// Returns the range of the next string or name of the JSON, its quotes included.
pub(super) fn next_literal(body: &[u8], from: usize) -> Option<Range<usize>> {
    let start = from + memchr(b'"', body.get(from..)?)?;
    let mut at = start + 1;
    loop {
        at += memchr2(b'"', b'\\', body.get(at..)?)?;
        if body.get(at) == Some(&b'"') {
            return Some(start..at + 1);
        }
        at += 2;
    }
}

/// Returns the replacement of a string literal, or `None` if there is nothing to hide.
fn literal_without(literal: &[u8], parts: &[Forbidden]) -> Option<String> {
    if !parts.iter().any(|part| part.may_be_in(literal)) {
        return None;
    }
    let text: String = serde_json::from_slice(literal).ok()?;
    let hidden = without(&text, parts);
    (hidden != text).then(|| serde_json::Value::String(hidden).to_string())
}

fn without(text: &str, parts: &[Forbidden]) -> String {
    parts
        .iter()
        .fold(text.to_owned(), |text, part| part.taken_out_of(text))
}

/// Returns the parts of a secret that must not be shown: the complete secret, and each line of a key.
fn forbidden(secret: &SecretString) -> Vec<Forbidden> {
    let secret = secret.expose_secret();
    let whole = Some(secret).filter(|secret| secret.len() >= SHORTEST_SECRET);
    let lines = secret
        .lines()
        .map(str::trim)
        .filter(|line| line.len() >= SHORTEST_LINE && secret.contains('\n'));
    whole.into_iter().chain(lines).map(Forbidden::new).collect()
}

/// A text that must not be shown.
struct Forbidden {
    /// The longest part that has only one spelling: a text without it contains the secret in no form.
    core: String,
    /// The spellings of each character.
    ways: Vec<Vec<String>>,
}

impl Forbidden {
    fn new(text: &str) -> Self {
        let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
        Self {
            core: parts.max_by_key(|part| part.len()).unwrap_or_default().to_owned(),
            ways: text.chars().map(ways).collect(),
        }
    }

    fn may_be_in(&self, bytes: &[u8]) -> bool {
        memmem::find(bytes, self.core.as_bytes()).is_some()
    }

    fn taken_out_of(&self, text: String) -> String {
        if !self.may_be_in(text.as_bytes()) {
            return text;
        }
        let (mut shown, mut rest) = (String::with_capacity(text.len()), text.as_str());
        while let Some(c) = rest.chars().next() {
            let hidden = self.length_at_the_start_of(rest);
            match hidden {
                Some(_) => shown.push_str(HIDDEN),
                None => shown.push(c),
            }
            rest = rest.get(hidden.unwrap_or(c.len_utf8())..).unwrap_or_default();
        }
        shown
    }

    /// Returns the length of the secret at the start of `text`, in any spelling of its characters.
    fn length_at_the_start_of(&self, text: &str) -> Option<usize> {
        let begins = |way: &String| is_at_the_start_of(way, text);
        if !self.ways.first()?.iter().any(begins) {
            return None;
        }
        let mut ends = vec![0];
        for ways in &self.ways {
            let next = |end: &usize| {
                let (end, rest) = (*end, text.get(*end..).unwrap_or_default());
                ways.iter()
                    .filter(move |way| is_at_the_start_of(way, rest))
                    .map(move |way| end + way.len())
            };
            ends = ends.iter().flat_map(next).collect();
            ends.sort_unstable();
            ends.dedup();
        }
        ends.last().copied()
    }
}

/// Returns whether `text` starts with `way`; an escape sequence matches in either case.
fn is_at_the_start_of(way: &str, text: &str) -> bool {
    let start = text.as_bytes().get(..way.len());
    start.is_some_and(|start| match way.as_bytes() {
        [b'%' | b'\\', _, ..] => start.eq_ignore_ascii_case(way.as_bytes()),
        way => start == way,
    })
}

/// Returns the spellings of a character: verbatim, in a form or a URL, in JSON. A letter or a digit has only one.
fn ways(c: char) -> Vec<String> {
    let plain = c.to_string();
    if c.is_ascii_alphanumeric() {
        return vec![plain];
    }
    let percent: Vec<String> = plain.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let mut units = [0; 2];
    let units = c.encode_utf16(&mut units);
    let unicode: Vec<String> = units.iter().map(|unit| format!("\\u{unit:04X}")).collect();
    let in_json = serde_json::Value::String(plain.clone()).to_string();
    let in_json = in_json.trim_matches('"').to_owned();
    let escaped = format!("\\{c}");
    let blank = (c == ' ').then(|| "+".to_owned());
    let mut ways = vec![percent.concat(), unicode.concat(), in_json, escaped, plain];
    ways.extend(blank);
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_of_key_that_server_repeats_is_hidden() {
        let key = SecretString::from("-----BEGIN KEY-----\nc2VjcmV0bGluZQ==\n-----END KEY-----");
        assert_eq!(redacted("not base64: c2VjcmV0bGluZQ==", &key), "not base64: ***");
        assert_eq!(redacted("nothing of it", &key), "nothing of it");
    }

    #[test]
    fn secret_is_hidden_in_every_form_in_which_it_is_sent_or_repeated() {
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
            let hidden = redacted(&format!("before {form} after"), &secret);
            assert!(hidden.contains("***"), "{hidden}");
            assert!(!hidden.contains("p4ss") && hidden.ends_with(" after"), "{hidden}");
        }
        assert_eq!(
            redacted("p4ss%2Bw0rd%2F and more", &secret),
            "p4ss%2Bw0rd%2F and more"
        );
        let percent = SecretString::from("%25a%2");
        assert_eq!(redacted("%25a%2,%2525a%252", &percent), "***,***");
    }

    #[test]
    fn of_json_the_texts_and_names_alone_are_changed() {
        let secrets = ["t0/ken", "0ther!", "local"].map(SecretString::from);
        let hidden = |body: &str| {
            let hidden = redacted_json(body.as_bytes(), &secrets);
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
