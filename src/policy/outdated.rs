//! What the target's tip has stricter than a change that started before: what holds after the merge is the tip's, where the
//! change did not touch it.
//!
//! The comparison is a three-way merge of facts: a difference from head to tip counts if the target made it, that is if it is a
//! difference from a base to the tip, too. What the change itself did is reported as a change of the gate.

use super::changes::{Side, stricter_of};
use crate::rules::{RuleOutline, RuleState, outline};
use std::collections::BTreeSet;

/// The descriptions of what the tip has stricter than head, without what the change made laxer itself. `describe` compares
/// two versions of the file. With `or_other`, also what may be stricter or laxer.
pub fn stricter_at_tip(
    (head, tip, bases): (&Side, &Side, &[Side]),
    describe: &dyn Fn(&Side, &Side) -> Vec<String>,
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

/// The ids of the rules that the tip enables and has otherwise than head, where the change did not touch them. A side that is
/// missing or cannot be read has no rules.
pub fn rules_of_tip((head, tip, bases): (&Side, &Side, &[Side])) -> BTreeSet<String> {
    let (head, tip) = (rules(head), rules(tip));
    let bases: Vec<Vec<RuleOutline>> = bases.iter().map(rules).collect();
    let find = |rules: &[RuleOutline], id: &str| rules.iter().find(|rule| rule.id == id).cloned();
    let is_meant = |rule: &&RuleOutline| {
        let own = find(&head, &rule.id);
        let is_untouched = || bases.iter().any(|base| find(base, &rule.id) == own);
        let is_enabled = !matches!(rule.state, RuleState::Disabled | RuleState::NotThere);
        is_enabled && own.as_ref() != Some(*rule) && is_untouched()
    };
    tip.iter().filter(is_meant).map(|rule| rule.id.clone()).collect()
}

fn rules(side: &Side) -> Vec<RuleOutline> {
    match side {
        Side::Text(bytes) => outline(bytes).unwrap_or_default(),
        Side::Missing | Side::Unreadable(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::of_rules;

    fn file(level: &str, maximum: u32) -> Side {
        let text = format!(
            "rules:\n  - {{ id: unused-components, enabled: true, enforcementLevel: {level} }}\n  - {{ id: \
             maximum-components, enabled: true, enforcementLevel: error, config: {{ maxComponents: {maximum} }} }}\n"
        );
        Side::Text(text.into_bytes())
    }

    fn stricter(head: &Side, tip: &Side, base: Side) -> (Vec<String>, Vec<String>) {
        let bases = [base];
        let sides = (head, tip, bases.as_slice());
        let rules = rules_of_tip(sides).into_iter().collect();
        (
            stricter_at_tip(sides, &|old, new| of_rules(old, new), true),
            rules,
        )
    }

    #[test]
    fn what_the_target_tightened_and_the_change_did_not_touch() {
        let (said, rules) = stricter(&file("warn", 9), &file("error", 9), file("warn", 9));
        assert_eq!(said, ["rules: unused-components warn → error (tightened)"]);
        assert_eq!(rules, ["unused-components"]);
        // The change touched the other rule alone.
        let (said, rules) = stricter(&file("warn", 12), &file("error", 9), file("warn", 9));
        assert_eq!(said, ["rules: unused-components warn → error (tightened)"]);
        assert_eq!(rules, ["unused-components"]);
    }

    #[test]
    fn what_the_change_did_itself_and_what_became_laxer() {
        assert_eq!(
            stricter(&file("warn", 9), &file("error", 9), file("error", 9)),
            (vec![], vec![])
        );
        assert_eq!(
            stricter(&file("error", 9), &file("error", 9), file("warn", 9)),
            (vec![], vec![])
        );
        let (said, rules) = stricter(&file("error", 9), &file("warn", 9), file("error", 9));
        assert_eq!((said, rules), (vec![], vec!["unused-components".to_owned()]));
        let gone = stricter(&file("warn", 9), &Side::Missing, file("warn", 9));
        assert_eq!(gone, (vec![], vec![]));
    }

    #[test]
    fn a_rules_file_that_only_the_tip_has() {
        let (said, rules) = stricter(&Side::Missing, &file("error", 9), Side::Missing);
        assert_eq!(rules, ["maximum-components", "unused-components"]);
        assert!(
            said.iter()
                .any(|said| said.contains("unused-components added, error (tightened)")),
            "{said:?}"
        );
    }
}
