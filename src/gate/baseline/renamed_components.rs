//! Finds the components that the change renamed, in the files for which this is needed.

use crate::gate::{SelectedPipelines, VersionPairs};
use sluicegate_git::{Change, ChangeKind, GitError, Repository, Snapshot};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// The renamed components of each pipeline, by its path in head: the old name of each new name.
type ComponentRenames = BTreeMap<String, BTreeMap<String, String>>;

impl VersionPairs<'_> {
    /// Compares both versions of these pipelines. Returns the old name of each renamed component, by path and new name.
    /// Omits names that differ only in surrounding whitespace.
    pub(crate) fn find_renamed_components(&self, changes: &[Change]) -> Result<ComponentRenames, GitError> {
        let renames = self.map_differing_versions(changes, &|_, contents| {
            let mut old_names = BTreeMap::new();
            for component in contents.diff().components {
                // A change of surrounding whitespace is not a rename: a platform that trims names shows both names
                // alike.
                if let Some(old_name) = component.previous_name
                    && component.name.trim() != old_name.trim()
                {
                    old_names.insert(component.name, old_name);
                }
            }
            (contents.path.clone(), old_names)
        })?;
        Ok(renames
            .into_iter()
            .filter(|(_, old_names)| !old_names.is_empty())
            .collect())
    }
}

/// The search for components that the change renamed.
pub(crate) struct RenamedComponents<'r> {
    pairs: VersionPairs<'r>,
    /// The changes to pipelines that exist both at the base and in head, by their path in head.
    changes: HashMap<&'r str, &'r Change>,
    /// The renamed components of the files that were already compared.
    cache: RefCell<ComponentRenames>,
}

impl<'r> RenamedComponents<'r> {
    /// Creates the search for renamed components in the modified and renamed files of the selection. A file is compared
    /// only when a caller needs it.
    pub(crate) fn new(
        repo: &'r Repository,
        head: &'r Snapshot<'r>,
        pipelines: &'r SelectedPipelines,
    ) -> Self {
        let (bases, changes) = pipelines.compared_changes();
        let modified_files =
            changes.filter(|change| matches!(change.kind, ChangeKind::Modified | ChangeKind::Renamed { .. }));
        Self {
            pairs: VersionPairs { repo, head, bases },
            changes: modified_files
                .map(|change| (change.path.as_str(), change))
                .collect(),
            cache: RefCell::default(),
        }
    }

    /// Returns the old name of each renamed component of a file, by the new name. Compares each file only once.
    pub(crate) fn find_old_names(&self, path: &str) -> Result<BTreeMap<String, String>, GitError> {
        if let Some(old_names) = self.cache.borrow().get(path) {
            return Ok(old_names.clone());
        }
        let change = self.changes.get(path).map(|change| (*change).clone());
        let mut renames = self.pairs.find_renamed_components(change.as_slice())?;
        let old_names = renames.remove(path).unwrap_or_default();
        self.cache.borrow_mut().insert(path.to_owned(), old_names.clone());
        Ok(old_names)
    }

    /// Returns the new name of the component that had this name at the base. Returns `None` if the component was not
    /// renamed or the base cannot be read.
    pub(crate) fn find_new_name(&self, path: &str, old_name: &str) -> Option<String> {
        let old_names = self.find_old_names(path).ok()?;
        let mut old_names = old_names.into_iter();
        old_names
            .find(|(_, old)| old == old_name)
            .map(|(new_name, _)| new_name)
    }
}
