//! Renders the review as a page of Markdown: GitHub's step summary, a comment on a pull or merge request, an annotation
//! of Buildkite. These pages differ only in their size limits.

use crate::changes_markdown;
use crate::finding_tone::Tone;
use crate::findings_markdown::{
    FileEntries, FindingItem, MESSAGE_LIMIT, is_error, limit_name_length, render_cause, render_finding_items,
    render_finding_list, shorten_message,
};
use crate::markdown::{escape, escape_prose, render_code, render_commit};
use crate::truncation::{MAX_SECTION_LINES, push_lines};
use crate::view::{self, FindingEntry, Notice, NoticeEntry, NoticeKind, View, ViewMedium};
use crate::{ReportContext, truncation};
use sluicegate_base::text::{format_and_more, format_and_more_of, format_count, format_number};
use sluicegate_pipelines::findings::{Report, Verdict};
use std::fmt::Write as _;

/// Size limits, in bytes.
struct PageLimits {
    /// Maximum size of the page.
    page: usize,
    /// Approximate maximum size of a table or list, so that one section never displaces all others.
    section: usize,
    /// Maximum size of the lists and flowcharts of changes, so that they never displace findings.
    changes: usize,
}

/// Maximum size of a step summary in bytes. GitHub drops summaries over 1 MiB
/// (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions#adding-a-job-summary>).
pub const MAX_SUMMARY_BYTES: usize = 1_000 * 1024;

const SUMMARY_LIMITS: PageLimits = PageLimits {
    page: MAX_SUMMARY_BYTES,
    section: 128 * 1024,
    changes: 256 * 1024,
};

/// GitHub accepts 65,536 characters in a comment; the lower limit leaves room for additions by the poster.
const COMMENT_LIMITS: PageLimits = PageLimits {
    page: 64_000,
    section: 12_000,
    changes: 32_000,
};

/// Reserved size for the sentence about omitted sections, in bytes.
const OMISSION_BYTES: usize = 512;

/// Approximate size of the tags of a fold, in bytes.
const FOLD_BYTES: usize = 50;

/// Renders the review as Markdown for GitHub's step summary, under 1,000 KiB.
pub(super) fn render_summary(report: &Report, context: &ReportContext) -> String {
    let view = View::new(report, context, ViewMedium::Page);
    render_page(render_head(&view, &SUMMARY_LIMITS), &view, &SUMMARY_LIMITS)
}

/// Renders the review as Markdown for a comment, under 64,000 bytes. The first line is invisible and identifies the
/// review, so that the next run can find this comment and update it.
pub fn render_comment(report: &Report, context: &ReportContext) -> String {
    let view = View::new(report, context, ViewMedium::Page);
    let mut start = format!("{}\n", comment_marker(report, context));
    start.push_str(&render_head(&view, &COMMENT_LIMITS));
    start.extend(report.context.head.as_deref().map(render_commit));
    render_page(start, &view, &COMMENT_LIMITS)
}

/// Returns the first line of a comment, an HTML comment that is the same for each review of this category and shard.
fn comment_marker(report: &Report, context: &ReportContext) -> String {
    format!("<!-- {} -->", context.review_id(report))
}

/// Renders a page: after `head`, the sections from the most to the least important, as far as they fit into the limits.
/// The last line states the number of omitted sections.
fn render_page(head: String, view: &View<'_>, limits: &PageLimits) -> String {
    let mut page = MarkdownPage {
        text: head,
        omitted_count: 0,
        limits,
    };
    page.add_notices(view, |notice| notice.affects_verdict);
    page.add_findings(view);
    if let Some(omission) = view.describe_omission() {
        page.add_block(&format!("{}\n\n", escape(&omission)));
    }
    page.add_notices(view, |notice| {
        !notice.affects_verdict && notice.kind != NoticeKind::Excluded
    });
    page.add_changes(view);
    page.add_count_tables(view);
    page.add_reproduction_command(view.context);
    page.add_notices(view, |notice| {
        !notice.affects_verdict && notice.kind == NoticeKind::Excluded
    });
    page.into_text()
}

/// A page that grows by complete blocks, within the limits.
struct MarkdownPage<'a> {
    text: String,
    omitted_count: usize,
    limits: &'a PageLimits,
}

impl MarkdownPage<'_> {
    /// Adds a block to the page. A block that would exceed the limit of the host is only counted as omitted.
    fn add_block(&mut self, block: &str) {
        if self.text.len() + block.len() + OMISSION_BYTES < self.limits.page {
            self.text.push_str(block);
        } else {
            self.omitted_count += 1;
        }
    }

    /// Returns the text of the page, with a note at the end if blocks were omitted.
    fn into_text(mut self) -> String {
        if self.omitted_count > 0 {
            let sections = format_count(self.omitted_count, "section");
            let _ = writeln!(
                self.text,
                "\n> {sections} omitted because the page is full: see the report."
            );
        }
        self.text
    }

    /// Adds a list for each notice that `is_selected` accepts.
    fn add_notices(&mut self, view: &View<'_>, is_selected: impl Fn(&Notice<'_>) -> bool) {
        for notice in view.notices.iter().filter(|notice| is_selected(notice)) {
            self.add_list(
                notice.kind.title(),
                notice.entries.iter().map(render_notice_entry),
            );
        }
    }

    /// Adds the listed findings, grouped by file: a list of rules that could not be evaluated, one of files with
    /// errors, one of files with only warnings, and one of known or waived findings, which is always folded. The first
    /// list is always open, and of the next two only the first one. If there is no space for all new findings, only one
    /// file with known or waived findings is listed.
    fn add_findings(&mut self, view: &View<'_>) {
        let (counted_entries, old_entries): (Vec<_>, Vec<_>) = view
            .entries
            .iter()
            .partition::<Vec<&FindingEntry<'_>>, _>(|entry| Tone::for_finding(&entry.finding) != Tone::Old);
        let (broken_entries, counted_entries): (Vec<_>, Vec<_>) = counted_entries
            .into_iter()
            .partition(|entry| Tone::for_finding(&entry.finding) == Tone::Broken);
        let (error_files, warning_files): (Vec<FileEntries<'_, '_>>, Vec<_>) =
            view::group_by_path(counted_entries, |entry| entry.finding.path)
                .into_iter()
                .partition(|(_, entries)| entries.iter().any(|entry| is_error(entry)));
        // Only a comparison with the base finds fixed findings, and tells new findings from known ones.
        let is_compared_with_base = view.report.fixed_count.is_some();
        let error_file_entries = error_files.iter().flat_map(|(_, entries)| entries);
        let has_only_errors = error_file_entries.clone().all(|entry| is_error(entry));
        let (error_title, warning_title) = match (is_compared_with_base, has_only_errors) {
            (true, true) => ("New errors", "New warnings"),
            (true, false) => ("Files with new errors", "New warnings in other files"),
            (false, true) => ("Errors", "Warnings"),
            (false, false) => ("Files with errors", "Warnings in other files"),
        };
        let old_title = "Known or waived findings";
        let lists = [
            (error_title, error_files),
            (warning_title, warning_files),
            (
                old_title,
                view::group_by_path(old_entries, |entry| entry.finding.path),
            ),
        ];
        self.add_unevaluated_results(view, broken_entries);
        let (mut has_list, mut max_old_bytes) = (false, self.limits.section);
        // An empty list is not shown, so the list of warnings may be the first one.
        for (title, files) in lists.into_iter().filter(|(_, files)| !files.is_empty()) {
            let max_bytes = if title == old_title {
                max_old_bytes
            } else {
                self.finding_list_limit()
            };
            let items = render_finding_items(&files, view.context, max_bytes, self.limits.section);
            let (list, omitted_count) = render_finding_list(&items, max_bytes, MAX_SECTION_LINES);
            if omitted_count > 0 {
                max_old_bytes = 0;
            }
            if has_list || title == old_title {
                let finding_count: usize = items.iter().map(|item| item.finding_count).sum();
                self.add_block(&format!(
                    "<details><summary>{title} ({})</summary>\n\n{list}\n</details>\n\n",
                    format_number(finding_count)
                ));
            } else {
                self.add_block(&format!("### {title}\n\n{list}\n"));
            }
            has_list = true;
        }
    }

    /// Returns the size to which a list of findings may grow: half of the free space, because findings are more
    /// important than the sections below them.
    fn finding_list_limit(&self) -> usize {
        let free_bytes = self.limits.page.saturating_sub(self.text.len());
        self.limits.section.max(free_bytes / 2)
    }

    /// Adds a list of what could not be evaluated: the errors in the rules file, then the other results by file.
    fn add_unevaluated_results(&mut self, view: &View<'_>, entries: Vec<&FindingEntry<'_>>) {
        let mut items: Vec<FindingItem<'_>> = view
            .causes
            .iter()
            .map(|cause| FindingItem {
                text: render_cause(cause, view.context),
                finding_count: cause.paths.len(),
                omitted_count: 0,
                paths: cause.paths.clone(),
            })
            .collect();
        let files = view::group_by_path(entries, |entry| entry.finding.path);
        let max_bytes = self.finding_list_limit();
        items.extend(render_finding_items(
            &files,
            view.context,
            max_bytes,
            self.limits.section,
        ));
        if !items.is_empty() {
            let (list, _) = render_finding_list(&items, max_bytes, MAX_SECTION_LINES);
            self.add_block(&format!("### Not evaluated\n\n{list}\n"));
        }
    }

    /// Adds folded tables with the numbers of findings by rule and by directory; nothing if there are no findings.
    fn add_count_tables(&mut self, view: &View<'_>) {
        let rules = view.build_rule_rows();
        if rules.is_empty() {
            return;
        }
        let mut table = "<details><summary>Findings by rule and folder</summary>\n\n\
                         | Rule | Level | Findings | Files |\n|---|---|---:|---:|\n"
            .to_owned();
        let rows = rules.iter().map(|row| {
            let (rule, level) = (render_code(&limit_name_length(row.name)), row.level);
            let (finding_count, file_count) = (format_number(row.findings), format_number(row.files));
            format!("| {rule} | {level} | {finding_count} | {file_count} |\n")
        });
        push_lines(&mut table, rows, self.limits.section, |omitted_count| {
            format!("| {} | | | |\n", format_and_more(omitted_count))
        });
        table.push('\n');
        let (folders, omitted_count) = view.build_folder_rows();
        if !folders.is_empty() {
            table.push_str("| Folder | Findings | Files |\n|---|---:|---:|\n");
        }
        for row in &folders {
            let folder = render_code(&limit_name_length(row.name));
            let (finding_count, file_count) = (format_number(row.findings), format_number(row.files));
            let _ = writeln!(table, "| {folder} | {finding_count} | {file_count} |");
        }
        if omitted_count > 0 {
            let _ = writeln!(table, "| {} | | |", format_and_more_of(omitted_count, "folder"));
        }
        table.push_str("\n</details>\n\n");
        self.add_block(&table);
    }

    /// Adds the command that reproduces the review locally, if it is known.
    fn add_reproduction_command(&mut self, context: &ReportContext) {
        if let Some(command) = &context.reproduction_command {
            self.add_block(&format!("Reproduce locally: {}\n\n", render_code(command)));
        }
    }

    /// Adds the changes to each pipeline: first a fold with a flowchart and a list for each pipeline for which there is
    /// space, then a list of the other pipelines. If only one pipeline changed, its fold is open.
    fn add_changes(&mut self, view: &View<'_>) {
        let files = view.list_sorted_changes();
        if files.is_empty() {
            return;
        }
        let summaries: Vec<String> = files
            .iter()
            .map(|file| {
                let path = render_code(&limit_name_length(&file.summary.path));
                let description = file.summary.describe();
                format!("{path}: {}", escape(&shorten_message(&description)))
            })
            .collect();
        // Every pipeline has a summary on the page: as the title of its fold, or in the list of the other pipelines.
        let fold_bytes: usize = summaries.iter().map(|summary| summary.len() + FOLD_BYTES).sum();
        let free_bytes = self.limits.page.saturating_sub(self.text.len());
        // The last quarter is for the sections below the changes.
        let change_bytes = self.limits.changes.min(free_bytes * 3 / 4);
        let has_flowcharts = changes_markdown::can_draw_flowcharts(&view.report.context.ci);
        let sections = changes_markdown::render_file_changes(
            &files,
            change_bytes.saturating_sub(fold_bytes),
            has_flowcharts,
        );
        self.add_block("### Pipeline changes\n\n");
        let open_attribute = if files.len() == 1 { " open" } else { "" };
        // The summaries of the pipelines for which there is no space.
        let mut other_summaries = Vec::new();
        for (summary, section) in summaries.into_iter().zip(sections) {
            if section.is_empty() {
                other_summaries.push(summary);
            } else {
                self.add_block(&format!(
                    "<details{open_attribute}><summary>{summary}</summary>\n\n{section}\n</details>\n\n"
                ));
            }
        }
        if !other_summaries.is_empty() {
            let mut list = String::new();
            let lines = other_summaries.iter().map(|summary| render_item(summary));
            let max_bytes = fold_bytes.min(change_bytes);
            push_lines(&mut list, lines, max_bytes, |omitted_count| {
                render_item(&format_and_more_of(omitted_count, "pipeline"))
            });
            self.add_block(&(list + "\n"));
        }
    }

    /// Adds a heading with a list, unless the list is empty.
    fn add_list(&mut self, title: &str, items: impl ExactSizeIterator<Item = String>) {
        if items.len() == 0 {
            return;
        }
        let mut text = format!("### {title}\n\n");
        push_lines(
            &mut text,
            items.map(|item| render_item(&item)),
            self.limits.section,
            |omitted_count| render_item(&format_and_more(omitted_count)),
        );
        text.push('\n');
        self.add_block(&text);
    }
}

/// Renders an item of a list.
fn render_item(item: &str) -> String {
    format!("- {item}\n")
}

/// Renders the start of a page: the verdict with its numbers, the scope of the review, the problems, and the next step.
/// At least one problem is listed, and the others within the limit of a section.
fn render_head(view: &View<'_>, limits: &PageLimits) -> String {
    let report = view.report;
    let mark = match report.verdict {
        Verdict::Passed => "✅",
        Verdict::Failed => "❌",
        Verdict::Undecided => "⚠️",
    };
    let mut text = format!("## {mark} {}\n\n", view.headline);
    if let Some(scope) = &view.scope {
        let _ = writeln!(text, "{scope}\n");
    }
    for (problem_index, problem) in view.problems.iter().enumerate() {
        let problem = escape(&truncation::truncate(problem, 4 * MESSAGE_LIMIT));
        if problem_index > 0 && text.len() + problem.len() > limits.section {
            let omitted_count = view.problems.len() - problem_index;
            let _ = writeln!(
                text,
                "**{}: see the report.**\n",
                format_and_more_of(omitted_count, "reason")
            );
            break;
        }
        let _ = writeln!(text, "**{problem}**\n");
    }
    if let Some(step) = &view.next_step {
        let _ = writeln!(text, "To do: {}.\n", escape_prose(step));
    }
    if let Some(praise) = &view.fixed_findings {
        let _ = writeln!(text, "{praise}\n");
    }
    text
}

/// Renders an entry of a notice: its place, if it has one, and its text, if it is not empty.
fn render_notice_entry(entry: &NoticeEntry<'_>) -> String {
    let place = entry.place().map(|place| render_code(&limit_name_length(&place)));
    let text = Some(escape_prose(&shorten_message(&entry.text))).filter(|text| !text.is_empty());
    place.into_iter().chain(text).collect::<Vec<_>>().join(": ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sluicegate_pipelines::findings::{
        FindingState, ReviewGap, Severity, ShowMode, Status, UnreviewedFile,
    };

    fn linked() -> ReportContext {
        ReportContext {
            blob_url: Some("https://github.com/o/r/blob/1f/{path}#L{line}".to_owned()),
            show: Some(ShowMode::All),
            ..ReportContext::default()
        }
    }

    #[test]
    fn failed_review_is_rendered_whole() {
        insta::assert_snapshot!(render_summary(&sample::report(), &linked()), @"
        ## ❌ Review failed: 2 errors, 1 warning, 1 not evaluated; 1 file not reviewed

        1 check passed in 2 pipelines; 1 file excluded

        ### Not reviewed

        - <code>late.orch.yaml</code>: The file was not reviewed: the batch timed out

        ### Not evaluated

        - ⚠️ [a.tran.yaml&#58;1](https://github.com/o/r/blob/1f/a.tran.yaml#L1): the rule could not be evaluated: designer/no-start-component (<code>unused-components</code>)

        ### Errors

        - <code>load/it.orch.yaml</code>
          - ❌ [line 9](https://github.com/o/r/blob/1f/load/it.orch.yaml#L9): &#96;Run B&#96; is not (<code>component-naming-convention</code>)
          - ❌ [line 12](https://github.com/o/r/blob/1f/load/it.orch.yaml#L12): &#96;Run A&#96; is not in the pattern (<code>component-naming-convention</code>)

        <details><summary>Warnings (1)</summary>

        - 🟡 [a.tran.yaml&#58;1](https://github.com/o/r/blob/1f/a.tran.yaml#L1): 3 outputs (<code>maximum-outputs</code>)

        </details>

        ### Changes to the gate configuration

        - <code>sluicegate.yaml</code>: exclude: + old.&#42; (relaxed); review.fail-on: error → never (relaxed)

        <details><summary>Findings by rule and folder</summary>

        | Rule | Level | Findings | Files |
        |---|---|---:|---:|
        | <code>component-naming-convention</code> | error | 2 | 1 |
        | <code>unused-components</code> | not evaluated | 1 | 1 |
        | <code>maximum-outputs</code> | warning | 1 | 1 |

        | Folder | Findings | Files |
        |---|---:|---:|
        | <code>&#46;</code> | 2 | 1 |
        | <code>load</code> | 2 | 1 |

        </details>

        ### Excluded

        - Excluded: 1 file: notes.txt (not a file that is reviewed)
        ");
    }

    #[test]
    fn comment_of_undecided_review_begins_with_verdict() {
        let mut report = sample::empty(Verdict::Undecided);
        report.notes = vec![
            "the platform <did> not answer".to_owned(),
            "One more fact.".to_owned(),
        ];
        report.reasons = report.notes[..1].to_vec();
        insta::assert_snapshot!(render_summary(&report, &ReportContext::default()), @"
        ## ⚠️ Review undecided

        **The platform &#60;did> not answer.**

        To do: run the review again; if it stays undecided, <code>sluicegate doctor</code> checks the connection to the platform, and <code>sluicegate check</code> evaluates the same rules without the platform.

        ### Notes

        - One more fact.
        ");
    }

    /// Returns a report with more content of every kind than fits.
    fn too_much() -> (Report, ReportContext) {
        let long = |n: usize| format!("{n}{}", "@".repeat(900));
        let mut report = sample::empty(Verdict::Failed);
        let failed = |n: usize| {
            let found = |at: usize| sample::violation(&long(20 * n + at), None);
            let build_failed_result = |severity, states: Vec<_>| {
                let violations = (0..20).map(found).collect();
                let mut result = sample::result(&long(n), Status::Failed(severity), violations);
                result.set_states(states);
                result
            };
            vec![
                build_failed_result(Severity::Error, vec![]),
                build_failed_result(Severity::Warning, vec![]),
                build_failed_result(Severity::Warning, vec![Some(FindingState::Known); 20]),
                sample::result(&long(n), Status::Passed, vec![]),
            ]
        };
        report.files = (0..100)
            .map(|n| sample::file(&format!("{n}.orch.yaml"), failed(n)))
            .collect();
        report.gate_changes = vec![sample::gate_change(&long(0)); 500];
        report.notes = vec![long(0); 500];
        report.excluded_files = vec![sample::excluded_file(&long(0)); 9];
        report.unreviewed_files = (0..500)
            .map(|n| UnreviewedFile {
                path: n.to_string(),
                reason: long(n),
                next_step: None,
                gap: ReviewGap::Other,
            })
            .collect();
        let mut context = linked();
        context.changes = (0..2_000).map(|n| sample::changed_file(&long(n))).collect();
        (report, context)
    }

    #[test]
    fn document_stays_under_limit_and_names_omissions() {
        let (report, context) = too_much();
        let summary = render_summary(&report, &context);
        assert!(summary.len() < SUMMARY_LIMITS.page, "{}", summary.len());
        let is_full = summary.len() > SUMMARY_LIMITS.page / 2;
        assert!(is_full, "as much as fits is there: {}", summary.len());
        assert!(
            summary.contains(" more findings\n") && summary.contains("- and "),
            "omitted findings and items are counted"
        );
    }

    #[test]
    fn comment_has_first_findings_of_file_with_too_many() {
        let mut report = sample::empty(Verdict::Failed);
        let violations =
            (0..500).map(|number| sample::violation(&format!("{number} {}", "x".repeat(200)), None));
        let result = sample::result("r", Status::Failed(Severity::Error), violations.collect());
        let other_result = sample::result(
            "r",
            Status::Failed(Severity::Error),
            vec![sample::violation("of the other file", None)],
        );
        report.files = vec![
            sample::file("a.orch.yaml", vec![result]),
            sample::file("b.orch.yaml", vec![other_result]),
        ];
        let context = ReportContext {
            show: Some(ShowMode::Concise),
            ..ReportContext::default()
        };
        let comment = render_comment(&report, &context);
        assert!(comment.contains("0 xxx"), "{comment}");
        assert!(
            comment.contains("  - and 4") && comment.contains(" more findings\n"),
            "{comment}"
        );
        assert!(!comment.contains("omitted because the page is full"), "{comment}");
        // The list of findings may use half of the page.
        assert!(
            comment.len() < COMMENT_LIMITS.page / 2 + 2_000,
            "{}",
            comment.len()
        );
        assert!(comment.contains("of the other file"), "{comment}");
    }

    /// Returns a report with a file of `new_count` new errors and `known_count` files of known ones.
    fn report_with_new_and_known_findings(new_count: usize, known_count: usize) -> Report {
        let mut report = sample::empty(Verdict::Failed);
        let violations =
            (0..new_count).map(|number| sample::violation(&format!("{number} {}", "x".repeat(200)), None));
        let result = sample::result("r", Status::Failed(Severity::Error), violations.collect());
        report.files = vec![sample::file("new.orch.yaml", vec![result])];
        for number in 0..known_count {
            let violation = sample::violation("old", None);
            let mut result = sample::result("r", Status::Failed(Severity::Error), vec![violation]);
            result.set_states([Some(FindingState::Known)]);
            report
                .files
                .push(sample::file(&format!("known{number}.orch.yaml"), vec![result]));
        }
        report
    }

    #[test]
    fn comment_lists_one_known_file_if_new_findings_of_one_file_are_omitted() {
        for (new_count, listed_count) in [(900, 1), (3, 5)] {
            let report = report_with_new_and_known_findings(new_count, 5);
            let comment = render_comment(&report, &ReportContext::default());
            assert_eq!(comment.matches("⚪").count(), listed_count, "{comment}");
        }
    }

    #[test]
    fn comment_with_many_reasons_fits() {
        let mut report = sample::empty(Verdict::Undecided);
        report.reasons = (0..200)
            .map(|number| format!("{number} {}", "x".repeat(400)))
            .collect();
        report.notes = report.reasons.clone();
        let comment = render_comment(&report, &ReportContext::default());
        assert!(comment.len() < COMMENT_LIMITS.page, "{}", comment.len());
        assert!(comment.contains("more reasons: see the report.**"), "{comment}");
        assert!(comment.contains("To do: "), "{comment}");
    }

    #[test]
    fn violation_stays_in_its_line() {
        let mut report = sample::empty(Verdict::Failed);
        let found = sample::violation("x |\n\n# owned <script>", None);
        report.files = vec![sample::file(
            "a|b",
            vec![sample::result("r", Status::Failed(Severity::Error), vec![found])],
        )];
        let summary = render_summary(&report, &ReportContext::default());
        let row = summary.lines().find(|line| line.contains("owned")).unwrap();
        assert!(
            row.starts_with("- ❌ ") && row.ends_with("(<code>r</code>)"),
            "{row}"
        );
        assert!(!row.contains('|'), "{row}");
        assert!(!summary.contains("<script"));
    }

    #[test]
    fn comment_fits_and_is_found_again() {
        let (mut report, context) = too_much();
        for verdict in [Verdict::Failed, Verdict::Undecided] {
            report.verdict = verdict;
            let page = render_comment(&report, &context);
            assert!(page.len() < 64_512, "{}", page.len());
            assert_eq!(page.lines().next(), Some("<!-- sluicegate -->"));
            assert!(page.contains("omitted because the page is full: see the report."));
        }
    }
}
