//! Compares the findings of a project before and after its fixes, by their number.

use sluicegate_pipelines::findings::{FileResults, Severity};
use std::collections::HashMap;

/// The identity of a finding, without its text, which may name similar files.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct CountKey {
    pub(super) path: String,
    pub(super) rule: String,
    pub(super) about: Option<String>,
    pub(super) severity: Severity,
}

/// The number of findings by their identity.
pub(super) type FindingCounts = HashMap<CountKey, usize>;

/// Counts the findings in these files by path, rule, subject and severity.
pub(super) fn count_findings<'f>(files: impl IntoIterator<Item = &'f FileResults>) -> FindingCounts {
    let mut counts = FindingCounts::new();
    for file in files {
        for finding in file.findings() {
            let key = CountKey {
                path: file.path.clone(),
                rule: finding.rule.to_owned(),
                about: finding.identity().about.map(str::to_owned),
                severity: finding.severity,
            };
            *counts.entry(key).or_default() += 1;
        }
    }
    counts
}

/// Compares the findings before and after a fix. Returns the reason to reject the fix if a finding in `fixed_counts`
/// remains, or if a new one appears. Of several such findings, names the first by path and rule.
pub(super) fn find_fix_objection(
    old_counts: &FindingCounts,
    new_counts: &FindingCounts,
    fixed_counts: &FindingCounts,
) -> Option<String> {
    let key = new_counts
        .iter()
        .filter(|(key, new_count)| {
            let old_count = old_counts.get(key).copied().unwrap_or_default();
            let fixed_count = fixed_counts.get(key).copied().unwrap_or_default();
            **new_count > old_count.saturating_sub(fixed_count)
        })
        .map(|(key, _)| key)
        .min_by(|a, b| (&a.path, &a.rule).cmp(&(&b.path, &b.rule)))?;
    Some(if fixed_counts.contains_key(key) {
        format!("`{}` would still report a finding in {}", key.rule, key.path)
    } else {
        format!("`{}` would report a new finding in {}", key.rule, key.path)
    })
}
