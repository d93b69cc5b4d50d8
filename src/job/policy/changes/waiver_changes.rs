//! Describes the changes in the waivers file: added, changed and removed waivers.

use super::{Difference, DifferenceScope, Effect, GateFileVersion, compare_file_versions, sanitize};
use jiff::civil::Date;
use sluicegate_base::text::{self, format_count, wrap};
use sluicegate_pipelines::waivers::{WaiverEntry, parse_waivers_file};
use sluicegate_yaml::DocumentError;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Maximum number of columns of a waiver's path in a sentence.
const MAX_PATH_COLUMNS: usize = 60;

/// Maximum number of waivers of a kind that are listed one by one.
const MAX_LISTED_WAIVERS: usize = 10;

/// Lists the differences between two versions of the waivers file: each waiver that was added, changed or removed.
pub fn compare_waivers_files(
    old: &GateFileVersion,
    new: &GateFileVersion,
    scope: DifferenceScope,
) -> Vec<Difference> {
    compare_file_versions(old, new, parse_entries, |old, new| {
        // Waivers that are equal in both versions are skipped.
        let old_entries: Vec<&WaiverEntry> = old.difference(new).collect();
        let new_entries: Vec<&WaiverEntry> = new.difference(old).collect();
        // A waiver for the same findings as an old one is a changed waiver, not a new one.
        let old_subjects = group_by_subject(&old_entries);
        let new_subjects = group_by_subject(&new_entries);
        let (changed_entries, added_entries): (Vec<&WaiverEntry>, Vec<&WaiverEntry>) = new_entries
            .iter()
            .partition(|entry| old_subjects.contains_key(&entry.subject()));
        let mut removed_entries = old_entries.clone();
        removed_entries.retain(|entry| !new_subjects.contains_key(&entry.subject()));
        let mut differences = list_waiver_differences(Effect::Relaxed, "added", &added_entries, scope);
        for effect in [Effect::Relaxed, Effect::Unknown, Effect::Mixed, Effect::Tightened] {
            let entries: Vec<&WaiverEntry> = changed_entries
                .iter()
                .filter(|entry| find_effect(entry, &old_subjects) == effect)
                .copied()
                .collect();
            differences.extend(list_waiver_differences(
                effect,
                "changed (reason, size or end)",
                &entries,
                scope,
            ));
        }
        let new_paths = find_new_paths(&removed_entries, &added_entries);
        let (moved_entries, removed_entries): (Vec<&WaiverEntry>, Vec<&WaiverEntry>) = removed_entries
            .into_iter()
            .partition(|entry| new_paths.contains_key(entry));
        differences.extend(list_moved_waivers(&moved_entries, &new_paths, scope));
        differences.extend(list_waiver_differences(
            Effect::Tightened,
            "removed",
            &removed_entries,
            scope,
        ));
        if differences.is_empty() {
            return vec![Difference::for_file("no waiver has changed")];
        }
        differences
    })
}

/// Parses the waivers of a version, without their positions in the file. Every rule id is accepted, because a version
/// with an unknown rule can be compared, too.
fn parse_entries(bytes: &[u8]) -> Result<BTreeSet<WaiverEntry>, DocumentError> {
    let located_entries = parse_waivers_file(bytes, &|_| true)?;
    Ok(located_entries
        .into_iter()
        .map(|located_entry| located_entry.entry)
        .collect())
}

/// Waivers by their subject. Waivers with the same subject allow the same findings, possibly with another reason, size
/// or end.
type SubjectGroups<'e> = HashMap<(&'e str, &'e str, Option<&'e str>), Vec<&'e WaiverEntry>>;

/// Groups waivers by their subject.
fn group_by_subject<'e>(entries: &[&'e WaiverEntry]) -> SubjectGroups<'e> {
    let mut groups = SubjectGroups::new();
    for entry in entries {
        groups.entry(entry.subject()).or_default().push(entry);
    }
    groups
}

/// Groups waivers that differ only in their path. The keys are copies without a path.
fn group_without_path<'e>(entries: &[&'e WaiverEntry]) -> BTreeMap<WaiverEntry, Vec<&'e WaiverEntry>> {
    let mut groups: BTreeMap<WaiverEntry, Vec<&WaiverEntry>> = BTreeMap::new();
    for entry in entries {
        groups.entry(remove_path(entry)).or_default().push(entry);
    }
    groups
}

/// Returns a copy of a waiver with an empty path.
fn remove_path(entry: &WaiverEntry) -> WaiverEntry {
    WaiverEntry {
        path: String::new(),
        ..entry.clone()
    }
}

/// Returns the new paths of the removed waivers that were moved: a single added waiver differs from each only in its
/// path. If several removed or several added waivers differ only in their paths, it is unknown which one replaces
/// which.
fn find_new_paths<'e>(
    removed_entries: &[&'e WaiverEntry],
    added_entries: &[&'e WaiverEntry],
) -> BTreeMap<&'e WaiverEntry, &'e str> {
    let added_groups = group_without_path(added_entries);
    let mut new_paths = BTreeMap::new();
    for (key, removed_group) in group_without_path(removed_entries) {
        let added_group = added_groups.get(&key).map(Vec::as_slice);
        if let ([removed_entry], Some([added_entry])) = (removed_group.as_slice(), added_group) {
            new_paths.insert(*removed_entry, added_entry.path.as_str());
        }
    }
    new_paths
}

/// Returns the effect of the new size and the new end of a waiver. The effect is unknown if only the reason or the
/// owner changed, or if several old waivers have the same subject.
fn find_effect(new: &WaiverEntry, old_subjects: &SubjectGroups<'_>) -> Effect {
    let Some([old]) = old_subjects.get(&new.subject()).map(Vec::as_slice) else {
        return Effect::Unknown;
    };
    // A waiver without an end never expires.
    let end_effect = Effect::from_laxity(
        &old.last_day.unwrap_or(Date::MAX),
        &new.last_day.unwrap_or(Date::MAX),
    );
    find_size_effect(&new.rule, old.size, new.size).combine(end_effect)
}

/// Returns the effect of the new size of a waiver for this rule. A waiver without a size allows any size.
fn find_size_effect(rule: &str, old_size: Option<u64>, new_size: Option<u64>) -> Effect {
    match (old_size, new_size) {
        (Some(old_size), Some(new_size)) => Effect::from_sizes(rule, old_size, new_size),
        (Some(_), None) => Effect::Relaxed,
        (None, Some(_)) => Effect::Tightened,
        (None, None) => Effect::Unknown,
    }
}

/// Describes waivers with the same kind of change, one per sentence.
fn list_waiver_differences(
    effect: Effect,
    change: &str,
    entries: &[&WaiverEntry],
    scope: DifferenceScope,
) -> Vec<Difference> {
    let describe = |entry: &WaiverEntry| format!("waiver {change}: {}", describe_waiver(entry));
    list_first_waivers(effect, change, entries, scope, &describe)
}

/// Describes the moved waivers, each with its new path.
fn list_moved_waivers(
    entries: &[&WaiverEntry],
    new_paths: &BTreeMap<&WaiverEntry, &str>,
    scope: DifferenceScope,
) -> Vec<Difference> {
    list_first_waivers(Effect::Tightened, "moved", entries, scope, &|entry| {
        let new_path = new_paths.get(entry).copied().unwrap_or_default();
        format!(
            "waiver moved to {}: {}",
            shorten_path(new_path),
            describe_waiver(entry)
        )
    })
}

/// Describes each waiver with `describe`. If there are many, a short description has their number first, and lists only
/// the first ones.
fn list_first_waivers(
    effect: Effect,
    change: &str,
    entries: &[&WaiverEntry],
    scope: DifferenceScope,
    describe: &dyn Fn(&WaiverEntry) -> String,
) -> Vec<Difference> {
    let max_listed = match scope {
        DifferenceScope::Complete => entries.len(),
        DifferenceScope::Short => MAX_LISTED_WAIVERS,
    };
    let mut differences = Vec::new();
    if entries.len() > max_listed {
        let waiver_count = format_count(entries.len(), "waiver");
        differences.push(effect.build_difference(&format!(
            "{waiver_count} {change}; only the first {MAX_LISTED_WAIVERS} are listed"
        )));
    }
    for entry in entries.iter().take(max_listed) {
        let texts = [Some(&entry.rule), Some(&entry.path), entry.about.as_ref()];
        let difference = effect.build_difference(&describe(entry));
        differences.push(difference.with_full_texts(texts.into_iter().flatten()));
    }
    differences
}

/// Describes what a waiver allows, up to which size and until when.
fn describe_waiver(entry: &WaiverEntry) -> String {
    let size = entry
        .size
        .map(|size| format!(" up to {size}"))
        .unwrap_or_default();
    let end = entry
        .last_day
        .map(|date| format!(" until {date}"))
        .unwrap_or_default();
    let path = shorten_path(&entry.path);
    let about = entry
        .about
        .as_ref()
        .map(|about| format!(", {}", sanitize(about)))
        .unwrap_or_default();
    format!("{} in {path}{about}{size}{end}", sanitize(&entry.rule))
}

/// Returns the path of a waiver for a sentence. It is shortened on its own, because the subject after it distinguishes
/// one waiver from another.
fn shorten_path(path: &str) -> String {
    wrap::shorten_middle(&text::escape_line(path), MAX_PATH_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::policy::ChangeDescription;

    fn said(old: &str, new: &str) -> String {
        let side = |text: &str| GateFileVersion::Text(text.as_bytes().to_vec());
        let differences = compare_waivers_files(&side(old), &side(new), DifferenceScope::Short);
        ChangeDescription::from_differences(differences)
            .sentences
            .join("\n")
    }

    #[test]
    fn waivers_of_long_path_are_distinguished_by_their_subjects() {
        let path = "lms_data_ingestion/LMS Incremental Data Ingestion/pl_lms_accreditations_load.orch.yaml";
        let waiver = |about: &str| {
            format!("- {{ rule: copied-variables, path: {path}, about: {about}, reason: r }}\n")
        };
        let new = waiver("first variable") + &waiver("second variable");
        insta::assert_snapshot!(said("", &new), @"
        waiver added: copied-variables in lms_data_ingestion/…ion/pl_lms_accreditations_load.orch.yaml, first variable (relaxed)
        waiver added: copied-variables in lms_data_ingestion/…ion/pl_lms_accreditations_load.orch.yaml, second variable (relaxed)
        ");
    }

    #[test]
    fn description_of_each_waiver_names_its_subject() {
        let old = "- { rule: unused-components, path: a, about: x, reason: r }\n- { rule: r, path: b, reason: r }\n";
        let new = "- { rule: maximum-components, path: 'sales/**', size: 12, reason: r }\n- { rule: r, path: b, reason: r, until: 2027-03-31 }\n";
        insta::assert_snapshot!(said(old, new), @"
        waiver added: maximum-components in sales/** up to 12 (relaxed)
        waiver changed (reason, size or end): r in b until 2027-03-31 (tightened)
        waiver removed: unused-components in a, x (tightened)
        ");
        assert_eq!(said(old, &format!("# words\n{old}")), "no waiver has changed");
    }

    #[test]
    fn waiver_with_only_another_path_was_moved() {
        let waiver =
            |path: &str, reason: &str| format!("- {{ rule: r, path: {path}, about: x, reason: {reason} }}\n");
        insta::assert_snapshot!(said(&waiver("a/b.orch.yaml", "why"), &waiver("c/b.orch.yaml", "why")), @"
        waiver added: r in c/b.orch.yaml, x (relaxed)
        waiver moved to c/b.orch.yaml: r in a/b.orch.yaml, x (tightened)
        ");
        for new in [waiver("c", "other"), waiver("c", "why") + &waiver("d", "why")] {
            let sentences = said(&waiver("a", "why"), &new);
            assert!(
                sentences.contains("waiver removed: r in a, x (tightened)"),
                "{sentences}"
            );
        }
    }

    #[test]
    fn waivers_that_one_added_waiver_may_replace_are_described_as_removed() {
        let waiver = |path: &str| format!("- {{ rule: r, path: {path}, reason: why }}\n");
        insta::assert_snapshot!(said(&(waiver("a") + &waiver("b")), &waiver("c")), @"
        waiver added: r in c (relaxed)
        waiver removed: r in a (tightened)
        waiver removed: r in b (tightened)
        ");
    }

    #[test]
    fn of_many_moved_waivers_the_first_are_named() {
        let list_waivers = |folder: &str| -> String {
            let numbers = 1000..6000;
            let waivers = numbers.map(|number| {
                format!("- {{ rule: r, path: {folder}/{number}, about: c{number}, reason: r }}\n")
            });
            waivers.collect()
        };
        let sentences = said(&list_waivers("a"), &list_waivers("b"));
        let lines: Vec<&str> = sentences.lines().collect();
        assert_eq!(lines.len(), 2 * (1 + MAX_LISTED_WAIVERS));
        assert_eq!(
            lines[1 + MAX_LISTED_WAIVERS],
            "5,000 waivers moved; only the first 10 are listed (tightened)"
        );
        assert_eq!(
            lines[2 + MAX_LISTED_WAIVERS],
            "waiver moved to b/1000: r in a/1000, c1000 (tightened)"
        );
    }

    #[test]
    fn effect_of_changed_waiver_follows_size_and_end() {
        for (old, new, effect) in [
            ("size: 20", "size: 10", "tightened"),
            ("size: 10", "size: 20", "relaxed"),
            ("size: 10", "owner: o", "relaxed"),
            ("until: 2027-03-31", "until: 2027-03-30", "tightened"),
            ("until: 2027-03-31", "until: 2027-04-01", "relaxed"),
            (
                "size: 20, until: 2027-03-31",
                "size: 10, until: 2027-03-30",
                "tightened",
            ),
            (
                "size: 20, until: 2027-03-31",
                "size: 10, until: 2027-04-01",
                "relaxed and tightened",
            ),
            (
                "size: 10, until: 2027-03-31",
                "size: 20, until: 2027-03-30",
                "relaxed and tightened",
            ),
            ("owner: a", "owner: b", "changed"),
        ] {
            let file =
                |fields: &str| format!("- {{ rule: maximum-components, path: b, reason: r, {fields} }}\n");
            let sentence = said(&file(old), &file(new));
            assert!(
                sentence.ends_with(&format!(" ({effect})")),
                "{old} → {new}: {sentence}"
            );
        }
    }

    #[test]
    fn smaller_size_of_waiver_for_minimum_is_laxer() {
        let minimum =
            |size: u64| format!("- {{ rule: minimum-components, path: b, reason: r, size: {size} }}\n");
        assert!(said(&minimum(2), &minimum(1)).ends_with(" (relaxed)"));
        assert!(said(&minimum(1), &minimum(2)).ends_with(" (tightened)"));
    }

    #[test]
    fn waivers_up_to_the_limit_are_listed_without_their_number() {
        let waiver = |number| format!("- {{ rule: r, path: a, about: c{number}, reason: r }}\n");
        let listed: String = (0..MAX_LISTED_WAIVERS).map(waiver).collect();
        let sentences = said("", &listed);
        assert_eq!(sentences.lines().count(), MAX_LISTED_WAIVERS);
        assert!(
            sentences.starts_with("waiver added: r in a, c0 (relaxed)\n"),
            "{sentences}"
        );
    }

    #[test]
    fn of_many_waivers_the_first_are_named() {
        let waiver = |number| format!("- {{ rule: r, path: a, about: c{number}, reason: r }}\n");
        let many = (100..640).map(waiver).collect::<Vec<_>>().concat();
        let added = said("", &many);
        let lines: Vec<&str> = added.lines().collect();
        assert_eq!(
            lines[0],
            "540 waivers added; only the first 10 are listed (relaxed)"
        );
        assert_eq!(lines[1], "waiver added: r in a, c100 (relaxed)");
        assert_eq!(lines.len(), 1 + MAX_LISTED_WAIVERS);
        assert!(
            said(&many, "").starts_with("540 waivers removed; only the first 10 are listed (tightened)\n")
        );
    }

    #[test]
    fn unreadable_waivers_change_is_described_with_safe_text() {
        insta::assert_snapshot!(said("", "- { rule: r }"), @"the version of the change cannot be read: the waiver has no `path` (line 1, column 3)");
        let hostile = said("", "- { rule: \"a\\n::error::\\e[31m\", path: b, reason: r }");
        assert!(!hostile.contains(['\n', '\u{1b}']), "{hostile}");
    }
}
