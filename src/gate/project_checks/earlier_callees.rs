//! Finds the pipelines that calls meant before the change: a call by a bare name may mean another pipeline since then,
//! although nobody edited it.

use crate::document_content::read_document;
use crate::gate::VersionPairs;
use sluicegate_git::{Change, ChangeKind, SnapshotFile};
use sluicegate_pipelines::pipelines::{
    CallResolution, PipelineFacts, PipelineFiles, Reference, ReferenceKind, ReferenceTarget, file_name,
    is_pipeline,
};
use sluicegate_pipelines::project::EarlierCallee;
use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::slice;
use std::sync::Arc;

/// The pipelines of each base, which are listed only if a call may mean another pipeline than at the base.
pub(crate) type BasePipelines = OnceCell<Vec<Vec<SnapshotFile>>>;

/// The calls of a pipeline at a base, in each of their spellings, with the name that the component has in head.
type BaseCalls = HashSet<(Arc<str>, ReferenceKind, String)>;

/// The search for pipelines that calls meant before the change.
pub(crate) struct EarlierCallees<'r> {
    pairs: VersionPairs<'r>,
    /// The changes to pipelines, by their path in head, or at the base for a deleted pipeline.
    changes: HashMap<&'r str, &'r Change>,
    /// The new path of each renamed pipeline, by its old path.
    new_paths: HashMap<&'r str, &'r str>,
    /// The file names that the change adds or removes.
    changed_names: HashSet<&'r str>,
    base_pipelines: &'r BasePipelines,
    base_files: OnceCell<Vec<PipelineFiles<'r>>>,
    /// The calls of the changed pipelines that were already read, by the index of the base and the path in head.
    base_calls: RefCell<HashMap<(usize, String), Rc<BaseCalls>>>,
}

impl<'r> EarlierCallees<'r> {
    /// Creates the search. `changes` are the changes to pipelines since the bases; without a base, nothing is found.
    /// Nothing is read before it is needed.
    pub(crate) fn new(
        pairs: VersionPairs<'r>,
        changes: impl Iterator<Item = &'r Change>,
        base_pipelines: &'r BasePipelines,
    ) -> Self {
        let mut search = Self {
            pairs,
            changes: HashMap::new(),
            new_paths: HashMap::new(),
            changed_names: HashSet::new(),
            base_pipelines,
            base_files: OnceCell::new(),
            base_calls: RefCell::default(),
        };
        if pairs.bases.is_empty() {
            return search;
        }
        for change in changes {
            search.changes.insert(&change.path, change);
            if change.kind != ChangeKind::Modified {
                search.changed_names.extend(change.paths().map(file_name));
            }
            if let Some(old_path) = change.rename_source() {
                search.new_paths.insert(old_path, &change.path);
            }
        }
        search
    }

    /// Returns the pipeline that the call in the file `caller` meant at a base. Returns `None` if it still means the
    /// same pipeline, at `current_path`, or if the call is new, was broken, or names its pipeline with a folder.
    pub(crate) fn find_callee(
        &self,
        caller: &str,
        reference: &Reference,
        current_path: Option<&str>,
    ) -> Option<EarlierCallee> {
        let (ReferenceKind::Pipeline(kind), ReferenceTarget::Path(target)) =
            (reference.kind, &reference.target)
        else {
            return None;
        };
        let change = self.changes.get(caller);
        let old_caller = match change {
            Some(change) => change.old_path()?,
            None => caller,
        };
        let is_affected = old_caller != caller || self.is_changed_name(reference.kind, target);
        if target.contains('/') || !is_affected {
            return None;
        }
        for (base_index, files) in self.list_base_files().iter().enumerate() {
            let resolution = files.resolve(target, kind, old_caller);
            let path = match &resolution {
                CallResolution::File(path) | CallResolution::ByName(path) => Some(*path),
                // The call could mean any of them. Only a renamed one may still be meant under another name.
                CallResolution::Ambiguous(paths) => {
                    let mut paths = paths.iter().copied();
                    paths.find(|path| self.new_paths.contains_key(path))
                }
                CallResolution::Missing => None,
            };
            let Some(path) = path else { continue };
            let new_path = self.new_paths.get(path).copied();
            let is_same = current_path == Some(new_path.unwrap_or(path));
            if is_same {
                continue;
            }
            // A file that the change does not touch has the same calls as at the base.
            if change.is_none_or(|change| self.had_call(base_index, change, reference, target)) {
                return Some(EarlierCallee {
                    path: path.to_owned(),
                    new_path: new_path.map(str::to_owned),
                    deleted: self.is_deleted(path),
                    is_certain: resolution.file().is_some(),
                });
            }
        }
        None
    }

    /// Returns whether the change deletes the pipeline at this path, or replaces it with a link.
    fn is_deleted(&self, path: &str) -> bool {
        let change = self.changes.get(path);
        change.is_some_and(|change| matches!(change.kind, ChangeKind::Deleted | ChangeKind::TypeChanged))
    }

    /// Returns whether the change adds or removes a file that a call with this bare name may mean.
    fn is_changed_name(&self, kind: ReferenceKind, target: &str) -> bool {
        if self.changed_names.is_empty() {
            return false;
        }
        let spellings = kind.list_spellings(target);
        spellings
            .iter()
            .any(|name| self.changed_names.contains(name.as_str()))
    }

    /// Returns the pipelines of each base, which are listed once. A base that cannot be read has none here: the
    /// comparison of the findings with this base then fails.
    fn list_base_files(&self) -> &[PipelineFiles<'r>] {
        let pairs = self.pairs;
        self.base_files.get_or_init(|| {
            let pipelines = self.base_pipelines.get_or_init(|| {
                let mut pipelines = Vec::new();
                for base in pairs.bases {
                    let snapshot = pairs.repo.snapshot(base.clone());
                    pipelines.push(snapshot.list_base_content_files(&is_pipeline).unwrap_or_default());
                }
                pipelines
            });
            let mut indexes = Vec::new();
            for files in pipelines {
                indexes.push(PipelineFiles::new(files.iter().map(|file| file.path.as_str())));
            }
            indexes
        })
    }

    /// Returns whether the component already had this call at the base, with or without the extension.
    fn had_call(&self, base_index: usize, change: &Change, reference: &Reference, target: &str) -> bool {
        let key = (base_index, change.path.clone());
        let cached_calls = self.base_calls.borrow().get(&key).cloned();
        let calls = cached_calls.unwrap_or_else(|| {
            let calls = Rc::new(self.read_calls(base_index, change).unwrap_or_default());
            self.base_calls.borrow_mut().insert(key, Rc::clone(&calls));
            calls
        });
        let component = reference.component.trim().into();
        calls.contains(&(component, reference.kind, target.to_owned()))
    }

    /// Reads the calls of the changed pipeline at the base. Returns `None` if it cannot be read, so that its calls are
    /// treated as new.
    fn read_calls(&self, base_index: usize, change: &Change) -> Option<BaseCalls> {
        let base = self.pairs.bases.get(base_index)?;
        let file = self
            .pairs
            .repo
            .snapshot(base.clone())
            .find_file(change.old_path()?)
            .ok()??;
        let content = read_document(self.pairs.repo, &file).ok()?.ok()?;
        let facts = PipelineFacts::parse(&content).ok()?;
        let mut renames = self.pairs.find_renamed_components(slice::from_ref(change)).ok()?;
        let renamed_components = renames.remove(&change.path).unwrap_or_default();
        let mut calls = BaseCalls::new();
        for reference in &facts.references {
            if let ReferenceTarget::Path(target) = &reference.target {
                let old_name = &*reference.component;
                let name = renamed_components.find_new_name(old_name).unwrap_or(old_name);
                let name: Arc<str> = name.trim().into();
                let spellings = reference.kind.list_spellings(target).into_iter();
                calls.extend(spellings.map(|spelling| (Arc::clone(&name), reference.kind, spelling)));
            }
        }
        Some(calls)
    }
}
