//! The structures of the schema `sluicegate.report/v2`, for writing and for strict reading.
//!
//! A type of `findings` or `interface` is used unchanged if the document has its shape; a structure is defined here
//! only if the shape differs. A test freezes the document. Keys keep their order; new keys come after the old ones, are
//! optional, and have `#[serde(default)]`, so that older reports can still be read. Unknown keys are rejected.

use super::finding_help;
use crate::ReportContext;
use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use sluicegate_pipelines::findings::{
    ChangeSummary, Enforcement, Engine, FileResults, FindingState, FindingTotals, Fingerprint, Fix,
    GateFault, Origin, Report, ResultCounts, ReviewContext, RuleResult, RulesFileError, Severity, Status,
    Verdict, VerdictLimit, Waiver,
};
use sluicegate_pipelines::interface::Compatibility;
use sluicegate_pipelines::pipelines::SubjectKind;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the schema that is written and read.
pub(super) const SCHEMA_NAME: &str = "sluicegate.report/v2";

/// The complete document. The keys after `unreviewed`, and `severity` of a result, exist so that any report
/// can be rendered again from this one.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DocumentV2<'r, F = Vec<FileV2>> {
    pub schema: Cow<'r, str>,
    pub engine: Engine,
    pub verdict: Verdict,
    pub context: Cow<'r, ReviewContext>,
    pub counts: ResultCounts,
    pub files: F,
    pub excluded: Vec<String>,
    pub unreviewed: Vec<String>,
    #[serde(default)]
    pub gate_changes: Vec<String>,
    #[serde(default)]
    pub notes: Cow<'r, [String]>,
    #[serde(default)]
    pub unreviewed_reasons: BTreeMap<String, String>,
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    #[serde(default)]
    pub elapsed_nanos: u64,
    #[serde(default)]
    pub findings: Option<FindingTotals>,
    #[serde(default)]
    pub gate_changes_in_words: BTreeMap<String, Vec<String>>,
    /// Whether the job does not allow the change to the gate configuration.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gate_refused: bool,
    #[serde(default)]
    pub excluded_reasons: BTreeMap<String, String>,
    /// The effects of the change on consumers; `None` if they were not compared or there are no changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<Cow<'r, Compatibility>>,
    /// The changes to the pipelines; `None` if there was no comparison.
    #[serde(default)]
    pub changes: Option<Cow<'r, [ChangeSummary]>>,
    /// Whether something is unknown, regardless of the verdict.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// True if the platform reported FAILED for a batch, and no finding of level error explains it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed_without_finding: bool,
    /// The notes that limit the verdict, each with its kind and the file that it is about.
    #[serde(default, skip_serializing_if = "<[VerdictLimit]>::is_empty")]
    pub limits: Cow<'r, [VerdictLimit]>,
    /// The notes that explain a verdict other than passed.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub reasons: Cow<'r, [String]>,
    /// The files of each batch for which the platform reported FAILED.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub failed_batches: Cow<'r, [BTreeSet<String>]>,
    /// What to do about the failed requests, also if the verdict is failed.
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    pub next_steps: Cow<'r, [String]>,
    /// The faults of the gate configuration that fail the gate.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub gate_faults: Cow<'r, [GateFault]>,
    /// The first file of the gate configuration that has such a fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faulty_gate_file: Option<Cow<'r, str>>,
    /// The errors in the rules file that kept pipelines from being evaluated.
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    pub rules_file_errors: Cow<'r, [RulesFileError]>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileV2 {
    pub path: String,
    pub results: Vec<RuleV2>,
    /// Whether the rules file was applied to the file; missing if the results show it.
    #[serde(default, rename = "reviewed", skip_serializing_if = "Option::is_none")]
    pub is_reviewed: Option<bool>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RuleV2 {
    pub rule: String,
    /// The origin of the result; missing in older reports, which use their engine.
    #[serde(default)]
    pub origin: Option<Origin>,
    pub status: String,
    pub enforcement: Option<Enforcement>,
    pub error_type: Option<String>,
    #[serde(default)]
    pub severity: Option<Severity>,
    /// The findings of the result; none if the rule passed.
    pub findings: Vec<FindingV2>,
    /// How to fix its findings; `None` if it has no findings, or if this program does not know the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Where to read about its findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs: Option<String>,
}

/// A finding: one violation, or a rule that failed or could not be evaluated without one.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FindingV2 {
    /// The reviewer's text; `None` if the result has no violation.
    pub message: Option<String>,
    /// The line; missing if the message names nothing that has a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The component or variable that the finding concerns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about_kind: Option<SubjectKind>,
    /// The state compared with the base; `None` without a comparison.
    pub state: Option<FindingState>,
    /// The waiver. If it has expired, the finding can fail the gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiver: Option<Waiver>,
    /// The number that a counting rule found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// True if a project check reports the finding as a warning at most; missing otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub minor: bool,
    /// The number of findings that are folded under this one; missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<usize>,
    /// The identity of the finding across runs, as in the other reports; it is not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// The edit that `sluicegate fix` makes; missing if the finding has no proven fix.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<Box<Fix>>,
}

/// The files to write. Each is created when it is written, because all together use more memory than the report itself.
pub(super) struct FileWriter<'r> {
    files: &'r [FileResults],
    context: &'r ReportContext,
}

impl Serialize for FileWriter<'_> {
    /// Writes the list of files. Each file is converted only when it is written.
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        let files = self.files.iter();
        writer.collect_seq(files.map(|file| FileV2::from_results(file, self.context)))
    }
}

impl<'r> DocumentV2<'r, FileWriter<'r>> {
    /// Creates the JSON document of a report. Its files are converted later, while they are written.
    pub(super) fn from_report(report: &'r Report, context: &'r ReportContext) -> Self {
        let (excluded_files, unreviewed_files) = (&report.excluded_files, &report.unreviewed_files);
        let gate_changes = &report.gate_changes;
        // The lists have only paths; the reasons and descriptions are in separate maps.
        Self {
            schema: Cow::Borrowed(SCHEMA_NAME),
            engine: report.engine,
            verdict: report.verdict,
            context: Cow::Borrowed(&report.context),
            counts: report.count_results(),
            files: FileWriter {
                files: &report.files,
                context,
            },
            excluded: excluded_files.iter().map(|file| file.path.clone()).collect(),
            unreviewed: unreviewed_files.iter().map(|file| file.path.clone()).collect(),
            gate_changes: gate_changes.iter().map(|change| change.path.clone()).collect(),
            notes: Cow::Borrowed(&report.notes),
            unreviewed_reasons: unreviewed_files
                .iter()
                .map(|file| (file.path.clone(), file.reason_with_step().into_owned()))
                .collect(),
            started_at: Some(report.started_at),
            elapsed_nanos: u64::try_from(report.duration.as_nanos()).unwrap_or(u64::MAX),
            findings: Some(report.finding_totals()),
            gate_changes_in_words: gate_changes
                .iter()
                .map(|change| (change.path.clone(), change.descriptions.clone()))
                .collect(),
            gate_refused: report.gate_refused,
            compat: report.compat.as_ref().map(Cow::Borrowed),
            excluded_reasons: excluded_files
                .iter()
                .map(|file| (file.path.clone(), file.reason.clone()))
                .collect(),
            changes: report.changes.as_deref().map(Cow::Borrowed),
            open: report.is_open,
            failed_without_finding: report.failed_without_finding,
            limits: Cow::Borrowed(&report.limits),
            reasons: Cow::Borrowed(&report.reasons),
            failed_batches: Cow::Borrowed(&report.failed_batches),
            next_steps: Cow::Borrowed(&report.next_steps),
            gate_faults: Cow::Borrowed(&report.gate_faults),
            faulty_gate_file: report.faulty_gate_file.as_deref().map(Cow::Borrowed),
            rules_file_errors: Cow::Borrowed(&report.rules_file_errors),
        }
    }
}

impl FileV2 {
    /// Creates the entry of a file in the JSON document. Every rule repeats an error of the entire file in its result,
    /// but the error is one finding: only the first of these results has the fingerprint.
    fn from_results(file: &FileResults, context: &ReportContext) -> Self {
        let mut fingerprints = Fingerprint::for_findings(&file.findings()).into_iter();
        // The results in the same order, without those that repeat an error of the entire file.
        let mut distinct_results = file.distinct_results().into_iter().peekable();
        let mut results = Vec::with_capacity(file.results.len());
        for result in &file.results {
            let is_distinct = distinct_results
                .next_if(|distinct_result| std::ptr::eq(*distinct_result, result))
                .is_some();
            let finding_count = match &result.status {
                // An earlier result has the fingerprint of the same error.
                _ if !is_distinct => 0,
                Status::Passed => 0,
                // All violations of an evaluation error are one finding, so it has one fingerprint.
                Status::Error(_) => 1,
                Status::Failed(_) => result.violations.len().max(1),
            };
            let result_fingerprints = fingerprints.by_ref().take(finding_count).collect();
            results.push(RuleV2::from_result(result, context, result_fingerprints));
        }
        Self {
            path: file.path.clone(),
            is_reviewed: (file.is_reviewed != file.looks_reviewed()).then_some(file.is_reviewed),
            results,
        }
    }
}

impl RuleV2 {
    /// Creates the entry of a rule's result in the JSON document. A result without violations that did not pass has one
    /// finding. If `fingerprints` has fewer items than there are findings, the last findings have none.
    fn from_result(result: &RuleResult, context: &ReportContext, fingerprints: Vec<Fingerprint>) -> Self {
        let mut fingerprints = fingerprints.into_iter();
        let finding_count = match result.status {
            Status::Passed => 0,
            Status::Failed(_) | Status::Error(_) => result.violations.len().max(1),
        };
        Self {
            rule: result.rule.clone(),
            origin: Some(result.origin),
            status: result.status.name().to_owned(),
            enforcement: result.enforcement,
            error_type: match &result.status {
                Status::Error(error_type) => error_type.clone(),
                Status::Passed | Status::Failed(_) => None,
            },
            severity: result.severity(),
            findings: (0..finding_count)
                .map(|index| FindingV2::from_result(result, index, fingerprints.next()))
                .collect(),
            help: finding_help::describe_fix(result, context),
            docs: finding_help::documentation_command(result, context),
        }
    }
}

impl FindingV2 {
    /// Creates the finding for the violation at this index. If the result has no violations, the finding has no
    /// message.
    fn from_result(result: &RuleResult, index: usize, fingerprint: Option<Fingerprint>) -> Self {
        let violation = result.violations.get(index);
        Self {
            message: violation.map(|violation| violation.text.clone()),
            line: violation.and_then(|violation| violation.line),
            about: violation.and_then(|violation| violation.about.clone()),
            about_kind: violation.and_then(|violation| violation.about_kind),
            state: result.state(index),
            waiver: result.waiver(index).cloned(),
            size: match violation {
                Some(violation) => violation.size,
                None => result.size,
            },
            minor: violation.is_some_and(|violation| violation.is_minor),
            folded: violation
                .map(|violation| violation.folded_count)
                .filter(|folded_count| *folded_count > 0),
            fingerprint: fingerprint.map(|fingerprint| fingerprint.to_string()),
            fix: violation.and_then(|violation| violation.fix.clone()),
        }
    }
}
