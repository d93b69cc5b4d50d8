//! Finds the server's message in an error body of any shape.
//!
//! The API document shows two shapes (`title`, `detail`, `validation-errors`; `error`, `status`) and does not define
//! others; problem+json, OAuth errors, plain text, a proxy's HTML page and an empty body occur as well.

use secrecy::SecretString;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use sluicegate_base::redaction::redact_texts;
use sluicegate_base::text::format_count;
use std::{fmt, iter};

/// The beginning of the message that there is no connection.
pub(super) const NO_CONNECTION: &str = "cannot connect: ";

/// Maximum number of characters of a server's text that are shown.
const MAX_TEXT_LENGTH: usize = 2_000;

/// Maximum number of characters of an HTML page that are shown; its beginning is enough.
const MAX_HTML_LENGTH: usize = 300;

/// Maximum number of characters of a URL that are shown in a message.
const MAX_URL_LENGTH: usize = 500;

/// Maximum number of violations that are kept in addition to the text.
const MAX_VIOLATIONS: usize = 1_000;

/// Fields in which bodies list violations; the first is the API document's.
const VIOLATION_LISTS: [&str; 3] = ["validation-errors", "violations", "errors"];

/// A server's text and its display limit. The text is truncated only for display, so that a secret in it is found
/// first.
#[derive(Debug, Clone)]
pub(super) struct ServerText {
    /// The message; empty if the body contains only entries.
    pub(super) text: String,
    /// The descriptions of the violations that the body lists.
    pub(super) entries: Vec<String>,
    pub(super) violations: Vec<FieldViolation>,
    max_length: usize,
}

/// One entry of an error's `validation-errors`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldViolation {
    /// Dotted path into the request; empty if the entry names no field.
    pub field: String,
    /// The violated rule, or the complete entry without one.
    pub message: String,
}

impl From<String> for ServerText {
    fn from(text: String) -> Self {
        Self {
            text,
            entries: Vec::new(),
            violations: Vec::new(),
            max_length: MAX_TEXT_LENGTH,
        }
    }
}

impl From<&str> for ServerText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl ServerText {
    /// Removes a secret from the text, the entries and the violations.
    pub(super) fn redact_secret(&mut self, secret: &SecretString) {
        let violations = self.violations.iter_mut();
        let violation_texts = violations.flat_map(|violation| [&mut violation.field, &mut violation.message]);
        let texts = iter::once(&mut self.text).chain(&mut self.entries);
        redact_texts(texts.chain(violation_texts), secret);
    }

    /// Returns the complete text, to search in it: the message, and a line for each entry.
    pub(super) fn full_text(&self) -> String {
        join_entries(&self.text, &self.entries)
    }

    /// Returns the message and the entries, up to the maximum length of both together.
    pub(super) fn truncate(&self) -> (String, Vec<String>) {
        if self.text.is_empty() && self.entries.is_empty() {
            return ("the response contains no text".to_owned(), Vec::new());
        }
        let mut omitted_count = self.full_text().chars().count().saturating_sub(self.max_length);
        if omitted_count == 0 {
            return (self.text.clone(), self.entries.clone());
        }
        // Shortens from the end, so that the message remains.
        let mut entries = self.entries.clone();
        while let Some(entry) = entries.pop() {
            let entry_length = entry.chars().count();
            if entry_length > omitted_count {
                entries.push(truncate(&entry, entry_length - omitted_count));
                return (self.text.clone(), entries);
            }
            omitted_count = omitted_count.saturating_sub(entry_length + ENTRY_MARK.len());
        }
        (truncate(&self.text, self.max_length), entries)
    }
}

/// Begins the line of an entry.
const ENTRY_MARK: &str = "\n- ";

/// Returns the text with a line for each entry.
pub(super) fn join_entries(text: &str, entries: &[String]) -> String {
    entries
        .iter()
        .fold(text.to_owned(), |text, entry| text + ENTRY_MARK + entry)
}

impl fmt::Display for ServerText {
    /// Writes the text and the entries up to their maximum length, or a note if there are none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, entries) = self.truncate();
        f.write_str(&join_entries(&text, &entries))
    }
}

/// Maximum length of a request id, in characters.
const MAX_REQUEST_ID_LENGTH: usize = 200;

/// Maximum length of the reason for a retry without a status, in characters.
pub(super) const MAX_REASON_LENGTH: usize = 300;

/// Truncates the text to `max_length` characters, and appends the number of characters that were removed.
pub(super) fn truncate(text: &str, max_length: usize) -> String {
    match text.char_indices().nth(max_length) {
        None => text.to_owned(),
        Some((end, _)) => format!(
            "{}… ({})",
            &text[..end],
            format_count(text[end..].chars().count(), "more character")
        ),
    }
}

/// Returns the beginning of a URL for a message.
pub(super) fn truncate_url(url: &str) -> String {
    truncate(url, MAX_URL_LENGTH)
}

/// Returns the beginning of a request id from a response.
pub(super) fn truncate_request_id(id: &str) -> String {
    truncate(id, MAX_REQUEST_ID_LENGTH)
}

/// Returns the message of an error body: from JSON with its violations, from an HTML page without its tags, or the
/// plain text.
pub(super) fn parse_server_text(content_type: &str, body: &[u8]) -> ServerText {
    let body_text = String::from_utf8_lossy(body);
    let text = body_text.trim_start_matches('\u{feff}').trim();
    if let Ok(json) = serde_json::from_str::<Value>(text) {
        let (message, entries) = describe_json(&json);
        return ServerText {
            entries,
            violations: parse_violations(&json),
            ..ServerText::from(message)
        };
    }
    if content_type.contains("html") || looks_like_html(text) {
        return ServerText {
            max_length: MAX_HTML_LENGTH,
            ..ServerText::from(convert_html_to_text(text))
        };
    }
    text.into()
}

/// Returns the message in a JSON document with the descriptions of its violations, or the complete document if no known
/// field contains a message.
fn describe_json(json: &Value) -> (String, Vec<String>) {
    match json {
        Value::String(text) => (text.clone(), Vec::new()),
        Value::Object(fields) => {
            describe_error_fields(fields).unwrap_or_else(|| (json.to_string(), Vec::new()))
        }
        _ => (json.to_string(), Vec::new()),
    }
}

/// Returns a headline from the known fields and the instance, and a description of each violation; `None` if there is
/// neither a headline nor a violation.
fn describe_error_fields(fields: &Map<String, Value>) -> Option<(String, Vec<String>)> {
    let mut headline: Vec<&str> = Vec::new();
    for name in ["title", "error", "error_description", "message", "detail"] {
        let text = fields.get(name).and_then(|value| match value {
            Value::Object(fields) => fields.get("message").and_then(Value::as_str),
            _ => value.as_str(),
        });
        if let Some(text) = text
            && !text.is_empty()
            && !headline.contains(&text)
        {
            headline.push(text);
        }
    }
    let mut message = headline.join(": ");
    if let Some(instance) = fields.get("instance").and_then(Value::as_str) {
        let gap = if message.is_empty() { "" } else { " " };
        message = format!("{message}{gap}(instance {instance})");
    }
    let entries: Vec<String> = VIOLATION_LISTS
        .iter()
        .filter_map(|name| fields.get(*name)?.as_array())
        .flatten()
        .map(describe_violation)
        .collect();
    (!message.is_empty() || !entries.is_empty()).then_some((message, entries))
}

/// Returns the violations from every known list of the body, up to [`MAX_VIOLATIONS`].
fn parse_violations(json: &Value) -> Vec<FieldViolation> {
    VIOLATION_LISTS
        .iter()
        .filter_map(|name| json.get(name)?.as_array())
        .flatten()
        .map(|entry| {
            let texts = (
                find_text(entry, &["field"]),
                find_text(entry, &["message", "detail"]),
            );
            let (field, message) = match texts {
                (Some(field), Some(message)) => (field, message.to_owned()),
                _ => ("", describe_violation(entry)),
            };
            FieldViolation {
                field: field.to_owned(),
                message,
            }
        })
        .take(MAX_VIOLATIONS)
        .collect()
}

/// Returns the text of the first of these fields that contains a text.
fn find_text<'v>(entry: &'v Value, names: &[&str]) -> Option<&'v str> {
    names
        .iter()
        .find_map(|name| entry.get(name).and_then(Value::as_str))
}

/// Returns a violation as `field: message`, or only its message if it has no other text. Returns any other entry
/// unchanged, because the API document does not define the fields.
fn describe_violation(entry: &Value) -> String {
    let field = find_text(entry, &["field", "propertyPath", "path"]);
    let message = find_text(entry, &["message", "detail", "reason"]);
    match (field, message) {
        (Some(field), Some(message)) => format!("{field}: {message}"),
        (None, Some(message)) if count_texts(entry) == 1 => message.to_owned(),
        _ => entry.as_str().map_or_else(|| entry.to_string(), str::to_owned),
    }
}

/// Returns the number of an object's fields that contain a text.
fn count_texts(entry: &Value) -> usize {
    let fields = entry.as_object().into_iter().flatten();
    fields.filter(|(_, value)| value.is_string()).count()
}

/// Returns whether a body is an HTML page. JSON that is labeled as HTML is no page.
pub(super) fn is_html(content_type: &str, body: &[u8]) -> bool {
    let is_labeled = content_type.contains("html") && serde_json::from_slice::<IgnoredAny>(body).is_err();
    is_labeled || looks_like_html(String::from_utf8_lossy(body).trim_start())
}

/// Returns whether the text begins like an HTML page.
fn looks_like_html(text: &str) -> bool {
    // No tag in the list is longer than 15 characters.
    let start: String = text.chars().take(15).collect::<String>().to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"]
        .iter()
        .any(|tag| start.starts_with(tag))
}

/// Returns the text of an HTML page: without tags, scripts and styles, with runs of blanks replaced by one, and with
/// common entities replaced by their characters. `&amp;` is last, so that the result is not unescaped a second time.
fn convert_html_to_text(page: &str) -> String {
    let mut text = String::new();
    let mut tail = page;
    while let Some(start) = tail.find('<') {
        text.push_str(&tail[..start]);
        text.push(' ');
        tail = skip_element(&tail[start..]);
    }
    text.push_str(tail);
    let folded_text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(folded_text, |text, (entity, character)| {
        text.replace(entity, character)
    })
}

/// Returns what follows the tag at the start of the text. After a script or style tag, its content and its end tag are
/// skipped, too.
fn skip_element(tag: &str) -> &str {
    for name in ["script", "style"] {
        let is_opening_tag = tag
            .get(1..=name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name));
        if is_opening_tag {
            let end = tag
                .to_ascii_lowercase()
                .find(&format!("</{name}"))
                .unwrap_or(tag.len());
            return skip_tag(&tag[end..]);
        }
    }
    skip_tag(tag)
}

/// Returns the text after the end of the tag; empty if the tag has no end.
fn skip_tag(tag: &str) -> &str {
    tag.find('>').map_or("", |end| &tag[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::{is_html, parse_server_text, truncate};
    use proptest::prelude::*;

    fn words(body: &str) -> String {
        parse_server_text("", body.as_bytes()).to_string()
    }

    #[test]
    fn json_labeled_as_html_is_no_page() {
        assert!(!is_html("text/html", br#"{"enabled":false}"#));
        for (content_type, body) in [
            ("text/html", "<p>down</p>"),
            ("text/html", ""),
            ("application/json", " <html></html>"),
        ] {
            assert!(is_html(content_type, body.as_bytes()), "{content_type} {body}");
        }
    }

    #[test]
    fn shapes_of_api_document() {
        insta::assert_snapshot!(words(include_str!("../../../../tests/fixtures/api/validation-error.json")), @r"
        Bad Request: There are validation errors (instance /v1/projects/9c5b94b1-35ad-49bb-b118-8e8fc24abf80/streaming-pipelines)
        - streamingSource.connection.username: must not be empty
        - streamingTarget.connection.authentication: must not be null
        ");
        insta::assert_snapshot!(words(include_str!("../../../../tests/fixtures/api/conflict.json")), @"An execution with the same tag is running");
    }

    #[test]
    fn shapes_met_elsewhere() {
        insta::assert_snapshot!(words(r#"{"type":"about:blank","title":"Unprocessable","violations":[{"propertyPath":"a.b","message":"is missing"},"plain"]}"#), @r"
        Unprocessable
        - a.b: is missing
        - plain
        ");
        insta::assert_snapshot!(words(r#"{"detail":"d","violations":[{"fieldPath":"x","message":"m"},{"message":"only"}]}"#), @r#"
        d
        - {"fieldPath":"x","message":"m"}
        - only
        "#);
        insta::assert_snapshot!(words(r#"{"error":"invalid_client","error_description":"no such client"}"#), @"invalid_client: no such client");
        insta::assert_snapshot!(words(r#"{"error":{"code":7,"message":"nested"}}"#), @"nested");
        insta::assert_snapshot!(words(r#"{"errors":["one",{"code":2}]}"#).trim(), @r#"
        - one
        - {"code":2}
        "#);
        insta::assert_snapshot!(words(r#"{"code":17}"#), @r#"{"code":17}"#);
        insta::assert_snapshot!(words(r#""just text""#), @"just text");
        insta::assert_snapshot!(words("  upstream is away \n"), @"upstream is away");
        insta::assert_snapshot!(words(""), @"the response contains no text");
    }

    #[test]
    fn page_is_reduced_to_its_text() {
        insta::assert_snapshot!(
            words("<!DOCTYPE html><html><head><title>502</title><STYLE>a{b}</style><script>x<y</script></head><body><h1>Bad &amp; gone</h1>\n <p>nginx"),
            @"502 Bad & gone nginx"
        );
        let long = parse_server_text("text/html; charset=utf-8", "word ".repeat(1000).as_bytes()).to_string();
        assert!(long.chars().count() < 350, "{long}");
    }

    #[test]
    fn long_texts_are_cut_with_the_number_of_missing_characters() {
        assert_eq!(truncate("äöü", 3), "äöü");
        assert_eq!(truncate("äöüß", 3), "äöü… (1 more character)");
        assert!(words(&"x".repeat(100_000)).len() < 2_100);
    }

    proptest! {
        #[test]
        fn any_page_is_read(page in "(<|>|/|script|STYLE|ß|&amp;|\\PC){0,40}") {
            let _ = parse_server_text("text/html", page.as_bytes()).to_string();
        }
    }
}
