//! Finds the components that a change certainly renamed.

use super::Pairs;
use sluicegate_git::{Change, GitError};
use std::collections::BTreeMap;

/// The renamed components of each pipeline, by its path in head: the old name of each new name.
pub(crate) type ComponentRenames = BTreeMap<String, BTreeMap<String, String>>;

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
