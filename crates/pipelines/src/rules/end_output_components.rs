//! The rule `end-output-components`.

use super::error::EvaluationError;
use super::maximum_outputs::is_output;
use super::rule::{Evaluator, Measure, Rule, RuleDocumentation};
use super::rule_config::RuleConfig;
use crate::pipelines::{LinkRole, PipelineKind};

pub(super) struct EndOutputComponents;

impl Rule for EndOutputComponents {
    fn documentation(&self) -> &'static RuleDocumentation {
        &DOCUMENTATION
    }

    /// Returns `Uncounted`: each violation is about its own subject, so there is no number that could get worse.
    fn measure(&self) -> Measure {
        Measure::Uncounted
    }

    /// Returns sources: a component may be a branch end because the source of its successor is misspelled.
    fn link_role(&self) -> Option<LinkRole> {
        Some(LinkRole::Source)
    }

    /// Returns `true`: the finding is about the source, not about the component that names it.
    fn is_about_link_target(&self) -> bool {
        true
    }

    /// Creates the evaluator, which reports each component that ends a branch without writing an output. The rule has
    /// no configuration.
    fn prepare(&self, _: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError> {
        Ok(Box::new(|subject| {
            // A component names its sources, so a component that another one names has a successor.
            let has_successor = subject.graph().compute_incoming_link_flags(&[LinkRole::Source]);
            Ok(subject.list_component_violations(
                |index, component| has_successor.get(index) == Some(&false) && !is_output(component),
                "is the last step of its branch, but does not write any output: connect it to an output component or delete it",
            ))
        }))
    }
}

static DOCUMENTATION: RuleDocumentation = RuleDocumentation {
    id: "end-output-components",
    kinds: &[PipelineKind::Transformation],
    summary: "Every branch of a transformation must end in an output component.",
    reason: "A branch without output costs time in every run but has no effect.",
    fix: "Connect the last component of each branch to an output component, or delete the branch.",
    details: &["A source that does not exist, or that is the component itself, is ignored."],
    assumptions: &[
        "A branch end is a component that is not a source of another component. Unconnected components are \
         branch ends. A cycle or an empty pipeline has no branch end and passes.",
        "Output components are those of type `rewrite-table`, `rewrite-table-dl`, `table-output`, `table-update` \
         and `create-view`, with or without a version suffix such as `-v2`.",
        "The rule reports one violation for each branch end that is not an output component, on the line of \
         its key.",
    ],
    config: &[],
    example_config: "",
    passing_example: "\
type: transformation
pipeline:
  components:
    Orders:
      type: table-input
    Write orders:
      type: rewrite-table
      sources: [Orders]
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
