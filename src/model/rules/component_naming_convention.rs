//! The rule `component-naming-convention`.

use super::config::Config;
use super::error::EvaluationError;
use super::pattern::Pattern;
use super::rule::{ConfigField, Documentation, Evaluator, Rule};
use crate::model::pipelines::Kind;
use crate::model::yaml::shortened;

const ID: &str = "component-naming-convention";

pub(super) struct ComponentNamingConvention;

impl Rule for ComponentNamingConvention {
    fn documentation(&self) -> &'static Documentation {
        &DOCUMENTATION
    }

    fn prepare(&self, config: &Config<'_, '_>) -> Result<Evaluator, EvaluationError> {
        let pattern = config.text("regexMatchPattern")?;
        let regex = Pattern::whole_name(ID, pattern)?;
        let problem = format!(
            "does not match the naming convention {}: rename it",
            shortened(pattern)
        );
        Ok(Box::new(move |subject| {
            let components = &subject.pipeline.components;
            let matches = regex.matches(components.iter().map(|component| component.name.as_str()))?;
            Ok(subject.violations_of_components(|at, _| matches.get(at) == Some(&false), &problem))
        }))
    }
}

static DOCUMENTATION: Documentation = Documentation {
    id: ID,
    kinds: &Kind::ALL,
    summary: "Every component's name matches a regular expression.",
    reason: "Names that follow one convention tell a reader what a component does, and can be searched for.",
    fix: "Rename the component so that its name matches `regexMatchPattern`.",
    details: &[
        "A component's name is its key in `pipeline.components`, as it is written; the parameter `componentName` \
         plays no part.",
        "One violation for each component whose name does not match, on the line of its key.",
        "The expression is compiled as it is written: an empty one is `designer/empty-regex-pattern`, one that does \
         not compile is `designer/invalid-regex-pattern`.",
    ],
    assumed: &[
        "The expression must match the whole name, also where it has no `^` and `$`.",
        "Look-around and back-references are evaluated. An expression with them may take 10,000 steps on a name; one that \
         takes more is `designer/invalid-regex-pattern`, which names the component. Without them any expression is fast.",
    ],
    config: &[ConfigField {
        name: "regexMatchPattern",
        meaning: "the regular expression that every name must match",
        default: "\".*\"",
    }],
    example_config: "regexMatchPattern: \"[A-Z][A-Za-z ]*\"",
    passes: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
    Load orders:
      type: run-orchestration
",
    fails: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
    load orders_v2 FINAL:
      type: run-orchestration
",
};
