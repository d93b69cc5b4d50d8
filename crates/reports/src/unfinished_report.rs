//! The report of a run that has no results yet: undecided, with the reason.

use super::{Format, ReportContext, render};
use jiff::Timestamp;
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
        let mut review = self.review.clone();
        review.fail_on = review.fail_on.or(self.file_fail_on);
        let report = Report::for_unfinished_run(self.engine, review, reason, Timestamp::now());
        render(format, &report, &self.context, writer)
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
