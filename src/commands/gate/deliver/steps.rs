//! Writes the results that a CI host reads from a step: annotations, summary, outputs.

use super::files::junit_path;
use super::{Delivery, DeliveryPlace};
use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::ui::Ui;
use crate::commands::Run;
use crate::job::ci::Host;
use crate::job::cli::Annotations;
use crate::report::terminal::{self, Groups};
use crate::report::{self, About, AnnotationStyle, azure, github};
use std::fs::File;
use std::io::Write as _;
use uuid::Uuid;

/// The number of the group of annotations, which no group of findings uses.
const ANNOTATIONS: usize = usize::MAX;
/// GitHub, Gitea and Forgejo: the file with markdown for the run's page.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// GitHub, Gitea and Forgejo: the file for a step's outputs.
pub(crate) const STEP_OUTPUT: &str = "GITHUB_OUTPUT";

/// Prints the findings, and the host's annotations and outputs; on standard error if a report goes to standard output.
pub(super) fn show(
    run: &Run,
    place: &DeliveryPlace<'_>,
    delivery: &Delivery<'_>,
    about: &About,
) -> Result<(), Failure> {
    let taken = delivery.to.take_output();
    let color = if taken {
        run.ui.colors_messages()
    } else {
        run.ui.colors_output()
    };
    let host = place.host();
    let style = terminal::Style {
        color,
        width: run.ui.width(),
        groups: groups(host),
        quiet: run.ui.is_quiet(),
        passes: delivery.passes,
    };
    let asked = annotation_style(delivery.to.annotations, host);
    let mut commands = report::annotations(asked, delivery.report, about);
    if host == Host::Azure {
        commands.extend(azure::outputs(&outputs(run, host, delivery)));
    }
    // The annotations come first and folded, so that the findings follow and the verdict comes last.
    let commands: String = commands.iter().flat_map(|line| [line, "\n"]).collect();
    let mut text = String::new();
    if !commands.is_empty() {
        style
            .groups
            .push(&mut text, ANNOTATIONS, "annotations", &commands);
    }
    text.push_str(&terminal::render(delivery.report, about, style));
    if taken {
        Ui::out_beside(&text)
    } else {
        run.ui.out(&text)
    }
}

/// Returns the syntax of the groups that the host folds in its log.
const fn groups(host: Host) -> Groups {
    match host {
        Host::GitHub | Host::Gitea => Groups::Github,
        Host::GitLab => Groups::Gitlab,
        Host::Azure => Groups::Azure,
        _ => Groups::None,
    }
}

/// Appends the step summary if the host supports it.
pub(super) fn summarize(run: &Run, delivery: &Delivery<'_>, about: &About) -> Result<(), Failure> {
    append(run, STEP_SUMMARY, || github::step_summary(delivery.report, about))
}

/// Appends the step outputs if the host reads them from a file.
pub(super) fn tell_outputs(
    run: &Run,
    place: &DeliveryPlace<'_>,
    delivery: &Delivery<'_>,
) -> Result<(), Failure> {
    append(run, STEP_OUTPUT, || {
        github::outputs(&outputs(run, place.host(), delivery), Uuid::new_v4())
    })
}

/// Returns the annotation syntax of the host's log, if it has one.
pub(super) const fn annotation_style(asked: Annotations, host: Host) -> AnnotationStyle {
    match (asked, host) {
        (Annotations::Github, _) | (Annotations::Auto, Host::GitHub | Host::Gitea) => AnnotationStyle::Github,
        (Annotations::Azure, _) | (Annotations::Auto, Host::Azure) => AnnotationStyle::Azure,
        (Annotations::None | Annotations::Auto, _) => AnnotationStyle::None,
    }
}

/// Returns the step outputs of the contract.
fn outputs(run: &Run, host: Host, delivery: &Delivery<'_>) -> Vec<(&'static str, String)> {
    let mut outputs = report::outputs(delivery.report);
    outputs.push(("junit", junit_path(run, host, delivery).unwrap_or_default()));
    outputs
}

/// Appends to a file whose path is in a variable of the host; does nothing if the variable is not set.
fn append(run: &Run, variable: &str, content: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = run.env.get(variable) else {
        return Ok(());
    };
    let file = File::options().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(content().as_bytes()))
        .map_err(|error| {
            let what = format!("could not write {path} ({variable})");
            Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(what))
        })
}

/// Appends step outputs if the host supports them.
pub(crate) fn append_outputs(run: &Run, pairs: &[(&str, String)]) -> Result<(), Failure> {
    append(run, STEP_OUTPUT, || github::outputs(pairs, Uuid::new_v4()))
}
