//! The passed checks that a report omits, because hosts reject a file that is too large.

use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{Report, RuleResult, Status};

/// Maximum size of the cases of passed checks, in bytes: GitLab rejects a JUnit report of more than 30 MB.
const MAX_PASSED_BYTES: usize = 20 * 1024 * 1024;

/// Approximate size of a case without its names, in bytes.
const CASE_BYTES: usize = 100;

/// Returns the number of passed checks without a case: all of them if their cases would be too large, otherwise 0.
pub(super) fn count_omitted_cases(report: &Report) -> usize {
    let (mut case_count, mut size) = (0, 0);
    for file in &report.files {
        for result in file.results.iter().filter(|result| is_passed(result)) {
            case_count += 1;
            // The path is in the name, the class and the file.
            size += CASE_BYTES + 3 * file.path.len() + result.rule.len();
        }
    }
    if size > MAX_PASSED_BYTES { case_count } else { 0 }
}

pub(super) fn is_passed(result: &RuleResult) -> bool {
    result.status == Status::Passed
}

/// Returns a note about the omitted cases; `None` if there are none.
pub(super) fn describe_omitted_cases(omitted_count: usize) -> Option<String> {
    (omitted_count > 0).then(|| {
        format!(
            "{} omitted, because CI hosts reject a larger JUnit report: a JSON report would list them",
            format_count(omitted_count, "passed check")
        )
    })
}
