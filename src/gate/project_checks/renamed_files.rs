//! Finds what the change renames: pipelines, other files, and components. Also finds the files that it deletes.

use crate::gate::VersionPairs;
use crate::gate::baseline::renamed_components::RenamedComponents;
use crate::gate::project_checks::earlier_callees::{BasePipelines, EarlierCallees};
use crate::gate::run::GateRun;
use sluicegate_git::{Change, ChangeKind, FileKind};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashSet};

impl GateRun<'_> {
    /// Creates the search for components that the change renames.
    pub(crate) fn renamed_components(&self) -> RenamedComponents<'_> {
        RenamedComponents::new(
            &self.subject.workspace.repo,
            &self.subject.snapshot,
            &self.selection.pipelines,
        )
    }

    /// Maps the old path of each pipeline that the change renames to its new path.
    pub(super) fn map_new_paths(&self) -> BTreeMap<String, String> {
        let old_paths = self.selection.pipelines.map_old_paths().into_iter();
        old_paths
            .map(|(new_path, old_path)| (old_path, new_path))
            .collect()
    }

    /// Creates the search for files that the change renames.
    pub(super) fn renamed_files(&self) -> RenamedFiles<'_> {
        let (_, changes) = self.selection.pipelines.compared_changes();
        RenamedFiles::new(self.compared_versions(), changes)
    }

    /// Creates the search for pipelines that calls meant before the change. It lists `base_pipelines` when needed.
    pub(super) fn earlier_callees<'r>(&'r self, base_pipelines: &'r BasePipelines) -> EarlierCallees<'r> {
        let (_, changes) = self.selection.pipelines.compared_changes();
        EarlierCallees::new(self.compared_versions(), changes, base_pipelines)
    }

    /// Returns the reviewed files, and the commits that show what the change renames.
    fn compared_versions(&self) -> VersionPairs<'_> {
        let (bases, _) = self.selection.pipelines.compared_changes();
        VersionPairs {
            repo: &self.subject.workspace.repo,
            head: &self.subject.snapshot,
            bases,
        }
    }
}

impl VersionPairs<'_> {
    /// Returns the changes to regular files that are not pipelines, and the deletions of such files, because a pipeline
    /// may use any of them as a script.
    /// Returns no changes if there is no base or it cannot be read.
    fn find_possible_script_changes(&self) -> Vec<Change> {
        if self.bases.is_empty() {
            return Vec::new();
        }
        let mut changes = self
            .head
            .find_changes(self.bases, &|path| !is_pipeline(path))
            .unwrap_or_default();
        // A deleted file has no kind.
        changes.retain(|change| {
            change.kind == ChangeKind::Deleted || change.file_kind == Some(FileKind::Regular)
        });
        changes
    }
}

/// The files that the change renames. Those that are not pipelines are searched only if a broken reference needs them.
pub(crate) struct RenamedFiles<'r> {
    pairs: VersionPairs<'r>,
    /// The new paths of pipelines that may have been another file before.
    uncertain_pipelines: HashSet<&'r str>,
    script_changes: OnceCell<Vec<Change>>,
    /// The pipelines that the change deletes, or replaces with a link or submodule.
    deleted_pipelines: HashSet<&'r str>,
    deleted_scripts: OnceCell<HashSet<String>>,
}

impl<'r> RenamedFiles<'r> {
    /// Creates the search for renamed files. Nothing is read or compared before it is needed.
    pub(crate) fn new(pairs: VersionPairs<'r>, pipeline_changes: impl Iterator<Item = &'r Change>) -> Self {
        let pipeline_changes: Vec<&Change> = pipeline_changes.collect();
        let deletions = pipeline_changes
            .iter()
            .filter(|change| matches!(change.kind, ChangeKind::Deleted | ChangeKind::TypeChanged));
        Self {
            pairs,
            deleted_pipelines: deletions.map(|change| change.path.as_str()).collect(),
            uncertain_pipelines: list_uncertain_paths(pipeline_changes.iter().copied()).collect(),
            script_changes: OnceCell::new(),
            deleted_scripts: OnceCell::new(),
        }
    }

    /// Returns the changes to files that are not pipelines, which are searched once.
    fn script_changes(&self) -> &[Change] {
        self.script_changes
            .get_or_init(|| self.pairs.find_possible_script_changes())
    }

    /// Returns the new path of a renamed file that is not a pipeline. Returns `None` if the change does not rename a
    /// file from `old_path`.
    pub(crate) fn find_script_path(&self, old_path: &str) -> Option<String> {
        let mut renames = self
            .script_changes()
            .iter()
            .filter(|change| change.rename_source() == Some(old_path));
        renames.next().map(|change| change.path.clone())
    }

    /// Returns whether the change deletes the file at this path, or replaces a pipeline with a link or submodule.
    pub(crate) fn is_deleted(&self, path: &str) -> bool {
        if is_pipeline(path) {
            return self.deleted_pipelines.contains(path);
        }
        let deleted_scripts = self.deleted_scripts.get_or_init(|| {
            let changes = self.script_changes().iter();
            let deletions = changes.filter(|change| change.kind == ChangeKind::Deleted);
            deletions.map(|change| change.path.clone()).collect()
        });
        deleted_scripts.contains(path)
    }

    /// Returns whether the renamed file at `new_path` may have been another file before, so that a broken reference may
    /// mean either file.
    pub(crate) fn is_uncertain(&self, new_path: &str) -> bool {
        if is_pipeline(new_path) {
            return self.uncertain_pipelines.contains(new_path);
        }
        list_uncertain_paths(self.script_changes().iter()).any(|path| path == new_path)
    }
}

/// Returns the new paths of the files that the change renames, if another file may be the old or the new one.
fn list_uncertain_paths<'c>(changes: impl Iterator<Item = &'c Change>) -> impl Iterator<Item = &'c str> {
    changes
        .filter(|change| change.is_uncertain_rename())
        .map(|change| change.path.as_str())
}
