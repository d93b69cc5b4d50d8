//! Finds what the change renames: pipelines, other files, and components. Also finds the files that it deletes.

use crate::document_content::read_document;
use crate::gate::VersionPairs;
use crate::gate::baseline::renamed_components::RenamedComponents;
use crate::gate::project_checks::earlier_callees::{BasePipelines, EarlierCallees};
use crate::gate::run::GateRun;
use sluicegate_git::{Change, ChangeKind, FileKind};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

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
        RenamedFiles::new(self.compared_versions(), changes.collect())
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

    /// Returns the hash of a file's content. Returns `None` if the file cannot be read.
    fn hash_file(&self, path: &str) -> Option<u64> {
        let file = self.head.find_file(path).ok()??;
        let content = read_document(self.repo, &file).ok()?.ok()?;
        let mut hasher = DefaultHasher::new();
        content.hash(&mut hasher);
        Some(hasher.finish())
    }

    /// Returns the content hashes of the files that these changes add.
    fn hash_added_files<'c>(&self, changes: impl Iterator<Item = &'c Change>) -> HashSet<u64> {
        changes
            .filter(|change| change.kind == ChangeKind::Added)
            .filter_map(|change| self.hash_file(&change.path))
            .collect()
    }
}

/// The files that the change renames. They are searched only when a broken reference needs them.
pub(crate) struct RenamedFiles<'r> {
    pairs: VersionPairs<'r>,
    pipeline_changes: Vec<&'r Change>,
    script_changes: OnceCell<Vec<Change>>,
    added_pipeline_hashes: OnceCell<HashSet<u64>>,
    added_script_hashes: OnceCell<HashSet<u64>>,
    deleted_pipelines: OnceCell<HashSet<&'r str>>,
    deleted_scripts: OnceCell<HashSet<String>>,
    /// The results of [`Self::has_twin`], by the new path.
    has_twin_by_path: RefCell<HashMap<String, bool>>,
}

impl<'r> RenamedFiles<'r> {
    /// Creates the search for renamed files. Nothing is read or compared before it is needed.
    pub(crate) fn new(pairs: VersionPairs<'r>, pipeline_changes: Vec<&'r Change>) -> Self {
        Self {
            pairs,
            pipeline_changes,
            script_changes: OnceCell::new(),
            added_pipeline_hashes: OnceCell::new(),
            added_script_hashes: OnceCell::new(),
            deleted_pipelines: OnceCell::new(),
            deleted_scripts: OnceCell::new(),
            has_twin_by_path: RefCell::default(),
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
            let deleted_pipelines = self.deleted_pipelines.get_or_init(|| {
                let mut deletions = self.pipeline_changes.clone();
                deletions
                    .retain(|change| matches!(change.kind, ChangeKind::Deleted | ChangeKind::TypeChanged));
                deletions.iter().map(|change| change.path.as_str()).collect()
            });
            deleted_pipelines.contains(path)
        } else {
            let deleted_scripts = self.deleted_scripts.get_or_init(|| {
                let changes = self.script_changes().iter();
                let deletions = changes.filter(|change| change.kind == ChangeKind::Deleted);
                deletions.map(|change| change.path.clone()).collect()
            });
            deleted_scripts.contains(path)
        }
    }

    /// Returns whether the change adds another file with the same content as the renamed file at `new_path`, so that a
    /// broken reference may mean either file. A file that cannot be read is treated as if it had a twin.
    pub(crate) fn has_twin(&self, new_path: &str) -> bool {
        if let Some(has_twin) = self.has_twin_by_path.borrow().get(new_path) {
            return *has_twin;
        }
        let hash = self.pairs.hash_file(new_path);
        let has_twin = hash.is_none_or(|hash| self.added_hashes(new_path).contains(&hash));
        self.has_twin_by_path
            .borrow_mut()
            .insert(new_path.to_owned(), has_twin);
        has_twin
    }

    /// Returns the content hashes of the added files of the same kind as the file at `path`: of pipelines, or of all
    /// other files. They are computed once.
    fn added_hashes(&self, path: &str) -> &HashSet<u64> {
        if is_pipeline(path) {
            self.added_pipeline_hashes.get_or_init(|| {
                let changes = self.pipeline_changes.iter().copied();
                self.pairs.hash_added_files(changes)
            })
        } else {
            self.added_script_hashes
                .get_or_init(|| self.pairs.hash_added_files(self.script_changes().iter()))
        }
    }
}
