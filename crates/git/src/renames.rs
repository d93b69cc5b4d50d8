//! Detects renames: added files that are deleted files under another name.
//!
//! The steps are git's (`diffcore-rename.c`): equal content first, then files that kept their name in another
//! directory, then the most similar of the rest. That step compares every added file with every deleted one; if more
//! files remain than git's own limit allows, only files of the same name are compared. Where git takes the first of
//! several equally good files, the path decides: a project may have a copy of one pipeline in each of many folders,
//! and a file that moved with its folder keeps the end of its path. Unlike git, a last step pairs files of the caller's
//! choice by their name alone: such a file that moved and changed by more than half is the same file if no other file
//! of that name came or went. Other files, such as the configuration of a tool, often have a name that says nothing about
//! their content. libgit2's own search yields other results than git: `docs/PERFORMANCE.md`.
//!
//! Sizes are compared first: a file that is too small or too large for all others is not read. The last step keeps the
//! deleted files in memory, which come from the base; the added files, which the change controls, are read one by one.
//! Each side has a limit: once its pieces exceed [`RenameSearch::max_pieces`], the remaining files are not compared. A
//! change that adds so many files of matching sizes has its renames reported as additions, which are reviewed
//! completely.

use super::equal_contents::pair_equal_contents;
use super::path_components::{CommonComponents, find_end};
use super::rename_candidates::{
    CandidateContent, FindDiskPath, LocalContents, MIN_SIMILARITY, RankedPair, RenameContents, RenamePair,
    RenameSource,
};
use super::rename_certainty::{mark_equal_candidates, mark_renames_with_twins};
use super::rename_search::RenameSearch;
use super::similarity::{FULL_SIMILARITY, Pieces, max_similarity};
use super::{Repository, tree_difference::TreeDifference};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Minimum similarity of a file that kept its name. If it is reached, other files are not considered.
const MIN_SAME_NAME_SIMILARITY: u64 = FULL_SIMILARITY / 4 * 3;
/// Maximum number of comparisons: the square of git's `diff.renameLimit`.
const MAX_PAIRS: usize = 1000 * 1000;

/// Returns the renames: pairs of equal files, then of similar files with the same unique name, then the most similar
/// pairs (unless there are too many), then documents with the same unique name. If the content of a file is not
/// available locally, only its id is compared.
pub(super) fn find_renames(
    repository: &Repository,
    differences: &[TreeDifference],
    find_disk_path: &FindDiskPath<'_>,
) -> Vec<RenamePair> {
    let mut search = RenameSearch::new(differences);
    if search.added_indices.is_empty() || search.deleted_indices.is_empty() {
        return Vec::new();
    }
    let contents = LocalContents {
        repository,
        find_disk_path,
    };
    let added_by_name = index_unique_ends(&search, &search.added_indices, 1);
    let deleted_by_name = index_unique_ends(&search, &search.deleted_indices, 1);
    search.pair_equal_contents();
    search.pair_by_unique_end(&contents);
    search.pair_by_similarity(&contents);
    search.pair_by_name_alone(&added_by_name, &deleted_by_name, repository.is_document);
    if search.count_possible_pairs() > MAX_PAIRS {
        repository.has_limited_renames.set(true);
    }
    mark_renames_with_twins(differences, &mut search.renames);
    search.renames
}

impl RenameSearch<'_> {
    /// Pairs files with equal content.
    fn pair_equal_contents(&mut self) {
        self.add_renames(pair_equal_contents(
            self.differences,
            &self.added_indices,
            &self.deleted_indices,
        ));
    }

    /// Pairs files whose name is unique among the added and among the deleted files, if their contents are similar.
    /// Before, the same applies to longer ends of their paths, such as the folder and the name. Only two files are in
    /// memory at a time, because this step has no limit on the number of files.
    fn pair_by_unique_end(&mut self, contents: &dyn RenameContents) {
        let mut compared_pairs = HashSet::new();
        for count in (1..=self.max_common_components()).rev() {
            let deleted_by_end = index_unique_ends(self, &self.deleted_indices, count);
            let mut pairs = Vec::new();
            for (end, target) in index_unique_ends(self, &self.added_indices, count) {
                if let Some(source) = deleted_by_end.get(end)
                    && compared_pairs.insert((target, *source))
                    && let Some(similarity) = self.measure_similarity(contents, target, *source)
                    && similarity >= MIN_SAME_NAME_SIMILARITY
                {
                    pairs.push(RenamePair::new(target, *source));
                }
            }
            self.add_renames(pairs);
        }
    }

    /// Returns the similarity of two files; `None` if one cannot be read or the sizes differ too much for a moved file.
    fn measure_similarity(&self, contents: &dyn RenameContents, target: usize, source: usize) -> Option<u64> {
        if max_similarity(
            self.find_comparable_size(contents, target)?,
            self.find_comparable_size(contents, source)?,
        ) < MIN_SAME_NAME_SIMILARITY
        {
            return None;
        }
        let source_pieces = self.read_pieces(contents, source)?;
        Some(self.read_pieces(contents, target)?.similarity(&source_pieces))
    }

    /// Pairs each remaining added file with the remaining deleted file of the same name, without comparing their
    /// contents. Both paths must match `is_paired_by_name`. The maps contain only the names of exactly one added or
    /// deleted file, counted before the first files were paired, because another file of this name would make the
    /// pair doubtful.
    fn pair_by_name_alone(
        &mut self,
        added_by_name: &HashMap<&str, usize>,
        deleted_by_name: &HashMap<&str, usize>,
        is_paired_by_name: fn(&str) -> bool,
    ) {
        let remaining_sources: HashSet<usize> = self
            .deleted_indices
            .iter()
            .copied()
            .filter(|index| self.is_matching_regular_file(*index, is_paired_by_name))
            .collect();
        let mut pairs = Vec::new();
        for index in &self.added_indices {
            let name = self.file_name(*index);
            if self.is_matching_regular_file(*index, is_paired_by_name)
                && added_by_name.get(name) == Some(index)
                && let Some(source) = deleted_by_name.get(name)
                && remaining_sources.contains(source)
            {
                pairs.push(RenamePair::new(*index, *source));
            }
        }
        self.add_renames(pairs);
    }

    /// Pairs the remaining deleted and added files by their contents. If there are too many, first compares files of the
    /// same name, as long as they are few enough, and then the others, if these are few enough.
    fn pair_by_similarity(&mut self, contents: &dyn RenameContents) {
        if self.count_possible_pairs() <= MAX_PAIRS {
            self.pair_most_similar(contents);
            return;
        }
        let mut groups_by_name: BTreeMap<&str, Self> = BTreeMap::new();
        for index in &self.added_indices {
            let group = groups_by_name.entry(self.file_name(*index));
            group
                .or_insert_with(|| self.without_files())
                .added_indices
                .push(*index);
        }
        for index in &self.deleted_indices {
            if let Some(group) = groups_by_name.get_mut(self.file_name(*index)) {
                group.deleted_indices.push(*index);
            }
        }
        let mut remaining_pair_count = MAX_PAIRS;
        let mut pairs = Vec::new();
        for mut group in groups_by_name.into_values() {
            if let Some(count) = remaining_pair_count.checked_sub(group.count_possible_pairs()) {
                remaining_pair_count = count;
                group.pair_most_similar(contents);
                pairs.extend(group.renames);
            }
        }
        self.add_renames(pairs);
        if self.count_possible_pairs() <= MAX_PAIRS {
            self.pair_most_similar(contents);
        }
    }

    /// Pairs the remaining deleted and added files, the most similar pairs first.
    fn pair_most_similar(&mut self, contents: &dyn RenameContents) {
        if self.added_indices.is_empty() || self.deleted_indices.is_empty() {
            return;
        }
        let mut paired_indices = HashSet::new();
        let mut pairs = Vec::new();
        for pair in self.rank_candidates(contents) {
            if !paired_indices.contains(&pair.added_index) && !paired_indices.contains(&pair.deleted_index) {
                paired_indices.extend([pair.added_index, pair.deleted_index]);
                pairs.push(pair);
            }
        }
        self.add_renames(pairs);
    }

    /// Returns pairs of an added and a similar deleted file, the best pairs first. Reads each side only until it has
    /// `max_pieces` pieces; files that do not fit are in no pair.
    fn rank_candidates(&self, contents: &dyn RenameContents) -> Vec<RenamePair> {
        let added_contents = self.group_by_content(contents, &self.added_indices);
        let deleted_contents = self.group_by_content(contents, &self.deleted_indices);
        let sources = self.read_rename_sources(contents, &deleted_contents, &added_contents);
        let mut candidates = Vec::new();
        let mut remaining_pieces = self.max_pieces;
        for content in &added_contents {
            let mut possible_sources = sources
                .iter()
                .filter(|source| source.content.can_be_renamed_to(content))
                .peekable();
            // Without a possible source, the content is not read.
            if possible_sources.peek().is_none() {
                continue;
            }
            let Some(pieces) = self.read_pieces_within(contents, content, &mut remaining_pieces) else {
                continue;
            };
            for source in possible_sources {
                let similarity = pieces.similarity(&source.pieces);
                if similarity >= MIN_SIMILARITY {
                    candidates.extend(self.list_pairs(content, source.content, similarity));
                }
            }
        }
        mark_equal_candidates(&mut candidates);
        candidates.sort_by_key(|candidate| {
            (
                candidate.rank(),
                candidate.pair.added_index,
                candidate.pair.deleted_index,
            )
        });
        candidates.into_iter().map(|candidate| candidate.pair).collect()
    }

    /// Returns the pair of each file of an added content and each file of a deleted content.
    fn list_pairs(
        &self,
        added_content: &CandidateContent,
        deleted_content: &CandidateContent,
        similarity: u64,
    ) -> Vec<RankedPair> {
        let mut pairs = Vec::new();
        for target in &added_content.file_indices {
            for source in &deleted_content.file_indices {
                pairs.push(RankedPair {
                    similarity,
                    common_components: CommonComponents::new(self.path(*target), self.path(*source)),
                    pair: RenamePair::new(*target, *source),
                });
            }
        }
        pairs
    }

    /// Groups the files that can be compared by content, in the order of `indices`, so that each content is read once.
    fn group_by_content(&self, contents: &dyn RenameContents, indices: &[usize]) -> Vec<CandidateContent> {
        let mut candidates: Vec<CandidateContent> = Vec::new();
        let mut position_by_id = HashMap::new();
        for index in indices {
            let Some(size) = self.find_comparable_size(contents, *index) else {
                continue;
            };
            let position = *position_by_id
                .entry(self.state(*index))
                .or_insert(candidates.len());
            match candidates.get_mut(position) {
                Some(candidate) => candidate.file_indices.push(*index),
                None => candidates.push(CandidateContent {
                    size,
                    file_indices: vec![*index],
                }),
            }
        }
        candidates
    }

    /// Reads the deleted files whose size fits an added file, until they have `max_pieces` pieces in memory in total.
    fn read_rename_sources<'f>(
        &self,
        contents: &dyn RenameContents,
        deleted_contents: &'f [CandidateContent],
        added_contents: &[CandidateContent],
    ) -> Vec<RenameSource<'f>> {
        let mut remaining_pieces = self.max_pieces;
        let mut sources = Vec::new();
        for content in deleted_contents {
            let is_candidate = added_contents
                .iter()
                .any(|target| content.can_be_renamed_to(target));
            if is_candidate
                && let Some(pieces) = self.read_pieces_within(contents, content, &mut remaining_pieces)
            {
                sources.push(RenameSource { content, pieces });
            }
        }
        sources
    }

    /// Returns the pieces of a file and subtracts their number from `remaining_pieces`; `None` if the file cannot be
    /// read. A file with more pieces than remain sets it to 0, so this and every later file give `None`.
    fn read_pieces_within(
        &self,
        contents: &dyn RenameContents,
        content: &CandidateContent,
        remaining_pieces: &mut usize,
    ) -> Option<Pieces> {
        if *remaining_pieces == 0 {
            return None;
        }
        let pieces = self.read_pieces(contents, *content.file_indices.first()?)?;
        let difference = remaining_pieces.checked_sub(pieces.piece_count());
        *remaining_pieces = difference.unwrap_or(0);
        difference.map(|_| pieces)
    }
}

/// Returns the ends with `count` components that only one path of the differences with these `indices` has, each with
/// its index. The last component is the file name.
fn index_unique_ends<'a>(
    search: &RenameSearch<'a>,
    indices: &[usize],
    count: usize,
) -> HashMap<&'a str, usize> {
    let mut unique_index_by_end: HashMap<&str, Option<usize>> = HashMap::new();
    for index in indices {
        if let Some(end) = find_end(search.path(*index), count) {
            unique_index_by_end
                .entry(end)
                .and_modify(|unique_index| *unique_index = None)
                .or_insert(Some(*index));
        }
    }
    unique_index_by_end
        .into_iter()
        .filter_map(|(end, unique_index)| Some((end, unique_index?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FileKind;
    use crate::tree_entries::FileState;
    use git2::Oid;
    use std::cell::RefCell;

    /// Contents by the first byte of their id; records which contents were read.
    struct FakeContents {
        contents: Vec<Vec<u8>>,
        read_indices: RefCell<Vec<usize>>,
    }

    impl FakeContents {
        fn new(contents: Vec<Vec<u8>>) -> Self {
            let read = RefCell::default();
            Self {
                contents,
                read_indices: read,
            }
        }
    }

    fn number(difference: &TreeDifference) -> usize {
        let side = difference.new.or(difference.old);
        side.map_or(0, |side| usize::from(side.id.as_bytes()[0]))
    }

    impl RenameContents for FakeContents {
        fn find_size(&self, difference: &TreeDifference) -> Option<u64> {
            Some(self.contents[number(difference)].len() as u64)
        }

        fn read_content(&self, difference: &TreeDifference) -> Option<Vec<u8>> {
            self.read_indices.borrow_mut().push(number(difference));
            Some(self.contents[number(difference)].clone())
        }
    }

    fn side(content: u8) -> FileState {
        let id = Oid::from_bytes(&[content; 20]).unwrap();
        let kind = FileKind::Regular;
        FileState { id, kind }
    }

    fn added(path: &str, content: u8) -> TreeDifference {
        TreeDifference {
            path: path.to_owned(),
            old: None,
            new: Some(side(content)),
        }
    }

    fn deleted(path: &str, content: u8) -> TreeDifference {
        TreeDifference {
            path: path.to_owned(),
            old: Some(side(content)),
            new: None,
        }
    }

    fn lines(count: usize, of: usize) -> Vec<u8> {
        (0..count).fold(Vec::new(), |all, line| {
            [all, format!("{of}.{line}\n").into_bytes()].concat()
        })
    }

    fn find_similar_renames(
        differences: &[TreeDifference],
        contents: Vec<Vec<u8>>,
    ) -> (Vec<(usize, usize)>, Vec<usize>) {
        let contents = FakeContents::new(contents);
        let mut search = RenameSearch::new(differences);
        search.pair_by_unique_end(&contents);
        search.pair_most_similar(&contents);
        let pairs = search
            .renames
            .iter()
            .map(|pair| (pair.added_index, pair.deleted_index));
        let mut read = contents.read_indices.into_inner();
        read.sort_unstable();
        (pairs.collect(), read)
    }

    #[test]
    fn content_of_several_files_is_read_once() {
        let differences = [
            added("a", 0),
            added("b", 0),
            added("c", 1),
            deleted("d", 2),
            deleted("e", 2),
        ];
        let like = [lines(20, 0), b"more\n".to_vec()].concat();
        let (pairs, read) = find_similar_renames(&differences, vec![lines(20, 0), lines(20, 1), like]);
        assert_eq!(pairs, [(0, 3), (1, 4)]);
        assert_eq!(read, [0, 1, 2]);
    }

    #[test]
    fn file_whose_size_rules_out_a_rename_is_not_read() {
        let differences = [
            added("x/kept", 0),
            added("small", 1),
            added("new", 2),
            deleted("y/kept", 3),
            deleted("large", 4),
        ];
        let sizes = [100, 20, 500, 70, 5000];
        let contents = sizes.iter().map(|size| lines(*size, 0)).collect();
        // The two files that kept their name are too different and are compared with the rest.
        let (pairs, read) = find_similar_renames(&differences, contents);
        assert_eq!(pairs, [(0, 3)]);
        assert_eq!(read, [0, 3]);
    }

    #[test]
    fn added_files_take_no_room_from_deleted_files() {
        let differences = [
            added("a", 0),
            added("b", 1),
            added("z", 2),
            deleted("d", 3),
            deleted("e", 4),
        ];
        let like = [lines(20, 3), b"more\n".to_vec()].concat();
        let contents = || {
            vec![
                lines(5000, 0),
                lines(100, 1),
                like.clone(),
                lines(20, 3),
                lines(90, 4),
            ]
        };
        let within = |most| {
            let made = FakeContents::new(contents());
            let search = RenameSearch {
                max_pieces: most,
                ..RenameSearch::new(&differences)
            };
            let candidates = search.rank_candidates(&made);
            let pairs: Vec<(usize, usize)> = candidates
                .iter()
                .map(|pair| (pair.added_index, pair.deleted_index))
                .collect();
            (pairs, made.read_indices.into_inner())
        };
        assert_eq!(within(121), (vec![(2, 3)], vec![3, 4, 1, 2]));
        assert_eq!(within(115), (vec![], vec![3, 4, 1, 2]), "z has no room beside b");
        assert_eq!(
            within(109),
            (vec![(2, 3)], vec![3, 4, 2]),
            "without e b fits nothing"
        );
        assert_eq!(within(19), (vec![], vec![3]));
    }
}
