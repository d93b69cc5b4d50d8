//! The structures of the schema `sluicegate.report/v1`, for writing and for strict reading.
//!
//! A type of `findings` or `interface` is used unchanged if the document has its shape; a structure is defined here
//! only if the shape differs. A test freezes the document. Keys keep their order; new keys come after the old ones, are
//! optional, and have `#[serde(default)]`, so that older reports can still be read. Unknown keys are rejected.

use super::finding_help;
use crate::report::ReportContext;
use jiff::Timestamp;
use serde::{Deserialize, Serialize, Serializer};
use sluicegate_pipelines::findings::{
    ChangeSummary, Enforcement, Engine, FileResults, FindingState, FindingTotals, Origin, Report,
    ResultCounts, ReviewContext, RuleResult, Severity, Status, Verdict, VerdictLimit, Waiver,
};
use sluicegate_pipelines::interface::Compatibility;
use sluicegate_pipelines::pipelines::SubjectKind;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The name of the schema that is written and read.
pub(super) const SCHEMA_NAME: &str = "sluicegate.report/v1";

/// The complete document. The keys after `unreviewed`, and `severity` and `lines` of a result, exist so that any report
/// can be rendered again from this one.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DocumentV1<'r, F = Vec<FileV1>> {
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
    /// Whether the change edits the gate configuration in a way that the job does not allow.
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
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileV1 {
    pub path: String,
    pub results: Vec<RuleV1>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RuleV1 {
    pub rule: String,
    /// The origin of the result; missing in older reports, which use their engine.
    #[serde(default)]
    pub origin: Option<Origin>,
    pub status: String,
    pub enforcement: Option<Enforcement>,
    pub error_type: Option<String>,
    pub violations: Vec<String>,
    pub line: u32,
    #[serde(default)]
    pub severity: Option<Severity>,
    #[serde(default)]
    pub lines: Option<Vec<Option<u32>>>,
    /// `new`, `known` or `waived` for each violation; a single entry if there are no violations.
    #[serde(default)]
    pub state: Option<Vec<Option<FindingState>>>,
    /// The waiver of each violation; the violation of an expired waiver counts.
    #[serde(default)]
    pub waivers: Option<Vec<Option<Waiver>>>,
    /// The component or variable of each violation.
    #[serde(default)]
    pub about: Option<Vec<Option<String>>>,
    /// The kind of each `about`; missing if none is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about_kinds: Option<Vec<Option<SubjectKind>>>,
    /// The number that a counting rule found, for each violation, or once for a failed result without violations.
    #[serde(default)]
    pub sizes: Option<Vec<Option<u64>>>,
    /// The number of findings that are folded under each violation; missing if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folded: Option<Vec<Option<usize>>>,
    /// How to fix its findings; `None` if it has no findings, or if this program does not know the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Where to read about its findings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub docs: Option<String>,
}

/// The files to write. Each is created when it is written, because all together use more memory than the report itself.
pub(super) struct FileWriter<'r>(&'r [FileResults], &'r ReportContext);

impl Serialize for FileWriter<'_> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_seq(self.0.iter().map(|file| FileV1::from_results(file, self.1)))
    }
}

impl<'r> DocumentV1<'r, FileWriter<'r>> {
    /// Returns the report in the form of the JSON document.
    pub(super) fn from_report(report: &'r Report, context: &'r ReportContext) -> Self {
        let unreviewed_files = report.unreviewed_files.iter();
        let excluded_files = report.excluded_files.iter();
        let gate_changes = report.gate_changes.iter();
        Self {
            schema: Cow::Borrowed(SCHEMA_NAME),
            engine: report.engine,
            verdict: report.verdict,
            context: Cow::Borrowed(&report.context),
            counts: report.count_results(),
            files: FileWriter(&report.files, context),
            excluded: excluded_files.clone().map(|file| file.path.clone()).collect(),
            unreviewed: unreviewed_files.clone().map(|file| file.path.clone()).collect(),
            gate_changes: gate_changes.clone().map(|change| change.path.clone()).collect(),
            notes: Cow::Borrowed(&report.notes),
            unreviewed_reasons: unreviewed_files
                .map(|file| (file.path.clone(), file.reason.clone()))
                .collect(),
            started_at: Some(report.started_at),
            elapsed_nanos: u64::try_from(report.duration.as_nanos()).unwrap_or(u64::MAX),
            findings: Some(report.totals()),
            gate_changes_in_words: gate_changes
                .map(|change| (change.path.clone(), change.descriptions.clone()))
                .collect(),
            gate_refused: report.gate_refused,
            compat: report.compat.as_ref().map(Cow::Borrowed),
            excluded_reasons: excluded_files
                .map(|file| (file.path.clone(), file.reason.clone()))
                .collect(),
            changes: report.changes.as_deref().map(Cow::Borrowed),
            open: report.is_open,
            failed_without_finding: report.failed_without_finding,
            limits: Cow::Borrowed(&report.limits),
            reasons: Cow::Borrowed(&report.reasons),
            failed_batches: Cow::Borrowed(&report.failed_batches),
        }
    }
}

impl FileV1 {
    /// Returns the results of a file in the form of the JSON document.
    fn from_results(file: &FileResults, context: &ReportContext) -> Self {
        Self {
            path: file.path.clone(),
            results: file
                .results
                .iter()
                .map(|result| RuleV1::from_result(result, context))
                .collect(),
        }
    }
}

impl RuleV1 {
    /// Returns the result of a rule in the form of the JSON document.
    fn from_result(result: &RuleResult, context: &ReportContext) -> Self {
        let violations = result.violations.iter();
        let violation_indices = 0..result.violations.len().max(1);
        let states = violation_indices.clone().map(|index| result.state(index));
        let waivers = violation_indices.map(|index| result.waiver(index).cloned());
        Self {
            rule: result.rule.clone(),
            origin: Some(result.origin),
            status: result.status.name().to_owned(),
            enforcement: result.enforcement,
            error_type: match &result.status {
                Status::Error(error_type) => error_type.clone(),
                Status::Passed | Status::Failed(_) => None,
            },
            violations: violations
                .clone()
                .map(|violation| violation.text.clone())
                .collect(),
            line: result.line(),
            severity: result.severity(),
            lines: Some(violations.clone().map(|violation| violation.line).collect()),
            about: Some(
                violations
                    .clone()
                    .map(|violation| violation.about.clone())
                    .collect(),
            ),
            about_kinds: violations
                .clone()
                .any(|violation| violation.about_kind.is_some())
                .then(|| violations.clone().map(|violation| violation.about_kind).collect()),
            folded: violations
                .clone()
                .any(|violation| violation.folded_count > 0)
                .then(|| {
                    violations
                        .clone()
                        .map(|violation| Some(violation.folded_count))
                        .collect()
                }),
            sizes: Some(match result.size {
                Some(size) => vec![Some(size)],
                None => violations.map(|violation| violation.size).collect(),
            }),
            state: Some(states.collect()),
            waivers: Some(waivers.collect()),
            help: finding_help::describe_fix(result, context),
            docs: finding_help::documentation_command(result, context),
        }
    }
}
