//! Finds out which added file is a deleted one under another name.
//!
//! The steps are git's (`diffcore-rename.c`): equal content first, then files that kept their name in another folder,
//! then the most similar of the rest. The last step compares every added file with every deleted one, so it is left
//! out where what the steps before it left is beyond git's own limit; and files whose pieces would be more than is held of
//! those before them are not compared in it. libgit2's own search gives other answers than
//! git: `docs/PERFORMANCE.md`.

use super::similarity::{Pieces, WHOLE};
use super::{BlobId, FileKind, Repository, tree::Difference};
use git2::Oid;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Least similarity of a rename: git's default.
const SIMILAR: u64 = WHOLE / 2;
/// Least similarity of a file that kept its name: the others are not looked at then.
const SAME_NAME: u64 = WHOLE / 4 * 3;
/// The square root of the most comparisons: git's `diff.renameLimit`.
const LIMIT: usize = 1000;
/// Larger files are renames only with equal content, in bytes.
const COMPARED_SIZE: u64 = 4 * 1024 * 1024;

/// The most pieces that are held at a time, of 16 bytes each.
const HELD: usize = 8 * 1024 * 1024;

/// Indices of the two differences that are one rename.
pub(super) struct Pair {
    pub added: usize,
    pub deleted: usize,
}

/// Reads a new file of at most so many bytes that is on disk, and perhaps nowhere else.
pub(super) type OnDisk<'r> = dyn Fn(&str, u64) -> Option<Vec<u8>> + 'r;

/// The renames among the differences. A file whose content cannot be read on this machine is compared by its id alone.
pub(super) fn pairs(repository: &Repository, differences: &[Difference], on_disk: &OnDisk<'_>) -> Vec<Pair> {
    let content = |difference: &Difference| {
        let side = difference.new.or(difference.old)?;
        let stored = repository.read_local(&BlobId::new(side.id), COMPARED_SIZE);
        stored.or_else(|| {
            difference
                .new
                .and_then(|_| on_disk(&difference.path, COMPARED_SIZE))
        })
    };
    let mut search = Search::new(differences);
    if search.added.is_empty() || search.deleted.is_empty() {
        return Vec::new();
    }
    search.equal_content();
    search.same_name(&content);
    if search.added.len().saturating_mul(search.deleted.len()) <= LIMIT * LIMIT {
        search.most_similar(&content);
    }
    search.pairs
}

/// The content of the side that a difference has.
type Read<'r> = dyn Fn(&Difference) -> Option<Vec<u8>> + 'r;

struct Search<'a> {
    differences: &'a [Difference],
    added: Vec<usize>,
    deleted: Vec<usize>,
    pairs: Vec<Pair>,
}

impl<'a> Search<'a> {
    fn new(differences: &'a [Difference]) -> Self {
        let indices = |wanted: fn(&Difference) -> bool| {
            (0..differences.len())
                .filter(|index| wanted(&differences[*index]))
                .collect()
        };
        Self {
            differences,
            added: indices(|difference| difference.old.is_none()),
            deleted: indices(|difference| difference.new.is_none()),
            pairs: Vec::new(),
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
        let mut found = Vec::new();
        for added in &self.added {
            let Some(sources) = by_content.get_mut(&(self.id(*added), self.kind(*added))) else {
                continue;
            };
            let same_name = sources
                .iter()
                .position(|source| self.name(*source) == self.name(*added));
            if !sources.is_empty() {
                found.push((*added, sources.remove(same_name.unwrap_or(0))));
            }
        }
        self.take_all(&found);
    }

    fn take_all(&mut self, found: &[(usize, usize)]) {
        let taken: HashSet<usize> = found.iter().flat_map(|(one, other)| [*one, *other]).collect();
        self.added.retain(|index| !taken.contains(index));
        self.deleted.retain(|index| !taken.contains(index));
        self.pairs.extend(found.iter().map(|(added, deleted)| Pair {
            added: *added,
            deleted: *deleted,
        }));
    }

    /// Pairs files whose name is unique among the added and among the deleted. Two are held at a time, as there may be
    /// more of them than the limit lets compare.
    fn same_name(&mut self, content: &Read<'_>) {
        let deleted = unique_names(self, &self.deleted);
        let mut found = Vec::new();
        for (name, added) in unique_names(self, &self.added) {
            let source = deleted.get(name).filter(|source| {
                let contents = Contents::read(content, self, &[added, **source]);
                contents.similarity(added, **source, SAME_NAME).is_some()
            });
            found.extend(source.map(|source| (added, *source)));
        }
        self.take_all(&found);
    }

    fn most_similar(&mut self, content: &Read<'_>) {
        if self.added.is_empty() || self.deleted.is_empty() {
            return;
        }
        let indices: Vec<usize> = self.added.iter().chain(&self.deleted).copied().collect();
        let contents = Contents::read(content, self, &indices);
        let (mut taken, mut found) = (HashSet::new(), Vec::new());
        for (added, deleted) in self.candidates(&contents) {
            if !taken.contains(&added) && !taken.contains(&deleted) {
                taken.extend([added, deleted]);
                found.push((added, deleted));
            }
        }
        self.take_all(&found);
    }

    /// The four best sources of each added file, the best pairs first.
    fn candidates(&self, contents: &Contents) -> Vec<(usize, usize)> {
        let mut candidates = Vec::new();
        for added in &self.added {
            // Many names may have one content.
            let mut known = HashMap::new();
            let scored = self.deleted.iter().filter_map(|deleted| {
                let score = known.entry(self.id(*deleted));
                let score = *score.or_insert_with(|| contents.similarity(*added, *deleted, SIMILAR));
                let score = score?;
                Some((score, self.name(*added) == self.name(*deleted), *added, *deleted))
            });
            let mut best: Vec<_> = scored.collect();
            best.sort_by_key(|(score, same_name, _, deleted)| {
                (std::cmp::Reverse((*score, *same_name)), *deleted)
            });
            best.truncate(4);
            candidates.extend(best);
        }
        candidates.sort_by_key(|(score, same_name, added, deleted)| {
            (std::cmp::Reverse((*score, *same_name)), *added, *deleted)
        });
        candidates
            .into_iter()
            .map(|(_, _, added, deleted)| (added, deleted))
            .collect()
    }
}

fn unique_names<'a>(search: &Search<'a>, indices: &[usize]) -> HashMap<&'a str, usize> {
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

/// The contents of the files that are compared, cut up, each once however many names it has. Only regular files are.
struct Contents(HashMap<usize, Rc<Pieces>>);

impl Contents {
    fn read(content: &Read<'_>, search: &Search<'_>, indices: &[usize]) -> Self {
        Self::held(content, search, indices, HELD)
    }

    /// Those that come first, as far as they are at most so many pieces together.
    fn held(content: &Read<'_>, search: &Search<'_>, indices: &[usize], most: usize) -> Self {
        let (mut by_content, mut by_index, mut left) = (HashMap::new(), HashMap::new(), most);
        let regular = |index: &&usize| search.kind(**index) == Some(FileKind::Regular);
        for index in indices.iter().filter(regular) {
            let id = search.id(*index);
            let pieces = by_content.entry(id).or_insert_with(|| {
                let difference = search.differences.get(*index).filter(|_| left > 0)?;
                let pieces = Pieces::of(&content(difference)?);
                let rest = left.checked_sub(pieces.count());
                left = rest.unwrap_or(0);
                rest.map(|_| Rc::new(pieces))
            });
            by_index.extend(pieces.clone().map(|pieces| (*index, pieces)));
        }
        Self(by_index)
    }

    /// The similarity of two files if it is at least `least`.
    fn similarity(&self, one: usize, other: usize, least: u64) -> Option<u64> {
        let (one, other) = (self.0.get(&one)?, self.0.get(&other)?);
        if one.too_different_in_size(other) {
            return None;
        }
        Some(one.similarity(other)).filter(|similarity| *similarity >= least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::entries::Side;
    use std::cell::Cell;

    #[test]
    fn a_content_of_many_names_is_read_once_and_what_is_held_is_bounded() {
        let side = |content: u8| {
            let id = Oid::from_bytes(&[content; 20]).unwrap();
            let kind = FileKind::Regular;
            Some(Side { id, kind })
        };
        let added = |content: u8| Difference {
            path: format!("a{content}"),
            old: None,
            new: side(content),
        };
        let differences = [added(1), added(1), added(1), added(2), added(3)];
        let reads = Cell::new(0);
        let content = |_: &Difference| {
            reads.set(reads.get() + 1);
            Some(b"one\ntwo\nsix\n".to_vec())
        };
        let held = |most| {
            reads.set(0);
            let search = Search::new(&differences);
            let contents = Contents::held(&content, &search, &[0, 1, 2, 3, 4], most);
            (contents.0.len(), reads.get())
        };
        assert_eq!(held(HELD), (5, 3));
        assert_eq!(held(6), (4, 2));
        assert_eq!(held(5), (3, 2));
    }
}
