//! Whether a response judged what was sent. A platform can call everything passed and have judged nothing: such a response
//! is no evidence. A rule that the platform does not know any more, or one that only the platform knows, is no reason to
//! stop every change, so these are notes.

use super::Positions;
use crate::base::text::count;
use crate::model::pipelines::Kind;
use crate::model::rules::{self, RuleSet, RuleState};
use crate::platform::api::RuleAnswer;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rules or pipelines that a note names.
const NAMED: usize = 5;

/// Returns whether the pipeline must have a rule result: the rules file enables a rule for its kind, or what the file says is
/// unknown. Other files that a job includes need none.
pub(crate) fn expects_result(rules: Option<&RuleSet>, positions: &Positions<'_>, path: &str) -> bool {
    let enables = |kind| {
        let enabled = rules.and_then(|rules| rules.enabled(Some(kind)));
        enabled.is_none_or(|mut enabled| enabled.next().is_some())
    };
    // The content is read only where the answer may depend on it.
    Kind::ALL.into_iter().any(enables) && positions.kind(path).is_some_and(enables)
}

/// What the responses leave out or contradict, collected for the notes of the report.
#[derive(Debug, Default)]
pub(super) struct Gaps {
    /// By enabled rule, the pipelines without a result of it.
    unjudged: BTreeMap<String, Vec<String>>,
    /// Rules that nobody knows, of pipelines that have results of no other rule.
    strangers: BTreeSet<String>,
    /// Results that the platform called passed, by what they are.
    not_passed: Vec<String>,
}

impl Gaps {
    /// Returns the status as the result itself tells it: the platform's word `PASSED` is not believed beside violations or
    /// an error.
    pub(super) fn status(&mut self, path: &str, rule: &str, answer: &RuleAnswer) -> Option<&'static str> {
        let (treated, why) = match answer.status.as_deref()? {
            "PASSED" if answer.error_type.is_some() => ("ERROR", "an error"),
            "PASSED" if !answer.violations.is_empty() => ("FAILED", "violations"),
            _ => return None,
        };
        self.not_passed.push(format!("{rule} in {path} has {why}"));
        Some(treated)
    }

    /// Compares the rules of a pipeline's results with those that the rules file enables.
    pub(super) fn compare<'r>(
        &mut self,
        path: &str,
        judged: impl Iterator<Item = &'r str>,
        rules: Option<&RuleSet>,
    ) {
        let Some(rules) = rules else { return };
        let judged: BTreeSet<&str> = judged.collect();
        let Some(enabled) = rules.enabled(Kind::from_path(path)) else {
            return;
        };
        let is_known = |rule: &&str| rules::find(rule).is_some() || rules.state(rule) != RuleState::NotThere;
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

    /// Returns a sentence for each kind of gap. A pipeline's name may tell another kind than its content does, so a rule is
    /// named only if a pipeline that lacks it is of its kind.
    pub(super) fn notes(self, rules: Option<&RuleSet>, positions: &Positions<'_>) -> Vec<String> {
        let applies = |rule: &str, path: &str| {
            let kind = positions.kind(path);
            let enabled = rules.and_then(|rules| rules.enabled(kind));
            enabled.is_some_and(|mut enabled| enabled.any(|known| known == rule))
        };
        let mut notes = Vec::new();
        for (rule, paths) in &self.unjudged {
            if let Some(path) = paths.iter().take(NAMED).find(|path| applies(rule, path)) {
                notes.push(format!(
                    "the platform returned no result of the enabled rule {rule} for {}, such as {path}",
                    count(paths.len(), "pipeline")
                ));
            }
        }
        if !self.strangers.is_empty() {
            let named = first(&self.strangers.into_iter().collect::<Vec<_>>());
            notes.push(format!(
                "the platform judged pipelines only by rules that neither the rules file nor this program knows: {named}"
            ));
        }
        if !self.not_passed.is_empty() {
            notes.push(format!(
                "the platform called {} PASSED in spite of violations or an error; the gate treats that as FAILED or ERROR: {}",
                count(self.not_passed.len(), "result"),
                first(&self.not_passed)
            ));
        }
        notes
    }
}

/// The first of these, and the number of the others.
fn first(all: &[String]) -> String {
    let mut named: Vec<String> = all.iter().take(NAMED).cloned().collect();
    if all.len() > NAMED {
        named.push(format!("and {} more", all.len() - NAMED));
    }
    named.join("; ")
}
