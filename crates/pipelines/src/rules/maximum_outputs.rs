//! The rule `maximum-outputs`.

use super::error::EvaluationError;
use super::evaluated_pipeline::build_size_violation;
use super::rule::{ConfigField, Evaluator, Measure, Rule, RuleDocumentation};
use super::rule_config::RuleConfig;
use crate::pipelines::{Component, Pipeline, PipelineKind};
use sluicegate_base::text;

/// The component types that write a table or view.
const OUTPUT_TYPES: [&str; 5] = [
    "rewrite-table",
    "rewrite-table-dl",
    "table-output",
    "table-update",
    "create-view",
];

pub(super) struct MaximumOutputs;

impl Rule for MaximumOutputs {
    fn documentation(&self) -> &'static RuleDocumentation {
        &DOCUMENTATION
    }

    /// Returns the function that counts the limited items. A known or waived finding fails the gate again if the number
    /// grows.
    fn measure(&self) -> Measure {
        Measure::MoreIsWorse(count_outputs)
    }

    /// Creates the evaluator, which reports a transformation with more than `maxOutputs` output components.
    fn prepare(&self, config: &RuleConfig<'_, '_>) -> Result<Evaluator, EvaluationError> {
        let maximum = config.require_count("maxOutputs")?;
        Ok(Box::new(move |subject| {
            let output_count = count_outputs(subject.pipeline);
            if output_count <= maximum {
                return Ok(Vec::new());
            }
            let amount = text::format_count(output_count, "output component");
            Ok(vec![build_size_violation(
                output_count,
                &format!(
                    "has {amount}, more than the maximum of {maximum}: move the other output components to \
                     another transformation"
                ),
            )])
        }))
    }
}

/// Returns the number of output components, which is the number that the rule limits.
pub(super) fn count_outputs(pipeline: &Pipeline) -> u64 {
    let outputs = pipeline
        .components
        .iter()
        .filter(|component| is_output(component));
    u64::try_from(outputs.count()).unwrap_or(u64::MAX)
}

/// Returns whether a component of a transformation is an output component: its type is one of [`OUTPUT_TYPES`],
/// possibly with a version suffix such as `-v2`.
pub(super) fn is_output(component: &Component) -> bool {
    let Some(kind) = component.kind.as_deref() else {
        return false;
    };
    OUTPUT_TYPES.iter().any(|output_type| {
        kind.strip_prefix(output_type)
            .is_some_and(|suffix| suffix.is_empty() || is_version_suffix(suffix))
    })
}

/// Returns whether the text is the suffix of a newer component version: `-v` and digits.
fn is_version_suffix(suffix: &str) -> bool {
    suffix
        .strip_prefix("-v")
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

static DOCUMENTATION: RuleDocumentation = RuleDocumentation {
    id: "maximum-outputs",
    kinds: &[PipelineKind::Transformation],
    summary: "A transformation must not have more than the maximum number of output components.",
    reason: "A transformation that writes only one table can be rerun, tested and traced for that table.",
    fix: "Move each further output component, with the components that feed it, to another transformation.",
    details: &["The rule reports one violation for the pipeline, on line 1."],
    assumptions: &[
        "Output components are those of type `rewrite-table`, `rewrite-table-dl`, `table-output`, `table-update` \
         and `create-view`, with or without a version suffix such as `-v2`.",
        "A transformation with exactly the maximum number of output components passes.",
    ],
    config: &[ConfigField {
        name: "maxOutputs",
        meaning: "the maximum number of output components, a non-negative integer",
        default: "1",
    }],
    example_config: "maxOutputs: 1",
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
    Write orders:
      type: rewrite-table
      sources: [Orders]
    Update totals:
      type: table-update-v2
      sources: [Orders]
",
};
