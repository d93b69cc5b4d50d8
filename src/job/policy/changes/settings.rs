//! Describes the changes in the configuration file, by keys and values.

use super::{GateFileSide, Shift, compared, shown};
use sluicegate_base::text::List;
use sluicegate_pipelines::yaml::{DocumentError, NodeRef, Tree, is_blank};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of list entries that a sentence lists.
const NAMED: usize = 10;

/// The key whose globs apply to a section without its own.
const INCLUDE: &str = "include";

/// The text for the value of a missing key that has no default.
const NOT_SET: &str = "not set";

/// Parts of keys whose values are never printed. The file must not contain secrets, but it might.
const SECRET: [&str; 3] = ["token", "secret", "password"];

/// The order of a setting's values by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// The setting does not affect the verdict, or no value is stricter than another.
    Neutral,
    /// The values from the strictest to the laxest.
    Scale(&'static [&'static str]),
    /// A list that relaxes the gate with each entry.
    Letting,
    /// A list that tightens the gate with each entry.
    Taking,
    /// A setting that tightens the gate if it has any value.
    Demand,
}

/// The strictness and the defaults of a setting's values.
#[derive(Debug, Clone)]
pub struct KnownSetting {
    pub strictness: Strictness,
    /// The default value.
    pub default: Option<String>,
    /// The default globs.
    pub globs: &'static [&'static str],
}

/// Returns the strictness and defaults of the setting with this key, or `None` for an unknown key.
pub(super) type KnownSettings<'f> = dyn Fn(&str) -> Option<KnownSetting> + 'f;

/// Settings by their keys. The key of a section's setting starts with the section's name.
type SettingValues = BTreeMap<String, Value>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    One(String),
    List(Vec<String>),
}

/// Describes the changes in the configuration file, with a sentence for each key.
pub fn of_settings(old: &GateFileSide, new: &GateFileSide, known: &KnownSettings<'_>) -> Vec<String> {
    compared((old, new), read, |old, new| {
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let differs = |key: &&String| old.get(*key) != new.get(*key);
        let said: Vec<String> = keys
            .into_iter()
            .filter(differs)
            .filter_map(|key| sentence(key, (old, new), known))
            .collect();
        if said.is_empty() {
            return vec!["no setting has changed".to_owned()];
        }
        said
    })
}

fn read(bytes: &[u8]) -> Result<SettingValues, DocumentError> {
    if is_blank(bytes) {
        return Ok(SettingValues::new());
    }
    let tree = Tree::read(bytes, None)?;
    let mut settings = SettingValues::new();
    collect(tree.root(), "", &mut settings);
    Ok(settings)
}

fn collect(node: NodeRef<'_, '_>, key: &str, settings: &mut SettingValues) {
    if let Some(items) = node.items() {
        let entry = |item: NodeRef<'_, '_>| item.text().unwrap_or("(a list or a map)").to_owned();
        settings.insert(key.to_owned(), Value::List(items.map(entry).collect()));
    } else if node.is_map() {
        for (name, _, value) in node.entries() {
            let key = if key.is_empty() {
                name.to_owned()
            } else {
                format!("{key}.{name}")
            };
            collect(value, &key, settings);
        }
    } else if let Some(text) = node.text().filter(|_| !node.is_null()) {
        settings.insert(key.to_owned(), Value::One(text.to_owned()));
    }
}

/// Returns the sentence about a key, or `None` if both versions have the same effect.
fn sentence(
    key: &str,
    (old, new): (&SettingValues, &SettingValues),
    known: &KnownSettings<'_>,
) -> Option<String> {
    if SECRET.iter().any(|part| key.to_ascii_lowercase().contains(part)) {
        return Some(Shift::Other.told(&format!("{}: changed, values hidden", shown(key))));
    }
    let (before, after) = (old.get(key), new.get(key));
    let setting = known(key);
    let strictness = setting
        .as_ref()
        .map_or(Strictness::Neutral, |setting| setting.strictness);
    let is_list = |value: &Value| matches!(value, Value::List(_));
    if [before, after].into_iter().flatten().any(is_list) {
        return list(
            key,
            strictness,
            &entries(key, old, known),
            &entries(key, new, known),
        );
    }
    let default = setting.and_then(|setting| setting.default);
    let (old, new) = (word(before, default.as_deref()), word(after, default.as_deref()));
    if old == new {
        return None;
    }
    let said = format!("{}: {} → {}", shown(key), shown(&old), shown(&new));
    Some(on_scale(strictness, &old, &new).told(&said))
}

/// Returns the value, or the default of a missing key if it is known.
fn word(value: Option<&Value>, default: Option<&str>) -> String {
    match value {
        Some(Value::One(text)) if default.is_some() => text.trim().to_ascii_lowercase(),
        Some(Value::One(text)) => text.clone(),
        _ => default.unwrap_or(NOT_SET).to_owned(),
    }
}

fn on_scale(strictness: Strictness, old: &str, new: &str) -> Shift {
    let place = |word: &str| match strictness {
        Strictness::Demand => Some(usize::from(word == NOT_SET)),
        Strictness::Scale(words) => words.iter().position(|known| *known == word),
        _ => None,
    };
    match (place(old), place(new)) {
        (Some(old), Some(new)) => Shift::of(&old, &new),
        _ => Shift::Other,
    }
}

/// Returns the effective entries of a list. A section without globs uses the common ones.
fn entries(key: &str, settings: &SettingValues, known: &KnownSettings<'_>) -> BTreeSet<String> {
    let common = match key {
        "review.include" | "publish.include" => Some(INCLUDE),
        "review.exclude" | "publish.exclude" => Some("exclude"),
        _ => None,
    };
    let is_include = key == INCLUDE || common == Some(INCLUDE);
    match (settings.get(key), common) {
        (Some(Value::List(list)), _) if !is_include || !list.is_empty() => list.iter().cloned().collect(),
        (Some(Value::One(text)), _) => BTreeSet::from([text.clone()]),
        (None, Some(common)) => entries(common, settings, known),
        _ => {
            let default = known(common.unwrap_or(key)).map(|setting| setting.globs);
            default
                .unwrap_or_default()
                .iter()
                .map(|glob| (*glob).to_owned())
                .collect()
        }
    }
}

fn list(key: &str, strictness: Strictness, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Option<String> {
    let more = || new.difference(old).map(|entry| ('+', entry));
    let less = || old.difference(new).map(|entry| ('-', entry));
    let (added, gone) = (more().count(), less().count());
    if added + gone == 0 {
        return None;
    }
    let list =
        List::with_limit(more().chain(less()), NAMED).map(|(sign, entry)| format!("{sign} {}", shown(entry)));
    let letting = match (added, gone) {
        (_, 0) => Shift::Relaxed,
        (0, _) => Shift::Tightened,
        _ => Shift::Other,
    };
    let shift = match strictness {
        Strictness::Taking => letting.reversed(),
        Strictness::Letting => letting,
        _ => Shift::Other,
    };
    Some(shift.told(&format!("{}: {list}", shown(key))))
}
