//! Computes the current findings by rule: the number of affected pipelines, and the effect of other limits.

use super::current_findings::CurrentFindings;
use crate::session::response_output::format_table;
use sluicegate_pipelines::findings::FileResults;
use sluicegate_pipelines::rules::{self, RuleOutline, RuleState};
use std::collections::BTreeMap;

#[derive(Default)]
struct RuleFigures {
    files: usize,
    findings: usize,
    /// The counted sizes, for rules with a limit.
    sizes: Vec<u64>,
}

impl RuleFigures {
    /// Returns the table cells of a rule. `other_limits` is the text for the column about milder limits.
    fn into_row(self, rule: String, pipeline_count: usize, other_limits: String) -> Vec<String> {
        vec![
            rule,
            format!("{} of {pipeline_count}", self.files),
            self.findings.to_string(),
            other_limits,
        ]
    }
}

/// Renders a table of the rules with the number of their findings: first the enabled and the broken rules of
/// the rules file, then other rules with findings, such as team rules. `None` if the rules file cannot be read or no
/// pipeline was evaluated.
pub(crate) fn render_rule_table(findings: &CurrentFindings) -> Option<String> {
    let rules = findings.rules.as_ref().filter(|_| !findings.files.is_empty())?;
    let mut figures = count_by_rule(&findings.files);
    let pipeline_count = findings.files.len();
    let mut rows = Vec::new();
    for rule in rules {
        if !matches!(rule.state, RuleState::Enabled(_) | RuleState::Broken(_)) {
            continue;
        }
        let rule_figures = figures.remove(rule.id.as_str()).unwrap_or_default();
        let other_limits = describe_other_limits(&rule.id, &rule_figures.sizes);
        rows.push(rule_figures.into_row(describe_rule(rule), pipeline_count, other_limits));
    }
    rows.extend(
        figures.into_iter().map(|(rule, rule_figures)| {
            rule_figures.into_row(rule.to_owned(), pipeline_count, String::new())
        }),
    );
    Some(format_table(
        &["rule", "pipelines", "findings", "findings with a milder limit"],
        &rows,
    ))
}

/// Counts the findings and the affected files of each rule, and collects the sizes of the findings.
fn count_by_rule(files: &[FileResults]) -> BTreeMap<&str, RuleFigures> {
    let mut rules: BTreeMap<&str, RuleFigures> = BTreeMap::new();
    for file in files {
        let mut counted_rules: Vec<&str> = Vec::new();
        let unused_path = "";
        for finding in file
            .distinct_results()
            .into_iter()
            .flat_map(|result| result.findings(unused_path))
        {
            let figures = rules.entry(finding.rule).or_default();
            figures.findings += 1;
            figures.sizes.extend(finding.size);
            if !counted_rules.contains(&finding.rule) {
                figures.files += 1;
                counted_rules.push(finding.rule);
            }
        }
    }
    rules
}

/// Returns the id of the rule. If the rule limits a number, adds the limit, as in `maximum-components: 10`.
fn describe_rule(rule: &RuleOutline) -> String {
    match rule.config.first() {
        Some((_, limit)) if rules::is_counting_rule(&rule.id) => format!("{}: {limit}", rule.id),
        _ => rule.id.clone(),
    }
}

/// Lists up to three milder limits, each with the number of findings that would remain, as in `15: 5, 40: 1, 41: 0`.
/// From the current sizes, chooses the strictest limit for which at most half, at most an eighth, and none of the
/// findings remain.
fn describe_other_limits(rule: &str, sizes: &[u64]) -> String {
    let mut candidates = sizes.to_vec();
    candidates.sort_unstable();
    // The strictest limit comes first: for a maximum, the smallest number; for a minimum, the greatest. A rule has a
    // minimum if the size 0 is worse than the size 1.
    let has_minimum = rules::is_worse_size(rule, 1, 0);
    if has_minimum {
        candidates.reverse();
    }
    let mut shown_limits: Vec<u64> = Vec::new();
    for maximum_count in [sizes.len() / 2, sizes.len() / 8, 0] {
        let strictest_limit = candidates
            .iter()
            .find(|limit| count_violating_sizes(rule, **limit, sizes) <= maximum_count);
        shown_limits.extend(strictest_limit);
    }
    shown_limits.dedup();
    let descriptions: Vec<String> = shown_limits
        .into_iter()
        .map(|limit| format!("{limit}: {}", count_violating_sizes(rule, limit, sizes)))
        .collect();
    descriptions.join(", ")
}

/// Returns how many of the sizes violate the limit: those above a maximum, or below a minimum.
fn count_violating_sizes(rule: &str, limit: u64, sizes: &[u64]) -> usize {
    sizes
        .iter()
        .filter(|size| rules::is_worse_size(rule, limit, **size))
        .count()
}

#[cfg(test)]
mod tests {
    use super::describe_other_limits;

    #[test]
    fn other_limits_are_those_that_change_what_fires() {
        let sizes = [11, 12, 12, 13, 15, 18, 19, 22, 40, 41];
        assert_eq!(
            describe_other_limits("maximum-components", &sizes),
            "15: 5, 40: 1, 41: 0"
        );
        assert_eq!(
            describe_other_limits("minimum-components", &[1, 1, 0, 1]),
            "1: 1, 0: 0"
        );
        assert_eq!(describe_other_limits("maximum-components", &[11]), "11: 0");
        assert_eq!(describe_other_limits("maximum-components", &[]), "");
    }
}
