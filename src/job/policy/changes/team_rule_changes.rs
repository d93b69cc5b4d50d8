//! Describes the changes in the team rules file, rule by rule.

use super::rule_changes::list_rule_differences;
use super::{Difference, Effect, GateFileVersion, compare_file_versions, sanitize};
use sluicegate_pipelines::team_rules::{TeamRule, TeamRuleSet};
use sluicegate_yaml::DocumentError;
use std::collections::BTreeSet;

/// Lists the differences between two versions of the team's rules: in the rules, their levels, paths and conditions.
pub fn compare_team_rules_files(old: &GateFileVersion, new: &GateFileVersion) -> Vec<Difference> {
    compare_file_versions(old, new, parse_rules, |old, new| {
        let (old, new) = (old.rules(), new.rules());
        list_rule_differences(
            old,
            new,
            |rule| &rule.id,
            compare_rule_versions,
            compare_added_rule,
        )
    })
}

/// Parses the team's rules in a version of the file. If the file has several problems, the error is the first one.
fn parse_rules(bytes: &[u8]) -> Result<TeamRuleSet, DocumentError> {
    TeamRuleSet::parse(bytes).map_err(|problems| {
        let first = problems.into_iter().next();
        first.map_or_else(
            || DocumentError::for_document("the file has errors"),
            |problem| DocumentError {
                message: problem.message,
                position: Some(problem.position),
            },
        )
    })
}

/// Describes a team rule that only the new version has, with its effect on the gate.
fn compare_added_rule(rule: &TeamRule) -> Difference {
    let sentence = format!("{} added, {}", rule.full_id(), rule.level_name());
    Effect::from_levels(None, rule.level).build_difference(&sentence)
}

/// Describes the differences between two versions of a team rule. `None` means that the rule was removed. The effect of
/// changed globs is unknown if the new rule is off; that of a changed `for` or `when` is always unknown.
fn compare_rule_versions(old: &TeamRule, new: Option<&TeamRule>) -> Vec<Difference> {
    let (id, old_level) = (old.full_id(), old.level_name());
    let Some(new) = new else {
        let sentence = format!("{id} {old_level} → removed");
        return vec![Effect::from_levels(old.level, None).build_difference(&sentence)];
    };
    let mut differences = Vec::new();
    if old.level != new.level {
        let sentence = format!("{id} {old_level} → {}", new.level_name());
        differences.push(Effect::from_levels(old.level, new.level).build_difference(&sentence));
    }
    // A rule that is off does not affect the gate, so its globs neither relax nor tighten it.
    let is_enforced = new.level.is_some();
    for (key, old_globs, new_globs) in [
        ("paths", &old.paths, &new.paths),
        ("exclude", &old.exclude, &new.exclude),
    ] {
        // The order of the globs and duplicates have no effect.
        let is_equal_set = old_globs.iter().collect::<BTreeSet<_>>() == new_globs.iter().collect();
        if !is_equal_set {
            let effect = if is_enforced {
                compare_globs(key, old_globs, new_globs)
            } else {
                Effect::Unknown
            };
            let (old_text, new_text) = (describe_globs(old_globs), describe_globs(new_globs));
            let sentence = format!("{id} {key} {old_text} → {new_text}");
            let globs = old_globs.iter().chain(new_globs);
            differences.push(effect.build_difference(&sentence).with_full_texts(globs));
        }
    }
    for (key, old_text, new_text) in [
        ("for", old.subject.name(), new.subject.name()),
        ("when", old.condition.trim(), new.condition.trim()),
    ] {
        if old_text != new_text {
            let sentence = format!("{id} {key} `{}` → `{}`", sanitize(old_text), sanitize(new_text));
            let texts = [old_text, new_text];
            differences.push(Effect::Unknown.build_difference(&sentence).with_full_texts(texts));
        }
    }
    differences
}

/// Returns the effect of a change to the globs of a rule. If `paths` is empty, the rule applies to all pipelines;
/// otherwise each glob in `paths` adds pipelines. Each glob in `exclude` removes pipelines.
fn compare_globs(key: &str, old_globs: &[String], new_globs: &[String]) -> Effect {
    let (old, new): (BTreeSet<_>, BTreeSet<_>) = (old_globs.iter().collect(), new_globs.iter().collect());
    let selects_all = |globs: &BTreeSet<_>| key == "paths" && globs.is_empty();
    let effect = match (selects_all(&old), selects_all(&new)) {
        (false, true) => Effect::Tightened,
        (true, false) => Effect::Relaxed,
        _ if new.is_superset(&old) => Effect::Tightened,
        _ if new.is_subset(&old) => Effect::Relaxed,
        _ => Effect::Unknown,
    };
    if key == "paths" { effect } else { effect.opposite() }
}

fn describe_globs(globs: &[String]) -> String {
    if globs.is_empty() {
        return "not set".to_owned();
    }
    sanitize(&globs.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::policy::ChangeDescription;

    fn file(rule: &str) -> GateFileVersion {
        let text = format!("rules:\n  - {{ id: a, for: component, message: m, {rule} }}\n");
        GateFileVersion::Text(text.into_bytes())
    }

    fn describe_versions(old: &GateFileVersion, new: &GateFileVersion) -> Vec<String> {
        ChangeDescription::from_differences(compare_team_rules_files(old, new)).sentences
    }

    fn describe(old: &str, new: &str) -> String {
        describe_versions(&file(old), &file(new)).join("; ")
    }

    #[test]
    fn level_paths_and_condition_have_their_effect() {
        let error = "level: error, when: component.skipped";
        let cases = [
            (
                "level: warn, when: component.skipped",
                "team/a error → warn (relaxed)",
            ),
            (
                "level: off, when: component.skipped",
                "team/a error → off (relaxed)",
            ),
            (
                "level: error, when: '!component.skipped'",
                "team/a when `component.skipped` → `!component.skipped` (changed)",
            ),
            (
                "level: error, when: component.skipped, paths: [a/**]",
                "team/a paths not set → a/** (relaxed)",
            ),
            (
                "level: error, when: component.skipped, exclude: [a/**]",
                "team/a exclude not set → a/** (relaxed)",
            ),
            (
                "level: error, when: component.skipped, help: h",
                "no rule has changed",
            ),
        ];
        for (new, expected) in cases {
            assert_eq!(describe(error, new), expected);
        }
        let two_paths = "level: error, when: component.skipped, paths: [a/**, b/**]";
        let reordered_paths = "level: error, when: component.skipped, paths: [b/**, a/**, a/**]";
        assert_eq!(describe(two_paths, reordered_paths), "no rule has changed");
        let narrow = "level: error, when: component.skipped, paths: [a/**]";
        assert_eq!(describe(narrow, error), "team/a paths a/** → not set (tightened)");
        let wide = "level: error, when: component.skipped, paths: [a/**, b/**]";
        assert_eq!(
            describe(narrow, wide),
            "team/a paths a/** → a/**, b/** (tightened)"
        );
        assert_eq!(describe(wide, narrow), "team/a paths a/**, b/** → a/** (relaxed)");
        let other = "level: error, when: component.skipped, paths: [b/**]";
        assert_eq!(describe(narrow, other), "team/a paths a/** → b/** (changed)");
    }

    #[test]
    fn added_and_removed_rules_are_described() {
        let rule = file("level: error, when: component.skipped");
        let described = describe_versions(&GateFileVersion::Missing, &rule);
        assert_eq!(described, ["the file is new", "team/a added, error (tightened)"]);
        let described = describe_versions(&rule, &GateFileVersion::Missing);
        assert_eq!(
            described,
            ["the file was removed", "team/a error → removed (relaxed)"]
        );
    }
}
