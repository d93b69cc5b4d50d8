//! Shows answers: tables for people, JSON as it came.

use crate::error::Failure;
use crate::text;
use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

/// A file that a user named, up to a size.
pub(super) fn read_bounded(path: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let unreadable = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("the file {} cannot be read: {why}", path.display()))
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|why| unreadable(&why))?;
    file.take(limit.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|why| unreadable(&why))?;
    if bytes.len() as u64 > limit {
        return Err(unreadable(&format!("it has more than {limit} bytes")));
    }
    Ok(bytes)
}

/// One JSON document, safe to print in a CI log: the marks of host commands, which can only stand inside strings,
/// are written with an escape that reads back as the same text.
pub(super) fn json(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.replace("##[", "\\u0023#[").replace("##vso[", "\\u0023#vso[") + "\n"
}

/// An aligned table; cells are made safe.
pub(super) fn table(headings: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings.iter().map(|heading| heading.to_uppercase()));
    for row in rows {
        table.add_row(row.iter().map(|cell| text::line(cell)));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let lines: Vec<String> = table
        .to_string()
        .lines()
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.join("\n") + "\n"
}

/// What is at `key`, as a cell: text as it is, other values as JSON, nothing as `-`.
pub(super) fn cell(item: &Value, key: &str) -> String {
    match &item[key] {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_cells_are_harmless() {
        let rows = vec![
            vec!["ü".to_owned(), "1".to_owned()],
            vec!["a\u{1b}[2J\n::x".to_owned(), String::new()],
        ];
        insta::assert_snapshot!(table(&["name", "n"], rows), @r"
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
