//! Formats a report for Bitbucket's Code Insights: a report on the commit, and annotations in the pull request's diff.
//!
//! <https://developer.atlassian.com/cloud/bitbucket/rest/api-group-reports/>

use super::annotation::{self, Annotation, Level, REVIEW_TITLE};
use super::remarks::find_unexplained_verdict;
use super::sentences::{count_passed_checks, render_headline, to_sentence};
use super::unreviewed_files::describe_unreviewed_files;
use super::{ReportContext, truncation};
use serde_json::{Value, json};
use sluicegate_base::text::format_count;
use sluicegate_pipelines::findings::{Fingerprint, Report, Verdict};

/// Prefix of the ids of annotations.
const ID_PREFIX: &str = "sluicegate";

/// Maximum number of annotations of a report.
const MAX_ANNOTATIONS: usize = 1_000;

/// Maximum number of annotations in a request.
const ANNOTATIONS_PER_REQUEST: usize = 100;

/// Maximum length of the summary of an annotation, in UTF-16 code units.
const SUMMARY_LIMIT: usize = 450;

/// Maximum length of the details of a report, in UTF-16 code units.
const DETAILS_LIMIT: usize = 2_000;

/// Builds the body of the request that creates the report on Bitbucket. The details are the headline, the unreviewed
/// files and the notes. An undecided review is reported as FAILED.
pub fn build_report(report: &Report) -> Value {
    let (counts, totals) = (report.count_results(), report.finding_totals());
    let number_field =
        |title: &str, value: usize| json!({ "title": title, "type": "NUMBER", "value": value });
    let mut details = to_sentence(&render_headline(report));
    // No reason is treated as already logged, because the log of the job is not shown next to the report.
    let logged_reasons: &[String] = &[];
    let unreviewed_sentences = describe_unreviewed_files(report, logged_reasons)
        .into_iter()
        .map(|group| to_sentence(&group.text));
    for sentence in unreviewed_sentences.chain(report.notes.iter().map(|note| to_sentence(note))) {
        details.push(' ');
        details.push_str(&sentence);
    }
    json!({
        "title": "Pipeline review",
        "details": truncation::escape_controls_and_truncate(&details, DETAILS_LIMIT),
        "report_type": "BUG",
        "reporter": "sluicegate",
        "result": if report.verdict == Verdict::Passed { "PASSED" } else { "FAILED" },
        "data": [
            number_field("Errors", totals.errors),
            number_field("Warnings", totals.warnings),
            number_field("Not evaluated", totals.not_evaluated),
            number_field("Checks passed", count_passed_checks(report)),
            number_field("Files", counts.files),
            number_field("Not reviewed", counts.unreviewed),
        ],
    })
}

/// Builds the bodies of the requests that create the annotations: the most important first, at most 1,000, with 100 in
/// each request. If the others do not explain all of the verdict, the first one does. If there are more than 1,000, the
/// last one states the number of omitted ones.
pub fn build_annotation_requests(report: &Report, context: &ReportContext) -> Vec<Value> {
    let mut annotations = annotation::collect_file_annotations(report, context);
    // Bitbucket shows only annotations of a file, so the reason for the verdict needs one.
    let verdict_annotation = find_unexplained_verdict(report, context).map(|remark| Annotation {
        level: Level::Error,
        place: Some((remark.path.to_owned(), 1)),
        title: REVIEW_TITLE.to_owned(),
        message: remark.text,
    });
    annotations.splice(..0, verdict_annotation);
    replace_surplus_annotations(&mut annotations);
    let annotation_values: Vec<Value> = annotations
        .iter()
        .zip(0..)
        .map(|(annotation, position)| build_annotation(annotation, position))
        .collect();
    annotation_values
        .chunks(ANNOTATIONS_PER_REQUEST)
        .map(|chunk| Value::Array(chunk.to_vec()))
        .collect()
}

/// Removes the annotations beyond the maximum. If there are any, replaces the last remaining one by their number, at
/// the same place.
fn replace_surplus_annotations(annotations: &mut Vec<Annotation>) {
    if annotations.len() <= MAX_ANNOTATIONS {
        return;
    }
    let omitted_annotations = annotations.split_off(MAX_ANNOTATIONS - 1);
    annotations.push(Annotation {
        level: Level::Notice,
        place: omitted_annotations
            .first()
            .and_then(|annotation| annotation.place.clone()),
        title: REVIEW_TITLE.to_owned(),
        message: format!(
            "Bitbucket shows at most {}, so {} are omitted: see the log of the build",
            format_count(MAX_ANNOTATIONS, "annotation"),
            omitted_annotations.len()
        ),
    });
}

/// Returns an annotation as Code Insights expects it. The id contains `position`, the position of the annotation in the
/// report, so that annotations with equal texts have different ids.
fn build_annotation(annotation: &Annotation, position: u64) -> Value {
    let (annotation_type, severity) = match annotation.level {
        Level::Error => ("BUG", "HIGH"),
        Level::Warning => ("CODE_SMELL", "MEDIUM"),
        Level::Notice => ("CODE_SMELL", "LOW"),
    };
    let (path, line) = annotation
        .place
        .as_ref()
        .map_or(("", 1), |(path, line)| (path, (*line).max(1)));
    let summary = format!("{}: {}", annotation.title, annotation.message);
    let id = Fingerprint::new(&[&annotation.title, path, &annotation.message], position);
    json!({
        "external_id": format!("{ID_PREFIX}-{id}"),
        "annotation_type": annotation_type,
        "severity": severity,
        "summary": truncation::escape_controls_and_truncate(&summary, SUMMARY_LIMIT),
        "path": path,
        "line": line,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;
    use sluicegate_base::text::escape_controls;
    use sluicegate_pipelines::findings::{GateFault, Severity, Status};

    #[test]
    fn details_are_sentences() {
        let mut report = sample::empty(Verdict::Failed);
        report.notes = vec!["the target branch comes from this clone".to_owned()];
        let details = build_report(&report)["details"].to_string();
        assert!(
            details.contains(". The target branch comes from this clone."),
            "{details}"
        );
    }

    #[test]
    fn report_has_verdict_and_numbers() {
        let body = build_report(&sample::report());
        assert_eq!(body["result"], "FAILED");
        assert_eq!(
            body["data"][0],
            json!({ "title": "Errors", "type": "NUMBER", "value": 2 })
        );
        assert_eq!(
            build_report(&sample::empty(Verdict::Undecided))["result"],
            "FAILED"
        );
        assert_eq!(build_report(&sample::empty(Verdict::Passed))["result"], "PASSED");
    }

    #[test]
    fn faulty_gate_is_the_first_annotation_also_if_there_are_errors() {
        let mut report = sample::report();
        for (gate_faults, is_first) in [(vec![], false), (vec![GateFault::UnusableFile], true)] {
            report.gate_faults = gate_faults;
            let requests = build_annotation_requests(&report, &ReportContext::default());
            let summary = requests[0][0]["summary"].as_str().unwrap();
            assert_eq!(
                summary.contains("a gate configuration file cannot be used"),
                is_first,
                "{summary}"
            );
        }
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
        let requests = build_annotation_requests(&report, &ReportContext::default());
        assert_eq!(requests.len(), 10);
        let all: Vec<&Value> = requests
            .iter()
            .flat_map(|request| request.as_array().unwrap())
            .collect();
        assert_eq!(all.len(), 1_000);
        let ids: std::collections::HashSet<&str> =
            all.iter().map(|e| e["external_id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), 1_000);
        assert_eq!(
            all[999]["summary"],
            "review: Bitbucket shows at most 1,000 annotations, so 201 are omitted: see the log of the build"
        );
        assert!(
            all[..999]
                .iter()
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
            let sent = build_annotation_requests(&report, &ReportContext::default());
            let read: Value = serde_json::from_str(&sent[0].to_string()).unwrap();
            let summary = read[0]["summary"].as_str().unwrap();
            let whole = escape_controls(&format!("r: {}", report.findings()[0].message()));
            let kept = summary.strip_suffix('…').unwrap_or(summary);
            let units = summary.encode_utf16().count();
            prop_assert!(units <= SUMMARY_LIMIT && whole.starts_with(kept));
            // The text is not cut within an escape such as `\u{1f}`.
            prop_assert!(summary == whole || units + 8 >= SUMMARY_LIMIT);
            prop_assert_eq!(&read[0]["line"], 1);
        }
    }

    #[test]
    fn nothing_found_is_nothing_sent() {
        assert!(
            build_annotation_requests(&sample::empty(Verdict::Passed), &ReportContext::default()).is_empty()
        );
    }
}
