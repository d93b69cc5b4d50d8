//! Adds the pipelines that a publish would include to the selection of a run.

use crate::gate::run::GateRun;
use sluicegate_base::text::format_count;

impl GateRun<'_> {
    /// Adds the pipelines that a publish would include to the selection. A note states how many unchanged pipelines
    /// were added.
    pub(super) fn add_published_pipelines(&mut self, pipelines: &[String]) {
        let files = &mut self.selection.pipelines.files;
        let mut unchanged_files = pipelines.to_vec();
        unchanged_files.retain(|path| !files.contains(path));
        if unchanged_files.is_empty() {
            return;
        }
        let pipeline_count = format_count(unchanged_files.len(), "pipeline");
        files.extend(unchanged_files);
        files.sort();
        self.add_notes([format!(
            "also reviewed {pipeline_count} without changes, because they would be published too"
        )]);
    }
}
