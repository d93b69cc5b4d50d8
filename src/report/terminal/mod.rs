//! Renders the review for a terminal or a log: the first findings with their source lines, the numbers by rule and
//! directory, the notices, and the verdict at the end, where people look first in a log.

mod concise;
mod excerpt;
mod group;
mod table;

pub(crate) use group::Groups;

use super::About;
use super::about::ChangedLines;
use super::view::{self, FindingEntry, Medium, Notice, NoticeKind, UnjudgedCause, View};
use super::wording::{GATE_CHANGE, headline};
use super::{AnnotationStyle, annotation};
use anstyle::{AnsiColor, Style as Ansi};
use sluicegate_base::text::wrap;
use sluicegate_base::text::{self, List};
use sluicegate_pipelines::findings::{Finding, Report, Severity, ShowMode, Verdict};
use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub color: bool,
    /// Number of columns of the terminal: longer messages are wrapped. `None` disables wrapping.
    pub width: Option<usize>,
    /// The groups that the host folds.
    pub groups: Groups,
    /// Whether to print only the verdict.
    pub quiet: bool,
    /// Whether the run passes regardless of the verdict, so that messages about the run are warnings, not errors.
    pub passes: bool,
    /// The commands of the host that notices are printed as. The host shows their text in the log, too.
    pub annotations: AnnotationStyle,
}

/// Number of columns that a message is indented by.
const INDENT: usize = 4;

/// Minimum number of columns for a message, even if the terminal is narrower.
const LEAST: usize = 20;

/// Maximum number of other places of an entry, unless all are to be shown.
const OTHER_PLACES: usize = 4;

/// Minimum number of findings for the tables of rules and directories: fewer findings are all visible anyway.
const FEWEST_IN_TABLES: usize = 5;

/// Renders the report as text with a final line break. All text from outside is sanitized.
pub(crate) fn render(report: &Report, about: &About, style: Style) -> String {
    if style.quiet && style.annotations == AnnotationStyle::None {
        return verdict(report, &headline(report), style) + "\n";
    }
    let view = View::of(report, about, Medium::Log);
    let verdict = verdict(report, &view.headline, style);
    let mut shown = String::new();
    if style.quiet {
        push_commands(&mut shown, &view, style);
        return shown + &verdict + "\n";
    }
    if about.show == ShowMode::Concise {
        concise::push(&mut shown, &view);
        push_notices(&mut shown, &view, style);
        return shown + &verdict + "\n";
    }
    push_causes(&mut shown, &view, style);
    push_findings(&mut shown, &view, style);
    push_tables(&mut shown, &view, style);
    push_notices(&mut shown, &view, style);
    if let Some(praise) = &view.praise {
        let _ = writeln!(shown, "{}", paint(praise, bold(AnsiColor::Green), style));
    }
    push_further(&mut shown, about);
    if let Some(scope) = &view.scope {
        let _ = writeln!(shown, "{scope}");
    }
    shown + &verdict + "\n"
}

/// Returns the headline, in lines that fit the terminal.
fn verdict(report: &Report, headline: &str, style: Style) -> String {
    let columns = style.width.unwrap_or(usize::MAX).max(LEAST);
    let colour = verdict_colour(report.verdict);
    let lines = wrap::lines(headline, "", "  ", columns);
    let lines: Vec<String> = lines.iter().map(|line| paint(line, colour, style)).collect();
    lines.join("\n")
}

/// Returns the findings whose lines [`render`] shows.
pub(crate) fn listed<'a>(report: &'a Report, changed: &ChangedLines, show: ShowMode) -> Vec<Finding<'a>> {
    view::listed(report, changed, show)
}

/// Adds the numbers of findings by rule and directory, unless there are only few findings.
fn push_tables(shown: &mut String, view: &View<'_>, style: Style) {
    let rules = view.rule_rows();
    let counting: usize = rules.iter().map(|row| row.findings).sum();
    if counting < FEWEST_IN_TABLES {
        return;
    }
    let (mut folders, more) = view.folder_rows();
    let base = &view.about.path_base;
    let names: Vec<_> = folders.iter().map(|row| base.shown(row.name)).collect();
    for (row, name) in folders.iter_mut().zip(&names) {
        row.name = name;
    }
    table::push(shown, "RULE", &rules, 0, style.width);
    table::push(shown, "FOLDER", &folders, more, style.width);
}

fn push_causes(shown: &mut String, view: &View<'_>, style: Style) {
    for cause in &view.causes {
        push_cause(shown, cause, view.about, style);
    }
}

/// Adds the listed findings, in groups that the host folds, and the number of those that are not listed.
fn push_findings(shown: &mut String, view: &View<'_>, style: Style) {
    if style.groups == Groups::None {
        for entry in &view.listed {
            push_entry(shown, entry, view.about, style);
            shown.push('\n');
        }
    } else {
        let files = view::by_path(&view.listed, |entry| entry.finding.path);
        for (number, (path, entries)) in files.iter().enumerate() {
            let mut content = String::new();
            for (at, entry) in entries.iter().enumerate() {
                content.push_str(if at > 0 { "\n" } else { "" });
                push_entry(&mut content, entry, view.about, style);
            }
            let name = format!("{path} ({})", entries.len());
            style.groups.push(shown, number, &name, &content);
        }
        shown.push_str(if view.listed.is_empty() { "" } else { "\n" });
    }
    if let Some(left_out) = view.left_out() {
        let _ = writeln!(shown, "{left_out}\n");
    }
}

/// Adds an evaluation error of several files once, with the affected files.
fn push_cause(shown: &mut String, cause: &UnjudgedCause<'_>, about: &About, style: Style) {
    push_message(shown, &cause.finding, style);
    for place in about.named_places(&cause.finding) {
        let place = about.path_base.shown(&place);
        let _ = writeln!(shown, "  --> {}", text::line(&place));
    }
    let concerns = format!("This affects {}.", cause.concerns(&about.path_base));
    for line in wrapped(&text::line(&concerns), style.width) {
        let _ = writeln!(shown, "{:INDENT$}{}", "", text::line(&line));
    }
    let hint = format!("hint: {}", about.rules_file_hint(&cause.finding));
    let _ = writeln!(shown, "{}\n", text::line(&hint));
}

/// Adds the command that reproduces the review, and the paths of the reports.
fn push_further(shown: &mut String, about: &About) {
    if let Some(command) = &about.reproduce {
        let _ = writeln!(shown, "Reproduce locally: {}", text::line(command));
    }
    if about.reproduce.is_some() && !about.reports.is_empty() {
        let _ = writeln!(shown, "Reports: {}", text::line(&about.reports.join(", ")));
    }
}

/// Adds a finding with its source lines, and the other places of equal findings.
fn push_entry(shown: &mut String, entry: &FindingEntry<'_>, about: &About, style: Style) {
    let finding = &entry.finding;
    push_message(shown, finding, style);
    let lines = about.sources.context(finding);
    let mark = bold(colour_of(finding));
    let path = about.path_base.shown(finding.path);
    excerpt::push(shown, &path, finding.line, &lines, mark, style);
    let most = match about.show {
        ShowMode::First(_) | ShowMode::None => OTHER_PLACES,
        ShowMode::All | ShowMode::New | ShowMode::Concise => usize::MAX,
    };
    let others = List::with_limit(&entry.others, most).of("place");
    for other in others.items() {
        let path = about.path_base.shown(other.path);
        excerpt::push(shown, &path, other.line, &[], mark, style);
    }
    if let Some(remark) = others.remark() {
        let _ = writeln!(shown, "      {remark}");
    }
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
        // The label may be wrapped too; then it has no color.
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

/// Adds the notices, one line each, then the problems of the run and the next step.
fn push_notices(shown: &mut String, view: &View<'_>, style: Style) {
    let start = shown.len();
    if style.annotations == AnnotationStyle::None {
        push_lines(shown, view, style);
    } else {
        push_commands(shown, view, style);
    }
    if let Some(step) = view.step {
        push_wrapped(shown, "hint", step, style);
    }
    if shown.len() > start {
        shown.push('\n');
    }
}

/// Adds the notices and the problems of the run as commands of the host.
fn push_commands(shown: &mut String, view: &View<'_>, style: Style) {
    for annotation in annotation::of_notices(view, style.passes) {
        if let Some(command) = style.annotations.command(&annotation) {
            let _ = writeln!(shown, "{command}");
        }
    }
}

/// Adds the notices and the problems of the run as text.
fn push_lines(shown: &mut String, view: &View<'_>, style: Style) {
    for notice in &view.notices {
        let (label, lead) = label(notice, style);
        for entry in &notice.entries {
            push_wrapped(
                shown,
                &label,
                &format!("{lead}{}", entry.line(&view.about.path_base)),
                style,
            );
        }
    }
    for problem in &view.problems {
        push_wrapped(shown, &error(style), problem, style);
    }
}

/// Adds a label of this program and a message, in lines that fit the terminal.
fn push_wrapped(shown: &mut String, label: &str, said: &str, style: Style) {
    let said = wrapped(&format!(": {}", text::line(said)), style.width);
    for (number, line) in said.iter().enumerate() {
        let start = if number == 0 { label } else { "    " };
        let _ = writeln!(shown, "{start}{}", text::line(line));
    }
}

/// Returns the label of a notice, and the start of its message.
fn label(notice: &Notice<'_>, style: Style) -> (String, &'static str) {
    let weight = if notice.weighs {
        error(style)
    } else {
        warning(style)
    };
    match notice.kind {
        NoticeKind::GateChanges => (warning(style), GATE_CHANGE),
        NoticeKind::Breaks => (weight, "breaks consumers: "),
        NoticeKind::Unreviewed => (weight, ""),
        NoticeKind::Notes | NoticeKind::Excluded => ("note".to_owned(), ""),
    }
}

fn warning(style: Style) -> String {
    paint("warning", bold(AnsiColor::Yellow), style)
}

/// Returns the label for errors; a run that passes has only warnings.
fn error(style: Style) -> String {
    if style.passes {
        return warning(style);
    }
    paint("error", bold(AnsiColor::Red), style)
}

/// Returns the text's lines, wrapped at spaces so that they fit next to the indent.
fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    let columns = width.map_or(usize::MAX, |width| width.saturating_sub(INDENT).max(LEAST));
    text.lines()
        .flat_map(|line| wrap::lines(line, "", "", columns))
        .collect()
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
    use crate::report::sample;
    use proptest::prelude::*;
    use sluicegate_pipelines::findings::Status;
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
        error[component-naming-convention]: `Run B` is not
          --> load/it.orch.yaml:9
           |
         9 |     Run B:
           |     ^^^^^^
        10 |       type: x
        11 |       y: z
        12 |     Run A:

        error[component-naming-convention]: `Run A` is not in the pattern
          --> load/it.orch.yaml:12
           |
        12 |     Run A:
           |     ^^^^^^

        error[unused-components]: the rule could not be evaluated: designer/no-start-component
          --> a.tran.yaml:1

        warning[maximum-outputs]: 3 outputs
          --> a.tran.yaml:1

        warning: This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)
        error: late.orch.yaml: The file was not reviewed: the batch timed out
        note: Excluded: 1 file: notes.txt (not a file that is reviewed)

        1 check passed in 2 pipelines; 1 file excluded
        Review failed: 2 errors, 1 warning, 1 not evaluated; 1 file not reviewed
        ");
    }

    #[test]
    fn an_undecided_review_says_why() {
        let mut report = sample::empty(Verdict::Undecided);
        report.notes = vec![
            "the platform did not answer".to_owned(),
            "one more fact".to_owned(),
        ];
        report.reasons = report.notes[..1].to_vec();
        insta::assert_snapshot!(render(&report, &About::default(), Style::default()), @"
        note: one more fact
        error: The platform did not answer.
        hint: run the review again; if it stays undecided, `sluicegate doctor` checks the connection to the platform, and `sluicegate check` evaluates the same rules without the platform

        Review undecided
        ");
    }

    #[test]
    fn notices_for_host_with_annotations_are_commands_also_if_quiet() {
        let commands = |quiet| {
            let style = Style {
                annotations: AnnotationStyle::Github,
                quiet,
                ..Style::default()
            };
            let shown = render(&sample::report(), &About::default(), style);
            let commands: Vec<&str> = shown.lines().filter(|line| line.starts_with("::")).collect();
            assert!(
                !shown.contains("\nwarning: ") && !shown.contains("\nnote: "),
                "{shown}"
            );
            commands.join("\n")
        };
        insta::assert_snapshot!(commands(false), @"
        ::warning file=sluicegate.yaml,line=1,title=gate change::This change edits the gate configuration: sluicegate.yaml: exclude: + old.* (relaxed); review.fail-on: error → never (relaxed)
        ::error file=late.orch.yaml,line=1,title=unreviewed::The file was not reviewed: the batch timed out
        ::notice title=review::Excluded: 1 file: notes.txt (not a file that is reviewed)
        ");
        assert_eq!(commands(true), commands(false));
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
            report.excluded_files = vec![sample::excluded(&raw)];
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
