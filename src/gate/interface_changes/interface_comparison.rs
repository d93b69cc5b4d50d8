//! Compares the two sides of a change in the repository.

use crate::error::Failure;
use crate::interface_version::{self, InterfaceVersion, LoadedInterface};
use serde_json::{Value, json as value};
use sluicegate_git::{CommitId, Repository, Snapshot};
use sluicegate_pipelines::interface::{
    self, ChangeClass, ChangeKind, ComparedVersion, Compatibility, Interface, InterfaceChange,
};
use sluicegate_pipelines::pipelines::SharedPipelines;

/// The changes in the shared-pipelines file.
pub(crate) struct Between {
    pub(crate) path: String,
    /// The changes, in order.
    pub(crate) changes: Vec<InterfaceChange>,
    /// Path of an unreadable side, and the reason.
    pub(crate) unreadable: Option<String>,
    /// True if only the earlier side is unreadable.
    pub(crate) is_repaired: bool,
}

/// Returns the differences in the shared-pipelines file and in the kinds of its pipelines, or `None` if both sides are
/// equal or lack the file. A side without the file offers no pipelines.
pub(crate) fn between(
    repository: &Repository,
    before: &Snapshot<'_>,
    after: &Snapshot<'_>,
    folder: Option<&str>,
) -> Result<Option<Between>, Failure> {
    let (old, new) = (
        interface_version::read_interface(repository, before, folder)?,
        interface_version::read_interface(repository, after, folder)?,
    );
    let unreadable = [&old, &new].into_iter().find_map(|side| match side {
        LoadedInterface::Unreadable(path, why) => Some(format!("could not read {path}: {why}")),
        _ => None,
    });
    let mut changes = match (&unreadable, offered(&old, &new), offered(&new, &old)) {
        (None, Some(was), Some(is)) => interface_version::compare_interface_versions(
            &InterfaceVersion::at_snapshot(repository, before, was)?,
            &InterfaceVersion::at_snapshot(repository, after, is)?,
        )?,
        _ => Vec::new(),
    };
    if changes.is_empty() && same_file(&old, &new) {
        return Ok(None);
    }
    if let (true, LoadedInterface::Read(was, before), LoadedInterface::Read(is, after)) =
        (changes.is_empty(), &old, &new)
    {
        let meaning = |bytes: &[u8]| SharedPipelines::canonical_text(bytes).ok();
        if was.file != is.file || meaning(before) != meaning(after) {
            changes.push(InterfaceChange::for_file(ChangeKind::FileModified, &is.file));
        }
    }
    let path = [&new, &old].into_iter().find_map(|side| match side {
        LoadedInterface::Read(interface, _) => Some(interface.file.clone()),
        LoadedInterface::Unreadable(path, _) => Some(path.clone()),
        LoadedInterface::Missing => None,
    });
    Ok(Some(Between {
        path: path.unwrap_or_default(),
        changes,
        is_repaired: unreadable.is_some() && !matches!(new, LoadedInterface::Unreadable(..)),
        unreadable,
    }))
}

impl Between {
    /// Adds the differences from another base, without duplicates.
    pub(crate) fn add(&mut self, other: Self) {
        let key = |change: &InterfaceChange| {
            (
                change.class,
                change.kind.name(),
                change.id.clone(),
                change.describe(),
            )
        };
        let known: Vec<_> = self.changes.iter().map(key).collect();
        let new = other.changes.into_iter();
        self.changes
            .extend(new.filter(|change| !known.contains(&key(change))));
        self.is_repaired = match (&self.unreadable, &other.unreadable) {
            (Some(_), Some(_)) => self.is_repaired && other.is_repaired,
            (Some(_), None) => self.is_repaired,
            (None, _) => other.is_repaired,
        };
        self.unreadable = self.unreadable.take().or(other.unreadable);
    }

    /// Returns the number of changes by class, or why they are unknown.
    pub(crate) fn in_short(&self) -> String {
        match &self.unreadable {
            Some(why) => format!("unknown: {why}"),
            None => interface::summarize(&self.compat(None)),
        }
    }

    /// Returns the changes by class, one line each.
    pub(crate) fn told(&self, base: Option<&CommitId>) -> Vec<String> {
        interface::list_changes(&self.compat(base))
    }

    /// Returns each change for consumers in one line with its class, the most severe first.
    pub(crate) fn each(&self, base: Option<&CommitId>) -> Vec<(ChangeClass, String)> {
        let compat = self.compat(base);
        let old = compat.old_name();
        let mut each: Vec<(ChangeClass, String)> = compat
            .changes
            .iter()
            .map(|change| (change.class, change.format_line(&old)))
            .collect();
        each.sort_by_key(|(class, _)| std::cmp::Reverse(*class));
        each
    }

    fn compat(&self, base: Option<&CommitId>) -> Compatibility {
        let against = ComparedVersion {
            version: None,
            commit: base.map(CommitId::to_string),
        };
        Compatibility::new(against, self.changes.clone())
    }

    /// Returns the JSON of `artifacts diff -o json`; the class is null if a side cannot be read.
    pub(crate) fn json(&self) -> Value {
        let class = self.changes.iter().map(|change| change.class).max();
        let class = class.unwrap_or(ChangeClass::None).for_total();
        value!({
            "class": self.unreadable.is_none().then_some(class),
            "changes": self.changes,
        })
    }
}

/// Returns whether both sides are the same bytes of the same file, or both are missing.
fn same_file(old: &LoadedInterface, new: &LoadedInterface) -> bool {
    match (old, new) {
        (LoadedInterface::Missing, LoadedInterface::Missing) => true,
        (LoadedInterface::Read(was, before), LoadedInterface::Read(is, after)) => {
            was.file == is.file && before == after
        }
        (LoadedInterface::Unreadable(was, before), LoadedInterface::Unreadable(is, after)) => {
            was == is && before == after
        }
        _ => false,
    }
}

/// Returns the interface of a side; a missing file counts as an empty one at the other side's path.
fn offered(side: &LoadedInterface, other: &LoadedInterface) -> Option<Interface> {
    match (side, other) {
        (LoadedInterface::Read(interface, _), _) => Some((**interface).clone()),
        (LoadedInterface::Missing, LoadedInterface::Read(there, _)) => {
            Some(Interface::empty(there.file.clone()))
        }
        _ => None,
    }
}
