//! Renders the review as a page of Markdown: GitHub's step summary, a comment on a pull or merge request, an annotation
//! of Buildkite. They differ in their size limits.

use crate::report::changes;
use crate::report::markdown::{blob_link, code, escape, prose};
use crate::report::tone::Tone;
use crate::report::view::{FindingEntry, Medium, Notice, NoticeEntry, NoticeKind, UnjudgedCause, View};
use crate::report::{About, ChangedFile, PathBase, shorten};
use sluicegate_base::text::{List, and_more, and_more_of, count, grouped};
use sluicegate_pipelines::findings::{Finding, Report, Severity, Verdict};
use std::fmt::Write as _;

/// Size limits, in bytes.
struct PageLimits {
    /// Maximum size of the page.
    whole: usize,
    /// Approximate maximum size of a table or list, so that one section never displaces all others.
    block: usize,
}

/// GitHub drops summaries over 1 MiB; a step stays under 1,000 KiB
/// (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions#adding-a-job-summary>).
const SUMMARY: PageLimits = PageLimits {
    whole: 1_000 * 1024,
    block: 128 * 1024,
};

/// GitHub accepts 65,536 characters in a comment; the lower limit leaves room for additions by the poster.
const COMMENT: PageLimits = PageLimits {
    whole: 64_000,
    block: 12_000,
};

/// Reserved size for the sentence about omitted sections, in bytes.
const RESERVE: usize = 512;

/// Maximum length of a message, in characters.
const MESSAGE_LIMIT: usize = 1_000;

/// Maximum number of further places that a finding lists.
const OTHER_PLACES: usize = 5;

/// Maximum length of a path or rule name, in characters.
const NAME_LIMIT: usize = 300;

/// Maximum number of lines in a table or list.
const LINES_LIMIT: usize = 500;

/// Returns a page for GitHub's step summary, under 1,000 KiB.
pub(super) fn summary(report: &Report, about: &About) -> String {
    let view = View::of(report, about, Medium::Page);
    page(head(&view), &view, &SUMMARY)
}

/// Returns a page for a comment, under 64,000 bytes. Its first line is invisible and the same for each review of this
/// category, so that a bot can find its comment and update it.
pub(crate) fn comment(report: &Report, about: &About) -> String {
    let view = View::of(report, about, Medium::Page);
    let start = format!("{}\n{}", marker(report, about), head(&view));
    page(start, &view, &COMMENT)
}

/// Returns the first line of a comment: the same for each review of this category and shard.
fn marker(report: &Report, about: &About) -> String {
    format!("<!-- {} -->", about.review_id(report))
}

/// Adds the sections to the page: first notices that affect the verdict and the findings, then the rest. Stays within
/// the limits and states the number of omitted sections.
fn page(start: String, view: &View<'_>, limits: &PageLimits) -> String {
    let mut page = MarkdownPage {
        text: start,
        left_out: 0,
        for_changes: limits.whole / 3,
        limits,
    };
    let notices = |page: &mut MarkdownPage<'_>, takes: &dyn Fn(&Notice<'_>) -> bool| {
        for notice in view.notices.iter().filter(|notice| takes(notice)) {
            page.notice(notice);
        }
    };
    notices(&mut page, &|notice| notice.weighs);
    page.list(
        "Not evaluated",
        view.causes.iter().map(|it| cause(it, view.about)),
    );
    page.findings(view);
    if let Some(left_out) = view.left_out() {
        page.add(&format!("{}\n\n", escape(&left_out)));
    }
    notices(&mut page, &|it| !it.weighs && it.kind != NoticeKind::Excluded);
    page.changes("Pipeline changes", &view.changes());
    page.counts(view);
    page.reproduction(view.about);
    notices(&mut page, &|it| !it.weighs && it.kind == NoticeKind::Excluded);
    page.finish()
}

/// A page that grows by complete blocks, within the limits.
struct MarkdownPage<'a> {
    text: String,
    left_out: usize,
    /// Remaining size for the lists and flowcharts of changes, in bytes, so that they never displace findings.
    for_changes: usize,
    limits: &'a PageLimits,
}

impl MarkdownPage<'_> {
    fn add(&mut self, block: &str) {
        if self.text.len() + block.len() + RESERVE < self.limits.whole {
            self.text.push_str(block);
        } else {
            self.left_out += 1;
        }
    }

    fn finish(mut self) -> String {
        if self.left_out > 0 {
            let sections = count(self.left_out, "section");
            let _ = writeln!(
                self.text,
                "\n> {sections} omitted because the page is full: see the report."
            );
        }
        self.text
    }

    fn notice(&mut self, notice: &Notice<'_>) {
        let line = |entry: &NoticeEntry<'_>| {
            let place = entry.place().map(|place| code(&named(&place))).into_iter();
            let text = Some(prose(&said(&entry.text))).filter(|text| !text.is_empty());
            place.chain(text).collect::<Vec<_>>().join(": ")
        };
        self.list(notice.kind.title(), notice.entries.iter().map(line));
    }

    /// Adds the listed findings by level. The first level is unfolded, later ones and known or waived findings are
    /// folded.
    fn findings(&mut self, view: &View<'_>) {
        let is_new = view.report.fixed_count.is_some();
        let mut has_errors = false;
        for tones in [&[Tone::Error, Tone::Broken][..], &[Tone::Warning], &[Tone::Old]] {
            let of_tones = |entry: &&FindingEntry<'_>| tones.contains(&Tone::of(&entry.finding));
            let entries: Vec<&FindingEntry<'_>> = view.listed.iter().filter(of_tones).collect();
            let Some(first) = entries.first() else { continue };
            let title = match (Tone::of(&first.finding), is_new) {
                (Tone::Error | Tone::Broken, true) => "New errors",
                (Tone::Error | Tone::Broken, false) => "Errors",
                (Tone::Warning, true) => "New warnings",
                (Tone::Warning, false) => "Warnings",
                (Tone::Old, _) => "Known or waived findings",
            };
            let items = entries.iter().map(|entry| item(entry, view.about));
            if has_errors || Tone::of(&first.finding) == Tone::Old {
                self.folded_list(title, items);
            } else {
                self.list(title, items);
            }
            has_errors = true;
        }
    }

    /// Adds the numbers of findings by rule and directory, folded.
    fn counts(&mut self, view: &View<'_>) {
        let rules = view.rule_rows();
        if rules.is_empty() {
            return;
        }
        let mut table = "<details><summary>Findings by rule and folder</summary>\n\n\
                         | Rule | Level | Findings | Files |\n|---|---|---:|---:|\n"
            .to_owned();
        let rows = rules.iter().map(|row| {
            let (rule, level) = (code(&named(row.name)), row.level);
            format!("| {rule} | {level} | {} | {} |\n", row.findings, row.files)
        });
        self.push_lines(&mut table, rows, |left| format!("| {} | | | |\n", and_more(left)));
        table.push('\n');
        let (folders, more) = view.folder_rows();
        if !folders.is_empty() {
            table.push_str("| Folder | Findings | Files |\n|---|---:|---:|\n");
        }
        for row in &folders {
            let folder = code(&named(row.name));
            let _ = writeln!(table, "| {folder} | {} | {} |", row.findings, row.files);
        }
        if more > 0 {
            let _ = writeln!(table, "| {} | | |", and_more_of(more, "folder"));
        }
        table.push_str("\n</details>\n\n");
        self.add(&table);
    }

    /// Adds the command that reproduces the review locally.
    fn reproduction(&mut self, about: &About) {
        if let Some(command) = &about.reproduce {
            self.add(&format!("Reproduce locally: {}\n\n", code(command)));
        }
    }

    /// Adds the changes of each pipeline.
    fn changes(&mut self, title: &str, files: &[&ChangedFile]) {
        let line = |file: &&ChangedFile| {
            let (path, words) = (code(&named(&file.changed.path)), file.changed.describe());
            format!("{path}: {}", escape(&said(&words)))
        };
        self.list(title, files.iter().map(line));
        for file in files {
            let shown = self.unfolded(&code(&named(&file.changed.path)), file);
            if !shown.is_empty() {
                self.add(&shown);
            }
        }
    }

    /// Returns the changes of a file, folded below this heading; empty if there is no room left.
    fn unfolded(&mut self, title: &str, file: &ChangedFile) -> String {
        let most = self.limits.block.min(self.for_changes);
        let inside = changes::block(file, most);
        if inside.is_empty() {
            return inside;
        }
        self.for_changes -= inside.len().min(self.for_changes);
        format!("<details><summary>{title}</summary>\n\n{inside}\n</details>\n\n")
    }

    /// Adds a heading with a list, unless the list is empty.
    fn list(&mut self, title: &str, items: impl ExactSizeIterator<Item = String>) {
        if items.len() == 0 {
            return;
        }
        let mut text = format!("### {title}\n\n");
        self.push_items(&mut text, items);
        text.push('\n');
        self.add(&text);
    }

    /// Like [`Self::list`], but folded.
    fn folded_list(&mut self, title: &str, items: impl ExactSizeIterator<Item = String>) {
        let number = items.len();
        let mut text = format!("<details><summary>{title} ({})</summary>\n\n", grouped(number));
        self.push_items(&mut text, items);
        text.push_str("\n</details>\n\n");
        self.add(&text);
    }

    fn push_items(&self, text: &mut String, items: impl ExactSizeIterator<Item = String>) {
        let lines = items.map(|item| format!("- {item}\n"));
        self.push_lines(text, lines, |left| format!("- {}\n", and_more(left)));
    }

    /// Adds lines within the limits of a section, then the number of omitted ones.
    fn push_lines(
        &self,
        text: &mut String,
        lines: impl ExactSizeIterator<Item = String>,
        more: impl Fn(usize) -> String,
    ) {
        let total = lines.len();
        for (done, line) in lines.enumerate() {
            if done == LINES_LIMIT || text.len() > self.limits.block {
                text.push_str(&more(total - done));
                return;
            }
            text.push_str(&line);
        }
    }
}

fn head(view: &View<'_>) -> String {
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
    for problem in &view.problems {
        let problem = escape(&shorten::to_chars(problem, 4 * MESSAGE_LIMIT));
        let _ = writeln!(text, "**{problem}**\n");
    }
    if let Some(step) = view.step {
        let _ = writeln!(text, "To do: {}.\n", prose(step));
    }
    if let Some(praise) = &view.praise {
        let _ = writeln!(text, "{praise}\n");
    }
    text
}

fn cause(cause: &UnjudgedCause<'_>, about: &About) -> String {
    let message = escape(&said(&cause.finding.message()));
    let places = about.named_places(&cause.finding);
    let places: Vec<String> = places.iter().map(|place| code(&named(place))).collect();
    let at = if places.is_empty() { "" } else { ", at " };
    format!(
        "{message}{at}{}: {}. To fix it: {}",
        places.join(", "),
        escape(&said(&cause.concerns(&PathBase::Root))),
        prose(&said(about.rules_file_hint(&cause.finding)))
    )
}

fn named(name: &str) -> String {
    shorten::to_chars(name, NAME_LIMIT)
}

fn said(text: &str) -> String {
    shorten::to_chars(text, MESSAGE_LIMIT)
}

/// Returns one finding with its places, as links if the host shows files.
fn item(entry: &FindingEntry<'_>, about: &About) -> String {
    let finding = &entry.finding;
    let mark = match (finding.error_type, finding.severity) {
        (Some(_), _) => "⚠️",
        (None, Severity::Error) => "❌",
        (None, Severity::Warning) => "🟡",
    };
    let mut shown = format!(
        "{mark} {}: {} ({})",
        place(finding, about),
        escape(&said(&finding.message())),
        code(&named(finding.rule)),
    );
    let others = List::with_limit(&entry.others, OTHER_PLACES).of("place");
    if !entry.others.is_empty() {
        let _ = write!(shown, "<br>Also in {}", others.map(|it| place(it, about)));
    }
    shown
}

fn place(finding: &Finding<'_>, about: &About) -> String {
    let place = format!("{}:{}", named(finding.path), finding.line);
    match &about.blob_url {
        Some(form) => blob_link(form, finding.path, finding.line, &place),
        None => code(&place),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use sluicegate_pipelines::findings::{FindingState, RuleResult, ShowMode, Status, UnreviewedFile};

    fn linked() -> About {
        About {
            blob_url: Some("https://github.com/o/r/blob/1f/{path}#L{line}".to_owned()),
            show: ShowMode::All,
            ..About::default()
        }
    }

    #[test]
    fn a_failed_review() {
        insta::assert_snapshot!(summary(&sample::report(), &linked()), @"
        ## ❌ Review failed: 2 errors, 1 warning, 1 not evaluated; 1 file not reviewed

        1 check passed in 2 pipelines; 1 file excluded

        ### Not reviewed

        - <code>late.orch.yaml</code>: The file was not reviewed: the batch timed out

        ### Errors

        - ❌ [load/it.orch.yaml&#58;9](https://github.com/o/r/blob/1f/load/it.orch.yaml#L9): &#96;Run B&#96; is not (<code>component-naming-convention</code>)
        - ❌ [load/it.orch.yaml&#58;12](https://github.com/o/r/blob/1f/load/it.orch.yaml#L12): &#96;Run A&#96; is not in the pattern (<code>component-naming-convention</code>)
        - ⚠️ [a.tran.yaml&#58;1](https://github.com/o/r/blob/1f/a.tran.yaml#L1): the rule could not be evaluated: designer/no-start-component (<code>unused-components</code>)

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
    fn an_undecided_review_says_so_first() {
        let mut report = sample::empty(Verdict::Undecided);
        report.notes = vec![
            "the platform <did> not answer".to_owned(),
            "One more fact.".to_owned(),
        ];
        report.reasons = report.notes[..1].to_vec();
        insta::assert_snapshot!(summary(&report, &About::default()), @"
        ## ⚠️ Review undecided

        **The platform &#60;did> not answer.**

        To do: run the review again; if it stays undecided, <code>sluicegate doctor</code> checks the connection to the platform, and <code>sluicegate check</code> evaluates the same rules without the platform.

        ### Notes

        - One more fact.
        ");
    }

    /// Returns a report with more content of every kind than fits.
    fn too_much() -> (Report, About) {
        let long = |n: usize| format!("{n}{}", "@".repeat(900));
        let mut report = sample::empty(Verdict::Failed);
        let failed = |n: usize| {
            let found = |at: usize| sample::violation(&long(20 * n + at), None);
            let of = |severity, states: Vec<_>| RuleResult {
                states,
                ..sample::result(&long(n), Status::Failed(severity), (0..20).map(found).collect())
            };
            vec![
                of(Severity::Error, vec![]),
                of(Severity::Warning, vec![]),
                of(Severity::Warning, vec![Some(FindingState::Known); 20]),
                sample::result(&long(n), Status::Passed, vec![]),
            ]
        };
        report.files = (0..100)
            .map(|n| sample::file(&format!("{n}.orch.yaml"), failed(n)))
            .collect();
        report.gate_changes = vec![sample::gate_change(&long(0)); 500];
        report.notes = vec![long(0); 500];
        report.excluded_files = vec![sample::excluded(&long(0)); 9];
        report.unreviewed_files = (0..500)
            .map(|n| UnreviewedFile {
                path: n.to_string(),
                reason: long(n),
            })
            .collect();
        let mut about = linked();
        about.changes = (0..2_000).map(|n| sample::changed(&long(n))).collect();
        (report, about)
    }

    #[test]
    fn it_stays_under_the_limit_and_says_what_is_missing() {
        let (report, about) = too_much();
        let summary = summary(&report, &about);
        assert!(summary.len() < SUMMARY.whole, "{}", summary.len());
        let is_full = summary.len() > SUMMARY.whole / 2;
        assert!(is_full, "as much as fits is there: {}", summary.len());
        assert!(
            summary
                .trim_end()
                .ends_with("omitted because the page is full: see the report.")
        );
    }

    #[test]
    fn a_violation_stays_in_its_line() {
        let mut report = sample::empty(Verdict::Failed);
        let found = sample::violation("x |\n\n# owned <script>", None);
        report.files = vec![sample::file(
            "a|b",
            vec![sample::result("r", Status::Failed(Severity::Error), vec![found])],
        )];
        let summary = summary(&report, &About::default());
        let row = summary.lines().find(|line| line.contains("owned")).unwrap();
        assert!(
            row.starts_with("- ❌ ") && row.ends_with("(<code>r</code>)"),
            "{row}"
        );
        assert!(!row.contains('|'), "{row}");
        assert!(!summary.contains("<script"));
    }

    #[test]
    fn a_comment_fits_and_is_found_again() {
        let (mut report, about) = too_much();
        for verdict in [Verdict::Failed, Verdict::Undecided] {
            report.verdict = verdict;
            let page = comment(&report, &about);
            assert!(page.len() < 64_512, "{}", page.len());
            assert_eq!(page.lines().next(), Some("<!-- sluicegate -->"));
            assert!(page.contains("omitted because the page is full: see the report."));
        }
    }
}
