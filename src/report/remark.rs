//! Collects remarks about files other than findings, each with its place and weight, for all machine-readable formats.

use super::wording::{gate_change, unreviewed};
use crate::model::findings::{Fingerprint, Report};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemarkKind {
    /// A file that was not reviewed.
    Unreviewed,
    /// A change to the gate configuration.
    GateChange,
    /// A break of consumers of shared pipelines.
    Break,
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
    /// The reason why the file was not reviewed.
    pub reason: Option<&'r str>,
    pub print: Fingerprint,
}

/// Returns the remarks by kind, in the order of the report.
pub(super) fn remarks(report: &Report) -> Vec<Remark<'_>> {
    let unanswered = report.unreviewed.iter().map(|file| Remark {
        kind: RemarkKind::Unreviewed,
        weighs: true,
        path: &file.path,
        line: None,
        text: unreviewed(&file.reason),
        reason: Some(&file.reason),
        print: Fingerprint::new(&["unreviewed", &file.path], 0),
    });
    let touched = report.gate_changes.iter().map(|change| Remark {
        kind: RemarkKind::GateChange,
        weighs: report.gate_refused,
        path: &change.path,
        line: None,
        text: gate_change(change),
        reason: None,
        print: Fingerprint::new(&["gate-change", &change.path], 0),
    });
    let found = report.compat.iter();
    let broken = found.flat_map(|found| found.breaks().map(|change| (found.refused, change)));
    let broken = broken.map(|(refused, change)| {
        let (path, line) = change.at();
        let id = change.id.as_deref().unwrap_or_default();
        Remark {
            kind: RemarkKind::Break,
            weighs: refused,
            path,
            line: Some(line),
            text: change.sentence(),
            reason: None,
            print: Fingerprint::new(&["breaks-consumers", id, &change.words()], 0),
        }
    });
    unanswered.chain(touched).chain(broken).collect()
}
