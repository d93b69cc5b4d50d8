//! Finds the components that the change renamed, in the files for which this is needed.

use crate::gate::{Pairs, Selected};
use sluicegate_git::{Change, ChangeKind, GitError, Repository, Snapshot};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// The renamed components of each pipeline, by its path in head: the old name of each new name.
type ComponentRenames = BTreeMap<String, BTreeMap<String, String>>;

impl Pairs<'_> {
    /// Compares both versions of these pipelines, and returns the components that were renamed.
    pub(crate) fn renamed_components(&self, changes: &[Change]) -> Result<ComponentRenames, GitError> {
        let found = self.each(changes, &|_, contents| {
            let components = contents.diff().components.into_iter();
            let renamed = components.filter_map(|component| Some((component.name, component.previous_name?)));
            // A platform that trims names cannot tell these two apart, so they stay two subjects.
            let renamed = renamed.filter(|(new, old)| new.trim() != old.trim());
            (contents.path.clone(), renamed.collect::<BTreeMap<_, _>>())
        })?;
        Ok(found
            .into_iter()
            .filter(|(_, renamed)| !renamed.is_empty())
            .collect())
    }
}

pub(crate) struct RenamedComponents<'r> {
    pairs: Pairs<'r>,
    /// The pipelines that exist on both sides of the change, by their path in head.
    changes: HashMap<&'r str, &'r Change>,
    known: RefCell<ComponentRenames>,
}

impl<'r> RenamedComponents<'r> {
    pub(crate) fn new(repo: &'r Repository, head: &'r Snapshot<'r>, selected: &'r Selected) -> Self {
        let changes = selected.candidates.iter().map(|candidate| &candidate.change);
        let modified =
            changes.filter(|change| matches!(change.kind, ChangeKind::Modified | ChangeKind::Renamed { .. }));
        Self {
            pairs: Pairs {
                repo,
                head,
                bases: &selected.since,
            },
            changes: modified.map(|change| (change.path.as_str(), change)).collect(),
            known: RefCell::default(),
        }
    }

    /// Returns the old name of each renamed component of a file, by the new name.
    pub(crate) fn of_file(&self, path: &str) -> Result<BTreeMap<String, String>, GitError> {
        if let Some(known) = self.known.borrow().get(path) {
            return Ok(known.clone());
        }
        let change = self.changes.get(path).map(|change| (*change).clone());
        let mut found = self.pairs.renamed_components(change.as_slice())?;
        let renamed = found.remove(path).unwrap_or_default();
        self.known.borrow_mut().insert(path.to_owned(), renamed.clone());
        Ok(renamed)
    }

    /// Returns the new name of a component. Without a readable base, no component is known to be renamed.
    pub(crate) fn new_name(&self, path: &str, old_name: &str) -> Option<String> {
        let renamed = self.of_file(path).ok()?;
        let mut names = renamed.into_iter();
        names.find(|(_, old)| old == old_name).map(|(new, _)| new)
    }
}
