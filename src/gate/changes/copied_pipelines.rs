//! Finds the pipelines that a change copied.

use crate::document_content::find_content_id;
use crate::gate::VersionPairs;
use sluicegate_git::{BlobId, Change, ChangeKind, CommitId, FileKind, GitError, Repository};
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::{BTreeMap, BTreeSet, HashMap};

impl VersionPairs<'_> {
    /// Returns the path of the pipeline from which each added one was copied, by the path of the copy. A pipeline is a
    /// copy if exactly one pipeline of its base has the same content: if several have it, nothing shows which one was
    /// copied.
    pub(crate) fn find_copy_sources(&self, changes: &[Change]) -> Result<BTreeMap<String, String>, GitError> {
        let mut sources = BTreeMap::new();
        for (base_index, base) in self.bases.iter().enumerate() {
            let added_paths: BTreeSet<&str> = changes
                .iter()
                .filter(|change| change.base_index == base_index && change.kind == ChangeKind::Added)
                .filter(|change| change.file_kind == Some(FileKind::Regular))
                .map(|change| change.path.as_str())
                .collect();
            if added_paths.is_empty() {
                continue;
            }
            let paths_by_content = index_by_content(self.repo, base)?;
            for file in self.head.find_files(&added_paths)? {
                let same_paths = find_content_id(&file.content).and_then(|id| paths_by_content.get(&id));
                if let Some([source]) = same_paths.map(Vec::as_slice) {
                    sources.insert(file.path, source.clone());
                }
            }
        }
        Ok(sources)
    }
}

/// Returns the paths of the pipelines of this commit, by the id of their content.
fn index_by_content(repo: &Repository, base: &CommitId) -> Result<HashMap<BlobId, Vec<String>>, GitError> {
    let mut paths_by_content: HashMap<BlobId, Vec<String>> = HashMap::new();
    for file in repo.list_base_files(base, &is_pipeline)? {
        if file.kind == FileKind::Regular {
            paths_by_content.entry(file.blob).or_default().push(file.path);
        }
    }
    Ok(paths_by_content)
}
