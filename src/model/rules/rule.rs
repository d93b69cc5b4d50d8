//! What a rule is.

use super::config::Config;
use super::error::EvaluationError;
use super::subject::Subject;
use crate::model::findings::Violation;
use crate::model::pipelines::Kind;

/// A quality rule. Each stands in a file of its own and on one line of the registry.
pub trait Rule: Sync {
    /// What the rule is, for people and for the engine.
    fn documentation(&self) -> &'static Documentation;

    /// Reads the rule's configuration, once for all pipelines.
    fn prepare(&self, config: &Config<'_, '_>) -> Result<Evaluator, EvaluationError>;
}

/// A rule with its configuration: says what in a pipeline breaks it, in file order.
pub type Evaluator = Box<dyn Fn(&Subject<'_>) -> Result<Vec<Violation>, EvaluationError> + Send + Sync>;

#[derive(Debug, PartialEq, Eq)]
pub struct Documentation {
    /// As the rules file names it.
    pub id: &'static str,
    /// The kinds of pipeline that it applies to; others get no result.
    pub kinds: &'static [Kind],
    /// What must hold: one sentence.
    pub summary: &'static str,
    pub reason: &'static str,
    /// What to do about a finding: one sentence.
    pub fix: &'static str,
    /// How exactly it is checked: a sentence each.
    pub details: &'static [&'static str],
    /// Those details that the platform publishes nothing about, and that are therefore a decision of this program.
    pub assumed: &'static [&'static str],
    /// The fields of `config`, all required.
    pub config: &'static [ConfigField],
    /// The `config` that the two examples are for, as YAML; empty for rules without.
    pub example_config: &'static str,
    /// A pipeline for which the rule holds.
    pub passes: &'static str,
    pub fails: &'static str,
}

/// A field of a rule's `config`.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigField {
    pub name: &'static str,
    pub meaning: &'static str,
    /// What the platform ships, as YAML; it never fills a gap.
    pub default: &'static str,
}
