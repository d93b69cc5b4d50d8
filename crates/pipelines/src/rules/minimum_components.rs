//! The rule `minimum-components`.

use super::config::Config;
use super::error::EvaluationError;
use super::rule::{ConfigField, Documentation, Evaluator, Measure, Rule};
use super::subject::{component_count, of_size};
use crate::pipelines::Kind;
use sluicegate_base::text;

pub(super) struct MinimumComponents;

impl Rule for MinimumComponents {
    fn documentation(&self) -> &'static Documentation {
        &DOCUMENTATION
    }

    fn measure(&self) -> Measure {
        Measure::LessIsWorse(component_count)
    }

    fn prepare(&self, config: &Config<'_, '_>) -> Result<Evaluator, EvaluationError> {
        let minimum = config.count("minComponents")?;
        Ok(Box::new(move |subject| {
            let count = component_count(subject.pipeline);
            if count >= minimum {
                return Ok(Vec::new());
            }
            let has = text::format_count(count, "component");
            Ok(vec![of_size(
                count,
                &format!(
                    "has {has}, fewer than the minimum of {minimum}: add the missing ones or delete the pipeline"
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
