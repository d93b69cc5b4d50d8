//! What changed between two commits.

use super::renames::{self, OnDisk};
use super::{CommitId, FileKind, GitError, Repository, tree::Difference};
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

impl Repository {
    /// The wanted files that differ between base and head, sorted by path; without a base every wanted file of head,
    /// as added.
    ///
    /// A renamed file is told from a deletion and an addition as git does it: equal content, else at least half of
    /// it. It is looked for only among the wanted files.
    pub fn changes(
        &self,
        base: Option<&CommitId>,
        head: &CommitId,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Change>, GitError> {
        Ok(self.told(&self.differences(base, head, wanted)?, &|_, _| None))
    }

    /// The differences as changes, with renames told. `on_disk` reads what is not in the clone yet.
    pub(super) fn told(&self, differences: &[Difference], on_disk: &OnDisk<'_>) -> Vec<Change> {
        let pairs = renames::pairs(self, differences, on_disk);
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
