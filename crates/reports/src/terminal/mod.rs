//! Renders the review for a terminal or a log: the first findings with their source lines, the numbers by rule and
//! directory, the notices, and the verdict at the end, where people look first in a log.

mod concise_lines;
mod count_table;
mod labeled_lines;
mod links;
mod log_groups;
mod source_excerpt;

pub use super::view::select_excerpt_findings;
pub use links::TerminalLinks;
pub use log_groups::{Fold, GroupStyle};

use self::labeled_lines::{ERROR_LABEL, WARNING_LABEL, push_labeled, push_wrapped, wrap_text};
use super::sentences::{GATE_CHANGE_INTRO, render_headline};
use super::view::{self, FindingEntry, Notice, NoticeKind, UnevaluatedCause, View, ViewMedium};
use super::{AnnotationStyle, ReportContext, annotation};
use anstyle::{AnsiColor, Style as Ansi};
use sluicegate_base::text::{self, List, wrap};
use sluicegate_pipelines::findings::{Finding, FindingState, Report, Severity, ShowMode, Verdict};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules;
use sluicegate_pipelines::team_rules::is_team_rule_id;
use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    pub color: bool,
    /// Number of columns of the terminal: longer messages are wrapped. `None` disables wrapping.
    pub width: Option<usize>,
    /// The groups that the host folds.
    pub groups: GroupStyle,
    /// Prints only findings, the problems of the run, and the verdict.
    pub quiet: bool,
    /// Whether the run passes regardless of the verdict, so that messages about the run are warnings, not errors.
    pub is_passing: bool,
    /// The commands of the host that notices are printed as. The host shows their text in the log, too.
    pub annotations: AnnotationStyle,
}

/// Number of columns that a message is indented by.
const INDENT: usize = 4;

/// Minimum number of columns for a message, even if the terminal is narrower.
const MIN_COLUMNS: usize = 20;

/// Maximum number of files in the name of a group.
const MAX_GROUP_PATHS: usize = 3;

/// Maximum number of other places of an entry, unless all are to be shown.
const MAX_OTHER_PLACES: usize = 4;

/// Minimum number of findings for the tables of rules and directories: fewer findings are all visible anyway.
const MIN_TABLE_FINDINGS: usize = 5;

/// Renders the report as text for a terminal or a log, with the verdict at the end. Concise output adds only a
/// line for each finding and the notices; quiet output adds only the findings and the notices that affect the verdict.
pub fn render(report: &Report, context: &ReportContext, style: Style) -> String {
    let view = View::new(report, context, ViewMedium::Log);
    let verdict = render_verdict(report, &view.headline, style);
    let mut output = String::new();
    if context.show == Some(ShowMode::Concise) {
        concise_lines::push_concise_lines(&mut output, &view, style);
    } else {
        push_causes(&mut output, &view, style);
        push_findings(&mut output, &view, style);
    }
    if style.quiet {
        push_decisive_notices(&mut output, &view, style);
        return output + &verdict + "\n";
    }
    if context.show == Some(ShowMode::Concise) {
        push_notices(&mut output, &view, style);
        return output + &verdict + "\n";
    }
    push_tables(&mut output, &view, style);
    push_notices(&mut output, &view, style);
    if let Some(praise) = &view.fixed_findings {
        let _ = writeln!(output, "{}", paint(praise, bold(AnsiColor::Green), style));
    }
    push_explanation_command(&mut output, &view);
    push_command_and_reports(&mut output, context);
    if let Some(scope) = &view.scope {
        let _ = writeln!(output, "{scope}");
    }
    output + &verdict + "\n"
}

/// Renders the verdict for the start of the log, if the run fails because of a break: the findings before the breaks do
/// not explain it. Returns `None` for other, short or concise output, which has the verdict only at the end.
pub fn render_opening(report: &Report, context: &ReportContext, style: Style) -> Option<String> {
    let has_reviewed_files = report.reviewed_files().next().is_some();
    let needs_opening =
        report.breaks_consumers() && has_reviewed_files && context.show != Some(ShowMode::Concise);
    let headline = needs_opening.then(|| render_headline(report))?;
    Some(render_verdict(report, &headline, style) + "\n")
}

/// Renders the headline in the color of the verdict, in lines that fit the terminal.
fn render_verdict(report: &Report, headline: &str, style: Style) -> String {
    let columns = style.width.unwrap_or(usize::MAX).max(MIN_COLUMNS);
    let color = verdict_color(report.verdict);
    let lines = wrap::wrap_lines(headline, "", "  ", columns);
    let lines: Vec<String> = lines.iter().map(|line| paint(line, color, style)).collect();
    lines.join("\n")
}

/// Adds tables with the numbers of findings by rule and by directory, unless there are only few findings.
fn push_tables(output: &mut String, view: &View<'_>, style: Style) {
    let rules = view.build_rule_rows();
    let finding_count: usize = rules.iter().map(|row| row.findings).sum();
    if finding_count < MIN_TABLE_FINDINGS {
        return;
    }
    let (mut folders, omitted_folders) = view.build_folder_rows();
    let base = &view.context.path_base;
    let names: Vec<_> = folders.iter().map(|row| base.display_path(row.name)).collect();
    for (row, name) in folders.iter_mut().zip(&names) {
        row.name = name;
    }
    let omitted_rules = 0;
    count_table::push_table(output, "RULE", &rules, omitted_rules, style.width);
    count_table::push_table(output, "FOLDER", &folders, omitted_folders, style.width);
}

/// Adds the errors in the rules file that prevented the evaluation of rules.
fn push_causes(output: &mut String, view: &View<'_>, style: Style) {
    for cause in &view.causes {
        push_cause(output, cause, view.context, style);
    }
}

/// Adds the listed findings, and the number of those that are not listed. If the host can fold groups, each file is a
/// group; equal findings in several files are in one group of these files. Only the first group with an error that is
/// neither known nor waived is open.
fn push_findings(output: &mut String, view: &View<'_>, style: Style) {
    if style.groups == GroupStyle::None {
        for entry in &view.entries {
            push_entry(output, entry, view.context, style);
            output.push('\n');
        }
    } else {
        let groups = view::group_by_path(&view.entries, |entry| entry.list_paths());
        let first_error_index = groups.iter().position(|(_, entries)| {
            let mut findings = entries.iter().map(|entry| &entry.finding);
            findings.any(|finding| finding.severity == Severity::Error && finding.is_counted())
        });
        for (group_index, (paths, entries)) in groups.iter().enumerate() {
            let mut content = String::new();
            for (entry_index, entry) in entries.iter().enumerate() {
                content.push_str(if entry_index > 0 { "\n" } else { "" });
                push_entry(&mut content, entry, view.context, style);
            }
            let finding_count: usize = entries.iter().map(|entry| entry.findings().count()).sum();
            let name = format!(
                "{} ({})",
                List::with_limit(paths, MAX_GROUP_PATHS),
                text::format_number(finding_count)
            );
            let fold = if first_error_index == Some(group_index) {
                Fold::Open
            } else {
                Fold::Closed
            };
            style
                .groups
                .push_group(output, group_index, fold, &name, &content);
        }
        output.push_str(if view.entries.is_empty() { "" } else { "\n" });
    }
    if let Some(omission) = view.describe_omission() {
        let _ = writeln!(output, "{omission}\n");
    }
}

/// Adds an error in the rules file once, with its places, all files that it affects, and a hint how to fix it.
fn push_cause(output: &mut String, cause: &UnevaluatedCause<'_>, context: &ReportContext, style: Style) {
    push_message(output, &cause.finding, &context.links, style);
    for place in context.list_rules_file_places(&cause.finding) {
        let place = context.path_base.display_path(&place);
        let _ = writeln!(output, "  --> {}", text::escape_line(&place));
    }
    let effect = format!(
        "This affects {}.",
        cause.describe_affected_files(&context.path_base)
    );
    for line in wrap_text(&text::escape_line(&effect), style.width) {
        let _ = writeln!(output, "{:INDENT$}{}", "", text::escape_line(&line));
    }
    let hint = format!("hint: {}", context.rules_file_hint(&cause.finding));
    let _ = writeln!(output, "{}\n", text::escape_line(&hint));
}

/// Adds the command that explains a rule: the first listed one that could be evaluated and has an explanation, if any.
/// A rule of the team, whose message its authors wrote, is explained only if no other rule is.
fn push_explanation_command(output: &mut String, view: &View<'_>) {
    let is_explained =
        |rule: &str| rules::find_rule(rule).is_some() || ProjectCheck::find_by_id(rule).is_some();
    let findings = view.entries.iter().map(|entry| &entry.finding);
    let failed_rules: Vec<&str> = findings
        .filter(|finding| finding.error_type.is_none())
        .map(|finding| finding.rule)
        .collect();
    let mut explained_rules = failed_rules.iter().filter(|rule| is_explained(rule));
    let mut team_rules = failed_rules.iter().filter(|rule| is_team_rule_id(rule));
    if let Some(rule) = explained_rules.next().or_else(|| team_rules.next()) {
        let _ = writeln!(output, "Explain a rule: sluicegate rules explain {rule}");
    }
}

/// Adds the command that reproduces the review locally, if there is one, and the paths of the reports. Only a review
/// that failed in CI has these paths.
fn push_command_and_reports(output: &mut String, context: &ReportContext) {
    if let Some(command) = &context.reproduction_command {
        let _ = writeln!(output, "Reproduce locally: {}", text::escape_line(command));
    }
    if !context.reports.is_empty() {
        let _ = writeln!(
            output,
            "Reports: {}",
            text::escape_line(&context.reports.join(", "))
        );
    }
}

/// Adds a finding with its source lines, then the places of equal findings and the names of related ones. If `show`
/// limits the number of findings, the number of places is limited, too.
fn push_entry(output: &mut String, entry: &FindingEntry<'_>, context: &ReportContext, style: Style) {
    let finding = &entry.finding;
    push_message(output, finding, &context.links, style);
    let lines = context.sources.select_log_excerpt(finding);
    let mark = bold(finding_color(finding));
    let place = format_place(finding, context);
    source_excerpt::push_excerpt(output, &place, finding.line, &lines, mark, style);
    let max_places = match context.show.unwrap_or_default() {
        ShowMode::First(_) | ShowMode::None => MAX_OTHER_PLACES,
        ShowMode::All | ShowMode::New | ShowMode::Concise => usize::MAX,
    };
    let other_places = List::with_limit(&entry.equal_findings, max_places).with_noun("place");
    for other_finding in other_places.items() {
        let place = format_place(other_finding, context);
        source_excerpt::push_excerpt(output, &place, other_finding.line, &[], mark, style);
    }
    if let Some(remark) = other_places.remark() {
        let _ = writeln!(output, "      {remark}");
    }
    if let Some(related_names) = entry.describe_related_findings() {
        for line in wrap_text(&text::escape_line(&related_names), style.width) {
            let _ = writeln!(output, "{:INDENT$}{}", "", text::escape_line(&line));
        }
    }
}

/// Returns the path and the line of a finding, escaped, and as a link if the terminal supports links.
fn format_place(finding: &Finding<'_>, context: &ReportContext) -> String {
    let path = context.path_base.display_path(finding.path);
    let place = format!("{}:{}", text::escape_line(&path), finding.line);
    context.links.link_file(&place, finding.path)
}

/// Returns the color for the severity of a finding.
const fn finding_color(finding: &Finding<'_>) -> AnsiColor {
    match finding.severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
    }
}

/// Adds the level, the rule and the message of a finding, wrapped to the width of the terminal. The rule is a link to
/// its documentation.
fn push_message(output: &mut String, finding: &Finding<'_>, links: &TerminalLinks, style: Style) {
    let label = format!("{}[{}]", finding.severity, text::escape_line(finding.rule));
    let painted_label = paint(&label, bold(finding_color(finding)), style);
    let linked_label = links.link_rule(&painted_label, finding.rule);
    push_wrapped(
        output,
        &label,
        &linked_label,
        &text::escape_lines(&describe_for_log(finding)),
        style,
    );
}

/// Returns the message of a finding for a log, with its state: a log has no other mark for known findings.
fn describe_for_log(finding: &Finding<'_>) -> String {
    let message = finding.message();
    match finding.state {
        Some(FindingState::Known) => format!("{message} (known)"),
        _ => message,
    }
}

/// Adds the notices, as lines or as commands of the host, then the problems of the run, the next step, and an empty
/// line. Adds no text if the run has nothing to report.
fn push_notices(output: &mut String, view: &View<'_>, style: Style) {
    let start = output.len();
    if style.annotations == AnnotationStyle::None {
        push_notice_lines(output, view, style, |_| true);
    } else {
        push_annotation_commands(output, view, style);
    }
    if let Some(step) = &view.next_step {
        push_labeled(output, "hint", step, style);
    }
    if output.len() > start {
        output.push('\n');
    }
}

/// Adds the notices that affect the verdict, and the problems of the run, for quiet output. If notices are commands of
/// the host, all are added, because the host also shows them outside of the log.
fn push_decisive_notices(output: &mut String, view: &View<'_>, style: Style) {
    if style.annotations == AnnotationStyle::None {
        push_notice_lines(output, view, style, |notice| notice.affects_verdict);
    } else {
        push_annotation_commands(output, view, style);
    }
}

/// Adds the notices and the problems of the run as commands by which the host shows annotations.
fn push_annotation_commands(output: &mut String, view: &View<'_>, style: Style) {
    for annotation in annotation::annotate_notices(view, style.is_passing) {
        if let Some(command) = style.annotations.format_command(&annotation) {
            let _ = writeln!(output, "{command}");
        }
    }
}

/// Adds the notices for which `is_shown` is true, and the problems of the run, as labeled lines.
fn push_notice_lines(output: &mut String, view: &View<'_>, style: Style, is_shown: fn(&Notice<'_>) -> bool) {
    for notice in view.notices.iter().filter(|notice| is_shown(notice)) {
        let (label, message_start) = notice_label(notice, style);
        for entry in &notice.entries {
            let line = entry.render_line(&view.context.path_base);
            push_labeled(output, label, &format!("{message_start}{line}"), style);
        }
    }
    for problem in &view.problems {
        push_labeled(output, error_label(style), problem, style);
    }
}

/// Returns the label of a notice and the start of its message. A change to the gate configuration is a warning even if
/// the gate refuses it, because the headline already reports the refusal.
const fn notice_label(notice: &Notice<'_>, style: Style) -> (&'static str, &'static str) {
    let label = if notice.affects_verdict {
        error_label(style)
    } else {
        WARNING_LABEL
    };
    match notice.kind {
        NoticeKind::GateChanges => (WARNING_LABEL, GATE_CHANGE_INTRO),
        NoticeKind::Breaks => (label, "breaks consumers: "),
        NoticeKind::Unreviewed => (label, ""),
        NoticeKind::Notes | NoticeKind::Excluded => ("note", ""),
    }
}

/// Returns the label for problems: `error`, or `warning` if the run passes, because a log of a passed run should not
/// contain errors.
const fn error_label(style: Style) -> &'static str {
    if style.is_passing {
        WARNING_LABEL
    } else {
        ERROR_LABEL
    }
}

/// Returns the bold color in which the verdict is printed.
const fn verdict_color(verdict: Verdict) -> Ansi {
    bold(match verdict {
        Verdict::Passed => AnsiColor::Green,
        Verdict::Failed => AnsiColor::Red,
        Verdict::Undecided => AnsiColor::Yellow,
    })
}

const fn bold(color: AnsiColor) -> Ansi {
    color.on_default().bold()
}

/// Returns the text in this color, or unchanged if the output has no colors.
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
    use crate::sample;
    use proptest::prelude::*;
    use sluicegate_pipelines::findings::Status;
    use std::collections::BTreeSet;

    fn about() -> ReportContext {
        let mut context = ReportContext::default();
        let text = "type: orchestration\npipeline:\n\n\n\n\n\n  components:\n    Run B:\n      type: x\n      y: z\n    Run A:\n";
        context
            .sources
            .keep_lines_near("load/it.orch.yaml", text.as_bytes(), &BTreeSet::from([9, 12]));
        context
    }

    #[test]
    fn failed_review_is_rendered_whole() {
        insta::assert_snapshot!(render(&sample::report(), &about(), Style::default()), @"
        error[component-naming-convention]: `Run B` is not
          --> load/it.orch.yaml:9
           |
         9 |     Run B:
           |     ^^^^^^
        10 |       type: x
        11 |       y: z

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

        Explain a rule: sluicegate rules explain component-naming-convention
        1 check passed in 2 pipelines; 1 file excluded
        Review failed: 2 errors, 1 warning, 1 not evaluated; 1 file not reviewed
        ");
    }

    #[test]
    fn undecided_review_shows_its_reason() {
        let mut report = sample::empty(Verdict::Undecided);
        report.notes = vec![
            "the platform did not answer".to_owned(),
            "one more fact".to_owned(),
        ];
        report.reasons = report.notes[..1].to_vec();
        insta::assert_snapshot!(render(&report, &ReportContext::default(), Style::default()), @"
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
            let shown = render(&sample::report(), &ReportContext::default(), style);
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
    fn long_message_is_wrapped() {
        let lines = wrap_text("one two three four five six\nseven", Some(24));
        assert_eq!(lines, ["one two three four", "five six", "seven"]);
    }

    #[test]
    fn wrapped_notice_with_label_fits_the_terminal() {
        let mut report = sample::empty(Verdict::Passed);
        for width in 30..60 {
            for character_count in 60..70 {
                report.gate_changes = vec![sample::gate_change(&"word ".repeat(character_count))];
                let style = Style {
                    width: Some(width),
                    ..Style::default()
                };
                let shown = render(&report, &ReportContext::default(), style);
                let longest_line = shown.lines().map(str::len).max();
                assert!(
                    shown.contains("warning: This change edits") && longest_line <= Some(width),
                    "{shown}"
                );
            }
        }
    }

    #[test]
    fn colours_only_where_asked() {
        let report = sample::report();
        assert!(!render(&report, &ReportContext::default(), Style::default()).contains('\u{1b}'));
        assert!(
            render(
                &report,
                &ReportContext::default(),
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
            report.excluded_files = vec![sample::excluded_file(&raw)];
            report.gate_changes = vec![sample::gate_change(&raw)];
            let shown = render(&report, &ReportContext::default(), Style { width: Some(40), ..Style::default() });
            let whole = render(&report, &ReportContext::default(), Style::default());
            for line in text::escape_lines(&sample::shown_message(&raw)).lines() {
                prop_assert!(whole.contains(&text::escape_line(line)), "{line:?} in {whole}");
            }
            let unsafe_text = shown.contains(['\u{1b}', '\r', '\u{202e}']) || shown.contains("##[");
            prop_assert!(!unsafe_text);
            prop_assert!(shown.lines().all(|line| !line.trim_start().starts_with("::")), "{shown}");
        }
    }
}
