//! The review as one page of markdown: GitHub's step summary, a comment on a pull or merge request, an annotation of
//! Buildkite. They differ in how much fits.

use crate::base::text::count;
use crate::model::findings::{Counts, FileResults, Finding, Report, Severity, Status, Totals, Verdict};
use crate::report::changes;
use crate::report::markdown::{blob_link, code, escape, prose};
use crate::report::view::{FileView, Medium, Notice, NoticeEntry, NoticeKind, UnjudgedCause, View, by_file};
use crate::report::{About, ChangedFile, shorten};
use std::fmt::Write as _;

/// How much fits, in bytes.
struct PageLimits {
    /// The whole page.
    whole: usize,
    /// About where a table or list ends, so that one section never takes the place of all others.
    block: usize,
}

/// Over 1 MiB GitHub drops the whole summary; a step stays under 1,000 KiB
/// (<https://docs.github.com/actions/reference/workflow-commands-for-github-actions#adding-a-job-summary>).
const SUMMARY: PageLimits = PageLimits {
    whole: 1_000 * 1024,
    block: 128 * 1024,
};

/// GitHub takes 65,536 characters in a comment; fewer, so that whoever posts it can add something.
const COMMENT: PageLimits = PageLimits {
    whole: 64_000,
    block: 12_000,
};

/// Kept free for the sentence that says what was left out.
const RESERVE: usize = 512;

/// The longest message in a table, in characters.
const MESSAGE_LIMIT: usize = 1_000;

/// The longest path or rule name in a table, in characters.
const NAME_LIMIT: usize = 300;

/// The most lines of a table or list.
const LINES_LIMIT: usize = 500;

/// A page for GitHub's step summary, under 1,000 KiB.
pub(super) fn summary(report: &Report, about: &About) -> String {
    let view = View::of(report, about, Medium::Page);
    page(head(&view), &view, &SUMMARY)
}

/// A page for a comment, under 64,000 bytes. Its first line is invisible and the same for each review of this
/// category, so that a bot finds its comment again and updates it.
pub(crate) fn comment(report: &Report, about: &About) -> String {
    let view = View::of(report, about, Medium::Page);
    let start = format!("{}\n{}", marker(report, about), head(&view));
    page(start, &view, &COMMENT)
}

/// The first line of a comment: the same for each review of this category and part.
fn marker(report: &Report, about: &About) -> String {
    format!("<!-- {} -->", about.review_id(report))
}

/// Verdict and numbers, what was not reviewed, how much there is by rule, a table for each file with listed findings,
/// and the passed rules folded away; within the limits, saying what was left out.
fn page(start: String, view: &View<'_>, limits: &PageLimits) -> String {
    let mut page = MarkdownPage {
        text: start,
        left_out: 0,
        for_changes: limits.whole / 3,
        limits,
    };
    let (last, first): (Vec<_>, Vec<_>) = view
        .notices
        .iter()
        .partition(|notice| notice.kind == NoticeKind::Excluded);
    for notice in first {
        page.notice(notice);
    }
    page.overview(view);
    page.list(
        "Not evaluated",
        view.causes.iter().map(|it| cause(it, view.about)),
    );
    let by_file = by_file(&view.listed);
    for file in &by_file {
        page.file_table(file, view);
    }
    let (title, others) = view.other_changes(&by_file);
    page.changes(title, &others);
    if let Some(left_out) = view.left_out() {
        page.add(&format!("{}\n\n", escape(&left_out)));
    }
    page.reproduction(view.about);
    for notice in last {
        page.notice(notice);
    }
    page.passed(&view.report.files);
    page.finish()
}

/// A page that grows by whole blocks and never over the limit.
struct MarkdownPage<'a> {
    text: String,
    left_out: usize,
    /// What is still free for the changes in words and as flowcharts, in bytes: they never take the place of findings.
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
                "\n> {sections} did not fit here and are left out: see the report."
            );
        }
        self.text
    }

    fn notice(&mut self, notice: &Notice<'_>) {
        let line = |entry: &NoticeEntry<'_>| {
            let place = entry.place.iter().map(|place| code(&named(place)));
            let text = Some(prose(&said(&entry.text))).filter(|text| !text.is_empty());
            place.chain(text).collect::<Vec<_>>().join(": ")
        };
        self.list(notice.kind.title(), notice.entries.iter().map(line));
    }

    /// How much there is by rule, and where the most is.
    fn overview(&mut self, view: &View<'_>) {
        let rules = view.rule_rows();
        if rules.is_empty() {
            return;
        }
        let mut table =
            "### Findings by rule\n\n| Rule | Level | Findings | Files |\n|---|---|---:|---:|\n".to_owned();
        let rows = rules.iter().map(|row| {
            let (rule, level) = (code(&named(row.name)), row.level);
            format!("| {rule} | {level} | {} | {} |\n", row.findings, row.files)
        });
        self.push_lines(&mut table, rows, |left| format!("| and {left} more | | | |\n"));
        table.push('\n');
        self.add(&table);
        let (folders, more) = view.folder_rows();
        if folders.is_empty() {
            return;
        }
        let mut table =
            "### Folders with the most findings\n\n| Folder | Findings | Files |\n|---|---:|---:|\n"
                .to_owned();
        for row in &folders {
            let folder = code(&named(row.name));
            let _ = writeln!(table, "| {folder} | {} | {} |", row.findings, row.files);
        }
        if more > 0 {
            let _ = writeln!(table, "| and {} | | |", count(more, "more folder"));
        }
        table.push('\n');
        self.add(&table);
    }

    /// How to see the same on another machine.
    fn reproduction(&mut self, about: &About) {
        if let Some(command) = &about.reproduce {
            self.add(&format!("The same on your machine: {}\n\n", code(command)));
        }
    }

    fn file_table(&mut self, file: &FileView<'_, '_>, view: &View<'_>) {
        let mut table = format!("### {}\n\n", code(&named(file.path)));
        if let Some(changed) = view.change(file.path) {
            let words = escape(&said(&changed.changed.words()));
            let _ = writeln!(table, "What changed: {words}\n");
            table.push_str(&self.unfolded("In words and as a picture", changed));
        }
        table.push_str("| | Rule | Line | Message |\n|---|---|---:|---|\n");
        let rows = file.findings.iter().map(|finding| row(finding, view.about));
        self.push_lines(&mut table, rows, |left| format!("| | | | and {left} more |\n"));
        table.push('\n');
        self.add(&table);
    }

    /// What changed in files that have no findings here.
    fn changes(&mut self, title: &str, files: &[&ChangedFile]) {
        let line = |file: &&ChangedFile| {
            let (path, words) = (code(&named(&file.changed.path)), file.changed.words());
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

    /// What changed, folded below this heading; nothing where there is no room left for it.
    fn unfolded(&mut self, title: &str, file: &ChangedFile) -> String {
        let most = self.limits.block.min(self.for_changes);
        let inside = changes::block(file, most);
        if inside.is_empty() {
            return inside;
        }
        self.for_changes -= inside.len().min(self.for_changes);
        format!("<details><summary>{title}</summary>\n\n{inside}\n</details>\n\n")
    }

    /// A heading with a list under it; nothing for an empty one.
    fn list(&mut self, title: &str, items: impl ExactSizeIterator<Item = String>) {
        if items.len() == 0 {
            return;
        }
        let mut text = format!("### {title}\n\n");
        self.push_lines(&mut text, items.map(|item| format!("- {item}\n")), and_more);
        text.push('\n');
        self.add(&text);
    }

    /// The passed rules of each file, folded.
    fn passed(&mut self, files: &[FileResults]) {
        let lines: Vec<String> = files.iter().filter_map(passed_line).collect();
        if lines.is_empty() {
            return;
        }
        let mut text = format!(
            "<details><summary>Passed rules in {}</summary>\n\n",
            count(lines.len(), "file")
        );
        self.push_lines(&mut text, lines.into_iter(), and_more);
        text.push_str("\n</details>\n");
        self.add(&text);
    }

    /// Adds lines within the limits of a section, then how many are left.
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
    if let Some(problem) = &view.problem {
        let problem = escape(&shorten::to_chars(problem, 4 * MESSAGE_LIMIT));
        let _ = writeln!(text, "**{problem}**\n");
    }
    if let Some(step) = view.step {
        let _ = writeln!(text, "To do: {}.\n", prose(step));
    }
    if let Some(praise) = &view.praise {
        let _ = writeln!(text, "{praise}\n");
    }
    let Counts {
        files,
        passed,
        excluded,
        unreviewed,
        ..
    } = report.counts();
    let Totals {
        errors,
        warnings,
        not_evaluated,
        ..
    } = report.totals();
    let _ = writeln!(
        text,
        "| Files | Rules passed | Errors | Warnings | Not evaluated | Excluded | Not reviewed |\n\
         |---:|---:|---:|---:|---:|---:|---:|\n\
         | {files} | {passed} | {errors} | {warnings} | {not_evaluated} | {excluded} | {unreviewed} |\n",
    );
    text
}

fn cause(cause: &UnjudgedCause<'_>, about: &About) -> String {
    let message = escape(&said(&cause.finding.message()));
    let places = about.named_places(&cause.finding);
    let places: Vec<String> = places.iter().map(|place| code(&named(place))).collect();
    let at = if places.is_empty() { "" } else { ", at " };
    format!(
        "{message}{at}{}: {}",
        places.join(", "),
        escape(&said(&cause.concerns()))
    )
}

fn named(name: &str) -> String {
    shorten::to_chars(name, NAME_LIMIT)
}

fn said(text: &str) -> String {
    shorten::to_chars(text, MESSAGE_LIMIT)
}

fn row(finding: &Finding<'_>, about: &About) -> String {
    let status = match (finding.error_type, finding.severity) {
        (Some(_), _) => "⚠️ not evaluated",
        (None, Severity::Error) => "❌ error",
        (None, Severity::Warning) => "🟡 warning",
    };
    let line = match &about.blob_url {
        Some(form) => blob_link(form, finding.path, finding.line, &finding.line.to_string()),
        None => finding.line.to_string(),
    };
    format!(
        "| {status} | {} | {line} | {} |\n",
        code(&named(finding.rule)),
        escape(&said(&finding.message()))
    )
}

fn and_more(left: usize) -> String {
    format!("- and {left} more\n")
}

fn passed_line(file: &FileResults) -> Option<String> {
    let passed = file
        .results
        .iter()
        .filter(|result| result.status == Status::Passed);
    let rules: Vec<String> = passed
        .take(20)
        .map(|result| escape(&named(&result.rule)))
        .collect();
    (!rules.is_empty()).then(|| format!("- {}: {}\n", code(&named(&file.path)), rules.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::findings::Show;
    use crate::report::sample;

    fn linked() -> About {
        About {
            blob_url: Some("https://github.com/o/r/blob/1f/{path}#L{line}".to_owned()),
            show: Show::All,
            ..About::default()
        }
    }

    #[test]
    fn a_failed_review() {
        insta::assert_snapshot!(summary(&sample::report(), &linked()), @"
        ## ❌ Review failed: 2 errors, 1 warning, 1 not evaluated; 1 rule passed in 2 files; 1 file excluded; 1 file not reviewed

        | Files | Rules passed | Errors | Warnings | Not evaluated | Excluded | Not reviewed |
        |---:|---:|---:|---:|---:|---:|---:|
        | 2 | 1 | 2 | 1 | 1 | 1 | 1 |

        ### Changes to the gate itself

        - <code>sluicegate.yaml</code>: exclude: + old.&#42; (relaxed); review.fail-on: error → never (relaxed)

        ### Not reviewed

        - late.orch.yaml: The file was not reviewed: the batch timed out

        ### Findings by rule

        | Rule | Level | Findings | Files |
        |---|---|---:|---:|
        | <code>component-naming-convention</code> | error | 2 | 1 |
        | <code>unused-components</code> | not evaluated | 1 | 1 |
        | <code>maximum-outputs</code> | warning | 1 | 1 |

        ### Folders with the most findings

        | Folder | Findings | Files |
        |---|---:|---:|
        | <code>&#46;</code> | 2 | 1 |
        | <code>load</code> | 2 | 1 |

        ### <code>load/it.orch.yaml</code>

        | | Rule | Line | Message |
        |---|---|---:|---|
        | ❌ error | <code>component-naming-convention</code> | [9](https://github.com/o/r/blob/1f/load/it.orch.yaml#L9) | &#96;Run B&#96; is not |
        | ❌ error | <code>component-naming-convention</code> | [12](https://github.com/o/r/blob/1f/load/it.orch.yaml#L12) | &#96;Run A&#96; is not in the pattern |

        ### <code>a.tran.yaml</code>

        | | Rule | Line | Message |
        |---|---|---:|---|
        | ⚠️ not evaluated | <code>unused-components</code> | [1](https://github.com/o/r/blob/1f/a.tran.yaml#L1) | the rule could not be evaluated: designer/no-start-component |
        | 🟡 warning | <code>maximum-outputs</code> | [1](https://github.com/o/r/blob/1f/a.tran.yaml#L1) | 3 outputs |

        ### Excluded

        - Not judged: 1 file: notes.txt (not a file that is reviewed)

        <details><summary>Passed rules in 1 file</summary>

        - <code>load/it.orch.yaml</code>: minimum-components

        </details>
        ");
    }

    #[test]
    fn an_undecided_review_says_so_first() {
        let mut report = sample::empty(Verdict::Undecided);
        report.notes = vec!["The platform <did> not answer.".to_owned()];
        insta::assert_snapshot!(summary(&report, &About::default()), @"
        ## ⚠️ Review undecided: 0 errors, 0 warnings, 0 not evaluated; 0 rules passed in 0 files

        **The review is undecided: it is not known whether the pipelines pass. The platform &#60;did> not answer.**

        To do: run the review again; if it stays undecided, <code>sluicegate doctor</code> checks the connection to the platform, and <code>sluicegate check</code> evaluates the same rules without the platform.

        | Files | Rules passed | Errors | Warnings | Not evaluated | Excluded | Not reviewed |
        |---:|---:|---:|---:|---:|---:|---:|
        | 0 | 0 | 0 | 0 | 0 | 0 | 0 |
        ");
    }

    #[test]
    fn it_stays_under_the_limit_and_says_what_is_missing() {
        let mut report = sample::empty(Verdict::Failed);
        let many = || vec![sample::violation(&"<|".repeat(500), None); 40];
        let failed = || sample::result("r", Status::Failed(Severity::Error), many());
        report.files = (0..200)
            .map(|n| sample::file(&format!("{n}.orch.yaml"), vec![failed()]))
            .collect();
        let summary = summary(&report, &linked());
        assert!(summary.len() < SUMMARY.whole, "{}", summary.len());
        assert!(
            summary.len() > SUMMARY.whole / 2,
            "as much as fits is there: {}",
            summary.len()
        );
        assert!(summary.trim_end().ends_with("are left out: see the report."));
    }

    #[test]
    fn a_violation_stays_in_its_cell() {
        let mut report = sample::empty(Verdict::Failed);
        let found = sample::violation("x |\n\n# owned <script>", None);
        report.files = vec![sample::file(
            "a|b",
            vec![sample::result("r", Status::Failed(Severity::Error), vec![found])],
        )];
        let summary = summary(&report, &About::default());
        let row = summary.lines().find(|line| line.contains("owned")).unwrap();
        assert_eq!(row.matches('|').count(), 5, "{row}");
        assert!(!summary.contains("<script"));
    }

    #[test]
    fn a_comment_fits_and_is_found_again() {
        let mut report = sample::empty(Verdict::Failed);
        let many = || vec![sample::violation(&"@".repeat(5_000), None); 40];
        let failed = || sample::result(&"#".repeat(500), Status::Failed(Severity::Error), many());
        report.notes = vec!["@".repeat(9_000)];
        report.files = (0..200)
            .map(|n| sample::file(&format!("{n}.orch.yaml"), vec![failed()]))
            .collect();
        for verdict in [Verdict::Failed, Verdict::Undecided] {
            report.verdict = verdict;
            let page = comment(&report, &linked());
            assert!(page.len() < 64_512, "{}", page.len());
            assert_eq!(page.lines().next(), Some("<!-- sluicegate -->"));
            assert!(page.contains("are left out: see the report."));
        }
    }
}
