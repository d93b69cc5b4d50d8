//! Formats a report for Bitbucket's Code Insights: a report on the commit, and annotations in the pull request's diff.
//!
//! <https://developer.atlassian.com/cloud/bitbucket/rest/api-group-reports/>

use super::annotation::{self, Annotation, Level};
use super::remark::verdict_remark;
use super::wording::{headline, sentence, unanswered};
use super::{About, shorten};
use serde_json::{Value, json};
use sluicegate_pipelines::findings::{Fingerprint, Report, Verdict};

/// Prefix of the ids of annotations.
const ID: &str = "sluicegate";

/// Maximum number of annotations of a report.
const MOST: usize = 1_000;

/// Maximum number of annotations in a request.
const PER_REQUEST: usize = 100;

/// Maximum length of the summary of an annotation, in UTF-16 code units.
const SUMMARY_LIMIT: usize = 450;

/// Maximum length of the details of a report, in UTF-16 code units.
const DETAILS_LIMIT: usize = 2_000;

/// Returns the body of the PUT request for the report. An undecided review is reported as FAILED.
pub(crate) fn report(report: &Report) -> Value {
    let (counts, totals) = (report.count_results(), report.totals());
    let number = |title: &str, value: usize| json!({ "title": title, "type": "NUMBER", "value": value });
    let mut details = headline(report);
    let causes = unanswered(report, &[]).into_iter();
    let causes = causes.map(|(cause, _)| sentence(&cause));
    for told in causes.chain(report.notes.iter().cloned()) {
        details.push(' ');
        details.push_str(&told);
    }
    json!({
        "title": "Pipeline review",
        "details": shorten::to_chars(&details, DETAILS_LIMIT),
        "report_type": "BUG",
        "reporter": "sluicegate",
        "result": if report.verdict == Verdict::Passed { "PASSED" } else { "FAILED" },
        "data": [
            number("Errors", totals.errors),
            number("Warnings", totals.warnings),
            number("Not evaluated", totals.not_evaluated),
            number("Checks passed", counts.passed),
            number("Files", counts.files),
            number("Not reviewed", counts.unreviewed),
        ],
    })
}

/// Returns the bodies of the POST requests for the annotations: the most important first, at most 1,000, 100 per
/// request.
pub(crate) fn annotations(report: &Report, about: &About) -> Vec<Value> {
    let all = annotation::of_files(report, about);
    // Bitbucket shows only annotations of a file, so the reason for the verdict needs one.
    let is_explained = all.iter().any(|annotation| annotation.level == Level::Error);
    let verdict = verdict_remark(report, about).filter(|_| !is_explained);
    let verdict = verdict.map(|remark| Annotation {
        level: Level::Error,
        place: Some((remark.path.to_owned(), 1)),
        title: "review".to_owned(),
        message: remark.text,
    });
    let entries: Vec<Value> = verdict
        .iter()
        .chain(&all)
        .take(MOST)
        .zip(0..)
        .map(|(annotation, number)| entry(annotation, number))
        .collect();
    entries
        .chunks(PER_REQUEST)
        .map(|chunk| Value::Array(chunk.to_vec()))
        .collect()
}

fn entry(annotation: &Annotation, number: u64) -> Value {
    let (kind, severity) = match annotation.level {
        Level::Error => ("BUG", "HIGH"),
        Level::Warning => ("CODE_SMELL", "MEDIUM"),
        Level::Notice => ("CODE_SMELL", "LOW"),
    };
    let (path, line) = annotation
        .place
        .as_ref()
        .map_or(("", 1), |(path, line)| (path, (*line).max(1)));
    let summary = format!("{}: {}", annotation.title, annotation.message);
    let id = Fingerprint::new(&[&annotation.title, path, &annotation.message], number);
    json!({
        "external_id": format!("{ID}-{id}"),
        "annotation_type": kind,
        "severity": severity,
        "summary": shorten::to_chars(&summary, SUMMARY_LIMIT),
        "path": path,
        "line": line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use proptest::prelude::*;
    use sluicegate_pipelines::findings::{Severity, Status};

    #[test]
    fn the_report_has_verdict_and_numbers() {
        let body = report(&sample::report());
        assert_eq!(body["result"], "FAILED");
        assert_eq!(
            body["data"][0],
            json!({ "title": "Errors", "type": "NUMBER", "value": 2 })
        );
        assert_eq!(report(&sample::empty(Verdict::Undecided))["result"], "FAILED");
        assert_eq!(report(&sample::empty(Verdict::Passed))["result"], "PASSED");
    }

    #[test]
    fn annotations_keep_to_the_limits() {
        let mut report = sample::empty(Verdict::Failed);
        let many = (0..1_200)
            .map(|n| sample::violation(&"é".repeat(600), Some(n)))
            .collect();
        report.files = vec![sample::file(
            "a",
            vec![sample::result("r", Status::Failed(Severity::Error), many)],
        )];
        let requests = annotations(&report, &About::default());
        assert_eq!(requests.len(), 10);
        let all: Vec<&Value> = requests
            .iter()
            .flat_map(|request| request.as_array().unwrap())
            .collect();
        assert_eq!(all.len(), 1_000);
        let ids: std::collections::HashSet<&str> =
            all.iter().map(|e| e["external_id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), 1_000);
        assert!(
            all.iter()
                .all(|e| e["summary"].as_str().unwrap().chars().count() == 450)
        );
        assert!(all.iter().all(|e| e["line"].as_u64().unwrap() >= 1));
        assert_eq!(all[1]["severity"], "HIGH");
    }

    proptest! {
        #[test]
        fn any_text_is_sent_whole_or_cut_at_the_limit(raw in "(\\PC|[\\x00-\\x1f]){0,500}") {
            let mut report = sample::empty(Verdict::Failed);
            let failed = Status::Failed(Severity::Error);
            let result = sample::result("r", failed, vec![sample::violation(&raw, Some(0))]);
            report.files = vec![sample::file("a", vec![result])];
            let sent = annotations(&report, &About::default());
            let read: Value = serde_json::from_str(&sent[0].to_string()).unwrap();
            let summary = read[0]["summary"].as_str().unwrap();
            let whole = format!("r: {}", report.findings()[0].message());
            let kept = summary.strip_suffix('…').unwrap_or(summary);
            let units = summary.encode_utf16().count();
            prop_assert!(units <= SUMMARY_LIMIT && whole.starts_with(kept));
            prop_assert!(summary == whole || units + 1 >= SUMMARY_LIMIT);
            prop_assert_eq!(&read[0]["line"], 1);
        }
    }

    #[test]
    fn nothing_found_is_nothing_sent() {
        assert!(annotations(&sample::empty(Verdict::Passed), &About::default()).is_empty());
    }
}
