//! Events as JSON lines, which keep everything, and as CSV, which spreadsheets open.

use crate::api::{ApiValue, Event};
use serde_json::{Map, Value};
use sluicegate_base::text;

/// The fields of the API document, in its order.
const DOCUMENTED_FIELDS: [&str; 13] = [
    "eventId",
    "eventName",
    "eventType",
    "eventDescription",
    "eventTimestamp",
    "eventSource",
    "eventProjectId",
    "eventSubjectId",
    "eventSubjectName",
    "eventSubjectType",
    "actorId",
    "actorEmail",
    "additionalInfo",
];

/// Name of the column with the other fields of an event, in a table with fixed columns.
const OTHER_FIELDS: &str = "otherFields";

/// Renders the events as raw JSON, one per line, escaped for CI logs.
pub fn render_json_lines(events: &[ApiValue<Event>]) -> String {
    events
        .iter()
        .map(|event| text::escape_commands_in_json(event.raw.to_string()) + "\n")
        .collect()
}

/// Renders a row for each event (RFC 4180), with a column for every field that any event has. A text that a spreadsheet
/// would read as a formula gets an apostrophe in front, control characters are escaped, and no line can be a command to
/// a CI host.
pub fn render_csv(events: &[ApiValue<Event>]) -> String {
    let mut columns: Vec<&str> = DOCUMENTED_FIELDS.to_vec();
    for key in events
        .iter()
        .filter_map(|event| event.raw.as_object())
        .flat_map(|fields| fields.keys())
    {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    let mut table = render_row(columns.iter().map(|column| (*column).to_owned()));
    for event in events {
        table.push_str(&render_row(
            columns.iter().map(|column| format_cell(&event.raw[*column])),
        ));
    }
    table
}

/// Renders a part of a table that several exports write: the columns are always the same, and only the first part has
/// the header. The last column contains the fields that the API document does not define, as JSON.
pub fn render_csv_part(events: &[ApiValue<Event>], has_header: bool) -> String {
    let mut table = String::new();
    if has_header {
        let columns = DOCUMENTED_FIELDS.iter().chain([&OTHER_FIELDS]);
        table = render_row(columns.map(|column| (*column).to_owned()));
    }
    for event in events {
        let other_fields: Map<String, Value> = event
            .raw
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(key, _)| !DOCUMENTED_FIELDS.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut cells: Vec<String> = DOCUMENTED_FIELDS
            .iter()
            .map(|column| format_cell(&event.raw[*column]))
            .collect();
        cells.push(if other_fields.is_empty() {
            String::new()
        } else {
            Value::Object(other_fields).to_string()
        });
        table.push_str(&render_row(cells.into_iter()));
    }
    table
}

/// Renders a row with these cells, each escaped.
fn render_row(cells: impl Iterator<Item = String>) -> String {
    cells.map(|text| escape_cell(&text)).collect::<Vec<_>>().join(",") + "\r\n"
}

/// Returns the text of a value's cell: a string without quotes, other values as JSON, and nothing for null.
fn format_cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        _ => value.to_string(),
    }
}

/// Escapes the text of a CSV cell, so that no spreadsheet program reads it as a formula, and quotes the text if
/// necessary.
fn escape_cell(text: &str) -> String {
    let mut safe = text::escape_lines(text).into_owned();
    // OWASP, "CSV Injection": also after blanks, and in the full-width forms that some programs treat the same. A tab
    // at the start is unsafe before any text.
    let may_be_formula = safe
        .trim_start()
        .starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠'])
        || safe.starts_with('\t');
    if may_be_formula {
        safe.insert(0, '\'');
    }
    // The same page warns of separators and quotation marks of any kind, which could begin a new cell.
    let needs_quotes = safe.contains([',', '"', '\n', '\r', ';', '\'']) || safe.trim() != safe;
    if needs_quotes {
        format!("\"{}\"", safe.replace('"', "\"\""))
    } else {
        safe
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn event(value: &Value) -> ApiValue<Event> {
        serde_json::from_value(value.clone()).unwrap()
    }

    #[test]
    fn csv_has_a_column_for_every_field() {
        let events = [
            event(&json!({ "eventId": "1", "eventName": "a, \"b\"", "new": { "k": 1 } })),
            event(&json!({ "eventId": "2", "additionalInfo": "x\ny" })),
        ];
        insta::assert_snapshot!(render_csv(&events).replace("\r\n", "|\n"), @r#"
        eventId,eventName,eventType,eventDescription,eventTimestamp,eventSource,eventProjectId,eventSubjectId,eventSubjectName,eventSubjectType,actorId,actorEmail,additionalInfo,new|
        1,"a, ""b""",,,,,,,,,,,,"{""k"":1}"|
        2,,,,,,,,,,,,"x
        y",|
        "#);
    }

    #[test]
    fn formulas_are_text() {
        for (text, safe) in [
            ("=1+1", "\"'=1+1\""),
            ("+49", "\"'+49\""),
            ("-2", "\"'-2\""),
            ("@SUM(A1)", "\"'@SUM(A1)\""),
            (" =1", "\"' =1\""),
            ("\t=1", "\"'\t=1\""),
            ("＝1", "\"'＝1\""),
            ("a=b", "a=b"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
        ] {
            assert_eq!(escape_cell(text), safe, "{text:?}");
        }
    }

    #[test]
    fn json_lines_lose_nothing() {
        let value = json!({ "eventId": "1", "eventDescription": "##[error] x\n::error::", "new": [null] });
        let lines = render_json_lines(&[event(&value), event(&value)]);
        assert!(!lines.contains("##["));
        let read: Vec<Value> = lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, [value.clone(), value]);
    }

    proptest! {
        #[test]
        fn no_cell_is_a_formula_or_ends_early(text in "(\\PC|[\\r\\n\\t=+@\",-]){0,20}") {
            let cell = escape_cell(&text);
            let inner = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            let plain = inner.map_or_else(|| cell.clone(), |inner| inner.replace("\"\"", "\u{1}"));
            prop_assert!(!plain.contains('"'), "{cell:?}");
            prop_assert!(!plain.trim_start().starts_with(['=', '+', '-', '@']), "{cell:?}");
            prop_assert!(inner.is_some() || !cell.contains([',', '\n', '\r']), "{cell:?}");
        }
    }
}
