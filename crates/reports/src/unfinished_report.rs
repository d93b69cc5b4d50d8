//! The report of a run that has no results yet: undecided, with the reason.

use super::markdown::render_commit;
use super::{Format, ReportContext, bitbucket, render, render_comment};
use jiff::Timestamp;
use serde_json::Value;
use sluicegate_pipelines::findings::{Engine, FailOn, Report, ReviewContext};
use std::io::{self, Write};

/// The facts that are known about a review or a check before it has results. Hosts replace the results with the same
/// category and shard, so a report without results must have the category and shard of the finished report.
#[derive(Debug, Clone)]
pub struct UnfinishedReport {
    pub engine: Engine,
    pub review: ReviewContext,
    /// The level that the configuration file enforces, which applies if the job does not request one; `None` if the
    /// file is not read yet or does not set it.
    pub file_fail_on: Option<FailOn>,
    pub context: ReportContext,
}

impl UnfinishedReport {
    /// Writes an undecided report in this format. `reason` states why the run has no results.
    pub fn write(&self, format: Format, reason: &str, writer: &mut dyn Write) -> io::Result<()> {
        render(format, &self.build_report(reason), &self.context, writer)
    }

    /// Renders the comment that replaces the one with the result of an earlier run. `commit` is the commit that this
    /// run was to review.
    pub fn render_comment(&self, reason: &str, commit: Option<&str>) -> String {
        let mut comment = render_comment(&self.build_report(reason), &self.context);
        comment.extend(commit.map(render_commit));
        comment
    }

    /// Returns the id of the review and the body of the report that replaces the one of an earlier run in Bitbucket's
    /// Code Insights.
    pub fn build_code_insights(&self, reason: &str) -> (String, Value) {
        let report = self.build_report(reason);
        (self.context.review_id(&report), bitbucket::build_report(&report))
    }

    /// Builds the undecided report. `reason` states why the run has no results.
    fn build_report(&self, reason: &str) -> Report {
        let mut review = self.review.clone();
        review.fail_on = review.fail_on.or(self.file_fail_on);
        Report::for_unfinished_run(self.engine, review, reason, Timestamp::now())
    }
}

impl Default for UnfinishedReport {
    /// Returns the facts of a run whose command is unknown.
    fn default() -> Self {
        Self {
            engine: Engine::Remote,
            review: ReviewContext::default(),
            file_fail_on: None,
            context: ReportContext {
                tool_version: env!("CARGO_PKG_VERSION"),
                ..ReportContext::default()
            },
        }
    }
}
