//! Converts a part of a document to text, for values that are only compared and shown.

use sluicegate_yaml::{NodeRef, Value};
use std::fmt::Write as _;

/// Returns the text of a scalar, which may have several lines, or a list or a map as canonical text on one line; `None`
/// for null.
pub(super) fn format_value(node: NodeRef<'_, '_>) -> Option<String> {
    if node.is_null() {
        return None;
    }
    let mut text = String::new();
    match node.text() {
        Some(scalar) => text.push_str(scalar),
        None => push_canonical_text(&mut text, node, &|_| false),
    }
    Some(text)
}

/// Returns the content of the node as a text that is equal for equal contents. The order of keys and the quotes of
/// scalars have no effect; the order of a list has none if `is_set` returns true for its key.
pub(super) fn format_canonical_text(node: NodeRef<'_, '_>, is_set: &dyn Fn(&str) -> bool) -> String {
    let mut text = String::new();
    push_canonical_text(&mut text, node, is_set);
    text
}

/// Appends the canonical text of a node; see [`format_canonical_text`].
fn push_canonical_text(text: &mut String, node: NodeRef<'_, '_>, is_set: &dyn Fn(&str) -> bool) {
    if let Some(items) = node.items() {
        let items: Vec<String> = items.map(|item| format_canonical_text(item, is_set)).collect();
        push_in_brackets(text, ['[', ']'], &items);
    } else if node.is_map() {
        let mut entries: Vec<String> = node
            .entries()
            .map(|(key, _, value)| format_entry(key, value, is_set))
            .collect();
        entries.sort();
        push_in_brackets(text, ['{', '}'], &entries);
    } else {
        match (node.value(), node.text()) {
            (Some(Value::Null), _) | (_, None) => text.push_str("null"),
            (Some(Value::Boolean(value)), _) => {
                let _ = write!(text, "{value}");
            }
            (Some(Value::Natural(_) | Value::OtherNumber), Some(number)) => text.push_str(number),
            // Any other text is quoted, because the text "1" is not equal to the number 1.
            (_, Some(scalar)) => {
                let _ = write!(text, "{scalar:?}");
            }
        }
    }
}

/// Returns the canonical text of a key with its value. A list whose key `is_set` accepts is sorted.
fn format_entry(key: &str, value: NodeRef<'_, '_>, is_set: &dyn Fn(&str) -> bool) -> String {
    let mut text = format!("{key:?}: ");
    match value.items().filter(|_| is_set(key)) {
        Some(items) => {
            let mut items: Vec<String> = items.map(|item| format_canonical_text(item, is_set)).collect();
            items.sort();
            push_in_brackets(&mut text, ['[', ']'], &items);
        }
        None => push_canonical_text(&mut text, value, is_set),
    }
    text
}

/// Appends the parts, separated by commas and enclosed in these brackets.
fn push_in_brackets(text: &mut String, [open, close]: [char; 2], parts: &[String]) {
    text.push(open);
    text.push_str(&parts.join(", "));
    text.push(close);
}
