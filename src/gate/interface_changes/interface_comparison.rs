//! Compares the shared pipelines that two versions of the repository offer to consumers.

use crate::error::Failure;
use crate::interface_version::{
    self, InterfaceDoubt, InterfaceVersion, LoadedInterface, OfferChanges, UnreadableFile,
};
use serde_json::{Value, json};
use sluicegate_git::{CommitId, GitError, Repository, Snapshot};
use sluicegate_pipelines::interface::{
    self, ChangeClass, ComparedVersion, Compatibility, Interface, InterfaceChange, InterfaceChangeKind,
};
use sluicegate_pipelines::pipelines::SharedPipelines;
use std::collections::{BTreeMap, HashSet};

/// The changes for consumers between two versions of the shared-pipelines file.
pub(crate) struct InterfaceDifference {
    /// The changes, in order.
    pub(crate) changes: Vec<InterfaceChange>,
    /// The reason why the changes may lack a break: a file of one of the versions cannot be used.
    pub(crate) doubt: Option<InterfaceDoubt>,
    /// The paths of the shared pipelines that are no longer offered only because their files are missing, by id.
    pub(crate) missing_paths: BTreeMap<String, String>,
}

/// The hidden directory with the shared-pipelines file in the old and in the new version. If it is `None`, the version
/// is searched for its own.
pub(crate) struct ConfigDirs {
    old: Option<String>,
    new: Option<String>,
}

impl ConfigDirs {
    /// Uses the same directory in both versions, or searches both.
    pub(crate) fn common(config_dir: Option<&str>) -> Self {
        Self {
            old: config_dir.map(str::to_owned),
            new: config_dir.map(str::to_owned),
        }
    }

    /// Uses the directories that apply to each version.
    pub(crate) const fn new(old: Option<String>, new: Option<String>) -> Self {
        Self { old, new }
    }

    /// Uses the directory that the job names, if it names one, and in the old version the one from which it was moved.
    pub(crate) fn for_named(
        named_dir: Option<&str>,
        old_snapshot: &Snapshot<'_>,
        new_snapshot: &Snapshot<'_>,
    ) -> Result<Self, GitError> {
        Ok(Self {
            old: interface_version::find_old_config_dir(named_dir, old_snapshot, new_snapshot)?,
            new: named_dir.map(str::to_owned),
        })
    }
}

/// Compares the interfaces of two snapshots: the shared-pipelines file and the kinds of the pipelines in it. A snapshot
/// without the file offers nothing. If no shared pipeline changed, but the file was added, removed or moved or its text
/// has another meaning, the file is the only change. If the file of a version cannot be read, the result contains the
/// reason instead of changes. Returns `None` if nothing but formatting differs, or if both versions have the same
/// unreadable file.
pub(crate) fn compare_interfaces(
    repository: &Repository,
    old_snapshot: &Snapshot<'_>,
    new_snapshot: &Snapshot<'_>,
    config_dirs: &ConfigDirs,
) -> Result<Option<InterfaceDifference>, Failure> {
    let (old, new) = (
        interface_version::read_interface(repository, old_snapshot, config_dirs.old.as_deref())?,
        interface_version::read_interface(repository, new_snapshot, config_dirs.new.as_deref())?,
    );
    // If one file cannot be read, the changes are unknown.
    let OfferChanges { mut changes, doubt } = match (
        find_file_doubt(&old, &new),
        find_offered_interface(&old, &new),
        find_offered_interface(&new, &old),
    ) {
        (None, Some(old_interface), Some(new_interface)) => interface_version::compare_interface_versions(
            &InterfaceVersion::at_snapshot(repository, old_snapshot, old_interface)?,
            &InterfaceVersion::at_snapshot(repository, new_snapshot, new_interface)?,
        )?,
        (doubt, ..) => OfferChanges {
            changes: Vec::new(),
            doubt: doubt.filter(|_| !is_same_file(&old, &new)),
        },
    };
    if changes.is_empty() && doubt.is_none() {
        if is_same_file(&old, &new) {
            return Ok(None);
        }
        match find_file_change(&old, &new) {
            Some(change) => changes.push(change),
            None => return Ok(None),
        }
    }
    let missing_paths = find_missing_paths(&changes, &new);
    Ok(Some(InterfaceDifference {
        changes,
        doubt,
        missing_paths,
    }))
}

/// Returns the doubt if one of the shared-pipelines files cannot be read.
fn find_file_doubt(old: &LoadedInterface, new: &LoadedInterface) -> Option<InterfaceDoubt> {
    let describe = |file: &UnreadableFile| format!("could not read {}: {}", file.path, file.reason);
    match (old, new) {
        (_, LoadedInterface::Unreadable(file)) => Some(InterfaceDoubt {
            reason: describe(file),
            is_repaired: false,
        }),
        (LoadedInterface::Unreadable(file), _) => Some(InterfaceDoubt {
            reason: describe(file),
            is_repaired: true,
        }),
        _ => None,
    }
}

/// Returns the paths of the removed shared pipelines that the new shared-pipelines file still lists, by id.
fn find_missing_paths(changes: &[InterfaceChange], new: &LoadedInterface) -> BTreeMap<String, String> {
    let LoadedInterface::Read(interface, _) = new else {
        return BTreeMap::new();
    };
    let removed_ids: HashSet<&String> = changes
        .iter()
        .filter(|change| change.kind == InterfaceChangeKind::PipelineRemoved)
        .filter_map(|change| change.id.as_ref())
        .collect();
    interface
        .offered_entries()
        .filter(|entry| removed_ids.contains(&entry.id))
        .map(|entry| (entry.id.clone(), entry.pipeline.clone()))
        .collect()
}

impl InterfaceDifference {
    /// Adds the differences from another base, except for those that the comparison already contains.
    pub(crate) fn add_base(&mut self, base_comparison: Self) {
        let known_keys: HashSet<_> = self.changes.iter().map(build_change_key).collect();
        let new_changes = base_comparison
            .changes
            .into_iter()
            .filter(|change| !known_keys.contains(&build_change_key(change)));
        self.changes.extend(new_changes);
        self.doubt = InterfaceDoubt::select_worst(self.doubt.take(), base_comparison.doubt);
        self.missing_paths.extend(base_comparison.missing_paths);
    }

    /// Returns whether the change has a break other than the missing files of shared pipelines.
    pub(crate) fn has_other_breaks(&self) -> bool {
        self.changes.iter().any(|change| {
            let is_missing_file = change.kind == InterfaceChangeKind::PipelineRemoved
                && change
                    .id
                    .as_ref()
                    .is_some_and(|id| self.missing_paths.contains_key(id));
            change.class == ChangeClass::Breaking && !is_missing_file
        })
    }

    /// Returns the number of changes by class, and the reason why a break cannot be ruled out, if there is one.
    pub(crate) fn summarize(&self) -> String {
        let summary = interface::summarize_changes(&self.to_compatibility(None));
        match &self.doubt {
            Some(doubt) => format!("{summary}; {}", doubt.reason),
            None => summary,
        }
    }

    /// Returns the changes grouped by class, one line for each.
    pub(crate) fn describe_by_class(&self, base: Option<&CommitId>) -> Vec<String> {
        interface::list_changes(&self.to_compatibility(base))
    }

    /// Describes each change for consumers in one line, with its class. The most severe change is first.
    pub(crate) fn describe_changes(&self, base: Option<&CommitId>) -> Vec<(ChangeClass, String)> {
        let compat = self.to_compatibility(base);
        let old_name = compat.old_name();
        let mut lines: Vec<(ChangeClass, String)> = compat
            .changes
            .iter()
            .map(|change| (change.class, change.format_line(&old_name)))
            .collect();
        lines.sort_by_key(|(class, _)| std::cmp::Reverse(*class));
        lines
    }

    /// Converts the changes to the form of the reports. `base` is the commit of the old version, if it is to be named.
    /// If a break cannot be ruled out, the class is unknown, unless a break was found.
    pub(crate) fn to_compatibility(&self, base: Option<&CommitId>) -> Compatibility {
        let compared_version = ComparedVersion {
            version: None,
            commit: base.map(CommitId::to_string),
        };
        Compatibility::new(compared_version, self.changes.clone()).with_doubt(self.doubt.is_some())
    }

    /// Returns the class and the changes in the form of `artifacts diff -o json`.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "class": self.to_compatibility(None).class,
            "changes": self.changes,
        })
    }
}

/// Returns the properties that are equal if the same change was found at two bases.
fn build_change_key(change: &InterfaceChange) -> (ChangeClass, InterfaceChangeKind, Option<String>, String) {
    (change.class, change.kind, change.id.clone(), change.describe())
}

/// Returns the change to the shared-pipelines file as a whole, for versions that offer the same. Formatting alone is
/// not a change: other files of the version may have changed, and only a publish plan shows them.
fn find_file_change(old: &LoadedInterface, new: &LoadedInterface) -> Option<InterfaceChange> {
    let parse_meaning = |bytes: &[u8]| SharedPipelines::parse_canonical_text(bytes).ok();
    match (old, new) {
        (
            LoadedInterface::Read(old_interface, old_bytes),
            LoadedInterface::Read(new_interface, new_bytes),
        ) => {
            let is_same = old_interface.file == new_interface.file
                && parse_meaning(old_bytes) == parse_meaning(new_bytes);
            (!is_same)
                .then(|| InterfaceChange::for_file(InterfaceChangeKind::FileModified, &new_interface.file))
        }
        (LoadedInterface::Missing, LoadedInterface::Read(interface, _)) => Some(InterfaceChange::for_file(
            InterfaceChangeKind::FileAdded,
            &interface.file,
        )),
        (LoadedInterface::Read(interface, _), LoadedInterface::Missing) => Some(InterfaceChange::for_file(
            InterfaceChangeKind::FileRemoved,
            &interface.file,
        )),
        _ => None,
    }
}

/// Returns whether both versions have the same bytes at the same path, or both lack the file.
fn is_same_file(old: &LoadedInterface, new: &LoadedInterface) -> bool {
    match (old, new) {
        (LoadedInterface::Missing, LoadedInterface::Missing) => true,
        (
            LoadedInterface::Read(old_interface, old_bytes),
            LoadedInterface::Read(new_interface, new_bytes),
        ) => old_interface.file == new_interface.file && old_bytes == new_bytes,
        (LoadedInterface::Unreadable(old_file), LoadedInterface::Unreadable(new_file)) => {
            old_file == new_file
        }
        _ => false,
    }
}

/// Returns the interface that a version offers. A version without the file offers an empty interface at the path of the
/// other version. Returns `None` if that path is unknown or the file is unreadable.
fn find_offered_interface(version: &LoadedInterface, other_version: &LoadedInterface) -> Option<Interface> {
    match (version, other_version) {
        (LoadedInterface::Read(interface, _), _) => Some((**interface).clone()),
        (LoadedInterface::Missing, LoadedInterface::Read(interface, _)) => {
            Some(Interface::empty(interface.file.clone()))
        }
        _ => None,
    }
}
