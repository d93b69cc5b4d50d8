//! Writes the report files, by default to the paths where each CI host looks for them.

use super::Delivery;
use crate::atomic_file;
use crate::error::Failure;
use crate::job::ci::Host;
use crate::job::cli::ReportFlag;
use crate::job::policy;
use crate::report::{self, About, Format};
use crate::session::Run;
use crate::session::failure_conversion::reject_unwritten;
use crate::ui::Ui;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use sluicegate_git::Repository;
use sluicegate_pipelines::findings::Report;
use std::borrow::Cow;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes the requested reports, or the default reports of the host if none was requested. A failure to write a default
/// report is only a warning.
pub(super) fn write_reports(
    run: &Run,
    host: Host,
    delivery: &Delivery<'_>,
    about: &About,
    check: &mut impl FnMut(Result<(), Failure>),
) {
    let (report, asked) = (delivery.report, &delivery.to.reports);
    written(run, asked, report, about)
        .into_iter()
        .for_each(&mut *check);
    if !asked.is_empty() {
        return;
    }
    let (mut places, mut targets) = (Vec::new(), Vec::new());
    let usual_reports = usual(run, host);
    let checkout = checkout_of(run, &usual_reports);
    for (format, place) in usual_reports {
        match in_sight(run.env.current_dir(), checkout.as_ref(), Path::new(&*place)) {
            Ok(path) => {
                places.push(place);
                let path = Some(path);
                targets.push(ReportFlag { format, path });
            }
            Err(why) => run.ui.warn(&format!(
                "could not write the report {format}={place} for {host}: {why}"
            )),
        }
    }
    for (place, written) in places.iter().zip(written(run, &targets, report, about)) {
        match written {
            Ok(()) => run.ui.say(&format!("wrote {place} for {host}")),
            Err(failure) => run.ui.warn(&failure.describe()),
        }
    }
}

/// Returns the default reports of the host that can be written.
pub(crate) fn default_reports(run: &Run, host: Host) -> Vec<ReportFlag> {
    let usual_reports = usual(run, host);
    let checkout = checkout_of(run, &usual_reports);
    let mut reports = Vec::new();
    for (format, place) in usual_reports {
        if let Ok(path) = in_sight(run.env.current_dir(), checkout.as_ref(), Path::new(&*place)) {
            let path = Some(path);
            reports.push(ReportFlag { format, path });
        }
    }
    reports
}

/// Returns the repository that default reports must stay in. It is opened only if there are any, which costs as much as
/// the check of a few pipelines.
fn checkout_of<T>(run: &Run, usual_reports: &[T]) -> Option<Repository> {
    if usual_reports.is_empty() {
        return None;
    }
    run.repository()
}

/// Returns the path of a default report below the current directory. In a checkout, the directories and links on the
/// way belong to the change and must not lead outside.
fn in_sight(here: &Path, checkout: Option<&Repository>, place: &Path) -> Result<PathBuf, &'static str> {
    let inside = |root: &Path| {
        let real = here.canonicalize();
        real.is_ok_and(|real| root.canonicalize().is_ok_and(|root| real.starts_with(root)))
    };
    match checkout.map(Repository::root).filter(|root| inside(root)) {
        Some(root) => policy::resolve_in_checkout(root, here, place),
        None => Ok(here.join(place)),
    }
}

/// Writes the report to each of these paths in parallel, which is faster than one after another.
fn written(run: &Run, targets: &[ReportFlag], report: &Report, about: &About) -> Vec<Result<(), Failure>> {
    let ui = run.ui;
    let write = |target| write_report(ui, target, report, about);
    targets.par_iter().map(write).collect()
}

/// Returns the default reports of a host: where it looks for them, or where its documentation puts them. GitHub needs
/// none, as it has annotations, the step summary and outputs.
fn usual(run: &Run, host: Host) -> Vec<(Format, Cow<'static, str>)> {
    use Format::{Gitlab, Junit};
    let fixed: &[(Format, &'static str)] = match host {
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
        Host::Buildkite => return vec![(Junit, buildkite_junit(run.env.get("BUILDKITE_JOB_ID")).into())],
        Host::GitHub | Host::Gitea | Host::Unknown | Host::None => &[],
    };
    let places = fixed.iter().map(|(format, place)| (*format, (*place).into()));
    places.collect()
}

fn buildkite_junit(job: Option<&str>) -> String {
    let is_plain = |job: &&str| job.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    match job.filter(is_plain) {
        Some(job) => format!("tmp/junit-sluicegate-{job}.xml"),
        None => "tmp/junit-sluicegate.xml".to_owned(),
    }
}

/// Returns the paths of the reports, requested or default, for display.
pub(super) fn places(run: &Run, host: Host, delivery: &Delivery<'_>) -> Vec<String> {
    let asked = delivery
        .to
        .reports
        .iter()
        .filter_map(|target| target.path.as_ref());
    let asked: Vec<String> = asked.map(|path| path.display().to_string()).collect();
    if !delivery.to.reports.is_empty() {
        return asked;
    }
    let usual = usual(run, host).into_iter().map(|(_, place)| place.into_owned());
    let page = matches!(host, Host::GitHub | Host::Gitea).then(|| "the step summary".to_owned());
    usual.chain(page).collect()
}

/// Returns the path of the JUnit report, requested or default.
pub(super) fn junit_path(run: &Run, host: Host, delivery: &Delivery<'_>) -> Option<String> {
    let mut asked = delivery
        .to
        .reports
        .iter()
        .filter(|target| target.format.is_junit());
    if delivery.to.reports.is_empty() {
        let mut usual = usual(run, host).into_iter();
        return usual.find_map(|(format, place)| format.is_junit().then(|| place.into_owned()));
    }
    asked.find_map(|target| Some(target.path.as_ref()?.display().to_string()))
}

fn write_report(ui: Ui, target: &ReportFlag, report: &Report, about: &About) -> Result<(), Failure> {
    let format = target.format;
    let cut = format.omitted_count(report, about);
    if cut > 0 {
        ui.warn(&format!(
            "the SARIF report omits the {cut} least severe findings (GitHub's limit); the JSON report has all"
        ));
    }
    let render = |out: &mut dyn Write| report::render(format, report, about, out);
    let Some(path) = &target.path else {
        return ui.print_result_with(render);
    };
    atomic_file::write_file_with(path, render)
        .map_err(reject_unwritten(&format!("the report {format}="), path))
}
