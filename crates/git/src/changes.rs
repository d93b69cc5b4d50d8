//! The files that differ between commits.

use super::entries::EntrySide;
use super::renames::{self, DiskFile};
use super::{FileKind, Repository, tree::TreeDifference};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A file that differs between base and head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path in head, or in base for a deleted file.
    pub path: String,
    pub kind: ChangeKind,
    /// The kind of the file in head; `None` if it is deleted.
    pub file: Option<FileKind>,
    /// The index of the base that the file is compared with, in the given list. With several merge-bases it is the
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
    /// A file became a symbolic link or a submodule, or the reverse.
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

    /// Returns the path, and the former path of a renamed file.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.path.as_str()).chain(self.renamed_from())
    }
}

/// The wanted files that differ from each base, found by one walk per base. Changes can be computed from them
/// several times.
pub struct Differences<'s> {
    repository: &'s Repository,
    /// One list for each base; a single list without a base.
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

    /// Returns the files that differ from any base as changes, sorted by path.
    ///
    /// Renames are detected as git does it: equal content, or a similarity of at least one half. A less similar file is
    /// renamed, too, if it is the only one of its name and [`Repository::with_renames_by_name`] includes its path. Only
    /// the wanted files are considered.
    pub fn changes(&self) -> Vec<Change> {
        let each = self.found.iter().enumerate();
        merged(each.map(|(base, found)| self.told(base, found)).collect())
    }

    /// Returns the paths that any base has, and that are gone at head or of another kind: a link in place of a file is not
    /// read.
    pub fn paths_gone(&self) -> BTreeSet<&str> {
        let kind = |side: Option<EntrySide>| side.map(|side| side.kind);
        let gone = self.found.iter().flatten();
        let gone = gone.filter(|it| it.old.is_some() && kind(it.old) != kind(it.new));
        gone.map(|difference| difference.path.as_str()).collect()
    }

    /// Returns the paths of the files at head that any base lacks or has with another content.
    pub fn regular_files(&self) -> BTreeSet<&str> {
        let found = self.found.iter().flatten();
        let files = found.filter(|it| it.new.is_some_and(|side| side.kind == FileKind::Regular));
        files.map(|difference| difference.path.as_str()).collect()
    }

    /// Returns the changes of only the `wanted` files, as if no others had been requested: one list for each base.
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

/// Merges the changes since several bases: each path once, with the first base that it differs from. If one base
/// has the file under another name, the change is a rename, and no deletion is listed.
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
