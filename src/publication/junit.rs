//! Writes the outcome as JUnit: a suite `publish`, with one case for the version and one for each break.

use super::Publishing;
use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::CompatMode;
use crate::report::{PublishBreak, PublishRun, publish_junit};
use crate::session::failure::not_written;
use jiff::Timestamp;
use sluicegate_pipelines::findings::Verdict;
use sluicegate_pipelines::interface::InterfaceChange;
use std::path::Path;

impl Publishing<'_> {
    /// Writes the report if one is configured, and reports a failure to write it.
    pub(super) fn tell_junit(&self, what: &str, status: ExitStatus, problems: &[String]) {
        let Some(path) = &self.settings.junit else {
            return;
        };
        self.run.finish_publish_report();
        if let Err(failure) = self.write_junit(path, what, status, problems) {
            self.run.report_failure(&failure);
        }
    }

    fn write_junit(
        &self,
        path: &Path,
        what: &str,
        status: ExitStatus,
        problems: &[String],
    ) -> Result<(), Failure> {
        let elapsed = Timestamp::now().duration_since(self.started);
        let run = PublishRun {
            version: what.to_owned(),
            verdict: match status {
                ExitStatus::Success => Verdict::Passed,
                ExitStatus::Undecided => Verdict::Undecided,
                _ => Verdict::Failed,
            },
            problems: problems.to_vec(),
            breaks: self.breaks(),
            started_at: self.started,
            elapsed: elapsed.try_into().unwrap_or_default(),
        };
        atomic_file::write_file_with(path, |out| publish_junit(&run, out))
            .map_err(not_written("the report ", path))
    }

    fn breaks(&self) -> Vec<PublishBreak> {
        let Some(compat) = self.compared.as_ref().map(|compared| &compared.compat) else {
            return Vec::new();
        };
        let old = compat.old_name();
        let case = |change: &InterfaceChange| {
            let place = change.new.as_ref();
            PublishBreak {
                name: format!("{}: {}", change.subject(), change.describe()),
                words: change.format_line(&old),
                place: place.map(|place| (place.path.clone(), place.line)),
                is_refused: self.settings.compatibility.mode == CompatMode::Fail && compat.accepted.is_none(),
                accepted: compat.accepted.clone(),
            }
        };
        compat.breaking_changes().map(case).collect()
    }
}
