//! Collects remarks about files other than findings, each with its place and weight, for all machine-readable formats.

use super::ReportContext;
use super::sentences::{
    describe_gate_change, describe_run_problem, format_acceptance, run_noun, to_sentence,
};
use super::unreviewed_files::UnreviewedFileStates;
use sluicegate_pipelines::findings::{Fingerprint, LimitKind, Report, Verdict, VerdictLimit};
use sluicegate_pipelines::pipelines::CONFIG_FILE;
use std::collections::BTreeMap;

/// The ordinal in the fingerprint of a remark that is not numbered among remarks with the same fingerprint parts.
const FIRST_ORDINAL: u64 = 0;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RemarkKind {
    /// A file that was not reviewed.
    Unreviewed,
    /// A change to the gate configuration.
    GateChange,
    /// A change that breaks consumers of shared pipelines.
    Break,
    /// The verdict, if nothing else explains it.
    Verdict,
    /// A note that limits the verdict.
    Limit,
}

impl RemarkKind {
    /// Returns the title of an entry of this kind, for formats whose entries have a title.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Unreviewed => "unreviewed",
            Self::GateChange => "gate change",
            Self::Break => "breaks consumers",
            Self::Verdict | Self::Limit => "review",
        }
    }
}

pub(super) struct Remark<'r> {
    pub kind: RemarkKind,
    /// Whether the remark fails the gate or leaves it undecided.
    pub affects_verdict: bool,
    pub path: &'r str,
    /// Line number from 1; `None` if the remark is about the entire file.
    pub line: Option<u32>,
    /// A sentence, which is not escaped.
    pub text: String,
    pub fingerprint: Fingerprint,
}

/// Collects a remark for each unreviewed file, each change to the gate configuration, and each change that breaks
/// consumers. The latter two affect the verdict only if the gate refuses them. The remark on a removed file is at
/// another file, because hosts show only entries about existing files.
pub(super) fn collect_remarks<'r>(report: &'r Report, context: &'r ReportContext) -> Vec<Remark<'r>> {
    let mut remarks = Vec::new();
    let unreviewed_states = UnreviewedFileStates::from_report(report);
    for file in &report.unreviewed_files {
        remarks.push(Remark {
            kind: RemarkKind::Unreviewed,
            affects_verdict: true,
            path: &file.path,
            line: None,
            text: unreviewed_states.describe_with_reason(file),
            fingerprint: Fingerprint::new(&["unreviewed", &file.path], FIRST_ORDINAL),
        });
    }
    for change in &report.gate_changes {
        let path = if context.removed_gate_files.contains(&change.path) {
            choose_anchor_path(report, context)
        } else {
            &change.path
        };
        remarks.push(Remark {
            kind: RemarkKind::GateChange,
            affects_verdict: report.gate_refused,
            path,
            line: None,
            text: describe_gate_change(change),
            fingerprint: Fingerprint::new(&["gate-change", &change.path], FIRST_ORDINAL),
        });
    }
    let Some(compat) = &report.compat else {
        return remarks;
    };
    let acceptance = format_acceptance(compat);
    for change in compat.breaking_changes() {
        let (path, line) = change.shown_location();
        let id = change.id.as_deref().unwrap_or_default();
        remarks.push(Remark {
            kind: RemarkKind::Break,
            affects_verdict: compat.refused,
            path,
            line,
            text: format!("{}{acceptance}", change.describe_fully()),
            fingerprint: Fingerprint::new(&["breaks-consumers", id, &change.describe()], FIRST_ORDINAL),
        });
    }
    remarks
}

/// Returns a remark with the reason why a run does not pass; `None` if it passes, or if it fails because of findings.
/// An undecided run, a faulty gate configuration and too many known findings always have a remark, because findings do
/// not explain them. The remark is at the faulty file of the gate configuration or else at any file, because some
/// formats show only entries about files.
pub(super) fn find_verdict_remark<'r>(report: &'r Report, context: &'r ReportContext) -> Option<Remark<'r>> {
    let mut results = report.files.iter().flat_map(|file| &file.results);
    let fails_by_finding = results.any(|result| result.fails_gate(report.fail_on()));
    let has_other_reason = report.verdict == Verdict::Undecided
        || !report.gate_faults.is_empty()
        || report.check_known_limit().is_some();
    if fails_by_finding && !has_other_reason {
        return None;
    }
    Some(Remark {
        kind: RemarkKind::Verdict,
        affects_verdict: true,
        path: match &report.faulty_gate_file {
            Some(path) => path,
            None => choose_anchor_path(report, context),
        },
        line: None,
        text: describe_run_problem(report)?,
        fingerprint: Fingerprint::new(&["verdict", report.verdict.name()], FIRST_ORDINAL),
    })
}

/// Returns the remark of [`find_verdict_remark`], unless the entries of [`collect_remarks`] explain all of the verdict:
/// the reasons of an undecided run, a faulty gate configuration and too many known findings have no other entry.
pub(super) fn find_unexplained_verdict<'r>(
    report: &'r Report,
    context: &'r ReportContext,
) -> Option<Remark<'r>> {
    let has_other_reason = match report.verdict {
        Verdict::Undecided => report.verdict_reasons().next().is_some(),
        _ => !report.gate_faults.is_empty() || report.check_known_limit().is_some(),
    };
    let remarks = collect_remarks(report, context);
    let is_explained = !has_other_reason && remarks.iter().any(|remark| remark.affects_verdict);
    find_verdict_remark(report, context).filter(|_| !is_explained)
}

/// Collects the notes that limit the verdict as remarks. If there was no file to review, the notes that limit the
/// evaluation of files are omitted.
pub(super) fn collect_limit_remarks<'r>(report: &'r Report, context: &'r ReportContext) -> Vec<Remark<'r>> {
    let has_files = !report.files.is_empty() || !report.unreviewed_files.is_empty();
    let mut remarks = Vec::new();
    let mut ordinals: BTreeMap<(LimitKind, &str), u64> = BTreeMap::new();
    for limit in &report.limits {
        if !has_files && matches!(limit.kind, LimitKind::NotInForce | LimitKind::NoBase) {
            continue;
        }
        let path = limit.path.as_deref();
        let ordinal = ordinals
            .entry((limit.kind, path.unwrap_or_default()))
            .or_default();
        remarks.push(Remark {
            kind: RemarkKind::Limit,
            affects_verdict: false,
            path: path.unwrap_or_else(|| choose_anchor_path(report, context)),
            line: None,
            text: describe_limit(report, limit),
            // The text is not part of the fingerprint, because its commit ids and numbers change from run to run. The
            // ordinal separates limits of the same kind and path.
            fingerprint: Fingerprint::new(&["limit", limit.kind.name(), path.unwrap_or_default()], *ordinal),
        });
        *ordinal += 1;
    }
    remarks
}

/// Describes a note that limits the verdict, for formats without a headline.
fn describe_limit(report: &Report, limit: &VerdictLimit) -> String {
    match limit.kind {
        LimitKind::Excused => format!(
            "The {} is undecided. {}",
            run_noun(report),
            to_sentence(&limit.text)
        ),
        LimitKind::NotInForce | LimitKind::NoBase | LimitKind::StricterTip | LimitKind::OutsideReview => {
            limit.text.clone()
        }
    }
}

/// Returns the path of any file of the reviewed commit, for an entry about the run in a format whose entries need a
/// file. If no file is known, returns `sluicegate.yaml`.
fn choose_anchor_path<'r>(report: &'r Report, context: &'r ReportContext) -> &'r str {
    let reviewed_paths = report.files.iter().map(|file| file.path.as_str());
    let unreviewed_paths = report.unreviewed_files.iter().map(|file| file.path.as_str());
    let mut paths = reviewed_paths
        .chain(unreviewed_paths)
        .chain(context.existing_file.as_deref());
    paths.next().unwrap_or(CONFIG_FILE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sluicegate_pipelines::findings::{FindingState, Severity, Status};

    #[test]
    fn too_many_known_findings_have_a_remark_although_a_finding_fails_the_gate() {
        let mut report = sample::empty(Verdict::Failed);
        let violation = || vec![sample::violation("bad", None)];
        let mut known_result = sample::result("known", Status::Failed(Severity::Error), violation());
        known_result.set_states([Some(FindingState::Known)]);
        let new_result = sample::result("new", Status::Failed(Severity::Error), violation());
        report.files = vec![sample::file("a.orch.yaml", vec![known_result, new_result])];
        report.fixed_count = Some(0);
        let context = ReportContext::default();
        for (max_known, has_remark) in [(0, true), (1, false)] {
            report.context.max_known = Some(max_known);
            report.notes = report.check_known_limit().into_iter().collect();
            let remark = find_unexplained_verdict(&report, &context);
            let is_about_limit = remark.is_some_and(|remark| remark.text.contains("than allowed"));
            assert_eq!(is_about_limit, has_remark, "{max_known}");
        }
    }
}
