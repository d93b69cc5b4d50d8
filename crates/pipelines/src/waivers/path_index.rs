//! Finds the waivers for a file and for a finding, without a comparison with every waiver.
//!
//! A path is compiled to one glob, however many waivers have it: 100,000 waivers may have the path `**`.

use super::WaiverEntry;
use crate::findings::Finding;
use globset::{Error, GlobSet, GlobSetBuilder};
use sluicegate_base::globs::parse_glob;
use std::collections::HashMap;

/// The different paths of some entries, with the entries of each path.
#[derive(Debug, Default)]
pub(super) struct PathIndex {
    globs: GlobSet,
    /// For each glob, the indices of its entries, ordered by rule and subject.
    entries_by_glob: Vec<Vec<usize>>,
    /// The position of each entry's glob.
    globs_by_entry: Vec<usize>,
}

impl PathIndex {
    /// Compiles the different paths of the entries to globs. Fails if a path is not a valid glob.
    pub(super) fn new(entries: &[WaiverEntry]) -> Result<Self, Error> {
        let mut globs = GlobSetBuilder::new();
        let mut positions: HashMap<&str, usize> = HashMap::new();
        let mut entries_by_glob: Vec<Vec<usize>> = Vec::new();
        let mut globs_by_entry = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            let position = *positions.entry(&entry.path).or_insert(entries_by_glob.len());
            if position == entries_by_glob.len() {
                globs.add(parse_glob(&entry.path)?);
                entries_by_glob.push(Vec::new());
            }
            if let Some(indices) = entries_by_glob.get_mut(position) {
                indices.push(index);
            }
            globs_by_entry.push(position);
        }
        for indices in &mut entries_by_glob {
            indices.sort_by_key(|index| (entries.get(*index).map(order_by_subject), *index));
        }
        Ok(Self {
            globs: globs.build()?,
            entries_by_glob,
            globs_by_entry,
        })
    }

    /// Returns the number of different paths.
    pub(super) const fn glob_count(&self) -> usize {
        self.entries_by_glob.len()
    }

    /// Returns the position of the glob of an entry.
    pub(super) fn find_glob_of_entry(&self, entry_index: usize) -> Option<usize> {
        self.globs_by_entry.get(entry_index).copied()
    }

    /// Returns the positions of the globs that match the path of a file, in ascending order.
    pub(super) fn find_globs(&self, path: &str) -> Vec<usize> {
        self.globs.matches(path)
    }

    /// Returns whether a glob matches the path of a file.
    pub(super) fn is_match(&self, path: &str) -> bool {
        self.globs.is_match(path)
    }

    /// Returns the indices of the entries of these globs, in ascending order.
    pub(super) fn list_entries(&self, globs: &[usize]) -> Vec<usize> {
        let lists = globs.iter().filter_map(|glob| self.entries_by_glob.get(*glob));
        let mut indices: Vec<usize> = lists.flatten().copied().collect();
        indices.sort_unstable();
        indices
    }

    /// Returns the entries whose path matches the file at `path` and which are about the finding, as in
    /// [`WaiverEntry::is_about`]. `entries` are those of [`Self::new`].
    pub(super) fn find_entries_about<'i>(
        &'i self,
        entries: &'i [WaiverEntry],
        path: &str,
        finding: &Finding<'_>,
    ) -> impl Iterator<Item = &'i WaiverEntry> {
        let mut ranges: Vec<&[usize]> = Vec::new();
        for glob in self.globs.matches(path) {
            let Some(indices) = self.entries_by_glob.get(glob) else {
                continue;
            };
            for about in list_subjects(finding) {
                ranges.push(find_subject_range(entries, indices, finding.rule, about));
            }
        }
        ranges
            .into_iter()
            .flatten()
            .filter_map(|index| entries.get(*index))
    }
}

/// Returns the values of `about` that the entries about this finding have: none, the finding's identity, and the text
/// of an engine.
pub(super) fn list_subjects<'f>(finding: &'f Finding<'_>) -> Vec<Option<&'f str>> {
    let identity = finding.identity();
    let engine_text = finding.identity_text.and(finding.text.as_deref());
    let mut subjects = vec![None];
    for subject in [identity.about, engine_text].into_iter().flatten() {
        if !subjects.contains(&Some(subject)) {
            subjects.push(Some(subject));
        }
    }
    subjects
}

/// Returns what entries with the same path are ordered by.
fn order_by_subject(entry: &WaiverEntry) -> (&str, Option<&str>) {
    (&entry.rule, entry.about.as_deref())
}

/// Returns the part of the ordered `indices` whose entries have this rule and subject.
fn find_subject_range<'i>(
    entries: &[WaiverEntry],
    indices: &'i [usize],
    rule: &str,
    about: Option<&str>,
) -> &'i [usize] {
    let subject = Some((rule, about));
    let start = indices.partition_point(|index| entries.get(*index).map(order_by_subject) < subject);
    let end = indices.partition_point(|index| entries.get(*index).map(order_by_subject) <= subject);
    indices.get(start..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::{RuleResult, Severity, Status, Violation};
    use proptest::prelude::*;

    fn entry(rule: &str, path: &str, about: Option<String>) -> WaiverEntry {
        WaiverEntry {
            rule: rule.to_owned(),
            path: path.to_owned(),
            about,
            size: None,
            reason: "r".to_owned(),
            owner: None,
            last_day: None,
        }
    }

    #[test]
    fn maximum_number_of_waivers_with_one_path_can_be_compiled() {
        let path = "*/p*[a]*.orch.yaml";
        let entries: Vec<WaiverEntry> = (0..100_000)
            .map(|number| entry("r", path, Some(format!("x{number}"))))
            .collect();
        let paths = PathIndex::new(&entries).unwrap();
        assert_eq!(paths.glob_count(), 1);
        assert_eq!(paths.find_globs("sales/p1a.orch.yaml"), [0]);
        assert!(!paths.is_match("p1a.orch.yaml"));
        assert_eq!(paths.list_entries(&[0]), (0..100_000).collect::<Vec<_>>());
    }

    fn any_entry() -> impl Strategy<Value = WaiverEntry> {
        ("r|s", "a|b|\\*|\\*\\*", proptest::option::of("[xy]|other text"))
            .prop_map(|(rule, path, about)| entry(&rule, &path, about))
    }

    proptest! {
        /// The index finds the entries that a comparison with each entry finds.
        #[test]
        fn entries_about_a_finding_are_those_of_all_entries(
            entries in proptest::collection::vec(any_entry(), 0..12),
            about in proptest::option::of("[xy]"),
            rule in "r|s",
            path in "a|b",
            has_two_texts in any::<bool>(),
        ) {
            let paths = PathIndex::new(&entries).unwrap();
            let violation = Violation {
                about,
                identity_text: has_two_texts.then_some("x"),
                ..Violation::new("other text")
            };
            let result = RuleResult::new(rule, Status::Failed(Severity::Error), None, vec![violation]);
            let finding = &result.findings(&path)[0];
            let mut found: Vec<&WaiverEntry> = paths.find_entries_about(&entries, &path, finding).collect();
            let mut expected: Vec<&WaiverEntry> = entries
                .iter()
                .filter(|entry| parse_glob(&entry.path).unwrap().compile_matcher().is_match(&path))
                .filter(|entry| entry.is_about(finding))
                .collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    }
}
