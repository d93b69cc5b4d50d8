//! The document of the schema `sluicegate.report/v1`: each struct is both what is written and what is strictly read.
//!
//! The structs are frozen for the schema: an internal type may change without a reader noticing. Keys keep their order;
//! new ones come after the old, are optional, and have `#[serde(default)]`, so that an older report is still read.
//! Whatever is in no struct is refused.

use super::compat::CompatV1;
use super::context::ContextV1;
use crate::findings::{Changed, Counts, FileResults, Numbers, Report, RuleResult, Status, Totals, Waiver};
use jiff::Timestamp;
use jiff::civil::Date;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

/// The schema that is written and read.
pub(super) const SCHEMA: &str = "sluicegate.report/v1";

/// The whole. What follows `unreviewed`, and `severity` and `lines` of a result, are there so that any report can be
/// made again from this one.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DocumentV1<F = Vec<FileV1>> {
    pub schema: String,
    pub engine: String,
    pub verdict: String,
    pub context: ContextV1,
    pub counts: CountsV1,
    pub files: F,
    pub excluded: Vec<String>,
    pub unreviewed: Vec<String>,
    #[serde(default)]
    pub gate_changes: Vec<String>,
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub unreviewed_reasons: BTreeMap<String, String>,
    #[serde(default)]
    pub started_at: Option<Timestamp>,
    #[serde(default)]
    pub elapsed_nanos: u64,
    #[serde(default)]
    pub findings: Option<FindingsV1>,
    #[serde(default)]
    pub gate_changes_in_words: BTreeMap<String, Vec<String>>,
    /// The change touches the gate and more, which the job does not allow.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gate_refused: bool,
    #[serde(default)]
    pub excluded_reasons: BTreeMap<String, String>,
    /// What the change does to consumers; none where that was not compared, or nothing changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compat: Option<CompatV1>,
    /// What changed in the pipelines; none where nothing was compared.
    #[serde(default)]
    pub changes: Option<Vec<ChangeV1>>,
    /// Something is not known, whatever the verdict is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
    /// The platform called a batch failed in which nothing was found.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed_without_finding: bool,
}

/// What changed in a pipeline.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ChangeV1 {
    pub path: String,
    pub previous_path: Option<String>,
    pub change: String,
    pub components: NumbersV1,
    pub links: NumbersV1,
    pub variables: NumbersV1,
    pub other: usize,
    pub layout: bool,
    pub called_by: Option<usize>,
}

/// How many things of one kind changed.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NumbersV1 {
    pub added: usize,
    pub removed: usize,
    pub renamed: usize,
    pub modified: usize,
}

/// The numbers by findings. Of those that are neither known nor waived, `errors` and `warnings`.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FindingsV1 {
    pub errors: usize,
    pub warnings: usize,
    pub not_evaluated: usize,
    pub new: Option<usize>,
    pub known: Option<usize>,
    pub waived: usize,
    pub fixed: Option<usize>,
}

/// The numbers.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CountsV1 {
    pub files: usize,
    pub passed: usize,
    pub failed: usize,
    pub errors: usize,
    pub warnings: usize,
    pub excluded: usize,
    pub unreviewed: usize,
}

/// A file with results.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FileV1 {
    pub path: String,
    pub results: Vec<RuleV1>,
}

/// The result of a rule.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RuleV1 {
    pub rule: String,
    pub status: String,
    pub enforcement: Option<String>,
    pub error_type: Option<String>,
    pub violations: Vec<String>,
    pub line: u32,
    #[serde(default)]
    pub severity: Option<String>,
    #[serde(default)]
    pub lines: Option<Vec<Option<u32>>>,
    /// `new`, `known` or `waived` for each violation, one where there is none.
    #[serde(default)]
    pub state: Option<Vec<Option<String>>>,
    /// The waiver that is about each violation; of one that is over the finding counts.
    #[serde(default)]
    pub waivers: Option<Vec<Option<WaiverV1>>>,
    /// The component or variable that each violation is about.
    #[serde(default)]
    pub about: Option<Vec<Option<String>>>,
    /// What a rule that counts has counted, for each violation, or once for a failed result without any.
    #[serde(default)]
    pub sizes: Option<Vec<Option<u64>>>,
}

/// What a waiver says of a finding.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct WaiverV1 {
    pub reason: String,
    pub owner: Option<String>,
    /// The last day on which it holds.
    pub until: Option<Date>,
}

/// Files to be written, each made when it is its turn: all of them take more memory than the report itself.
pub(super) struct WrittenFiles<'r>(&'r [FileResults]);

impl Serialize for WrittenFiles<'_> {
    fn serialize<S: Serializer>(&self, writer: S) -> Result<S::Ok, S::Error> {
        writer.collect_seq(self.0.iter().map(FileV1::from))
    }
}

impl<'r> From<&'r Report> for DocumentV1<WrittenFiles<'r>> {
    fn from(report: &'r Report) -> Self {
        let unreviewed = report.unreviewed.iter();
        let excluded = report.excluded.iter();
        let gate_changes = report.gate_changes.iter();
        Self {
            schema: SCHEMA.to_owned(),
            engine: report.engine.to_string(),
            verdict: report.verdict.to_string(),
            context: ContextV1::from(&report.context),
            counts: CountsV1::from(report.counts()),
            files: WrittenFiles(&report.files),
            excluded: excluded.clone().map(|file| file.path.clone()).collect(),
            unreviewed: unreviewed.clone().map(|file| file.path.clone()).collect(),
            gate_changes: gate_changes.clone().map(|change| change.path.clone()).collect(),
            notes: report.notes.clone(),
            unreviewed_reasons: unreviewed
                .map(|file| (file.path.clone(), file.reason.clone()))
                .collect(),
            started_at: Some(report.started_at),
            elapsed_nanos: u64::try_from(report.elapsed.as_nanos()).unwrap_or(u64::MAX),
            findings: Some(report.totals().into()),
            gate_changes_in_words: gate_changes
                .map(|change| (change.path.clone(), change.words.clone()))
                .collect(),
            gate_refused: report.gate_refused,
            compat: report.for_consumers.as_ref().map(CompatV1::from),
            excluded_reasons: excluded
                .map(|file| (file.path.clone(), file.reason.clone()))
                .collect(),
            changes: report
                .changes
                .as_ref()
                .map(|all| all.iter().map(ChangeV1::from).collect()),
            open: report.is_open,
            failed_without_finding: report.failed_without_finding,
        }
    }
}

impl From<&Changed> for ChangeV1 {
    fn from(changed: &Changed) -> Self {
        Self {
            path: changed.path.clone(),
            previous_path: changed.previous_path.clone(),
            change: changed.change.name().to_owned(),
            components: changed.components.into(),
            links: changed.links.into(),
            variables: changed.variables.into(),
            other: changed.other,
            layout: changed.layout,
            called_by: changed.called_by,
        }
    }
}

impl From<Numbers> for NumbersV1 {
    fn from(numbers: Numbers) -> Self {
        Self {
            added: numbers.added,
            removed: numbers.removed,
            renamed: numbers.renamed,
            modified: numbers.modified,
        }
    }
}

impl From<NumbersV1> for Numbers {
    fn from(numbers: NumbersV1) -> Self {
        Self {
            added: numbers.added,
            removed: numbers.removed,
            renamed: numbers.renamed,
            modified: numbers.modified,
        }
    }
}

impl From<Counts> for CountsV1 {
    fn from(counts: Counts) -> Self {
        Self {
            files: counts.files,
            passed: counts.passed,
            failed: counts.failed,
            errors: counts.errors,
            warnings: counts.warnings,
            excluded: counts.excluded,
            unreviewed: counts.unreviewed,
        }
    }
}

impl From<Totals> for FindingsV1 {
    fn from(totals: Totals) -> Self {
        Self {
            errors: totals.errors,
            warnings: totals.warnings,
            not_evaluated: totals.not_evaluated,
            new: totals.new,
            known: totals.known,
            waived: totals.waived,
            fixed: totals.fixed,
        }
    }
}

impl From<&FileResults> for FileV1 {
    fn from(file: &FileResults) -> Self {
        Self {
            path: file.path.clone(),
            results: file.results.iter().map(RuleV1::from).collect(),
        }
    }
}

impl From<&RuleResult> for RuleV1 {
    fn from(result: &RuleResult) -> Self {
        let violations = result.violations.iter();
        let each = 0..result.violations.len().max(1);
        let states = each.clone().map(|at| Some(result.state(at)?.name().to_owned()));
        let waivers = each.map(|at| result.waiver(at).map(WaiverV1::from));
        Self {
            rule: result.rule.clone(),
            status: result.status.name().to_owned(),
            enforcement: result.enforcement.map(|level| level.to_string()),
            error_type: match &result.status {
                Status::Error(error_type) => error_type.clone(),
                Status::Passed | Status::Failed(_) => None,
            },
            violations: violations
                .clone()
                .map(|violation| violation.text.clone())
                .collect(),
            line: result.line(),
            severity: result.severity().map(|severity| severity.to_string()),
            lines: Some(violations.clone().map(|violation| violation.line).collect()),
            about: Some(
                violations
                    .clone()
                    .map(|violation| violation.about.clone())
                    .collect(),
            ),
            sizes: Some(match result.size {
                Some(size) => vec![Some(size)],
                None => violations.map(|violation| violation.size).collect(),
            }),
            state: Some(states.collect()),
            waivers: Some(waivers.collect()),
        }
    }
}

impl From<&Waiver> for WaiverV1 {
    fn from(waiver: &Waiver) -> Self {
        Self {
            reason: waiver.reason.clone(),
            owner: waiver.owner.clone(),
            until: waiver.until,
        }
    }
}

impl From<WaiverV1> for Waiver {
    fn from(waiver: WaiverV1) -> Self {
        Self {
            reason: waiver.reason,
            owner: waiver.owner,
            until: waiver.until,
        }
    }
}
