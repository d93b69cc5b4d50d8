//! Collects remarks about files other than findings, each with its place and weight, for all machine-readable formats.

use super::About;
use super::wording::{gate_change, run_problem, unreviewed};
use sluicegate_pipelines::findings::{Fingerprint, LimitKind, Report, Verdict};
use std::collections::BTreeMap;

/// The path of entries about the run if no path of a file is known.
const CONFIGURATION_FILE: &str = "sluicegate.yaml";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemarkKind {
    /// A file that was not reviewed.
    Unreviewed,
    /// A change to the gate configuration.
    GateChange,
    /// A break of consumers of shared pipelines.
    Break,
    /// The verdict, if nothing else explains it.
    Verdict,
    /// A note that limits the verdict.
    Limit,
}

pub(super) struct Remark<'r> {
    pub kind: RemarkKind,
    /// Whether the remark fails the gate or leaves it undecided.
    pub weighs: bool,
    pub path: &'r str,
    /// Line number from 1; `None` if the remark is about the entire file.
    pub line: Option<u32>,
    /// A sentence. Contains text from outside.
    pub text: String,
    pub print: Fingerprint,
}

/// Returns the remarks by kind, in the order of the report.
pub(super) fn remarks(report: &Report) -> Vec<Remark<'_>> {
    let unanswered = report.unreviewed_files.iter().map(|file| Remark {
        kind: RemarkKind::Unreviewed,
        weighs: true,
        path: &file.path,
        line: None,
        text: unreviewed(&file.reason),
        print: Fingerprint::new(&["unreviewed", &file.path], 0),
    });
    let touched = report.gate_changes.iter().map(|change| Remark {
        kind: RemarkKind::GateChange,
        weighs: report.gate_refused,
        path: &change.path,
        line: None,
        text: gate_change(change),
        print: Fingerprint::new(&["gate-change", &change.path], 0),
    });
    let found = report.compat.iter();
    let broken = found.flat_map(|found| found.breaking_changes().map(|change| (found.refused, change)));
    let broken = broken.map(|(refused, change)| {
        let (path, line) = change.shown_location();
        let id = change.id.as_deref().unwrap_or_default();
        Remark {
            kind: RemarkKind::Break,
            weighs: refused,
            path,
            line: Some(line),
            text: change.describe_fully(),
            print: Fingerprint::new(&["breaks-consumers", id, &change.describe()], 0),
        }
    });
    unanswered.chain(touched).chain(broken).collect()
}

/// Returns the remark that explains a run that does not pass although no finding fails it, for formats that show only
/// entries about files.
pub(super) fn verdict_remark<'r>(report: &'r Report, about: &'r About) -> Option<Remark<'r>> {
    let mut results = report.files.iter().flat_map(|file| &file.results);
    let fails_by_finding = results.any(|result| result.fails(report.fail_on()));
    if fails_by_finding && report.verdict != Verdict::Undecided {
        return None;
    }
    Some(Remark {
        kind: RemarkKind::Verdict,
        weighs: true,
        path: existing_path(report, about),
        line: None,
        text: run_problem(report)?,
        print: Fingerprint::new(&["verdict", report.verdict.name()], 0),
    })
}

/// Returns the notes that limit the verdict. Where nothing was evaluated, only a stricter tip of the target does.
pub(super) fn limits<'r>(report: &'r Report, about: &'r About) -> Vec<Remark<'r>> {
    let is_evaluated = !report.files.is_empty() || !report.unreviewed_files.is_empty();
    let mut remarks = Vec::new();
    let mut twins: BTreeMap<(LimitKind, &str), u64> = BTreeMap::new();
    for limit in &report.limits {
        if !is_evaluated && limit.kind != LimitKind::StricterTip {
            continue;
        }
        let path = limit.path.as_deref();
        let ordinal = twins.entry((limit.kind, path.unwrap_or_default())).or_default();
        remarks.push(Remark {
            kind: RemarkKind::Limit,
            weighs: false,
            path: path.unwrap_or_else(|| existing_path(report, about)),
            line: None,
            text: limit.text.clone(),
            // The text has commit ids and numbers, which change from run to run.
            print: Fingerprint::new(&["limit", limit.kind.name(), path.unwrap_or_default()], *ordinal),
        });
        *ordinal += 1;
    }
    remarks
}

/// Returns a file of the reviewed commit, for an entry about the run.
fn existing_path<'r>(report: &'r Report, about: &'r About) -> &'r str {
    let reviewed = report.files.iter().map(|file| file.path.as_str());
    let unreviewed = report.unreviewed_files.iter().map(|file| file.path.as_str());
    let mut paths = reviewed.chain(unreviewed).chain(about.any_file.as_deref());
    paths.next().unwrap_or(CONFIGURATION_FILE)
}
