//! Merges the responses to the batches into findings. Gaps in a response are reported, never filled in.

use crate::gate::remote_review::evidence::{self, Gaps};
use crate::gate::remote_review::failed_batch::BatchFiles;
use crate::gate::remote_review::requested_paths::RequestedPaths;
use crate::gate::{BatchAnswer, KnownComparison, Positions};
use sluicegate_pipelines::findings::{
    Enforcement, FileResults, Origin, RuleResult, Severity, Status, UnreviewedFile, VerdictLimit, Violation,
};
use sluicegate_pipelines::pipelines::PipelineKind;
use sluicegate_pipelines::project::CheckLevels;
use sluicegate_pipelines::rules::{self, Consequence, RuleSet};
use sluicegate_platform::api::{ReviewAnswer, RuleAnswer};
use std::collections::{BTreeMap, BTreeSet};

/// Number of files whose lines are looked up together.
const GROUP: usize = 128;

const NO_RESULT: &str = "no result in the platform's response";
const JUDGED_NOTHING: &str =
    "no rule result in the platform's response, although the rules file may enable rules for this file";
const EXCLUDED: &str = "the platform excluded this file, although it has a pipeline's name";

/// The contents of all responses, and their gaps.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The files with results, by path.
    pub files: Vec<FileResults>,
    /// The files with findings of the project checks, by path.
    pub project: Vec<FileResults>,
    /// The levels of the project checks; `None` if they did not run.
    pub checked: Option<CheckLevels>,
    /// Files that the platform does not review, by path.
    pub excluded: Vec<String>,
    /// Files without a usable result, by path.
    pub unreviewed: Vec<UnreviewedFile>,
    /// The comparison with the base; `None` unless only new findings fail the gate.
    pub compared: Option<KnownComparison>,
    /// The files of each batch whose `reviewStatus` is FAILED.
    pub failed_batches: Vec<BatchFiles>,
    /// Reasons why the verdict is open, other than unreviewed files; each a sentence.
    pub doubts: Vec<String>,
    /// The files with such a doubt, by path.
    pub doubtful: BTreeMap<String, String>,
    /// The findings that exist only because of a broken link, by path.
    pub consequences: BTreeMap<String, BTreeSet<Consequence>>,
    /// Notes for the report; each a sentence.
    pub notes: Vec<String>,
    /// The notes that limit the verdict.
    pub limits: Vec<VerdictLimit>,
}

impl Tally {
    /// Adds a note that limits the verdict.
    pub(crate) fn add_limit(&mut self, limit: VerdictLimit) {
        self.notes.push(limit.text.clone());
        self.limits.push(limit);
    }

    /// Returns the results of the review and of the project checks.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = &FileResults> {
        self.files.iter().chain(&self.project)
    }

    /// Calls `work` with the results of the review and of the project checks in one slice.
    pub(crate) fn with_all<T>(&mut self, work: impl FnOnce(&mut [FileResults]) -> T) -> T {
        let reviewed = self.files.len();
        self.files.append(&mut self.project);
        let done = work(&mut self.files);
        self.project = self.files.split_off(reviewed);
        done
    }
}

/// Merges the responses about the files in `asked`, each when it arrives. `rules` are those of the reviewed commit, or
/// `None` if they are unknown.
pub(crate) fn merge(
    answers: impl IntoIterator<Item = BatchAnswer>,
    asked: &[String],
    rules: Option<&RuleSet>,
    positions: &mut Positions<'_>,
) -> Tally {
    let (mut tally, mut gaps) = (Tally::default(), Gaps::default());
    positions.find(&asked.iter().map(String::as_str).collect());
    for batch in answers {
        match batch.outcome {
            Ok(answer) => Merger {
                tally: &mut tally,
                gaps: &mut gaps,
                rules,
                positions,
            }
            .batch(&batch.files, answer),
            Err(error) => {
                let reason = error.cause();
                let missing = |path| UnreviewedFile {
                    path,
                    reason: reason.clone(),
                };
                tally.unreviewed.extend(batch.files.into_iter().map(missing));
            }
        }
    }
    tally.notes.extend(gaps.notes(rules, positions));
    tally.files.sort_by(|a, b| a.path.cmp(&b.path));
    tally.excluded.sort();
    tally.unreviewed.sort_by(|a, b| a.path.cmp(&b.path));
    tally
}

/// Returns whether the pipeline must be read, for the line of a violation or for the number that a rule counts.
fn has_findings(results: Option<&BTreeMap<String, Vec<RuleAnswer>>>, path: &str) -> bool {
    let is_told = |rule: &RuleAnswer| {
        let counts = || rule.rule_name.as_deref().is_some_and(rules::is_counting_rule);
        !rule.violations.is_empty() || (rule.status.as_deref() == Some("FAILED") && counts())
    };
    let rules = results.and_then(|results| results.get(path));
    rules.is_some_and(|rules| rules.iter().any(is_told))
}

struct Merger<'m, 'p> {
    tally: &'m mut Tally,
    gaps: &'m mut Gaps,
    rules: Option<&'m RuleSet>,
    positions: &'m mut Positions<'p>,
}

impl Merger<'_, '_> {
    fn batch(&mut self, files: &[String], answer: ReviewAnswer) {
        let (status, said) = (answer.review_status.as_deref(), answer.said_instead.as_deref());
        let failed = self.status(files, status, said);
        if failed {
            self.tally.failed_batches.push(files.iter().cloned().collect());
        }
        let mut results = answer.results.unwrap_or_default();
        let excluded: BTreeSet<String> = answer.excluded_files.into_iter().collect();
        for group in files.chunks(GROUP) {
            let told = |path: &&str| has_findings(Some(&results), path);
            self.positions.read(group.iter().map(String::as_str).filter(told));
            for path in group {
                let rules = results.remove(path);
                self.answered(path, rules, excluded.contains(path), failed);
            }
        }
        let left_results = results.into_keys().map(|path| ("has results for", path));
        let left_excluded = excluded.into_iter().filter(|path| !files.contains(path));
        let left = left_results.chain(left_excluded.map(|path| ("excludes", path)));
        let mut requested = None;
        for (verb, path) in left {
            let requested = requested.get_or_insert_with(|| RequestedPaths::new(files));
            if let Some(sent) = requested.find(&path) {
                let reason = format!("the platform's response {verb} another spelling of its path, {path}");
                self.unreviewed(sent.to_owned(), reason);
            } else {
                let note = format!("the platform's response {verb} {path}, which was not requested");
                self.tally.notes.push(note);
            }
        }
    }

    /// Adds the results for one pipeline. A pipeline that was excluded or not evaluated by any rule is unreviewed.
    fn answered(&mut self, path: &str, rules: Option<Vec<RuleAnswer>>, is_excluded: bool, failed: bool) {
        let kind = PipelineKind::from_path(path);
        let has_results = rules.as_ref().is_some_and(|rules| !rules.is_empty());
        let why = match &rules {
            _ if is_excluded && kind.is_some() => Some(EXCLUDED),
            _ if is_excluded && !has_results => {
                self.tally.excluded.push(path.to_owned());
                return;
            }
            None => Some(NO_RESULT),
            Some(rules) if rules.is_empty() && self.expects_result(path) => Some(JUDGED_NOTHING),
            Some(_) => None,
        };
        if let Some(why) = why {
            self.unreviewed(path.to_owned(), why);
        }
        if let Some(rules) = rules.filter(|_| has_results || why.is_none()) {
            self.file(path.to_owned(), rules, failed, why.is_some());
        }
    }

    fn expects_result(&self, path: &str) -> bool {
        evidence::expects_result(self.rules, self.positions, path)
    }

    /// Returns whether the batch's overall status is FAILED; adds a doubt if the status is missing or unknown.
    fn status(&mut self, files: &[String], status: Option<&str>, said_instead: Option<&str>) -> bool {
        let doubt = match (status, said_instead) {
            (Some("PASSED" | "FAILED"), _) => return status == Some("FAILED"),
            (Some(other), _) => format!("the platform's response has an unknown reviewStatus: {other}"),
            (None, None) => "the platform's response has no reviewStatus".to_owned(),
            (None, Some(said)) => {
                format!("the platform's response has no reviewStatus and no results, but: {said}")
            }
        };
        let doubtful = files.iter().map(|path| (path.clone(), doubt.clone()));
        self.tally.doubtful.extend(doubtful);
        self.doubt(doubt);
        false
    }

    fn doubt(&mut self, doubt: String) {
        if !self.tally.doubts.contains(&doubt) {
            self.tally.doubts.push(doubt);
        }
    }

    fn unreviewed(&mut self, path: String, reason: impl Into<String>) {
        self.tally.unreviewed.push(UnreviewedFile {
            path,
            reason: reason.into(),
        });
    }

    /// Adds the results of one file. If some of them are unknown or contradict each other, the file is also unreviewed.
    fn file(&mut self, path: String, rules: Vec<RuleAnswer>, failed: bool, is_open: bool) {
        let mut results: Vec<RuleResult> = Vec::with_capacity(rules.len());
        let mut unclear = None;
        for rule in rules {
            match self.rule(&path, rule, failed) {
                Ok(result) => {
                    let is_of_it = |known: &&RuleResult| known.rule == result.rule;
                    let known = results.iter().find(is_of_it);
                    if known.is_some_and(|known| known.status.name() != result.status.name()) {
                        unclear = Some(format!("the rule {} has two different results", result.rule));
                    }
                    results.push(result);
                }
                Err(why) => unclear = Some(why),
            }
        }
        if !results.is_empty() {
            let judged = results.iter().map(|result| result.rule.as_str());
            self.gaps.compare(&path, judged, self.rules);
        }
        if let Some(why) = unclear.filter(|_| !is_open) {
            self.unreviewed(path.clone(), why);
            if results.is_empty() {
                return;
            }
        }
        self.tally.files.push(FileResults { path, results });
    }

    fn rule(&mut self, path: &str, mut answer: RuleAnswer, failed: bool) -> Result<RuleResult, String> {
        let Some(rule) = answer.rule_name.take() else {
            return Err("a rule result has no ruleName".to_owned());
        };
        let enforcement = self.rules.and_then(|rules| rules.enforcement(&rule));
        let treated = self.gaps.status(path, &rule, &answer);
        let status = match treated.or(answer.status.as_deref()) {
            Some("PASSED") => Status::Passed,
            Some("FAILED") => Status::Failed(severity(enforcement, failed)),
            Some("ERROR") => Status::Error(answer.error_type),
            Some(other) => return Err(format!("the rule {rule} has an unknown status: {other}")),
            None => return Err(format!("the rule {rule} has no status")),
        };
        let violations = self.violations(path, &rule, &status, answer.violations);
        let is_counted = violations.is_empty() && matches!(status, Status::Failed(_));
        let size = self.positions.size(path, &rule).filter(|_| is_counted);
        Ok(RuleResult {
            size,
            origin: Origin::Platform,
            ..RuleResult::new(rule, status, enforcement, violations)
        })
    }

    fn violations(&mut self, path: &str, rule: &str, status: &Status, texts: Vec<String>) -> Vec<Violation> {
        let texts = texts.into_iter();
        if matches!(status, Status::Passed) {
            return texts.map(Violation::new).collect();
        }
        texts
            .map(|text| self.positions.violation(path, rule, status, text))
            .collect()
    }
}

/// Returns the severity by the rules file; if it does not define one, by the response's overall status.
const fn severity(enforcement: Option<Enforcement>, review_failed: bool) -> Severity {
    let fails = match enforcement {
        Some(level) => matches!(level, Enforcement::Error),
        None => review_failed,
    };
    if fails { Severity::Error } else { Severity::Warning }
}
