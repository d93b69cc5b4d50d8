//! What the rules that count have counted, in the words of numbers: the platform's answer only has a sentence.

use super::maximum_outputs::output_count;
use super::subject::component_count;
use crate::model::pipelines::Pipeline;

/// The rule that asks for more; the others ask for less.
const MINIMUM: &str = "minimum-components";

/// What this rule counts in the pipeline; none for a rule that does not count.
pub fn size(rule: &str, pipeline: &Pipeline) -> Option<u64> {
    match rule {
        MINIMUM | "maximum-components" => Some(component_count(pipeline)),
        "maximum-outputs" => Some(output_count(pipeline)),
        _ => None,
    }
}

/// Whether what this rule counts got worse.
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
