//! Merges the batches' answers into findings. What an answer leaves open is noted, never filled in.

use super::{BatchAnswer, Compared, Positions};
use crate::api::{ReviewAnswer, RuleAnswer};
use crate::findings::{Enforcement, FileResults, RuleResult, Severity, Status, Unreviewed, Violation};
use crate::rules::RuleSet;
use std::collections::{BTreeMap, BTreeSet};

/// The lines of so many files are looked for together.
const GROUP: usize = 128;

/// Everything that the answers say, and everything that they do not.
#[derive(Debug, Default)]
pub struct Tally {
    /// The files with results, by path.
    pub files: Vec<FileResults>,
    /// Files that the platform does not review, by path.
    pub excluded: Vec<String>,
    /// Files without a usable answer, by path.
    pub unreviewed: Vec<Unreviewed>,
    /// The same of a batch in which nothing was found: nothing says why, so nothing can excuse it.
    pub failed_without_finding: bool,
    /// What the base has too, where only new findings are to count.
    pub compared: Option<Compared>,
    /// The files of each batch whose `reviewStatus` is FAILED.
    pub failed_batches: Vec<BTreeSet<String>>,
    /// What leaves the verdict open, other than unreviewed files; each a sentence.
    pub doubts: Vec<String>,
    /// The files that such a doubt is about, each with the doubt.
    pub doubtful: BTreeMap<String, String>,
    /// What else is to be known; each a sentence.
    pub notes: Vec<String>,
}

/// Merges the answers. `rules` are those of the reviewed commit, where they are known.
pub fn merge(answers: Vec<BatchAnswer>, rules: Option<&RuleSet>, positions: &mut Positions<'_>) -> Tally {
    let mut tally = Tally::default();
    positions.find(&answers.iter().flat_map(with_findings).collect());
    for batch in answers {
        match batch.outcome {
            Ok(answer) => Merger {
                tally: &mut tally,
                rules,
                positions,
            }
            .batch(&batch.files, answer),
            Err(error) => {
                let reason = error.cause();
                let missing = |path| Unreviewed {
                    path,
                    reason: reason.clone(),
                };
                tally.unreviewed.extend(batch.files.into_iter().map(missing));
            }
        }
    }
    tally.files.sort_by(|a, b| a.path.cmp(&b.path));
    tally.excluded.sort();
    tally.unreviewed.sort_by(|a, b| a.path.cmp(&b.path));
    tally
}

/// The files of a batch in which something was found.
fn with_findings(batch: &BatchAnswer) -> impl Iterator<Item = &str> {
    let answer = batch.outcome.as_ref().ok();
    let files = batch.files.iter().map(String::as_str);
    files.filter(move |path| answer.is_some_and(|answer| has_findings(answer.results.as_ref(), path)))
}

fn has_findings(results: Option<&BTreeMap<String, Vec<RuleAnswer>>>, path: &str) -> bool {
    let is_told = |rule: &RuleAnswer| rule.status.as_deref() != Some("PASSED") && !rule.violations.is_empty();
    let rules = results.and_then(|results| results.get(path));
    rules.is_some_and(|rules| rules.iter().any(is_told))
}

struct Merger<'m, 'p> {
    tally: &'m mut Tally,
    rules: Option<&'m RuleSet>,
    positions: &'m mut Positions<'p>,
}

impl Merger<'_, '_> {
    fn batch(&mut self, files: &[String], answer: ReviewAnswer) {
        let failed = self.status(files, answer.review_status.as_deref());
        if failed {
            self.tally.failed_batches.push(files.iter().cloned().collect());
        }
        let before = self.tally.files.len();
        let mut results = answer.results.unwrap_or_default();
        let excluded: BTreeSet<String> = answer.excluded_files.into_iter().collect();
        for group in files.chunks(GROUP) {
            let told = |path: &&str| has_findings(Some(&results), path);
            self.positions.read(group.iter().map(String::as_str).filter(told));
            for path in group {
                match results.remove(path) {
                    Some(rules) if !(rules.is_empty() && excluded.contains(path)) => {
                        self.file(path.clone(), rules, failed);
                    }
                    _ if excluded.contains(path) => self.tally.excluded.push(path.clone()),
                    _ => self.unreviewed(path.clone(), "the platform's answer has no result here"),
                }
            }
        }
        let judged = self.tally.files.iter().skip(before);
        let has_finding = judged
            .flat_map(|file| &file.results)
            .any(|result| result.severity().is_some());
        self.tally.failed_without_finding |= failed && !has_finding;
        for (path, _) in results {
            let note = format!("the platform's answer has results for {path}, which was not asked for");
            self.tally.notes.push(note);
        }
    }

    /// Whether the batch's overall status is FAILED.
    fn status(&mut self, files: &[String], status: Option<&str>) -> bool {
        let doubt = match status {
            Some("PASSED" | "FAILED") => return status == Some("FAILED"),
            Some(other) => format!("the platform's answer has an unknown reviewStatus: {other}"),
            None => "the platform's answer has no reviewStatus".to_owned(),
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
        self.tally.unreviewed.push(Unreviewed {
            path,
            reason: reason.into(),
        });
    }

    /// A file whose answer is only partly understood has its known results, and counts as unreviewed too.
    fn file(&mut self, path: String, rules: Vec<RuleAnswer>, failed: bool) {
        let mut results = Vec::with_capacity(rules.len());
        let mut unclear = None;
        for rule in rules {
            match self.rule(&path, rule, failed) {
                Ok(result) => results.push(result),
                Err(why) => unclear = Some(why),
            }
        }
        if let Some(why) = unclear {
            self.unreviewed(path.clone(), why);
            if results.is_empty() {
                return;
            }
        }
        self.tally.files.push(FileResults { path, results });
    }

    fn rule(&mut self, path: &str, answer: RuleAnswer, failed: bool) -> Result<RuleResult, String> {
        let Some(rule) = answer.rule_name else {
            return Err("a rule result has no ruleName".to_owned());
        };
        let enforcement = self.rules.and_then(|rules| rules.enforcement(&rule));
        let status = match answer.status.as_deref() {
            Some("PASSED") => Status::Passed,
            Some("FAILED") => Status::Failed(severity(enforcement, failed)),
            Some("ERROR") => Status::Error(answer.error_type),
            Some(other) => return Err(format!("the rule {rule} has an unknown status: {other}")),
            None => return Err(format!("the rule {rule} has no status")),
        };
        let violations = self.violations(path, &rule, &status, answer.violations);
        Ok(RuleResult {
            rule,
            status,
            enforcement,
            violations,
            states: Vec::new(),
            waivers: Vec::new(),
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

/// By the rules file; where it does not say, by the answer's overall status.
const fn severity(enforcement: Option<Enforcement>, review_failed: bool) -> Severity {
    let fails = match enforcement {
        Some(level) => matches!(level, Enforcement::Error),
        None => review_failed,
    };
    if fails { Severity::Error } else { Severity::Warning }
}
