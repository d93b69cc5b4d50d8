//! The rule `maximum-components`.

use super::error::EvaluationError;
use super::evaluated_pipeline::{build_size_violation, count_components};
use super::rule::{ConfigField, Evaluator, Measure, Rule, RuleDocumentation};
use super::rule_config::RuleConfig;
use crate::pipelines::PipelineKind;
use sluicegate_base::text;

pub(super) struct MaximumComponents;

impl Rule for MaximumComponents {
    fn documentation(&self) -> &'static RuleDocumentation {
        &DOCUMENTATION
    }

    /// Returns the function that counts the limited items. A known or waived finding fails the gate again if the number
    /// grows.
    fn measure(&self) -> Measure {
        Measure::MoreIsWorse(count_components)
    }

    /// Creates the evaluator, which reports a pipeline with more than `maxComponents` components.
    fn prepare(&self, config: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError> {
        let maximum = config.require_count("maxComponents")?;
        Ok(Box::new(move |subject| {
            let component_count = count_components(subject.pipeline);
            if component_count <= maximum {
                return Ok(Vec::new());
            }
            let amount = text::format_count(component_count, "component");
            Ok(vec![build_size_violation(
                component_count,
                &format!(
                    "has {amount}, more than the maximum of {maximum}: move some to another pipeline and call it from here"
                ),
            )])
        }))
    }
}

static DOCUMENTATION: RuleDocumentation = RuleDocumentation {
    id: "maximum-components",
    kinds: &PipelineKind::ALL,
    summary: "A pipeline must not have more than the maximum number of components.",
    reason: "A large pipeline is hard to read, to test and to change without conflicts; several small \
         pipelines that call each other are easier.",
    fix: "Move some components to another pipeline and call it with a Run Orchestration or Run Transformation component.",
    details: &[
        "Every component counts, including skipped and empty components.",
        "The rule reports one violation for the pipeline, on line 1.",
    ],
    assumptions: &["A pipeline with exactly the maximum number of components passes."],
    config: &[ConfigField {
        name: "maxComponents",
        meaning: "the maximum number of components, a non-negative integer",
        default: "10",
    }],
    example_config: "maxComponents: 1",
    passing_example: "\
type: transformation
pipeline:
  components:
    Orders:
      type: table-input
",
    failing_example: "\
type: transformation
pipeline:
  components:
    Orders:
      type: table-input
    Clean orders:
      type: filter
      sources: [Orders]
",
};
