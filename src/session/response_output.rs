//! Formats responses: tables and lines of fields for people, raw JSON for programs.

use super::text_table::TableColumns;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};
use sluicegate_base::text;
use sluicegate_base::text::wrap;
use std::fmt::Write as _;
use std::io;
use unicode_width::UnicodeWidthStr as _;

/// Maximum number of columns of a list.
const MAX_COLUMNS: usize = 40;

/// Maximum length of a field's path, and maximum width for the alignment of paths, in characters.
const MAX_PATH_LENGTH: usize = 200;
const MAX_ALIGNED_PATH_WIDTH: usize = 60;

/// Returns the value as an indented JSON document, with escapes that make it safe to print in a CI log.
pub(crate) fn format_json(value: &impl Serialize) -> String {
    text::escape_commands_in_json(serde_json::to_string_pretty(value).unwrap_or_default()) + "\n"
}

/// Returns an aligned table; control characters in cells are escaped.
pub(crate) fn format_table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut columns = TableColumns::new(headings);
    for row in rows {
        columns.fit_row(row);
    }
    let lines: String = rows.iter().map(|row| columns.format_row(row)).collect();
    columns.format_heading_line() + &lines
}

/// Returns the table of [`format_table`] if it fits the terminal, or if `width` is `None`. Otherwise returns each row
/// as a paragraph: the first two cells on one line, and below them each other cell with its heading. A cell `-` marks a
/// missing value and is omitted there.
pub(crate) fn format_table_within(headings: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let table = format_table(headings, rows);
    let terminal_width = width.unwrap_or(usize::MAX);
    if table.lines().all(|line| line.width() <= terminal_width) {
        return table;
    }
    rows.iter()
        .map(|row| format_paragraph(headings, row, terminal_width))
        .collect()
}

/// Returns a row of a table as a paragraph, as [`format_table_within`] describes.
fn format_paragraph(headings: &[&str], row: &[String], terminal_width: usize) -> String {
    let cells: Vec<String> = row.iter().map(|cell| text::escape_line(cell)).collect();
    let (lead_cells, detail_cells) = cells.split_at(cells.len().min(2));
    let mut paragraph = lead_cells.join("  ") + "\n";
    let details = headings
        .iter()
        .skip(2)
        .zip(detail_cells)
        .filter(|(_, cell)| *cell != "-");
    for (heading, cell) in details {
        for line in wrap::wrap_lines(cell, &format!("  {heading}: "), "    ", terminal_width) {
            let _ = writeln!(paragraph, "{line}");
        }
    }
    paragraph
}

/// Returns the value at `key` as a cell: text unchanged, other values as JSON, a missing value as `-`.
pub(crate) fn format_cell(item: &Value, key: &str) -> String {
    format_scalar(&item[key])
}

/// Returns a value as the text of a cell.
pub(crate) fn format_scalar(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

/// Writes a list as a table: the given columns `(key, heading)`, then a column for each other key of an item, up to
/// [`MAX_COLUMNS`]. A table that is wider than the terminal becomes paragraphs, as in [`format_table_within`]. Each row
/// is formatted anew to measure and to write it, because all formatted rows together may need more memory than the
/// response. For an empty list, writes only `empty_message`.
pub(crate) fn write_list(
    items: &[Value],
    columns: &[(&str, &str)],
    empty_message: &str,
    width: Option<usize>,
    writer: &mut dyn io::Write,
) -> io::Result<()> {
    if items.is_empty() {
        return writeln!(writer, "{empty_message}");
    }
    let now = Timestamp::now();
    let (all_columns, is_complete) = add_other_columns(items, columns);
    let headings: Vec<&str> = all_columns.iter().map(|(_, heading)| *heading).collect();
    let mut table = TableColumns::new(&headings);
    for item in items {
        table.fit_row(&format_row(item, &all_columns, now));
    }
    let terminal_width = width.unwrap_or(usize::MAX);
    let is_table = items.iter().all(|item| {
        let row = format_row(item, &all_columns, now);
        table.format_row(&row).trim_end().width() <= terminal_width
    });
    if is_table {
        writer.write_all(table.format_heading_line().as_bytes())?;
    }
    for item in items {
        let row = format_row(item, &all_columns, now);
        let text = if is_table {
            table.format_row(&row)
        } else {
            format_paragraph(&headings, &row, terminal_width)
        };
        writer.write_all(text.as_bytes())?;
    }
    if !is_complete {
        writeln!(writer, "More fields are available with `-o json`.")?;
    }
    Ok(())
}

/// Returns the cells of an item, one for each column.
fn format_row(item: &Value, columns: &[(&str, &str)], now: Timestamp) -> Vec<String> {
    columns
        .iter()
        .map(|(key, _)| format_field(key, &item[*key], now))
        .collect()
}

/// Returns the given columns and a column for each other key of an item, up to [`MAX_COLUMNS`], and whether every key
/// has a column.
pub(crate) fn add_other_columns<'a>(
    items: &'a [Value],
    columns: &[(&'a str, &'a str)],
) -> (Vec<(&'a str, &'a str)>, bool) {
    let mut all_columns = columns.to_vec();
    let fields = items.iter().filter_map(Value::as_object);
    for key in fields.flat_map(Map::keys) {
        if all_columns.iter().any(|(column_key, _)| column_key == key) {
            continue;
        }
        if all_columns.len() == MAX_COLUMNS {
            return (all_columns, false);
        }
        all_columns.push((key, key));
    }
    (all_columns, true)
}

/// Returns the fields of a JSON value, including those of nested objects, one per line: its path and its value,
/// aligned.
pub(crate) fn format_field_lines(value: &Value) -> String {
    let mut fields = Vec::new();
    collect_fields("", value, &mut fields);
    let now = Timestamp::now();
    let longest_path = fields.iter().map(|(path, _)| path.chars().count()).max();
    let width = longest_path.unwrap_or_default().min(MAX_ALIGNED_PATH_WIDTH);
    let mut lines = String::new();
    for (path, value) in fields {
        let key = path.rsplit('.').next().unwrap_or_default();
        let text = text::escape_line(&format_field(key, value, now));
        let _ = writeln!(lines, "{}  {text}", text::escape_line(&format!("{path:<width$}")));
    }
    lines
}

/// Returns the headline, and below it the fields of the response as in [`format_field_lines`], if it has any.
pub(crate) fn format_headline_and_fields(headline: &str, response: &Value) -> String {
    let headline = text::escape_line(headline) + "\n";
    if response.as_object().is_none_or(Map::is_empty) {
        return headline;
    }
    headline + &format_field_lines(response)
}

/// Collects the values in a JSON document, each with its path. Descends into objects, and into arrays that contain
/// objects or arrays; an array of plain values is one value.
fn collect_fields<'v>(path: &str, value: &'v Value, fields: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let dot = if path.is_empty() { "" } else { "." };
            for (key, value) in members {
                collect_fields(&shorten_path(format!("{path}{dot}{key}")), value, fields);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, value) in items.iter().enumerate() {
                collect_fields(&shorten_path(format!("{path}[{index}]")), value, fields);
            }
        }
        _ => fields.push((path.to_owned(), value)),
    }
}

/// Shortens a path longer than [`MAX_PATH_LENGTH`] to its end, after `…`. Otherwise, the paths of a deeply nested
/// document would grow with each level.
fn shorten_path(path: String) -> String {
    let length = path.chars().count();
    if length <= MAX_PATH_LENGTH {
        return path;
    }
    let end: String = path.chars().skip(length - MAX_PATH_LENGTH).collect();
    format!("\u{2026}{end}")
}

/// Returns a value as text. A time, recognized by the end of its key, is followed by its distance from now.
fn format_field(key: &str, value: &Value, now: Timestamp) -> String {
    let text = format_scalar(value);
    let is_time = ["At", "Time", "Timestamp"].iter().any(|end| key.ends_with(end));
    match text.parse::<Timestamp>() {
        Ok(time) if is_time => format!("{text} ({})", format_distance(time, now)),
        _ => text,
    }
}

/// Returns the distance of a time from now, for example `5 min ago` or `in 2 h`. Up to 4 seconds are `now`.
pub(crate) fn format_distance(time: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(time.as_second());
    let distance = format_duration(seconds.unsigned_abs());
    match seconds {
        -4..=4 => "now".to_owned(),
        5.. => format!("{distance} ago"),
        _ => format!("in {distance}"),
    }
}

/// Returns a duration in the largest unit that it fills, rounded down: 90 minutes are `1 h`.
fn format_duration(seconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "min")];
    match UNITS.iter().find(|(length, _)| seconds >= *length) {
        Some((length, name)) => format!("{} {name}", seconds / length),
        None => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn distance_of_time_has_its_largest_unit() {
        let now: Timestamp = "2026-11-20T09:30:00Z".parse().unwrap();
        let said = |text: &str| format_distance(text.parse().unwrap(), now);
        assert_eq!(said("2026-11-20T09:29:58Z"), "now");
        assert_eq!(said("2026-11-20T09:29:30Z"), "30 s ago");
        assert_eq!(said("2026-11-20T10:25:00+01:00"), "5 min ago");
        assert_eq!(said("2026-11-20T07:00:00Z"), "2 h ago");
        assert_eq!(said("2026-11-01T09:30:00Z"), "19 d ago");
        assert_eq!(said("2026-11-20T10:30:00Z"), "in 1 h");
        assert_eq!(format_field("createdAt", &json!("soon"), now), "soon");
        assert_eq!(
            format_field("value", &json!("2026-11-20T09:30:00Z"), now),
            "2026-11-20T09:30:00Z"
        );
    }

    #[test]
    fn fields_of_every_kind_are_printed() {
        let value = json!({ "id": 1, "a": { "b": { "c": "x\u{1b}" }, "none": null }, "list": [{ "k": true }, 2],
            "names": ["p", "q"], "empty": {} });
        insta::assert_snapshot!(format_field_lines(&value), @r#"
        id         1
        a.b.c      x\u{1b}
        a.none     -
        list[0].k  true
        list[1]    2
        names      ["p","q"]
        empty      {}
        "#);
        let items = [
            json!({ "name": "n", "size": 2 }),
            json!({ "name": "m", "new": "field" }),
        ];
        insta::assert_snapshot!(listed(&items), @"
        TITLE  SIZE  NEW
        n      2     -
        m      -     field
        ");
        assert_eq!(listed(&[]), "nothing\n");
    }

    fn listed(items: &[Value]) -> String {
        listed_within(items, None)
    }

    fn listed_within(items: &[Value], width: Option<usize>) -> String {
        let mut out = Vec::new();
        write_list(items, &[("name", "title")], "nothing", width, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn list_that_is_wider_than_terminal_is_printed_as_paragraphs() {
        let items = [
            json!({ "name": "n", "size": 2, "commit": "0123456789", "branch": null }),
            json!({ "name": "m", "size": 3, "commit": "abc", "branch": "main" }),
        ];
        insta::assert_snapshot!(listed_within(&items, Some(20)), @"
        n  2
          commit: 0123456789
        m  3
          commit: abc
          branch: main
        ");
        assert_eq!(listed_within(&items, Some(40)), listed(&items));
    }

    #[test]
    fn escaped_output_grows_linearly_with_input() {
        let long = "k".repeat(100_000);
        let parts: Map<String, Value> = (0..1000).map(|at| (at.to_string(), json!(1))).collect();
        let shown = format_field_lines(&json!({ long.as_str(): parts.clone(), "other": { "a": parts } }));
        assert!(shown.len() < 1_000_000, "{}", shown.len());
        assert!(shown.contains("kkk.999  1"));

        let mut items: Vec<Value> = (0..1000).map(|at| json!({ at.to_string(): "x" })).collect();
        items.push(json!({ "name": long }));
        let shown = listed(&items);
        assert!(shown.len() < 1_000_000, "{}", shown.len());
        assert!(shown.contains(&long) && shown.ends_with("with `-o json`.\n"));
        assert!(shown.starts_with("TITLE ") && !shown.contains("100  x"));
    }

    #[test]
    fn columns_are_aligned_and_cells_are_harmless() {
        let rows = vec![
            vec!["ü".to_owned(), "1".to_owned()],
            vec!["a\u{1b}[2J\n::x".to_owned(), String::new()],
        ];
        insta::assert_snapshot!(format_table(&["name", "n"], &rows), @r"
        NAME            N
        ü               1
        a\u{1b}[2J ::x
        ");
    }

    #[test]
    fn json_reads_back_and_is_no_command() {
        let value = serde_json::json!({ "a": "##[error]x", "b": ["##vso[task]y"] });
        let shown = format_json(&value);
        assert!(!shown.contains("##"), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }
}
