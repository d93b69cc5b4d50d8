//! Describes in the headline how many files were not reviewed, and which results come from the local check of files
//! that the platform did not review.

use sluicegate_base::text::{format_count, format_number};
use sluicegate_pipelines::findings::{Report, Verdict};
use std::collections::HashSet;

/// The unreviewed files of a report that have results of the local check nevertheless.
struct LocalCheck {
    file_count: usize,
    /// True if no results come from the platform.
    is_complete: bool,
}

impl LocalCheck {
    /// Returns `None` if no unreviewed file was checked locally.
    fn from_report(report: &Report) -> Option<Self> {
        if report.unreviewed_files.is_empty() {
            return None;
        }
        let unreviewed_files = report.unreviewed_files.iter();
        let unreviewed_paths: HashSet<&str> = unreviewed_files.map(|file| file.path.as_str()).collect();
        let file_count = report
            .reviewed_files()
            .filter(|file| unreviewed_paths.contains(file.path.as_str()) && !file.has_platform_result())
            .count();
        (file_count > 0).then(|| Self {
            file_count,
            is_complete: file_count == report.reviewed_files().count(),
        })
    }
}

/// Returns the end of a sentence that a file was not reviewed: in a run that checked such files locally, it names the
/// platform, because the local check is a review, too.
pub(super) fn describe_missing_review(report: &Report) -> &'static str {
    match LocalCheck::from_report(report) {
        Some(_) => "not reviewed by the platform",
        None => "not reviewed",
    }
}

/// Returns the number of reviewed files, without those that were only checked locally.
pub(super) fn count_reviewed_files(report: &Report) -> usize {
    let local_count = LocalCheck::from_report(report).map_or(0, |local_check| local_check.file_count);
    report.reviewed_files().count() - local_count
}

/// Adds the results, the missing shards and the number of unreviewed files to `parts`, which describe the refusals and
/// the allowed breaks. `results` describe the findings or, without findings, the passed checks. Puts the gaps first if
/// an undecided run has no findings, so that its headline does not begin with a pass.
pub(super) fn add_gaps(
    report: &Report,
    parts: Vec<String>,
    results: Option<String>,
    has_findings: bool,
) -> Vec<String> {
    let mut parts = add_unreviewed_count(report, parts, results, has_findings);
    if let Some(missing_shards) = report.describe_missing_shards() {
        let position = choose_gap_position(report, &parts, has_findings);
        parts.insert(position, missing_shards);
    }
    parts
}

/// Returns the position of a gap in the headline: the first one if the passed checks would otherwise be first.
fn choose_gap_position(report: &Report, parts: &[String], has_findings: bool) -> usize {
    if report.verdict == Verdict::Undecided && !has_findings {
        0
    } else {
        parts.len()
    }
}

/// Adds the results and the number of unreviewed files.
fn add_unreviewed_count(
    report: &Report,
    mut parts: Vec<String>,
    results: Option<String>,
    has_findings: bool,
) -> Vec<String> {
    let unreviewed_count = report.unreviewed_files.len();
    if unreviewed_count == 0 {
        parts.extend(results);
        return parts;
    }
    let files = format_count(unreviewed_count, "file");
    let Some(local_check) = LocalCheck::from_report(report) else {
        parts.extend(results);
        let position = choose_gap_position(report, &parts, has_findings);
        parts.insert(position, format!("{files} not reviewed"));
        return parts;
    };
    if report.verdict == Verdict::Undecided {
        parts.insert(0, format!("the platform did not review {files}"));
        parts.push(match results.filter(|_| has_findings) {
            Some(results) if local_check.is_complete => format!("local check: {results}"),
            Some(results) => results,
            None if local_check.file_count < unreviewed_count => format!(
                "the local check of {} of them found no error",
                format_number(local_check.file_count)
            ),
            None => "the local check found no error".to_owned(),
        });
        return parts;
    }
    let origin = if local_check.is_complete {
        "local check; "
    } else {
        ""
    };
    let results = results.unwrap_or_default();
    let (start, separator) = match results.strip_suffix(')') {
        Some(start) => (start, "; "),
        None => (results.as_str(), " ("),
    };
    parts.push(format!(
        "{start}{separator}{origin}{files} not reviewed by the platform)"
    ));
    parts
}

/// Returns whether the headline omits the passed checks, because it states the result of the local check.
pub(super) fn omits_passed_checks(report: &Report) -> bool {
    report.verdict == Verdict::Undecided && LocalCheck::from_report(report).is_some()
}

/// Adds to the description of the passed checks how many of the pipelines were checked locally.
pub(super) fn add_local_count(report: &Report, checks: String) -> String {
    match LocalCheck::from_report(report) {
        None => checks,
        Some(local_check) if local_check.is_complete => format!("{checks} (checked locally)"),
        Some(local_check) => format!("{checks} ({} checked locally)", local_check.file_count),
    }
}
