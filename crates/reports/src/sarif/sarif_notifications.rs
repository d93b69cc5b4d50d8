//! Notifications about the execution: what could not be evaluated or reviewed, and the notes of the review.

use super::sarif_log::{Notification, RuleReference, SarifReference};
use super::sarif_rules::SarifRules;
use super::{MESSAGE_LIMIT, build_location, build_region};
use crate::ReportContext;
use crate::remarks::{Remark, RemarkKind, collect_remarks};
use crate::sentences::describe_excluded_files;
use crate::truncation;
use sluicegate_pipelines::findings::{Finding, Report, Verdict};
use std::collections::BTreeSet;

/// Maximum number of notifications, because nobody reads thousands of them.
const MAX_NOTIFICATIONS: usize = 1_000;

/// The kinds of notifications: id, meaning, and advice, in the order of the driver's list.
pub(super) const NOTIFICATION_KINDS: [(&str, &str, &str); 6] = [
    (
        "not-evaluated",
        "A rule could not be evaluated.",
        "Fix the problem that the message describes; until then, the gate fails.",
    ),
    (
        "not-reviewed",
        "A file was not reviewed.",
        "Run the review again; until then, it is unknown whether the file passes.",
    ),
    (
        "gate-change",
        "The change edits the gate configuration.",
        "Check the change to the rules or settings before you rely on the verdict.",
    ),
    (
        "note",
        "A note about the review, which is not a finding.",
        "There is nothing to fix.",
    ),
    (
        "cut",
        "Results or notifications were omitted to stay within size limits.",
        "See the JSON report, which is complete.",
    ),
    (
        "breaks-consumers",
        "The change breaks consumers of shared pipelines.",
        "Keep the ids and parameters that consumers use, or agree with them on the necessary changes.",
    ),
];

/// Builds the notifications: rules that could not be evaluated, remarks, excluded files, and notes. The notes that
/// explain an undecided verdict are errors. Also returns the number of omitted notifications: these are about single
/// rules and files, so that the others are never omitted because of many files.
pub(super) fn build_notifications(
    report: &Report,
    context: &ReportContext,
    rules: &SarifRules<'_>,
) -> (Vec<Notification>, usize) {
    let mut notifications: Vec<Notification> = report
        .findings()
        .iter()
        .filter(|finding| finding.error_type.is_some() && finding.is_counted())
        .map(|finding| build_unevaluated_notification(finding, rules))
        .collect();
    let (unreviewed_remarks, other_remarks): (Vec<_>, Vec<_>) = collect_remarks(report, context)
        .into_iter()
        .partition(|remark| remark.kind == RemarkKind::Unreviewed);
    notifications.extend(unreviewed_remarks.iter().map(build_remark_notification));
    let mut run_notifications: Vec<Notification> =
        other_remarks.iter().map(build_remark_notification).collect();
    run_notifications
        .extend(describe_excluded_files(report).map(|line| build_notification("note", "note", &line)));
    let mut deciding_notes = BTreeSet::new();
    if report.verdict == Verdict::Undecided {
        deciding_notes.extend(report.verdict_reasons());
        // A report of an older version has no reasons, so any of its notes may be one.
        if deciding_notes.is_empty() {
            deciding_notes.extend(&report.notes);
        }
    }
    for note in &report.notes {
        let level = if deciding_notes.contains(note) {
            "error"
        } else {
            "note"
        };
        run_notifications.push(build_notification("note", level, note));
    }
    let total_count = notifications.len() + run_notifications.len();
    run_notifications.truncate(MAX_NOTIFICATIONS);
    notifications.truncate(MAX_NOTIFICATIONS - run_notifications.len());
    notifications.append(&mut run_notifications);
    let omitted_count = total_count - notifications.len();
    (notifications, omitted_count)
}

/// Builds the notification of a remark: an error if it affects the verdict.
fn build_remark_notification(remark: &Remark<'_>) -> Notification {
    let descriptor = match remark.kind {
        RemarkKind::Unreviewed => "not-reviewed",
        RemarkKind::GateChange => "gate-change",
        RemarkKind::Break => "breaks-consumers",
        RemarkKind::Verdict | RemarkKind::Limit => "note",
    };
    let level = if remark.affects_verdict {
        "error"
    } else {
        "warning"
    };
    let region = remark.line.map(|line| build_region(line, None));
    Notification {
        locations: vec![build_location(remark.path, region)],
        ..build_notification(descriptor, level, &remark.text)
    }
}

/// Builds the notification for a rule that could not be evaluated, with the place of the problem.
fn build_unevaluated_notification(finding: &Finding<'_>, rules: &SarifRules<'_>) -> Notification {
    let region = build_region(finding.line.max(1), None);
    Notification {
        associated_rule: rules.find_index(finding.rule).map(|index| RuleReference {
            id: finding.rule.to_owned(),
            index,
        }),
        locations: vec![build_location(finding.path, Some(region))],
        ..build_notification("not-evaluated", "error", &finding.message())
    }
}

/// Builds a notification without a location. `kind` must be one of [`NOTIFICATION_KINDS`].
pub(super) fn build_notification(kind: &'static str, level: &'static str, message: &str) -> Notification {
    let index = NOTIFICATION_KINDS
        .iter()
        .position(|(id, ..)| *id == kind)
        .unwrap_or_default();
    Notification {
        descriptor: SarifReference { id: kind, index },
        associated_rule: None,
        level,
        message: truncation::escape_controls_and_truncate(message, MESSAGE_LIMIT).into(),
        locations: Vec::new(),
    }
}
