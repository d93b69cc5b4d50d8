//! The numbers behind the rules that count, because the platform's response contains only a sentence.

use super::registry::find;
use super::rule::{Measure, Rule};
use crate::pipelines::Pipeline;

/// Returns the number that this rule counts in the pipeline, or `None` if the rule does not count.
pub fn size(rule: &str, pipeline: &Pipeline) -> Option<u64> {
    match measure(rule) {
        Measure::Uncounted => None,
        Measure::MoreIsWorse(count) | Measure::LessIsWorse(count) => Some(count(pipeline)),
    }
}

/// Returns whether the number that this rule counts got worse. If the direction is unknown, any other number is worse.
pub fn got_worse(rule: &str, before: u64, now: u64) -> bool {
    match measure(rule) {
        Measure::Uncounted => now != before,
        Measure::MoreIsWorse(_) => now > before,
        Measure::LessIsWorse(_) => now < before,
    }
}

pub fn counts(rule: &str) -> bool {
    !matches!(measure(rule), Measure::Uncounted)
}

fn measure(rule: &str) -> Measure {
    find(rule).map_or(Measure::Uncounted, Rule::measure)
}
