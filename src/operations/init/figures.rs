//! Computes the current findings by rule: the number of affected pipelines, and the effect of other limits.

use super::today::Today;
use crate::session::output::table;
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

/// Returns a table of the rules with their findings, those of the rules file first; `None` if no pipeline was
/// evaluated.
pub(crate) fn figures(today: &Today) -> Option<String> {
    let rules = today.rules.as_ref().filter(|_| !today.files.is_empty())?;
    let mut found = by_rule(&today.files);
    let all = today.files.len();
    let row = |name: String, found: &RuleFigures, others: String| {
        let pipelines = format!("{} of {all}", found.files);
        vec![name, pipelines, found.findings.to_string(), others]
    };
    let enabled = rules
        .iter()
        .filter(|rule| matches!(rule.state, RuleState::Enabled(_) | RuleState::Broken(_)));
    let mut rows: Vec<_> = enabled
        .map(|rule| {
            let found = found.remove(rule.id.as_str()).unwrap_or_default();
            row(name(rule), &found, others(&rule.id, &found.sizes))
        })
        .collect();
    rows.extend(
        found
            .iter()
            .map(|(rule, found)| row((*rule).to_owned(), found, String::new())),
    );
    Some(table(
        &["rule", "pipelines", "findings", "with another limit"],
        &rows,
    ))
}

fn by_rule(files: &[FileResults]) -> BTreeMap<&str, RuleFigures> {
    let mut rules: BTreeMap<&str, RuleFigures> = BTreeMap::new();
    for file in files {
        let mut seen: Vec<&str> = Vec::new();
        for finding in file
            .distinct_results()
            .into_iter()
            .flat_map(|result| result.findings(""))
        {
            let found = rules.entry(finding.rule).or_default();
            found.findings += 1;
            found.sizes.extend(finding.size);
            if !seen.contains(&finding.rule) {
                found.files += 1;
                seen.push(finding.rule);
            }
        }
    }
    rules
}

/// Returns the rule, with its limit if it has one.
fn name(rule: &RuleOutline) -> String {
    match rule.config.first() {
        Some((_, limit)) if rules::is_counting_rule(&rule.id) => format!("{}: {limit}", rule.id),
        _ => rule.id.clone(),
    }
}

/// Returns the effect of milder limits: the nearest limits that at most half, an eighth and none of the affected files
/// exceed.
fn others(rule: &str, sizes: &[u64]) -> String {
    let fires = |limit: u64| {
        sizes
            .iter()
            .filter(|size| rules::is_worse_size(rule, limit, **size))
            .count()
    };
    let mut limits = sizes.to_vec();
    limits.sort_unstable();
    if rules::is_worse_size(rule, 1, 0) {
        limits.reverse();
    }
    let goals = [sizes.len() / 2, sizes.len() / 8, 0];
    let mut chosen: Vec<u64> = goals
        .into_iter()
        .filter_map(|most| limits.iter().copied().find(|limit| fires(*limit) <= most))
        .collect();
    chosen.dedup();
    let told = chosen.into_iter().map(|limit| match fires(limit) {
        0 => format!("{limit} in none"),
        some => format!("{limit} in {some}"),
    });
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::others;

    #[test]
    fn other_limits_are_those_that_change_what_fires() {
        let sizes = [11, 12, 12, 13, 15, 18, 19, 22, 40, 41];
        assert_eq!(
            others("maximum-components", &sizes),
            "15 in 5, 40 in 1, 41 in none"
        );
        assert_eq!(others("minimum-components", &[1, 1, 0, 1]), "1 in 1, 0 in none");
        assert_eq!(others("maximum-components", &[11]), "11 in none");
        assert_eq!(others("maximum-components", &[]), "");
    }
}
