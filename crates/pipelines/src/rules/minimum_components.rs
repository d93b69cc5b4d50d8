//! The rule `minimum-components`.

use super::config::Config;
use super::error::EvaluationError;
use super::rule::{ConfigField, Documentation, Evaluator, Measure, Rule};
use super::subject::{count_components, size_violation};
use crate::pipelines::Kind;
use sluicegate_base::text;

pub(super) struct MinimumComponents;

impl Rule for MinimumComponents {
    fn documentation(&self) -> &'static Documentation {
        &DOCUMENTATION
    }

    fn measure(&self) -> Measure {
        Measure::LessIsWorse(count_components)
    }

    fn prepare(&self, config: &Config<'_, '_>) -> Result<Evaluator, EvaluationError> {
        let minimum = config.count("minComponents")?;
        Ok(Box::new(move |subject| {
            let component_count = count_components(subject.pipeline);
            if component_count >= minimum {
                return Ok(Vec::new());
            }
            let amount = text::count(component_count, "component");
            Ok(vec![size_violation(
                component_count,
                &format!(
                    "has {amount}, fewer than the minimum of {minimum}: add the missing ones or delete the pipeline"
                ),
            )])
        }))
    }
}

static DOCUMENTATION: Documentation = Documentation {
    id: "minimum-components",
    kinds: &Kind::ALL,
    summary: "A pipeline has at least the minimum number of components.",
    reason: "An empty or nearly empty pipeline is usually unfinished, but its runs still succeed.",
    fix: "Add the missing components, or delete the pipeline.",
    details: &[
        "Every component counts, including skipped and empty components.",
        "The rule reports one violation for the pipeline, on line 1.",
    ],
    assumed: &["Exactly the minimum number is enough."],
    config: &[ConfigField {
        name: "minComponents",
        meaning: "the minimum number of components, an integer from 0",
        default: "1",
    }],
    example_config: "minComponents: 1",
    passes: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
",
    fails: "\
type: orchestration
pipeline: {}
",
};
