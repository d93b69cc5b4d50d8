//! Reads JSON reports of earlier runs. A verdict that the results of the report contradict is rejected.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::{Positions, decide_verdict, find_report_causes};
use crate::session::Session;
use sluicegate_base::input;
use sluicegate_base::text::format_path;
use sluicegate_git::Repository;
use sluicegate_pipelines::findings::{FailOn, Origin, Report, Verdict};
use sluicegate_reports::json;
use std::io;
use std::path::Path;

/// Maximum size of a JSON report, in bytes.
pub(crate) const MAX_REPORT_SIZE: u64 = 512 * 1024 * 1024;

/// Reads a report from a file, or from standard input if the file is `-`.
pub(crate) fn read_report(session: &Session, file: &Path) -> Result<Report, Failure> {
    let text = if is_standard_input(file) {
        input::read_bytes(io::stdin().lock(), MAX_REPORT_SIZE)
            .map_err(|error| Failure::usage(format!("could not read standard input: {error}")))?
    } else {
        session.read_user_file(&session.env.current_dir().join(file), MAX_REPORT_SIZE)?
    };
    parse_report(&text, &format_path(file))
}

/// Fails if more than one of these files is standard input, which can be read only once.
pub(crate) fn reject_repeated_standard_input<'f>(
    files: impl Iterator<Item = &'f Path>,
) -> Result<(), Failure> {
    if files.filter(|file| is_standard_input(file)).count() > 1 {
        return Err(Failure::usage("standard input (`-`) can be read only once")
            .with_hint("pass `-` for one report, and the other reports as files"));
    }
    Ok(())
}

fn is_standard_input(file: &Path) -> bool {
    file == Path::new("-")
}

/// Parses a report, and fails if its verdict contradicts its results. `report_name` names the report in errors.
pub(crate) fn parse_report(text: &[u8], report_name: &str) -> Result<Report, Failure> {
    json::parse_json_report(text, find_contradiction).map_err(|error| {
        let context = format!("could not read the report {report_name}");
        Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context))
    })
}

/// Returns a description if the results contradict the verdict. They do if a result requires a worse verdict. With
/// `--fail-on never`, they also do if the verdict is failed without a cause. In other cases, a verdict that is worse
/// than its causes is accepted: it may come from the platform, and nothing passes wrongly.
fn find_contradiction(report: &Report) -> Option<String> {
    let (fail_on, causes) = (report.fail_on(), find_report_causes(report));
    let contradiction = match causes.iter().find(|cause| cause.verdict() > report.verdict) {
        Some(cause) => cause.reason(),
        None if report.verdict != Verdict::Failed || fail_on != FailOn::Never => return None,
        None if decide_verdict(&causes) == Verdict::Failed => return None,
        None => "no result fails the gate",
    };
    Some(format!(
        "the report's verdict is `{}`, but {contradiction} (`--fail-on {fail_on}`)",
        report.verdict
    ))
}

/// Adds to each finding the component or variable that it is about, unless the report contains it: reports of older
/// versions of this program do not. Also adds the identity of a finding about a missing part, which no report contains.
/// Reads the files of the report's commit. Does nothing if the clone lacks that commit or cannot read it.
pub(crate) fn add_finding_subjects(repo: &Repository, report: &mut Report) {
    let id = report.context.head.as_deref();
    let Some(commit) = id.and_then(|id| repo.find_commit_with_id(id).ok().flatten()) else {
        return;
    };
    let mut positions = Positions::new(repo, &commit);
    let files_with_findings = report.files.iter().filter(|file| !file.findings().is_empty());
    positions.index_blobs(&files_with_findings.map(|file| file.path.as_str()).collect());
    for file in &mut report.files {
        positions.read_pipelines(std::iter::once(file.path.as_str()));
        // The results of team rules already contain the subject of each violation.
        let results = file
            .results
            .iter_mut()
            .filter(|result| result.origin != Origin::Team);
        for result in results {
            for violation in &mut result.violations {
                if violation.about.is_some() {
                    continue;
                }
                // The subject is read from the text of the violation, as in a response of the platform.
                let text = violation.text.clone();
                let located_violation =
                    positions.build_violation(&file.path, &result.rule, &result.status, text);
                violation.about = located_violation.about;
                violation.about_kind = located_violation.about_kind;
                violation.is_subject_guessed = located_violation.is_subject_guessed;
            }
            positions.identify_missing_part(&file.path, &result.rule, &result.status, &mut result.violations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_pipelines::findings::{Severity, Status};
    use sluicegate_reports::ReportContext;
    use sluicegate_test_support::sample_report as sample;

    #[test]
    fn report_whose_results_contradict_its_verdict_is_rejected() {
        use FailOn::{Error, Never, Warn};
        use Verdict::{Failed, Passed, Undecided};
        let error = || sample::result("r", Status::Failed(Severity::Error), vec![]);
        let warning = || sample::result("r", Status::Failed(Severity::Warning), vec![]);
        let unevaluated = || sample::result("r", Status::Error(None), vec![]);
        let read_with = |verdict, fail_on, result| {
            let mut report = sample::empty(verdict);
            report.context.fail_on = fail_on;
            report.files = vec![sample::file("a", vec![result])];
            json::parse_json_report(
                &sample::write_to_vec(|out| json::render(&report, &ReportContext::default(), out)),
                find_contradiction,
            )
            .map(|report| report.verdict)
            .ok()
        };
        for verdict in [Passed, Undecided] {
            assert_eq!(read_with(verdict, None, error()), None);
            assert_eq!(read_with(verdict, Some(Error), unevaluated()), None);
            assert_eq!(read_with(verdict, Some(Warn), warning()), None);
            assert_eq!(read_with(verdict, Some(Error), warning()), Some(verdict));
            assert_eq!(read_with(verdict, Some(Never), error()), Some(verdict));
        }
        // The platform's status may be the only cause of a failure.
        assert_eq!(read_with(Failed, Some(Error), warning()), Some(Failed));
        assert_eq!(read_with(Failed, Some(Never), error()), None);
        let mut open = sample::report();
        open.files.clear();
        open.verdict = Passed;
        let refused = json::parse_json_report(
            &sample::write_to_vec(|out| json::render(&open, &ReportContext::default(), out)),
            find_contradiction,
        )
        .unwrap_err()
        .to_string();
        insta::assert_snapshot!(refused, @"not a valid report: the report's verdict is `passed`, but some files were not reviewed (`--fail-on error`)");
    }
}
