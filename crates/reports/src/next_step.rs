//! The instruction for a review that is undecided or has failed requests.

use sluicegate_pipelines::findings::{Engine, Report, Verdict};
use std::borrow::Cow;

/// Returns the instructions for a review: those of its failed requests, whatever the verdict is, otherwise a general
/// one for an undecided review.
pub(super) fn find_next_step(report: &Report) -> Option<Cow<'_, str>> {
    match list_request_steps(report) {
        [] => find_general_step(report).map(Cow::Borrowed),
        steps => Some(Cow::Owned(steps.join("; "))),
    }
}

/// Returns the instructions about failed requests. They are omitted if shards are missing.
pub(super) fn list_request_steps(report: &Report) -> &[String] {
    if report.has_missing_shards() {
        &[]
    } else {
        &report.next_steps
    }
}

/// Returns the general instruction for an undecided review; `None` if the verdict is decided, or if a local check
/// reviewed all files, because there is no general advice for it. Also returns `None` for a run that did not finish,
/// because only its reason can help, and if each file that a local check did not review has its own instruction.
fn find_general_step(report: &Report) -> Option<&'static str> {
    if report.verdict != Verdict::Undecided || report.unfinished_reason().is_some() {
        return None;
    }
    if report.has_missing_shards() {
        return Some(
            "run the review for each missing shard with --shard, and pass the reports of all shards to `sluicegate report`",
        );
    }
    match report.engine {
        Engine::Remote => Some(
            "run the review again; if it stays undecided, `sluicegate doctor` checks the connection to the platform, \
             and `sluicegate check` evaluates the same rules without the platform",
        ),
        Engine::Local
            if report
                .unreviewed_files
                .iter()
                .all(|file| file.next_step.is_some()) =>
        {
            None
        }
        Engine::Local => Some(
            "fix the files that were not reviewed, or exclude them in the gate configuration; then run the \
             check again",
        ),
    }
}

/// Returns the instruction for a report in a log. The log has shown the reasons `logged_reasons`, each with its own
/// instruction: if these are the reasons of some unreviewed files, only the general instruction is left, and if they
/// are the reasons of all, `None`.
pub(super) fn find_next_step_for_log<'r>(
    report: &'r Report,
    logged_reasons: &[String],
) -> Option<Cow<'r, str>> {
    let unreviewed_files = report.unreviewed_files.iter();
    let logged_count = unreviewed_files
        .filter(|file| {
            logged_reasons
                .iter()
                .any(|reason| *reason == file.reason_with_step())
        })
        .count();
    match logged_count {
        0 => find_next_step(report),
        count if count == report.unreviewed_files.len() => None,
        _ => find_general_step(report).map(Cow::Borrowed),
    }
}
