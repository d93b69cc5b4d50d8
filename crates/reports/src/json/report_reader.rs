//! Reads a JSON report strictly: a file that is not exactly a report of this program is rejected, since a verdict
//! depends on it.

use super::finding_help::parse_rules_file_help;
use super::report_error::{ReportReadError, invalid_value};
use super::schema_v2::{DocumentV2, FileV2, FindingV2, RuleV2, SCHEMA_NAME};
use jiff::Timestamp;
use sluicegate_base::duplicate_key::find_duplicate_key;
use sluicegate_base::input::decode_json;
use sluicegate_base::named_fields::{NamedFields, read_schema_name};
use sluicegate_pipelines::findings::{
    Engine, ExcludedFile, FileResults, FindingMark, FindingState, GateChange, MISSING_RULES_TYPE, Origin,
    Report, RuleResult, Severity, Status, StatusName, UnreviewedFile, Verdict, Violation,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::time::Duration;

/// Parses a JSON report strictly: duplicate and unknown keys, another schema, and counts that differ from the results
/// are errors. `find_contradiction` returns the reason if the verdict is impossible for the results, which is an error
/// too.
pub fn parse_json_report(
    text: &[u8],
    find_contradiction: impl FnOnce(&Report) -> Option<String>,
) -> Result<Report, ReportReadError> {
    let text = decode_json(text).map_err(invalid_value)?;
    if let Some(reason) = find_duplicate_key(text) {
        return Err(invalid_value(reason));
    }
    let mut json = serde_json::Deserializer::from_slice(text);
    let document: DocumentV2<'_> = match serde_path_to_error::deserialize(NamedFields(&mut json)) {
        Ok(document) => document,
        Err(error) => return Err(find_schema_error(text).unwrap_or_else(|| error.into())),
    };
    json.end()
        .map_err(|error| invalid_value(format!("unexpected text after the JSON: {error}")))?;
    if document.schema != SCHEMA_NAME {
        return Err(wrong_schema(&document.schema));
    }
    let (recorded_counts, recorded_totals) = (document.counts, document.findings);
    let report = document.into_report()?;
    if report.count_results() != recorded_counts {
        return Err(invalid_value("the counts do not match the results"));
    }
    let possible_totals = [report.finding_totals(), report.older_finding_totals()];
    if recorded_totals.is_some_and(|totals| !possible_totals.contains(&totals)) {
        return Err(invalid_value("the numbers of findings do not match the results"));
    }
    match find_contradiction(&report) {
        Some(reason) => Err(invalid_value(reason)),
        None => Ok(report),
    }
}

/// Returns an error if the document has another schema; `None` if the text is not JSON or has no schema name. For a
/// document with a newer schema, this error is more helpful than the one about the first unknown key.
fn find_schema_error(text: &[u8]) -> Option<ReportReadError> {
    let schema = read_schema_name(text)?;
    (schema != SCHEMA_NAME).then(|| wrong_schema(&schema))
}

/// Creates the error for a document with another schema.
fn wrong_schema(schema: &str) -> ReportReadError {
    invalid_value(format!("the schema is {schema:?}, expected {SCHEMA_NAME:?}"))
}

impl DocumentV2<'_> {
    /// Returns an error if a path in a list of files is empty or occurs twice, or if a reason or a description is about
    /// a path that is not in its list.
    fn reject_invalid_paths(&self) -> Result<(), ReportReadError> {
        require_unique_paths(self.files.iter().map(|file| file.path.as_str()))?;
        let changed_files = self.changes.iter().flat_map(|changes| changes.iter());
        require_unique_paths(changed_files.map(|changed_file| changed_file.path.as_str()))?;
        for paths in [&self.unreviewed, &self.excluded, &self.gate_changes] {
            require_unique_paths(paths.iter().map(String::as_str))?;
        }
        require_listed_paths(self.unreviewed_reasons.keys(), &self.unreviewed)?;
        require_listed_paths(self.excluded_reasons.keys(), &self.excluded)?;
        require_listed_paths(self.gate_changes_in_words.keys(), &self.gate_changes)
    }

    /// Returns the instruction for a missing rules file that the help of a result contains, if any.
    fn find_missing_rules_hint(&self) -> Option<String> {
        self.files
            .iter()
            .flat_map(|file| &file.results)
            .filter(|result| result.error_type.as_deref() == Some(MISSING_RULES_TYPE))
            .find_map(|result| parse_rules_file_help(result.help.as_deref()?))
    }

    /// Converts the document to a report. Fails if a result or a path is invalid. An excluded or unreviewed file
    /// without a reason, as in older reports, gets a general one. The Unix epoch replaces a missing start time.
    fn into_report(self) -> Result<Report, ReportReadError> {
        self.reject_invalid_paths()?;
        let (engine, verdict) = (self.engine, self.verdict);
        let fixed_count = self.findings.and_then(|findings| findings.fixed);
        let missing_rules_hint = self.find_missing_rules_hint();
        let files: Vec<FileResults> = self
            .files
            .into_iter()
            .map(|file| file.into_results(engine, verdict))
            .collect::<Result<_, _>>()?;
        // The document has the paths in lists, and the reasons and descriptions in separate maps.
        let mut unreviewed_reasons = self.unreviewed_reasons;
        let unreviewed_files = self.unreviewed.into_iter().map(|path| {
            let text = unreviewed_reasons.remove(&path);
            UnreviewedFile::from_saved_text(path, text.as_deref().unwrap_or("no reason was given"))
        });
        let mut excluded_reasons = self.excluded_reasons;
        let excluded_files = self.excluded.into_iter().map(|path| ExcludedFile {
            reason: excluded_reasons
                .remove(&path)
                .unwrap_or_else(|| ExcludedFile::UNREVIEWED_TYPE.to_owned()),
            path,
        });
        let mut changes_by_path = self.gate_changes_in_words;
        let gate_changes = self.gate_changes.into_iter().map(|path| GateChange {
            descriptions: changes_by_path.remove(&path).unwrap_or_default(),
            path,
        });
        Ok(Report {
            fixed_count,
            changes: self.changes.map(Cow::into_owned),
            engine: self.engine,
            verdict,
            context: self.context.into_owned(),
            files,
            excluded_files: excluded_files.collect(),
            unreviewed_files: unreviewed_files.collect(),
            gate_changes: gate_changes.collect(),
            gate_refused: self.gate_refused,
            gate_faults: BTreeSet::from_iter(self.gate_faults.into_owned())
                .into_iter()
                .collect(),
            faulty_gate_file: self.faulty_gate_file.map(Cow::into_owned),
            failed_without_finding: self.failed_without_finding,
            failed_batches: self.failed_batches.into_owned(),
            compat: self.compat.map(Cow::into_owned),
            is_open: self.open,
            notes: self.notes.into_owned(),
            reasons: self.reasons.into_owned(),
            limits: self.limits.into_owned(),
            next_steps: self.next_steps.into_owned(),
            missing_rules_hint,
            rules_file_errors: self.rules_file_errors.into_owned(),
            started_at: self.started_at.unwrap_or(Timestamp::UNIX_EPOCH),
            duration: Duration::from_nanos(self.elapsed_nanos),
        })
    }
}

/// Returns an error if a path is empty or occurs twice.
fn require_unique_paths<'a>(paths: impl Iterator<Item = &'a str>) -> Result<(), ReportReadError> {
    let mut seen_paths = BTreeSet::new();
    for path in paths {
        if path.is_empty() || !seen_paths.insert(path) {
            return Err(invalid_value(format!(
                "the path {path:?} is empty or a duplicate"
            )));
        }
    }
    Ok(())
}

/// Returns an error if a described path is not in the list of paths.
fn require_listed_paths<'a>(
    mut described_paths: impl Iterator<Item = &'a String>,
    paths: &[String],
) -> Result<(), ReportReadError> {
    let listed_paths: BTreeSet<&String> = paths.iter().collect();
    match described_paths.find(|path| !listed_paths.contains(path)) {
        Some(path) => Err(invalid_value(format!(
            "the path {path:?} has a reason or a description, but is not in its list"
        ))),
        None => Ok(()),
    }
}

impl FileV2 {
    /// Converts a file of the document with its results. `engine` and `verdict` are those of the report, for results of
    /// older reports that do not have their own origin and severity.
    fn into_results(self, engine: Engine, verdict: Verdict) -> Result<FileResults, ReportReadError> {
        let results = self
            .results
            .into_iter()
            .map(|result| result.into_result(engine, verdict));
        let mut file = FileResults {
            path: self.path,
            results: results.collect::<Result<_, _>>()?,
            is_reviewed: true,
        };
        file.is_reviewed = self.is_reviewed.unwrap_or_else(|| file.looks_reviewed());
        Ok(file)
    }
}

impl RuleV2 {
    /// Converts the result of a rule. Fails if its status contradicts its findings. In older reports, the origin is
    /// derived from `engine`, and the severity from the `verdict` of the report.
    fn into_result(self, engine: Engine, verdict: Verdict) -> Result<RuleResult, ReportReadError> {
        let status = self.parse_status(verdict)?;
        let marks: Vec<FindingMark> = self
            .findings
            .iter()
            .map(|finding| FindingMark {
                state: finding.state,
                waiver: finding.waiver.clone().map(Box::new),
            })
            .collect();
        let has_excused_finding = marks
            .iter()
            .any(|mark| mark.state.is_some_and(FindingState::is_excused));
        if has_excused_finding && !status.is_excusable() {
            return Err(invalid_value(format!(
                "the rule {:?} has a known or waived finding, but its status does not allow this",
                self.rule
            )));
        }
        let mut result = RuleResult {
            size: self.size(),
            origin: self.origin.unwrap_or(match engine {
                Engine::Remote => Origin::Platform,
                Engine::Local => Origin::Local,
            }),
            ..RuleResult::new(
                self.rule.clone(),
                status,
                self.enforcement,
                build_violations(&self.rule, self.findings)?,
            )
        };
        let mut result_marks = result.marks_mut();
        // The findings of an evaluation error share one mark. Without a common one, none excuses them.
        let have_common_mark = marks.iter().all(|mark| Some(mark) == marks.first());
        if result_marks.len() == marks.len() || have_common_mark {
            for (result_mark, mark) in result_marks.iter_mut().zip(marks) {
                **result_mark = mark;
            }
        }
        Ok(result)
    }

    /// Parses the status of the result. Fails if it is unknown, or if it contradicts the findings or the error type.
    fn parse_status(&self, verdict: Verdict) -> Result<Status, ReportReadError> {
        let Some(name) = StatusName::parse(&self.status) else {
            return Err(invalid_value(format!(
                "unknown status {:?} for the rule {:?}",
                self.status, self.rule
            )));
        };
        Ok(match name {
            StatusName::Passed if !self.findings.is_empty() || self.error_type.is_some() => {
                return Err(invalid_value(format!(
                    "the rule {:?} has the status PASSED, but it has findings or an error type",
                    self.rule
                )));
            }
            StatusName::Failed if self.error_type.is_some() => {
                return Err(invalid_value(format!(
                    "the rule {:?} has the status FAILED, but it has an error type",
                    self.rule
                )));
            }
            StatusName::Failed | StatusName::Error if self.findings.is_empty() => {
                return Err(invalid_value(format!(
                    "the rule {:?} has the status {}, but it has no finding",
                    self.rule, self.status
                )));
            }
            StatusName::Passed => Status::Passed,
            StatusName::Failed => Status::Failed(self.derive_severity(verdict)?),
            StatusName::Error => Status::Error(self.error_type.clone()),
        })
    }

    /// Derives the severity of a failed result: from the key `severity`, or else from the enforcement, or else from the
    /// report's verdict. Fails if `severity` contradicts the enforcement.
    fn derive_severity(&self, verdict: Verdict) -> Result<Severity, ReportReadError> {
        match (self.severity, self.enforcement) {
            (Some(severity), Some(level)) if severity != Severity::from_enforcement(level) => {
                Err(invalid_value(format!(
                    "the rule {:?} has the severity \"{severity}\" and the enforcement `{level}`",
                    self.rule
                )))
            }
            (Some(severity), _) => Ok(severity),
            (None, Some(level)) => Ok(Severity::from_enforcement(level)),
            (None, None) if verdict == Verdict::Failed => Ok(Severity::Error),
            (None, None) => Ok(Severity::Warning),
        }
    }

    /// Returns the counted number of a counting rule that failed without a violation: such a result has one finding,
    /// without a message. The numbers of other results belong to their violations.
    fn size(&self) -> Option<u64> {
        match self.findings.as_slice() {
            [finding] if finding.message.is_none() => finding.size,
            _ => None,
        }
    }
}

/// Converts the findings of a rule to violations. A rule that fails without a violation has one finding without a
/// message: this finding is skipped, and must be the only one. Fails if the region of a fix is invalid.
fn build_violations(rule: &str, findings: Vec<FindingV2>) -> Result<Vec<Violation>, ReportReadError> {
    let is_only_finding = findings.len() == 1;
    let mut violations = Vec::with_capacity(findings.len());
    for finding in findings {
        if finding.fix.as_ref().is_some_and(|fix| !fix.has_valid_region()) {
            return Err(invalid_value(format!(
                "the rule {rule:?} has a finding whose fix has no valid region"
            )));
        }
        match finding.message {
            Some(text) => violations.push(Violation {
                line: finding.line,
                about: finding.about,
                about_kind: finding.about_kind,
                size: finding.size,
                is_minor: finding.minor,
                folded_count: finding.folded.unwrap_or_default(),
                fix: finding.fix,
                ..Violation::new(text)
            }),
            None if is_only_finding => {}
            None => {
                return Err(invalid_value(format!(
                    "the rule {rule:?} has several findings, and one finding has no message"
                )));
            }
        }
    }
    Ok(violations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReportContext;
    use crate::{json, sample};
    use proptest::prelude::*;
    use sluicegate_pipelines::findings::{ComparedWith, GateFault, Shard, Waiver};

    fn read_report(text: &[u8]) -> Result<Report, ReportReadError> {
        parse_json_report(text, |_| None)
    }

    fn again(report: &Report) -> Report {
        read_report(&sample::write_to_vec(|out| {
            json::render(report, &ReportContext::default(), out)
        }))
        .unwrap()
    }

    #[test]
    fn written_report_reads_back_whole() {
        let mut report = sample::report();
        report.context.shard = Some(Shard { index: 2, total: 3 });
        report.fixed_count = Some(2);
        report.files[1].results[1].set_states([Some(FindingState::New), Some(FindingState::Known)]);
        report.files[0].results[0].set_states([Some(FindingState::Waived)]);
        report.files[0].results[0].marks_mut()[0].waiver = Some(Box::new(Waiver {
            reason: "old".to_owned(),
            owner: None,
            until: Some(jiff::civil::date(2027, 3, 31)),
            exceeded_size: Some(40),
        }));
        report.context.compared_with = Some(ComparedWith { head: None });
        report.is_open = true;
        report.files[1].results[1].violations[0].about = Some("Run A".to_owned());
        report.files[0].results[0].violations[0].size = Some(3);
        report.files[0].results[0].violations[0].fix = Some(Box::new(sample::fix()));
        assert_eq!(again(&report), report);
        assert_eq!(
            again(&sample::empty(Verdict::Undecided)),
            sample::empty(Verdict::Undecided)
        );
    }

    #[test]
    fn repeated_gate_fault_is_read_once() {
        let text = |faults: &str| {
            let report =
                sample::write_to_vec(|out| json::render(&sample::report(), &ReportContext::default(), out));
            let keys = format!("\"gateFaults\": [{faults}], \"engine\"");
            String::from_utf8(report)
                .unwrap()
                .replacen("\"engine\"", &keys, 1)
        };
        let report = read_report(text(&["\"unusable-file\""; 4].join(",")).as_bytes()).unwrap();
        assert_eq!(report.gate_faults, [GateFault::UnusableFile]);
        let report = read_report(text("\"failed-example\", \"unusable-file\"").as_bytes()).unwrap();
        assert_eq!(
            report.gate_faults,
            [GateFault::UnusableFile, GateFault::FailedExample]
        );
    }

    #[test]
    fn report_with_keys_of_contract_alone_is_enough() {
        let text = r#"{ "schema": "sluicegate.report/v2", "engine": "local", "verdict": "failed",
            "context": { "ci": "none", "event": "local", "branch": null, "head": null, "base": null },
            "counts": { "files": 1, "passed": 0, "failed": 2, "errors": 0, "warnings": 1, "excluded": 0, "unreviewed": 1 },
            "files": [ { "path": "a.orch.yaml", "results": [
                { "rule": "r", "status": "FAILED", "enforcement": "warn", "errorType": null,
                  "findings": [ { "message": "x", "line": 7 }, { "message": "y" } ] },
                { "rule": "s", "status": "FAILED", "enforcement": null, "errorType": null, "findings": [ { "message": null } ] } ] } ],
            "excluded": [], "unreviewed": ["b.orch.yaml"] }"#;
        let report = read_report(text.as_bytes()).unwrap();
        let lines: Vec<_> = report.files[0].results[0]
            .violations
            .iter()
            .map(|v| v.line)
            .collect();
        assert_eq!(lines, [Some(7), None]);
        assert_eq!(report.files[0].results[1].status, Status::Failed(Severity::Error));
        assert_eq!(report.unreviewed_files[0].reason, "no reason was given");
    }

    #[test]
    fn file_that_is_no_report_is_refused_with_reason() {
        let good = String::from_utf8(sample::write_to_vec(|out| {
            json::render(&sample::report(), &ReportContext::default(), out)
        }))
        .unwrap();
        let refused = |from: &str, to: &str| {
            assert!(good.contains(from), "{from}");
            read_report(good.replacen(from, to, 1).as_bytes())
                .unwrap_err()
                .to_string()
        };
        insta::assert_snapshot!(refused("report/v2", "report/v1"), @r#"not a valid report: the schema is "sluicegate.report/v1", expected "sluicegate.report/v2""#);
        insta::assert_snapshot!(refused("\"verdict\": \"failed\"", "\"verdict\": \"fine\""), @r#"not a valid report: verdict: unknown variant `fine`, expected one of `passed`, `undecided`, `failed` at line 4 column 19"#);
        insta::assert_snapshot!(refused("\"FAILED\"", "\"OK\""), @r#"not a valid report: unknown status "OK" for the rule "maximum-outputs""#);
        insta::assert_snapshot!(refused("\"failed\": 2", "\"failed\": 1"), @"not a valid report: the counts do not match the results");
        insta::assert_snapshot!(refused("\"engine\"", "\"motor\""), @"not a valid report: motor: unknown field `motor`, expected one of `schema`, `engine`, `verdict`, `context`, `counts`, `files`, `excluded`, `unreviewed`, `gateChanges`, `notes`, `unreviewedReasons`, `startedAt`, `elapsedNanos`, `findings`, `gateChangesInWords`, `gateRefused`, `excludedReasons`, `compat`, `changes`, `open`, `failedWithoutFinding`, `limits`, `reasons`, `failedBatches`, `nextSteps`, `gateFaults`, `faultyGateFile`, `rulesFileErrors` at line 3 column 9");
        insta::assert_snapshot!(refused("\"rule\": \"maximum-outputs\"", "\"rule\": 7"), @"not a valid report: files[0].results[0].rule: invalid type: integer `7`, expected a string at line 26 column 19");
        insta::assert_snapshot!(refused("\"load/it.orch.yaml\"", "\"a.tran.yaml\""), @r#"not a valid report: the path "a.tran.yaml" is empty or a duplicate"#);
        assert!(
            read_report(b"[]").is_err()
                && read_report(b"").is_err()
                && read_report(format!("{good}x").as_bytes()).is_err()
        );
    }

    #[test]
    fn report_with_invalid_paths_in_lists_is_refused() {
        let good: serde_json::Value = serde_json::from_slice(&sample::write_to_vec(|out| {
            json::render(&sample::report(), &ReportContext::default(), out)
        }))
        .unwrap();
        let read_edited = |edit: &dyn Fn(&mut serde_json::Value)| {
            let mut report = good.clone();
            edit(&mut report);
            read_report(report.to_string().as_bytes())
        };
        assert!(read_edited(&|_| {}).is_ok());
        for key in ["excluded", "gateChanges"] {
            let result = read_edited(&|report| {
                let path = report[key][0].clone();
                report[key] = serde_json::json!([path, path]);
            });
            let reason = result.unwrap_err().to_string();
            assert!(reason.contains("is empty or a duplicate"), "{key}: {reason}");
        }
        for key in ["excludedReasons", "unreviewedReasons", "gateChangesInWords"] {
            let result = read_edited(&|report| {
                let reasons = report[key].as_object_mut().unwrap();
                let reason = reasons.values().next().unwrap().clone();
                reasons.insert("other.txt".to_owned(), reason);
            });
            let reason = result.unwrap_err().to_string();
            assert!(
                reason.contains("\"other.txt\" has a reason or a description"),
                "{key}: {reason}"
            );
        }
    }

    #[test]
    fn severity_is_that_of_enforcement() {
        let good = String::from_utf8(sample::write_to_vec(|out| {
            json::render(&sample::report(), &ReportContext::default(), out)
        }))
        .unwrap();
        let edited = good.replacen("\"severity\": \"error\"", "\"severity\": \"warning\"", 2);
        let refused = read_report(edited.as_bytes()).unwrap_err().to_string();
        insta::assert_snapshot!(refused, @r#"not a valid report: the rule "component-naming-convention" has the severity "warning" and the enforcement `error`"#);
    }

    proptest! {
        #[test]
        fn any_text_reads_back(raw in "(\\PC|[\\x00-\\x1f]|##\\[|\\\\){1,20}") {
            let mut report = sample::report();
            let status = Status::Error(Some(raw.clone()));
            report.files = vec![sample::file(&raw, vec![sample::result(&raw, status, vec![sample::violation(&raw, Some(4))])])];
            report.notes = vec![raw.clone()];
            report.unreviewed_files[0].reason = raw;
            prop_assert_eq!(again(&report), report);
        }

        #[test]
        fn no_text_ends_the_program(raw in "\\PC{0,80}|[\\[\\]{}\",:0-9a-z]{0,80}") {
            let _ = read_report(raw.as_bytes());
        }
    }
}
