//! Pairs added and deleted files with equal content.

use super::path_components::{count_components, find_end, find_start};
use super::rename_candidates::RenamePair;
use super::tree_difference::TreeDifference;
use super::tree_entries::FileState;
use std::collections::{HashMap, HashSet, VecDeque};

/// The added and the deleted files that are not in a pair yet, as indices of the differences.
struct EqualFiles<'d> {
    differences: &'d [TreeDifference],
    added_indices: Vec<usize>,
    deleted_indices: Vec<usize>,
}

/// Returns the pairs of files with equal content and kind. If several deleted files have the content of an added file,
/// the one whose path has the longest end in common is the renamed file, then the one in the same folder, then the one
/// whose folder has the longest start in common, then the first one.
pub(super) fn pair_equal_contents(
    differences: &[TreeDifference],
    added_indices: &[usize],
    deleted_indices: &[usize],
) -> Vec<RenamePair> {
    let mut files = EqualFiles {
        differences,
        added_indices: select_files_with_equal_content(differences, added_indices, deleted_indices),
        deleted_indices: select_files_with_equal_content(differences, deleted_indices, added_indices),
    };
    if files.added_indices.is_empty() || files.deleted_indices.is_empty() {
        return Vec::new();
    }
    let max_count = find_max_component_count(differences, &files.added_indices)
        .min(find_max_component_count(differences, &files.deleted_indices));
    let mut pairs = Vec::new();
    // Each preference is applied to all added files before the next one, so the best pairs are made first.
    for end_count in (0..=max_count).rev() {
        for start_count in (0..=max_count).rev() {
            pairs.extend(files.pair_by_components(end_count, start_count));
        }
    }
    pairs
}

/// Returns those of the files whose content is also the content of another side's file.
fn select_files_with_equal_content(
    differences: &[TreeDifference],
    indices: &[usize],
    other_indices: &[usize],
) -> Vec<usize> {
    let other_states: HashSet<Option<FileState>> = other_indices
        .iter()
        .map(|index| differences[*index].state())
        .collect();
    let mut selected_indices = indices.to_vec();
    selected_indices.retain(|index| other_states.contains(&differences[*index].state()));
    selected_indices
}

/// Returns the number of components of the longest path.
pub(super) fn find_max_component_count(differences: &[TreeDifference], indices: &[usize]) -> usize {
    let counts = indices
        .iter()
        .map(|index| count_components(&differences[*index].path));
    counts.max().unwrap_or(0)
}

impl EqualFiles<'_> {
    /// Pairs each added file with the first deleted file of the same content, whose path has at least these numbers of
    /// components at its end and at its start in common. Thousands of files may have one content (all empty files have
    /// the same), so no list of them is searched.
    fn pair_by_components(&mut self, end_count: usize, start_count: usize) -> Vec<RenamePair> {
        let differences = self.differences;
        let find_key = |index: usize| find_content_key(&differences[index], end_count, start_count);
        let mut sources_by_key: HashMap<_, VecDeque<usize>> = HashMap::new();
        for index in &self.deleted_indices {
            if let Some(key) = find_key(*index) {
                sources_by_key.entry(key).or_default().push_back(*index);
            }
        }
        let mut pairs = Vec::new();
        let mut paired_sources = HashSet::new();
        self.added_indices.retain(|index| {
            let sources = find_key(*index).and_then(|key| sources_by_key.get_mut(&key));
            let source = sources.and_then(VecDeque::pop_front);
            pairs.extend(source.map(|source| RenamePair::new(*index, source)));
            paired_sources.extend(source);
            source.is_none()
        });
        self.deleted_indices
            .retain(|index| !paired_sources.contains(index));
        pairs
    }
}

/// Returns the content of the file with these numbers of components at the end and at the start of its path; `None` if
/// the path has fewer.
fn find_content_key(
    difference: &TreeDifference,
    end_count: usize,
    start_count: usize,
) -> Option<(Option<FileState>, &str, (&str, bool))> {
    let end = find_end(&difference.path, end_count)?;
    Some((
        difference.state(),
        end,
        find_start(&difference.path, start_count)?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileKind;
    use git2::Oid;

    fn find_pairs(differences: &[TreeDifference]) -> Vec<(usize, usize)> {
        let is_added = |index: &usize| differences[*index].old.is_none();
        let (added_indices, deleted_indices): (Vec<usize>, Vec<usize>) =
            (0..differences.len()).partition(is_added);
        pair_equal_contents(differences, &added_indices, &deleted_indices)
            .into_iter()
            .map(|pair| (pair.added_index, pair.deleted_index))
            .collect()
    }

    fn state(content: u8) -> FileState {
        FileState {
            id: Oid::from_bytes(&[content; 20]).unwrap(),
            kind: FileKind::Regular,
        }
    }

    fn added(path: &str, content: u8) -> TreeDifference {
        TreeDifference {
            path: path.to_owned(),
            old: None,
            new: Some(state(content)),
        }
    }

    fn deleted(path: &str, content: u8) -> TreeDifference {
        TreeDifference {
            path: path.to_owned(),
            old: Some(state(content)),
            new: None,
        }
    }

    #[test]
    fn best_pairs_of_equal_files_are_those_with_same_name_then_same_folder() {
        let differences = [
            added("new/a", 0),
            added("new/b", 0),
            added("old/c", 0),
            added("old/other", 1),
            deleted("old/a", 0),
            deleted("old/d", 0),
            deleted("old/e", 0),
            deleted("old/f", 0),
        ];
        assert_eq!(find_pairs(&differences), [(0, 4), (2, 5), (1, 6)]);
    }

    #[test]
    fn equal_files_that_moved_with_their_folders_keep_them() {
        let differences = [
            added("customers/bolt/load", 0),
            added("customers/core/load", 0),
            added("q/load", 0),
            deleted("acme/load", 0),
            deleted("bolt/load", 0),
            deleted("core/load", 0),
            deleted("q/sub/load", 0),
        ];
        assert_eq!(find_pairs(&differences), [(0, 4), (1, 5), (2, 6)]);
    }

    #[test]
    fn time_for_many_equal_files_does_not_grow_with_their_square() {
        let start = std::time::Instant::now();
        let count = 30_000;
        let mut differences = Vec::new();
        for at in 0..count {
            differences.push(added(&format!("new/n{at}"), 0));
            differences.push(deleted(&format!("old/o{at}"), 0));
        }
        assert_eq!(find_pairs(&differences).len(), count);
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
    }
}
