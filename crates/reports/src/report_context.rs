//! The information in a report besides the review, supplied by the callers.

use super::azure_build::AzureBuild;
use super::path_base::PathBase;
use super::terminal::TerminalLinks;
use sluicegate_base::text::List;
use sluicegate_pipelines::diff::DiffLine as ChangeLine;
use sluicegate_pipelines::findings::{
    ChangeSummary, DocumentationBlock, Finding, Fingerprint, Report, RulesFileError, ShowMode,
    UNREADABLE_RULE,
};
use sluicegate_pipelines::picture::Canvas;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The remark about a pipeline that is not drawn because of the limits on pictures.
pub const OMITTED_PICTURE: &str = "the picture is omitted because there are too many pipelines to draw";

/// Maximum length of the category in an id, in characters.
const CATEGORY_LIMIT: usize = 60;

/// Length of the hash of a category in an id, in characters.
const CATEGORY_HASH_LENGTH: usize = 12;

/// The information in a report besides the review.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReportContext {
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
    /// The run of Azure Pipelines that writes the reports.
    pub azure_build: Option<AzureBuild>,
    /// Name that separates this review from others of the same commit, in SARIF's category and in a comment's marker.
    /// Empty by default.
    pub category: String,
    /// The findings to list in human-readable reports. By default, the log lists some, and a page as many as fit.
    pub show: Option<ShowMode>,
    /// The shell command that reproduces the review locally, if it is to be shown.
    pub reproduction_command: Option<String>,
    /// The directory that the paths of the log are relative to.
    pub path_base: PathBase,
    /// The links of the log, if it is a terminal that supports them.
    pub links: TerminalLinks,
    /// Reasons for unreviewed files that the log has already shown.
    pub logged_reasons: Vec<String>,
    /// Number of errors that the log has already shown as annotations. They use up the limit of the host.
    pub annotated_error_count: usize,
    /// The paths of the reports, for the log of a review that failed in CI.
    pub reports: Vec<String>,
    /// The errors in the rules file.
    pub rules_file_errors: Vec<RulesFileError>,
    /// The way to provide the missing rules file, if it is missing. Not escaped.
    pub missing_rules_hint: Option<String>,
    /// A file of the reviewed commit, for entries about a run without a reviewed file.
    pub existing_file: Option<String>,
    /// The files of the gate configuration that the reviewed commit does not have. Entries about them are at another
    /// file.
    pub removed_gate_files: Vec<String>,
    /// Descriptions of the rules.
    pub rules: Vec<RuleText>,
    pub sources: SourceLines,
    pub changed_lines: ChangedLines,
    /// The changed pipelines, by path.
    pub changes: Vec<ChangedFile>,
    /// Pictures of unchanged pipelines with findings.
    pub pictures: BTreeMap<String, Canvas>,
    /// The unchanged pipelines with findings whose pictures are omitted because there are too many to draw.
    pub omitted_picture_paths: BTreeSet<String>,
}

/// The changes to a file, for human-readable reports.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedFile {
    pub summary: ChangeSummary,
    /// The list of changes, without the line about the file; empty if they are unknown.
    pub change_lines: Vec<ChangeLine>,
    /// A picture of head and base, if it can be drawn and is not too large.
    pub picture: Option<Canvas>,
    /// The ranges of lines in head that the change touched. `None` if they are not needed, or if a version could not be
    /// read.
    pub touched_ranges: Option<Vec<RangeInclusive<u32>>>,
}

/// Maximum number of places in the rules file that are listed with an evaluation error.
const MAX_LISTED_PLACES: usize = 5;

impl ReportContext {
    /// Returns whether the log has already shown this reason why files were not reviewed.
    pub(super) fn has_logged_reason(&self, reason: &str) -> bool {
        self.logged_reasons
            .iter()
            .any(|logged_reason| logged_reason == reason)
    }

    /// Returns an instruction such as `run …` that fixes a finding about the rules file: create the file if it is
    /// missing, otherwise check it. The team rules file must be repaired by a change, because that of the policy is in
    /// force. The caller must escape the result.
    pub(super) fn rules_file_hint(&self, finding: &Finding<'_>) -> &str {
        let missing_file_hint = match &self.missing_rules_hint {
            Some(hint) => hint,
            None => "run `sluicegate rules init` to create a rules file",
        };
        if finding.is_missing_rules_file_error() {
            missing_file_hint
        } else if finding.is_team_rules_file_error() {
            "fix the file in a change, and check the change with `sluicegate rules lint`"
        } else {
            "run `sluicegate rules lint` to find every problem in the rules file"
        }
    }

    /// Lists the first places in the rules file that cause this finding. If there are more, the last item counts them.
    /// The caller must escape the items.
    pub(super) fn list_rules_file_places(&self, finding: &Finding<'_>) -> Vec<String> {
        let places = self.find_rules_file_places(finding.rule, finding.error_type);
        List::with_limit(places, MAX_LISTED_PLACES)
            .with_noun("place")
            .entries()
            .collect()
    }

    /// Finds the places in the rules file that cause an error of this type: those whose message names the rule, or all
    /// of them if no message names it.
    fn find_rules_file_places(&self, rule: &str, error_type: Option<&str>) -> Vec<&str> {
        let errors = self
            .rules_file_errors
            .iter()
            .filter(|error| Some(error.error_type.as_str()) == error_type);
        let naming_errors: Vec<&str> = errors
            .clone()
            .filter(|error| error.message.contains(&format!("`{rule}`")))
            .map(|error| error.place.as_str())
            .collect();
        if naming_errors.is_empty() {
            return errors.map(|error| error.place.as_str()).collect();
        }
        naming_errors
    }
}

/// The limits of a host for SARIF files. Beyond them, the host drops results or rejects the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SarifLimits {
    /// Maximum number of results in a run.
    pub results: usize,
    /// Approximate maximum size, in bytes.
    pub bytes: usize,
}

impl SarifLimits {
    /// GitHub shows 5,000 results of a run, and accepts 10 MB after compression
    /// (<https://docs.github.com/code-security/code-scanning/troubleshooting-sarif-uploads/results-exceed-limit>).
    pub const GITHUB: Self = Self {
        results: 5_000,
        bytes: 8_000_000,
    };
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleText {
    pub id: String,
    /// The requirement, in one sentence.
    pub summary: String,
    /// The reason for the rule and how it is checked, a sentence each.
    pub help: Vec<String>,
    /// The instruction to fix a finding, in one sentence.
    pub fix: String,
    /// The complete description: reason, check, configuration, and examples that pass and fail.
    pub blocks: Vec<DocumentationBlock>,
}

impl ReportContext {
    /// Returns an id by which an earlier report or comment of this review is found and replaced on the host. It differs
    /// for each category and shard, because these are separate reviews of the same change. The category is shortened,
    /// and its characters other than ASCII letters and digits become `-`. A hash then tells it apart from other
    /// categories with the same text.
    pub fn review_id(&self, report: &Report) -> String {
        let mut id = "sluicegate".to_owned();
        if !self.category.is_empty() {
            id.push('-');
            let category = self.category.chars().take(CATEGORY_LIMIT);
            let readable_category: String = category
                .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
                .collect();
            id.push_str(&readable_category);
            // A category such as `x-part-1-of-2` looks like a shard of the category `x`.
            if readable_category != self.category || self.category.contains("-part-") {
                let hash = Fingerprint::new(&["category", &self.category], 0).to_string();
                let _ = write!(id, "-{hash:.CATEGORY_HASH_LENGTH$}");
            }
        }
        if let Some(shard) = report.context.shard {
            let _ = write!(id, "-part-{}-of-{}", shard.index, shard.total);
        }
        id
    }

    /// Returns the description of a rule, if it is known.
    pub(super) fn find_rule(&self, id: &str) -> Option<&RuleText> {
        self.rules.iter().find(|rule| rule.id == id)
    }
}

/// The source lines around findings. Long lines are truncated, and the total size is limited, since files can have any
/// size.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SourceLines {
    files: BTreeMap<String, BTreeMap<u32, String>>,
    kept_bytes: usize,
}

pub type NumberedLine<'a> = (u32, &'a str);

impl SourceLines {
    /// Number of lines before a finding that are kept.
    const LINES_BEFORE: u32 = 2;

    /// Number of lines after a finding that are kept.
    const LINES_AFTER: u32 = 4;

    /// Maximum length of a line, in characters; longer ones are truncated.
    const MAX_LINE_CHARS: usize = 400;

    /// Maximum size of the lines of all files, in bytes.
    const MAX_BYTES: usize = 24 * 1024 * 1024;

    /// Returns whether the maximum size is reached, so that no more lines are kept.
    pub const fn is_full(&self) -> bool {
        self.kept_bytes >= Self::MAX_BYTES
    }

    /// Keeps the lines of a file's content that are near one of `lines`, the line numbers of findings, until the
    /// maximum size is reached. Long lines are truncated.
    pub fn keep_lines_near(&mut self, path: &str, content: &[u8], lines: &BTreeSet<u32>) {
        let last_line = lines
            .last()
            .map_or(0, |line| line.saturating_add(Self::LINES_AFTER) as usize);
        let text = String::from_utf8_lossy(content);
        let file = self.files.entry(path.to_owned()).or_default();
        for (number, line) in (1_u32..).zip(text.lines()).take(last_line) {
            // The findings for which this line is kept: for findings above it, the line is one of the lines after them.
            let neighbors =
                number.saturating_sub(Self::LINES_AFTER)..=number.saturating_add(Self::LINES_BEFORE);
            let is_near_finding = lines.range(neighbors).next().is_some();
            if is_near_finding && self.kept_bytes < Self::MAX_BYTES {
                let short_line = super::truncation::truncate(line.trim_end(), Self::MAX_LINE_CHARS);
                self.kept_bytes += short_line.len() + size_of::<(u32, String)>();
                file.insert(number, short_line);
            }
        }
    }

    /// Returns at most five lines to show with a finding: its own line, where its component starts, and the lines below
    /// it that belong to the component. For an unreadable pipeline, these are the line of the error and up to two lines
    /// before and after it. A finding about an entire pipeline is at line 1 and has no lines.
    pub(super) fn select_excerpt(&self, finding: &Finding<'_>) -> Vec<NumberedLine<'_>> {
        if finding.line == 1 && finding.error_type.is_none() {
            return Vec::new();
        }
        let (before_count, after_count) = if finding.rule == UNREADABLE_RULE {
            (Self::LINES_BEFORE, 2)
        } else {
            (0, Self::LINES_AFTER)
        };
        let mut lines = self.find_lines_around(finding.path, finding.line, before_count, after_count);
        let indent = |line: &str| line.len() - line.trim_start().len();
        let own_indent = self.line(finding.path, finding.line).map_or(0, indent);
        // A line with the same or less indentation is not part of the component, and neither are the lines after it.
        // The excerpt of an unreadable pipeline ends only at a line with less indentation.
        let max_indent = if finding.rule == UNREADABLE_RULE {
            own_indent
        } else {
            own_indent + 1
        };
        let end = lines.iter().position(|(number, line)| {
            *number > finding.line && !line.trim().is_empty() && indent(line) < max_indent
        });
        lines.truncate(end.unwrap_or(lines.len()));
        lines
    }

    /// Returns the lines of [`Self::select_excerpt`] for a log. There are none if they would only repeat the message:
    /// if the finding is about a number, or if its line contains only the name of its component and the finding is not
    /// an evaluation error.
    pub(super) fn select_log_excerpt(&self, finding: &Finding<'_>) -> Vec<NumberedLine<'_>> {
        let name_in_line = self.line(finding.path, finding.line).map(|line| {
            let key = line.trim().trim_end_matches(':');
            key.trim_matches(['"', '\''])
        });
        let has_only_name = name_in_line.is_some() && name_in_line == finding.about;
        if finding.size.is_some() || (has_only_name && finding.error_type.is_none()) {
            return Vec::new();
        }
        self.select_excerpt(finding)
    }

    /// Returns the text of a line; `None` if it was not kept.
    pub(super) fn line(&self, path: &str, line_number: u32) -> Option<&str> {
        self.files.get(path)?.get(&line_number).map(String::as_str)
    }

    /// Returns the kept lines from `before_count` lines before `line` to `after_count` lines after it; empty if `line`
    /// itself was not kept.
    fn find_lines_around(
        &self,
        path: &str,
        line: u32,
        before_count: u32,
        after_count: u32,
    ) -> Vec<NumberedLine<'_>> {
        let Some(file) = self.files.get(path).filter(|file| file.contains_key(&line)) else {
            return Vec::new();
        };
        let range = line.saturating_sub(before_count)..=line.saturating_add(after_count);
        file.range(range)
            .map(|(number, text)| (*number, text.as_str()))
            .collect()
    }
}

/// The lines of findings that the change touches, by changed file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedLines(BTreeMap<String, BTreeSet<u32>>);

impl ChangedLines {
    /// Adds a changed file with the lines of its findings that the change touches, see [`select_touched_lines`].
    pub fn add(&mut self, path: impl Into<String>, touched_lines: BTreeSet<u32>) {
        self.0.insert(path.into(), touched_lines);
    }

    /// Returns whether the change touches the line of a finding, or a line of the block that is indented below it.
    pub fn contains(&self, path: &str, line: u32) -> bool {
        self.0.get(path).is_some_and(|lines| lines.contains(&line))
    }

    /// Returns whether the change touches the file.
    pub(super) fn has_file(&self, path: &str) -> bool {
        self.0.contains_key(path)
    }
}

/// Returns those of `lines`, the line numbers of findings, that a hunk of the diff touches. A hunk also touches a line
/// if it is in the block that is indented below the line: a finding is at the first line of its component, but a
/// change, such as a removed link, can be anywhere in the component's block.
pub fn select_touched_lines(
    text: &str,
    lines: impl IntoIterator<Item = u32>,
    hunks: &[RangeInclusive<u32>],
) -> BTreeSet<u32> {
    let text_lines: Vec<&str> = text.lines().collect();
    lines
        .into_iter()
        .filter(|line| {
            let block_end = find_block_end(&text_lines, *line);
            hunks
                .iter()
                .any(|hunk| *hunk.start() <= block_end && *line <= *hunk.end())
        })
        .collect()
}

/// Returns the number of the last line of the block that starts on line `first`, which includes all following lines
/// that are empty or indented deeper. If there is no such line, returns `first`. Lines count from 1.
fn find_block_end(lines: &[&str], first: u32) -> u32 {
    let first_index = (first as usize).saturating_sub(1);
    let indent = |line: &str| line.len() - line.trim_start().len();
    let Some(own_indent) = lines.get(first_index).map(|line| indent(line)) else {
        return first;
    };
    let following_lines = lines.iter().skip(first_index + 1);
    let block_lines = following_lines.take_while(|line| line.trim().is_empty() || indent(line) > own_indent);
    first.saturating_add(u32::try_from(block_lines.count()).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sluicegate_pipelines::findings::{Shard, Verdict};

    #[test]
    fn only_the_lines_around_findings_are_kept() {
        let lines: Vec<String> = (1..=30).map(|n| format!("line {n}\r\n")).collect();
        let text = lines.concat();
        let mut sources = SourceLines::default();
        sources.keep_lines_near("a", text.as_bytes(), &BTreeSet::from([1, 10, 29]));
        let numbers = |line| -> Vec<u32> {
            sources
                .find_lines_around("a", line, 9, 9)
                .iter()
                .map(|(n, _)| *n)
                .collect()
        };
        assert_eq!(numbers(1), [1, 2, 3, 4, 5, 8, 9, 10]);
        assert_eq!(
            sources.find_lines_around("a", 10, 1, 1),
            [(9, "line 9"), (10, "line 10"), (11, "line 11")]
        );
        assert_eq!(numbers(29).last(), Some(&30));
        assert!(numbers(20).is_empty() && sources.find_lines_around("b", 1, 3, 3).is_empty());
    }

    #[test]
    fn each_category_and_part_has_an_id_of_its_own() {
        let mut report = sample::empty(Verdict::Passed);
        let mut about = ReportContext::default();
        assert_eq!(about.review_id(&report), "sluicegate");
        about.category = "a b-->".to_owned();
        report.context.shard = Some(Shard { index: 2, total: 3 });
        let id = about.review_id(&report);
        assert!(
            id.starts_with("sluicegate-a-b----") && id.ends_with("-part-2-of-3"),
            "{id}"
        );
    }

    #[test]
    fn categories_that_differ_only_in_lost_characters_have_different_ids() {
        let mut report = sample::empty(Verdict::Passed);
        let mut ids = BTreeSet::new();
        let long_name = "x".repeat(CATEGORY_LIMIT);
        let (long_a, long_b) = (format!("{long_name}a"), format!("{long_name}b"));
        let categories = ["team-a", "team/a", "team a", &long_a, &long_b, "x-part-1-of-2"];
        for category in categories {
            let context = ReportContext {
                category: category.to_owned(),
                ..ReportContext::default()
            };
            ids.insert(context.review_id(&report));
        }
        report.context.shard = Some(Shard { index: 1, total: 2 });
        let context = ReportContext {
            category: "x".to_owned(),
            ..ReportContext::default()
        };
        ids.insert(context.review_id(&report));
        assert_eq!(ids.len(), categories.len() + 1, "{ids:?}");
        assert!(ids.contains("sluicegate-team-a"), "{ids:?}");
    }

    #[test]
    fn kept_details_are_bounded() {
        let mut sources = SourceLines::default();
        let long = "é".repeat(100_000);
        sources.keep_lines_near("a", long.as_bytes(), &BTreeSet::from([1]));
        assert_eq!(
            sources.line("a", 1).map(|line| line.chars().count()),
            Some(SourceLines::MAX_LINE_CHARS)
        );
        let lines: BTreeSet<u32> = (1..=40_000).collect();
        let text = format!("{}\n", "x".repeat(1_000)).repeat(40_000);
        (0..4).for_each(|n| sources.keep_lines_near(&n.to_string(), text.as_bytes(), &lines));
        assert!(sources.is_full() && sources.kept_bytes < SourceLines::MAX_BYTES + 1_000);
    }

    #[test]
    fn line_is_touched_with_what_is_indented_below_it() {
        let mut changed = ChangedLines::default();
        let text = "a:\n  b:\n    c: 1\n    z: 0\n    d: 2\n  e:\n    f: 3\n";
        changed.add("a", select_touched_lines(text, 1..=7, &[5..=5]));
        let touched: Vec<u32> = (1..12).filter(|line| changed.contains("a", *line)).collect();
        assert_eq!(touched, [1, 2, 5]);
        assert!(!changed.contains("b", 3) && !changed.has_file("b") && changed.has_file("a"));
    }
}
