//! The numbers behind the rules that count, because the platform's response contains only a sentence.

use super::maximum_outputs::output_count;
use super::subject::component_count;
use crate::model::pipelines::Pipeline;

/// The only rule whose number must not be too small; the others limit it from above.
const MINIMUM: &str = "minimum-components";

/// Returns the number that this rule counts in the pipeline, or `None` if the rule does not count.
pub fn size(rule: &str, pipeline: &Pipeline) -> Option<u64> {
    match rule {
        MINIMUM | "maximum-components" => Some(component_count(pipeline)),
        "maximum-outputs" => Some(output_count(pipeline)),
        _ => None,
    }
}

/// Returns whether the number that this rule counts got worse.
pub fn got_worse(rule: &str, before: u64, now: u64) -> bool {
    if rule == MINIMUM {
        now < before
    } else {
        now > before
    }
}

pub fn counts(rule: &str) -> bool {
    matches!(rule, MINIMUM | "maximum-components" | "maximum-outputs")
}
