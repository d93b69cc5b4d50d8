//! Describes the changes in the rules file, rule by rule.

use super::{GateFileSide, Shift, compared, shown};
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::rules::{RuleOutline, RuleState, outline};
use std::collections::{BTreeMap, BTreeSet};

/// Describes the changes in the rules file, with a sentence for each rule and each configuration value.
pub fn of_rules(old: &GateFileSide, new: &GateFileSide) -> Vec<String> {
    if *new == GateFileSide::Missing {
        return vec!["the file is gone: no rule can be evaluated".to_owned()];
    }
    compared((old, new), outline, |old, new| {
        let is_new = |rule: &&RuleOutline| find(old, &rule.id).is_none();
        let mut said: Vec<String> = old
            .iter()
            .flat_map(|rule| differences(rule, find(new, &rule.id)))
            .collect();
        said.extend(new.iter().filter(is_new).map(added));
        if said.is_empty() {
            said.push("no rule has changed".to_owned());
        }
        said
    })
}

fn find<'r>(rules: &'r [RuleOutline], id: &str) -> Option<&'r RuleOutline> {
    rules.iter().find(|rule| rule.id == id)
}

fn added(rule: &RuleOutline) -> String {
    let said = format!("rules: {} added, {}", shown(&rule.id), word(rule.state));
    told(&said, RuleState::NotThere, rule.state)
}

fn differences(old: &RuleOutline, new: Option<&RuleOutline>) -> Vec<String> {
    let (id, was) = (shown(&old.id), word(old.state));
    let Some(new) = new else {
        let said = format!("rules: {id} {was} → removed");
        return vec![told(&said, old.state, RuleState::NotThere)];
    };
    let mut said = Vec::new();
    if old.state != new.state {
        let sentence = format!("rules: {id} {was} → {}", word(new.state));
        said.push(told(&sentence, old.state, new.state));
    }
    said.extend(config(&id, old, new));
    said
}

fn told(sentence: &str, old: RuleState, new: RuleState) -> String {
    match (laxity(old), laxity(new)) {
        (Some(old), Some(new)) => Shift::of(&old, &new),
        _ => Shift::Other,
    }
    .told(sentence)
}

/// Returns the laxity of a rule's state, or `None` if it is unknown because the rule cannot be evaluated.
const fn laxity(state: RuleState) -> Option<u8> {
    match state {
        RuleState::Enabled(Enforcement::Error) => Some(0),
        RuleState::Enabled(Enforcement::Warn) => Some(1),
        RuleState::Disabled | RuleState::NotThere => Some(2),
        RuleState::Broken(_) | RuleState::Unknown => None,
    }
}

fn word(state: RuleState) -> String {
    match state {
        RuleState::Enabled(level) => level.to_string(),
        RuleState::Disabled => "disabled".to_owned(),
        RuleState::NotThere => "removed".to_owned(),
        RuleState::Broken(cause) => format!("not evaluable: {cause}"),
        RuleState::Unknown => "unknown".to_owned(),
    }
}

fn config(id: &str, old: &RuleOutline, new: &RuleOutline) -> Vec<String> {
    let fields = |rule: &RuleOutline| rule.config.iter().cloned().collect::<BTreeMap<String, String>>();
    let (before, after) = (fields(old), fields(new));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let is_enforced = matches!(new.state, RuleState::Enabled(_));
    let sentence = |name: &String| {
        let (was, is) = (before.get(name), after.get(name));
        if was == is {
            return None;
        }
        let value = |value: Option<&String>| value.map_or_else(|| "not set".to_owned(), |text| shown(text));
        let said = format!("rules: {id} {} {} → {}", shown(name), value(was), value(is));
        let shift = limit(name, was, is).filter(|_| is_enforced);
        Some(shift.unwrap_or(Shift::Other).told(&said))
    };
    names.into_iter().filter_map(sentence).collect()
}

/// Returns the effect of a changed limit: a larger maximum and a smaller minimum relax the gate.
fn limit(name: &str, old: Option<&String>, new: Option<&String>) -> Option<Shift> {
    let (old, new): (u64, u64) = (old?.parse().ok()?, new?.parse().ok()?);
    let growing = Shift::of(&old, &new);
    match name.get(..3)? {
        "max" => Some(growing),
        "min" => Some(growing.reversed()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(rules: &[&str]) -> GateFileSide {
        let rules: Vec<String> = rules.iter().map(|rule| format!("{{ {rule} }}")).collect();
        GateFileSide::Text(format!("rules: [{}]", rules.join(", ")).into_bytes())
    }

    fn rule(id: &str, enabled: bool, level: &str) -> String {
        format!("id: {id}, enabled: {enabled}, enforcementLevel: {level}")
    }

    fn said(old: &[&str], new: &[&str]) -> String {
        of_rules(&file(old), &file(new)).join("\n")
    }

    #[test]
    fn levels_and_states() {
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
    fn limits() {
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
    fn a_side_that_is_not_there_or_not_readable() {
        let some = file(&[&rule("unused-components", true, "warn")]);
        assert_eq!(
            of_rules(&GateFileSide::Missing, &some),
            [
                "the file is new",
                "rules: unused-components added, warn (tightened)"
            ]
        );
        assert_eq!(
            of_rules(&some, &GateFileSide::Missing),
            ["the file is gone: no rule can be evaluated"]
        );
        let broken = GateFileSide::Text(b"rules: 7".to_vec());
        let said = of_rules(&some, &broken).join("\n");
        assert!(
            said.starts_with("the version of the change cannot be read: "),
            "{said}"
        );
    }
}
