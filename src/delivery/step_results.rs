//! Writes the results that a CI host reads from a step: annotations, summary, outputs.

use super::Delivery;
use crate::error::Failure;
use crate::job::ci::Host;
use crate::session::Session;
use crate::session::step_report::choose_annotation_style;
use crate::ui::Ui;
use sluicegate_reports::terminal::{self, Fold, GroupStyle};
use sluicegate_reports::{ReportContext, azure, github};

/// The number of the group of annotations, which no group of findings uses.
const ANNOTATION_GROUP_NUMBER: usize = usize::MAX;

/// Prints the lines that the host interprets (annotations and, on Azure, step outputs), then the findings and the
/// verdict. If a report goes to standard output, prints to standard error instead.
pub(super) fn print_findings(
    session: &Session,
    delivery: &Delivery<'_>,
    context: &ReportContext,
    step_outputs: &[(&'static str, String)],
) -> Result<(), Failure> {
    let is_output_reserved = delivery.destinations.has_stdout_report();
    let color = if is_output_reserved {
        session.ui.colors_messages()
    } else {
        session.ui.colors_output()
    };
    let host = delivery.host();
    let annotations = choose_annotation_style(delivery.destinations.annotations, host);
    let style = terminal::Style {
        color,
        width: session.ui.width(),
        groups: choose_group_style(host),
        quiet: session.ui.is_quiet(),
        is_passing: delivery.is_passing,
        annotations,
    };
    let mut host_commands =
        sluicegate_reports::list_annotations(annotations, delivery.report, context, delivery.is_passing);
    if host == Host::Azure {
        host_commands.extend(azure::format_outputs(step_outputs));
    }
    let command_text: String = host_commands.iter().flat_map(|line| [line, "\n"]).collect();
    // The host's lines come before the findings, in a closed group. The verdict is then the last line of the log.
    let mut text = terminal::render_opening(delivery.report, context, style).unwrap_or_default();
    if !command_text.is_empty() {
        style.groups.push_group(
            &mut text,
            ANNOTATION_GROUP_NUMBER,
            Fold::Closed,
            "annotations",
            &command_text,
        );
    }
    text.push_str(&terminal::render(delivery.report, context, style));
    if is_output_reserved {
        Ui::print_to_stderr(&text)
    } else {
        session.ui.print_result(&text)
    }
}

/// Returns the syntax with which the host's log folds groups of lines.
const fn choose_group_style(host: Host) -> GroupStyle {
    match host {
        Host::GitHub | Host::Gitea => GroupStyle::Github,
        Host::GitLab => GroupStyle::Gitlab,
        Host::Azure => GroupStyle::Azure,
        _ => GroupStyle::None,
    }
}

/// Appends the step summary if the host supports it.
pub(super) fn append_step_summary(
    session: &Session,
    delivery: &Delivery<'_>,
    context: &ReportContext,
) -> Result<(), Failure> {
    session.append_summary(|| github::render_step_summary(delivery.report, context))
}

/// Returns the step outputs about the review, the path of the JUnit report (empty if the run wrote none), and the step
/// outputs for the attestation.
pub(super) fn list_step_outputs(
    delivery: &Delivery<'_>,
    junit_path: Option<String>,
) -> Vec<(&'static str, String)> {
    let mut outputs = sluicegate_reports::list_review_outputs(delivery.report);
    outputs.push(("junit", junit_path.unwrap_or_default()));
    outputs.extend(delivery.statement_outputs.iter().cloned());
    outputs
}
