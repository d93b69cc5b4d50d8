//! Groups waivers by what they are about, so that a finding is only compared with waivers that are about it.

use super::path_index::{PathIndex, list_subjects};
use super::{WaiverEffect, WaiverEntry};
use crate::findings::Finding;
use jiff::civil::Date;
use std::collections::HashMap;

/// Some entries, grouped by their rule and the component, variable or text.
#[derive(Debug, Default)]
pub(super) struct EntryGroups<'w> {
    /// The positions of the globs whose entries are in the groups, in order.
    globs: Vec<usize>,
    /// The position in `groups` of each rule and component, variable or text.
    positions: HashMap<(&'w str, Option<&'w str>), usize>,
    groups: Vec<EntryGroup<'w>>,
}

/// The entries with the same rule and the same component, variable or text.
#[derive(Debug, Default)]
struct EntryGroup<'w> {
    /// The entries and their indices, in order.
    entries: Vec<(usize, &'w WaiverEntry)>,
    /// The best entry for each size of a finding. The entries of a group do not distinguish findings otherwise, so
    /// each size is compared with them only once.
    best_entries: HashMap<Option<u64>, Option<EffectiveEntry<'w>>>,
}

/// An entry and what it does for a finding.
#[derive(Debug, Clone, Copy)]
pub(super) struct EffectiveEntry<'w> {
    pub index: usize,
    pub entry: &'w WaiverEntry,
    pub effect: WaiverEffect,
}

impl EffectiveEntry<'_> {
    /// Returns whether the effect is stronger than that of `entry`, or as strong and this entry is before it.
    fn precedes(&self, entry: &Self) -> bool {
        self.effect > entry.effect || (self.effect == entry.effect && self.index < entry.index)
    }
}

impl<'w> EntryGroups<'w> {
    /// Groups the entries of these globs, unless they are already grouped: often the same waivers apply to many files.
    pub(super) fn set_globs(&mut self, entries: &'w [WaiverEntry], paths: &PathIndex, globs: Vec<usize>) {
        if self.globs == globs {
            return;
        }
        self.positions.clear();
        self.groups.clear();
        for index in paths.list_entries(&globs) {
            let Some(entry) = entries.get(index) else {
                continue;
            };
            let key = (entry.rule.as_str(), entry.about.as_deref());
            let position = *self.positions.entry(key).or_insert(self.groups.len());
            if position == self.groups.len() {
                self.groups.push(EntryGroup::default());
            }
            if let Some(group) = self.groups.get_mut(position) {
                group.entries.push((index, entry));
            }
        }
        self.globs = globs;
    }

    /// Returns the entry with the strongest effect on a finding, and the first of several. The findings are one finding
    /// by different names. Updates the effects of all entries, by their indices.
    pub(super) fn find_best_entry(
        &mut self,
        findings: &[Finding<'_>],
        today: Date,
        effects: &mut [Option<WaiverEffect>],
    ) -> Option<EffectiveEntry<'w>> {
        let mut best_entry: Option<EffectiveEntry<'w>> = None;
        for finding in findings {
            for position in self.find_groups(finding) {
                let Some(group) = self.groups.get_mut(position) else {
                    continue;
                };
                let Some(entry) = group.find_best_entry(finding, today, effects) else {
                    continue;
                };
                if best_entry.is_none_or(|current| entry.precedes(&current)) {
                    best_entry = Some(entry);
                }
            }
        }
        best_entry
    }

    /// Returns the positions of the groups whose entries are about this finding, as in [`WaiverEntry::is_about`].
    fn find_groups(&self, finding: &Finding<'_>) -> Vec<usize> {
        list_subjects(finding)
            .into_iter()
            .filter_map(|about| self.positions.get(&(finding.rule, about)).copied())
            .collect()
    }
}

impl<'w> EntryGroup<'w> {
    /// Returns the entry with the strongest effect on a finding that the entries are about, and the first of several.
    /// Updates the effects of the entries that have not expired.
    fn find_best_entry(
        &mut self,
        finding: &Finding<'_>,
        today: Date,
        effects: &mut [Option<WaiverEffect>],
    ) -> Option<EffectiveEntry<'w>> {
        if let Some(best_entry) = self.best_entries.get(&finding.size) {
            return *best_entry;
        }
        let mut best_entry: Option<EffectiveEntry<'w>> = None;
        for (index, entry) in &self.entries {
            let Some(effect) = find_effect(entry, finding, today) else {
                continue;
            };
            // An expired entry has an effect only if no other one allows the finding.
            if effect != WaiverEffect::Expired
                && let Some(entry_effect) = effects.get_mut(*index)
            {
                *entry_effect = (*entry_effect).max(Some(effect));
            }
            if best_entry.is_none_or(|current| current.effect < effect) {
                best_entry = Some(EffectiveEntry {
                    index: *index,
                    entry,
                    effect,
                });
            }
        }
        self.best_entries.insert(finding.size, best_entry);
        best_entry
    }
}

/// Returns what the entry does for this finding; `None` if it is about another one. An expired entry whose size is
/// exceeded does nothing, and neither does one with a size for a finding of unknown size.
fn find_effect(entry: &WaiverEntry, finding: &Finding<'_>, today: Date) -> Option<WaiverEffect> {
    if !entry.is_about(finding) {
        return None;
    }
    match (entry.allows_size_of(finding), entry.is_expired(today)) {
        (true, false) => Some(WaiverEffect::Allowed),
        (true, true) => Some(WaiverEffect::Expired),
        (false, false) if finding.size.is_some() => Some(WaiverEffect::Exceeded),
        (false, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{RuleResult, Severity, Status, Violation};
    use jiff::civil::date;
    use proptest::prelude::*;

    const TODAY: Date = date(2027, 3, 31);

    fn entry(rule: &str, about: Option<String>) -> WaiverEntry {
        WaiverEntry {
            rule: rule.to_owned(),
            path: "**".to_owned(),
            about,
            size: None,
            reason: "r".to_owned(),
            owner: None,
            last_day: None,
        }
    }

    fn group_all(entries: &[WaiverEntry]) -> EntryGroups<'_> {
        let mut groups = EntryGroups::default();
        let paths = PathIndex::new(entries).unwrap();
        groups.set_globs(entries, &paths, paths.find_globs("a"));
        groups
    }

    #[test]
    fn finding_is_compared_only_with_waivers_about_it() {
        let mut entries: Vec<WaiverEntry> = (0..10_000)
            .map(|number| entry("r", Some(format!("x{number}"))))
            .collect();
        entries.push(entry("r", None));
        entries.push(entry("s", None));
        let groups = group_all(&entries);
        for (about, compared) in [("x7", vec![10_000, 7]), ("other", vec![10_000])] {
            let violation = Violation {
                about: Some(about.to_owned()),
                ..Violation::new("v")
            };
            let result = RuleResult::new(
                "r".to_owned(),
                Status::Failed(Severity::Error),
                None,
                vec![violation],
            );
            let positions = groups.find_groups(&result.findings("a")[0]);
            let indices: Vec<usize> = positions
                .iter()
                .flat_map(|position| groups.groups[*position].entries.iter().map(|(index, _)| *index))
                .collect();
            assert_eq!(indices, compared, "{about}");
        }
    }

    fn any_entry() -> impl Strategy<Value = WaiverEntry> {
        (
            "maximum-components|r",
            proptest::option::of("[ab]|other text"),
            proptest::option::of(1..4_u64),
            any::<bool>(),
        )
            .prop_map(|(rule, about, size, is_expired)| WaiverEntry {
                size,
                last_day: is_expired.then_some(date(2027, 1, 1)),
                ..entry(&rule, about)
            })
    }

    fn any_violation() -> impl Strategy<Value = Violation> {
        (
            proptest::option::of("[ab]"),
            proptest::option::of(1..4_u64),
            any::<bool>(),
        )
            .prop_map(|(about, size, has_two_texts)| Violation {
                about,
                size,
                identity_text: has_two_texts.then_some("a"),
                ..Violation::new("other text")
            })
    }

    proptest! {
        /// The groups have the same result as the comparison of each finding with each entry.
        #[test]
        fn best_entry_and_effects_are_those_of_all_entries(
            entries in proptest::collection::vec(any_entry(), 0..8),
            violations in proptest::collection::vec(any_violation(), 1..5),
            rule in "maximum-components|r",
        ) {
            let mut groups = group_all(&entries);
            let mut effects = vec![None; entries.len()];
            let mut expected_effects = effects.clone();
            let result = RuleResult::new(rule, Status::Failed(Severity::Error), None, violations);
            for finding in result.findings("a") {
                let names = [finding.clone(), finding.with_subject("b")];
                let found = groups.find_best_entry(&names, TODAY, &mut effects);
                let mut expected: Option<(usize, WaiverEffect)> = None;
                for (index, entry) in entries.iter().enumerate() {
                    let effect = names.iter().filter_map(|name| find_effect(entry, name, TODAY)).max();
                    let recorded_effect = effect.filter(|effect| *effect != WaiverEffect::Expired);
                    expected_effects[index] = expected_effects[index].max(recorded_effect);
                    if let Some(effect) = effect && expected.is_none_or(|(_, best)| best < effect) {
                        expected = Some((index, effect));
                    }
                }
                prop_assert_eq!(found.map(|found| (found.index, found.effect)), expected);
            }
            prop_assert_eq!(effects, expected_effects);
        }
    }
}
