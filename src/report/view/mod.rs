//! What people are told of a review, put in order once: the verdict and why, what is to be known besides the findings, how
//! much there is by rule and folder, the findings, and what changed. Terminal, Markdown and HTML only draw it, so that
//! none of them decides what counts, what comes first, or what is left out.

mod entries;
mod notices;
mod order;
mod tally;

pub(super) use entries::{Entry, Said, UnjudgedCause, said};
pub(super) use notices::{Notice, NoticeEntry, NoticeKind};
pub(super) use order::Order;
pub(super) use tally::{Tallied, Tally};

use self::entries::Listing;
use self::tally::tallies;
use super::about::ChangedLines;
use super::tone::Tone;
use super::wording::{headline, next_step, next_step_in_log, praise, run_problem, scope};
use super::{About, ChangedFile};
use crate::base::text::count;
use crate::model::findings::{Finding, Report, Show};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Folders that a table names.
const WORST_FOLDERS: usize = 5;

/// Where it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Medium {
    /// Below what the run said while it went; no reason is repeated.
    Log,
    /// By itself.
    Page,
}

pub(super) struct View<'a> {
    pub report: &'a Report,
    pub about: &'a About,
    /// The verdict with its numbers.
    pub headline: String,
    /// What passed and what was left out, in one line.
    pub scope: Option<String>,
    /// Why the run is no pass, where no finding says so. Holds text from outside.
    pub problem: Option<String>,
    /// What to do about it.
    pub step: Option<&'static str>,
    /// What is said to whoever mended something.
    pub praise: Option<String>,
    pub notices: Vec<Notice<'a>>,
    /// The rules that found something, the worst first.
    pub rules: Vec<Tallied<'a>>,
    /// The folders with findings, those with the most first.
    pub folders: Vec<Tallied<'a>>,
    /// What keeps rules from being evaluated in several files alike.
    pub causes: Vec<UnjudgedCause<'a>>,
    /// All findings, in the order of [`Order`].
    pub findings: Vec<Finding<'a>>,
    /// Those to list where not all have room, without those of `causes`.
    pub listed: Vec<Entry<'a>>,
    /// How many findings that count are not listed.
    more: usize,
    /// How many are known or waived, and not listed.
    old: usize,
    numbers: HashMap<&'a str, usize>,
    changes: HashMap<&'a str, &'a ChangedFile>,
}

/// A file with findings, in their order.
pub(super) struct FileView<'v, 'a> {
    pub path: &'a str,
    pub findings: Vec<&'v Finding<'a>>,
    pub tally: Tally<'a>,
}

/// How much there is of one kind that counts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TableRow<'a> {
    pub name: &'a str,
    /// `error`, `warning` or `not evaluated`; empty for folders.
    pub level: &'static str,
    pub findings: usize,
    pub files: usize,
}

impl<'a> View<'a> {
    pub(super) fn of(report: &'a Report, about: &'a About, medium: Medium) -> Self {
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
            problem: run_problem(report),
            step: match medium {
                Medium::Log => next_step_in_log(report, &about.told),
                Medium::Page => next_step(report),
            },
            praise: praise(report),
            notices: notices::notices(report, about, medium),
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

    /// The rules with findings that count: by level, those with the most first.
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

    /// The folders with the most findings that count, where there are several, and how many others there are.
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

    /// How many findings there are of this tone.
    pub(super) fn number(&self, tone: Tone) -> usize {
        self.rules.iter().map(|(_, tally)| tally.number(tone)).sum()
    }

    /// What is not listed, in a sentence; none where nothing is left out.
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

    /// The place of this rule among those that found something, from 1.
    pub(super) fn rule_number(&self, rule: &str) -> Option<usize> {
        self.numbers.get(rule).copied()
    }

    /// What changed in this file.
    pub(super) fn change(&self, path: &str) -> Option<&'a ChangedFile> {
        self.changes.get(path).copied()
    }

    /// Returns the changes in the order of the findings, those of layout alone last.
    pub(super) fn changes(&self) -> Vec<&'a ChangedFile> {
        let mut changes: Vec<&ChangedFile> = self.about.changes.iter().collect();
        order::sort_changes(&mut changes, &self.findings);
        changes
    }

    /// Returns the changes of files that are not among these, and the title for them.
    pub(super) fn other_changes(&self, files: &[FileView<'_, 'a>]) -> (&'static str, Vec<&'a ChangedFile>) {
        let mut others = self.changes();
        others.retain(|it| files.iter().all(|file| file.path != it.changed.path));
        let title = if others.len() == self.about.changes.len() {
            "What changed"
        } else {
            "What else changed"
        };
        (title, others)
    }
}

/// The places that [`super::terminal::render`] shows the lines of.
pub(super) fn listed<'a>(report: &'a Report, changed: &ChangedLines, show: Show) -> Vec<Finding<'a>> {
    let listing = Listing::of(&in_order(report, changed), show);
    let others = if show == Show::Concise { usize::MAX } else { 0 };
    let places = |entry: Entry<'a>| {
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
    let mut places: HashMap<&'a str, usize> = HashMap::new();
    let mut files: Vec<(&'a str, Vec<&'v Finding<'a>>)> = Vec::new();
    for finding in findings {
        let place = *places.entry(finding.path).or_insert_with(|| {
            files.push((finding.path, Vec::new()));
            files.len() - 1
        });
        if let Some((_, of_file)) = files.get_mut(place) {
            of_file.push(finding);
        }
    }
    let views = files.into_iter().map(|(path, findings)| FileView {
        path,
        tally: Tally::of(findings.iter().copied()),
        findings,
    });
    views.collect()
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or(".", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::findings::{State, Status, Verdict};
    use crate::report::sample;

    fn about(show: Show) -> About {
        About {
            show,
            ..About::default()
        }
    }

    #[test]
    fn it_counts_by_rule_and_folder_and_lists_the_worst_first() {
        let report = sample::report();
        let about = about(Show::First(2));
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
        report.files[1].results[1].states = vec![Some(State::Known), Some(State::New)];
        let shown = |show| {
            let about = about(show);
            let view = View::of(&report, &about, Medium::Page);
            (view.listed.len(), view.left_out())
        };
        assert_eq!(shown(Show::All), (4, None));
        let (listed, left) = shown(Show::New);
        assert_eq!(listed, 3);
        assert!(left.unwrap().contains("1 finding known or waived"));
        assert_eq!(shown(Show::None).0, 0);
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
            view.causes[0].concerns(),
            "500 files: 000.orch.yaml, 001.orch.yaml, 002.orch.yaml and 497 more"
        );
        assert_eq!(view.left_out(), None);
    }
}
