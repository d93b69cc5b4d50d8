//! The review for people: how much there is by rule and folder, the worst findings with the lines that they are about,
//! what else is to be known, and the verdict last, where the eye is.

mod excerpt;
mod group;
mod table;

pub(crate) use group::Groups;

use super::About;
use super::view::{self, Medium, Notice, NoticeKind, UnjudgedCause, View};
use crate::base::text;
use crate::model::findings::{Finding, Report, Severity, Show, Verdict};
use anstyle::{AnsiColor, Style as Ansi};
use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub color: bool,
    /// The columns of the terminal: longer messages are wrapped. None where lines are to stay whole.
    pub width: Option<usize>,
    /// The groups that the host folds.
    pub groups: Groups,
    /// Whether the verdict is all that is told.
    pub quiet: bool,
    /// Whether the run passes whatever the verdict is: then nothing is called an error of the run.
    pub passes: bool,
}

/// Columns that a message is indented by.
const INDENT: usize = 4;

/// The least columns for a message, however narrow the terminal.
const LEAST: usize = 20;

/// Lines shown before and after that of a finding.
const REACH: u32 = 2;

/// What is wrong with the rules file stands in the file, so its own check shows more than a review can.
const RULES_HINT: &str =
    "hint: `sluicegate rules lint` shows every place in the rules file that is to be mended";

/// What to do without a rules file.
fn no_rules_hint(about: &About) -> String {
    let folder = about
        .folder_to_name
        .iter()
        .map(|name| format!(" --config-dir {name}"));
    let folder: String = folder.collect();
    format!("hint: `sluicegate rules init{folder}` writes a rules file to begin with")
}

/// The report as text, one line break at its end. Everything from outside is made harmless.
pub(crate) fn render(report: &Report, about: &About, style: Style) -> String {
    let view = View::of(report, about, Medium::Log);
    let mut shown = String::new();
    if !style.quiet {
        push_overview(&mut shown, &view, style);
        push_findings(&mut shown, &view, style);
        push_notices(&mut shown, &view, style);
        if let Some(praise) = &view.praise {
            let _ = writeln!(shown, "{}", paint(praise, bold(AnsiColor::Green), style));
        }
        push_further(&mut shown, about);
    }
    let verdict = paint(&view.headline, verdict_colour(report.verdict), style);
    shown + &verdict + "\n"
}

/// The findings whose lines [`render`] shows.
pub(crate) fn listed(report: &Report, show: Show) -> Vec<Finding<'_>> {
    view::listed(report, show)
}

/// How much there is; of a single finding there is nothing to sum up.
fn push_overview(shown: &mut String, view: &View<'_>, style: Style) {
    if view.counting() > 1 {
        let (folders, more) = view.folder_rows();
        table::push(shown, "RULE", &view.rule_rows(), 0);
        table::push(shown, "FOLDER", &folders, more);
    }
    for cause in &view.causes {
        push_cause(shown, cause, view.about, style);
    }
}

/// The listed findings, in the groups that the host folds, and what is not listed.
fn push_findings(shown: &mut String, view: &View<'_>, style: Style) {
    if style.groups == Groups::None {
        for finding in &view.listed {
            push_finding(shown, finding, view.about, style);
            shown.push('\n');
        }
    } else {
        for (number, file) in view::by_file(&view.listed).iter().enumerate() {
            let mut content = String::new();
            for (at, finding) in file.findings.iter().enumerate() {
                content.push_str(if at > 0 { "\n" } else { "" });
                push_finding(&mut content, finding, view.about, style);
            }
            let name = format!("{} ({})", file.path, file.findings.len());
            style.groups.push(shown, number, &name, &content);
        }
        shown.push_str(if view.listed.is_empty() { "" } else { "\n" });
    }
    if let Some(left_out) = view.left_out() {
        let _ = writeln!(shown, "{left_out}\n");
    }
}

/// What keeps many files from being judged: once, with the files that it concerns.
fn push_cause(shown: &mut String, cause: &UnjudgedCause<'_>, about: &About, style: Style) {
    push_message(shown, &cause.finding, style);
    for place in about.named_places(&cause.finding) {
        let _ = writeln!(shown, "  --> {}", text::line(&place));
    }
    let concerns = format!("It concerns {}.", cause.concerns());
    for line in wrapped(&text::line(&concerns), style.width) {
        let _ = writeln!(shown, "{:INDENT$}{}", "", text::line(&line));
    }
    let hint = match cause.finding.error_type {
        Some("designer/rules-file-retrieval-error") => no_rules_hint(about),
        _ => RULES_HINT.to_owned(),
    };
    let _ = writeln!(shown, "{}\n", text::line(&hint));
}

/// How to see the same elsewhere, and where it is written down.
fn push_further(shown: &mut String, about: &About) {
    if let Some(command) = &about.reproduce {
        let _ = writeln!(shown, "The same on your machine: {}", text::line(command));
    }
    if about.reproduce.is_some() && !about.reports.is_empty() {
        let _ = writeln!(shown, "Reports: {}", text::line(&about.reports.join(", ")));
    }
}

fn push_finding(shown: &mut String, finding: &Finding<'_>, about: &About, style: Style) {
    push_message(shown, finding, style);
    let lines = about.sources.around(finding.path, finding.line, REACH);
    let mark = bold(colour_of(finding));
    excerpt::push(shown, finding.path, finding.line, &lines, mark, style);
}

const fn colour_of(finding: &Finding<'_>) -> AnsiColor {
    match finding.severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
    }
}

fn push_message(shown: &mut String, finding: &Finding<'_>, style: Style) {
    let colour = colour_of(finding);
    let label = format!("{}[{}]", finding.severity, text::line(finding.rule));
    let message = finding.message();
    let said = wrapped(&format!("{label}: {}", text::block(&message)), style.width);
    for (number, line) in said.iter().enumerate() {
        // The label may be wrapped too; then it stays plain.
        match line.strip_prefix(label.as_str()) {
            Some(rest) if number == 0 => {
                let _ = writeln!(
                    shown,
                    "{}{}",
                    paint(&label, bold(colour), style),
                    text::line(rest)
                );
            }
            _ => {
                let indent = if number == 0 { 0 } else { INDENT };
                let _ = writeln!(shown, "{:indent$}{}", "", text::line(line));
            }
        }
    }
}

/// What is to be known besides the findings, one line each, and what to do.
fn push_notices(shown: &mut String, view: &View<'_>, style: Style) {
    let start = shown.len();
    for notice in &view.notices {
        let (label, lead) = label(notice, style);
        for entry in &notice.entries {
            let _ = writeln!(shown, "{label}: {lead}{}", text::line(&entry.line()));
        }
    }
    if let Some(problem) = &view.problem {
        let _ = writeln!(shown, "{}: {}", error(style), text::line(problem));
    }
    if let Some(step) = view.step {
        let _ = writeln!(shown, "hint: {step}");
    }
    if shown.len() > start {
        shown.push('\n');
    }
}

/// What a line about it begins with.
fn label(notice: &Notice<'_>, style: Style) -> (String, &'static str) {
    let weight = if notice.weighs {
        error(style)
    } else {
        warning(style)
    };
    match notice.kind {
        NoticeKind::GateChanges => (warning(style), "This change touches the gate itself: "),
        NoticeKind::Breaks => (weight, "breaks consumers: "),
        NoticeKind::Unreviewed => (weight, ""),
        NoticeKind::Notes | NoticeKind::Excluded => ("note".to_owned(), ""),
    }
}

fn warning(style: Style) -> String {
    paint("warning", bold(AnsiColor::Yellow), style)
}

/// A run that passes is told no error.
fn error(style: Style) -> String {
    if style.passes {
        return warning(style);
    }
    paint("error", bold(AnsiColor::Red), style)
}

/// The text's lines, each broken at blanks so that it fits beside the indent.
fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    let columns = width.map_or(usize::MAX, |width| width.saturating_sub(INDENT).max(LEAST));
    text.lines()
        .flat_map(|line| wrapped_line(line, columns))
        .collect()
}

fn wrapped_line(line: &str, columns: usize) -> Vec<String> {
    if line.chars().count() <= columns {
        return vec![line.to_owned()];
    }
    let mut lines = vec![String::new()];
    let mut used = 0;
    for word in line.split_whitespace() {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > columns {
            lines.push(String::new());
            used = 0;
        }
        if let Some(last) = lines.last_mut() {
            last.push_str(if used > 0 { " " } else { "" });
            last.push_str(word);
        }
        used += length + usize::from(used > 0);
    }
    lines
}

const fn verdict_colour(verdict: Verdict) -> Ansi {
    bold(match verdict {
        Verdict::Passed => AnsiColor::Green,
        Verdict::Failed => AnsiColor::Red,
        Verdict::Undecided => AnsiColor::Yellow,
    })
}

const fn bold(colour: AnsiColor) -> Ansi {
    colour.on_default().bold()
}

fn paint(text: &str, ansi: Ansi, style: Style) -> String {
    if style.color {
        format!("{ansi}{text}{ansi:#}")
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::findings::Status;
    use crate::report::sample;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn about() -> About {
        let mut about = About::default();
        let text = "type: orchestration\npipeline:\n\n\n\n\n\n  components:\n    Run B:\n      type: x\n      y: z\n    Run A:\n";
        about
            .sources
            .add("load/it.orch.yaml", text.as_bytes(), &BTreeSet::from([9, 12]));
        about
    }

    #[test]
    fn a_failed_review() {
        insta::assert_snapshot!(render(&sample::report(), &about(), Style::default()), @"
        RULE                         LEVEL          FINDINGS  FILES
        component-naming-convention  error                 2      1
        unused-components            not evaluated         1      1
        maximum-outputs              warning               1      1

        FOLDER  FINDINGS  FILES
        .              2      1
        load           2      1

        error[component-naming-convention]: `Run B` is not
          --> load/it.orch.yaml:9
           |
         7 |
         8 |   components:
         9 |     Run B:
           |     ^^^^^^
        10 |       type: x
        11 |       y: z

        error[component-naming-convention]: `Run A` is not in the pattern
          --> load/it.orch.yaml:12
           |
        10 |       type: x
        11 |       y: z
        12 |     Run A:
           |     ^^^^^^

        error[unused-components]: the rule could not be evaluated: designer/no-start-component
          --> a.tran.yaml:1

        warning[maximum-outputs]: 3 outputs
          --> a.tran.yaml:1

        warning: This change touches the gate itself: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)
        error: late.orch.yaml: The file was not reviewed: the batch timed out
        note: Not judged: 1 file: notes.txt (not a file that is reviewed)

        Review failed: 2 errors, 1 warning, 1 not evaluated; 1 rule passed in 2 files; 1 file excluded; 1 file not reviewed
        ");
    }

    #[test]
    fn an_undecided_review_says_why() {
        let mut report = sample::empty(Verdict::Undecided);
        report.notes = vec!["The platform did not answer.".to_owned()];
        insta::assert_snapshot!(render(&report, &About::default(), Style::default()), @"
        error: The review is undecided: it is not known whether the pipelines pass. The platform did not answer.
        hint: run the review again; if it stays undecided, `sluicegate doctor` checks the connection to the platform, and `sluicegate check` evaluates the same rules without the platform

        Review undecided: 0 errors, 0 warnings, 0 not evaluated; 0 rules passed in 0 files
        ");
    }

    #[test]
    fn a_long_message_is_wrapped() {
        let lines = wrapped("one two three four five six\nseven", Some(24));
        assert_eq!(lines, ["one two three four", "five six", "seven"]);
    }

    #[test]
    fn colours_only_where_asked() {
        let report = sample::report();
        assert!(!render(&report, &About::default(), Style::default()).contains('\u{1b}'));
        assert!(
            render(
                &report,
                &About::default(),
                Style {
                    color: true,
                    ..Style::default()
                }
            )
            .contains("\u{1b}[1m")
        );
    }

    proptest! {
        #[test]
        fn no_text_acts_on_the_terminal_or_the_host(raw in "(\\PC|[\\x00-\\x1f]|::|##\\[|\u{202e}){0,40}") {
            let mut report = sample::empty(Verdict::Failed);
            let result = sample::result(&raw, Status::Failed(Severity::Error), vec![sample::violation(&raw, None)]);
            report.files = vec![sample::file(&raw, vec![result])];
            report.notes = vec![raw.clone()];
            report.excluded = vec![sample::excluded(&raw)];
            report.gate_changes = vec![sample::gate_change(&raw)];
            let shown = render(&report, &About::default(), Style { width: Some(40), ..Style::default() });
            let whole = render(&report, &About::default(), Style::default());
            for line in text::block(&raw).lines() {
                prop_assert!(whole.contains(&text::line(line)), "{line:?} in {whole}");
            }
            let unsafe_text = shown.contains(['\u{1b}', '\r', '\u{202e}']) || shown.contains("##[");
            prop_assert!(!unsafe_text);
            prop_assert!(shown.lines().all(|line| !line.trim_start().starts_with("::")), "{shown}");
        }
    }
}
