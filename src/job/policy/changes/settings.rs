//! What changed in the configuration file: keys and values.

use super::{GateFileSide, Shift, compared, shown};
use crate::model::yaml::{DocumentError, NodeRef, Tree, is_blank};
use std::collections::{BTreeMap, BTreeSet};

/// The most entries of a list that a sentence names.
const NAMED: usize = 10;

/// Settings that are known from the strictest to the laxest value, and their defaults.
const SCALES: [(&str, &str, &[&str]); 9] = [
    ("review.fail-on", "error", &["warn", "error", "never"]),
    ("review.on-unavailable", "fail", &["fail", "pass"]),
    ("review.fork", "fail", &["fail", "check"]),
    ("review.new-only", "false", &["false", "true"]),
    ("publish.compat", "warn", &["fail", "warn", "off"]),
    ("publish.if-exists", "fail", &["fail", "same-content"]),
    ("publish.on-ignored", "fail", &["disable", "fail", "warn"]),
    ("publish.from", "commit", &["commit", "worktree"]),
    ("publish.no-verify", "false", &["false", "true"]),
];

/// Lists of globs that let more through with each entry.
const LETTING: [&str; 4] = [
    "exclude",
    "review.exclude",
    "publish-on.branches",
    "publish-on.tags",
];

/// Settings that let more through without a value than with any.
const DEMANDS: [&str; 1] = ["publish.require-review"];

/// Lists of globs that let less through with each entry.
const TAKING: [&str; 2] = [INCLUDE, "review.include"];

/// What is included where the file does not say.
const INCLUDE: &str = "include";
const INCLUDED: [&str; 2] = ["**/*.orch.yaml", "**/*.tran.yaml"];

/// What stands for the value of a key that is missing and has no default.
const NOT_SET: &str = "not set";

/// Parts of keys whose values are not shown: a secret does not belong in the file, and may stand there all the same.
const SECRET: [&str; 3] = ["token", "secret", "password"];

/// The settings by their keys, those of a section behind its name.
type SettingValues = BTreeMap<String, Value>;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Value {
    One(String),
    List(Vec<String>),
}

/// What changed in the configuration file, a sentence for each key.
pub fn of_settings(old: &GateFileSide, new: &GateFileSide) -> Vec<String> {
    compared((old, new), read, |old, new| {
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let differs = |key: &&String| old.get(*key) != new.get(*key);
        let said: Vec<String> = keys
            .into_iter()
            .filter(differs)
            .filter_map(|key| sentence(key, old, new))
            .collect();
        if said.is_empty() {
            return vec!["no setting has another value".to_owned()];
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

/// None where both come to the same.
fn sentence(key: &str, old: &SettingValues, new: &SettingValues) -> Option<String> {
    if SECRET.iter().any(|part| key.to_ascii_lowercase().contains(part)) {
        return Some(Shift::Other.told(&format!("{}: another value, not shown", shown(key))));
    }
    let (before, after) = (old.get(key), new.get(key));
    let is_list = |value: &Value| matches!(value, Value::List(_));
    if [before, after].into_iter().flatten().any(is_list) {
        return list(key, &entries(key, old), &entries(key, new));
    }
    let (old, new) = (word(key, before), word(key, after));
    if old == new {
        return None;
    }
    let said = format!("{}: {} → {}", shown(key), shown(&old), shown(&new));
    Some(on_scale(key, &old, &new).told(&said))
}

/// What holds where the file does not say is the default, where it is known here.
fn word(key: &str, value: Option<&Value>) -> String {
    match value {
        Some(Value::One(text)) if scale(key).is_some() => text.trim().to_ascii_lowercase(),
        Some(Value::One(text)) => text.clone(),
        _ => scale(key).map_or(NOT_SET, |(_, default, _)| default).to_owned(),
    }
}

fn scale(key: &str) -> Option<&'static (&'static str, &'static str, &'static [&'static str])> {
    SCALES.iter().find(|(known, ..)| *known == key)
}

fn on_scale(key: &str, old: &str, new: &str) -> Shift {
    if DEMANDS.contains(&key) {
        let is_missing = |word: &str| word == NOT_SET;
        return Shift::of(&is_missing(old), &is_missing(new));
    }
    let place = |word: &str| scale(key)?.2.iter().position(|known| *known == word);
    match (place(old), place(new)) {
        (Some(old), Some(new)) => Shift::of(&old, &new),
        _ => Shift::Other,
    }
}

/// The entries that hold; the globs of a section are the common ones where it has none.
fn entries(key: &str, settings: &SettingValues) -> BTreeSet<String> {
    let common = match key {
        "review.include" | "publish.include" => Some(INCLUDE),
        "review.exclude" | "publish.exclude" => Some("exclude"),
        _ => None,
    };
    let is_include = key == INCLUDE || common == Some(INCLUDE);
    match (settings.get(key), common) {
        (Some(Value::List(list)), _) if !is_include || !list.is_empty() => list.iter().cloned().collect(),
        (Some(Value::One(text)), _) => BTreeSet::from([text.clone()]),
        (None, Some(common)) => entries(common, settings),
        _ if is_include => INCLUDED.map(str::to_owned).into(),
        _ => BTreeSet::new(),
    }
}

fn list(key: &str, old: &BTreeSet<String>, new: &BTreeSet<String>) -> Option<String> {
    let more = || new.difference(old).map(|entry| ('+', entry));
    let less = || old.difference(new).map(|entry| ('-', entry));
    let (added, gone) = (more().count(), less().count());
    if added + gone == 0 {
        return None;
    }
    let mut named: Vec<String> = more()
        .chain(less())
        .take(NAMED)
        .map(|(sign, entry)| format!("{sign} {}", shown(entry)))
        .collect();
    if added + gone > NAMED {
        named.push(format!("and {} more", added + gone - NAMED));
    }
    let letting = match (added, gone) {
        (_, 0) => Shift::Relaxed,
        (0, _) => Shift::Tightened,
        _ => Shift::Other,
    };
    let shift = match key {
        key if TAKING.contains(&key) => letting.reversed(),
        key if LETTING.contains(&key) => letting,
        _ => Shift::Other,
    };
    Some(shift.told(&format!("{}: {}", shown(key), named.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> GateFileSide {
        GateFileSide::Text(text.as_bytes().to_vec())
    }

    fn said(old: &str, new: &str) -> String {
        of_settings(&text(old), &text(new)).join("\n")
    }

    #[test]
    fn a_key_says_its_values_and_what_that_means() {
        insta::assert_snapshot!(said(
            "review: { fail-on: error, comment: true }\nretries: 4\n",
            "review: { fail-on: never }\nretries: 1\n",
        ), @"
        retries: 4 → 1 (changed)
        review.comment: true → not set (changed)
        review.fail-on: error → never (relaxed)
        ");
        insta::assert_snapshot!(said("", "review: { fail-on: WARN }"), @"review.fail-on: error → warn (tightened)");
        insta::assert_snapshot!(said("review: { on-unavailable: pass }", "{}"), @"review.on-unavailable: pass → fail (tightened)");
        insta::assert_snapshot!(said("publish: { require-review: r.json }", "{}"), @"publish.require-review: r.json → not set (relaxed)");
        insta::assert_snapshot!(said("{}", "publish: { require-review: r.json }"), @"publish.require-review: not set → r.json (tightened)");
        insta::assert_snapshot!(said("publish: { require-review: r.json }", "publish: { require-review: s.json }"), @"publish.require-review: r.json → s.json (changed)");
        insta::assert_snapshot!(said("publish: { on-ignored: disable }", "{}"), @"publish.on-ignored: disable → fail (relaxed)");
        insta::assert_snapshot!(said("publish: { on-ignored: disable }", "publish: { on-ignored: warn }"), @"publish.on-ignored: disable → warn (relaxed)");
    }

    #[test]
    fn a_list_says_its_entries() {
        insta::assert_snapshot!(said("exclude: [a]", "exclude: [a, old/**]"), @"exclude: + old/** (relaxed)");
        insta::assert_snapshot!(said("exclude: [a, b]", "exclude: [b]"), @"exclude: - a (tightened)");
        insta::assert_snapshot!(said("", "include: ['sales/**']"), @"include: + sales/**, - **/*.orch.yaml, - **/*.tran.yaml (changed)");
        insta::assert_snapshot!(said("", "include: ['**/*.orch.yaml']"), @"include: - **/*.tran.yaml (relaxed)");
        insta::assert_snapshot!(said("exclude: [a]", "exclude: [a]\nreview: { exclude: [a, b] }"), @"review.exclude: + b (relaxed)");
        insta::assert_snapshot!(said("exclude: [a]", "exclude: [a]\nreview: { exclude: [] }"), @"review.exclude: - a (tightened)");
        insta::assert_snapshot!(said("include: ['**']", "include: ['**']\nreview: { include: ['**', a] }"), @"review.include: + a (tightened)");
        insta::assert_snapshot!(said("publish: { exclude: [a] }", "publish: {}"), @"publish.exclude: - a (changed)");
        insta::assert_snapshot!(said("review: { report: [json=a] }", "review: { report: [json=b] }"), @"review.report: + json=b, - json=a (changed)");
    }

    #[test]
    fn what_comes_to_the_same_is_said_so() {
        for (old, new) in [
            ("# words\nretries: 4\n", "retries: 4"),
            ("", "review: { fail-on: error }"),
            ("exclude: []", ""),
            ("", "review: \n"),
        ] {
            assert_eq!(said(old, new), "no setting has another value", "{old:?} {new:?}");
        }
    }

    #[test]
    fn a_file_that_came_or_went_or_cannot_be_read_is_said() {
        let some = text("exclude: [a]");
        insta::assert_snapshot!(of_settings(&GateFileSide::Missing, &some).join("\n"), @"
        the file is new
        exclude: + a (relaxed)
        ");
        insta::assert_snapshot!(of_settings(&some, &GateFileSide::Missing).join("\n"), @"
        the file is gone
        exclude: - a (tightened)
        ");
        let broken = text("a: [\u{1b}");
        let said = of_settings(&some, &broken).join("\n");
        assert!(
            said.starts_with("the version of the change cannot be read: "),
            "{said}"
        );
        let link = GateFileSide::Unreadable("it is a symbolic link\n::error::x".to_owned());
        insta::assert_snapshot!(of_settings(&link, &some).join("\n"), @"the version of the base cannot be read: it is a symbolic link ::error::x");
    }

    #[test]
    fn text_from_the_file_is_safe_and_bounded_and_a_secret_is_not_shown() {
        let hostile = format!("exclude: [\"\\e[31m\\n::error::{}\"]", "x".repeat(5_000));
        let said_of = said("", &hostile);
        assert!(
            said_of.len() < 500 && !said_of.contains(['\u{1b}', '\n']),
            "{said_of}"
        );
        let many = (0..500).fold(String::new(), |text, n| text + &format!("k{n}: 1\n"));
        let said_of = of_settings(&GateFileSide::Missing, &text(&many));
        assert_eq!(said_of.len(), super::super::MOST + 1);
        assert_eq!(said_of.last().unwrap(), "and 451 more");
        assert!(!said("", "token: hunter2").contains("hunter2"));
    }
}
