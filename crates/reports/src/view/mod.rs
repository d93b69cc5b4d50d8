//! Prepares the content of human-readable reports: the verdict with its reasons, notices, tables by rule and directory,
//! findings, and changes. Terminal, Markdown and HTML only render this view, so that none of them decides which
//! findings fail the gate, in which order they appear, or which are omitted.

mod entries;
mod notices;
mod order;
mod tally;

pub(super) use entries::{FindingEntry, FindingKey, UnevaluatedCause, finding_key, take_rules_file_causes};
pub(super) use notices::{Notice, NoticeEntry, NoticeKind};
pub(super) use order::FindingOrder;
pub(super) use tally::{NamedTally, Tally};

use self::entries::{FindingSelection, RuleBlocks};
use self::tally::tally_by_name;
use super::finding_tone::Tone;
use super::next_step::{find_next_step, find_next_step_for_log};
use super::report_context::ChangedLines;
use super::sentences::{describe_fixed_findings, describe_scope, list_run_problems, render_headline};
use super::{ChangedFile, ReportContext};
use sluicegate_base::text::{format_count, format_counts};
use sluicegate_pipelines::findings::{FileChange, Finding, Report, ShowMode, UNREADABLE_RULE};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Maximum number of directories in a table.
const MAX_FOLDER_ROWS: usize = 5;

/// Maximum number of findings of a rule in a file that a log lists separately.
const MAX_SEPARATE_FINDINGS: usize = 10;

/// The medium of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ViewMedium {
    /// The log of the run, which has already shown some reasons; these are not repeated.
    Log,
    /// A separate page.
    Page,
}

impl ViewMedium {
    /// Returns whether known and waived findings are listed. A page folds or marks them, so it lists them by default,
    /// too: its reader cannot pass `--show all`. A page without other findings does not list them either.
    fn includes_excused(self, show: Option<ShowMode>) -> bool {
        let show = show.unwrap_or_default();
        match (self, show) {
            (Self::Page, ShowMode::First(max_count)) => max_count > 0,
            _ => show.includes_excused(),
        }
    }

    /// Returns the maximum number of entries of findings that are neither known nor waived. The default limits
    /// only a log: a page lists all findings that its host has space for.
    fn max_entries(self, show: Option<ShowMode>) -> usize {
        match show {
            Some(show) => show.max_findings(),
            None if self == Self::Page => usize::MAX,
            None => ShowMode::default().max_findings(),
        }
    }

    /// Returns which findings of a rule in a file become one entry. In concise output, each finding stays separate.
    const fn choose_rule_blocks(self, show: Option<ShowMode>) -> RuleBlocks {
        match (self, show) {
            (_, Some(ShowMode::Concise)) => RuleBlocks::None,
            (Self::Log, _) => RuleBlocks::MoreThan(MAX_SEPARATE_FINDINGS),
            (Self::Page, _) => RuleBlocks::SameWords,
        }
    }
}

/// The content of a human-readable report.
pub(super) struct View<'a> {
    pub report: &'a Report,
    pub context: &'a ReportContext,
    /// The verdict with its numbers.
    pub headline: String,
    /// The numbers of passed checks and excluded files, in one line.
    pub scope: Option<String>,
    /// The reasons why the run does not pass, besides findings and files without a review. Not escaped.
    pub problems: Vec<String>,
    /// The next step to solve the problems.
    pub next_step: Option<Cow<'a, str>>,
    /// The praise for fixed findings.
    pub fixed_findings: Option<String>,
    pub notices: Vec<Notice<'a>>,
    /// The rules with findings, the worst first.
    pub rules: Vec<NamedTally<'a>>,
    /// The directories with findings, those with the most first.
    pub folders: Vec<NamedTally<'a>>,
    /// Common reasons why rules could not be evaluated, each with the affected files.
    pub causes: Vec<UnevaluatedCause<'a>>,
    /// All findings, in the order of [`FindingOrder`].
    pub findings: Vec<Finding<'a>>,
    /// The findings to list if not all fit, without those of `causes`.
    pub entries: Vec<FindingEntry<'a>>,
    /// Number of findings that are not listed, without known and waived ones.
    omitted_count: usize,
    /// Number of known findings that are not listed.
    omitted_known_count: usize,
    /// Number of waived findings that are not listed.
    omitted_waived_count: usize,
    rule_numbers: HashMap<&'a str, usize>,
    changes: Vec<&'a ChangedFile>,
    changes_by_path: HashMap<&'a str, &'a ChangedFile>,
}

/// The number of findings of a rule or directory that are neither known nor waived.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TableRow<'a> {
    pub name: &'a str,
    /// `error`, `warning` or `not evaluated`; empty for directories.
    pub level: &'static str,
    pub findings: usize,
    pub files: usize,
}

impl<'a> View<'a> {
    /// Collects the content of a human-readable report: sorts and counts the findings, and selects those to list. In a
    /// log, reasons that it has already shown are omitted.
    pub(super) fn new(report: &'a Report, context: &'a ReportContext, medium: ViewMedium) -> Self {
        let logged_reasons: &[String] = match medium {
            ViewMedium::Log => &context.logged_reasons,
            ViewMedium::Page => &[],
        };
        let findings = list_sorted_findings(report, &context.changed_lines);
        let mut rules = tally_by_name(&findings, |finding| finding.rule);
        rules.sort_by_key(|(_, tally)| Reverse(tally.severity_sort_key()));
        let mut folders = tally_by_name(&findings, |finding| parent_directory(finding.path));
        folders.sort_by_key(|(_, tally)| Reverse(tally.counted_finding_count()));
        // The position of each rule in the sorted list, from 1.
        let rule_numbers = rules.iter().map(|(rule, _)| *rule).zip(1..).collect();
        let changes = list_shown_changes(context, &findings);
        let FindingSelection {
            causes,
            entries,
            omitted_count,
            omitted_known_count,
            omitted_waived_count,
        } = FindingSelection::from_findings(&findings, context.show, medium);
        Self {
            report,
            context,
            headline: render_headline(report),
            scope: describe_scope(report),
            problems: list_run_problems(report, logged_reasons),
            next_step: match medium {
                ViewMedium::Log => find_next_step_for_log(report, &context.logged_reasons),
                ViewMedium::Page => find_next_step(report),
            },
            fixed_findings: describe_fixed_findings(report),
            notices: notices::collect_notices(report, logged_reasons),
            rules,
            folders,
            causes,
            findings,
            entries,
            omitted_count,
            omitted_known_count,
            omitted_waived_count,
            rule_numbers,
            changes_by_path: changes
                .iter()
                .map(|file| (file.summary.path.as_str(), *file))
                .collect(),
            changes,
        }
    }

    /// Builds a row for each rule and level with findings that are neither known nor waived, the worst level and the
    /// largest number first.
    pub(super) fn build_rule_rows(&self) -> Vec<TableRow<'a>> {
        let mut rows: Vec<(Tone, TableRow<'_>)> = Vec::new();
        for (name, tally) in &self.rules {
            let counted_tones = tally.counts_by_tone().filter(|(tone, _)| *tone != Tone::Old);
            rows.extend(counted_tones.map(|(tone, findings)| {
                let row = TableRow {
                    name,
                    level: tone.label(),
                    findings,
                    files: tally.file_count_of(tone),
                };
                (tone, row)
            }));
        }
        rows.sort_by_key(|(tone, row)| (*tone, Reverse(row.findings), row.name));
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Builds a row for each directory, those with the most findings first, without known and waived findings. Also
    /// returns the number of directories beyond the maximum. There are no rows for a single directory.
    pub(super) fn build_folder_rows(&self) -> (Vec<TableRow<'a>>, usize) {
        let mut rows: Vec<TableRow<'_>> = self
            .folders
            .iter()
            .filter(|(_, tally)| tally.counted_finding_count() > 0)
            .map(|(name, tally)| TableRow {
                name,
                level: "",
                findings: tally.counted_finding_count(),
                files: tally.file_count(),
            })
            .collect();
        if rows.len() < 2 {
            rows.clear();
        }
        let omitted_count = rows.len().saturating_sub(MAX_FOLDER_ROWS);
        rows.truncate(MAX_FOLDER_ROWS);
        (rows, omitted_count)
    }

    /// Returns the number of findings of this tone, which is a level or `Old`.
    pub(super) fn finding_count(&self, tone: Tone) -> usize {
        self.rules
            .iter()
            .map(|(_, tally)| tally.finding_count(tone))
            .sum()
    }

    /// Describes how many findings are not listed, and the option that lists them; `None` if all are listed.
    pub(super) fn describe_omission(&self) -> Option<String> {
        let noun = if self.entries.is_empty() {
            "finding"
        } else {
            "more finding"
        };
        let omitted_items = (self.omitted_count > 0).then(|| format_count(self.omitted_count, noun));
        let old_items = format_counts(&[
            (self.omitted_known_count, "known finding"),
            (self.omitted_waived_count, "waived finding"),
        ]);
        let old_items = (!old_items.is_empty()).then_some(old_items);
        let parts: Vec<String> = omitted_items.into_iter().chain(old_items).collect();
        let all_count = self.omitted_count + self.omitted_known_count + self.omitted_waived_count;
        let pronoun = if all_count == 1 { "it" } else { "them" };
        (!parts.is_empty()).then(|| format!("Not listed: {} (--show all lists {pronoun})", parts.join(", ")))
    }

    /// Returns the position, from 1, of a rule among those with findings; `None` if it has no findings.
    pub(super) fn find_rule_number(&self, rule: &str) -> Option<usize> {
        self.rule_numbers.get(rule).copied()
    }

    /// Returns the changes to a file; `None` if it is unchanged or changes are unknown.
    pub(super) fn find_change(&self, path: &str) -> Option<&'a ChangedFile> {
        self.changes_by_path.get(path).copied()
    }

    /// Returns the changes to pipelines: first files with findings, in the order of the findings, then other files.
    /// Files that differ only in their layout are the last of these.
    pub(super) fn list_sorted_changes(&self) -> Vec<&'a ChangedFile> {
        let mut changes = self.changes.clone();
        order::sort_changes(&mut changes, &self.findings);
        changes
    }

    /// Selects the changes to files that are not in `shown_paths`. Also returns the title for their list, which says
    /// whether other changes are shown elsewhere.
    pub(super) fn select_other_changes(
        &self,
        shown_paths: &HashSet<&str>,
    ) -> (&'static str, Vec<&'a ChangedFile>) {
        let mut other_files = self.list_sorted_changes();
        other_files.retain(|file| !shown_paths.contains(file.summary.path.as_str()));
        let title = if other_files.len() == self.changes.len() {
            "Pipeline changes"
        } else {
            "Other pipeline changes"
        };
        (title, other_files)
    }
}

/// Selects the findings whose source lines [`super::terminal::render`] shows, so that the caller can read these lines
/// beforehand. Concise output needs the line of each finding for its column; otherwise only the first of several equal
/// findings is shown with lines.
pub fn select_excerpt_findings<'a>(
    report: &'a Report,
    changed_lines: &ChangedLines,
    show: Option<ShowMode>,
) -> Vec<Finding<'a>> {
    let findings = list_sorted_findings(report, changed_lines);
    let selection = FindingSelection::from_findings(&findings, show, ViewMedium::Log);
    let max_equal_findings = if show == Some(ShowMode::Concise) {
        usize::MAX
    } else {
        0
    };
    selection
        .entries
        .into_iter()
        .flat_map(|entry| {
            let equal_findings = entry.equal_findings.into_iter().take(max_equal_findings);
            std::iter::once(entry.finding).chain(equal_findings)
        })
        .collect()
}

/// Returns the changes of the report, without those of unreadable files that a finding already reports.
fn list_shown_changes<'a>(context: &'a ReportContext, findings: &[Finding<'_>]) -> Vec<&'a ChangedFile> {
    let unreadable_findings = findings.iter().filter(|finding| finding.rule == UNREADABLE_RULE);
    let unreadable_paths: HashSet<&str> = unreadable_findings.map(|finding| finding.path).collect();
    let mut changes: Vec<&ChangedFile> = context.changes.iter().collect();
    changes.retain(|file| {
        let summary = &file.summary;
        summary.change != FileChange::Unreadable || !unreadable_paths.contains(summary.path.as_str())
    });
    changes
}

/// Returns the findings of the report in the order in which they are shown.
fn list_sorted_findings<'a>(report: &'a Report, changed_lines: &ChangedLines) -> Vec<Finding<'a>> {
    let mut findings = report.findings();
    FindingOrder::from_changed_lines(report, changed_lines).sort(&mut findings);
    findings
}

/// Groups items by path, or by several paths; the groups are in the order of their first items.
pub(super) fn group_by_path<P: Clone + Eq + Hash, T>(
    items: impl IntoIterator<Item = T>,
    path_of: impl Fn(&T) -> P,
) -> Vec<(P, Vec<T>)> {
    let mut group_indices: HashMap<P, usize> = HashMap::new();
    let mut groups: Vec<(P, Vec<T>)> = Vec::new();
    for item in items {
        let path = path_of(&item);
        let group_index = *group_indices.entry(path.clone()).or_insert(groups.len());
        match groups.get_mut(group_index) {
            Some((_, group)) => group.push(item),
            None => groups.push((path, vec![item])),
        }
    }
    groups
}

/// Returns the directory of the file; `.` if the file is in the root.
fn parent_directory(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(directory, _)| directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PathBase, sample};
    use sluicegate_pipelines::findings::{FindingState, Severity, Status, Verdict};

    fn about(show: ShowMode) -> ReportContext {
        ReportContext {
            show: Some(show),
            ..ReportContext::default()
        }
    }

    #[test]
    fn view_counts_by_rule_and_folder_and_lists_worst_first() {
        let report = sample::report();
        let about = about(ShowMode::First(2));
        let view = View::new(&report, &about, ViewMedium::Page);
        insta::assert_debug_snapshot!((view.build_rule_rows(), view.build_folder_rows().0), @r#"
        (
            [
                TableRow {
                    name: "component-naming-convention",
                    level: "error",
                    findings: 2,
                    files: 1,
                },
                TableRow {
                    name: "unused-components",
                    level: "not evaluated",
                    findings: 1,
                    files: 1,
                },
                TableRow {
                    name: "maximum-outputs",
                    level: "warning",
                    findings: 1,
                    files: 1,
                },
            ],
            [
                TableRow {
                    name: ".",
                    level: "",
                    findings: 2,
                    files: 1,
                },
                TableRow {
                    name: "load",
                    level: "",
                    findings: 2,
                    files: 1,
                },
            ],
        )
        "#);
        let lines: Vec<u32> = view.entries.iter().map(|entry| entry.finding.line).collect();
        assert_eq!(lines, [9, 12]);
        assert_eq!(
            view.describe_omission().unwrap(),
            "Not listed: 2 more findings (--show all lists them)"
        );
        let totals = report.finding_totals();
        let counted = totals.errors + totals.warnings + totals.not_evaluated;
        let counting: usize = view
            .rules
            .iter()
            .map(|(_, tally)| tally.counted_finding_count())
            .sum();
        assert_eq!(counting, counted);
    }

    #[test]
    fn known_findings_are_a_number_until_all_are_requested() {
        let mut report = sample::report();
        report.files[1].results[1].set_states([Some(FindingState::Known), Some(FindingState::New)]);
        let shown = |show| {
            let about = about(show);
            let view = View::new(&report, &about, ViewMedium::Page);
            (view.entries.len(), view.describe_omission())
        };
        assert_eq!(shown(ShowMode::All), (4, None));
        let (listed, left) = shown(ShowMode::New);
        assert_eq!(listed, 3);
        assert!(left.unwrap().contains("1 known finding "));
        assert_eq!(shown(ShowMode::None).0, 0);
    }

    #[test]
    fn page_without_findings_does_not_list_known_ones() {
        let mut report = sample::report();
        report.files[1].results[1].set_states([Some(FindingState::Known), Some(FindingState::New)]);
        let context = about(ShowMode::First(0));
        let page = View::new(&report, &context, ViewMedium::Page);
        assert_eq!(page.entries.len(), 0);
    }

    #[test]
    fn known_findings_are_listed_in_page_by_default_and_not_in_log() {
        let mut report = sample::report();
        report.files[1].results[1].set_states([Some(FindingState::Known), Some(FindingState::New)]);
        let context = ReportContext::default();
        let page = View::new(&report, &context, ViewMedium::Page);
        let log = View::new(&report, &context, ViewMedium::Log);
        assert_eq!((page.entries.len(), page.describe_omission()), (4, None));
        assert_eq!(log.entries.len(), 3);
    }

    #[test]
    fn page_is_limited_by_explicit_number_and_not_by_equal_default() {
        let mut report = sample::empty(Verdict::Failed);
        let violations = (0..60)
            .map(|number| sample::violation(&format!("violation {number} of {}", "x".repeat(number)), None))
            .collect();
        let result = sample::result("r", Status::Failed(Severity::Error), violations);
        report.files.push(sample::file("a.orch.yaml", vec![result]));
        let explicit_context = about(ShowMode::First(50));
        let default_context = ReportContext::default();
        for (context, expected_count) in [(&explicit_context, 50), (&default_context, 60)] {
            let page = View::new(&report, context, ViewMedium::Page);
            assert_eq!(page.entries.len(), expected_count);
        }
        let log = View::new(&report, &default_context, ViewMedium::Log);
        assert!(log.entries.len() < 60);
    }

    #[test]
    fn page_keeps_equal_findings_of_different_files_apart_in_every_mode() {
        let mut report = sample::empty(Verdict::Failed);
        for path in ["a.orch.yaml", "b.orch.yaml"] {
            let result = sample::result(
                "r",
                Status::Failed(Severity::Error),
                vec![sample::violation("no output", None)],
            );
            report.files.push(sample::file(path, vec![result]));
        }
        for show in [ShowMode::Concise, ShowMode::New, ShowMode::All] {
            let context = about(show);
            let page = View::new(&report, &context, ViewMedium::Page);
            let log = View::new(&report, &context, ViewMedium::Log);
            assert_eq!((page.entries.len(), log.entries.len()), (2, 1), "{show:?}");
        }
    }

    #[test]
    fn rules_file_error_of_all_files_is_one_cause() {
        let missing = || Status::Error(Some("designer/rules-file-retrieval-error".to_owned()));
        let words = || vec![sample::violation("the rules file is not there", None)];
        let mut report = sample::empty(Verdict::Failed);
        report.files = (0..500)
            .map(|n| {
                sample::file(
                    &format!("{n:03}.orch.yaml"),
                    vec![sample::result("r", missing(), words())],
                )
            })
            .collect();
        let about = ReportContext::default();
        let view = View::new(&report, &about, ViewMedium::Page);
        assert_eq!((view.causes.len(), view.entries.len()), (1, 0));
        assert_eq!(
            view.causes[0].describe_affected_files(&PathBase::Root),
            "500 files: 000.orch.yaml, 001.orch.yaml, 002.orch.yaml and 497 more"
        );
        assert_eq!(view.describe_omission(), None);
    }
}
