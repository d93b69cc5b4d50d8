//! Creates the suites of a review: one for the entire run, and one for each file.

use super::omitted_cases::is_passed;
use super::{
    CaseNames, CasePlace, CaseWithLine, PathLabels, RUN_SUITE, ReportContext, Suite, UNREVIEWED_CASE,
    build_error_case, build_file_cases, build_skipped_case, build_suite, to_offset_time,
};
use crate::unreviewed_files::UnreviewedFileStates;
use crate::view::FindingOrder;
use sluicegate_pipelines::findings::{ExcludedFile, FileResults, Report, UnreviewedFile};
use std::collections::HashMap;

/// The thing that a suite is about.
enum SuiteSubject<'r> {
    /// The entire run, with its cases.
    Run(Vec<CaseWithLine>),
    /// A file with results; one that was only checked locally is unreviewed, too.
    ReviewedFile(&'r FileResults, Option<&'r UnreviewedFile>),
    ExcludedFile(&'r ExcludedFile),
    UnreviewedFile(&'r UnreviewedFile),
}

/// Returns the suites: first the one about the entire run, if it has cases, then one for each reviewed, excluded and
/// unreviewed file. A file that was only checked locally has one suite, so that its cases keep their names. Each suite
/// is created only when it is written, because all together use more memory than the report. If `omitted_count` is not
/// 0, passed checks have no cases.
pub(super) fn build_suites<'r>(
    report: &'r Report,
    context: &'r ReportContext,
    labels: &'r PathLabels<'r>,
    run_cases: Vec<CaseWithLine>,
    omitted_count: usize,
) -> impl Iterator<Item = Suite> {
    let order = FindingOrder::from_context(report, context);
    let mut subjects = Vec::new();
    if !run_cases.is_empty() {
        subjects.push(SuiteSubject::Run(run_cases));
    }
    let omits_passed_checks = omitted_count > 0;
    let mut reviewed_files = order.sort_files(report);
    if omits_passed_checks {
        reviewed_files.retain(|file| !file.results.iter().all(is_passed));
    }
    let unreviewed_files = report.unreviewed_files.iter();
    let mut unreviewed_by_path: HashMap<&str, &UnreviewedFile> =
        unreviewed_files.map(|file| (file.path.as_str(), file)).collect();
    subjects.extend(
        reviewed_files
            .into_iter()
            .map(|file| SuiteSubject::ReviewedFile(file, unreviewed_by_path.remove(file.path.as_str()))),
    );
    subjects.extend(report.excluded_files.iter().map(SuiteSubject::ExcludedFile));
    let remaining_files = report
        .unreviewed_files
        .iter()
        .filter(|file| unreviewed_by_path.contains_key(file.path.as_str()));
    subjects.extend(remaining_files.map(SuiteSubject::UnreviewedFile));
    let mut names = CaseNames::default();
    let unreviewed_states = UnreviewedFileStates::from_report(report);
    let started_at = to_offset_time(report.started_at);
    subjects.into_iter().map(move |subject| {
        let (name, cases) = match subject {
            SuiteSubject::Run(cases) => (RUN_SUITE, cases),
            SuiteSubject::ReviewedFile(file, unreviewed_file) => {
                let label = labels.label(&file.path);
                let mut results = order.sort_results(file);
                results.retain(|result| !(omits_passed_checks && is_passed(result)));
                let mut cases = build_file_cases(file, label, &results, report.fail_on());
                cases.extend(
                    unreviewed_file.map(|file| build_unreviewed_file_case(file, &unreviewed_states, labels)),
                );
                (file.path.as_str(), cases)
            }
            SuiteSubject::ExcludedFile(file) => {
                (file.path.as_str(), vec![build_excluded_file_case(file, labels)])
            }
            SuiteSubject::UnreviewedFile(file) => (
                file.path.as_str(),
                vec![build_unreviewed_file_case(file, &unreviewed_states, labels)],
            ),
        };
        build_suite(&names.make_unique(name), started_at, cases)
    })
}

/// Creates the only case of an excluded file, which is skipped.
fn build_excluded_file_case(file: &ExcludedFile, labels: &PathLabels<'_>) -> CaseWithLine {
    let unknown_line = None;
    let place = CasePlace::new(&file.path, labels.label(&file.path), unknown_line);
    let name = place.name_case("excluded");
    place.build_case(build_skipped_case(&name, "excluded", &file.reason))
}

/// Creates the case that a file was not reviewed, which is an error.
fn build_unreviewed_file_case(
    file: &UnreviewedFile,
    states: &UnreviewedFileStates<'_>,
    labels: &PathLabels<'_>,
) -> CaseWithLine {
    let unknown_line = None;
    let place = CasePlace::new(&file.path, labels.label(&file.path), unknown_line);
    let name = place.name_case(UNREVIEWED_CASE);
    let reason = states.describe_with_reason(file);
    place.build_case(build_error_case(&name, UNREVIEWED_CASE, &reason))
}
