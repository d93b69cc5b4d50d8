//! Defines the order of findings for all formats: findings that the change introduces, then those that it touches, then
//! the rest.

use super::super::ReportContext;
use crate::finding_tone::Tone;
use crate::report_context::ChangedLines;
use sluicegate_pipelines::findings::{FileResults, Finding, Report, RuleResult};
use std::collections::HashMap;

/// The distance of a finding from the change under review.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Nearness {
    /// The base does not have the finding.
    New,
    /// The change touches its component, or its line.
    ChangedLines,
    ChangedFile,
    Elsewhere,
}

/// The sort key of a finding: the smallest comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    is_old: bool,
    nearness: Nearness,
    tone: Tone,
    is_untouched: bool,
}

/// Ranks the findings of one report.
#[derive(Clone, Copy)]
pub(crate) struct FindingOrder<'c> {
    is_compared: bool,
    changed_lines: &'c ChangedLines,
}

impl<'c> FindingOrder<'c> {
    /// Creates the order of a report's findings, with the changed lines of the context.
    pub(crate) fn from_context(report: &Report, context: &'c ReportContext) -> Self {
        Self::from_changed_lines(report, &context.changed_lines)
    }

    /// Creates the order of a report's findings. A report that has a number of fixed findings was compared with the
    /// base, so its findings that are neither known nor waived are new.
    pub(super) const fn from_changed_lines(report: &Report, changed_lines: &'c ChangedLines) -> Self {
        Self {
            is_compared: report.fixed_count.is_some(),
            changed_lines,
        }
    }

    /// Returns the rank of a finding; the smallest rank comes first. Known and waived findings come last, in the order
    /// of their severity, because not every run compares their lines with the base. The others are ordered by nearness
    /// to the change, then by severity. At equal severity, those that the change touches come first, because all new
    /// findings have the same nearness.
    fn rank(self, finding: &Finding<'_>) -> Rank {
        let is_counted = finding.is_counted();
        let is_touched = is_counted && self.changed_lines.contains(finding.path, finding.line);
        let nearness = if !is_counted {
            Nearness::Elsewhere
        } else if self.is_compared {
            Nearness::New
        } else if is_touched {
            Nearness::ChangedLines
        } else if self.changed_lines.has_file(finding.path) {
            Nearness::ChangedFile
        } else {
            Nearness::Elsewhere
        };
        Rank {
            is_old: !is_counted,
            nearness,
            tone: Tone::for_finding_in_any_state(finding),
            is_untouched: !is_touched,
        }
    }

    /// Sorts findings by rank, then by path and line.
    pub(crate) fn sort(self, findings: &mut [Finding<'_>]) {
        findings.sort_by_cached_key(|finding| self.sort_key(finding));
    }

    /// Returns the key by which findings are sorted.
    pub(crate) fn sort_key<'a>(self, finding: &Finding<'a>) -> (Rank, &'a str, u32) {
        (self.rank(finding), finding.path, finding.line)
    }

    /// Returns the key by which the findings that fit a limit are chosen: errors first, known and waived findings last,
    /// and at equal severity in the order of [`Self::sort_key`]. A warning near the change must not displace an error.
    pub(crate) fn choice_key<'a>(self, finding: &Finding<'a>) -> (Tone, (Rank, &'a str, u32)) {
        (Tone::for_finding(finding), self.sort_key(finding))
    }

    /// Returns the results of a file in the order of their first findings; results without findings come last, in the
    /// order of the report.
    pub(crate) fn sort_results(self, file: &FileResults) -> Vec<&RuleResult> {
        let mut results = file.distinct_results();
        results.sort_by_cached_key(|result| self.group_sort_key(&result.findings(&file.path)));
        results
    }

    /// Returns the files of the report in the order of their first findings; files without findings come last, in the
    /// order of the report.
    pub(crate) fn sort_files(self, report: &Report) -> Vec<&FileResults> {
        let mut files: Vec<&FileResults> = report.files.iter().collect();
        files.sort_by_cached_key(|file| self.group_sort_key(&file.findings()));
        files
    }

    /// Returns the sort key of a group of findings: the smallest rank among them. A group without findings is last.
    fn group_sort_key(self, findings: &[Finding<'_>]) -> (bool, Option<Rank>) {
        let smallest_rank = findings.iter().map(|finding| self.rank(finding)).min();
        (smallest_rank.is_none(), smallest_rank)
    }
}

/// Sorts changed files: first those with findings, in the order of the findings, then the others. Files in which only
/// the layout changed are the last among the others.
pub(super) fn sort_changes(changes: &mut [&super::ChangedFile], findings: &[Finding<'_>]) {
    let mut finding_indices: HashMap<&str, usize> = HashMap::new();
    for (finding_index, finding) in findings.iter().enumerate() {
        finding_indices.entry(finding.path).or_insert(finding_index);
    }
    changes.sort_by_key(|file| {
        let finding_index = finding_indices.get(file.summary.path.as_str());
        (
            finding_index.copied().unwrap_or(usize::MAX),
            file.summary.is_layout_only(),
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report_context::select_touched_lines;
    use crate::sample;
    use sluicegate_pipelines::findings::{FindingState, Severity, Status, Verdict};

    fn report() -> Report {
        let failed = |severity| Status::Failed(severity);
        let result = |severity, line| {
            let found = sample::violation("words", Some(line));
            sample::result("r", failed(severity), vec![found])
        };
        let mut report = sample::empty(Verdict::Failed);
        report.files = vec![
            sample::file("a", vec![result(Severity::Error, 3)]),
            sample::file(
                "b",
                vec![result(Severity::Warning, 3), result(Severity::Error, 9)],
            ),
        ];
        report
    }

    fn places(report: &Report, about: &ReportContext) -> Vec<(String, u32)> {
        let mut findings = report.findings();
        FindingOrder::from_context(report, about).sort(&mut findings);
        findings.iter().map(|it| (it.path.to_owned(), it.line)).collect()
    }

    fn at(place: (&str, u32)) -> (String, u32) {
        (place.0.to_owned(), place.1)
    }

    #[test]
    fn changed_lines_come_before_changed_files_and_those_before_the_rest() {
        let mut about = ReportContext::default();
        about.changed_lines.add(
            "b",
            select_touched_lines("1\n2\nx:\n  y: 1\nz:\n", [3, 9], &[4..=4]),
        );
        let expected = [at(("b", 3)), at(("b", 9)), at(("a", 3))];
        assert_eq!(places(&report(), &about), expected);
    }

    #[test]
    fn new_findings_come_first_and_the_worst_of_them_before_all() {
        let mut report = report();
        report.fixed_count = Some(0);
        report.files[1].results[1].set_states([Some(FindingState::Known)]);
        let mut about = ReportContext::default();
        about
            .changed_lines
            .add("b", select_touched_lines("x\n", [3, 9], &[1..=20]));
        let expected = [at(("a", 3)), at(("b", 3)), at(("b", 9))];
        assert_eq!(places(&report, &about), expected);
    }

    /// Only some outputs need to know which lines of these findings the change touched.
    #[test]
    fn known_findings_have_the_same_order_with_and_without_touched_lines() {
        let mut report = report();
        report.fixed_count = Some(0);
        for result in report.files.iter_mut().flat_map(|file| &mut file.results) {
            result.set_states([Some(FindingState::Known)]);
        }
        let mut about = ReportContext::default();
        let expected = [at(("a", 3)), at(("b", 9)), at(("b", 3))];
        assert_eq!(places(&report, &about), expected);
        about
            .changed_lines
            .add("b", select_touched_lines("x\n", [3, 9], &[1..=20]));
        assert_eq!(places(&report, &about), expected);
    }

    #[test]
    fn files_and_results_are_in_the_order_of_their_first_findings() {
        let mut about = ReportContext::default();
        about
            .changed_lines
            .add("b", select_touched_lines("", [3, 9], &[9..=9]));
        let report = report();
        let order = FindingOrder::from_context(&report, &about);
        let files: Vec<&str> = order
            .sort_files(&report)
            .iter()
            .map(|file| file.path.as_str())
            .collect();
        assert_eq!(files, ["b", "a"]);
        let lines: Vec<u32> = order
            .sort_results(&report.files[1])
            .iter()
            .map(|result| result.findings("b")[0].line)
            .collect();
        assert_eq!(lines, [9, 3]);
    }
}
