//! The kinds of the shared pipelines whose files differ between two versions.
//!
//! The kind of a pipeline is defined by the `type` key in its file, not by the file's name. The caller reads the files,
//! and only those that differ; for the others, and for files that cannot be read, the name is used.

use crate::pipelines::{PipelineKind, SharedEntry};
use std::collections::HashMap;

/// The old and the new kind of each shared pipeline whose files were read, by id.
#[derive(Debug, Default)]
pub struct ChangedKinds(HashMap<String, [Option<PipelineKind>; 2]>);

impl ChangedKinds {
    /// Records the kind of a shared pipeline according to its old and to its new file; `None` for a file that could not
    /// be read.
    pub fn insert(&mut self, id: String, old: Option<PipelineKind>, new: Option<PipelineKind>) {
        self.0.insert(id, [old, new]);
    }

    /// Returns the names of the old and the new kind of a shared pipeline. If a file was not read, its name determines
    /// the kind.
    pub(super) fn kind_names(
        &self,
        old_entry: &SharedEntry,
        new_entry: &SharedEntry,
    ) -> [Option<&'static str>; 2] {
        let [old_kind, new_kind] = self.0.get(&new_entry.id).copied().unwrap_or_default();
        [
            old_kind
                .or_else(|| PipelineKind::from_path(&old_entry.pipeline))
                .map(PipelineKind::name),
            new_kind
                .or_else(|| PipelineKind::from_path(&new_entry.pipeline))
                .map(PipelineKind::name),
        ]
    }
}
