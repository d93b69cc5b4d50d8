//! Checks that a response really evaluated the pipelines that were sent. The platform can report PASSED without having
//! evaluated anything; such a response is not evidence. Rules that the platform no longer knows, or that only the
//! platform knows, are reported as notes, since they should not block every change.

use crate::gate::Positions;
use sluicegate_base::text::{List, count};
use sluicegate_pipelines::pipelines::PipelineKind;
use sluicegate_pipelines::rules::{self, RuleSet, RuleState};
use sluicegate_platform::api::RuleAnswer;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rules or pipelines in a note.
const NAMED: usize = 5;

/// Returns whether the response must have a rule result for the pipeline: the rules file enables a rule for its kind,
/// or the content of the rules file is unknown. Other files that a job includes need no result.
pub(crate) fn expects_result(rules: Option<&RuleSet>, positions: &Positions<'_>, path: &str) -> bool {
    let enables = |kind| {
        let enabled = rules.and_then(|rules| rules.enabled_ids(Some(kind)));
        enabled.is_none_or(|mut enabled| enabled.next().is_some())
    };
    // The content is read only if the result may depend on it.
    PipelineKind::ALL.into_iter().any(enables) && positions.kind(path).is_some_and(enables)
}

/// Gaps and contradictions in the responses, collected for the notes of the report.
#[derive(Debug, Default)]
pub(crate) struct Gaps {
    /// The pipelines without a result of an enabled rule, by rule.
    unjudged: BTreeMap<String, Vec<String>>,
    /// Unknown rules, from pipelines that have results of unknown rules only.
    strangers: BTreeSet<String>,
    /// Descriptions of results that the platform reported as PASSED despite violations or an error.
    not_passed: Vec<String>,
}

impl Gaps {
    /// Returns the status to use if the result has an error, or is `PASSED` with violations; otherwise `None`.
    pub(crate) fn status(&mut self, path: &str, rule: &str, answer: &RuleAnswer) -> Option<&'static str> {
        let (treated, why) = match answer.status.as_deref()? {
            "PASSED" if answer.error_type.is_some() => ("ERROR", "an error"),
            "FAILED" if answer.error_type.is_some() => return Some("ERROR"),
            "PASSED" if !answer.violations.is_empty() => ("FAILED", "violations"),
            _ => return None,
        };
        self.not_passed.push(format!("{rule} in {path} has {why}"));
        Some(treated)
    }

    /// Records the enabled rules without a result for this pipeline; if all its results are of unknown rules, records
    /// these.
    pub(crate) fn compare<'r>(
        &mut self,
        path: &str,
        judged: impl Iterator<Item = &'r str>,
        rules: Option<&RuleSet>,
    ) {
        let Some(rules) = rules else { return };
        let judged: BTreeSet<&str> = judged.collect();
        let Some(enabled) = rules.enabled_ids(PipelineKind::from_path(path)) else {
            return;
        };
        let is_known =
            |rule: &&str| rules::find_rule(rule).is_some() || rules.state(rule) != RuleState::Missing;
        if !judged.iter().any(is_known) {
            self.strangers.extend(judged.into_iter().map(str::to_owned));
            return;
        }
        for rule in enabled.filter(|rule| !judged.contains(rule)) {
            self.unjudged
                .entry(rule.to_owned())
                .or_default()
                .push(path.to_owned());
        }
    }

    /// Returns a sentence for each kind of gap. A pipeline's file name may suggest another kind than its content, so a
    /// rule is reported only if it applies, by content, to a pipeline without its result.
    pub(crate) fn notes(self, rules: Option<&RuleSet>, positions: &Positions<'_>) -> Vec<String> {
        let applies = |rule: &str, path: &str| {
            let kind = positions.kind(path);
            let enabled = rules.and_then(|rules| rules.enabled_ids(kind));
            enabled.is_some_and(|mut enabled| enabled.any(|known| known == rule))
        };
        let mut notes = Vec::new();
        for (rule, paths) in &self.unjudged {
            if let Some(path) = paths.iter().take(NAMED).find(|path| applies(rule, path)) {
                notes.push(format!(
                    "the platform returned no result for the enabled rule {rule} in {}, such as {path}",
                    count(paths.len(), "pipeline")
                ));
            }
        }
        if !self.strangers.is_empty() {
            let named = List::with_limit(self.strangers, NAMED).with_semicolons();
            notes.push(format!(
                "the platform evaluated pipelines only with rules that neither the rules file nor this program knows: {named}"
            ));
        }
        if !self.not_passed.is_empty() {
            notes.push(format!(
                "the platform reported {} as PASSED despite violations or an error; the gate uses FAILED or ERROR instead: {}",
                count(self.not_passed.len(), "result"),
                List::with_limit(&self.not_passed, NAMED).with_semicolons()
            ));
        }
        notes
    }
}
