//! What changed between two commits.

use super::renames::{self, DiskFile};
use super::{FileKind, Repository, tree::TreeDifference};
use std::collections::{BTreeMap, HashMap, HashSet};

/// A file that differs between base and head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path in head; of a deleted file its path in base.
    pub path: String,
    pub kind: ChangeKind,
    /// What it is in head; none where it is deleted.
    pub file: Option<FileKind>,
    /// The index of the base that it is compared with, among those that were given. With several merge-bases it is the
    /// first one that the file differs from; 0 without a base.
    pub base: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Renamed {
        from: String,
    },
    Deleted,
    /// A file became a symbolic link or a submodule, or the other way round.
    TypeChanged,
}

impl Change {
    /// Returns the former path of a renamed file.
    pub fn renamed_from(&self) -> Option<&str> {
        match &self.kind {
            ChangeKind::Renamed { from } => Some(from),
            _ => None,
        }
    }

    /// Returns the path in base; `None` for an added file.
    pub fn path_before(&self) -> Option<&str> {
        let same = (self.kind != ChangeKind::Added).then_some(self.path.as_str());
        self.renamed_from().or(same)
    }

    /// The path, and the former one of a renamed file.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.path.as_str()).chain(self.renamed_from())
    }
}

/// The wanted files that differ from each base, from one walk per base: what they are called is asked of them as often as
/// needed.
pub struct Differences<'s> {
    repository: &'s Repository,
    /// One list per base; a single one without a base.
    found: Vec<Vec<TreeDifference>>,
    on_disk: Box<DiskFile<'s>>,
}

impl<'s> Differences<'s> {
    pub(super) fn new(
        repository: &'s Repository,
        found: Vec<Vec<TreeDifference>>,
        on_disk: Box<DiskFile<'s>>,
    ) -> Self {
        Self {
            repository,
            found,
            on_disk,
        }
    }

    /// As changes, sorted by path: what differs from any base.
    ///
    /// A renamed file is told from a deletion and an addition as git does it: equal content, else at least half of
    /// it. It is looked for only among the wanted files.
    pub fn changes(&self) -> Vec<Change> {
        let each = self.found.iter().enumerate();
        merged(each.map(|(base, found)| self.told(base, found)).collect())
    }

    /// The changes of `wanted` files alone, as if nothing else had been requested: one list per base.
    pub fn changes_of(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Vec<Change>> {
        let each = self.found.iter().enumerate();
        each.map(|(base, found)| {
            let chosen = found.iter().filter(|difference| wanted(&difference.path));
            self.told(base, &chosen.cloned().collect::<Vec<_>>())
        })
        .collect()
    }

    fn told(&self, base: usize, differences: &[TreeDifference]) -> Vec<Change> {
        let pairs = renames::pairs(self.repository, differences, &*self.on_disk);
        let gone: HashSet<usize> = pairs.iter().map(|pair| pair.deleted).collect();
        let sources: HashMap<usize, usize> = pairs.iter().map(|pair| (pair.added, pair.deleted)).collect();
        let kept = differences
            .iter()
            .enumerate()
            .filter(|(index, _)| !gone.contains(index));
        let changes = kept.map(|(index, difference)| {
            let from = sources
                .get(&index)
                .map(|source| differences[*source].path.clone());
            change(difference, from, base)
        });
        changes.collect()
    }
}

/// Merges the changes since several bases: each path once, as it differs from the first base that it differs from. A file
/// that one base has under another name is renamed, not deleted too.
fn merged(mut each: Vec<Vec<Change>>) -> Vec<Change> {
    if each.len() < 2 {
        return each.pop().unwrap_or_default();
    }
    let mut by_path: BTreeMap<String, Change> = BTreeMap::new();
    for change in each.into_iter().flatten() {
        by_path.entry(change.path.clone()).or_insert(change);
    }
    let sources = by_path.values().filter_map(Change::renamed_from);
    let sources: HashSet<String> = sources.map(str::to_owned).collect();
    by_path.retain(|path, change| change.kind != ChangeKind::Deleted || !sources.contains(path));
    by_path.into_values().collect()
}

fn change(difference: &TreeDifference, from: Option<String>, base: usize) -> Change {
    let kind = match (from, difference.old, difference.new) {
        (Some(from), ..) => ChangeKind::Renamed { from },
        (None, None, _) => ChangeKind::Added,
        (None, _, None) => ChangeKind::Deleted,
        (None, Some(old), Some(new)) if old.kind != new.kind => ChangeKind::TypeChanged,
        (None, Some(_), Some(_)) => ChangeKind::Modified,
    };
    Change {
        path: difference.path.clone(),
        kind,
        file: difference.new.map(|side| side.kind),
        base,
    }
}
