//! Detects renames: added files that are deleted files under another name.
//!
//! The steps are git's (`diffcore-rename.c`): equal content first, then files that kept their name in another
//! directory, then the most similar of the rest. That step compares every added file with every deleted one, so it is
//! skipped if more files remain than git's own limit allows. Unlike git, a last step pairs files of the caller's choice
//! by their name alone: such a file that moved and changed by more than half is the same file if no other file of that
//! name came or went. Other files, such as the configuration of a tool, often have a name that says nothing about their
//! content. libgit2's own search yields other results than git: `docs/PERFORMANCE.md`.
//!
//! Sizes are compared first: a file that is too small or too large for all others is not read. The last step keeps the
//! deleted files in memory, which come from the base; the added files, which the change controls, are read one by one.
//! Each side has a limit: once its pieces exceed [`MAX_PIECES`], the remaining files are not compared. A change that
//! adds so many files of matching sizes has its renames reported as additions, which are reviewed completely.

use super::rename_candidates::{
    CandidateContent, FindDiskPath, LocalContents, MAX_COMPARED_SIZE, MIN_SIMILARITY, RankedPair,
    RenameContents, RenamePair, RenameSource,
};
use super::similarity::{FULL_SIMILARITY, Pieces, max_similarity};
use super::{FileKind, Repository, tree_difference::TreeDifference};
use git2::Oid;
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::Hash;

/// Minimum similarity of a file that kept its name. If it is reached, other files are not considered.
const MIN_SAME_NAME_SIMILARITY: u64 = FULL_SIMILARITY / 4 * 3;
/// The square root of the maximum number of comparisons: git's `diff.renameLimit`.
const RENAME_LIMIT: usize = 1000;
/// Maximum number of deleted files that are compared as the best sources of one added file.
const MAX_SOURCES: usize = 4;

/// Maximum number of pieces of each side that are compared with each other; a piece needs 16 bytes.
const MAX_PIECES: usize = 8 * 1024 * 1024;

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
    let added_by_name = index_unique_names(&search, &search.added_indices);
    let deleted_by_name = index_unique_names(&search, &search.deleted_indices);
    search.pair_equal_contents();
    search.pair_by_unique_name(&contents);
    let pair_count = search
        .added_indices
        .len()
        .saturating_mul(search.deleted_indices.len());
    if pair_count <= RENAME_LIMIT * RENAME_LIMIT {
        search.pair_most_similar(&contents);
    }
    search.pair_by_name_alone(&added_by_name, &deleted_by_name, repository.is_document);
    search.renames
}

struct RenameSearch<'a> {
    differences: &'a [TreeDifference],
    added_indices: Vec<usize>,
    deleted_indices: Vec<usize>,
    renames: Vec<RenamePair>,
    max_pieces: usize,
}

impl<'a> RenameSearch<'a> {
    /// Creates the search for renames among the added and deleted files of these differences.
    fn new(differences: &'a [TreeDifference]) -> Self {
        let (mut added_indices, mut deleted_indices) = (Vec::new(), Vec::new());
        for (index, difference) in differences.iter().enumerate() {
            if difference.old.is_none() {
                added_indices.push(index);
            }
            if difference.new.is_none() {
                deleted_indices.push(index);
            }
        }
        Self {
            differences,
            added_indices,
            deleted_indices,
            renames: Vec::new(),
            max_pieces: MAX_PIECES,
        }
    }

    /// Returns the id of the file's content in head, or in base for a deleted file.
    fn content_id(&self, index: usize) -> Option<Oid> {
        let difference = &self.differences[index];
        difference.new.or(difference.old).map(|state| state.id)
    }

    /// Returns the kind of the file in head, or in base for a deleted file.
    fn file_kind(&self, index: usize) -> Option<FileKind> {
        let difference = &self.differences[index];
        difference.new.or(difference.old).map(|state| state.kind)
    }

    /// Returns whether the file is a regular one and `matches_path` accepts its path.
    fn is_matching_regular_file(&self, index: usize, matches_path: fn(&str) -> bool) -> bool {
        self.file_kind(index) == Some(FileKind::Regular) && matches_path(&self.differences[index].path)
    }

    fn folder(&self, index: usize) -> Option<&'a str> {
        let path = &self.differences[index].path;
        path.rsplit_once('/').map(|(folder, _)| folder)
    }

    fn file_name(&self, index: usize) -> &'a str {
        let path = &self.differences[index].path;
        path.rsplit_once('/').map_or(path, |(_, name)| name)
    }

    /// Pairs files with equal content. If several added files have the content of a deleted file, the one with the same
    /// name is the renamed file, then the one in the same folder, then the first one.
    fn pair_equal_contents(&mut self) {
        // Each preference is applied to all added files before the next one, so the best pairs are made first.
        self.pair_by_key(|search, index| (search.content_key(index), search.file_name(index)));
        self.pair_by_key(|search, index| (search.content_key(index), search.folder(index)));
        self.pair_by_key(Self::content_key);
    }

    /// Returns what two files with equal content have in common: the id and the kind.
    fn content_key(&self, index: usize) -> (Option<Oid>, Option<FileKind>) {
        (self.content_id(index), self.file_kind(index))
    }

    /// Pairs each added file with the first deleted file that has the same key and is not in a pair yet. Thousands of
    /// files may have one key (all empty files have the same content), so no list of them is searched.
    fn pair_by_key<K: Eq + Hash>(&mut self, find_key: impl Fn(&Self, usize) -> K) {
        let mut sources_by_key: HashMap<K, VecDeque<usize>> = HashMap::new();
        for index in &self.deleted_indices {
            let key = find_key(self, *index);
            sources_by_key.entry(key).or_default().push_back(*index);
        }
        let mut pairs = Vec::new();
        for index in &self.added_indices {
            let sources = sources_by_key.get_mut(&find_key(self, *index));
            pairs.extend(sources.and_then(VecDeque::pop_front).map(|source| RenamePair {
                added_index: *index,
                deleted_index: source,
            }));
        }
        self.add_renames(pairs);
    }

    /// Adds the pairs and removes their files from the search.
    fn add_renames(&mut self, pairs: Vec<RenamePair>) {
        let paired_indices: HashSet<usize> = pairs
            .iter()
            .flat_map(|pair| [pair.added_index, pair.deleted_index])
            .collect();
        self.added_indices.retain(|index| !paired_indices.contains(index));
        self.deleted_indices
            .retain(|index| !paired_indices.contains(index));
        self.renames.extend(pairs);
    }

    /// Returns the file's size; `None` if the file cannot be compared: too large, not a regular file, or unreadable.
    fn find_comparable_size(&self, contents: &dyn RenameContents, index: usize) -> Option<u64> {
        if self.file_kind(index) != Some(FileKind::Regular) {
            return None;
        }
        contents
            .find_size(self.differences.get(index)?)
            .filter(|size| *size <= MAX_COMPARED_SIZE)
    }

    /// Reads a file and cuts it into pieces; `None` if its content is not available locally.
    fn read_pieces(&self, contents: &dyn RenameContents, index: usize) -> Option<Pieces> {
        Some(Pieces::from_content(
            &contents.read_content(self.differences.get(index)?)?,
        ))
    }

    /// Pairs files whose name is unique among the added and among the deleted files, if their contents are similar.
    /// Only two files are in memory at a time, because this step has no limit on the number of files.
    fn pair_by_unique_name(&mut self, contents: &dyn RenameContents) {
        let deleted_by_name = index_unique_names(self, &self.deleted_indices);
        let mut pairs = Vec::new();
        for (name, target) in index_unique_names(self, &self.added_indices) {
            if let Some(source) = deleted_by_name.get(name)
                && let Some(similarity) = self.measure_similarity(contents, target, *source)
                && similarity >= MIN_SAME_NAME_SIMILARITY
            {
                pairs.push(RenamePair {
                    added_index: target,
                    deleted_index: *source,
                });
            }
        }
        self.add_renames(pairs);
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
                pairs.push(RenamePair {
                    added_index: *index,
                    deleted_index: *source,
                });
            }
        }
        self.add_renames(pairs);
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
            let similar_sources: Vec<_> = possible_sources
                .map(|source| (pieces.similarity(&source.pieces), source.content))
                .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
                .collect();
            for index in &content.file_indices {
                candidates.extend(self.rank_sources(*index, &similar_sources));
            }
        }
        candidates.sort_by_key(|candidate| {
            (
                candidate.rank(),
                candidate.pair.added_index,
                candidate.pair.deleted_index,
            )
        });
        candidates.into_iter().map(|candidate| candidate.pair).collect()
    }

    /// Pairs the added file `target` with its [`MAX_SOURCES`] most similar deleted files (sources), the same name
    /// first.
    fn rank_sources(&self, target: usize, similar_sources: &[(u64, &CandidateContent)]) -> Vec<RankedPair> {
        let mut candidates = Vec::new();
        for (similarity, content) in similar_sources {
            candidates.extend(content.file_indices.iter().map(|source| RankedPair {
                similarity: *similarity,
                has_same_name: self.file_name(target) == self.file_name(*source),
                pair: RenamePair {
                    added_index: target,
                    deleted_index: *source,
                },
            }));
        }
        candidates.sort_by_key(|candidate| (candidate.rank(), candidate.pair.deleted_index));
        candidates.truncate(MAX_SOURCES);
        candidates
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
                .entry(self.content_id(*index))
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

/// Returns the file names that occur only once among the differences with these `indices`, each with its index.
fn index_unique_names<'a>(search: &RenameSearch<'a>, indices: &[usize]) -> HashMap<&'a str, usize> {
    let mut unique_index_by_name: HashMap<&str, Option<usize>> = HashMap::new();
    for index in indices {
        unique_index_by_name
            .entry(search.file_name(*index))
            .and_modify(|unique_index| *unique_index = None)
            .or_insert(Some(*index));
    }
    unique_index_by_name
        .into_iter()
        .filter_map(|(name, unique_index)| Some((name, unique_index?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree_entries::FileState;
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
        search.pair_by_unique_name(&contents);
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
        let mut search = RenameSearch::new(&differences);
        search.pair_equal_contents();
        let pairs: Vec<(usize, usize)> = search
            .renames
            .iter()
            .map(|pair| (pair.added_index, pair.deleted_index))
            .collect();
        assert_eq!(pairs, [(0, 4), (2, 5), (1, 6)]);
        assert_eq!((search.added_indices, search.deleted_indices), (vec![3], vec![7]));
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
        let mut search = RenameSearch::new(&differences);
        search.pair_equal_contents();
        assert_eq!(search.renames.len(), count);
        assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
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
