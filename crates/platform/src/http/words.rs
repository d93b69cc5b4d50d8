//! Finds the server's message in an error body of any shape.
//!
//! The API document shows two shapes (`title`, `detail`, `validation-errors`; `error`, `status`) and does not define
//! others; problem+json, OAuth errors, plain text, a proxy's HTML page and an empty body occur as well.

use serde_json::{Map, Value};
use sluicegate_base::text::count;
use std::fmt;

/// Maximum number of characters of a server's text that are shown.
const LIMIT: usize = 2_000;

/// Maximum number of characters of an HTML page that are shown; its beginning is enough.
const HTML_LIMIT: usize = 300;

/// Maximum number of violations that are kept beside the text.
const MOST_VIOLATIONS: usize = 1_000;

/// Fields in which bodies list violations; the first is the API document's.
const VIOLATION_LISTS: [&str; 3] = ["validation-errors", "violations", "errors"];

/// A text and its display limit. It is truncated only for display, so that a secret in it is found before that.
#[derive(Debug, Clone)]
pub(super) struct ServerText {
    pub(super) text: String,
    pub(super) violations: Vec<FieldViolation>,
    limit: usize,
}

/// One entry of an error's `validation-errors`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldViolation {
    /// Dotted path into the request.
    pub field: String,
    /// The violated rule.
    pub message: String,
}

impl From<String> for ServerText {
    fn from(text: String) -> Self {
        Self {
            text,
            violations: Vec::new(),
            limit: LIMIT,
        }
    }
}

impl From<&str> for ServerText {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl fmt::Display for ServerText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.text.is_empty() {
            return f.write_str("the response contains no text");
        }
        f.write_str(&bounded(&self.text, self.limit))
    }
}

/// Truncates a text to `limit` characters, and appends the number of missing ones.
pub(super) fn bounded(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((end, _)) => format!(
            "{}… ({})",
            &text[..end],
            count(text[end..].chars().count(), "more character")
        ),
    }
}

/// Returns the message of an error body.
pub(super) fn in_body(content_type: &str, body: &[u8]) -> ServerText {
    let text = String::from_utf8_lossy(body);
    let text = text.trim_start_matches('\u{feff}').trim();
    if let Ok(json) = serde_json::from_str::<Value>(text) {
        return ServerText {
            violations: violations(&json),
            ..ServerText::from(in_json(&json))
        };
    }
    if content_type.contains("html") || looks_like_html(text) {
        return ServerText {
            limit: HTML_LIMIT,
            ..ServerText::from(without_tags(text))
        };
    }
    text.into()
}

fn in_json(json: &Value) -> String {
    match json {
        Value::String(text) => text.clone(),
        Value::Object(fields) => in_object(fields).unwrap_or_else(|| json.to_string()),
        other => other.to_string(),
    }
}

/// Returns a headline from the known fields, then a line for each violation; `None` if no field is known.
fn in_object(fields: &Map<String, Value>) -> Option<String> {
    let mut headline: Vec<&str> = Vec::new();
    for name in ["title", "error", "error_description", "message", "detail"] {
        let found = fields.get(name).and_then(|value| match value {
            Value::Object(nested) => nested.get("message").and_then(Value::as_str),
            other => other.as_str(),
        });
        headline.extend(found.filter(|text| !text.is_empty() && !headline.contains(text)));
    }
    let mut words = headline.join(": ");
    if let Some(instance) = fields.get("instance").and_then(Value::as_str) {
        let gap = if words.is_empty() { "" } else { " " };
        words = format!("{words}{gap}(instance {instance})");
    }
    for name in VIOLATION_LISTS {
        for entry in fields.get(name).and_then(Value::as_array).into_iter().flatten() {
            words.push_str("\n- ");
            words.push_str(&violation(entry));
        }
    }
    (!words.is_empty()).then_some(words)
}

/// Returns the entries with a `field`, from every known list of the body.
fn violations(json: &Value) -> Vec<FieldViolation> {
    let lists = VIOLATION_LISTS
        .iter()
        .filter_map(|name| json.get(name)?.as_array());
    let read = |entry: &Value| {
        let text = |name| entry.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(FieldViolation {
            field: text("field")?,
            message: text("message").or_else(|| text("detail")).unwrap_or_default(),
        })
    };
    lists.flatten().filter_map(read).take(MOST_VIOLATIONS).collect()
}

/// Returns `field: message` if the entry has them, otherwise the unchanged entry.
fn violation(entry: &Value) -> String {
    let text = |names: [&str; 3]| {
        names
            .iter()
            .find_map(|name| entry.get(name).and_then(Value::as_str))
    };
    let place = text(["field", "propertyPath", "path"]);
    match (place, text(["message", "detail", "reason"])) {
        (Some(place), Some(message)) => format!("{place}: {message}"),
        (None, Some(message)) => message.to_owned(),
        _ => entry.as_str().map_or_else(|| entry.to_string(), str::to_owned),
    }
}

/// Returns whether a body is an HTML page.
pub(super) fn is_page(content_type: &str, body: &[u8]) -> bool {
    content_type.contains("html") || looks_like_html(String::from_utf8_lossy(body).trim_start())
}

fn looks_like_html(text: &str) -> bool {
    let start: String = text.chars().take(15).collect::<String>().to_ascii_lowercase();
    ["<!doctype html", "<html", "<head", "<body"]
        .iter()
        .any(|mark| start.starts_with(mark))
}

/// Returns the text of a page: without tags, scripts and styles, with blanks folded and common entities resolved.
fn without_tags(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        text.push(' ');
        rest = after_element(&rest[start..]);
    }
    text.push_str(rest);
    let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
    [
        ("&nbsp;", " "),
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ]
    .iter()
    .fold(folded, |text, (entity, character)| {
        text.replace(entity, character)
    })
}

/// Returns the text after a tag, or for scripts and styles, the text after their end tag.
fn after_element(tag: &str) -> &str {
    for name in ["script", "style"] {
        let opens = tag
            .get(1..=name.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(name));
        if opens {
            let end = tag
                .to_ascii_lowercase()
                .find(&format!("</{name}"))
                .unwrap_or(tag.len());
            return after_tag(&tag[end..]);
        }
    }
    after_tag(tag)
}

fn after_tag(tag: &str) -> &str {
    tag.find('>').map_or("", |end| &tag[end + 1..])
}

#[cfg(test)]
mod tests {
    use super::{bounded, in_body};
    use proptest::prelude::*;

    fn words(body: &str) -> String {
        in_body("", body.as_bytes()).to_string()
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
        let long = in_body("text/html; charset=utf-8", "word ".repeat(1000).as_bytes()).to_string();
        assert!(long.chars().count() < 350, "{long}");
    }

    #[test]
    fn long_texts_are_cut_and_say_so() {
        assert_eq!(bounded("äöü", 3), "äöü");
        assert_eq!(bounded("äöüß", 3), "äöü… (1 more character)");
        assert!(words(&"x".repeat(100_000)).len() < 2_100);
    }

    proptest! {
        #[test]
        fn any_page_is_read(page in "(<|>|/|script|STYLE|ß|&amp;|\\PC){0,40}") {
            let _ = in_body("text/html", page.as_bytes()).to_string();
        }
    }
}
