//! The sentences that all report formats share.

use super::unreviewed_count::{add_gaps, add_local_count, omits_passed_checks};
use sluicegate_base::text::{List, format_count, format_number};
use sluicegate_pipelines::findings::{
    Engine, FailOn, GateChange, GateFault, Report, ResultCounts, RuleResult, Status, Verdict,
};
use sluicegate_pipelines::interface::Compatibility;
use std::fmt::Write as _;

/// Renders the verdict with the numbers of findings in one line, such as `Review failed: 2 errors`. The caller need
/// not escape the result, which has no names from the report.
pub(super) fn render_headline(report: &Report) -> String {
    let numbers = describe_numbers(report);
    let colon = if numbers.is_empty() { "" } else { ": " };
    format!(
        "{} {}{colon}{numbers}",
        capitalize(run_noun(report)),
        report.verdict
    )
}

/// Returns the noun for the run of a report: `review` by the platform, or local `check`.
pub(super) const fn run_noun(report: &Report) -> &'static str {
    match report.engine {
        Engine::Remote => "review",
        Engine::Local => "check",
    }
}

/// Describes the result in one line: refused changes, allowed breaking changes, then the numbers of findings, or of
/// checks if there are no findings, then the number of unreviewed files. If a run passed without any file, says that no
/// pipeline was selected. If a run failed without a refusal or finding, begins with that, so that the passed checks do
/// not read as the cause.
pub(super) fn describe_numbers(report: &Report) -> String {
    let mut parts = list_refusals(report);
    let findings = describe_findings(report);
    if report.verdict == Verdict::Failed && parts.is_empty() && findings.is_none() {
        parts.push("no finding explains the failure".to_owned());
    }
    parts.extend(describe_allowed_breaks(report));
    let has_findings = findings.is_some();
    let results = findings.or_else(|| describe_checks(report));
    if parts.is_empty()
        && results.is_none()
        && report.verdict == Verdict::Passed
        && has_no_files(&report.count_results())
    {
        return "no pipeline was selected".to_owned();
    }
    add_gaps(report, parts, results, has_findings).join("; ")
}

/// Describes the breaking changes for consumers that do not fail the gate; `None` if there are none.
fn describe_allowed_breaks(report: &Report) -> Option<String> {
    let compat = report.compat.as_ref().filter(|compat| !compat.refused)?;
    let break_count = compat.breaking_changes().count();
    (break_count > 0).then(|| {
        format!(
            "{} for consumers (allowed)",
            format_count(break_count, "breaking change")
        )
    })
}

/// Describes the numbers of findings, such as `29 new errors, 12 new warnings (16 known, 5 fixed)`; `None` if there are
/// no findings in any state. The word `new` is used only if the findings were compared with the base.
fn describe_findings(report: &Report) -> Option<String> {
    let totals = report.finding_totals();
    let new = if totals.new.is_some() { "new " } else { "" };
    let mut counted_parts = Vec::new();
    for (number, noun) in [(totals.errors, "error"), (totals.warnings, "warning")] {
        if number > 0 {
            counted_parts.push(format_count(number, &format!("{new}{noun}")));
        }
    }
    if totals.not_evaluated > 0 {
        counted_parts.push(describe_unevaluated_results(report, totals.not_evaluated));
    }
    let mut other_parts = Vec::new();
    let known_count = totals.known.unwrap_or_default();
    // If there are too many known findings, the refusal has their number.
    let is_limit_exceeded = report.find_exceeded_limit().is_some();
    for (number, label) in [
        (if is_limit_exceeded { 0 } else { known_count }, "known"),
        (totals.waived, "waived"),
        (totals.fixed.unwrap_or_default(), "fixed"),
    ] {
        if number > 0 {
            other_parts.push(format!("{} {label}", format_number(number)));
        }
    }
    if counted_parts.is_empty() && other_parts.is_empty() && !is_limit_exceeded {
        return None;
    }
    let mut description = if counted_parts.is_empty() {
        format!("no {new}findings")
    } else {
        counted_parts.join(", ")
    };
    if !other_parts.is_empty() {
        let _ = write!(description, " ({})", other_parts.join(", "));
    }
    Some(description)
}

/// Returns `7 pipelines not evaluated` if each of the results that could not be evaluated is about an entire pipeline,
/// otherwise `7 not evaluated`, because some results are about single rules.
fn describe_unevaluated_results(report: &Report, result_count: usize) -> String {
    let subject = if count_unevaluated_pipelines(report) == result_count {
        format_count(result_count, "pipeline")
    } else {
        format_number(result_count)
    };
    format!("{subject} not evaluated")
}

/// Returns the number of pipelines on which no rule could be evaluated.
fn count_unevaluated_pipelines(report: &Report) -> usize {
    let findings = report.findings();
    findings.iter().filter(|finding| finding.is_file_error()).count()
}

/// Returns the number of results that passed, including those of team rules.
pub(super) fn count_passed_checks(report: &Report) -> usize {
    let results = report.files.iter().flat_map(|file| &file.results);
    results.filter(|result| result.status == Status::Passed).count()
}

/// Describes the evaluated checks: `2,505 checks passed in 501 pipelines`, or `1 pipeline checked` if none passed;
/// `None` if no pipeline was evaluated. Pipelines on which no rule could be evaluated do not count.
fn describe_checks(report: &Report) -> Option<String> {
    let counts = report.count_results();
    let evaluated_count = counts.files.saturating_sub(count_unevaluated_pipelines(report));
    let pipelines = format_count(evaluated_count, "pipeline");
    match (evaluated_count, count_passed_checks(report)) {
        (0, _) => None,
        (_, 0) => Some(format!("{pipelines} checked")),
        (_, passed_count) => Some(format!(
            "{} passed in {pipelines}",
            format_count(passed_count, "check")
        )),
    }
}

/// Describes the passed checks and the excluded files in one line; `None` if there are none to add to the headline. The
/// checks are omitted if the headline has them, that is, if there are no findings.
pub(super) fn describe_scope(report: &Report) -> Option<String> {
    let has_other_headline = describe_findings(report).is_some() || omits_passed_checks(report);
    let checks = describe_checks(report)
        .filter(|_| has_other_headline)
        .map(|checks| add_local_count(report, checks));
    let excluded_files = (!report.excluded_files.is_empty())
        .then(|| format!("{} excluded", format_count(report.excluded_files.len(), "file")));
    let parts: Vec<String> = checks.into_iter().chain(excluded_files).collect();
    (!parts.is_empty()).then(|| capitalize(&parts.join("; ")))
}

/// Lists what the gate refuses besides new findings: changes that break consumers, changes to the gate configuration
/// and faults in it, and more known findings than the job allows.
fn list_refusals(report: &Report) -> Vec<String> {
    let breaks = report
        .compat
        .as_ref()
        .filter(|compat| compat.refused)
        .map(|compat| {
            format!(
                "{} for consumers",
                format_count(compat.breaking_changes().count(), "breaking change")
            )
        });
    let gate_change = report.gate_refused.then(|| "gate change not allowed".to_owned());
    let known_findings = report.find_exceeded_limit().map(|(known_count, max_known)| {
        let known_findings = format_count(known_count, "known finding");
        format!(
            "{known_findings}, {} allowed (--max-known)",
            format_number(max_known)
        )
    });
    let gate_faults = report.gate_faults.iter().map(|fault| match fault {
        GateFault::UnusableFile => "a gate configuration file cannot be used".to_owned(),
        GateFault::FailedExample => "an example of a team rule failed".to_owned(),
    });
    breaks
        .into_iter()
        .chain(gate_change)
        .chain(gate_faults)
        .chain(known_findings)
        .collect()
}

/// Returns praise for a change that fixes findings; `None` if it fixes none, the review did not pass, or it was not
/// compared with the base.
pub(super) fn describe_fixed_findings(report: &Report) -> Option<String> {
    match report.fixed_count.filter(|_| report.verdict == Verdict::Passed)? {
        0 => None,
        1 => Some("Well done: 1 existing finding is fixed.".to_owned()),
        fixed_count => Some(format!("Well done: {fixed_count} existing findings are fixed.")),
    }
}

/// Returns whether the report has neither reviewed, excluded nor unreviewed files.
const fn has_no_files(counts: &ResultCounts) -> bool {
    counts.files + counts.excluded + counts.unreviewed == 0
}

/// Returns a general sentence for an undecided run whose report has no reason.
fn describe_undecided_run(report: &Report) -> String {
    let run = run_noun(report);
    format!("The {run} is undecided: it is unknown whether the pipelines pass the gate.")
}

/// Returns the reason why the run does not pass, for formats without a headline; `None` if it passes, or if it fails
/// because of errors among the findings. The caller must escape the result.
pub(super) fn describe_run_problem(report: &Report) -> Option<String> {
    let mut problem = match report.verdict {
        Verdict::Passed => return None,
        Verdict::Undecided if report.verdict_reasons().next().is_some() => {
            format!("The {} is undecided.", run_noun(report))
        }
        Verdict::Undecided => describe_undecided_run(report),
        Verdict::Failed => explain_failure(report)?,
    };
    for reason in report.verdict_reasons() {
        let _ = write!(problem, " {}", to_sentence(reason));
    }
    Some(problem)
}

/// Lists the reasons why the run does not pass, for formats whose headline has the verdict: the reasons in the report,
/// or else a sentence if neither an error among the findings nor an unreviewed file explains the verdict. Removes the
/// `logged_reasons`, which the log has already shown, from the end of each reason. The caller must escape the reasons.
pub(super) fn list_run_problems(report: &Report, logged_reasons: &[String]) -> Vec<String> {
    let reasons: Vec<String> = report
        .verdict_reasons()
        .map(|reason| to_sentence(strip_logged_reason(reason, logged_reasons)))
        .collect();
    if !reasons.is_empty() || !report.unreviewed_files.is_empty() {
        return reasons;
    }
    match report.verdict {
        Verdict::Passed => Vec::new(),
        Verdict::Undecided => vec![describe_undecided_run(report)],
        Verdict::Failed => explain_failure(report).into_iter().collect(),
    }
}

/// Returns the reason why the run failed. Refused changes are the reason only if no finding fails the gate, or if the
/// gate configuration is faulty: whoever repairs the findings must know that, too, as well as that there are too many
/// known findings. Otherwise, an error among the findings explains the failure by itself, so the result is `None`. For
/// warnings that fail the gate, the sentence says that. If none of these applies, returns a general sentence.
fn explain_failure(report: &Report) -> Option<String> {
    let fails_by_finding = has_matching_result(report, |result| result.fails_gate(report.fail_on()));
    let known_limit = report.check_known_limit();
    let known_problem = known_limit.map(|_| "There are more known findings than allowed.".to_owned());
    if !fails_by_finding && known_problem.is_some() {
        return known_problem;
    }
    let refusals = list_refusals(report).join(", ");
    if !refusals.is_empty() && (!fails_by_finding || !report.gate_faults.is_empty()) {
        return Some(format!("The {} failed: {refusals}.", run_noun(report)));
    }
    if has_matching_result(report, |result| result.fails_gate(FailOn::Error)) {
        return known_problem;
    }
    Some(if fails_by_finding {
        "All findings that fail this gate are warnings (--fail-on warn).".to_owned()
    } else {
        format!("No rule result explains why the {} failed.", run_noun(report))
    })
}

/// Returns whether `is_match` is true for any rule result of the report.
fn has_matching_result(report: &Report, is_match: impl Fn(&RuleResult) -> bool) -> bool {
    let mut results = report.files.iter().flat_map(|file| &file.results);
    results.any(is_match)
}

/// The start of a sentence about a change to the gate configuration.
pub(super) const GATE_CHANGE_INTRO: &str = "This change edits the gate configuration: ";

/// Describes a change to a file of the gate configuration: its path and the changed settings. The caller must
/// escape the result.
pub(super) fn describe_gate_change(change: &GateChange) -> String {
    let settings = describe_changed_settings(change);
    let separator = if settings.is_empty() { "" } else { ": " };
    format!("{GATE_CHANGE_INTRO}{}{separator}{settings}", change.path)
}

/// Describes the changed settings of a gate configuration file; empty if they are unknown. The caller must escape the
/// result.
pub(super) fn describe_changed_settings(change: &GateChange) -> String {
    change.descriptions.join("; ")
}

/// Returns ` (accepted: REASON)`, which is added to the description of each breaking change; empty if these changes are
/// not accepted. The caller must escape the result.
pub(super) fn format_acceptance(compat: &Compatibility) -> String {
    compat
        .accepted
        .as_ref()
        .map(|reason| format!(" (accepted: {reason})"))
        .unwrap_or_default()
}

/// Describes all excluded files in one line: the number of files, and the first paths with their reasons; `None` if
/// there are none. The caller must escape the result.
pub(super) fn describe_excluded_files(report: &Report) -> Option<String> {
    /// Maximum number of paths in the line.
    const MAX_LISTED_FILES: usize = 5;
    if report.excluded_files.is_empty() {
        return None;
    }
    let list = List::with_limit(&report.excluded_files, MAX_LISTED_FILES)
        .map(|file| format!("{} ({})", file.path, file.reason));
    Some(format!(
        "Excluded: {}: {list}",
        format_count(report.excluded_files.len(), "file")
    ))
}

/// Changes the first letter of a text to a capital letter. Does not change a text whose first word has other characters
/// than lowercase letters, such as a path, because it is a name.
pub(super) fn capitalize(text: &str) -> String {
    // The first word of `platform's` is `platform`.
    let word = text.split([' ', '\'']).next().unwrap_or_default();
    let mut letters = text.chars();
    match letters.next() {
        Some(first) if word.chars().all(|c| c.is_ascii_lowercase()) => {
            format!("{}{}", first.to_ascii_uppercase(), letters.as_str())
        }
        _ => text.to_owned(),
    }
}

/// Changes a text to a sentence: it starts with a capital letter, unless it starts with a name (see [`capitalize`]),
/// and ends with a period, unless it already ends with punctuation, which may be in parentheses.
pub(super) fn to_sentence(text: &str) -> String {
    let mut sentence = capitalize(text.trim());
    let text_end = sentence.trim_end_matches(')');
    if !sentence.is_empty() && !text_end.ends_with(['.', '!', '?', ':']) {
        sentence.push('.');
    }
    sentence
}

/// Removes from the end of a note the reason that the log has already shown, if there is one. The caller must escape
/// the result.
pub(super) fn strip_logged_reason<'n>(note: &'n str, logged_reasons: &[String]) -> &'n str {
    logged_reasons
        .iter()
        .find_map(|reason| note.strip_suffix(reason.as_str()))
        .map_or(note, |start| start.trim_end_matches([':', ' ']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::next_step::find_next_step;
    use crate::sample;
    use sluicegate_pipelines::findings::{FindingState, Severity, Status, UnreviewedFile};

    #[test]
    fn headline_has_numbers() {
        insta::assert_snapshot!(render_headline(&sample::report()), @"Review failed: 2 errors, 1 warning, 1 not evaluated; 1 file not reviewed");
        insta::assert_snapshot!(render_headline(&sample::empty(Verdict::Passed)), @"Review passed: no pipeline was selected");
    }

    #[test]
    fn headline_names_allowed_breaks_unless_they_are_refused() {
        use sluicegate_pipelines::interface::{
            ComparedVersion, Compatibility, InterfaceChange, InterfaceChangeKind,
        };
        let mut report = sample::empty(Verdict::Passed);
        let removal = InterfaceChange::for_kind(InterfaceChangeKind::PipelineRemoved, "a");
        report.compat = Some(Compatibility::new(ComparedVersion::default(), vec![removal]));
        insta::assert_snapshot!(render_headline(&report), @"Review passed: 1 breaking change for consumers (allowed)");
        let addition = InterfaceChange::for_kind(InterfaceChangeKind::PipelineAdded, "a");
        report.compat = Some(Compatibility::new(ComparedVersion::default(), vec![addition]));
        insta::assert_snapshot!(render_headline(&report), @"Review passed: no pipeline was selected");
    }

    #[test]
    fn headline_of_failed_run_with_passed_checks_alone_names_no_finding_as_cause() {
        let mut report = sample::empty(Verdict::Failed);
        let passed = sample::result("a", Status::Passed, vec![]);
        report.files = vec![sample::file("a.orch.yaml", vec![passed])];
        insta::assert_snapshot!(render_headline(&report), @"Review failed: no finding explains the failure; 1 check passed in 1 pipeline");
        report.verdict = Verdict::Passed;
        insta::assert_snapshot!(render_headline(&report), @"Review passed: 1 check passed in 1 pipeline");
    }

    #[test]
    fn headline_counts_known_and_waived_results_without_evaluation_as_such() {
        let mut report = sample::empty(Verdict::Passed);
        report.fixed_count = Some(0);
        let status = || Status::Error(Some("designer/no-start-component".to_owned()));
        let result_in = |rule, state| {
            let mut result = sample::result(rule, status(), vec![sample::violation("text", None)]);
            result.set_states([state]);
            result
        };
        let results = vec![
            result_in("a", Some(FindingState::Known)),
            result_in("b", Some(FindingState::Waived)),
        ];
        report.files = vec![sample::file("a.orch.yaml", results)];
        insta::assert_snapshot!(render_headline(&report), @"Review passed: no new findings (1 known, 1 waived)");
        report.verdict = Verdict::Failed;
        report.files[0]
            .results
            .push(result_in("c", Some(FindingState::New)));
        insta::assert_snapshot!(render_headline(&report), @"Review failed: 1 not evaluated (1 known, 1 waived)");
    }

    /// Returns a failed report with a warning, and a known error.
    fn report_with_warning(fail_on: FailOn) -> Report {
        let mut report = sample::empty(Verdict::Failed);
        report.context.fail_on = Some(fail_on);
        let violations = || vec![sample::violation("text", None)];
        let warning = sample::result("w", Status::Failed(Severity::Warning), violations());
        let mut known_error = sample::result("e", Status::Failed(Severity::Error), violations());
        known_error.set_states([Some(FindingState::Known)]);
        report.files = vec![sample::file("a", vec![warning, known_error])];
        report
    }

    #[test]
    fn failure_is_blamed_on_warnings_only_if_they_fail_the_gate() {
        insta::assert_snapshot!(describe_run_problem(&report_with_warning(FailOn::Warn)).unwrap(), @"All findings that fail this gate are warnings (--fail-on warn).");
        insta::assert_snapshot!(describe_run_problem(&report_with_warning(FailOn::Error)).unwrap(), @"No rule result explains why the review failed.");
    }

    #[test]
    fn unfinished_run_has_no_general_step() {
        let mut report = sample::empty(Verdict::Undecided);
        report.reasons = vec!["the platform says: To do: nothing".to_owned()];
        assert!(find_next_step(&report).is_some());
        report.context.head = None;
        assert!(find_next_step(&report).is_some());
        for reason in ["no base. To do: fetch", "no base"] {
            report.reasons = vec![format!("the run did not finish: {reason}")];
            assert_eq!(find_next_step(&report), None, "{reason}");
        }
    }

    #[test]
    fn general_step_for_check_is_omitted_only_if_every_file_has_step() {
        let mut report = sample::report();
        (report.engine, report.verdict) = (Engine::Local, Verdict::Undecided);
        report.unreviewed_files[0].reason = "could not read the file. To do: nothing".to_owned();
        assert!(find_next_step(&report).is_some(), "the reason quotes a text");
        report.unreviewed_files[0].next_step = Some("stage it".to_owned());
        assert_eq!(find_next_step(&report), None);
        let file = report.unreviewed_files[0].clone();
        report.unreviewed_files.push(UnreviewedFile {
            next_step: None,
            ..file
        });
        assert!(find_next_step(&report).is_some(), "a file has no step");
    }

    #[test]
    fn run_that_does_not_pass_has_reason() {
        assert_eq!(describe_run_problem(&sample::empty(Verdict::Passed)), None);
        assert_eq!(
            describe_run_problem(&sample::report()),
            None,
            "the findings say it"
        );
        assert!(describe_run_problem(&sample::empty(Verdict::Failed)).is_some());
        let mut refused = sample::empty(Verdict::Failed);
        refused.gate_refused = true;
        insta::assert_snapshot!(describe_run_problem(&refused).unwrap(), @"The review failed: gate change not allowed.");
        refused.notes = vec!["Propose it separately".to_owned(), "a note".to_owned()];
        refused.reasons = refused.notes[..1].to_vec();
        assert_eq!(list_run_problems(&refused, &[]), ["Propose it separately."]);
        insta::assert_snapshot!(render_headline(&refused), @"Review failed: gate change not allowed");
        refused.gate_refused = false;
        refused.gate_faults = vec![GateFault::UnusableFile, GateFault::FailedExample];
        insta::assert_snapshot!(render_headline(&refused), @"Review failed: a gate configuration file cannot be used; an example of a team rule failed");
        let mut undecided = sample::report();
        undecided.verdict = Verdict::Undecided;
        undecided.notes = vec!["The platform did not answer.".to_owned(), "a note".to_owned()];
        undecided.reasons = undecided.notes[..1].to_vec();
        insta::assert_snapshot!(describe_run_problem(&undecided).unwrap(), @"The review is undecided. The platform did not answer.");
    }
}
