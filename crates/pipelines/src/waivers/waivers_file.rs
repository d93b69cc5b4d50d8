//! Parses the waivers file strictly: anything that is not a valid waiver is an error with its position and, if
//! possible, a suggestion.

use super::WaiverEntry;
use crate::project::ProjectCheck;
use crate::rules;
use jiff::civil::Date;
use sluicegate_base::globs::{has_wildcard, parse_glob};
use sluicegate_base::text;
use sluicegate_yaml::{DocumentError, NodeRef, Position, Tree, is_blank, shorten};
use std::collections::HashSet;

const KEYS: [&str; 7] = ["rule", "path", "about", "size", "reason", "owner", "until"];

/// Maximum number of waivers in the file.
const MAX_WAIVERS: usize = 100_000;

/// Maximum number of different paths with a wildcard in the file. Each of them is compared with each pipeline that has
/// a finding.
const MAX_WILDCARD_PATHS: usize = 1_000;

/// Maximum length of a text in an entry, in bytes.
const MAX_TEXT_BYTES: usize = 4096;

/// A waiver with its position in the waivers file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedWaiver {
    pub entry: WaiverEntry,
    /// The position of the entry, after its dash.
    pub position: Position,
}

/// Parses the waivers file, and returns its entries in order. Fails if an entry is invalid or if there are too many. A
/// file without content has no entries. `is_known_rule` returns whether a rule id exists.
pub fn parse_waivers_file(
    bytes: &[u8],
    is_known_rule: &dyn Fn(&str) -> bool,
) -> Result<Vec<PlacedWaiver>, DocumentError> {
    if is_blank(bytes) {
        return Ok(Vec::new());
    }
    let tree = Tree::parse(bytes)?;
    let root = tree.root();
    let items = root
        .items()
        .ok_or_else(|| error_at(root, "the file is not a list of waivers"))?;
    if items.len() > MAX_WAIVERS {
        let message = format!(
            "the file has {} waivers; the maximum is {MAX_WAIVERS}",
            items.len()
        );
        return Err(error_at(root, message));
    }
    let mut wildcard_paths = HashSet::new();
    let mut waivers = Vec::new();
    for item in items {
        let waiver = parse_waiver(item, is_known_rule)?;
        if has_wildcard(&waiver.entry.path) {
            wildcard_paths.insert(waiver.entry.path.clone());
        }
        if wildcard_paths.len() > MAX_WILDCARD_PATHS {
            let message = format!(
                "more than {MAX_WILDCARD_PATHS} different paths have a wildcard: write the paths of single files"
            );
            return Err(error_at(item, message));
        }
        waivers.push(waiver);
    }
    Ok(waivers)
}

/// Creates an error at the position of the node.
fn error_at(node: NodeRef<'_, '_>, message: impl Into<String>) -> DocumentError {
    DocumentError::at_position(node.position(), message)
}

/// Parses an entry of the waivers file. Fails for unknown keys, missing or invalid values, and keys that do not fit the
/// rule.
fn parse_waiver(
    item: NodeRef<'_, '_>,
    is_known_rule: &dyn Fn(&str) -> bool,
) -> Result<PlacedWaiver, DocumentError> {
    if !item.is_map() {
        return Err(error_at(
            item,
            "a waiver must be a map such as `{ rule: …, path: …, reason: … }`",
        ));
    }
    if let Some((key, position, _)) = item.entries().find(|(key, ..)| !KEYS.contains(key)) {
        let suggestion = text::suggest(key, &KEYS).unwrap_or_else(|| {
            let keys = KEYS.map(|key| format!("`{key}`"));
            format!("valid keys are {}", keys.join(", "))
        });
        let message = format!("unknown key `{}`: {suggestion}", shorten(key));
        return Err(DocumentError::at_position(position, message));
    }
    let rule = require_text(item, "rule")?;
    reject_unknown_rule(item, &rule, is_known_rule)?;
    let entry = WaiverEntry {
        path: parse_path(item)?,
        about: parse_about(item)?,
        size: parse_size(item)?,
        reason: require_text(item, "reason")?,
        owner: optional_text(item, "owner")?,
        last_day: parse_until(item)?,
        rule,
    };
    let is_counting = rules::is_counting_rule(&entry.rule);
    match (item.get("size"), item.get("about")) {
        (Some(node), _) if !is_counting => Err(error_at(
            node,
            "`size` is valid only for rules that compare a number with a limit",
        )),
        (_, Some(node)) if is_counting => Err(error_at(
            node,
            "a waiver for a rule with a limit cannot name a component: remove `about`",
        )),
        _ => Ok(PlacedWaiver {
            entry,
            position: item.position(),
        }),
    }
}

/// Fails if no rule has this id. The error names the most similar rule or project check.
fn reject_unknown_rule(
    item: NodeRef<'_, '_>,
    rule: &str,
    is_known_rule: &dyn Fn(&str) -> bool,
) -> Result<(), DocumentError> {
    if is_known_rule(rule) {
        return Ok(());
    }
    let mut known_ids: Vec<&str> = rules::rule_ids().collect();
    known_ids.extend(ProjectCheck::ALL.map(ProjectCheck::id));
    let message = format!(
        "there is no rule `{}`{}",
        shorten(rule),
        text::suggestion_after_colon(text::find_nearest_word(rule, &known_ids))
    );
    Err(error_at(item.get("rule").unwrap_or(item), message))
}

/// Returns the text of a key, or an error if the key is missing or its text is invalid.
fn require_text(item: NodeRef<'_, '_>, key: &str) -> Result<String, DocumentError> {
    optional_text(item, key)?.ok_or_else(|| error_at(item, format!("the waiver has no `{key}`")))
}

/// Returns the text of a key, or `None` if the key is missing. Fails if the value is blank, too long or not a string.
fn optional_text(item: NodeRef<'_, '_>, key: &str) -> Result<Option<String>, DocumentError> {
    let Some(node) = item.get(key) else {
        return Ok(None);
    };
    match node.text().map(str::trim) {
        Some(text) if text.len() > MAX_TEXT_BYTES => Err(error_at(
            node,
            format!("`{key}` has more than {MAX_TEXT_BYTES} bytes"),
        )),
        Some(text) if !text.is_empty() && !node.is_null() => Ok(node.text().map(str::to_owned)),
        _ => Err(error_at(node, format!("`{key}` is empty or not a string"))),
    }
}

/// Returns the text of the key `about`, or `None` if the key is missing. A component may have an empty or blank name,
/// so such a text is valid in quotes.
fn parse_about(item: NodeRef<'_, '_>) -> Result<Option<String>, DocumentError> {
    let text = item
        .get("about")
        .filter(|node| !node.is_null())
        .and_then(NodeRef::text);
    match text {
        Some(text) if text.trim().is_empty() => Ok(Some(text.to_owned())),
        _ => optional_text(item, "about"),
    }
}

/// Returns the text of the key `path`. Fails if the key is missing or its text is not a valid glob.
fn parse_path(item: NodeRef<'_, '_>) -> Result<String, DocumentError> {
    let path = require_text(item, "path")?;
    match parse_glob(&path) {
        Ok(_) => Ok(path),
        Err(error) => {
            let message = format!("the glob `{}` is not valid: {}", shorten(&path), error.kind());
            Err(error_at(item.get("path").unwrap_or(item), message))
        }
    }
}

/// Returns the number of the key `size`, or `None` if the key is missing. Fails if the value is not an integer from 0.
fn parse_size(item: NodeRef<'_, '_>) -> Result<Option<u64>, DocumentError> {
    let Some(node) = item.get("size") else {
        return Ok(None);
    };
    match node.natural() {
        Some(size) => Ok(Some(size)),
        None => Err(error_at(node, "`size` must be a non-negative integer")),
    }
}

/// Returns the date of the key `until`, or `None` if the key is missing. Fails if the value is not a date.
fn parse_until(item: NodeRef<'_, '_>) -> Result<Option<Date>, DocumentError> {
    let Some(node) = item.get("until") else {
        return Ok(None);
    };
    let text = node.text().unwrap_or_default();
    match parse_date(text) {
        Some(date) => Ok(Some(date)),
        None => Err(error_at(
            node,
            format!("`{}` is not a date such as 2027-03-31", shorten(text)),
        )),
    }
}

/// Parses a date; `None` if it is not written exactly as in 2027-03-31.
fn parse_date(text: &str) -> Option<Date> {
    let date: Date = text.parse().ok()?;
    (date.to_string() == text).then_some(date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Vec<PlacedWaiver>, DocumentError> {
        parse_waivers_file(text.as_bytes(), &|_| true)
    }

    #[test]
    fn text_of_waiver_may_have_the_maximum_length_and_no_more() {
        let waiver = |length: usize| format!("- {{ rule: r, path: a, reason: {} }}\n", "x".repeat(length));
        assert_eq!(parse(&waiver(MAX_TEXT_BYTES)).unwrap().len(), 1);
        let error = parse(&waiver(MAX_TEXT_BYTES + 1)).unwrap_err();
        assert_eq!(error.message, "`reason` has more than 4096 bytes");
        let longer_error = parse(&waiver(MAX_TEXT_BYTES + 2)).unwrap_err();
        assert_eq!(longer_error.message, error.message);
    }

    #[test]
    fn file_may_have_the_maximum_number_of_wildcard_paths_and_no_more() {
        let list_waivers = |count: usize| -> String {
            let waivers =
                (0..count).map(|index| format!("- {{rule: r, path: \"**/a{index}*\", reason: x}}\n"));
            waivers.collect()
        };
        let text = list_waivers(MAX_WILDCARD_PATHS);
        assert_eq!(parse(&text).unwrap().len(), MAX_WILDCARD_PATHS);
        // The same path in several waivers and the path of a single file do not count.
        let text = text + "- {rule: r, path: \"**/a0*\", reason: x}\n- {rule: r, path: a, reason: x}\n";
        assert_eq!(parse(&text).unwrap().len(), MAX_WILDCARD_PATHS + 2);
        let error = parse(&list_waivers(MAX_WILDCARD_PATHS + 1)).unwrap_err();
        assert!(
            error.message.starts_with("more than 1000 different paths"),
            "{}",
            error.message
        );
    }

    #[test]
    fn file_may_have_the_maximum_number_of_waivers_and_no_more() {
        let waiver = "- {rule: r, path: a, reason: x}\n";
        assert_eq!(parse(&waiver.repeat(MAX_WAIVERS)).unwrap().len(), MAX_WAIVERS);
        for waiver_count in [MAX_WAIVERS + 1, MAX_WAIVERS + 2] {
            let error = parse(&waiver.repeat(waiver_count)).unwrap_err();
            assert!(
                error.message.contains("the maximum is 100000"),
                "{}",
                error.message
            );
        }
    }
}
