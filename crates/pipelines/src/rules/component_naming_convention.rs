//! The rule `component-naming-convention`.

use super::error::EvaluationError;
use super::pattern::Pattern;
use super::rule::{ConfigField, Evaluator, Measure, Rule, RuleDocumentation};
use super::rule_config::RuleConfig;
use crate::pipelines::PipelineKind;
use sluicegate_yaml::shorten;

const ID: &str = "component-naming-convention";

pub(super) struct ComponentNamingConvention;

impl Rule for ComponentNamingConvention {
    fn documentation(&self) -> &'static RuleDocumentation {
        &DOCUMENTATION
    }

    /// Returns `Uncounted`: each violation is about its own subject, so there is no number that could get worse.
    fn measure(&self) -> Measure {
        Measure::Uncounted
    }

    /// Compiles the pattern in the rule's configuration, and creates the evaluator, which reports each component whose
    /// name does not match the pattern.
    fn prepare(&self, config: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError> {
        let pattern = config.require_text("regexMatchPattern")?;
        let regex = Pattern::for_whole_names(ID, pattern)?;
        let problem = format!(
            "does not match the naming convention {}: rename it",
            shorten(pattern)
        );
        Ok(Box::new(move |subject| {
            let components = &subject.pipeline.components;
            let matches = regex.match_names(components.iter().map(|component| component.name.as_str()))?;
            Ok(subject.list_component_violations(|index, _| matches.get(index) == Some(&false), &problem))
        }))
    }
}

static DOCUMENTATION: RuleDocumentation = RuleDocumentation {
    id: ID,
    kinds: &PipelineKind::ALL,
    summary: "Every component name must match a regular expression.",
    reason: "Names that follow a convention show what a component does and are easy to search for.",
    fix: "Rename the component so that its name matches `regexMatchPattern`.",
    details: &[
        "A component's name is its key in `pipeline.components`, unchanged; the parameter `componentName` \
         is ignored.",
        "The rule reports one violation for each component whose name does not match, on the line of its \
         key.",
        "The expression is compiled unchanged. An empty expression is reported as \
         `designer/empty-regex-pattern`, an invalid expression as `designer/invalid-regex-pattern`.",
    ],
    assumptions: &[
        "The expression must match the complete name, even without `^` and `$`.",
        "Look-around and back-references are supported. An expression with them that needs more than 10,000 \
         steps for a name is reported as `designer/invalid-regex-pattern`, with the name. Expressions \
         without them are always fast.",
        "After a look-ahead or look-behind has matched, its other matches are not tried, as in most engines: `(?=(a+))a*b\\1` \
         does not match `aaaba`.",
    ],
    config: &[ConfigField {
        name: "regexMatchPattern",
        meaning: "the regular expression that every name must match",
        default: "\".*\"",
    }],
    example_config: "regexMatchPattern: \"[A-Z][A-Za-z ]*\"",
    passing_example: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
    Load orders:
      type: run-orchestration
",
    failing_example: "\
type: orchestration
pipeline:
  components:
    Start:
      type: start
    load orders_v2 FINAL:
      type: run-orchestration
",
};
