//! Finds stricter settings on the tip of the target branch than in a change that started earlier. After the merge, the
//! tip's settings apply, except those that the change edited.
//!
//! The comparison is a three-way merge of facts: a difference from head to tip is used if the target made it, that is,
//! if it is also a difference from a base to the tip. Edits of the change itself are reported as changes to the gate.

use super::changes::{Difference, GateFileVersion, find_rule};
use sluicegate_pipelines::rules::{RuleOutline, RuleState, list_rules};
use std::collections::BTreeSet;

/// The versions of a file for a three-way merge: on head, on the tip of the target branch, and on the bases.
#[derive(Debug, Clone, Copy)]
pub struct MergeVersions<'a> {
    pub head: &'a GateFileVersion,
    pub tip: &'a GateFileVersion,
    pub bases: &'a [GateFileVersion],
}

/// Describes the settings that the target made stricter than they are on head. They will apply after the merge.
/// `list_stricter` lists the differences by which the second of two versions of the file is stricter.
pub fn describe_stricter_settings(
    MergeVersions { head, tip, bases }: MergeVersions<'_>,
    list_stricter: &dyn Fn(&GateFileVersion, &GateFileVersion) -> Vec<Difference>,
) -> Vec<String> {
    if head == tip {
        return Vec::new();
    }
    // If the change edited a setting, the comparison with a base does not have the same difference, so it is dropped.
    let target_changes: BTreeSet<Difference> =
        bases.iter().flat_map(|base| list_stricter(base, tip)).collect();
    list_stricter(head, tip)
        .into_iter()
        .filter(|difference| target_changes.contains(difference))
        .map(|difference| difference.sentence)
        .collect()
}

/// Returns the text of a rules file with only those rules that the merge will change or add in comparison with head, or
/// `None` if there are no such rules. The changed pipelines are evaluated against these rules, too. The level and each
/// configuration value come from the target unless the change edited them. Disabled rules are omitted, and a missing or
/// unreadable version has no rules.
pub fn format_changed_rules(versions: MergeVersions<'_>) -> Option<Vec<u8>> {
    let head_rules = parse_rules(versions.head);
    let base_rules: Vec<Vec<RuleOutline>> = versions.bases.iter().map(parse_rules).collect();
    let mut entries = String::new();
    for tip_rule in &parse_rules(versions.tip) {
        let head_rule = find_rule(&head_rules, &tip_rule.id);
        let base_versions: Vec<Option<&RuleOutline>> = base_rules
            .iter()
            .map(|rules| find_rule(rules, &tip_rule.id))
            .collect();
        if let Some(merged_rule) = merge_rule(head_rule, tip_rule, &base_versions)
            && head_rule != Some(&merged_rule)
            && let Some(entry) = format_rule(&merged_rule)
        {
            entries.push_str(&entry);
        }
    }
    (!entries.is_empty()).then(|| format!("rules:\n{entries}").into_bytes())
}

/// Returns the rule as it will be after the merge, or `None` if the change removed it. A value on head that is equal to
/// the value on a base was not changed, so the target's value is used.
fn merge_rule(
    head: Option<&RuleOutline>,
    tip: &RuleOutline,
    bases: &[Option<&RuleOutline>],
) -> Option<RuleOutline> {
    let Some(head) = head else {
        // If a base lacks the rule, too, the target added it. Otherwise, the change removed it.
        return bases.contains(&None).then(|| tip.clone());
    };
    let keys: BTreeSet<&String> = tip
        .config
        .iter()
        .chain(&head.config)
        .map(|(key, _)| key)
        .collect();
    let mut config = Vec::new();
    for key in keys {
        let head_value = find_config_value(head, key);
        // The change did not edit the value, so the target's value applies.
        let is_untouched = bases
            .iter()
            .any(|base| base.and_then(|base| find_config_value(base, key)) == head_value);
        let value = if is_untouched {
            find_config_value(tip, key)
        } else {
            head_value
        };
        if let Some(value) = value {
            config.push((key.clone(), value.to_owned()));
        }
    }
    let is_state_untouched = bases
        .iter()
        .any(|base| base.is_some_and(|base| base.state == head.state));
    Some(RuleOutline {
        id: tip.id.clone(),
        state: if is_state_untouched { tip.state } else { head.state },
        config,
    })
}

/// Returns the value of this key in the rule's configuration, if the rule has the key.
fn find_config_value<'r>(rule: &'r RuleOutline, key: &str) -> Option<&'r str> {
    let (_, value) = rule.config.iter().find(|(name, _)| name == key)?;
    Some(value)
}

/// Returns the rule as an entry of a rules file, or `None` if the rule is not enabled.
fn format_rule(rule: &RuleOutline) -> Option<String> {
    let RuleState::Enabled(level) = rule.state else {
        return None;
    };
    let fields: Vec<String> = rule
        .config
        .iter()
        .map(|(key, text)| format!("{}: {}", quote(key), format_config_value(text)))
        .collect();
    let config = if fields.is_empty() {
        String::new()
    } else {
        format!(", config: {{ {} }}", fields.join(", "))
    };
    Some(format!(
        "  - {{ id: {}, enabled: true, enforcementLevel: {level}{config} }}\n",
        quote(&rule.id)
    ))
}

/// Formats a configuration value for YAML: a number stays unchanged, other text is put in quotes.
fn format_config_value(text: &str) -> String {
    match text.parse::<u64>() {
        Ok(number) if number.to_string() == text => text.to_owned(),
        _ => quote(text),
    }
}

/// Formats text as a JSON string, which is also valid YAML.
fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Parses the rules of a version of the rules file. A missing or unreadable version has no rules.
fn parse_rules(version: &GateFileVersion) -> Vec<RuleOutline> {
    match version {
        GateFileVersion::Text(bytes) => list_rules(bytes).unwrap_or_default(),
        GateFileVersion::Missing | GateFileVersion::Unreadable(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::policy::{UnknownEffects, compare_rules_files};

    fn file(level: &str, maximum: u32) -> GateFileVersion {
        let text = format!(
            "rules:\n  - {{ id: unused-components, enabled: true, enforcementLevel: {level} }}\n  - {{ id: \
             maximum-components, enabled: true, enforcementLevel: {level}, config: {{ maxComponents: {maximum} }} }}\n"
        );
        GateFileVersion::Text(text.into_bytes())
    }

    fn stricter(
        head: &GateFileVersion,
        tip: &GateFileVersion,
        base: GateFileVersion,
    ) -> (Vec<String>, Vec<RuleOutline>) {
        let bases = [base];
        let versions = MergeVersions {
            head,
            tip,
            bases: &bases,
        };
        let after = format_changed_rules(versions).map_or(GateFileVersion::Missing, GateFileVersion::Text);
        let said = describe_stricter_settings(versions, &|old, new| {
            let mut differences = compare_rules_files(old, new);
            differences.retain(|difference| difference.is_stricter(UnknownEffects::Include));
            differences
        });
        (said, parse_rules(&after))
    }

    #[test]
    fn configuration_value_is_a_number_only_if_yaml_reads_the_same_text() {
        let texts = ["9", "09", "+9", "9.0", "high"].map(format_config_value);
        assert_eq!(texts, ["9", r#""09""#, r#""+9""#, r#""9.0""#, r#""high""#]);
    }

    #[test]
    fn stricter_target_applies_to_untouched_settings() {
        let (said, after) = stricter(&file("warn", 9), &file("error", 9), file("warn", 9));
        assert_eq!(said[0], "rules: unused-components warn → error (tightened)");
        assert_eq!(after, parse_rules(&file("error", 9)));
        // The change edited only the number, so the level comes from the target and the number from the change.
        let (said, after) = stricter(&file("warn", 12), &file("error", 9), file("warn", 9));
        assert_eq!(said[0], "rules: unused-components warn → error (tightened)");
        assert_eq!(after, parse_rules(&file("error", 12)));
    }

    #[test]
    fn own_edits_of_change_apply_and_laxer_target_is_not_stricter() {
        for (head, tip, base) in [
            (file("warn", 9), file("error", 9), file("error", 9)),
            (file("error", 9), file("error", 9), file("warn", 9)),
        ] {
            assert_eq!(stricter(&head, &tip, base), (vec![], vec![]));
        }
        let (said, after) = stricter(&file("error", 9), &file("warn", 9), file("error", 9));
        assert_eq!((said, after), (vec![], parse_rules(&file("warn", 9))));
        let gone = stricter(&file("warn", 9), &GateFileVersion::Missing, file("warn", 9));
        assert_eq!(gone, (vec![], vec![]));
    }

    #[test]
    fn rules_file_that_only_tip_has() {
        let (said, after) = stricter(
            &GateFileVersion::Missing,
            &file("error", 9),
            GateFileVersion::Missing,
        );
        assert_eq!(after, parse_rules(&file("error", 9)));
        assert!(
            said.iter()
                .any(|said| said.contains("unused-components added, error (tightened)")),
            "{said:?}"
        );
    }

    #[test]
    fn odd_ids_and_values_come_back_as_they_were() {
        let text = "rules:\n  - { id: \"a: b\", enabled: true, enforcementLevel: warn, config: { regexMatchPattern: \"'[{x\\\"\" } }\n";
        let tip = GateFileVersion::Text(text.as_bytes().to_vec());
        let expected = parse_rules(&tip);
        let after = format_changed_rules(MergeVersions {
            head: &GateFileVersion::Missing,
            tip: &tip,
            bases: &[GateFileVersion::Missing],
        });
        // An unknown rule is broken, so it is not evaluated.
        assert_eq!(after, None, "{expected:?}");
        let known = text
            .replace("a: b", "component-naming-convention")
            .replace("'[{x\\\"", "[A-Z]{1}\\\"'.*");
        let tip = GateFileVersion::Text(known.into_bytes());
        let after = format_changed_rules(MergeVersions {
            head: &GateFileVersion::Missing,
            tip: &tip,
            bases: &[GateFileVersion::Missing],
        })
        .unwrap();
        assert_eq!(parse_rules(&GateFileVersion::Text(after)), parse_rules(&tip));
    }
}
