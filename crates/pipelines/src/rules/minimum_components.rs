//! The rule `minimum-components`.

use super::error::EvaluationError;
use super::evaluated_pipeline::{build_size_violation, count_components};
use super::rule::{ConfigField, Evaluator, Measure, Rule, RuleDocumentation};
use super::rule_config::RuleConfig;
use crate::pipelines::PipelineKind;
use sluicegate_base::text;

pub(super) struct MinimumComponents;

impl Rule for MinimumComponents {
    fn documentation(&self) -> &'static RuleDocumentation {
        &DOCUMENTATION
    }

    /// Returns the function that counts the limited items. A known or waived finding fails the gate again if the number
    /// shrinks.
    fn measure(&self) -> Measure {
        Measure::LessIsWorse(count_components)
    }

    /// Creates the evaluator, which reports a pipeline with fewer than `minComponents` components.
    fn prepare(&self, config: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError> {
        let minimum = config.require_count("minComponents")?;
        Ok(Box::new(move |subject| {
            let component_count = count_components(subject.pipeline);
            if component_count >= minimum {
                return Ok(Vec::new());
            }
            let amount = text::format_count(component_count, "component");
            Ok(vec![build_size_violation(
                component_count,
                &format!(
                    "has {amount}, fewer than the minimum of {minimum}: add the missing components or \
                     delete the pipeline"
                ),
            )])
        }))
    }
}

static DOCUMENTATION: RuleDocumentation = RuleDocumentation {
    id: "minimum-components",
    kinds: &PipelineKind::ALL,
    summary: "A pipeline must have at least the minimum number of components.",
    reason: "An empty or nearly empty pipeline is usually unfinished, but its runs still succeed.",
    fix: "Add the missing components, or delete the pipeline.",
    details: &[
        "Every component counts, including skipped and empty components.",
        "The rule reports one violation for the pipeline, on line 1.",
    ],
    assumptions: &["A pipeline with exactly the minimum number of components passes."],
    config: &[ConfigField {
        name: "minComponents",
        meaning: "the minimum number of components, a non-negative integer",
        default: "1",
    }],
    example_config: "minComponents: 1",
    passing_example: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
",
    failing_example: "\
type: orchestration
pipeline: {}
",
};
