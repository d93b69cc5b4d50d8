//! Finds stricter settings on the tip of the target branch than in a change that started earlier. After the merge, the
//! tip's settings are in force, except those that the change edited.
//!
//! The comparison is a three-way merge of facts: a difference from head to tip counts if the target made it, that is,
//! if it is also a difference from a base to the tip. Edits of the change itself are reported as changes of the gate.

use super::changes::{GateFileSide, stricter_of};
use sluicegate_pipelines::rules::{RuleOutline, RuleState, outline};
use std::collections::BTreeSet;

/// Returns descriptions of the settings that are stricter on the tip than on head, except those that the change
/// relaxed. `describe` compares two versions of the file. With `or_other`, differences of unknown strictness are
/// included.
pub fn stricter_at_tip(
    (head, tip, bases): (&GateFileSide, &GateFileSide, &[GateFileSide]),
    describe: &dyn Fn(&GateFileSide, &GateFileSide) -> Vec<String>,
    or_other: bool,
) -> Vec<String> {
    if head == tip {
        return Vec::new();
    }
    let by_target: BTreeSet<String> = bases.iter().flat_map(|base| describe(base, tip)).collect();
    let missing = stricter_of(describe(head, tip), or_other);
    missing
        .into_iter()
        .filter(|said| by_target.contains(said))
        .collect()
}

/// Returns a rules file with the rules that are enabled after the merge and differ from head, or `None` if there are
/// none. The level and each configuration value come from the tip unless the change edited them. A missing or
/// unreadable side has no rules.
pub fn rules_after_merge(
    (head, tip, bases): (&GateFileSide, &GateFileSide, &[GateFileSide]),
) -> Option<Vec<u8>> {
    let (head, tip) = (rules(head), rules(tip));
    let bases: Vec<Vec<RuleOutline>> = bases.iter().map(rules).collect();
    let after = tip.iter().filter_map(|rule| {
        let own = find(&head, &rule.id);
        let before: Vec<Option<&RuleOutline>> = bases.iter().map(|base| find(base, &rule.id)).collect();
        let merged = merged(own, rule, &before)?;
        (own != Some(&merged)).then(|| written(&merged)).flatten()
    });
    let after: Vec<String> = after.collect();
    (!after.is_empty()).then(|| format!("rules:\n{}", after.concat()).into_bytes())
}

fn find<'r>(rules: &'r [RuleOutline], id: &str) -> Option<&'r RuleOutline> {
    rules.iter().find(|rule| rule.id == id)
}

/// Returns the rule after the merge, or `None` if the change removed it.
fn merged(
    own: Option<&RuleOutline>,
    tip: &RuleOutline,
    bases: &[Option<&RuleOutline>],
) -> Option<RuleOutline> {
    let Some(own) = own else {
        return bases.contains(&None).then(|| tip.clone());
    };
    let is_untouched =
        |of: &dyn Fn(&RuleOutline) -> Option<String>| bases.iter().any(|base| base.and_then(of) == of(own));
    let state = |rule: &RuleOutline| Some(format!("{:?}", rule.state));
    let value = |rule: &RuleOutline, key: &str| {
        let known = rule.config.iter().find(|(name, _)| name == key);
        known.map(|(_, value)| value.clone())
    };
    let keys: BTreeSet<&String> = tip.config.iter().chain(&own.config).map(|(key, _)| key).collect();
    let config = keys.into_iter().filter_map(|key| {
        let of = |rule: &RuleOutline| value(rule, key);
        let side = if is_untouched(&of) { tip } else { own };
        value(side, key).map(|value| (key.clone(), value))
    });
    Some(RuleOutline {
        id: tip.id.clone(),
        state: if is_untouched(&state) {
            tip.state
        } else {
            own.state
        },
        config: config.collect(),
    })
}

/// Returns the rule as an entry of a rules file, or `None` if the rule is not enabled.
fn written(rule: &RuleOutline) -> Option<String> {
    let RuleState::Enabled(level) = rule.state else {
        return None;
    };
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let value = |text: &str| match text.parse::<u64>() {
        Ok(number) if number.to_string() == text => text.to_owned(),
        _ => quoted(text),
    };
    let config: Vec<String> = rule
        .config
        .iter()
        .map(|(key, text)| format!("{}: {}", quoted(key), value(text)))
        .collect();
    let config = if config.is_empty() {
        String::new()
    } else {
        format!(", config: {{ {} }}", config.join(", "))
    };
    Some(format!(
        "  - {{ id: {}, enabled: true, enforcementLevel: {level}{config} }}\n",
        quoted(&rule.id)
    ))
}

fn rules(side: &GateFileSide) -> Vec<RuleOutline> {
    match side {
        GateFileSide::Text(bytes) => outline(bytes).unwrap_or_default(),
        GateFileSide::Missing | GateFileSide::Unreadable(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::policy::of_rules;

    fn file(level: &str, maximum: u32) -> GateFileSide {
        let text = format!(
            "rules:\n  - {{ id: unused-components, enabled: true, enforcementLevel: {level} }}\n  - {{ id: \
             maximum-components, enabled: true, enforcementLevel: {level}, config: {{ maxComponents: {maximum} }} }}\n"
        );
        GateFileSide::Text(text.into_bytes())
    }

    fn stricter(
        head: &GateFileSide,
        tip: &GateFileSide,
        base: GateFileSide,
    ) -> (Vec<String>, Vec<RuleOutline>) {
        let bases = [base];
        let sides = (head, tip, bases.as_slice());
        let after = rules_after_merge(sides).map_or(GateFileSide::Missing, GateFileSide::Text);
        let said = stricter_at_tip(sides, &|old, new| of_rules(old, new), true);
        (said, rules(&after))
    }

    #[test]
    fn what_the_target_tightened_holds_where_the_change_did_not_touch_it() {
        let (said, after) = stricter(&file("warn", 9), &file("error", 9), file("warn", 9));
        assert_eq!(said[0], "rules: unused-components warn → error (tightened)");
        assert_eq!(after, rules(&file("error", 9)));
        // The change edited only the number, so the level comes from the target and the number from the change.
        let (said, after) = stricter(&file("warn", 12), &file("error", 9), file("warn", 9));
        assert_eq!(said[0], "rules: unused-components warn → error (tightened)");
        assert_eq!(after, rules(&file("error", 12)));
    }

    #[test]
    fn what_the_change_did_itself_holds_and_what_became_laxer_is_not_stricter() {
        for (head, tip, base) in [
            (file("warn", 9), file("error", 9), file("error", 9)),
            (file("error", 9), file("error", 9), file("warn", 9)),
        ] {
            assert_eq!(stricter(&head, &tip, base), (vec![], vec![]));
        }
        let (said, after) = stricter(&file("error", 9), &file("warn", 9), file("error", 9));
        assert_eq!((said, after), (vec![], rules(&file("warn", 9))));
        let gone = stricter(&file("warn", 9), &GateFileSide::Missing, file("warn", 9));
        assert_eq!(gone, (vec![], vec![]));
    }

    #[test]
    fn a_rules_file_that_only_the_tip_has() {
        let (said, after) = stricter(&GateFileSide::Missing, &file("error", 9), GateFileSide::Missing);
        assert_eq!(after, rules(&file("error", 9)));
        assert!(
            said.iter()
                .any(|said| said.contains("unused-components added, error (tightened)")),
            "{said:?}"
        );
    }

    #[test]
    fn odd_ids_and_values_come_back_as_they_were() {
        let text = "rules:\n  - { id: \"a: b\", enabled: true, enforcementLevel: warn, config: { regexMatchPattern: \"'[{x\\\"\" } }\n";
        let tip = GateFileSide::Text(text.as_bytes().to_vec());
        let expected = rules(&tip);
        let after = rules_after_merge((&GateFileSide::Missing, &tip, &[GateFileSide::Missing]));
        // An unknown rule is broken, so it is not evaluated.
        assert_eq!(after, None, "{expected:?}");
        let known = text
            .replace("a: b", "component-naming-convention")
            .replace("'[{x\\\"", "[A-Z]{1}\\\"'.*");
        let tip = GateFileSide::Text(known.into_bytes());
        let after = rules_after_merge((&GateFileSide::Missing, &tip, &[GateFileSide::Missing])).unwrap();
        assert_eq!(rules(&GateFileSide::Text(after)), rules(&tip));
    }
}
