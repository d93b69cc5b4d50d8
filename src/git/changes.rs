//! What changed between two commits.

use super::renames::{self, OnDisk};
use super::{FileKind, Repository, tree::Difference};
use std::collections::{HashMap, HashSet};

/// A file that differs between base and head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path in head; of a deleted file its path in base.
    pub path: String,
    /// What happened to it.
    pub kind: ChangeKind,
    /// What it is in head; none where it is deleted.
    pub file: Option<FileKind>,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    /// Not in base.
    Added,
    /// Another content, or another mode.
    Modified,
    /// Moved, perhaps with small edits.
    Renamed {
        /// The path in base.
        from: String,
    },
    /// Not in head.
    Deleted,
    /// A file became a symbolic link or a submodule, or the other way round.
    TypeChanged,
}

impl Change {
    /// The path, and the former one of a renamed file.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let from = match &self.kind {
            ChangeKind::Renamed { from } => Some(from.as_str()),
            _ => None,
        };
        std::iter::once(self.path.as_str()).chain(from)
    }
}

/// The wanted files that differ from a base, from one walk: what they are called is asked of them as often as needed.
pub struct Differences<'s> {
    repository: &'s Repository,
    found: Vec<Difference>,
    on_disk: Box<OnDisk<'s>>,
}

impl<'s> Differences<'s> {
    pub(super) fn new(repository: &'s Repository, found: Vec<Difference>, on_disk: Box<OnDisk<'s>>) -> Self {
        Self {
            repository,
            found,
            on_disk,
        }
    }

    /// As changes, sorted by path.
    ///
    /// A renamed file is told from a deletion and an addition as git does it: equal content, else at least half of
    /// it. It is looked for only among the wanted files.
    pub fn changes(&self) -> Vec<Change> {
        self.told(&self.found)
    }

    /// Those of `wanted` alone, as if nothing else had been asked for.
    pub fn changes_of(&self, wanted: &dyn Fn(&str) -> bool) -> Vec<Change> {
        let chosen = self.found.iter().filter(|difference| wanted(&difference.path));
        self.told(&chosen.cloned().collect::<Vec<_>>())
    }

    fn told(&self, differences: &[Difference]) -> Vec<Change> {
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
            change(difference, from)
        });
        changes.collect()
    }
}

fn change(difference: &Difference, from: Option<String>) -> Change {
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
    }
}
