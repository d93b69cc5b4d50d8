//! The findings that the agent is instructed to fix.

use crate::gate::is_within;
use serde::Serialize;
use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{FailOn, FileResults, Finding, Report, Severity};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::rules;
use std::collections::BTreeSet;

/// Maximum number of findings in a task. The button on the platform that starts a fix has the same limit.
const MAX_FINDINGS: usize = 50;

/// A finding of a review, with everything that the agent needs to fix it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReviewFinding {
    /// The path of the pipeline from the repository root.
    pub(super) file: String,
    pub(super) rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) component: Option<String>,
    pub(super) line: u32,
    pub(super) message: String,
    /// What the rule requires and how to meet it; `None` for a rule of the platform that this program does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) requirement: Option<String>,
}

impl From<&Finding<'_>> for ReviewFinding {
    /// Copies what the agent has to know about the finding, and adds what its rule requires.
    fn from(finding: &Finding<'_>) -> Self {
        Self {
            file: finding.path.to_owned(),
            rule: finding.rule.to_owned(),
            component: finding.about.map(str::to_owned),
            line: finding.line,
            message: finding.message(),
            requirement: describe_requirement(finding.rule),
        }
    }
}

/// Returns what the rule requires and how to fix its findings; `None` for a rule that this program does not know.
fn describe_requirement(rule: &str) -> Option<String> {
    let documentation = rules::find_rule(rule)?.documentation();
    Some(format!("{} {}", documentation.summary, documentation.fix))
}

/// The chosen findings of a report, by file and in the order of the results.
#[derive(Debug, Default)]
pub(super) struct TaskFindings {
    /// The chosen files, each with the indices of the chosen findings among those of the file.
    files: Vec<(FileResults, Vec<usize>)>,
    /// Number of findings over the limit.
    pub(super) omitted_count: usize,
    /// Number of findings that `sluicegate fix` can fix without the agent.
    local_fix_count: usize,
}

impl TaskFindings {
    /// Chooses the findings that fail the gate, are about a pipeline and have no local fix, at most `MAX_FINDINGS` of
    /// them. Counts the others. If `paths` is not empty, only files below these paths are considered.
    pub(super) fn from_report(report: &Report, paths: &[String]) -> Self {
        let mut task_findings = Self::default();
        let mut remaining_count = MAX_FINDINGS;
        let files = report
            .files
            .iter()
            .filter(|file| is_pipeline(&file.path) && is_selected_path(&file.path, paths));
        for file in files {
            let mut indices = Vec::new();
            for (index, finding) in file.findings().iter().enumerate() {
                if !needs_fix(finding, report.fail_on()) {
                    continue;
                }
                if finding.fix.is_some() {
                    task_findings.local_fix_count += 1;
                } else if remaining_count == 0 {
                    task_findings.omitted_count += 1;
                } else {
                    remaining_count -= 1;
                    indices.push(index);
                }
            }
            if !indices.is_empty() {
                task_findings.files.push((file.clone(), indices));
            }
        }
        task_findings
    }

    /// Returns whether no finding was chosen for the task.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns a note that points to `sluicegate fix`, if that command can fix findings without the agent.
    pub(super) fn describe_local_fixes(&self) -> Option<String> {
        (self.local_fix_count > 0).then(|| {
            format!(
                "{} can be fixed locally: run `sluicegate fix`",
                format_count(self.local_fix_count, "finding")
            )
        })
    }

    /// Returns the paths of the files that the agent may edit.
    pub(super) fn list_file_paths(&self) -> BTreeSet<&str> {
        self.files.iter().map(|(file, _)| file.path.as_str()).collect()
    }

    /// Returns the findings that the agent is to fix, in the order of the report.
    pub(super) fn list_findings(&self) -> Vec<Finding<'_>> {
        let is_chosen = true;
        self.filter_findings(is_chosen)
    }

    /// Returns the findings of the same files that the agent is not to fix, in the order of the report.
    pub(super) fn list_other_findings(&self) -> Vec<Finding<'_>> {
        let is_chosen = false;
        self.filter_findings(is_chosen)
    }

    /// Returns the findings of the task if `is_chosen` is true, otherwise the other findings of the same files.
    fn filter_findings(&self, is_chosen: bool) -> Vec<Finding<'_>> {
        let mut findings = Vec::new();
        for (file, indices) in &self.files {
            let file_findings = file.findings().into_iter().enumerate();
            let matching_findings = file_findings.filter(|(index, _)| indices.contains(index) == is_chosen);
            findings.extend(matching_findings.map(|(_, finding)| finding));
        }
        findings
    }
}

/// Returns whether the path is equal to or below one of `paths`. An empty list selects every path.
fn is_selected_path(path: &str, paths: &[String]) -> bool {
    paths.is_empty() || paths.iter().any(|restriction| is_within(path, restriction))
}

/// Returns whether the finding fails the gate and can be fixed in the pipeline. With `--fail-on never`, errors need a
/// fix although they do not fail the gate.
fn needs_fix(finding: &Finding<'_>, fail_on: FailOn) -> bool {
    let has_severity = finding.severity == Severity::Error || fail_on == FailOn::Warn;
    finding.is_counted() && has_severity && !finding.is_rules_file_error()
}
