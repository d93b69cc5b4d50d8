//! The sentences that all report formats share.

use sluicegate_base::text::{List, count, grouped};
use sluicegate_pipelines::findings::{
    Engine, FailOn, FindingTotals, GateChange, Report, ResultCounts, RuleResult, Verdict,
};
use sluicegate_pipelines::interface::Compatibility;
use std::fmt::Write as _;

/// Returns the verdict with the numbers of its findings, in one line; contains no text from outside.
pub(super) fn headline(report: &Report) -> String {
    let said = numbers(report);
    let colon = if said.is_empty() { "" } else { ": " };
    format!("Review {}{colon}{said}", report.verdict)
}

/// Returns the numbers of findings and unreviewed files, in one line; contains no text from outside.
pub(super) fn numbers(report: &Report) -> String {
    let mut parts = refused(report);
    parts.extend(found(&report.totals()).or_else(|| checks(report)));
    if parts.is_empty() && report.verdict == Verdict::Passed && nothing_at_all(&report.count_results()) {
        return "no pipeline was selected".to_owned();
    }
    let unreviewed = report.unreviewed_files.len();
    if unreviewed > 0 {
        parts.push(format!("{} not reviewed", count(unreviewed, "file")));
    }
    parts.join("; ")
}

/// Returns `29 new errors, 12 new warnings (16 known, 5 fixed)`; `None` if there is no finding in any state.
fn found(totals: &FindingTotals) -> Option<String> {
    let new = if totals.new.is_some() { "new " } else { "" };
    let part = |number: usize, noun: &str| (number > 0).then(|| count(number, &format!("{new}{noun}")));
    let broken = totals.not_evaluated;
    let broken = (broken > 0).then(|| format!("{} not evaluated", grouped(broken)));
    let counting = [
        part(totals.errors, "error"),
        part(totals.warnings, "warning"),
        broken,
    ];
    let mut said = counting.into_iter().flatten().collect::<Vec<_>>().join(", ");
    let aside = [
        (totals.known.unwrap_or_default(), "known"),
        (totals.waived, "waived"),
        (totals.fixed.unwrap_or_default(), "fixed"),
    ];
    let aside = aside.into_iter().filter(|(number, _)| *number > 0);
    let aside: Vec<String> = aside
        .map(|(number, what)| format!("{} {what}", grouped(number)))
        .collect();
    if said.is_empty() && aside.is_empty() {
        return None;
    }
    if said.is_empty() {
        said = format!("no {new}findings");
    }
    if !aside.is_empty() {
        let _ = write!(said, " ({})", aside.join(", "));
    }
    Some(said)
}

/// Returns `2,505 checks passed in 501 pipelines`; `None` if no pipeline was reviewed.
fn checks(report: &Report) -> Option<String> {
    let counts = report.count_results();
    let pipelines = count(counts.files, "pipeline");
    match (counts.files, counts.passed) {
        (0, _) => None,
        (_, 0) => Some(format!("no check passed in {pipelines}")),
        (_, passed) => Some(format!("{} passed in {pipelines}", count(passed, "check"))),
    }
}

/// Returns the numbers of passed checks and excluded files, in one line; `None` if there is nothing to add to the
/// headline.
pub(super) fn scope(report: &Report) -> Option<String> {
    let checks = checks(report).filter(|_| found(&report.totals()).is_some());
    let excluded = report.excluded_files.len();
    let excluded = (excluded > 0).then(|| format!("{} excluded", count(excluded, "file")));
    let parts: Vec<String> = checks.into_iter().chain(excluded).collect();
    (!parts.is_empty()).then(|| capital(&parts.join("; ")))
}

/// Returns the reasons why the gate fails, other than findings and their number.
fn refused(report: &Report) -> Vec<String> {
    let breaks = report.compat.as_ref().filter(|found| found.refused);
    let breaks = breaks.map(|found| {
        format!(
            "{} of consumers",
            count(found.breaking_changes().count(), "break")
        )
    });
    let gate = report.gate_refused.then(|| "gate change not allowed".to_owned());
    breaks.into_iter().chain(gate).collect()
}

/// Returns the praise for a passed review that fixes findings; contains no text from outside.
pub(super) fn praise(report: &Report) -> Option<String> {
    match report.fixed_count.filter(|_| report.verdict == Verdict::Passed)? {
        0 => None,
        1 => Some("Well done: 1 existing finding is fixed.".to_owned()),
        fixed => Some(format!("Well done: {fixed} existing findings are fixed.")),
    }
}

const fn nothing_at_all(counts: &ResultCounts) -> bool {
    counts.files + counts.excluded + counts.unreviewed == 0
}

/// The problem of an undecided review without a recorded reason.
const UNDECIDED: &str = "The review is undecided: it is unknown whether the pipelines pass the gate.";

/// Returns the reason why the run does not pass, if no single finding explains it: the verdict is undecided, or it is
/// failed without any error among the findings. For formats without a headline. Contains text from outside.
pub(super) fn run_problem(report: &Report) -> Option<String> {
    let mut problem = match report.verdict {
        Verdict::Passed => return None,
        Verdict::Undecided => UNDECIDED.to_owned(),
        Verdict::Failed => failure(report)?,
    };
    for reason in report.verdict_reasons() {
        let _ = write!(problem, " {}", sentence(reason));
    }
    Some(problem)
}

/// Returns the reasons why the run does not pass, for a report with a headline: the recorded ones, otherwise a sentence
/// if neither a finding nor a file without a review explains the verdict. A reason at the end of one that is in `told` was
/// reported before. Contains text from outside.
pub(super) fn run_problems(report: &Report, told: &[String]) -> Vec<String> {
    let reasons = report.verdict_reasons();
    let reasons: Vec<String> = reasons
        .map(|reason| sentence(without_told(reason, told)))
        .collect();
    if !reasons.is_empty() || !report.unreviewed_files.is_empty() {
        return reasons;
    }
    match report.verdict {
        Verdict::Passed => Vec::new(),
        Verdict::Undecided => vec![UNDECIDED.to_owned()],
        Verdict::Failed => failure(report).into_iter().collect(),
    }
}

/// Returns what to do about an undecided review; contains no text from outside.
pub(super) fn next_step(report: &Report) -> Option<&'static str> {
    if report.verdict != Verdict::Undecided {
        return None;
    }
    match report.engine {
        Engine::Remote => Some(
            "run the review again; if it stays undecided, `sluicegate doctor` checks the connection to the platform, \
             and `sluicegate check` evaluates the same rules without the platform",
        ),
        Engine::Local if report.unreviewed_files.is_empty() => None,
        Engine::Local => Some(
            "make the files readable that were not reviewed, or exclude them in the gate configuration; then run the \
             check again",
        ),
    }
}

/// Like [`next_step`], for a log; `None` if the log has a reason with its own hint for every file without a result.
pub(super) fn next_step_in_log(report: &Report, told: &[String]) -> Option<&'static str> {
    let mut unreviewed = report.unreviewed_files.iter();
    let all_told = !report.unreviewed_files.is_empty() && unreviewed.all(|file| told.contains(&file.reason));
    next_step(report).filter(|_| !all_told)
}

/// Returns the reason why the review failed; `None` if an error among the findings explains it.
fn failure(report: &Report) -> Option<String> {
    let fails_by_finding = has_any(report, |result| result.fails(report.fail_on()));
    if !fails_by_finding && report.check_known_limit().is_some() {
        return Some("There are more known findings than allowed.".to_owned());
    }
    let refused = refused(report);
    if !fails_by_finding && !refused.is_empty() {
        return Some(format!("The review failed: {}.", refused.join(", ")));
    }
    if has_any(report, |result| result.fails(FailOn::Error)) {
        return None;
    }
    let has_warning = has_any(report, |result| result.fails(FailOn::Warn));
    let said = if has_warning {
        "All findings are warnings, and warnings fail this gate."
    } else {
        "No rule result explains why the review failed."
    };
    Some(said.to_owned())
}

fn has_any(report: &Report, is_meant: impl Fn(&RuleResult) -> bool) -> bool {
    let mut results = report.files.iter().flat_map(|file| &file.results);
    results.any(is_meant)
}

/// The start of a sentence about a change to the gate configuration.
pub(super) const GATE_CHANGE: &str = "This change edits the gate configuration: ";

/// Returns a sentence about a change to `sluicegate.yaml`, the waivers or the rules file. Contains text from outside.
pub(super) fn gate_change(change: &GateChange) -> String {
    let words = gate_words(change);
    let separator = if words.is_empty() { "" } else { ": " };
    format!("{GATE_CHANGE}{}{separator}{words}", change.path)
}

/// Describes the changes in a gate configuration file; empty if they are unknown. Contains text from outside.
pub(super) fn gate_words(change: &GateChange) -> String {
    change.descriptions.join("; ")
}

/// Returns the reason why breaks are accepted, as a suffix for each of them. Contains text from outside.
pub(super) fn accepted(found: &Compatibility) -> String {
    let accepted = found.accepted.as_ref().map(|why| format!(" (accepted: {why})"));
    accepted.unwrap_or_default()
}

/// Returns one line about all excluded files: their number, the first paths, and the reasons. Contains text from
/// outside.
pub(super) fn excluded(report: &Report) -> Option<String> {
    /// Maximum number of paths in the line.
    const NAMED: usize = 5;
    if report.excluded_files.is_empty() {
        return None;
    }
    let list = List::with_limit(&report.excluded_files, NAMED)
        .map(|file| format!("{} ({})", file.path, file.reason));
    Some(format!(
        "Excluded: {}: {list}",
        count(report.excluded_files.len(), "file")
    ))
}

/// Returns the text with a capital letter at its start, unless it starts with a name.
pub(super) fn capital(text: &str) -> String {
    let word = text.split([' ', '\'']).next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if word.chars().all(|c| c.is_ascii_lowercase()) => {
            format!("{}{}", first.to_ascii_uppercase(), letters.as_str())
        }
        _ => text.to_owned(),
    }
}

/// Returns the text as a complete sentence: it starts with a capital letter, unless with a name, and ends with
/// punctuation.
pub(super) fn sentence(text: &str) -> String {
    let mut said = capital(text.trim());
    if !said.is_empty() && !said.ends_with(['.', '!', '?', ':', ')']) {
        said.push('.');
    }
    said
}

/// Returns a sentence for each reason why files were not reviewed, with these files. It has their number, the first
/// paths, and the reason, unless the reason is in `told`, as then it was reported before. Contains text from outside.
pub(super) fn unanswered<'a>(report: &'a Report, told: &[String]) -> Vec<(String, Vec<&'a str>)> {
    let said = |(reason, paths): (&'a str, Vec<&'a str>)| {
        let is_told = told.iter().any(|told| told == reason);
        (unanswered_by((!is_told).then_some(reason), &paths), paths)
    };
    causes(report).into_iter().map(said).collect()
}

/// Returns the reasons why files were not reviewed, each once with its files.
pub(super) fn causes(report: &Report) -> Vec<(&str, Vec<&str>)> {
    let mut causes: Vec<(&str, Vec<&str>)> = Vec::new();
    for file in &report.unreviewed_files {
        match causes.iter_mut().find(|(reason, _)| *reason == file.reason) {
            Some((_, paths)) => paths.push(&file.path),
            None => causes.push((&file.reason, vec![&file.path])),
        }
    }
    causes
}

fn unanswered_by(reason: Option<&str>, paths: &[&str]) -> String {
    let said = match paths {
        [path] => format!("{path}: The file was not reviewed"),
        several => {
            let number = count(several.len(), "file");
            format!("{number} were not reviewed ({})", List::new(several))
        }
    };
    match reason {
        Some(reason) => format!("{said}: {reason}"),
        None => said,
    }
}

/// Returns the note without a reason at its end that the log has shown. Contains text from outside.
pub(super) fn without_told<'n>(note: &'n str, told: &[String]) -> &'n str {
    let mut endings = told
        .iter()
        .filter_map(|reason| note.strip_suffix(reason.as_str()));
    endings
        .next()
        .map_or(note, |start| start.trim_end_matches([':', ' ']))
}

/// Returns a sentence about a file that was not reviewed. Contains text from outside.
pub(super) fn unreviewed(reason: &str) -> String {
    format!("The file was not reviewed: {reason}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_headline_has_the_numbers() {
        insta::assert_snapshot!(headline(&sample::report()), @"Review failed: 2 errors, 1 warning, 1 not evaluated; 1 file not reviewed");
        insta::assert_snapshot!(headline(&sample::empty(Verdict::Passed)), @"Review passed: no pipeline was selected");
    }

    #[test]
    fn a_run_that_is_no_pass_always_says_why() {
        assert_eq!(run_problem(&sample::empty(Verdict::Passed)), None);
        assert_eq!(run_problem(&sample::report()), None, "the findings say it");
        assert!(run_problem(&sample::empty(Verdict::Failed)).is_some());
        let mut refused = sample::empty(Verdict::Failed);
        refused.gate_refused = true;
        insta::assert_snapshot!(run_problem(&refused).unwrap(), @"The review failed: gate change not allowed.");
        refused.notes = vec!["Propose it separately".to_owned(), "a note".to_owned()];
        refused.reasons = refused.notes[..1].to_vec();
        assert_eq!(run_problems(&refused, &[]), ["Propose it separately."]);
        insta::assert_snapshot!(headline(&refused), @"Review failed: gate change not allowed");
        let mut undecided = sample::report();
        undecided.verdict = Verdict::Undecided;
        undecided.notes = vec!["The platform did not answer.".to_owned(), "a note".to_owned()];
        undecided.reasons = undecided.notes[..1].to_vec();
        insta::assert_snapshot!(run_problem(&undecided).unwrap(), @"The review is undecided: it is unknown whether the pipelines pass the gate. The platform did not answer.");
    }
}
