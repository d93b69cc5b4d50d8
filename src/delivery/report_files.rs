//! Writes the report files, by default to the paths where each CI host looks for them.

use super::Delivery;
use crate::atomic_file;
use crate::error::Failure;
use crate::job::ci::Host;
use crate::job::cli::ReportFlag;
use crate::job::policy;
use crate::session::Session;
use crate::session::failure_conversion::to_write_failure;
use crate::ui::Ui;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sluicegate_git::{GitError, Repository};
use sluicegate_pipelines::findings::Report;
use sluicegate_reports::{Format, ReportContext};
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The reports that a run wrote to files.
#[derive(Debug, Default)]
pub(super) struct WrittenReports {
    /// The path of the first JUnit report.
    pub junit_path: Option<String>,
    /// The locations where the user finds the reports, for display.
    pub locations: Vec<String>,
}

impl WrittenReports {
    /// Adds a report that was written to this path.
    fn add(&mut self, format: Format, displayed_path: String) {
        if format.is_junit() && self.junit_path.is_none() {
            self.junit_path = Some(displayed_path.clone());
        }
        self.locations.push(displayed_path);
    }
}

/// Writes the requested reports, and passes the result of each to `record_result`. If none is requested, writes the
/// reports that the host looks for. Returns the reports that were written to files.
pub(super) fn write_reports(
    session: &Session,
    host: Host,
    delivery: &Delivery<'_>,
    context: &ReportContext,
    record_result: &mut impl FnMut(Result<(), Failure>),
) -> WrittenReports {
    let (report, requested_reports) = (delivery.report, &delivery.destinations.reports);
    if requested_reports.is_empty() {
        return write_default_reports(session, host, report, context);
    }
    let mut written_reports = WrittenReports::default();
    let results = write_reports_in_parallel(session, requested_reports, report, context);
    for (target, result) in requested_reports.iter().zip(results) {
        if let (Ok(()), Some(path)) = (&result, &target.path) {
            written_reports.add(target.format, path.display().to_string());
        }
        record_result(result);
    }
    written_reports
}

/// Writes the reports that the host looks for, and prints the path of each. If such a report cannot be written, this is
/// only a warning, because nobody requested it. Returns the reports that were written; the step summary is one of their
/// locations.
fn write_default_reports(
    session: &Session,
    host: Host,
    report: &Report,
    context: &ReportContext,
) -> WrittenReports {
    let (mut displayed_paths, mut targets) = (Vec::new(), Vec::new());
    for default_report in resolve_default_reports(session, host) {
        let displayed_path = default_report.describe_path(session.env.current_dir());
        let (format, relative_path) = (default_report.format, default_report.relative_path);
        match default_report.destination {
            Ok(path) => {
                displayed_paths.push(displayed_path);
                let path = Some(path);
                targets.push(ReportFlag { format, path });
            }
            Err(reason) => session.ui.warn(&format!(
                "could not write the report {format}={relative_path} for {host}: {reason}"
            )),
        }
    }
    let mut written_reports = WrittenReports::default();
    let results = write_reports_in_parallel(session, &targets, report, context);
    for ((displayed_path, target), result) in displayed_paths.into_iter().zip(&targets).zip(results) {
        match result {
            Ok(()) => {
                session.ui.say(&format!("wrote {displayed_path} for {host}"));
                written_reports.add(target.format, displayed_path);
            }
            Err(failure) => session.ui.warn_of_failure("", &failure),
        }
    }
    if session.has_step_summary() {
        written_reports.locations.push("the step summary".to_owned());
    }
    written_reports
}

/// Returns the reports that the host looks for, with their paths. A report whose path leads outside of the checkout is
/// omitted.
pub(crate) fn list_default_reports(session: &Session, host: Host) -> Vec<ReportFlag> {
    let mut reports = Vec::new();
    for default_report in resolve_default_reports(session, host) {
        if let Ok(path) = default_report.destination {
            reports.push(ReportFlag {
                format: default_report.format,
                path: Some(path),
            });
        }
    }
    reports
}

/// Returns whether a report that the host looks for was written to this path.
pub(crate) fn is_default_report(session: &Session, host: Host, path: &Path) -> bool {
    let full_path = path.canonicalize().ok();
    full_path.is_some()
        && list_default_reports(session, host).into_iter().any(|report| {
            let report_path = report.path.and_then(|path| path.canonicalize().ok());
            report_path == full_path
        })
}

/// A report that the host looks for.
struct DefaultReport {
    format: Format,
    /// The path where the host looks for the report.
    relative_path: Cow<'static, str>,
    /// The full path, or the reason why the run must not write there.
    destination: Result<PathBuf, &'static str>,
}

impl DefaultReport {
    /// Returns the path for display: the complete path, unless the host looks for it below the current directory.
    fn describe_path(&self, current_dir: &Path) -> String {
        match &self.destination {
            Ok(path) if *path != current_dir.join(&*self.relative_path) => path.display().to_string(),
            _ => self.relative_path.to_string(),
        }
    }
}

/// Returns the reports that the host looks for, and whether the run may write them.
fn resolve_default_reports(session: &Session, host: Host) -> Vec<DefaultReport> {
    let default_paths = list_default_paths(session, host);
    let checkout = open_checkout(session, &default_paths);
    let reads_current_dir = host == Host::Jenkins;
    let mut reports = Vec::new();
    for (format, relative_path) in default_paths {
        let path = Path::new(&*relative_path);
        let destination = match &checkout {
            Ok(checkout) => resolve_default_report_path(
                session.env.current_dir(),
                checkout.as_ref(),
                path,
                reads_current_dir,
            ),
            Err(_) => Err("the repository in which it must stay cannot be opened"),
        };
        reports.push(DefaultReport {
            format,
            relative_path,
            destination,
        });
    }
    reports
}

/// Opens the repository in which default reports must stay. Without default reports, returns `None`, because opening it
/// would take as long as checking a few pipelines.
fn open_checkout<T>(session: &Session, default_reports: &[T]) -> Result<Option<Repository>, GitError> {
    if default_reports.is_empty() {
        return Ok(None);
    }
    session.find_repository()
}

/// Returns the path of a default report: below the root of the checkout, where the host looks for it, even if the job
/// runs the program in a directory of the checkout. With `reads_current_dir`, the host looks for it below the current
/// directory. The change controls the directories and links on this path, so it must not lead outside of the checkout.
/// Without a checkout, the path is below the current directory, and every path is accepted.
fn resolve_default_report_path(
    current_dir: &Path,
    checkout: Option<&Repository>,
    relative_path: &Path,
    reads_current_dir: bool,
) -> Result<PathBuf, &'static str> {
    match checkout
        .map(Repository::root)
        .filter(|root| is_inside(current_dir, root))
    {
        Some(root) if reads_current_dir || is_inside(root, current_dir) => {
            policy::resolve_in_checkout(root, current_dir, relative_path)
        }
        Some(root) => policy::resolve_in_checkout(root, root, relative_path),
        None => Ok(current_dir.join(relative_path)),
    }
}

/// Returns whether the directory is `root` or below it, with links followed; false if one of them cannot be read.
fn is_inside(directory: &Path, root: &Path) -> bool {
    match (directory.canonicalize(), root.canonicalize()) {
        (Ok(directory), Ok(root)) => directory.starts_with(root),
        _ => false,
    }
}

/// Writes the report in each of these formats in parallel, to save time. Returns the results in the order of `targets`.
fn write_reports_in_parallel(
    session: &Session,
    targets: &[ReportFlag],
    report: &Report,
    context: &ReportContext,
) -> Vec<Result<(), Failure>> {
    let ui = session.ui;
    let write = |target| write_report(ui, target, report, context);
    targets.par_iter().map(write).collect()
}

/// Returns the formats and paths of the reports that a host looks for, or that its documentation recommends. GitHub
/// needs no report, because it has annotations, the step summary and outputs.
fn list_default_paths(session: &Session, host: Host) -> Vec<(Format, Cow<'static, str>)> {
    use Format::{Gitlab, Junit};
    let paths: &[(Format, &'static str)] = match host {
        // `artifacts:reports` of the job must name both:
        // <https://docs.gitlab.com/ci/yaml/artifacts_reports/>.
        Host::GitLab => &[(Gitlab, "gl-code-quality-report.json"), (Junit, "junit.xml")],
        // The default of `testResultsFiles` is `**/TEST-*.xml`:
        // <https://learn.microsoft.com/azure/devops/pipelines/tasks/reference/publish-test-results-v2>.
        Host::Azure => &[(Junit, "TEST-sluicegate.xml")],
        // Found without any setting:
        // <https://support.atlassian.com/bitbucket-cloud/docs/test-reporting-in-pipelines/>.
        Host::Bitbucket => &[(Junit, "test-results/sluicegate.xml")],
        // For `junit 'build/reports/sluicegate.xml'`:
        // <https://www.jenkins.io/doc/pipeline/tour/tests-and-artifacts/>.
        Host::Jenkins => &[(Junit, "build/reports/sluicegate.xml")],
        // For `store_test_results` with this path:
        // <https://circleci.com/docs/guides/test/collect-test-data/>.
        Host::CircleCi => &[(Junit, "test-results/sluicegate/results.xml")],
        // For the test collector's or the annotation plugin's `tmp/junit-*.xml`:
        // <https://github.com/buildkite-plugins/junit-annotate-buildkite-plugin>. Artifacts of a build share one
        // namespace, so each of its parallel jobs has a separate file name.
        Host::Buildkite => {
            return vec![(
                Junit,
                buildkite_junit_path(session.env.get("BUILDKITE_JOB_ID")).into(),
            )];
        }
        Host::GitHub | Host::Gitea | Host::Unknown | Host::None => &[],
    };
    paths
        .iter()
        .map(|(format, path)| (*format, (*path).into()))
        .collect()
}

/// Returns the path of the JUnit report in a Buildkite job. It contains the job's id, if the id is safe in a file name.
fn buildkite_junit_path(job: Option<&str>) -> String {
    let is_plain = |job: &&str| job.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match job.filter(is_plain) {
        Some(job) => format!("tmp/junit-sluicegate-{job}.xml"),
        None => "tmp/junit-sluicegate.xml".to_owned(),
    }
}

/// Writes one report to its file, or to standard output if it has none. Warns if the format omits findings.
fn write_report(
    ui: Ui,
    target: &ReportFlag,
    report: &Report,
    context: &ReportContext,
) -> Result<(), Failure> {
    let format = target.format;
    let omitted_count = format.count_omitted_findings(report, context);
    if omitted_count > 0 {
        ui.warn(&format!(
            "the SARIF report omits the {omitted_count} least severe findings (GitHub's limit); a JSON report \
             (--report json=FILE) has all findings"
        ));
    }
    let render = |writer: &mut dyn Write| sluicegate_reports::render(format, report, context, writer);
    let Some(path) = &target.path else {
        return ui.print_result_with(render);
    };
    atomic_file::write_file_with(path, render)
        .map_err(to_write_failure(&format!("the report {format}="), path))
}
