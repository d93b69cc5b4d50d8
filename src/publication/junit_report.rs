//! Writes the outcome as JUnit: a suite `publish`, with one case for the version and one for each break.

use super::receipt_output::UNWRITTEN_FILE;
use super::smoke::SmokeResult;
use super::{Publication, PublishComparison};
use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::session::failure_conversion::to_write_failure;
use jiff::Timestamp;
use sluicegate_pipelines::findings::Verdict;
use sluicegate_reports::{PublishBreak, PublishRun, write_publish_junit};
use std::path::Path;

impl Publication<'_> {
    /// Writes the JUnit report if one is requested, in place of the undecided report from the start of the run. Returns
    /// the exit status of the run, which a failure to write the report may make worse.
    pub(super) fn report_junit(
        &self,
        case_name: &str,
        status: ExitStatus,
        problems: &[String],
        smoke: Option<&SmokeResult>,
    ) -> ExitStatus {
        let Some(path) = &self.settings.junit else {
            return status;
        };
        // A later failure must not replace the report with an undecided one.
        self.session.finish_publish_report();
        let result = self.write_junit(path, case_name, status, problems, smoke);
        status.worse(self.session.report_result_as(UNWRITTEN_FILE, result))
    }

    /// Writes the JUnit report, with a case for the publish, one for each breaking change and one for each smoke run.
    fn write_junit(
        &self,
        path: &Path,
        case_name: &str,
        status: ExitStatus,
        problems: &[String],
        smoke: Option<&SmokeResult>,
    ) -> Result<(), Failure> {
        let failed_smoke = smoke.filter(|smoke| !smoke.is_passed());
        let elapsed_time = Timestamp::now().duration_since(self.started_at);
        let run = PublishRun {
            version: case_name.to_owned(),
            verdict: match status {
                ExitStatus::Success => Verdict::Passed,
                ExitStatus::Undecided => Verdict::Undecided,
                _ => Verdict::Failed,
            },
            problems: problems
                .iter()
                .cloned()
                .chain(failed_smoke.map(SmokeResult::describe_failure))
                .collect(),
            notes: self.list_notes(),
            smoke_runs: smoke.map(SmokeResult::list_junit_cases).unwrap_or_default(),
            breaks: self.build_break_cases(status),
            started_at: self.started_at,
            duration: elapsed_time.try_into().unwrap_or_default(),
        };
        atomic_file::write_file_with(path, |writer| write_publish_junit(&run, writer))
            .map_err(to_write_failure("the report ", path))
    }

    /// Returns the changes that break consumers as cases of the JUnit report; empty if nothing was compared. They are
    /// refused only if the publish ended with this status because of them: a rerun for an existing version may pass.
    fn build_break_cases(&self, status: ExitStatus) -> Vec<PublishBreak> {
        let Some(compat) = self.comparison.as_ref().map(PublishComparison::reported_changes) else {
            return Vec::new();
        };
        let old_name = compat.old_name();
        compat
            .breaking_changes()
            .map(|change| PublishBreak {
                name: format!("{}: {}", change.subject(), change.describe()),
                description: change.format_line(&old_name),
                location: change.new.as_ref().map(|new| (new.path.clone(), new.line)),
                is_refused: status == ExitStatus::GateFailed && compat.accepted.is_none(),
                accepted_reason: compat.accepted.clone(),
            })
            .collect()
    }
}
