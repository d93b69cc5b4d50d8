//! Describes the changes in the rules file, rule by rule.

use super::{ChangeDescription, Difference, Effect, GateFileVersion, compare_file_versions, sanitize};
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::rules::{RuleOutline, RuleState, is_limit, list_rules};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Lists the differences between two versions of the rules file: each changed rule, and each changed value in the
/// configuration of a rule. A removed file is listed by its effect, because no rule can be evaluated without it.
pub fn compare_rules_files(old: &GateFileVersion, new: &GateFileVersion) -> Vec<Difference> {
    if *new == GateFileVersion::Missing {
        let removal = Difference::for_file("the file was removed: no rule can be evaluated");
        return vec![removal];
    }
    compare_file_versions(old, new, list_rules, |old, new| {
        list_rule_differences(
            old,
            new,
            |rule| &rule.id,
            compare_rule_versions,
            compare_added_rule,
        )
    })
}

/// Lists the differences between the rules of two versions of a file, which have the ids that `id` returns.
/// `compare_versions` compares an old rule with its new version, which is `None` for a removed rule. `compare_added`
/// returns the difference for a new rule.
pub(super) fn list_rule_differences<R>(
    old: &[R],
    new: &[R],
    id: impl Fn(&R) -> &str,
    compare_versions: impl Fn(&R, Option<&R>) -> Vec<Difference>,
    compare_added: impl Fn(&R) -> Difference,
) -> Vec<Difference> {
    let old_rules: HashMap<&str, &R> = old.iter().map(|rule| (id(rule), rule)).collect();
    let new_rules: HashMap<&str, &R> = new.iter().map(|rule| (id(rule), rule)).collect();
    let mut differences = Vec::new();
    for rule in old {
        let rule_differences = compare_versions(rule, new_rules.get(id(rule)).copied());
        differences.extend(
            rule_differences
                .into_iter()
                .map(|difference| difference.with_full_texts([id(rule)])),
        );
    }
    for rule in new.iter().filter(|rule| !old_rules.contains_key(id(rule))) {
        differences.push(compare_added(rule).with_full_texts([id(rule)]));
    }
    if differences.is_empty() {
        differences.push(Difference::for_file("no rule has changed"));
    }
    differences
}

/// Describes a change to the settings that selects a missing rules file instead of the one at `old_path`.
pub fn describe_missing_rules_file(old_path: &str, new_path: &str) -> ChangeDescription {
    let sentence = format!("{new_path} is missing, so no rule of {old_path} applies");
    ChangeDescription::from_differences(vec![Effect::Relaxed.build_difference(&sentence)])
}

pub(in crate::job::policy) fn find_rule<'r>(rules: &'r [RuleOutline], id: &str) -> Option<&'r RuleOutline> {
    rules.iter().find(|rule| rule.id == id)
}

/// Describes a rule that only the new version has.
fn compare_added_rule(rule: &RuleOutline) -> Difference {
    let sentence = format!(
        "rules: {} added, {}",
        sanitize(&rule.id),
        describe_state(rule.state)
    );
    build_state_difference(&sentence, RuleState::Missing, rule.state)
}

/// Describes the differences between two versions of a rule. `None` means that the new version lacks the rule.
fn compare_rule_versions(old: &RuleOutline, new: Option<&RuleOutline>) -> Vec<Difference> {
    let (id, old_state) = (sanitize(&old.id), describe_state(old.state));
    let Some(new) = new else {
        let sentence = format!("rules: {id} {old_state} → removed");
        return vec![build_state_difference(&sentence, old.state, RuleState::Missing)];
    };
    let mut differences = Vec::new();
    if old.state != new.state {
        let sentence = format!("rules: {id} {old_state} → {}", describe_state(new.state));
        differences.push(build_state_difference(&sentence, old.state, new.state));
    }
    differences.extend(compare_configs(&id, old, new));
    differences
}

/// Builds the difference that this sentence describes, with the effect of the change between the two states of a rule.
fn build_state_difference(sentence: &str, old: RuleState, new: RuleState) -> Difference {
    let is_undecided = |state| matches!(state, RuleState::Broken(_) | RuleState::Unknown);
    let effect = if is_undecided(old) || is_undecided(new) {
        Effect::Unknown
    } else {
        Effect::from_levels(find_level(old), find_level(new))
    };
    effect.build_difference(sentence)
}

/// Returns the level at which the rule is enforced; `None` if it is not enforced.
const fn find_level(state: RuleState) -> Option<Enforcement> {
    match state {
        RuleState::Enabled(level) => Some(level),
        _ => None,
    }
}

/// Returns the text for a rule's state in a sentence such as "rules: id error → disabled".
fn describe_state(state: RuleState) -> String {
    match state {
        RuleState::Enabled(level) => level.to_string(),
        RuleState::Disabled => "disabled".to_owned(),
        RuleState::Missing => "removed".to_owned(),
        RuleState::Broken(cause) => format!("not evaluable: {cause}"),
        RuleState::Unknown => "unknown".to_owned(),
    }
}

/// Describes each configuration value that differs between two versions of a rule, with its effect on the gate. The
/// effect is unknown if the new version of the rule is not enforced, or if the value is not the limit of a known rule.
fn compare_configs(id: &str, old: &RuleOutline, new: &RuleOutline) -> Vec<Difference> {
    let old_fields: BTreeMap<String, String> = old.config.iter().cloned().collect();
    let new_fields: BTreeMap<String, String> = new.config.iter().cloned().collect();
    let names: BTreeSet<&String> = old_fields.keys().chain(new_fields.keys()).collect();
    let is_enforced = matches!(new.state, RuleState::Enabled(_));
    let mut differences = Vec::new();
    for name in names {
        let (old_value, new_value) = (old_fields.get(name), new_fields.get(name));
        if old_value != new_value {
            let effect = match [old_value, new_value].map(|value| value?.parse().ok()) {
                [Some(old_limit), Some(new_limit)] if is_enforced && is_limit(&old.id, name) => {
                    Effect::from_sizes(&old.id, old_limit, new_limit)
                }
                _ => Effect::Unknown,
            };
            let sentence = format!(
                "rules: {id} {} {} → {}",
                sanitize(name),
                describe_value(old_value),
                describe_value(new_value)
            );
            let texts = [Some(name), old_value, new_value].into_iter().flatten();
            differences.push(effect.build_difference(&sentence).with_full_texts(texts));
        }
    }
    differences
}

fn describe_value(value: Option<&String>) -> String {
    value.map_or_else(|| "not set".to_owned(), |text| sanitize(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(rules: &[&str]) -> GateFileVersion {
        let rules: Vec<String> = rules.iter().map(|rule| format!("{{ {rule} }}")).collect();
        GateFileVersion::Text(format!("rules: [{}]", rules.join(", ")).into_bytes())
    }

    fn rule(id: &str, enabled: bool, level: &str) -> String {
        format!("id: {id}, enabled: {enabled}, enforcementLevel: {level}")
    }

    fn describe(old: &GateFileVersion, new: &GateFileVersion) -> Vec<String> {
        ChangeDescription::from_differences(compare_rules_files(old, new)).sentences
    }

    fn said(old: &[&str], new: &[&str]) -> String {
        describe(&file(old), &file(new)).join("\n")
    }

    #[test]
    fn change_of_level_or_state_is_described_with_its_direction() {
        let unused = |enabled, level| rule("unused-components", enabled, level);
        let cases = [
            (
                unused(true, "error"),
                unused(true, "warn"),
                "error → warn (relaxed)",
            ),
            (
                unused(true, "warn"),
                unused(true, "error"),
                "warn → error (tightened)",
            ),
            (
                unused(true, "error"),
                unused(false, "error"),
                "error → disabled (relaxed)",
            ),
            (
                unused(true, "error"),
                unused(true, "Error"),
                "error → not evaluable: designer/invalid-enforcement-level (changed)",
            ),
        ];
        for (old, new, expected) in cases {
            assert_eq!(
                said(&[&old], &[&new]),
                format!("rules: unused-components {expected}")
            );
        }
        let one = unused(true, "error");
        assert_eq!(
            said(&[&one], &[]),
            "rules: unused-components error → removed (relaxed)"
        );
        assert_eq!(
            said(&[], &[&one]),
            "rules: unused-components added, error (tightened)"
        );
        assert_eq!(said(&[&one], &[&one]), "no rule has changed");
    }

    #[test]
    fn change_of_limit_is_described_with_its_direction() {
        let maximum = |count: &str| {
            let rule = rule("maximum-components", true, "error");
            format!("{rule}, config: {{ maxComponents: {count} }}")
        };
        let minimum = |count: &str| {
            let rule = rule("minimum-components", true, "error");
            format!("{rule}, config: {{ minComponents: {count} }}")
        };
        let named = |pattern: &str| {
            let rule = rule("component-naming-convention", true, "error");
            format!("{rule}, config: {{ regexMatchPattern: '{pattern}' }}")
        };
        assert_eq!(
            said(
                &[&maximum("10"), &minimum("2"), &named("A")],
                &[&maximum("18"), &minimum("3"), &named(".*")]
            ),
            "rules: maximum-components maxComponents 10 → 18 (relaxed)\n\
             rules: minimum-components minComponents 2 → 3 (tightened)\n\
             rules: component-naming-convention regexMatchPattern A → .* (changed)"
        );
    }

    #[test]
    fn missing_or_unreadable_rules_file_is_described_as_such() {
        let some = file(&[&rule("unused-components", true, "warn")]);
        assert_eq!(
            describe(&GateFileVersion::Missing, &some),
            [
                "the file is new",
                "rules: unused-components added, warn (tightened)"
            ]
        );
        assert_eq!(
            describe(&some, &GateFileVersion::Missing),
            ["the file was removed: no rule can be evaluated"]
        );
        let broken = GateFileVersion::Text(b"rules: 7".to_vec());
        let said = describe(&some, &broken).join("\n");
        assert!(
            said.starts_with("the version of the change cannot be read: "),
            "{said}"
        );
    }
}
