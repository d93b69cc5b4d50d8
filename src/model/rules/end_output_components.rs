//! The rule `end-output-components`.

use super::config::Config;
use super::error::EvaluationError;
use super::maximum_outputs::is_output;
use super::rule::{Documentation, Evaluator, Rule};
use crate::model::pipelines::{Kind, LinkRole};

pub(super) struct EndOutputComponents;

impl Rule for EndOutputComponents {
    fn documentation(&self) -> &'static Documentation {
        &DOCUMENTATION
    }

    fn prepare(&self, _: &Config<'_, '_>) -> Result<Evaluator, EvaluationError> {
        Ok(Box::new(|subject| {
            let feeds = subject.graph().linked_to(&[LinkRole::Source]);
            Ok(subject.violations_of_components(
                |at, component| feeds.get(at) == Some(&false) && !is_output(component),
                "is the last step of its branch, but writes no output: connect it to an output component or delete it",
            ))
        }))
    }
}

static DOCUMENTATION: Documentation = Documentation {
    id: "end-output-components",
    kinds: &[Kind::Transformation],
    summary: "Every branch of a transformation ends in an output component.",
    reason: "A branch that writes nothing costs time at every run and has no effect.",
    fix: "Connect the last component of each branch to an output component, or delete the branch.",
    details: &["A source that does not exist, or a component that is its own source, connects nothing."],
    assumed: &[
        "A branch end is a component that is a source of no other; unconnected components are branch ends, a cycle \
         has none and passes, and so does an empty pipeline.",
        "Output components are those of type `rewrite-table`, `rewrite-table-dl`, `table-output`, `table-update` \
         and `create-view`, each also with a version such as `-v2`.",
        "One violation for each branch end that is no output component, on the line of its key.",
    ],
    config: &[],
    example_config: "",
    passes: "\
type: transformation
pipeline:
  components:
    Orders:
      type: table-input
    Write orders:
      type: rewrite-table
      sources: [Orders]
",
    fails: "\
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
