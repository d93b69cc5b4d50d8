//! Brings a report to where people look: files, standard output, the CI host. One place that cannot be written is
//! named; the others are written, and the verdict stands.

use super::Run;
use super::workspace::Workspace;
use crate::ci::Host;
use crate::cli::{Annotations, ReportFormat};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::findings::Report;
use crate::report::{self, About, AnnotationStyle, Format, github, terminal};
use crate::settings::{ReportTarget, Review};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;
use uuid::Uuid;

/// GitHub, Gitea and Forgejo: the file whose markdown is shown on the run's page.
const STEP_SUMMARY: &str = "GITHUB_STEP_SUMMARY";
/// GitHub, Gitea and Forgejo: the file that takes a step's outputs.
pub(super) const STEP_OUTPUT: &str = "GITHUB_OUTPUT";

/// What to deliver, by which settings.
pub(super) struct Delivery<'a> {
    pub(super) report: &'a Report,
    pub(super) settings: &'a Review,
}

/// Delivers; the status says whether every place was reached.
pub(super) fn deliver(run: &Run, workspace: &Workspace<'_>, delivery: &Delivery<'_>) -> ExitStatus {
    let about = About {
        tool_version: env!("CARGO_PKG_VERSION"),
        blob_url: blob_url(run, workspace.ci.host, delivery.report),
        ..About::default()
    };
    let mut status = ExitStatus::Success;
    let mut check = |result: Result<(), Failure>| {
        if let Err(failure) = result {
            status = status.worse(run.ui.fail(&failure));
        }
    };
    for target in &delivery.settings.reports {
        check(write_report(run, target, delivery.report, &about));
    }
    check(show(run, workspace.ci.host, delivery, &about));
    check(append(run, STEP_SUMMARY, || {
        github::step_summary(delivery.report, &about)
    }));
    check(append(run, STEP_OUTPUT, || {
        github::outputs(&outputs(delivery), Uuid::new_v4())
    }));
    status
}

fn write_report(run: &Run, target: &ReportTarget, report: &Report, about: &About) -> Result<(), Failure> {
    let format = match target.format {
        ReportFormat::Junit => Format::Junit,
        ReportFormat::JunitStrict => Format::JunitStrict,
        ReportFormat::Json => Format::Json,
        ReportFormat::Sarif => Format::Sarif,
        ReportFormat::Gitlab => Format::Gitlab,
        ReportFormat::Markdown => Format::Markdown,
        ReportFormat::Html => Format::Html,
    };
    let unusable = |error: anyhow::Error| {
        let place = target
            .path
            .as_deref()
            .unwrap_or(Path::new("-"))
            .display()
            .to_string();
        Failure::new(
            ExitStatus::Usage,
            error.context(format!("the report {format}={place} was not written")),
        )
    };
    let bytes = report::render(format, report, about).map_err(|error| unusable(error.into()))?;
    match &target.path {
        Some(path) => write_whole(path, &bytes).map_err(|error| unusable(error.into())),
        None => run.ui.out(&String::from_utf8_lossy(&bytes)),
    }
}

/// Writes a file so that a reader never meets half of it.
pub(super) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    if path.exists() && !path.is_file() {
        // A device or a pipe is written to, not replaced.
        return fs::write(path, bytes);
    }
    let beside = folder.join(format!(".sluicegate-{}", Uuid::new_v4().simple()));
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// The findings for people, and the host's annotations; beside a report on standard output, on standard error.
fn show(run: &Run, host: Host, delivery: &Delivery<'_>, about: &About) -> Result<(), Failure> {
    let taken = delivery
        .settings
        .reports
        .iter()
        .any(|target| target.path.is_none());
    let color = if taken {
        run.ui.colors_messages()
    } else {
        run.ui.colors_output()
    };
    let mut text = terminal::render(
        delivery.report,
        terminal::Style {
            color,
            width: run.ui.width(),
        },
    );
    for line in report::annotations(
        annotation_style(delivery.settings.annotations, host),
        delivery.report,
        about,
    ) {
        text.push_str(&line);
        text.push('\n');
    }
    if taken {
        run.ui.out_beside(&text)
    } else {
        run.ui.out(&text)
    }
}

const fn annotation_style(asked: Annotations, host: Host) -> AnnotationStyle {
    match (asked, host) {
        (Annotations::Github, _) | (Annotations::Auto, Host::GitHub | Host::Gitea) => AnnotationStyle::Github,
        (Annotations::Azure, _) | (Annotations::Auto, Host::Azure) => AnnotationStyle::Azure,
        (Annotations::None | Annotations::Auto, _) => AnnotationStyle::None,
    }
}

/// The step outputs of the contract.
fn outputs(delivery: &Delivery<'_>) -> Vec<(&'static str, String)> {
    let counts = delivery.report.counts();
    let junit = |target: &&ReportTarget| target.format == ReportFormat::Junit && target.path.is_some();
    let junit = delivery
        .settings
        .reports
        .iter()
        .find(junit)
        .and_then(|target| target.path.as_ref());
    vec![
        ("verdict", delivery.report.verdict.to_string()),
        ("reviewed", counts.files.to_string()),
        ("failed", counts.failed.to_string()),
        ("errors", counts.errors.to_string()),
        ("warnings", counts.warnings.to_string()),
        (
            "junit",
            junit.map(|path| path.display().to_string()).unwrap_or_default(),
        ),
    ]
}

/// Appends to a file that the host names by a variable; nothing where it does not.
pub(super) fn append(run: &Run, variable: &str, content: impl FnOnce() -> String) -> Result<(), Failure> {
    let Some(path) = run.env.get(variable) else {
        return Ok(());
    };
    let file = File::options().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(content().as_bytes()))
        .map_err(|error| {
            let what = format!("{path} ({variable}) could not be written");
            Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(what))
        })
}

/// Appends step outputs where the host takes them.
pub(super) fn append_outputs(run: &Run, pairs: &[(&str, String)]) -> Result<(), Failure> {
    append(run, STEP_OUTPUT, || github::outputs(pairs, Uuid::new_v4()))
}

/// Where GitHub shows a file at a commit; only its own variables tell.
fn blob_url(run: &Run, host: Host, report: &Report) -> Option<String> {
    if host != Host::GitHub {
        return None;
    }
    let server = run.env.get("GITHUB_SERVER_URL")?;
    let repository = run.env.get("GITHUB_REPOSITORY")?;
    Some(format!(
        "{server}/{repository}/blob/{}",
        report.context.head.as_ref()?
    ))
}
