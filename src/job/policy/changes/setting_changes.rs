//! Describes the changes in the configuration file, by keys and values.

use super::{Difference, Effect, GateFileVersion, compare_file_versions, sanitize};
use crate::job::policy::config_document::parse_config_document;
use globset::GlobMatcher;
use serde_json::Value as JsonValue;
use sluicegate_base::globs::parse_glob;
use sluicegate_base::text::List;
use sluicegate_yaml::{DocumentError, NodeRef, Tree, is_blank};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of list entries that a sentence lists.
const MAX_LISTED_ENTRIES: usize = 10;

/// The key of the common globs to include, which apply to a section without globs of its own.
const INCLUDE: &str = "include";

/// Paths of pipelines with unusual names. Globs that match all of them are treated as globs that match every pipeline.
const SAMPLE_PIPELINES: [&str; 4] = [
    "~7 q.orch.yaml",
    "~7 q.tran.yaml",
    "~7 q/.d/e f.orch.yaml",
    "~7 q/.d/e f.tran.yaml",
];

/// The text for the value of a missing key that has no default.
const NOT_SET: &str = "not set";

/// Parts of keys whose values are never printed. The file must not contain secrets, but it might.
const SECRET_KEY_PARTS: [&str; 3] = ["token", "secret", "password"];

/// The order of a setting's values by strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strictness {
    /// The setting does not affect the verdict, or no value is stricter than another.
    Neutral,
    /// The values from the strictest to the laxest.
    Scale(&'static [&'static str]),
    /// A list that relaxes the gate with each entry.
    RelaxingList,
    /// A list that tightens the gate with each entry.
    TighteningList,
    /// A setting that tightens the gate if it has any value.
    Requirement,
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
pub(super) type FindKnownSetting<'f> = dyn Fn(&str) -> Option<KnownSetting> + 'f;

/// Settings by their keys. The key of a section's setting starts with the section's name.
type SettingValues = BTreeMap<String, Value>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    Scalar(String),
    List(Vec<String>),
}

/// Lists the differences between two versions of the configuration file: each key whose value has another effect.
/// `find_setting` returns the properties of the setting with a key.
pub fn compare_config_files(
    old: &GateFileVersion,
    new: &GateFileVersion,
    find_setting: &FindKnownSetting<'_>,
) -> Vec<Difference> {
    compare_file_versions(old, new, parse_settings, |old, new| {
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let differences: Vec<Difference> = keys
            .into_iter()
            .filter(|key| old.get(*key) != new.get(*key))
            .filter_map(|key| compare_key_values(key, old, new, find_setting))
            .collect();
        if differences.is_empty() {
            return vec![Difference::for_file("no setting has changed")];
        }
        differences
    })
}

/// Parses a configuration file into its settings, each with its full key, such as `review.fail-on`. An empty file has
/// no settings. Merge keys, tags and unusual indentation are left to the parser with which a run reads its settings:
/// a relaxed setting must not be hidden by its spelling.
fn parse_settings(bytes: &[u8]) -> Result<SettingValues, DocumentError> {
    let mut settings = SettingValues::new();
    if is_blank(bytes) {
        return Ok(settings);
    }
    match Tree::parse_untagged(bytes) {
        Ok(tree) => insert_settings(tree.root(), "", &mut settings),
        Err(error) => {
            let document = parse_json_value(bytes).ok_or(error)?;
            insert_values(&document, "", &mut settings);
        }
    }
    Ok(settings)
}

/// Parses the document with the parser with which a run reads its settings; it applies merge keys and tags. Returns
/// `None` if this parser rejects the document.
fn parse_json_value(bytes: &[u8]) -> Option<JsonValue> {
    let text = std::str::from_utf8(bytes).ok()?;
    parse_config_document(text).ok()
}

/// Adds the settings in this value and below it, as [`insert_settings`] does.
fn insert_values(value: &JsonValue, key: &str, settings: &mut SettingValues) {
    match value {
        JsonValue::Object(entries) => {
            for (name, value) in entries {
                insert_values(value, &join_key(key, name), settings);
            }
        }
        JsonValue::Array(items) => {
            let entries = items
                .iter()
                .map(|item| format_scalar(item).unwrap_or_else(|| "(a list or a map)".to_owned()))
                .collect();
            settings.insert(key.to_owned(), Value::List(entries));
        }
        value => {
            if let Some(text) = format_scalar(value) {
                settings.insert(key.to_owned(), Value::Scalar(text));
            }
        }
    }
}

/// Returns the text of a scalar; `None` for null, a list or a map.
fn format_scalar(value: &JsonValue) -> Option<String> {
    match value {
        JsonValue::String(text) => Some(text.clone()),
        JsonValue::Bool(_) | JsonValue::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// Returns the full key of a setting: the key of its section, which is empty for the root, and its name.
fn join_key(section: &str, name: &str) -> String {
    if section.is_empty() {
        name.to_owned()
    } else {
        format!("{section}.{name}")
    }
}

/// Adds the settings in this node of the YAML document and below it. `key` is the full key of the node, which is empty
/// for the root. A null value is skipped.
fn insert_settings(node: NodeRef<'_, '_>, key: &str, settings: &mut SettingValues) {
    if let Some(items) = node.items() {
        let entries = items
            .map(|item| item.text().unwrap_or("(a list or a map)").to_owned())
            .collect();
        settings.insert(key.to_owned(), Value::List(entries));
    } else if node.is_map() {
        for (name, _, value) in node.entries() {
            insert_settings(value, &join_key(key, name), settings);
        }
    } else if let Some(text) = node.text().filter(|_| !node.is_null()) {
        settings.insert(key.to_owned(), Value::Scalar(text.to_owned()));
    }
}

/// Describes how the value of a key changed, with the effect on the gate. The key must have different values in
/// `old` and `new`. Returns `None` if these values have the same effect, for example the default and no value. A key
/// that may contain a secret is always described, without values.
fn compare_key_values(
    key: &str,
    old: &SettingValues,
    new: &SettingValues,
    find_setting: &FindKnownSetting<'_>,
) -> Option<Difference> {
    let may_be_secret = SECRET_KEY_PARTS
        .iter()
        .any(|part| key.to_ascii_lowercase().contains(part));
    if may_be_secret {
        return Some(Effect::Unknown.build_difference(&format!("{}: changed, values hidden", sanitize(key))));
    }
    let (old_value, new_value) = (old.get(key), new.get(key));
    let setting = find_setting(key);
    let strictness = setting
        .as_ref()
        .map_or(Strictness::Neutral, |setting| setting.strictness);
    // The other version may lack the key: its list is then the common list or the default.
    let has_list = [old_value, new_value]
        .into_iter()
        .flatten()
        .any(|value| matches!(value, Value::List(_)));
    if has_list {
        return compare_list_entries(
            key,
            strictness,
            &resolve_list(key, old, find_setting),
            &resolve_list(key, new, find_setting),
            find_setting,
        );
    }
    let default = setting.and_then(|setting| setting.default);
    let old_text = format_value(old_value, default.as_deref());
    let new_text = format_value(new_value, default.as_deref());
    if old_text == new_text {
        return None;
    }
    let sentence = format!(
        "{}: {} → {}",
        sanitize(key),
        sanitize(&old_text),
        sanitize(&new_text)
    );
    let effect = compare_laxity(strictness, &old_text, &new_text);
    Some(
        effect
            .build_difference(&sentence)
            .with_full_texts([key, &old_text, &new_text]),
    )
}

/// Returns the value as text. A missing value is shown as the default or, without a default, as not set. A value of a
/// setting with a default is a word or a number and becomes lower case, because its case has no effect.
fn format_value(value: Option<&Value>, default: Option<&str>) -> String {
    match value {
        Some(Value::Scalar(text)) if default.is_some() => text.trim().to_ascii_lowercase(),
        Some(Value::Scalar(text)) => text.clone(),
        _ => default.unwrap_or(NOT_SET).to_owned(),
    }
}

/// Returns the effect of a changed value: relaxed, tightened, or unknown if the setting has no order of strictness.
fn compare_laxity(strictness: Strictness, old_text: &str, new_text: &str) -> Effect {
    match (
        rank_laxity(strictness, old_text),
        rank_laxity(strictness, new_text),
    ) {
        (Some(old), Some(new)) => Effect::from_laxity(&old, &new),
        _ => Effect::Unknown,
    }
}

/// Returns the position of a value on the scale of its setting: a higher value is laxer. For a requirement, a setting
/// without a value is laxer than any value. Returns `None` if the setting has no such order.
fn rank_laxity(strictness: Strictness, text: &str) -> Option<usize> {
    match strictness {
        Strictness::Requirement => Some(usize::from(text == NOT_SET)),
        Strictness::Scale(values) => values.iter().position(|value| *value == text),
        _ => None,
    }
}

/// Returns the entries that apply for a list setting in this version of the file. A missing list of a section, such as
/// `review.include`, is replaced by the common list `include`, and a missing common list by the default. An empty list
/// of globs to include is replaced by the default, too.
fn resolve_list(
    key: &str,
    settings: &SettingValues,
    find_setting: &FindKnownSetting<'_>,
) -> BTreeSet<String> {
    let common_key = find_common_key(key);
    let is_include = is_include_key(key);
    match (settings.get(key), common_key) {
        (Some(Value::List(list)), _) if !is_include || !list.is_empty() => list.iter().cloned().collect(),
        (Some(Value::Scalar(text)), _) => BTreeSet::from([text.clone()]),
        (None, Some(common)) => resolve_list(common, settings, find_setting),
        // The list is missing, or it is an empty list of globs to include.
        _ => find_default_globs(key, find_setting),
    }
}

/// Returns the key of the common list that replaces a missing list of a section; `None` for other keys.
fn find_common_key(key: &str) -> Option<&'static str> {
    match key {
        "review.include" | "publish.include" => Some(INCLUDE),
        "review.exclude" | "publish.exclude" => Some("exclude"),
        _ => None,
    }
}

/// Returns whether the key is that of a list of globs to include.
fn is_include_key(key: &str) -> bool {
    key == INCLUDE || find_common_key(key) == Some(INCLUDE)
}

/// Returns the default globs of a list setting, which may be those of its common list.
fn find_default_globs(key: &str, find_setting: &FindKnownSetting<'_>) -> BTreeSet<String> {
    let setting = find_setting(find_common_key(key).unwrap_or(key));
    let default_globs = setting.map(|setting| setting.globs).unwrap_or_default();
    default_globs.iter().map(|glob| (*glob).to_owned()).collect()
}

/// Describes the entries that were added to a list and removed from it, with the effect on the gate. Returns `None` if
/// both lists are equal.
fn compare_list_entries(
    key: &str,
    strictness: Strictness,
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
    find_setting: &FindKnownSetting<'_>,
) -> Option<Difference> {
    if old == new {
        return None;
    }
    let signed_entries = new
        .difference(old)
        .map(|entry| ('+', entry))
        .chain(old.difference(new).map(|entry| ('-', entry)));
    let full_texts: Vec<String> = signed_entries
        .clone()
        .map(|(sign, entry)| format!("{sign} {entry}"))
        .collect();
    let list = List::with_limit(signed_entries, MAX_LISTED_ENTRIES)
        .map(|(sign, entry)| format!("{sign} {}", sanitize(entry)));
    let effect = match strictness {
        Strictness::TighteningList if is_include_key(key) => {
            compare_include_lists(old, new, &find_default_globs(key, find_setting))
        }
        Strictness::TighteningList => compare_relaxing_lists(old, new).opposite(),
        Strictness::RelaxingList => compare_relaxing_lists(old, new),
        _ => Effect::Unknown,
    };
    let sentence = format!("{}: {list}", sanitize(key));
    Some(effect.build_difference(&sentence).with_full_texts(full_texts))
}

/// Returns the effect of a change between two different lists that relax the gate with each entry.
fn compare_relaxing_lists(old: &BTreeSet<String>, new: &BTreeSet<String>) -> Effect {
    if new.is_superset(old) {
        Effect::Relaxed
    } else if new.is_subset(old) {
        Effect::Tightened
    } else {
        Effect::Mixed
    }
}

/// Returns the effect of a change between two different lists of globs to include. If both select every pipeline, no
/// list is stricter.
fn compare_include_lists(
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
    default_globs: &BTreeSet<String>,
) -> Effect {
    match (
        selects_every_pipeline(old, default_globs),
        selects_every_pipeline(new, default_globs),
    ) {
        (false, true) => Effect::Tightened,
        (true, false) => Effect::Relaxed,
        (true, true) => Effect::Unknown,
        (false, false) => compare_relaxing_lists(old, new).opposite(),
    }
}

/// Returns whether the globs to include select every pipeline: all default globs are among them, or they match all
/// [`SAMPLE_PIPELINES`].
fn selects_every_pipeline(globs: &BTreeSet<String>, default_globs: &BTreeSet<String>) -> bool {
    if globs.is_superset(default_globs) {
        return true;
    }
    let matchers: Vec<GlobMatcher> = globs
        .iter()
        .filter_map(|glob| parse_glob(glob).ok())
        .map(|glob| glob.compile_matcher())
        .collect();
    SAMPLE_PIPELINES
        .iter()
        .all(|path| matchers.iter().any(|matcher| matcher.is_match(path)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::policy::ChangeDescription;

    /// Describes the changes between two files, for list settings with the default globs `default-*`.
    fn describe(old: &str, new: &str) -> Vec<String> {
        let version = |text: &str| GateFileVersion::Text(text.as_bytes().to_vec());
        let find_setting = |key: &str| {
            let is_include = key.ends_with("include");
            (is_include || key.ends_with("exclude")).then_some(KnownSetting {
                strictness: if is_include {
                    Strictness::TighteningList
                } else {
                    Strictness::RelaxingList
                },
                default: None,
                globs: if is_include { &["default-*"] } else { &[] },
            })
        };
        let differences = compare_config_files(&version(old), &version(new), &find_setting);
        ChangeDescription::from_differences(differences).sentences
    }
    const UNCHANGED: &str = "no setting has changed";

    #[test]
    fn value_in_unusual_spelling_is_described_like_plain_one() {
        let plain = describe("exclude: [x]", "exclude: [x]\npublish: { exclude: [x, y] }");
        assert_eq!(plain, ["publish.exclude: + y (relaxed)"]);
        for new in [
            "exclude: [x]\npublish: { <<: { exclude: [x, y] } }",
            "exclude: [x]\n!!binary cHVibGlzaA==: { exclude: [x, !!binary eQ==] }",
            "exclude: [\n  x\n]\npublish: { exclude: [x, y] }",
        ] {
            assert_eq!(describe("exclude: [x]", new), plain, "{new}");
        }
        assert_eq!(
            describe("review: { exclude: [x] }", "review: { exclude: !!null x }"),
            ["review.exclude: - x (tightened)"]
        );
        let errors = describe("exclude: [x]", "exclude: [x\n");
        assert!(errors[0].contains("cannot be read"), "{errors:?}");
    }

    #[test]
    fn list_of_section_is_compared_with_common_list() {
        let cases = [
            (
                "include: [a]",
                "include: [a]\nreview: { include: [a] }",
                UNCHANGED,
            ),
            (
                "exclude: [x]",
                "exclude: [x]\npublish: { exclude: [x, y] }",
                "publish.exclude: + y (relaxed)",
            ),
            (
                "exclude: [x]",
                "exclude: [x]\nreview: { exclude: [] }",
                "review.exclude: - x (tightened)",
            ),
            (
                "include: [a]",
                "include: [a]\nreview: { include: [a, b] }",
                "review.include: + b (tightened)",
            ),
            (
                "exclude: [x]",
                "exclude: [x]\nother: { exclude: [x] }",
                "other.exclude: + x (relaxed)",
            ),
        ];
        for (old, new, expected) in cases {
            assert_eq!(describe(old, new), [expected], "{old} → {new}");
        }
    }

    #[test]
    fn missing_or_empty_list_of_globs_to_include_is_compared_as_default() {
        let cases = [
            ("", "include: []", UNCHANGED),
            ("", "include: [default-*]", UNCHANGED),
            ("", "review: { include: [] }", UNCHANGED),
            (
                "include: [a]",
                "review: { include: [default-*] }",
                "include: + default-*, - a (tightened)",
            ),
            (
                "",
                "publish: { include: [a] }",
                "publish.include: + a, - default-* (relaxed)",
            ),
            (
                "include: [a]",
                "include: [b]",
                "include: + b, - a (relaxed and tightened)",
            ),
            (
                "exclude: [a]",
                "exclude: [b]",
                "exclude: + b, - a (relaxed and tightened)",
            ),
            ("", "exclude: []", UNCHANGED),
        ];
        for (old, new, expected) in cases {
            assert_eq!(
                describe(old, new).first().map(String::as_str),
                Some(expected),
                "{old} → {new}"
            );
        }
    }

    #[test]
    fn value_without_default_keeps_its_case() {
        assert_eq!(describe("other: A", "other: B"), ["other: A → B (changed)"]);
        assert_eq!(describe("other: a", "other: A"), ["other: a → A (changed)"]);
    }

    #[test]
    fn single_glob_is_compared_as_list() {
        assert_eq!(describe("exclude: x", "exclude: [x]"), [UNCHANGED]);
        assert_eq!(
            describe("exclude: x", "exclude: [x, y]"),
            ["exclude: + y (relaxed)"]
        );
        assert_eq!(describe("", "unknown: [a]"), ["unknown: + a (changed)"]);
    }
}
