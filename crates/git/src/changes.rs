//! The files that differ between commits.

use super::rename_candidates::{FindDiskPath, RenamePair};
use super::renames;
use super::tree_difference::TreeDifference;
use super::tree_entries::FileState;
use super::{CommitId, FileKind, GitError, Repository};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A file that differs between base and head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The path in head, or in base for a deleted file.
    pub path: String,
    pub kind: ChangeKind,
    /// The kind of the file in head; `None` if it is deleted.
    pub file_kind: Option<FileKind>,
    /// The index of the base that the file is compared with, in the given list. With several merge-bases it is the
    /// first one that the file differs from; 0 without a base.
    pub base_index: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Renamed {
        from: String,
        /// False if another file of the change may be the old or the new one: a file of the same content, or one that
        /// is equally similar, whose path has no less in common with the other path.
        is_certain: bool,
    },
    Deleted,
    /// A file became a symbolic link or a submodule, or the reverse.
    TypeChanged,
}

impl Change {
    /// Returns the old path of a renamed file.
    pub fn rename_source(&self) -> Option<&str> {
        match &self.kind {
            ChangeKind::Renamed { from, .. } => Some(from),
            _ => None,
        }
    }

    /// Returns whether the file was probably renamed, but another file may be the old or the new one.
    pub const fn is_uncertain_rename(&self) -> bool {
        matches!(
            self.kind,
            ChangeKind::Renamed {
                is_certain: false,
                ..
            }
        )
    }

    /// Returns the path in base; `None` for an added file.
    pub fn old_path(&self) -> Option<&str> {
        match &self.kind {
            ChangeKind::Added => None,
            ChangeKind::Renamed { from, .. } => Some(from),
            _ => Some(&self.path),
        }
    }

    /// Returns the path, and the old path of a renamed file.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.path.as_str()).chain(self.rename_source())
    }
}

/// The files that the caller selected and that differ from each base, found by one walk per base. Changes can be
/// computed from them several times.
pub struct Differences<'s> {
    repository: &'s Repository,
    /// One list for each base; a single list without a base.
    by_base: Vec<Vec<TreeDifference>>,
    find_disk_path: Box<FindDiskPath<'s>>,
}

impl<'s> Differences<'s> {
    /// Creates the differences from several bases. `find_disk_path` returns where a file that is not in git can be
    /// read. In a partial clone, fetches the contents that show which documents were renamed, and records the other old
    /// documents as blobs to fetch together later.
    pub(super) fn new(
        repository: &'s Repository,
        tree_differences: Vec<Vec<TreeDifference>>,
        find_disk_path: Box<FindDiskPath<'s>>,
    ) -> Result<Self, GitError> {
        for differences in &tree_differences {
            repository.fetch_rename_candidates(differences, &*find_disk_path)?;
            let old_files = differences
                .iter()
                .filter_map(|difference| Some((difference.path.as_str(), difference.old?)));
            repository.record_expected_documents(old_files);
        }
        Ok(Self {
            repository,
            by_base: tree_differences,
            find_disk_path,
        })
    }

    /// Returns the files that differ from any base as changes, sorted by path.
    ///
    /// Renames are detected as git does it: equal content, or a similarity of at least one half. A less similar file is
    /// renamed, too, if it is the only one of its name and [`Repository::with_document_predicate`] includes its path. A
    /// file that the caller did not select for the comparison is not found as the source of a rename.
    pub fn find_changes(&self) -> Vec<Change> {
        let changes_by_base = self
            .by_base
            .iter()
            .enumerate()
            .map(|(base_index, differences)| self.build_changes(base_index, differences))
            .collect();
        merge_changes(changes_by_base)
    }

    /// Returns the paths of files in a base that are missing at head or have another kind there. A link in place of a
    /// file is treated as a removal, because links are not read.
    pub fn list_removed_paths(&self) -> BTreeSet<&str> {
        self.by_base
            .iter()
            .flatten()
            .filter(|difference| {
                difference
                    .old
                    .is_some_and(|old| difference.new.is_none_or(|new| new.kind != old.kind))
            })
            .map(|difference| difference.path.as_str())
            .collect()
    }

    /// Returns the paths of the regular files at head that are missing in a base or have other content there.
    pub fn list_changed_regular_paths(&self) -> BTreeSet<&str> {
        self.by_base
            .iter()
            .flatten()
            .filter(|difference| difference.new.is_some_and(|new| new.kind == FileKind::Regular))
            .map(|difference| difference.path.as_str())
            .collect()
    }

    /// Returns the changes to the wanted files, as one list for each base. Renames from or to unwanted files are not
    /// found, as if only the wanted files had been compared.
    pub fn find_changes_by_base(&self, is_wanted: &dyn Fn(&str) -> bool) -> Vec<Vec<Change>> {
        self.by_base
            .iter()
            .enumerate()
            .map(|(base_index, differences)| {
                let wanted_differences: Vec<TreeDifference> = differences
                    .iter()
                    .filter(|difference| is_wanted(&difference.path))
                    .cloned()
                    .collect();
                self.build_changes(base_index, &wanted_differences)
            })
            .collect()
    }

    /// Converts the differences from one base to changes. The deleted and the added file of a rename become one change.
    fn build_changes(&self, base_index: usize, differences: &[TreeDifference]) -> Vec<Change> {
        let renames = renames::find_renames(self.repository, differences, &*self.find_disk_path);
        let source_indices: HashSet<usize> = renames.iter().map(|rename| rename.deleted_index).collect();
        let renames_by_target: HashMap<usize, RenamePair> = renames
            .into_iter()
            .map(|rename| (rename.added_index, rename))
            .collect();
        differences
            .iter()
            .enumerate()
            .filter(|(index, _)| !source_indices.contains(index))
            .map(|(index, difference)| {
                let rename_kind = renames_by_target.get(&index).map(|rename| ChangeKind::Renamed {
                    from: differences[rename.deleted_index].path.clone(),
                    is_certain: rename.is_certain,
                });
                build_change(difference, rename_kind, base_index)
            })
            .collect()
    }
}

/// Merges the changes since several bases. Each path is listed once, with its change since the first base that it
/// differs from. A rename is certain only if it is certain since each base. The old path of a rename is not also listed
/// as a deletion.
fn merge_changes(mut changes_by_base: Vec<Vec<Change>>) -> Vec<Change> {
    if changes_by_base.len() < 2 {
        return changes_by_base.pop().unwrap_or_default();
    }
    let mut by_path: BTreeMap<String, Change> = BTreeMap::new();
    for change in changes_by_base.into_iter().flatten() {
        match by_path.entry(change.path.clone()) {
            Entry::Vacant(entry) => {
                entry.insert(change);
            }
            Entry::Occupied(mut entry) if change.is_uncertain_rename() => {
                if let ChangeKind::Renamed { is_certain, .. } = &mut entry.get_mut().kind {
                    *is_certain = false;
                }
            }
            Entry::Occupied(_) => {}
        }
    }
    let renamed_paths: HashSet<String> = by_path
        .values()
        .filter_map(Change::rename_source)
        .map(str::to_owned)
        .collect();
    by_path.retain(|path, change| change.kind != ChangeKind::Deleted || !renamed_paths.contains(path));
    by_path.into_values().collect()
}

/// Converts a difference between two trees to a change. `rename_kind` is the kind of the change to a renamed file.
fn build_change(difference: &TreeDifference, rename_kind: Option<ChangeKind>, base_index: usize) -> Change {
    let kind = match (rename_kind, difference.old, difference.new) {
        (Some(kind), ..) => kind,
        (None, None, _) => ChangeKind::Added,
        (None, _, None) => ChangeKind::Deleted,
        (None, Some(old), Some(new)) if old.kind != new.kind => ChangeKind::TypeChanged,
        (None, Some(_), Some(_)) => ChangeKind::Modified,
    };
    Change {
        path: difference.path.clone(),
        kind,
        file_kind: difference.new.map(|state| state.kind),
        base_index,
    }
}

impl Repository {
    /// Returns whether a change had too many added and deleted files to compare all of them, so that some renamed files
    /// may be listed as new.
    pub const fn has_limited_renames(&self) -> bool {
        self.has_limited_renames.get()
    }

    /// Returns the wanted files of the commit, each with its blob and kind, sorted by path. Without a commit, which
    /// means a comparison without a base, the list is empty.
    pub(super) fn list_committed_states(
        &self,
        commit: Option<&CommitId>,
        is_wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<(String, FileState)>, GitError> {
        let files = match commit {
            Some(commit) => self.list_base_files(commit, is_wanted)?,
            None => Vec::new(),
        };
        Ok(files
            .into_iter()
            .map(|file| {
                let id = file.blob.oid();
                let kind = file.kind;
                (file.path, FileState { id, kind })
            })
            .collect())
    }
}
