//! Prepares the content of human-readable reports: the verdict with its reasons, notices, tables by rule and directory,
//! findings, and changes. Terminal, Markdown and HTML only render this view, so that none of them decides which
//! findings count, in which order they appear, or which are omitted.

mod entries;
mod notices;
mod order;
mod tally;

pub(super) use entries::{FindingEntry, Said, UnjudgedCause, said};
pub(super) use notices::{Notice, NoticeEntry, NoticeKind};
pub(super) use order::Order;
pub(super) use tally::{Tallied, Tally};

use self::entries::Listing;
use self::tally::tallies;
use super::about::ChangedLines;
use super::tone::Tone;
use super::wording::{headline, next_step, next_step_in_log, praise, run_problems, scope};
use super::{About, ChangedFile};
use sluicegate_base::text::count;
use sluicegate_pipelines::findings::{Finding, Report, ShowMode};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// Maximum number of directories in a table.
const WORST_FOLDERS: usize = 5;

/// The medium of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// The log of the run, which has already shown some reasons; these are not repeated.
    Log,
    /// A separate page.
    Page,
}

/// The content of a human-readable report.
pub(super) struct View<'a> {
    pub report: &'a Report,
    pub about: &'a About,
    /// The verdict with its numbers.
    pub headline: String,
    /// The numbers of passed checks and excluded files, in one line.
    pub scope: Option<String>,
    /// The reasons why the run does not pass, besides findings and files without a review. Contain text from outside.
    pub problems: Vec<String>,
    /// What to do about the problems.
    pub step: Option<&'static str>,
    /// The praise for fixed findings.
    pub praise: Option<String>,
    pub notices: Vec<Notice<'a>>,
    /// The rules with findings, the worst first.
    pub rules: Vec<Tallied<'a>>,
    /// The directories with findings, those with the most first.
    pub folders: Vec<Tallied<'a>>,
    /// Common reasons why rules could not be evaluated, each with the affected files.
    pub causes: Vec<UnjudgedCause<'a>>,
    /// All findings, in the order of [`Order`].
    pub findings: Vec<Finding<'a>>,
    /// The findings to list if not all fit, without those of `causes`.
    pub listed: Vec<FindingEntry<'a>>,
    /// Number of counting findings that are not listed.
    more: usize,
    /// Number of known or waived findings that are not listed.
    old: usize,
    numbers: HashMap<&'a str, usize>,
    changes: HashMap<&'a str, &'a ChangedFile>,
}

/// A file with its findings, in the order of the view.
pub(super) struct FileView<'v, 'a> {
    pub path: &'a str,
    pub findings: Vec<&'v Finding<'a>>,
    pub tally: Tally<'a>,
}

/// The number of counting findings of a rule or directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TableRow<'a> {
    pub name: &'a str,
    /// `error`, `warning` or `not evaluated`; empty for directories.
    pub level: &'static str,
    pub findings: usize,
    pub files: usize,
}

impl<'a> View<'a> {
    pub(super) fn of(report: &'a Report, about: &'a About, medium: Medium) -> Self {
        let told: &[String] = match medium {
            Medium::Log => &about.told,
            Medium::Page => &[],
        };
        let findings = in_order(report, &about.changed);
        let mut rules = tallies(&findings, |finding| finding.rule);
        rules.sort_by_key(|(_, tally)| Reverse(tally.weight()));
        let mut folders = tallies(&findings, |finding| folder(finding.path));
        folders.sort_by_key(|(_, tally)| Reverse(tally.counting()));
        let numbers = rules.iter().map(|(rule, _)| *rule).zip(1..).collect();
        let changes = about
            .changes
            .iter()
            .map(|file| (file.changed.path.as_str(), file));
        let Listing {
            causes,
            listed,
            more,
            old,
        } = Listing::of(&findings, about.show);
        Self {
            report,
            about,
            headline: headline(report),
            scope: scope(report),
            problems: run_problems(report, told),
            step: match medium {
                Medium::Log => next_step_in_log(report, &about.told),
                Medium::Page => next_step(report),
            },
            praise: praise(report),
            notices: notices::notices(report, told),
            rules,
            folders,
            causes,
            findings,
            listed,
            more,
            old,
            numbers,
            changes: changes.collect(),
        }
    }

    /// Returns the rules with counting findings, by level and then by number of findings.
    pub(super) fn rule_rows(&self) -> Vec<TableRow<'a>> {
        let mut rows: Vec<(Tone, TableRow<'_>)> = Vec::new();
        for (name, tally) in &self.rules {
            let counting = tally.parts().filter(|(tone, _)| *tone != Tone::Old);
            rows.extend(counting.map(|(tone, findings)| {
                let row = TableRow {
                    name,
                    level: tone.word(),
                    findings,
                    files: tally.files_of(tone),
                };
                (tone, row)
            }));
        }
        rows.sort_by_key(|(tone, row)| (*tone, Reverse(row.findings), row.name));
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// Returns the directories with the most counting findings, and the number of the others; no directory if there is
    /// only one.
    pub(super) fn folder_rows(&self) -> (Vec<TableRow<'a>>, usize) {
        let rows = self.folders.iter().filter(|(_, tally)| tally.counting() > 0);
        let mut rows: Vec<TableRow<'_>> = rows
            .map(|(name, tally)| TableRow {
                name,
                level: "",
                findings: tally.counting(),
                files: tally.files(),
            })
            .collect();
        if rows.len() < 2 {
            rows.clear();
        }
        let more = rows.len().saturating_sub(WORST_FOLDERS);
        rows.truncate(WORST_FOLDERS);
        (rows, more)
    }

    /// Returns the number of findings of this tone.
    pub(super) fn number(&self, tone: Tone) -> usize {
        self.rules.iter().map(|(_, tally)| tally.number(tone)).sum()
    }

    /// Returns a sentence about the findings that are not listed; `None` if all are listed.
    pub(super) fn left_out(&self) -> Option<String> {
        let old = (self.old > 0).then(|| format!("{} known or waived", count(self.old, "finding")));
        let more = (self.more > 0).then(|| {
            let more = if self.listed.is_empty() { "" } else { "more " };
            count(self.more, &format!("{more}finding"))
        });
        let what: Vec<String> = more.into_iter().chain(old).collect();
        let they = if self.more + self.old == 1 { "it" } else { "them" };
        (!what.is_empty()).then(|| format!("Not listed: {} (--show all lists {they})", what.join(", ")))
    }

    /// Returns the position of this rule among those with findings, from 1.
    pub(super) fn rule_number(&self, rule: &str) -> Option<usize> {
        self.numbers.get(rule).copied()
    }

    /// Returns the changes of this file.
    pub(super) fn change(&self, path: &str) -> Option<&'a ChangedFile> {
        self.changes.get(path).copied()
    }

    /// Returns the changes in the order of the findings, layout-only changes last.
    pub(super) fn changes(&self) -> Vec<&'a ChangedFile> {
        let mut changes: Vec<&ChangedFile> = self.about.changes.iter().collect();
        order::sort_changes(&mut changes, &self.findings);
        changes
    }

    /// Returns the changes of files that are not in `files`, with a title.
    pub(super) fn other_changes(&self, files: &[FileView<'_, 'a>]) -> (&'static str, Vec<&'a ChangedFile>) {
        let listed: HashSet<&str> = files.iter().map(|file| file.path).collect();
        let mut others = self.changes();
        others.retain(|it| !listed.contains(it.changed.path.as_str()));
        let title = if others.len() == self.about.changes.len() {
            "Pipeline changes"
        } else {
            "Other pipeline changes"
        };
        (title, others)
    }
}

/// Returns the findings whose source lines [`super::terminal::render`] shows.
pub(super) fn listed<'a>(report: &'a Report, changed: &ChangedLines, show: ShowMode) -> Vec<Finding<'a>> {
    let listing = Listing::of(&in_order(report, changed), show);
    let others = if show == ShowMode::Concise { usize::MAX } else { 0 };
    let places = |entry: FindingEntry<'a>| {
        let others = entry.others.into_iter().take(others);
        std::iter::once(entry.finding).chain(others)
    };
    listing.listed.into_iter().flat_map(places).collect()
}

fn in_order<'a>(report: &'a Report, changed: &ChangedLines) -> Vec<Finding<'a>> {
    let mut findings = report.findings();
    Order::by(report, changed).sort(&mut findings);
    findings
}

/// Groups findings by file; the files are in the order of their first findings.
pub(super) fn by_file<'v, 'a>(findings: impl IntoIterator<Item = &'v Finding<'a>>) -> Vec<FileView<'v, 'a>>
where
    'a: 'v,
{
    let files = by_path(findings, |finding| finding.path).into_iter();
    let views = files.map(|(path, findings)| FileView {
        path,
        tally: Tally::of(findings.iter().copied()),
        findings,
    });
    views.collect()
}

/// Groups items by path; the paths are in the order of their first items.
pub(super) fn by_path<'a, T>(
    items: impl IntoIterator<Item = T>,
    path: impl Fn(&T) -> &'a str,
) -> Vec<(&'a str, Vec<T>)> {
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut groups: Vec<(&str, Vec<T>)> = Vec::new();
    for item in items {
        let path = path(&item);
        let place = *places.entry(path).or_insert(groups.len());
        match groups.get_mut(place) {
            Some((_, of_path)) => of_path.push(item),
            None => groups.push((path, vec![item])),
        }
    }
    groups
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{PathBase, sample};
    use sluicegate_pipelines::findings::{FindingState, Status, Verdict};

    fn about(show: ShowMode) -> About {
        About {
            show,
            ..About::default()
        }
    }

    #[test]
    fn it_counts_by_rule_and_folder_and_lists_the_worst_first() {
        let report = sample::report();
        let about = about(ShowMode::First(2));
        let view = View::of(&report, &about, Medium::Page);
        insta::assert_debug_snapshot!((view.rule_rows(), view.folder_rows().0), @r#"
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
        let lines: Vec<u32> = view.listed.iter().map(|entry| entry.finding.line).collect();
        assert_eq!(lines, [9, 12]);
        assert_eq!(
            view.left_out().unwrap(),
            "Not listed: 2 more findings (--show all lists them)"
        );
        let totals = report.totals();
        let counted = totals.errors + totals.warnings + totals.not_evaluated;
        let counting: usize = view.rules.iter().map(|(_, tally)| tally.counting()).sum();
        assert_eq!(counting, counted);
    }

    #[test]
    fn what_is_known_is_a_number_until_all_is_asked_for() {
        let mut report = sample::report();
        report.files[1].results[1].states = vec![Some(FindingState::Known), Some(FindingState::New)];
        let shown = |show| {
            let about = about(show);
            let view = View::of(&report, &about, Medium::Page);
            (view.listed.len(), view.left_out())
        };
        assert_eq!(shown(ShowMode::All), (4, None));
        let (listed, left) = shown(ShowMode::New);
        assert_eq!(listed, 3);
        assert!(left.unwrap().contains("1 finding known or waived"));
        assert_eq!(shown(ShowMode::None).0, 0);
    }

    #[test]
    fn what_all_files_say_of_the_rules_file_is_one_cause() {
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
        let about = About::default();
        let view = View::of(&report, &about, Medium::Page);
        assert_eq!((view.causes.len(), view.listed.len()), (1, 0));
        assert_eq!(
            view.causes[0].concerns(&PathBase::Root),
            "500 files: 000.orch.yaml, 001.orch.yaml, 002.orch.yaml and 497 more"
        );
        assert_eq!(view.left_out(), None);
    }
}
