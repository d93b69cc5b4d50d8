//! Decides which renames are certain: nothing else in the change explains the new file, or the old one, equally well.

use super::path_components::{CommonComponents, find_end};
use super::rename_candidates::{RankedPair, RenamePair};
use super::tree_difference::TreeDifference;
use super::tree_entries::FileState;
use std::collections::{BTreeSet, HashMap};

/// The content of a file and the end of its path.
type ContentPlace<'d> = (Option<FileState>, &'d str);

/// Marks the renames as uncertain whose old or new file has a twin: a file of the same content on the same side of the
/// change, whose path has at least as many components at its end in common with the path of the other side.
pub(super) fn mark_renames_with_twins(differences: &[TreeDifference], renames: &mut [RenamePair]) {
    let counts: BTreeSet<usize> = renames
        .iter()
        .map(|pair| count_common_end(differences, pair))
        .collect();
    let deleted_files = differences.iter().filter(|difference| difference.new.is_none());
    let added_files = differences.iter().filter(|difference| difference.old.is_none());
    let deleted_counts = count_places(deleted_files, &counts);
    let added_counts = count_places(added_files, &counts);
    for pair in renames {
        let count = count_common_end(differences, pair);
        let old_place = find_place(&differences[pair.deleted_index], count);
        let new_place = find_place(&differences[pair.added_index], count);
        let has_no_twin = old_place.and_then(|place| deleted_counts.get(&place)) == Some(&1)
            && new_place.and_then(|place| added_counts.get(&place)) == Some(&1);
        pair.is_certain = pair.is_certain && has_no_twin;
    }
}

/// Returns how many components at the end of both paths are equal.
fn count_common_end(differences: &[TreeDifference], pair: &RenamePair) -> usize {
    let [old_path, new_path] =
        [pair.deleted_index, pair.added_index].map(|index| differences[index].path.as_str());
    CommonComponents::new(old_path, new_path).end_count
}

/// Returns the content of the file and the last `count` components of its path; `None` if it has fewer.
fn find_place(difference: &TreeDifference, count: usize) -> Option<ContentPlace<'_>> {
    Some((difference.state(), find_end(&difference.path, count)?))
}

/// Counts the files of each content and each end of a path with one of these numbers of components.
fn count_places<'d>(
    files: impl Iterator<Item = &'d TreeDifference>,
    component_counts: &BTreeSet<usize>,
) -> HashMap<ContentPlace<'d>, usize> {
    let mut file_counts = HashMap::new();
    for file in files {
        let places = component_counts
            .iter()
            .filter_map(|count| find_place(file, *count));
        for place in places {
            *file_counts.entry(place).or_default() += 1;
        }
    }
    file_counts
}

/// Marks the candidates as uncertain that are not the only best ones of both of their files.
pub(super) fn mark_equal_candidates(candidates: &mut [RankedPair]) {
    // A file is either added or deleted, so no index has two meanings.
    let mut best_by_file: HashMap<usize, ((usize, u64), usize)> = HashMap::new();
    for candidate in &*candidates {
        let evidence = candidate.evidence();
        for index in [candidate.pair.added_index, candidate.pair.deleted_index] {
            let (best_evidence, count) = best_by_file.entry(index).or_insert((evidence, 0));
            if evidence > *best_evidence {
                (*best_evidence, *count) = (evidence, 0);
            }
            *count += usize::from(evidence == *best_evidence);
        }
    }
    for candidate in candidates {
        let only_best = Some(&(candidate.evidence(), 1));
        candidate.pair.is_certain = [candidate.pair.added_index, candidate.pair.deleted_index]
            .iter()
            .all(|index| best_by_file.get(index) == only_best);
    }
}
