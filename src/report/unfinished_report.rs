//! The report of a run that has no results yet: undecided, with the reason.

use super::{Format, ReportContext, render};
use jiff::Timestamp;
use sluicegate_pipelines::findings::{Engine, Report, ReviewContext};
use std::io::{self, Write};

/// The facts that are known about a review or a check before it has results. Hosts replace the results with the same
/// category and shard, so a report without results must have the category and shard of the finished report.
#[derive(Debug, Clone)]
pub(crate) struct UnfinishedReport {
    pub(crate) engine: Engine,
    pub(crate) review: ReviewContext,
    pub(crate) context: ReportContext,
}

impl UnfinishedReport {
    /// Writes an undecided report in this format. `reason` states why the run has no results.
    pub(crate) fn write(&self, format: Format, reason: &str, writer: &mut dyn Write) -> io::Result<()> {
        let report = Report::for_unfinished_run(self.engine, self.review.clone(), reason, Timestamp::now());
        render(format, &report, &self.context, writer)
    }
}

impl Default for UnfinishedReport {
    /// Returns the facts of a run whose command is unknown.
    fn default() -> Self {
        Self {
            engine: Engine::Remote,
            review: ReviewContext::default(),
            context: ReportContext {
                tool_version: env!("CARGO_PKG_VERSION"),
                ..ReportContext::default()
            },
        }
    }
}
