//! What a rule knows about a violation besides its text: the platform's response contains only a sentence.

use super::registry::find_rule;
use super::rule::{Measure, Rule};
use crate::pipelines::Pipeline;

/// Returns the number that this rule counts in the pipeline, or `None` if it is not a counting rule.
pub fn measure_pipeline(rule: &str, pipeline: &Pipeline) -> Option<u64> {
    match find_measure(rule) {
        Measure::Uncounted => None,
        Measure::MoreIsWorse(count) | Measure::LessIsWorse(count) => Some(count(pipeline)),
    }
}

/// Returns whether the number that this rule counts got worse. For an unknown rule and for a rule that counts nothing,
/// every change is worse, because it is not known whether more or less is better.
pub fn is_worse_size(rule: &str, old_size: u64, new_size: u64) -> bool {
    match find_measure(rule) {
        Measure::Uncounted => new_size != old_size,
        Measure::MoreIsWorse(_) => new_size > old_size,
        Measure::LessIsWorse(_) => new_size < old_size,
    }
}

/// Returns whether the rule limits a number, such as `maximum-components`.
pub fn is_counting_rule(rule: &str) -> bool {
    !matches!(find_measure(rule), Measure::Uncounted)
}

/// Returns whether this field of the rule's `config` is the limit for the number that the rule counts.
pub fn is_limit(rule: &str, field: &str) -> bool {
    let config = find_rule(rule).map_or(&[][..], |rule| rule.documentation().config);
    is_counting_rule(rule) && config.iter().any(|config_field| config_field.name == field)
}

/// Returns the text that identifies the rule's only violation of a pipeline that lacks what the rule needs. Returns
/// `None` for other pipelines, and for pipelines to which the rule does not apply.
pub fn describe_missing_part(rule: &str, pipeline: &Pipeline) -> Option<&'static str> {
    let rule = find_rule(rule)?;
    let applies = rule.documentation().kinds.contains(&pipeline.kind);
    rule.describe_missing_part(pipeline).filter(|_| applies)
}

/// Returns the measure of the rule with this id; an unknown rule counts nothing.
fn find_measure(rule: &str) -> Measure {
    find_rule(rule).map_or(Measure::Uncounted, Rule::measure)
}
