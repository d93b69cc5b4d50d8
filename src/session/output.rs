//! Formats responses: tables and facts for people, raw JSON for programs.

use super::table::Columns;
use jiff::Timestamp;
use serde_json::{Map, Value};
use sluicegate_base::text;
use sluicegate_base::text::wrap;
use std::fmt::Write as _;
use std::io;
use unicode_width::UnicodeWidthStr as _;

/// Maximum number of columns of a list.
const MOST_COLUMNS: usize = 40;

/// Maximum length of a fact's path, and maximum width for the alignment of paths, in characters.
const LONGEST_PATH: usize = 200;
const WIDEST_PATH: usize = 60;

/// Returns one JSON document, safe to print in a CI log.
pub(crate) fn json(value: &Value) -> String {
    text::json(serde_json::to_string_pretty(value).unwrap_or_default()) + "\n"
}

/// Writes like [`json`], but piece by piece: the platform's responses may be large.
pub(crate) fn write_json(value: &Value, out: &mut dyn io::Write) -> io::Result<()> {
    serde_json::to_writer_pretty(text::SafeJson::new(&mut *out), value)?;
    out.write_all(b"\n")
}

/// Returns an aligned table; control characters in cells are escaped.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let mut columns = Columns::new(headings);
    for row in rows {
        columns.widen(row);
    }
    let lines: String = rows.iter().map(|row| columns.line(row)).collect();
    columns.heading() + &lines
}

/// Returns [`table`] if it fits the terminal, otherwise each row as a paragraph: its first two cells, and the others
/// below them with their headings. `-` marks a missing value, which is omitted there.
pub(crate) fn table_within(headings: &[&str], rows: &[Vec<String>], width: Option<usize>) -> String {
    let shown = table(headings, rows);
    let columns = width.unwrap_or(usize::MAX);
    if shown.lines().all(|line| line.width() <= columns) {
        return shown;
    }
    let mut shown = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| text::line(cell)).collect();
        let (lead, rest) = cells.split_at(cells.len().min(2));
        let _ = writeln!(shown, "{}", lead.join("  "));
        let named = headings.iter().skip(2).zip(rest).filter(|(_, cell)| *cell != "-");
        for (heading, cell) in named {
            for line in wrap::lines(cell, &format!("  {heading}: "), "    ", columns) {
                let _ = writeln!(shown, "{line}");
            }
        }
    }
    shown
}

/// Returns the value at `key` as a cell: text unchanged, other values as JSON, a missing value as `-`.
pub(crate) fn cell(item: &Value, key: &str) -> String {
    scalar(&item[key])
}

fn scalar(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Writes a list as a table: the columns `(key, heading)`, then one for each other key of an entry, up to
/// `MOST_COLUMNS`. Each row is computed twice, to be measured and to be written, as all rows may need more memory than
/// the response.
pub(crate) fn list(
    items: &[Value],
    columns: &[(&str, &str)],
    none: &str,
    out: &mut dyn io::Write,
) -> io::Result<()> {
    if items.is_empty() {
        return writeln!(out, "{none}");
    }
    let now = Timestamp::now();
    let (shown, are_all) = with_others(items, columns);
    let headings: Vec<&str> = shown.iter().map(|(_, heading)| *heading).collect();
    let row = |item: &Value| -> Vec<String> {
        let cells = shown.iter().map(|(key, _)| timed(key, &item[*key], now));
        cells.collect()
    };
    let mut table = Columns::new(&headings);
    for item in items {
        table.widen(&row(item));
    }
    out.write_all(table.heading().as_bytes())?;
    for item in items {
        out.write_all(table.line(&row(item)).as_bytes())?;
    }
    if !are_all {
        writeln!(out, "More fields are available with `-o json`.")?;
    }
    Ok(())
}

/// Returns the columns extended by those for other keys, and whether they are complete.
fn with_others<'a>(items: &'a [Value], columns: &[(&'a str, &'a str)]) -> (Vec<(&'a str, &'a str)>, bool) {
    let mut shown = columns.to_vec();
    let fields = items.iter().filter_map(Value::as_object);
    for key in fields.flat_map(Map::keys) {
        if shown.iter().any(|(known, _)| known == key) {
            continue;
        }
        if shown.len() == MOST_COLUMNS {
            return (shown, false);
        }
        shown.push((key, key));
    }
    (shown, true)
}

/// Returns all parts of a value, one per line in their original order, each with its path.
pub(crate) fn facts(value: &Value) -> String {
    let mut found = Vec::new();
    collect("", value, &mut found);
    let now = Timestamp::now();
    let widths = found.iter().map(|(path, _)| path.chars().count());
    let width = widths.max().unwrap_or_default().min(WIDEST_PATH);
    let mut shown = String::new();
    for (path, value) in found {
        let key = path.rsplit('.').next().unwrap_or_default();
        let said = text::line(&timed(key, value, now));
        let _ = writeln!(shown, "{}  {said}", text::line(&format!("{path:<width$}")));
    }
    shown
}

fn collect<'v>(path: &str, value: &'v Value, found: &mut Vec<(String, &'v Value)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            let dot = if path.is_empty() { "" } else { "." };
            for (key, value) in fields {
                collect(&end_of(format!("{path}{dot}{key}")), value, found);
            }
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            for (index, value) in items.iter().enumerate() {
                collect(&end_of(format!("{path}[{index}]")), value, found);
            }
        }
        _ => found.push((path.to_owned(), value)),
    }
}

/// Returns the end of a path that is too long, as every nested part would repeat it.
fn end_of(path: String) -> String {
    match path.char_indices().rev().nth(LONGEST_PATH) {
        Some((start, _)) => format!("\u{2026}{}", path.get(start..).unwrap_or_default()),
        None => path,
    }
}

/// Returns a value as text; a time with its distance from now.
fn timed(key: &str, value: &Value, now: Timestamp) -> String {
    let said = scalar(value);
    let is_time = ["At", "Time", "Timestamp"].iter().any(|end| key.ends_with(end));
    match said.parse::<Timestamp>() {
        Ok(then) if is_time => format!("{said} ({})", relative(then, now)),
        _ => said,
    }
}

/// Returns the distance of a time from now: `5 min ago`, `in 2 h`.
pub(crate) fn relative(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second().saturating_sub(then.as_second());
    let span = duration(seconds.unsigned_abs());
    match seconds {
        -4..=4 => "now".to_owned(),
        5.. => format!("{span} ago"),
        _ => format!("in {span}"),
    }
}

/// Returns a duration in its largest unit that is not 0.
fn duration(seconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3_600, "h"), (60, "min")];
    let unit = UNITS.iter().find(|(length, _)| seconds >= *length);
    unit.map_or_else(
        || format!("{seconds} s"),
        |(length, name)| format!("{} {name}", seconds / length),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn time_is_told_in_its_largest_unit() {
        let now: Timestamp = "2026-11-20T09:30:00Z".parse().unwrap();
        let said = |text: &str| relative(text.parse().unwrap(), now);
        assert_eq!(said("2026-11-20T09:29:58Z"), "now");
        assert_eq!(said("2026-11-20T09:29:30Z"), "30 s ago");
        assert_eq!(said("2026-11-20T10:25:00+01:00"), "5 min ago");
        assert_eq!(said("2026-11-20T07:00:00Z"), "2 h ago");
        assert_eq!(said("2026-11-01T09:30:00Z"), "19 d ago");
        assert_eq!(said("2026-11-20T10:30:00Z"), "in 1 h");
        assert_eq!(timed("createdAt", &json!("soon"), now), "soon");
        assert_eq!(
            timed("value", &json!("2026-11-20T09:30:00Z"), now),
            "2026-11-20T09:30:00Z"
        );
    }

    #[test]
    fn nothing_that_came_is_lost() {
        let value = json!({ "id": 1, "a": { "b": { "c": "x\u{1b}" }, "none": null }, "list": [{ "k": true }, 2],
            "names": ["p", "q"], "empty": {} });
        insta::assert_snapshot!(facts(&value), @r#"
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
        let mut out = Vec::new();
        list(items, &[("name", "title")], "nothing", &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escaped_output_grows_linearly_with_input() {
        let long = "k".repeat(100_000);
        let parts: Map<String, Value> = (0..1000).map(|at| (at.to_string(), json!(1))).collect();
        let shown = facts(&json!({ long.as_str(): parts.clone(), "other": { "a": parts } }));
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
        insta::assert_snapshot!(table(&["name", "n"], &rows), @r"
        NAME            N
        ü               1
        a\u{1b}[2J ::x
        ");
    }

    #[test]
    fn json_reads_back_and_is_no_command() {
        let value = serde_json::json!({ "a": "##[error]x", "b": ["##vso[task]y"] });
        let shown = json(&value);
        assert!(!shown.contains("##"), "{shown}");
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
    }
}
