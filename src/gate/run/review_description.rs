//! The review that a dry run would request.

use crate::gate::run::GateRun;
use sluicegate_base::text::{self, format_count};
use sluicegate_git::CommitId;

impl GateRun<'_> {
    /// Describes the review of a dry run: its commit and the files that would be reviewed, one per line. `requests`
    /// says in how many requests.
    pub(crate) fn describe_review(&self, requests: &str) -> String {
        let files = &self.selection.pipelines.files;
        let mut lines = vec![text::escape_line(&format!(
            "would review {} {requests}: branch {}, commit {}",
            format_count(files.len(), "pipeline"),
            self.subject.change.branch.as_deref().unwrap_or("(no branch)"),
            self.subject.change.head.as_ref().map_or("", CommitId::as_str)
        ))];
        lines.extend(files.iter().map(|file| format!("  {}", text::escape_line(file))));
        let reason = self.empty_reason.as_ref();
        lines.extend(reason.map(|reason| text::escape_line(&format!("nothing to review: {reason}"))));
        lines.join("\n") + "\n"
    }
}
