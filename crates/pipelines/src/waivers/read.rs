//! Reads the file strictly: anything that is not a valid waiver is an error with its position and a suggestion.

use super::WaiverEntry;
use crate::rules;
use crate::yaml::{DocumentError, NodeRef, Position, Tree, Value, is_blank, shortened};
use jiff::civil::Date;
use sluicegate_base::globs::glob;
use sluicegate_base::text;

const KEYS: [&str; 7] = ["rule", "path", "about", "size", "reason", "owner", "until"];

/// Maximum number of entries.
const MOST: usize = 100_000;

/// Maximum length of a text in an entry, in bytes.
const LONGEST: usize = 4096;

/// An entry with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedWaiver {
    pub entry: WaiverEntry,
    /// The position of the entry, after its dash.
    pub position: Position,
}

/// Returns the entries of the file, in order. `knows` returns whether a rule id exists.
pub fn read(bytes: &[u8], knows: &dyn Fn(&str) -> bool) -> Result<Vec<PlacedWaiver>, DocumentError> {
    if is_blank(bytes) {
        return Ok(Vec::new());
    }
    let tree = Tree::read(bytes, None)?;
    let root = tree.root();
    let items = root
        .items()
        .ok_or_else(|| wrong(root, "the file is not a list of waivers"))?;
    if items.len() > MOST {
        let message = format!("the file has {} waivers; the maximum is {MOST}", items.len());
        return Err(wrong(root, message));
    }
    items.map(|item| placed(item, knows)).collect()
}

fn wrong(node: NodeRef<'_, '_>, message: impl Into<String>) -> DocumentError {
    DocumentError::at_position(node.position(), message)
}

fn placed(item: NodeRef<'_, '_>, knows: &dyn Fn(&str) -> bool) -> Result<PlacedWaiver, DocumentError> {
    if !item.is_map() {
        return Err(wrong(
            item,
            "a waiver is a map: `{ rule: …, path: …, reason: … }`",
        ));
    }
    if let Some((key, position, _)) = item.entries().find(|(key, ..)| !KEYS.contains(key)) {
        let meant = text::suggest(key, &KEYS).unwrap_or_else(|| {
            let keys = KEYS.map(|key| format!("`{key}`"));
            format!("valid keys are {}", keys.join(", "))
        });
        let message = format!("unknown key `{}`: {meant}", shortened(key));
        return Err(DocumentError::at_position(position, message));
    }
    let rule = required(item, "rule")?;
    known(item, &rule, knows)?;
    let entry = WaiverEntry {
        path: path(item)?,
        about: text(item, "about")?,
        size: size(item)?,
        reason: required(item, "reason")?,
        owner: text(item, "owner")?,
        until: until(item)?,
        rule,
    };
    let counts = rules::counts(&entry.rule);
    match (item.get("size"), item.get("about")) {
        (Some(node), _) if !counts => Err(wrong(node, "`size` is valid only for rules that count")),
        (_, Some(node)) if counts => Err(wrong(
            node,
            "a waiver of a rule that counts cannot name a component: remove `about`",
        )),
        _ => Ok(PlacedWaiver {
            entry,
            position: item.position(),
        }),
    }
}

fn known(item: NodeRef<'_, '_>, rule: &str, knows: &dyn Fn(&str) -> bool) -> Result<(), DocumentError> {
    if knows(rule) {
        return Ok(());
    }
    let meant = rules::nearest(rule).map(|id| format!(": {}", text::did_you_mean(id)));
    let message = format!(
        "there is no rule `{}`{}",
        shortened(rule),
        meant.unwrap_or_default()
    );
    Err(wrong(item.get("rule").unwrap_or(item), message))
}

fn required(item: NodeRef<'_, '_>, key: &str) -> Result<String, DocumentError> {
    text(item, key)?.ok_or_else(|| wrong(item, format!("the waiver has no `{key}`")))
}

fn text(item: NodeRef<'_, '_>, key: &str) -> Result<Option<String>, DocumentError> {
    let Some(node) = item.get(key) else {
        return Ok(None);
    };
    match node.text().map(str::trim) {
        Some(text) if text.len() > LONGEST => {
            Err(wrong(node, format!("`{key}` has more than {LONGEST} bytes")))
        }
        Some(text) if !text.is_empty() && !node.is_null() => Ok(node.text().map(str::to_owned)),
        _ => Err(wrong(node, format!("`{key}` is empty or not a string"))),
    }
}

fn path(item: NodeRef<'_, '_>) -> Result<String, DocumentError> {
    let path = required(item, "path")?;
    match glob(&path) {
        Ok(_) => Ok(path),
        Err(why) => {
            let message = format!("the glob `{}` cannot be read: {}", shortened(&path), why.kind());
            Err(wrong(item.get("path").unwrap_or(item), message))
        }
    }
}

fn size(item: NodeRef<'_, '_>) -> Result<Option<u64>, DocumentError> {
    let Some(node) = item.get("size") else {
        return Ok(None);
    };
    match node.value() {
        Some(Value::Natural(size)) => Ok(Some(size)),
        _ => Err(wrong(node, "`size` is not an integer from 0")),
    }
}

fn until(item: NodeRef<'_, '_>) -> Result<Option<Date>, DocumentError> {
    let Some(node) = item.get("until") else {
        return Ok(None);
    };
    let text = node.text().unwrap_or_default();
    match date(text) {
        Some(date) => Ok(Some(date)),
        None => Err(wrong(
            node,
            format!("`{}` is not a date such as 2027-03-31", shortened(text)),
        )),
    }
}

/// Parses a date in exactly this format: 2027-03-31.
fn date(text: &str) -> Option<Date> {
    let date: Date = text.parse().ok()?;
    (date.to_string() == text).then_some(date)
}
