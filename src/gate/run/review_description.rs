//! The review that a dry run would request.

use crate::gate::GateAction;
use crate::gate::run::GateRun;
use crate::gate::shard_selection::format_empty_run_note;
use crate::session::response_output::format_json;
use serde_json::{Value, json};
use sluicegate_base::text::{self, format_count};
use sluicegate_git::CommitId;

impl GateRun<'_> {
    /// Renders the plan of a dry run, as JSON if the job requests it. `request_count` is the number of requests to the
    /// platform, or `None` for a local review.
    pub(crate) fn render_plan(&self, request_count: Option<usize>) -> String {
        if self.subject.settings.verdict.destinations.prints_json() {
            format_json(&self.build_plan_json(request_count))
        } else {
            self.render_plan_text(request_count)
        }
    }

    /// Renders the plan of a dry run as text: branch and commit, then the files that would be reviewed, one per line.
    fn render_plan_text(&self, request_count: Option<usize>) -> String {
        let requests = match request_count {
            Some(request_count) => format!("in {}", format_count(request_count, "request")),
            None => "locally".to_owned(),
        };
        let files = &self.selection.pipelines.files;
        let action = if files.is_empty() {
            "would not review a pipeline".to_owned()
        } else {
            format!(
                "would review {} {requests}",
                self.selection.pipelines.describe_file_count()
            )
        };
        let mut lines = vec![text::escape_line(&format!(
            "{action}: branch {}, commit {}",
            self.subject.change.branch.as_deref().unwrap_or("(no branch)"),
            self.subject.change.head.as_ref().map_or("", CommitId::as_str)
        ))];
        lines.extend(files.iter().map(|file| format!("  {}", text::escape_line(file))));
        let reason = self.empty_reason.as_ref();
        lines.extend(
            reason.map(|reason| text::escape_line(&format_empty_run_note(GateAction::Review, reason))),
        );
        lines.join("\n") + "\n"
    }

    /// Builds the plan of a dry run as JSON, schema `sluicegate.review-plan/v1`.
    fn build_plan_json(&self, request_count: Option<usize>) -> Value {
        json!({
            "schema": "sluicegate.review-plan/v1",
            "branch": self.subject.change.branch,
            "commit": self.subject.change.head.as_ref().map(CommitId::as_str),
            "requests": request_count,
            "files": self.selection.pipelines.files,
            "nothingToReview": self.empty_reason,
        })
    }
}
