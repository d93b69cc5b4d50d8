//! Checks that a response really evaluated the pipelines that were sent. The platform can report PASSED without having
//! evaluated anything; such a response is not evidence. Rules that the platform no longer knows, or that only the
//! platform knows, are reported as notes, since they should not block every change.

use crate::gate::Positions;
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::findings::StatusName;
use sluicegate_pipelines::pipelines::PipelineKind;
use sluicegate_pipelines::rules::{self, RuleSet, RuleState};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of rules or pipelines in a note.
const MAX_LISTED_GAPS: usize = 5;

/// Returns whether the response must contain a rule result for the file. It must if the rules file enables a rule for
/// this kind of pipeline, or if the content of the rules file is unknown. A file that is not a pipeline needs no
/// result.
pub(crate) fn needs_result(rules: Option<&RuleSet>, positions: &Positions<'_>, path: &str) -> bool {
    // The content is read only if the result may depend on it.
    PipelineKind::ALL
        .into_iter()
        .any(|kind| may_enable_any_rule(rules, kind))
        && positions
            .find_kind(path)
            .is_some_and(|kind| may_enable_any_rule(rules, kind))
}

/// Returns whether the rules file enables at least one rule for pipelines of this kind. Returns true if its content is
/// unknown.
fn may_enable_any_rule(rules: Option<&RuleSet>, kind: PipelineKind) -> bool {
    let enabled_rules = rules.and_then(|rules| rules.enabled_ids(Some(kind)));
    enabled_rules.is_none_or(|mut rule_names| rule_names.next().is_some())
}

/// Gaps and contradictions in the responses, collected for the notes of the report.
#[derive(Debug, Default)]
pub(crate) struct ResponseGaps {
    /// The pipelines without a result of an enabled rule, by rule.
    missing_results: BTreeMap<String, Vec<String>>,
    /// Unknown rules, from pipelines that have results of unknown rules only.
    unknown_rules: BTreeSet<String>,
    /// Descriptions of results that the platform reported as PASSED despite violations or an error.
    false_passes: Vec<String>,
}

impl ResponseGaps {
    /// Records a result that the platform reported as passed, although the rest of the result proves another status.
    pub(crate) fn record_false_pass(&mut self, path: &str, rule: &str, proven_status: StatusName) {
        let contradiction = match proven_status {
            StatusName::Passed => return,
            StatusName::Failed => "violations",
            StatusName::Error => "an error",
        };
        self.false_passes
            .push(format!("{rule} in {path} has {contradiction}"));
    }

    /// Records the enabled rules without a result for this pipeline. If the platform returned only results of unknown
    /// rules, records these rules instead. Does nothing for a pipeline without any result, or if the enabled rules are
    /// unknown.
    pub(crate) fn record_missing_results<'r>(
        &mut self,
        path: &str,
        evaluated_rules: impl Iterator<Item = &'r str>,
        rules: Option<&RuleSet>,
    ) {
        let Some(rules) = rules else { return };
        let evaluated_rules: BTreeSet<&str> = evaluated_rules.collect();
        let Some(enabled_rules) = rules.enabled_ids(PipelineKind::from_path(path)) else {
            return;
        };
        let is_known =
            |rule: &&str| rules::find_rule(rule).is_some() || rules.state(rule) != RuleState::Missing;
        if !evaluated_rules.iter().any(is_known) {
            self.unknown_rules
                .extend(evaluated_rules.into_iter().map(str::to_owned));
            return;
        }
        for rule in enabled_rules.filter(|rule| !evaluated_rules.contains(rule)) {
            self.missing_results
                .entry(rule.to_owned())
                .or_default()
                .push(path.to_owned());
        }
    }

    /// Describes each kind of gap in the results in one sentence. The missing results were recorded by the file name of
    /// a pipeline, which may suggest another kind than its content. They are therefore reported only if an example is
    /// found to which the rule applies by its content.
    pub(crate) fn into_notes(self, rules: Option<&RuleSet>, positions: &Positions<'_>) -> Vec<String> {
        let mut notes = Vec::new();
        for (rule, paths) in &self.missing_results {
            // Only the first pipelines are examined, because the content of each must be read.
            let example_path = paths.iter().take(MAX_LISTED_GAPS).find(|path| {
                let enabled_rules = rules.and_then(|rules| rules.enabled_ids(positions.find_kind(path)));
                enabled_rules.is_some_and(|mut rule_ids| rule_ids.any(|id| id == rule))
            });
            if let Some(path) = example_path {
                notes.push(format!(
                    "the platform returned no result for the enabled rule {rule} in {}, such as {path}",
                    format_count(paths.len(), "pipeline")
                ));
            }
        }
        if !self.unknown_rules.is_empty() {
            let listed_rules = List::with_limit(self.unknown_rules, MAX_LISTED_GAPS).join_with_semicolons();
            notes.push(format!(
                "the platform evaluated some pipelines only against rules that are neither in the rules file nor known to this program: {listed_rules}"
            ));
        }
        if !self.false_passes.is_empty() {
            notes.push(format!(
                "the platform reported {} as PASSED despite violations or an error; the gate uses FAILED or ERROR instead: {}",
                format_count(self.false_passes.len(), "result"),
                List::with_limit(&self.false_passes, MAX_LISTED_GAPS).join_with_semicolons()
            ));
        }
        notes
    }
}
