//! Renders the result of the agent's fix as text and as JSON.

use super::fix_comparison::FixComparison;
use super::remote_branches::RemoteBranches;
use super::task_findings::ReviewFinding;
use crate::job::context::Target;
use serde_json::{Value, json};
use sluicegate_base::text::{self, format_count};
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::Verdict;
use std::fmt::Write as _;

/// The name of the JSON document's format.
const SCHEMA: &str = "sluicegate.agent-fix/v1";

/// Maximum number of findings in each list of the text.
const MAX_LISTED_FINDINGS: usize = 50;

/// A fix that was fetched and reviewed.
pub(super) struct FixReport<'a> {
    pub(super) task: &'a str,
    pub(super) branches: &'a RemoteBranches,
    /// The newest commit of the new branch.
    pub(super) commit: &'a CommitId,
    pub(super) comparison: &'a FixComparison,
    /// Number of findings that were not in the task because of its limit.
    pub(super) omitted_count: usize,
}

impl FixReport<'_> {
    /// Returns the report as text: the fixed, remaining and new findings, other problems, and the result in one line.
    pub(super) fn render_text(&self) -> String {
        format!("{}{}\n", self.render_details(), self.describe_result())
    }

    /// Renders the fixed, remaining and new findings, and other problems.
    fn render_details(&self) -> String {
        let comparison = self.comparison;
        let mut output = String::new();
        for (title, findings) in [
            ("fixed", &comparison.fixed_findings),
            ("left", &comparison.remaining_findings),
            ("new", &comparison.new_findings),
        ] {
            write_findings(&mut output, title, findings);
        }
        for reason in comparison.other_failures.iter().chain(&comparison.doubts) {
            let _ = writeln!(output, "{}", text::escape_line(reason));
        }
        if self.omitted_count > 0 {
            let _ = writeln!(
                output,
                "{} did not fit into the task: run the command again on the new branch",
                format_count(self.omitted_count, "more finding")
            );
        }
        output
    }

    /// Describes the result in one line, with the branch of the fix.
    fn describe_result(&self) -> String {
        let comparison = self.comparison;
        let (branch, commit) = (&self.branches.fix_branch, self.commit.short());
        let result = if comparison.is_success() {
            format!(
                "fixed on branch {branch} ({commit}); {} is unchanged",
                self.branches.reviewed_branch
            )
        } else if comparison.is_failure() {
            format!("not fixed: do not merge branch {branch} ({commit})")
        } else {
            format!("undecided: branch {branch} ({commit}) was not reviewed completely")
        };
        text::escape_line(&result)
    }

    /// Describes a fix that did not succeed for a CI host: the result first, then the details.
    pub(super) fn describe_problem(&self) -> String {
        format!("{}\n{}", self.describe_result(), self.render_details())
    }

    /// Returns the report as a JSON document.
    pub(super) fn to_document(&self) -> Value {
        let comparison = self.comparison;
        json!({
            "schema": SCHEMA,
            "taskId": self.task,
            "branch": self.branches.fix_branch,
            "commit": self.commit.as_str(),
            "reviewedBranch": self.branches.reviewed_branch,
            "reviewedCommit": self.branches.reviewed_commit.as_str(),
            "success": comparison.is_success(),
            "verdict": comparison.verdict.to_string(),
            "fixed": comparison.fixed_findings,
            "left": comparison.remaining_findings,
            "new": comparison.new_findings,
            "reasons": comparison.other_failures.iter().chain(&comparison.doubts).collect::<Vec<_>>(),
            "omitted": self.omitted_count,
        })
    }
}

/// Returns the document of a review without a finding that the agent can fix, so that there is neither a task nor a new
/// branch. Without a fix, the reviewed branch succeeds only if it passes.
pub(super) fn build_document_without_task(target: &Target, verdict: Verdict) -> Value {
    json!({
        "schema": SCHEMA,
        "taskId": null,
        "branch": null,
        "commit": null,
        "reviewedBranch": target.branch,
        "reviewedCommit": target.head.as_str(),
        "success": verdict == Verdict::Passed,
        "verdict": verdict.to_string(),
        "fixed": [],
        "left": [],
        "new": [],
        "reasons": [],
        "omitted": 0,
    })
}

/// Writes the first `MAX_LISTED_FINDINGS` findings under the title, and the number of the others. Writes nothing if the
/// list is empty.
fn write_findings(output: &mut String, title: &str, findings: &[ReviewFinding]) {
    if findings.is_empty() {
        return;
    }
    let _ = writeln!(output, "{title}: {}", format_count(findings.len(), "finding"));
    for finding in findings.iter().take(MAX_LISTED_FINDINGS) {
        let ReviewFinding {
            file,
            line,
            rule,
            message,
            ..
        } = finding;
        let _ = writeln!(
            output,
            "  {}",
            text::escape_line(&format!("{file}:{line}: {rule}: {message}"))
        );
    }
    if findings.len() > MAX_LISTED_FINDINGS {
        let _ = writeln!(output, "  and {} more", findings.len() - MAX_LISTED_FINDINGS);
    }
}
