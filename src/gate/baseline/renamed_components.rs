//! Finds the components that the change renamed, in the files for which this is needed.

use crate::gate::{ChangedContents, SelectedPipelines, VersionPairs};
use sluicegate_git::{Change, ChangeKind, GitError, Repository, Snapshot};
use sluicegate_pipelines::findings::RenamedSubjects;
use sluicegate_pipelines::pipelines::Pipeline;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// The renamed components of each pipeline, by its path in head.
type ComponentRenames = BTreeMap<String, RenamedSubjects>;

impl VersionPairs<'_> {
    /// Compares both versions of these pipelines. Returns the renamed components by path. Omits names that differ only
    /// in surrounding whitespace.
    pub(crate) fn find_renamed_components(&self, changes: &[Change]) -> Result<ComponentRenames, GitError> {
        let renames = self.map_differing_versions(changes, &|_, contents| {
            let diff = contents.diff();
            let mut old_names = diff.incomplete_renames;
            for component in diff.components {
                if let Some(old_name) = component.previous_name {
                    old_names.insert(component.name, old_name);
                }
            }
            // A change of surrounding whitespace is not a rename: a platform that trims names shows both names alike.
            old_names.retain(|new_name, old_name| new_name.trim() != old_name.trim());
            (contents.path.clone(), contents.list_renamed_subjects(old_names))
        })?;
        Ok(renames
            .into_iter()
            .filter(|(_, renamed_subjects)| !renamed_subjects.is_empty())
            .collect())
    }
}

impl ChangedContents {
    /// Returns the renamed components. `old_names` has the old name of each, by its new name.
    fn list_renamed_subjects(&self, old_names: BTreeMap<String, String>) -> RenamedSubjects {
        let is_renamed = !old_names.is_empty();
        let new_content = self.new_content.as_ref().filter(|_| is_renamed);
        let pipeline = new_content.and_then(|content| Pipeline::parse(content.as_ref().ok()?).ok());
        RenamedSubjects::new(old_names, pipeline.as_ref())
    }
}

/// The search for components that the change renamed.
pub(crate) struct RenamedComponents<'r> {
    pairs: VersionPairs<'r>,
    /// The changes to pipelines that exist both at the base and in head, by their path in head.
    changes: HashMap<&'r str, &'r Change>,
    /// The renamed components of the files that were already compared.
    cache: RefCell<BTreeMap<String, Rc<RenamedSubjects>>>,
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

    /// Returns the renamed components of a file. Compares each file only once.
    pub(crate) fn find_in_file(&self, path: &str) -> Result<Rc<RenamedSubjects>, GitError> {
        if let Some(renamed_subjects) = self.cache.borrow().get(path) {
            return Ok(Rc::clone(renamed_subjects));
        }
        let change = self.changes.get(path).map(|change| (*change).clone());
        let mut renames = self.pairs.find_renamed_components(change.as_slice())?;
        let renamed_subjects = Rc::new(renames.remove(path).unwrap_or_default());
        self.cache
            .borrow_mut()
            .insert(path.to_owned(), Rc::clone(&renamed_subjects));
        Ok(renamed_subjects)
    }

    /// Returns the new name of the component that had this name at the base. Returns `None` if the component was not
    /// renamed or the base cannot be read.
    pub(crate) fn find_new_name(&self, path: &str, old_name: &str) -> Option<String> {
        let renamed_subjects = self.find_in_file(path).ok()?;
        renamed_subjects.find_new_name(old_name).map(str::to_owned)
    }

    /// Returns the pipeline at the base, with the new names of renamed components. Returns `None` if the change does
    /// not modify the pipeline, or if the base cannot be read.
    pub(crate) fn read_base_pipeline(&self, path: &str) -> Option<Pipeline> {
        let change = self.changes.get(path).map(|change| (*change).clone());
        let pipelines = self
            .pairs
            .map_differing_versions(change.as_slice(), &|_, contents| {
                Pipeline::parse(contents.old_content.as_ref()?.as_ref().ok()?).ok()
            });
        let mut pipeline = pipelines.ok()?.pop()??;
        let renamed_subjects = self.find_in_file(path).ok()?;
        for component in &mut pipeline.components {
            let link_names = component.links.iter_mut().map(|link| &mut link.name);
            for name in link_names.chain([&mut component.name]) {
                if let Some(new_name) = renamed_subjects.find_new_name(name) {
                    new_name.clone_into(name);
                }
            }
        }
        Some(pipeline)
    }
}
