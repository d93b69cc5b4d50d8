//! What a reader is told first: how much there is by rule and by folder, then the findings that are listed, the worst
//! first, and what all of them have in common once.

use super::wording::named;
use crate::base::text::count;
use crate::model::findings::{Finding, Report, Show};
use crate::report::tone::Tone;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Folders that are named.
const WORST_FOLDERS: usize = 5;

pub(super) struct Overview<'a> {
    /// The findings that count by rule and level, the worst first.
    pub rules: Vec<OverviewRow<'a>>,
    /// The folders with the most findings that count, if there are several.
    pub folders: Vec<OverviewRow<'a>>,
    /// How many folders with findings that count are not named.
    more_folders: usize,
    /// What keeps rules from being evaluated in several files alike.
    pub causes: Vec<UnjudgedCause<'a>>,
    /// The findings to list, the worst first, without those of `causes`.
    pub listed: Vec<Finding<'a>>,
    /// How many findings that count are not listed.
    more: usize,
    /// How many are known or waived, and not listed.
    old: usize,
}

/// How much there is of one kind.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OverviewRow<'a> {
    pub name: &'a str,
    /// `error`, `warning` or `not evaluated`; empty for folders.
    pub level: &'static str,
    pub findings: usize,
    pub files: usize,
}

/// One cause of all that it keeps from being judged.
pub(super) struct UnjudgedCause<'a> {
    /// What is told, once.
    pub finding: Finding<'a>,
    pub paths: Vec<&'a str>,
}

impl UnjudgedCause<'_> {
    /// `3 files: a, b and c`.
    pub(super) fn concerns(&self) -> String {
        format!("{}: {}", count(self.paths.len(), "file"), named(&self.paths))
    }
}

impl<'a> Overview<'a> {
    /// The overview, and the findings that `show` lists.
    pub(super) fn of(report: &'a Report, show: Show) -> Self {
        let (mut counting, mut old): (Vec<_>, Vec<_>) =
            report.findings().into_iter().partition(Finding::counts);
        let (rules, mut folders) = (by_rule(&counting), by_folder(&counting));
        let more_folders = folders.len().saturating_sub(WORST_FOLDERS);
        folders.truncate(WORST_FOLDERS);
        let causes = causes(&mut counting);
        counting.sort_by_key(rank);
        old.sort_by_key(rank);
        let listed = counting.len().min(show.limit());
        let more = counting.len() - listed;
        counting.truncate(listed);
        if show.takes_old() {
            counting.append(&mut old);
        }
        Self {
            rules,
            folders,
            more_folders,
            causes,
            listed: counting,
            more,
            old: old.len(),
        }
    }

    /// How many folders are not named, for the last line of their table; none where all are.
    pub(super) fn more_folders(&self) -> Option<String> {
        let more = count(self.more_folders, "more folder");
        (self.more_folders > 0).then(|| format!("and {more}"))
    }

    pub(super) fn total(&self) -> usize {
        self.rules.iter().map(|row| row.findings).sum()
    }

    /// The listed findings by file, the worst file first.
    pub(super) fn by_file(&self) -> Vec<(&'a str, Vec<&Finding<'a>>)> {
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        let mut files: Vec<(&str, Vec<&Finding<'_>>)> = Vec::new();
        for finding in &self.listed {
            let at = *places.entry(finding.path).or_insert(files.len());
            match files.get_mut(at) {
                Some((_, findings)) => findings.push(finding),
                None => files.push((finding.path, vec![finding])),
            }
        }
        files
    }

    /// What is not listed, in a sentence; none where nothing is left out.
    pub(super) fn left_out(&self) -> Option<String> {
        let old = (self.old > 0).then(|| format!("{} known or waived", count(self.old, "finding")));
        let more = (self.more > 0).then(|| {
            let further = if self.listed.is_empty() { "" } else { "further " };
            count(self.more, &format!("{further}finding"))
        });
        let what: Vec<String> = more.into_iter().chain(old).collect();
        (!what.is_empty()).then(|| format!("Not listed here: {}. --show all lists them.", what.join(", ")))
    }
}

/// Errors, then what could not be evaluated, then warnings; within each by path and line.
fn rank<'a>(finding: &Finding<'a>) -> (Tone, &'a str, u32) {
    (Tone::by_weight(finding), finding.path, finding.line)
}

fn by_rule<'a>(findings: &[Finding<'a>]) -> Vec<OverviewRow<'a>> {
    let mut found: BTreeMap<(Tone, &str), (usize, BTreeSet<&str>)> = BTreeMap::new();
    for finding in findings {
        let row = found.entry((Tone::of(finding), finding.rule)).or_default();
        row.0 += 1;
        row.1.insert(finding.path);
    }
    let mut rows: Vec<(Tone, OverviewRow<'_>)> = found
        .into_iter()
        .map(|((tone, name), (findings, files))| {
            let row = OverviewRow {
                name,
                level: tone.word(),
                findings,
                files: files.len(),
            };
            (tone, row)
        })
        .collect();
    rows.sort_by_key(|(tone, row)| (*tone, Reverse(row.findings)));
    rows.into_iter().map(|(_, row)| row).collect()
}

fn by_folder<'a>(findings: &[Finding<'a>]) -> Vec<OverviewRow<'a>> {
    let mut found: BTreeMap<&str, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for finding in findings {
        let folder = finding.path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let row = found.entry(folder).or_default();
        row.0 += 1;
        row.1.insert(finding.path);
    }
    if found.len() < 2 {
        return Vec::new();
    }
    let mut rows: Vec<OverviewRow<'_>> = found
        .into_iter()
        .map(|(name, (findings, files))| OverviewRow {
            name,
            level: "",
            findings,
            files: files.len(),
        })
        .collect();
    rows.sort_by_key(|row| Reverse(row.findings));
    rows
}

/// Takes what the files say of the rules file out of the findings: it is at no line of theirs.
fn causes<'a>(findings: &mut Vec<Finding<'a>>) -> Vec<UnjudgedCause<'a>> {
    let key = |finding: &Finding<'a>| (finding.error_type, finding.rule, finding.text.clone());
    let mut found: BTreeMap<_, Vec<&'a str>> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.is_of_the_rules_file()) {
        found.entry(key(finding)).or_default().push(finding.path);
    }
    let mut causes: Vec<UnjudgedCause<'_>> = Vec::new();
    findings.retain(|finding| {
        if !finding.is_of_the_rules_file() {
            return true;
        }
        if let Some(paths) = found.get_mut(&key(finding)).filter(|paths| !paths.is_empty()) {
            causes.push(UnjudgedCause {
                finding: finding.clone(),
                paths: std::mem::take(paths),
            });
        }
        false
    });
    causes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::findings::{State, Status, Verdict};
    use crate::report::sample;

    #[test]
    fn it_counts_by_rule_and_folder_and_lists_the_worst_first() {
        let report = sample::report();
        let overview = Overview::of(&report, Show::First(2));
        insta::assert_debug_snapshot!((&overview.rules, &overview.folders), @r#"
        (
            [
                OverviewRow {
                    name: "component-naming-convention",
                    level: "error",
                    findings: 2,
                    files: 1,
                },
                OverviewRow {
                    name: "unused-components",
                    level: "not evaluated",
                    findings: 1,
                    files: 1,
                },
                OverviewRow {
                    name: "maximum-outputs",
                    level: "warning",
                    findings: 1,
                    files: 1,
                },
            ],
            [
                OverviewRow {
                    name: ".",
                    level: "",
                    findings: 2,
                    files: 1,
                },
                OverviewRow {
                    name: "load",
                    level: "",
                    findings: 2,
                    files: 1,
                },
            ],
        )
        "#);
        let lines: Vec<u32> = overview.listed.iter().map(|finding| finding.line).collect();
        assert_eq!(lines, [9, 12]);
        assert_eq!(
            overview.left_out().unwrap(),
            "Not listed here: 2 further findings. --show all lists them."
        );
        let totals = report.totals();
        let counted = totals.errors + totals.warnings + totals.not_evaluated;
        assert_eq!(overview.total(), counted);
    }

    #[test]
    fn what_is_known_is_a_number_until_all_is_asked_for() {
        let mut report = sample::report();
        report.files[1].results[1].states = vec![Some(State::Known), Some(State::New)];
        let shown = |show| {
            let overview = Overview::of(&report, show);
            (overview.listed.len(), overview.left_out())
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
                    &format!("{n}.orch.yaml"),
                    vec![sample::result("r", missing(), words())],
                )
            })
            .collect();
        let overview = Overview::of(&report, Show::default());
        assert_eq!(
            (overview.causes.len(), overview.listed.len(), overview.total()),
            (1, 0, 500)
        );
        assert_eq!(
            overview.causes[0].concerns(),
            "500 files: 0.orch.yaml, 1.orch.yaml, 2.orch.yaml and 497 more"
        );
        assert_eq!(overview.left_out(), None);
    }
}
