//! Writes the report files, by default to the paths where each CI host looks for them.

use super::Delivery;
use crate::atomic_file;
use crate::error::Failure;
use crate::job::ci::Host;
use crate::job::cli::ReportFlag;
use crate::job::policy;
use crate::report::{self, Format, ReportContext};
use crate::session::Run;
use crate::session::failure_conversion::reject_unwritten;
use crate::ui::Ui;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sluicegate_git::Repository;
use sluicegate_pipelines::findings::Report;
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes the requested reports, or if there are none, those that the host looks for. Passes the result of each
/// requested report to `check`. A default report that cannot be written is only a warning.
pub(super) fn write_reports(
    run: &Run,
    host: Host,
    delivery: &Delivery<'_>,
    context: &ReportContext,
    check: &mut impl FnMut(Result<(), Failure>),
) {
    let (report, requested_reports) = (delivery.report, &delivery.destinations.reports);
    write_in_parallel(run, requested_reports, report, context)
        .into_iter()
        .for_each(&mut *check);
    if !requested_reports.is_empty() {
        return;
    }
    let (mut places, mut targets) = (Vec::new(), Vec::new());
    let default_places = list_default_places(run, host);
    let checkout = open_checkout(run, &default_places);
    for (format, place) in default_places {
        match resolve_default_report_path(run.env.current_dir(), checkout.as_ref(), Path::new(&*place)) {
            Ok(path) => {
                places.push(place);
                let path = Some(path);
                targets.push(ReportFlag { format, path });
            }
            Err(reason) => run.ui.warn(&format!(
                "could not write the report {format}={place} for {host}: {reason}"
            )),
        }
    }
    for (place, result) in places
        .iter()
        .zip(write_in_parallel(run, &targets, report, context))
    {
        match result {
            Ok(()) => run.ui.say(&format!("wrote {place} for {host}")),
            Err(failure) => run.ui.warn(&failure.describe()),
        }
    }
}

/// Returns the default reports of the host that can be written.
pub(crate) fn list_default_reports(run: &Run, host: Host) -> Vec<ReportFlag> {
    let default_places = list_default_places(run, host);
    let checkout = open_checkout(run, &default_places);
    let mut reports = Vec::new();
    for (format, place) in default_places {
        if let Ok(path) =
            resolve_default_report_path(run.env.current_dir(), checkout.as_ref(), Path::new(&*place))
        {
            let path = Some(path);
            reports.push(ReportFlag { format, path });
        }
    }
    reports
}

/// Opens the repository that default reports must stay in. Without default reports, it is not needed, and opening it
/// would take as long as checking a few pipelines.
fn open_checkout<T>(run: &Run, default_reports: &[T]) -> Option<Repository> {
    if default_reports.is_empty() {
        return None;
    }
    run.find_repository()
}

/// Returns the path of a default report below the current directory. In a checkout, the directories and links on the
/// way belong to the change and must not lead outside.
fn resolve_default_report_path(
    current_dir: &Path,
    checkout: Option<&Repository>,
    place: &Path,
) -> Result<PathBuf, &'static str> {
    match checkout
        .map(Repository::root)
        .filter(|root| is_inside(current_dir, root))
    {
        Some(root) => policy::resolve_in_checkout(root, current_dir, place),
        None => Ok(current_dir.join(place)),
    }
}

/// Returns whether the directory is below `root`, with links followed.
fn is_inside(directory: &Path, root: &Path) -> bool {
    match (directory.canonicalize(), root.canonicalize()) {
        (Ok(directory), Ok(root)) => directory.starts_with(root),
        _ => false,
    }
}

/// Writes the report to each of these paths in parallel, which is faster than one after another. Returns the results in
/// the order of the paths.
fn write_in_parallel(
    run: &Run,
    targets: &[ReportFlag],
    report: &Report,
    context: &ReportContext,
) -> Vec<Result<(), Failure>> {
    let ui = run.ui;
    let write = |target| write_report(ui, target, report, context);
    targets.par_iter().map(write).collect()
}

/// Returns the default reports of a host: where it looks for them, or where its documentation puts them. GitHub needs
/// none, because it has annotations, the step summary and outputs.
fn list_default_places(run: &Run, host: Host) -> Vec<(Format, Cow<'static, str>)> {
    use Format::{Gitlab, Junit};
    let places: &[(Format, &'static str)] = match host {
        // `artifacts:reports` of the job must name both:
        // <https://docs.gitlab.com/ci/yaml/artifacts_reports/>.
        Host::GitLab => &[(Gitlab, "gl-code-quality-report.json"), (Junit, "junit.xml")],
        // The default of `testResultsFiles` is `**/TEST-*.xml`:
        // <https://learn.microsoft.com/azure/devops/pipelines/tasks/reference/publish-test-results-v2>.
        Host::Azure => &[(Junit, "TEST-sluicegate.xml")],
        // Found without any setting:
        // <https://support.atlassian.com/bitbucket-cloud/docs/test-reporting-in-pipelines/>.
        Host::Bitbucket => &[(Junit, "test-results/sluicegate.xml")],
        // For `junit 'build/reports/**/*.xml'`:
        // <https://www.jenkins.io/doc/pipeline/tour/tests-and-artifacts/>.
        Host::Jenkins => &[(Junit, "build/reports/sluicegate.xml")],
        // For `store_test_results: path: test-results`, which requires a directory for each suite:
        // <https://circleci.com/docs/guides/test/collect-test-data/>.
        Host::CircleCi => &[(Junit, "test-results/sluicegate/results.xml")],
        // For the test collector's or the annotation plugin's `tmp/junit-*.xml`:
        // <https://github.com/buildkite-plugins/junit-annotate-buildkite-plugin>. Artifacts of a build share one
        // namespace, so each of its parallel jobs has a separate file name.
        Host::Buildkite => {
            return vec![(
                Junit,
                buildkite_junit_path(run.env.get("BUILDKITE_JOB_ID")).into(),
            )];
        }
        Host::GitHub | Host::Gitea | Host::Unknown | Host::None => &[],
    };
    let places = places.iter().map(|(format, place)| (*format, (*place).into()));
    places.collect()
}

/// Returns the path of the report in a Buildkite job. It contains the job's id, if that is safe in a file name.
fn buildkite_junit_path(job: Option<&str>) -> String {
    let is_plain = |job: &&str| job.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match job.filter(is_plain) {
        Some(job) => format!("tmp/junit-sluicegate-{job}.xml"),
        None => "tmp/junit-sluicegate.xml".to_owned(),
    }
}

/// Returns where the user finds the reports, requested or default, for display. Reports on standard output are omitted.
pub(super) fn describe_report_places(run: &Run, host: Host, delivery: &Delivery<'_>) -> Vec<String> {
    let requested_paths = delivery
        .destinations
        .reports
        .iter()
        .filter_map(|target| target.path.as_ref());
    let requested_paths: Vec<String> = requested_paths.map(|path| path.display().to_string()).collect();
    if !delivery.destinations.reports.is_empty() {
        return requested_paths;
    }
    let default_paths = list_default_places(run, host)
        .into_iter()
        .map(|(_, place)| place.into_owned());
    let summary_place = matches!(host, Host::GitHub | Host::Gitea).then(|| "the step summary".to_owned());
    default_paths.chain(summary_place).collect()
}

/// Returns where the JUnit report is written, or `None` if there is none or it goes to standard output.
pub(super) fn find_junit_path(run: &Run, host: Host, delivery: &Delivery<'_>) -> Option<String> {
    let mut junit_targets = delivery
        .destinations
        .reports
        .iter()
        .filter(|target| target.format.is_junit());
    if delivery.destinations.reports.is_empty() {
        let mut default_places = list_default_places(run, host).into_iter();
        return default_places.find_map(|(format, place)| format.is_junit().then(|| place.into_owned()));
    }
    junit_targets.find_map(|target| Some(target.path.as_ref()?.display().to_string()))
}

/// Writes one report to its file, or to standard output if it has none.
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
            "the SARIF report omits the {omitted_count} least severe findings (GitHub's limit); the JSON report has all"
        ));
    }
    let render = |writer: &mut dyn Write| report::render(format, report, context, writer);
    let Some(path) = &target.path else {
        return ui.print_result_with(render);
    };
    atomic_file::write_file_with(path, render)
        .map_err(reject_unwritten(&format!("the report {format}="), path))
}
