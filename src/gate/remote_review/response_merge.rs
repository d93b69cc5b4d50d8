//! Merges the responses to the batches into findings. Gaps in a response are reported, never filled in.

use crate::gate::remote_review::requested_paths::RequestedPaths;
use crate::gate::remote_review::response_gaps::{self, ResponseGaps};
use crate::gate::{BatchResponse, Positions, RunFindings};
use sluicegate_pipelines::findings::{
    Enforcement, FileResults, Origin, ReviewGap, RuleResult, Severity, Status, StatusName, UnreviewedFile,
    Violation,
};
use sluicegate_pipelines::pipelines::PipelineKind;
use sluicegate_pipelines::rules::{self, RuleSet};
use sluicegate_platform::api::{ReviewResponse, RuleResponse};
use std::collections::{BTreeMap, BTreeSet};

/// Number of files that are parsed together, and whose parsed content is in memory at a time.
const FILES_PER_GROUP: usize = 128;

const NO_RESULT_REASON: &str = "the platform's response has no result for this file";
const NO_RULE_RESULT_REASON: &str = "the platform's response has no rule result for this file, although the \
     rules file may enable rules for this file";
const EXCLUDED_REASON: &str =
    "the platform excluded this file, although its name ends like that of a pipeline";

/// Merges the responses to the requested files, each when it arrives. `rules` are those of the reviewed commit, or
/// `None` if they are unknown. The files of a batch that failed are unreviewed.
pub(crate) fn merge_responses(
    responses: impl IntoIterator<Item = BatchResponse>,
    requested_paths: &[String],
    rules: Option<&RuleSet>,
    positions: &mut Positions<'_>,
) -> RunFindings {
    let (mut run_findings, mut gaps) = (RunFindings::default(), ResponseGaps::default());
    positions.index_blobs(&requested_paths.iter().map(String::as_str).collect());
    for response in responses {
        match response.outcome {
            Ok(review) => ResponseMerger {
                run_findings: &mut run_findings,
                gaps: &mut gaps,
                rules,
                positions,
                is_batch_failed: false,
            }
            .add_batch(&response.files, review),
            Err(error) => {
                let reason = error.cause();
                for path in response.files {
                    run_findings.unreviewed_files.push(UnreviewedFile {
                        path,
                        reason: reason.clone(),
                        next_step: None,
                        gap: ReviewGap::FailedRequest,
                    });
                }
            }
        }
    }
    run_findings.notes.extend(gaps.into_notes(rules, positions));
    run_findings.files.sort_by(|a, b| a.path.cmp(&b.path));
    run_findings.excluded_paths.sort();
    // A file with several defects in the response is listed once, with the first reason.
    run_findings.unreviewed_files.sort_by(|a, b| a.path.cmp(&b.path));
    run_findings.unreviewed_files.dedup_by(|a, b| a.path == b.path);
    run_findings
}

/// Returns whether the pipeline must be read: to find the line of a violation, or to measure the number that a rule
/// limits.
fn needs_reading(results: &BTreeMap<String, Vec<RuleResponse>>, path: &str) -> bool {
    let mut rules = results.get(path).into_iter().flatten();
    rules.any(|rule| {
        let status = rule.status.as_deref().and_then(StatusName::parse);
        let is_failed = status == Some(StatusName::Failed);
        !rule.violations.is_empty()
            || (is_failed && rule.rule_name.as_deref().is_some_and(rules::is_counting_rule))
    })
}

/// Adds the response to one batch to the findings of the run.
struct ResponseMerger<'m, 'p> {
    run_findings: &'m mut RunFindings,
    gaps: &'m mut ResponseGaps,
    rules: Option<&'m RuleSet>,
    positions: &'m mut Positions<'p>,
    /// The platform reports the batch as failed.
    is_batch_failed: bool,
}

impl ResponseMerger<'_, '_> {
    /// Adds the response to one batch. Reads the pipelines in groups to limit the use of memory. Results for files that
    /// were not requested become notes. If such a path is another spelling of a requested one, the requested file is
    /// unreviewed.
    fn add_batch(&mut self, files: &[String], response: ReviewResponse) {
        let (status, message) = (response.review_status.as_deref(), response.message.as_deref());
        self.record_batch_status(files, status, message);
        if self.is_batch_failed {
            self.run_findings
                .failed_batches
                .push(files.iter().cloned().collect());
        }
        let mut results = response.results.unwrap_or_default();
        let excluded_paths: BTreeSet<String> = response.excluded_files.into_iter().collect();
        for group in files.chunks(FILES_PER_GROUP) {
            let paths = group.iter().map(String::as_str);
            self.positions
                .read_pipelines(paths.filter(|path| needs_reading(&results, path)));
            for path in group {
                let rule_responses = results.remove(path);
                self.add_reviewed_file(path, rule_responses, excluded_paths.contains(path));
            }
        }
        // The requested paths were removed from the results above.
        let extra_results = results.into_keys().map(|path| ("has results for", path));
        let extra_exclusions = excluded_paths.into_iter().filter(|path| !files.contains(path));
        let extra_paths = extra_results.chain(extra_exclusions.map(|path| ("excludes", path)));
        // Most responses have no extra paths, so the search is prepared only for the first one.
        let mut path_search = None;
        for (verb, path) in extra_paths {
            let requested_paths = path_search.get_or_insert_with(|| RequestedPaths::new(files));
            if let Some(requested_path) = requested_paths.find(&path) {
                let reason =
                    format!("the platform's response {verb} another spelling of this file's path: {path}");
                self.add_unreviewed(requested_path.to_owned(), reason);
            } else {
                let note = format!("the platform's response {verb} {path}, which was not requested");
                self.run_findings.notes.push(note);
            }
        }
    }

    /// Adds the results of one file; `None` if the response has no entry for it. A pipeline that was excluded or not
    /// evaluated by any rule is unreviewed. An excluded file that is not a pipeline and has no results is only recorded
    /// as excluded.
    fn add_reviewed_file(
        &mut self,
        path: &str,
        rule_responses: Option<Vec<RuleResponse>>,
        is_excluded: bool,
    ) {
        let kind = PipelineKind::from_path(path);
        let has_results = rule_responses
            .as_ref()
            .is_some_and(|responses| !responses.is_empty());
        let reason = match &rule_responses {
            _ if is_excluded && kind.is_some() => Some(EXCLUDED_REASON),
            _ if is_excluded && !has_results => {
                self.run_findings.excluded_paths.push(path.to_owned());
                return;
            }
            None => Some(NO_RESULT_REASON),
            Some(responses) if responses.is_empty() && self.needs_result(path) => Some(NO_RULE_RESULT_REASON),
            Some(_) => None,
        };
        if let Some(reason) = reason {
            self.add_unreviewed(path.to_owned(), reason);
        }
        // An empty list of results is added only for a file that needs no result.
        if let Some(responses) = rule_responses.filter(|_| has_results || reason.is_none()) {
            let is_unreviewed = reason.is_some();
            self.add_file(path.to_owned(), responses, is_unreviewed);
        }
    }

    /// Returns whether the platform must return a rule result for the pipeline.
    fn needs_result(&self, path: &str) -> bool {
        response_gaps::needs_result(self.rules, self.positions, path)
    }

    /// Records whether the platform reports the batch as failed. If the status is missing or unknown, records a doubt
    /// about all files of the batch. A response has a `message` only if it has neither a status nor results.
    fn record_batch_status(&mut self, files: &[String], status: Option<&str>, message: Option<&str>) {
        let known_status = status.and_then(StatusName::parse);
        self.is_batch_failed = known_status == Some(StatusName::Failed);
        let doubt = match (status, message) {
            _ if self.is_batch_failed || known_status == Some(StatusName::Passed) => return,
            (Some(unknown_status), _) => {
                format!("the platform's response has an unknown reviewStatus: {unknown_status}")
            }
            (None, None) => "the platform's response has no reviewStatus".to_owned(),
            (None, Some(message)) => {
                format!(
                    "the platform's response has no reviewStatus and no results, only the message: {message}"
                )
            }
        };
        let doubtful_files = files.iter().map(|path| (path.clone(), doubt.clone()));
        self.run_findings.doubtful_files.extend(doubtful_files);
        self.add_doubt(doubt);
    }

    /// Adds a doubt, once for each text.
    fn add_doubt(&mut self, doubt: String) {
        if !self.run_findings.doubts.contains(&doubt) {
            self.run_findings.doubts.push(doubt);
        }
    }

    /// Records that a file has no complete review for this reason.
    fn add_unreviewed(&mut self, path: String, reason: impl Into<String>) {
        self.run_findings.unreviewed_files.push(UnreviewedFile {
            path,
            reason: reason.into(),
            next_step: None,
            gap: ReviewGap::Other,
        });
    }

    /// Adds the results of one file, and records the rules without a result. If a result is unusable or contradicts
    /// another one, the file is also unreviewed, unless it already is (`is_unreviewed`).
    fn add_file(&mut self, path: String, rule_responses: Vec<RuleResponse>, is_unreviewed: bool) {
        let mut results: Vec<RuleResult> = Vec::with_capacity(rule_responses.len());
        let mut unusable_reason = None;
        for response in rule_responses {
            match self.build_result(&path, response) {
                Ok(result) => {
                    let earlier_result = results.iter().find(|earlier| earlier.rule == result.rule);
                    if earlier_result.is_some_and(|earlier| earlier.status.name() != result.status.name()) {
                        unusable_reason = Some(format!(
                            "the platform's response has two different results for the rule {}",
                            result.rule
                        ));
                    }
                    results.push(result);
                }
                Err(reason) => unusable_reason = Some(reason),
            }
        }
        if !results.is_empty() {
            let evaluated_rules = results.iter().map(|result| result.rule.as_str());
            self.gaps
                .record_missing_results(&path, evaluated_rules, self.rules);
        }
        if let Some(reason) = unusable_reason.filter(|_| !is_unreviewed) {
            self.add_unreviewed(path.clone(), reason);
            // Without a usable result, the file is only unreviewed.
            if results.is_empty() {
                return;
            }
        }
        self.run_findings.files.push(FileResults {
            path,
            results,
            is_reviewed: true,
        });
    }

    /// Converts a rule result of the response. Corrects a status that contradicts the rest of the result. The error is
    /// the reason why the result is not usable.
    fn build_result(&mut self, path: &str, mut response: RuleResponse) -> Result<RuleResult, String> {
        let Some(rule) = response.rule_name.take() else {
            return Err("a rule result in the platform's response has no ruleName".to_owned());
        };
        let enforcement = self.rules.and_then(|rules| rules.enforcement(&rule));
        let Some(status_name) = response.status.as_deref() else {
            return Err(format!("the platform's result for the rule {rule} has no status"));
        };
        let Some(reported_status) = StatusName::parse(status_name) else {
            return Err(format!(
                "the platform's result for the rule {rule} has an unknown status: {status_name}"
            ));
        };
        let proven_status = find_proven_status(reported_status, &response);
        if reported_status == StatusName::Passed {
            self.gaps.record_false_pass(path, &rule, proven_status);
        }
        let status = match proven_status {
            StatusName::Passed => Status::Passed,
            StatusName::Failed => Status::Failed(decide_severity(enforcement, self.is_batch_failed)),
            StatusName::Error => Status::Error(response.error_type),
        };
        let violations = self.build_violations(path, &rule, &status, response.violations);
        // A failed result without violations is itself the finding, and contains the number that its rule measured.
        let is_finding = violations.is_empty() && matches!(status, Status::Failed(_));
        let size = self.positions.measured_size(path, &rule).filter(|_| is_finding);
        Ok(RuleResult {
            size,
            origin: Origin::Platform,
            ..RuleResult::new(rule, status, enforcement, violations)
        })
    }

    /// Creates the violations of a result. Those of a passed result need no position.
    fn build_violations(
        &mut self,
        path: &str,
        rule: &str,
        status: &Status,
        texts: Vec<String>,
    ) -> Vec<Violation> {
        let texts = texts.into_iter();
        if matches!(status, Status::Passed) {
            return texts.map(Violation::new).collect();
        }
        let mut violations: Vec<Violation> = texts
            .map(|text| self.positions.build_violation(path, rule, status, text))
            .collect();
        self.positions
            .identify_missing_part(path, rule, status, &mut violations);
        violations
    }
}

/// Returns the status that the rest of the result proves: a result with an error is an error, and one with violations
/// has not passed.
const fn find_proven_status(status: StatusName, response: &RuleResponse) -> StatusName {
    match status {
        StatusName::Passed | StatusName::Failed if response.error_type.is_some() => StatusName::Error,
        StatusName::Passed if !response.violations.is_empty() => StatusName::Failed,
        StatusName::Passed | StatusName::Failed | StatusName::Error => status,
    }
}

/// Returns the severity that the rules file sets. If it is unknown, returns the severity that explains the status of
/// the batch.
const fn decide_severity(enforcement: Option<Enforcement>, is_batch_failed: bool) -> Severity {
    let fails = match enforcement {
        Some(level) => matches!(level, Enforcement::Error),
        None => is_batch_failed,
    };
    if fails { Severity::Error } else { Severity::Warning }
}
