//! The trait and the description of a rule.

use super::error::EvaluationError;
use super::evaluated_pipeline::EvaluatedPipeline;
use super::rule_config::RuleConfig;
use crate::findings::Violation;
use crate::pipelines::{LinkRole, Pipeline, PipelineKind};

/// A quality rule. Each rule has its own file and one line in the registry.
pub trait Rule: Sync {
    /// Returns the description of the rule for users, with the facts that its evaluation needs, such as the id.
    fn documentation(&self) -> &'static RuleDocumentation;

    /// Returns the number that the rule counts, with the direction in which it gets worse. Each rule must state it:
    /// otherwise `--new-only` and waivers would excuse a finding that got worse.
    fn measure(&self) -> Measure;

    /// Returns the text of the rule's only violation if this pipeline lacks what the rule needs. The violation is then
    /// about the pipeline as a whole, and engines may word it in different ways.
    fn describe_missing_part(&self, _: &Pipeline) -> Option<&'static str> {
        None
    }

    /// Returns the role of the links that keep a component free of findings of this rule. If such a link leads to a
    /// missing component, the finding is a consequence of the broken link.
    fn link_role(&self) -> Option<LinkRole> {
        None
    }

    /// Returns whether the finding is about the component that the link should name, not about the component with the
    /// link.
    fn is_about_link_target(&self) -> bool {
        false
    }

    /// Reads the rule's configuration, and creates the evaluator for all pipelines. Fails if the configuration is
    /// invalid.
    fn prepare(&self, config: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError>;
}

/// The number that a rule counts in a pipeline, and the direction in which that number gets worse.
#[derive(Debug, Clone, Copy)]
pub enum Measure {
    /// The rule does not count: each violation has its own subject.
    Uncounted,
    /// The rule sets a maximum for the number that this function counts.
    MoreIsWorse(fn(&Pipeline) -> u64),
    /// The rule sets a minimum for the number that this function counts.
    LessIsWorse(fn(&Pipeline) -> u64),
}

/// A rule with its configuration: returns the violations of a pipeline, in file order.
pub(crate) type Evaluator =
    Box<dyn Fn(&EvaluatedPipeline<'_>) -> Result<Vec<Violation>, EvaluationError> + Send + Sync>;

#[derive(Debug, PartialEq, Eq)]
pub struct RuleDocumentation {
    /// The id in the rules file.
    pub id: &'static str,
    /// The kinds of pipeline that the rule applies to; other pipelines get no result.
    pub kinds: &'static [PipelineKind],
    /// The requirement, in one sentence.
    pub summary: &'static str,
    pub reason: &'static str,
    /// The instruction to fix a finding, in one sentence.
    pub fix: &'static str,
    /// The description of the check, in sentences.
    pub details: &'static [&'static str],
    /// Details that the platform's documentation does not define and that this program therefore assumes.
    pub assumptions: &'static [&'static str],
    /// The fields of `config`, all required.
    pub config: &'static [ConfigField],
    /// The `config` of the two examples, as YAML; empty for rules without `config`.
    pub example_config: &'static str,
    /// An example pipeline that passes.
    pub passing_example: &'static str,
    pub failing_example: &'static str,
}

/// A field of a rule's `config`.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfigField {
    pub name: &'static str,
    pub meaning: &'static str,
    /// The platform's default value, as YAML; it is not used if the field is missing.
    pub default: &'static str,
}
