//! The information in a report besides the review, supplied by the callers.

use super::path_base::PathBase;
use sluicegate_base::text::List;
use sluicegate_pipelines::diff::DiffLine as ChangeLine;
use sluicegate_pipelines::findings::{
    ChangeSummary, DocumentationBlock, Finding, Report, ShowMode, UNREADABLE_RULE,
};
use sluicegate_pipelines::picture::Canvas;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// Maximum length of the category in an id, in characters.
const CATEGORY_LIMIT: usize = 60;

/// The information in a report besides the review.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct About {
    pub tool_version: &'static str,
    /// URL template for a line of a file of the reviewed commit, for example
    /// `https://github.com/o/r/blob/<sha>/{path}#L{line}`. `None` if the host has no such page.
    pub blob_url: Option<String>,
    /// URL of the repository, for example `https://github.com/o/r`.
    pub repository_url: Option<String>,
    /// Human-readable name of the repository, for example `o/r`.
    pub repository: Option<String>,
    /// The platform's project, as in the settings.
    pub project: Option<String>,
    /// Limits of the host for SARIF files; `None` if there are no limits.
    pub sarif_limits: Option<SarifLimits>,
    /// Name that separates this review from others of the same commit, in SARIF's category and in a comment's marker.
    /// Empty by default.
    pub category: String,
    /// The findings to list in human-readable reports.
    pub show: ShowMode,
    /// The shell command that reproduces the review locally, if it is to be shown.
    pub reproduce: Option<String>,
    /// The directory that the paths of the log are relative to.
    pub path_base: PathBase,
    /// Reasons for unreviewed files that the log has already shown.
    pub told: Vec<String>,
    pub reports: Vec<String>,
    /// The errors in the rules file.
    pub wrong_rules: Vec<WrongRules>,
    /// How to provide the missing rules file, if it is missing. Contains text from outside.
    pub missing_rules_hint: Option<String>,
    /// A file of the reviewed commit, for entries about a run without a reviewed file.
    pub any_file: Option<String>,
    /// Descriptions of the rules.
    pub rules: Vec<RuleText>,
    pub sources: SourceLines,
    pub changed: ChangedLines,
    /// The changed pipelines, by path.
    pub changes: Vec<ChangedFile>,
    /// Pictures of unchanged pipelines with findings.
    pub pictures: BTreeMap<String, Canvas>,
}

/// The changes of a file, for human-readable reports.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChangedFile {
    pub changed: ChangeSummary,
    /// The list of changes, without the line about the file; empty if they are unknown.
    pub words: Vec<ChangeLine>,
    /// A picture of head and base, if it can be drawn and is not too large.
    pub picture: Option<Canvas>,
}

/// An error in the rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongRules {
    /// The evaluation error that it causes.
    pub error_type: &'static str,
    pub message: String,
    pub place: String,
}

/// Maximum number of places in the rules file that are listed with an evaluation error.
const PLACES: usize = 5;

impl About {
    /// Returns whether the log has shown this reason for unreviewed files.
    pub(super) fn has_told(&self, reason: &str) -> bool {
        self.told.iter().any(|told| told == reason)
    }

    /// Returns how to fix an error in the rules file. Contains text from outside.
    pub(super) fn rules_file_hint(&self, finding: &Finding<'_>) -> &str {
        let missing = match &self.missing_rules_hint {
            Some(hint) => hint,
            None => "run `sluicegate rules init` to create a rules file",
        };
        if finding.is_missing_rules_file_error() {
            missing
        } else {
            "run `sluicegate rules lint` to find every problem in the rules file"
        }
    }

    /// Returns the first places in the rules file that cause this finding, and the number of others. Contains text from
    /// outside.
    pub(super) fn named_places(&self, finding: &Finding<'_>) -> Vec<String> {
        let places = self.places(finding.rule, finding.error_type);
        List::with_limit(places, PLACES).of("place").entries().collect()
    }

    /// Returns the places that cause this error of the rule: those whose message names it, otherwise all with this
    /// error.
    fn places(&self, rule: &str, error_type: Option<&str>) -> Vec<&str> {
        let wrong = self
            .wrong_rules
            .iter()
            .filter(|wrong| Some(wrong.error_type) == error_type);
        let named = wrong
            .clone()
            .filter(|wrong| wrong.message.contains(&format!("`{rule}`")));
        let named: Vec<&str> = named.map(|wrong| wrong.place.as_str()).collect();
        if named.is_empty() {
            return wrong.map(|wrong| wrong.place.as_str()).collect();
        }
        named
    }
}

/// The limits of a host for SARIF files. Beyond them, the host drops results or rejects the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SarifLimits {
    /// Maximum number of results in a run.
    pub results: usize,
    /// Approximate maximum size, in bytes.
    pub bytes: usize,
}

impl SarifLimits {
    /// GitHub shows 5,000 results of a run, and accepts 10 MB after compression
    /// (<https://docs.github.com/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit>).
    pub(crate) const GITHUB: Self = Self {
        results: 5_000,
        bytes: 8_000_000,
    };
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RuleText {
    pub id: String,
    /// The requirement, in one sentence.
    pub summary: String,
    /// The reason for the rule and how it is checked, a sentence each.
    pub help: Vec<String>,
    /// How to fix a finding, in one sentence.
    pub fix: String,
    /// The complete description: reason, check, configuration, and examples that pass and fail.
    pub blocks: Vec<DocumentationBlock>,
}

impl About {
    /// Returns an id that is unique among the reviews of the same change: it differs for each category and shard. It is
    /// used to find and replace an earlier report or comment on the host.
    pub(crate) fn review_id(&self, report: &Report) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        let mut id = "sluicegate".to_owned();
        if !self.category.is_empty() {
            id.push('-');
            id.extend(self.category.chars().take(CATEGORY_LIMIT).map(plain));
        }
        if let Some(shard) = report.context.shard {
            let _ = write!(id, "-part-{}-of-{}", shard.index, shard.total);
        }
        id
    }

    /// Returns the description of a rule, if it is known.
    pub(super) fn rule(&self, id: &str) -> Option<&RuleText> {
        self.rules.iter().find(|rule| rule.id == id)
    }
}

/// The source lines around findings. Long lines are truncated, and the total size is limited, since files can have any
/// size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SourceLines {
    files: BTreeMap<String, BTreeMap<u32, String>>,
    kept: usize,
}

pub(crate) type NumberedLine<'a> = (u32, &'a str);

impl SourceLines {
    /// Number of lines before a finding that are kept.
    const BEFORE: u32 = 2;

    /// Number of lines after a finding that are kept.
    const AFTER: u32 = 4;

    /// Maximum length of a line, in characters; longer ones are truncated.
    const LONGEST: usize = 400;

    /// Maximum size of the lines of all files, in bytes.
    const MOST: usize = 24 * 1024 * 1024;

    pub(crate) const fn is_full(&self) -> bool {
        self.kept >= Self::MOST
    }

    /// Keeps the lines of a file's content that are near one of `lines` (from 1).
    pub(crate) fn add(&mut self, path: &str, content: &[u8], lines: &BTreeSet<u32>) {
        let wanted = |number: u32| {
            let near = number.saturating_sub(Self::AFTER)..=number.saturating_add(Self::BEFORE);
            lines.range(near).next().is_some()
        };
        let last = lines
            .last()
            .map_or(0, |line| line.saturating_add(Self::AFTER) as usize);
        let text = String::from_utf8_lossy(content);
        let file = self.files.entry(path.to_owned()).or_default();
        for (number, line) in (1_u32..).zip(text.lines()).take(last) {
            if wanted(number) && self.kept < Self::MOST {
                let line = super::shorten::to_chars(line.trim_end(), Self::LONGEST);
                self.kept += line.len() + size_of::<(u32, String)>();
                file.insert(number, line);
            }
        }
    }

    /// Returns the five lines to show with a finding. They start at its line, where its component starts; for an
    /// unreadable pipeline, they include the lines before it. A finding about an entire pipeline is at line 1 and needs
    /// no lines.
    pub(super) fn context(&self, finding: &Finding<'_>) -> Vec<NumberedLine<'_>> {
        if finding.line == 1 && finding.error_type.is_none() {
            return Vec::new();
        }
        let (before, after) = if finding.rule == UNREADABLE_RULE {
            (Self::BEFORE, 2)
        } else {
            (0, Self::AFTER)
        };
        let mut lines = self.near(finding.path, finding.line, before, after);
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own = self.line(finding.path, finding.line).map_or(0, indent);
        // What follows a shallower line belongs to something else.
        let end = lines.iter().position(|(number, line)| {
            *number > finding.line && !line.trim().is_empty() && indent(line) < own
        });
        lines.truncate(end.unwrap_or(lines.len()));
        lines
    }

    /// Returns the text of this line, if it is known.
    pub(super) fn line(&self, path: &str, line: u32) -> Option<&str> {
        self.files.get(path)?.get(&line).map(String::as_str)
    }

    fn near(&self, path: &str, line: u32, before: u32, after: u32) -> Vec<NumberedLine<'_>> {
        let Some(file) = self.files.get(path).filter(|file| file.contains_key(&line)) else {
            return Vec::new();
        };
        let near = line.saturating_sub(before)..=line.saturating_add(after);
        file.range(near)
            .map(|(number, text)| (*number, text.as_str()))
            .collect()
    }
}

/// The lines of findings that the change touches, by changed file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChangedLines(BTreeMap<String, BTreeSet<u32>>);

impl ChangedLines {
    /// Adds a changed file, with the result of [`touched_lines`].
    pub(crate) fn add(&mut self, path: impl Into<String>, touched: BTreeSet<u32>) {
        self.0.insert(path.into(), touched);
    }

    /// Returns whether the change touches this line of a finding, or a line that is indented below it.
    pub(crate) fn touch(&self, path: &str, line: u32) -> bool {
        self.0.get(path).is_some_and(|lines| lines.contains(&line))
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }
}

/// Returns those of the findings' `lines` that a hunk touches. A line includes all lines that are indented below it, so
/// that a component is touched if one of its links was removed.
pub(crate) fn touched_lines(
    text: &str,
    lines: impl IntoIterator<Item = u32>,
    hunks: &[RangeInclusive<u32>],
) -> BTreeSet<u32> {
    let all: Vec<&str> = text.lines().collect();
    let is_touched = |line: &u32| {
        let end = block_end(&all, *line);
        hunks
            .iter()
            .any(|hunk| *hunk.start() <= end && *line <= *hunk.end())
    };
    lines.into_iter().filter(is_touched).collect()
}

/// Returns the last line of the block that starts on this line: the lines that are indented deeper. Lines count from 1.
fn block_end(lines: &[&str], first: u32) -> u32 {
    let at = (first as usize).saturating_sub(1);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(own) = lines.get(at).map(|line| indent(line)) else {
        return first;
    };
    let below = lines.iter().skip(at + 1);
    let inside = below.take_while(|line| line.trim().is_empty() || indent(line) > own);
    first.saturating_add(u32::try_from(inside.count()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use sluicegate_pipelines::findings::{Shard, Verdict};

    #[test]
    fn only_the_lines_around_findings_are_kept() {
        let lines: Vec<String> = (1..=30).map(|n| format!("line {n}\r\n")).collect();
        let text = lines.concat();
        let mut sources = SourceLines::default();
        sources.add("a", text.as_bytes(), &BTreeSet::from([1, 10, 29]));
        let numbers = |line| -> Vec<u32> { sources.near("a", line, 9, 9).iter().map(|(n, _)| *n).collect() };
        assert_eq!(numbers(1), [1, 2, 3, 4, 5, 8, 9, 10]);
        assert_eq!(
            sources.near("a", 10, 1, 1),
            [(9, "line 9"), (10, "line 10"), (11, "line 11")]
        );
        assert_eq!(numbers(29).last(), Some(&30));
        assert!(numbers(20).is_empty() && sources.near("b", 1, 3, 3).is_empty());
    }

    #[test]
    fn each_category_and_part_has_an_id_of_its_own() {
        let mut report = sample::empty(Verdict::Passed);
        let mut about = About::default();
        assert_eq!(about.review_id(&report), "sluicegate");
        about.category = "a b-->".to_owned();
        report.context.shard = Some(Shard { index: 2, total: 3 });
        assert_eq!(about.review_id(&report), "sluicegate-a-b----part-2-of-3");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut sources = SourceLines::default();
        let long = "é".repeat(100_000);
        sources.add("a", long.as_bytes(), &BTreeSet::from([1]));
        assert_eq!(
            sources.line("a", 1).map(|line| line.chars().count()),
            Some(SourceLines::LONGEST)
        );
        let lines: BTreeSet<u32> = (1..=40_000).collect();
        let text = format!("{}\n", "x".repeat(1_000)).repeat(40_000);
        (0..4).for_each(|n| sources.add(&n.to_string(), text.as_bytes(), &lines));
        assert!(sources.is_full() && sources.kept < SourceLines::MOST + 1_000);
    }

    #[test]
    fn a_line_is_touched_with_what_is_indented_below_it() {
        let mut changed = ChangedLines::default();
        let text = "a:\n  b:\n    c: 1\n    z: 0\n    d: 2\n  e:\n    f: 3\n";
        changed.add("a", touched_lines(text, 1..=7, &[5..=5]));
        let touched: Vec<u32> = (1..12).filter(|line| changed.touch("a", *line)).collect();
        assert_eq!(touched, [1, 2, 5]);
        assert!(!changed.touch("b", 3) && !changed.has("b") && changed.has("a"));
    }
}
