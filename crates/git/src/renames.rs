//! Detects renames: added files that are deleted files under another name.
//!
//! The steps are git's (`diffcore-rename.c`): equal content first, then files that kept their name in another
//! directory, then the most similar of the rest. That step compares every added file with every deleted one, so it
//! is skipped if more files remain than git's own limit allows. Unlike git, a last step pairs files of the caller's choice
//! by their name alone: such a file that moved and changed by more than half is the same file if no other file of that
//! name came or went. Other files, such as the configuration of a tool, often have a name that says nothing about their
//! content.
//! libgit2's own search yields other results than git: `docs/PERFORMANCE.md`.
//!
//! Sizes are compared first: a file that is too small or too large for all others is not read. The last step keeps the
//! deleted files in memory, which come from the base; the added files, which the change controls, are read one by one.
//! Each side has a limit: once its pieces exceed [`MOST_PIECES`], the remaining files are not compared. A change that
//! adds so many files of matching sizes has its renames reported as additions, which are reviewed completely.

use super::disk::{read_on_disk, regular_on_disk};
use super::similarity::{Pieces, WHOLE, at_most};
use super::{BlobId, FileKind, Repository, tree::TreeDifference};
use git2::Oid;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// Minimum similarity of a rename: git's default.
const SIMILAR: u64 = WHOLE / 2;
/// Minimum similarity of a file that kept its name. If it is reached, other files are not considered.
const SAME_NAME: u64 = WHOLE / 4 * 3;
/// The square root of the maximum number of comparisons: git's `diff.renameLimit`.
const LIMIT: usize = 1000;
/// Maximum size in bytes of a file that is compared by similarity; a larger one is a rename only if its content is
/// equal.
const COMPARED_SIZE: u64 = 4 * 1024 * 1024;

/// Maximum number of pieces of each side that are compared with each other; a piece needs 16 bytes.
const MOST_PIECES: usize = 8 * 1024 * 1024;

/// The indices of the two differences that form a rename.
pub(super) struct RenamePair {
    pub added: usize,
    pub deleted: usize,
}

/// Returns the path of a new file that is on disk and may not be stored elsewhere.
pub(super) type DiskFile<'r> = dyn Fn(&str) -> Option<PathBuf> + 'r;

/// Returns the renames among the differences. A file whose content is not available locally is compared by its id
/// only.
pub(super) fn pairs(
    repository: &Repository,
    differences: &[TreeDifference],
    on_disk: &DiskFile<'_>,
) -> Vec<RenamePair> {
    let mut search = RenameSearch::new(differences);
    if search.added.is_empty() || search.deleted.is_empty() {
        return Vec::new();
    }
    let local = Local { repository, on_disk };
    let (added, deleted) = (
        unique_names(&search, &search.added),
        unique_names(&search, &search.deleted),
    );
    search.equal_content();
    search.same_name(&local);
    if search.added.len().saturating_mul(search.deleted.len()) <= LIMIT * LIMIT {
        search.most_similar(&local);
    }
    search.only_of_name(&added, &deleted, repository.paired_by_name);
    search.pairs
}

/// Access to the content of a difference, if it is available locally.
trait RenameContents {
    fn size(&self, difference: &TreeDifference) -> Option<u64>;
    fn read(&self, difference: &TreeDifference) -> Option<Vec<u8>>;
}

struct Local<'r> {
    repository: &'r Repository,
    on_disk: &'r DiskFile<'r>,
}

impl Local<'_> {
    fn place(&self, difference: &TreeDifference) -> Option<PathBuf> {
        difference.new.and_then(|_| (self.on_disk)(&difference.path))
    }
}

impl RenameContents for Local<'_> {
    fn size(&self, difference: &TreeDifference) -> Option<u64> {
        let side = difference.new.or(difference.old)?;
        let stored = self.repository.local_size(&BlobId::new(side.id));
        let on_disk = || Some(regular_on_disk(&self.place(difference)?).ok()?.len());
        stored.or_else(on_disk)
    }

    fn read(&self, difference: &TreeDifference) -> Option<Vec<u8>> {
        let side = difference.new.or(difference.old)?;
        let stored = self.repository.read_local(&BlobId::new(side.id));
        stored.or_else(|| read_on_disk(&self.place(difference)?, COMPARED_SIZE).ok()?)
    }
}

struct RenameSearch<'a> {
    differences: &'a [TreeDifference],
    added: Vec<usize>,
    deleted: Vec<usize>,
    pairs: Vec<RenamePair>,
    most: usize,
}

impl<'a> RenameSearch<'a> {
    fn new(differences: &'a [TreeDifference]) -> Self {
        let indices = |wanted: fn(&TreeDifference) -> bool| {
            (0..differences.len())
                .filter(|index| wanted(&differences[*index]))
                .collect()
        };
        Self {
            differences,
            added: indices(|difference| difference.old.is_none()),
            deleted: indices(|difference| difference.new.is_none()),
            pairs: Vec::new(),
            most: MOST_PIECES,
        }
    }

    fn id(&self, index: usize) -> Option<Oid> {
        let difference = &self.differences[index];
        difference.new.or(difference.old).map(|side| side.id)
    }

    fn kind(&self, index: usize) -> Option<FileKind> {
        let difference = &self.differences[index];
        difference.new.or(difference.old).map(|side| side.kind)
    }

    fn folder(&self, index: usize) -> Option<&'a str> {
        let path = &self.differences[index].path;
        path.rsplit_once('/').map(|(folder, _)| folder)
    }

    fn name(&self, index: usize) -> &'a str {
        let path = &self.differences[index].path;
        path.rsplit_once('/').map_or(path, |(_, name)| name)
    }

    fn equal_content(&mut self) {
        let mut by_content: HashMap<_, Vec<usize>> = HashMap::new();
        for index in &self.deleted {
            by_content
                .entry((self.id(*index), self.kind(*index)))
                .or_default()
                .push(*index);
        }
        let mut found: Vec<(usize, usize)> = Vec::new();
        let mut taken = HashSet::new();
        // Several added files may have the content. The one with the same name is the renamed file, otherwise the one in
        // the same folder.
        let fits: [&dyn Fn(usize, usize) -> bool; 3] = [
            &|added, source| self.name(source) == self.name(added),
            &|added, source| self.folder(source) == self.folder(added),
            &|_, _| true,
        ];
        for fits in fits {
            for added in &self.added {
                let Some(sources) = by_content.get_mut(&(self.id(*added), self.kind(*added))) else {
                    continue;
                };
                let source = sources.iter().position(|source| fits(*added, *source));
                if let Some(source) = source.filter(|_| !taken.contains(added)) {
                    taken.insert(*added);
                    found.push((*added, sources.remove(source)));
                }
            }
        }
        self.take_all(&found);
    }

    fn take_all(&mut self, found: &[(usize, usize)]) {
        let taken: HashSet<usize> = found.iter().flat_map(|(one, other)| [*one, *other]).collect();
        self.added.retain(|index| !taken.contains(index));
        self.deleted.retain(|index| !taken.contains(index));
        self.pairs.extend(found.iter().map(|(added, deleted)| RenamePair {
            added: *added,
            deleted: *deleted,
        }));
    }

    /// Returns the size of a file that can be compared: a regular file that is not too large.
    fn size(&self, contents: &dyn RenameContents, index: usize) -> Option<u64> {
        let regular = self.kind(index) == Some(FileKind::Regular);
        let difference = self.differences.get(index).filter(|_| regular)?;
        contents.size(difference).filter(|size| *size <= COMPARED_SIZE)
    }

    fn pieces(&self, contents: &dyn RenameContents, index: usize) -> Option<Pieces> {
        Some(Pieces::of(&contents.read(self.differences.get(index)?)?))
    }

    /// Pairs files whose name is unique among the added and among the deleted files. Only two files are in memory
    /// at a time, because there may be more files than the limit for comparisons.
    fn same_name(&mut self, contents: &dyn RenameContents) {
        let deleted = unique_names(self, &self.deleted);
        let mut found = Vec::new();
        for (name, added) in unique_names(self, &self.added) {
            let source = deleted.get(name).filter(|source| {
                let similarity = self.similarity(contents, added, **source);
                similarity.is_some_and(|similarity| similarity >= SAME_NAME)
            });
            found.extend(source.map(|source| (added, *source)));
        }
        self.take_all(&found);
    }

    /// Returns the similarity of two files, or `None` if their sizes differ too much for a file that kept its name.
    fn similarity(&self, contents: &dyn RenameContents, one: usize, other: usize) -> Option<u64> {
        if at_most(self.size(contents, one)?, self.size(contents, other)?) < SAME_NAME {
            return None;
        }
        let other = self.pieces(contents, other)?;
        Some(self.pieces(contents, one)?.similarity(&other))
    }

    /// Pairs the remaining files whose name only one added and only one deleted file has.
    fn only_of_name(
        &mut self,
        added: &HashMap<&str, usize>,
        deleted: &HashMap<&str, usize>,
        is_paired: fn(&str) -> bool,
    ) {
        let is_regular = |index: &usize| {
            self.kind(*index) == Some(FileKind::Regular) && is_paired(&self.differences[*index].path)
        };
        let remaining: HashSet<usize> = self.deleted.iter().copied().filter(is_regular).collect();
        let files = self.added.iter().filter(|index| is_regular(index));
        let found: Vec<(usize, usize)> = files
            .filter_map(|index| {
                let name = self.name(*index);
                let is_only = added.get(name) == Some(index);
                let source = deleted
                    .get(name)
                    .filter(|source| is_only && remaining.contains(source));
                Some((*index, *source?))
            })
            .collect();
        self.take_all(&found);
    }

    fn most_similar(&mut self, contents: &dyn RenameContents) {
        if self.added.is_empty() || self.deleted.is_empty() {
            return;
        }
        let (mut taken, mut found) = (HashSet::new(), Vec::new());
        for (added, deleted) in self.candidates(contents) {
            if !taken.contains(&added) && !taken.contains(&deleted) {
                taken.extend([added, deleted]);
                found.push((added, deleted));
            }
        }
        self.take_all(&found);
    }

    /// Returns the four best sources of each added file, the best pairs first.
    fn candidates(&self, contents: &dyn RenameContents) -> Vec<(usize, usize)> {
        let added = self.by_content(contents, &self.added);
        let deleted = self.by_content(contents, &self.deleted);
        let sources = self.sources(contents, &deleted, &added);
        let (mut candidates, mut left) = (Vec::new(), self.most);
        for file in &added {
            let mut fitting = sources.iter().filter(|source| source.file.fits(file)).peekable();
            if fitting.peek().is_none() {
                continue;
            }
            let Some(pieces) = self.pieces_within(contents, file, &mut left) else {
                continue;
            };
            let scored: Vec<_> = fitting
                .map(|source| (pieces.similarity(&source.pieces), source.file))
                .filter(|(score, _)| *score >= SIMILAR)
                .collect();
            for index in &file.names {
                candidates.extend(self.best(*index, &scored));
            }
        }
        candidates.sort_by_key(|(score, same_name, added, deleted)| {
            (std::cmp::Reverse((*score, *same_name)), *added, *deleted)
        });
        candidates
            .into_iter()
            .map(|(_, _, added, deleted)| (added, deleted))
            .collect()
    }

    fn best(&self, added: usize, scored: &[(u64, &CandidateFile)]) -> Vec<(u64, bool, usize, usize)> {
        let each = scored.iter().flat_map(|(score, file)| {
            let names = file.names.iter();
            names.map(|deleted| (*score, self.name(added) == self.name(*deleted), added, *deleted))
        });
        let mut best: Vec<_> = each.collect();
        best.sort_by_key(|(score, same_name, _, deleted)| {
            (std::cmp::Reverse((*score, *same_name)), *deleted)
        });
        best.truncate(4);
        best
    }

    /// Returns the files that can be compared, in the given order, each content once.
    fn by_content(&self, contents: &dyn RenameContents, indices: &[usize]) -> Vec<CandidateFile> {
        let (mut files, mut places): (Vec<CandidateFile>, _) = (Vec::new(), HashMap::new());
        for index in indices {
            let Some(size) = self.size(contents, *index) else {
                continue;
            };
            let place = *places.entry(self.id(*index)).or_insert(files.len());
            match files.get_mut(place) {
                Some(file) => file.names.push(*index),
                None => files.push(CandidateFile {
                    size,
                    names: vec![*index],
                }),
            }
        }
        files
    }

    /// Returns the deleted files whose size fits an added file.
    fn sources<'f>(
        &self,
        contents: &dyn RenameContents,
        deleted: &'f [CandidateFile],
        added: &[CandidateFile],
    ) -> Vec<RenameSource<'f>> {
        let mut left = self.most;
        let fitting = deleted
            .iter()
            .filter(|file| added.iter().any(|other| file.fits(other)));
        let held = fitting.filter_map(|file| {
            let pieces = self.pieces_within(contents, file, &mut left)?;
            Some(RenameSource { file, pieces })
        });
        held.collect()
    }

    /// Returns the pieces of a file, or `None` if the limit is exceeded; after that, it returns `None` for every
    /// file.
    fn pieces_within(
        &self,
        contents: &dyn RenameContents,
        file: &CandidateFile,
        left: &mut usize,
    ) -> Option<Pieces> {
        let first = file.names.first().filter(|_| *left > 0)?;
        let pieces = self.pieces(contents, *first)?;
        let rest = left.checked_sub(pieces.count());
        *left = rest.unwrap_or(0);
        rest.map(|_| pieces)
    }
}

/// A content, with the indices of the files that have it.
struct CandidateFile {
    size: u64,
    names: Vec<usize>,
}

impl CandidateFile {
    /// Returns whether the sizes allow one file to be a rename of the other.
    fn fits(&self, other: &Self) -> bool {
        at_most(self.size, other.size) >= SIMILAR
    }
}

struct RenameSource<'f> {
    file: &'f CandidateFile,
    pieces: Pieces,
}

fn unique_names<'a>(search: &RenameSearch<'a>, indices: &[usize]) -> HashMap<&'a str, usize> {
    let mut seen: HashMap<&str, Option<usize>> = HashMap::new();
    for index in indices {
        seen.entry(search.name(*index))
            .and_modify(|unique| *unique = None)
            .or_insert(Some(*index));
    }
    seen.into_iter()
        .filter_map(|(name, index)| Some((name, index?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entries::EntrySide;
    use std::cell::RefCell;

    /// Contents by the first byte of their id; records which contents were read.
    struct Made {
        contents: Vec<Vec<u8>>,
        read: RefCell<Vec<usize>>,
    }

    impl Made {
        fn new(contents: Vec<Vec<u8>>) -> Self {
            let read = RefCell::default();
            Self { contents, read }
        }
    }

    fn number(difference: &TreeDifference) -> usize {
        let side = difference.new.or(difference.old);
        side.map_or(0, |side| usize::from(side.id.as_bytes()[0]))
    }

    impl RenameContents for Made {
        fn size(&self, difference: &TreeDifference) -> Option<u64> {
            Some(self.contents[number(difference)].len() as u64)
        }

        fn read(&self, difference: &TreeDifference) -> Option<Vec<u8>> {
            self.read.borrow_mut().push(number(difference));
            Some(self.contents[number(difference)].clone())
        }
    }

    fn side(content: u8) -> EntrySide {
        let id = Oid::from_bytes(&[content; 20]).unwrap();
        let kind = FileKind::Regular;
        EntrySide { id, kind }
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

    fn found(differences: &[TreeDifference], contents: Vec<Vec<u8>>) -> (Vec<(usize, usize)>, Vec<usize>) {
        let made = Made::new(contents);
        let mut search = RenameSearch::new(differences);
        search.same_name(&made);
        search.most_similar(&made);
        let pairs = search.pairs.iter().map(|pair| (pair.added, pair.deleted));
        let mut read = made.read.into_inner();
        read.sort_unstable();
        (pairs.collect(), read)
    }

    #[test]
    fn content_of_many_names_is_read_once() {
        let differences = [
            added("a", 0),
            added("b", 0),
            added("c", 1),
            deleted("d", 2),
            deleted("e", 2),
        ];
        let like = [lines(20, 0), b"more\n".to_vec()].concat();
        let (pairs, read) = found(&differences, vec![lines(20, 0), lines(20, 1), like]);
        assert_eq!(pairs, [(0, 3), (1, 4)]);
        assert_eq!(read, [0, 1, 2]);
    }

    #[test]
    fn rename_candidate_of_impossible_size_is_not_read() {
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
        let (pairs, read) = found(&differences, contents);
        assert_eq!(pairs, [(0, 3)]);
        assert_eq!(read, [0, 3]);
    }

    #[test]
    fn added_files_take_no_room_from_rename_sources() {
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
            let made = Made::new(contents());
            let search = RenameSearch {
                most,
                ..RenameSearch::new(&differences)
            };
            (search.candidates(&made), made.read.into_inner())
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
