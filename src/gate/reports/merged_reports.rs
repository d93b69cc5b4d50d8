//! Merges the reports of the shards of a review.

use crate::gate::{causes, verdict};
use sluicegate_pipelines::findings::{Report, Shard};
use std::collections::BTreeMap;

/// The reason why reports cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MergeError {
    #[error("there is no report to merge")]
    Nothing,
    /// The reports differ in the commit, the engine, a setting or the number of shards.
    #[error("cannot merge these reports: {what} is {one} in one and {other} in another")]
    Different {
        what: &'static str,
        /// The value in the first report.
        one: String,
        other: String,
    },
    /// Two reports contain different results for a file.
    #[error("two reports have different results for {0}")]
    Contradiction(String),
    #[error("two reports cover the same shard {0}")]
    Twice(Shard),
}

/// Merges the reports. The verdict is the worst of all; if a shard is missing, it is undecided or failed.
pub(crate) fn merge(reports: Vec<Report>) -> Result<Report, MergeError> {
    let is_several = reports.len() > 1;
    let mut reports = reports.into_iter();
    let mut whole = reports.next().ok_or(MergeError::Nothing)?;
    let mut shards: Vec<Shard> = whole.context.shard.into_iter().collect();
    // A single report keeps its number of known findings, and the note about it.
    if is_several {
        whole.remove_known_limit_note();
    }
    for mut report in reports {
        same_review(&whole, &report)?;
        shards.extend(report.context.shard);
        report.remove_known_limit_note();
        add(&mut whole, report)?;
    }
    in_order(&mut whole);
    if !shards.is_empty() {
        check_parts(&mut whole, shards)?;
    }
    if is_several {
        whole.notes.extend(whole.check_known_limit());
    }
    whole.verdict = whole.verdict.max(verdict(&causes(&whole)));
    Ok(whole)
}

/// Returns an error that names the first fact in which the reports differ, unless both are of the same review.
fn same_review(one: &Report, other: &Report) -> Result<(), MergeError> {
    for ((what, one), (_, other)) in review_facts(one).into_iter().zip(review_facts(other)) {
        if one != other {
            return Err(MergeError::Different { what, one, other });
        }
    }
    Ok(())
}

/// Returns the facts that all reports of a review share, each with its name.
fn review_facts(report: &Report) -> [(&'static str, String); 13] {
    let context = &report.context;
    let compared_with = match &context.compared_with {
        Some(old) => format!("a report of {}", old.head.as_deref().unwrap_or("no commit")),
        None => "none".to_owned(),
    };
    let bases = context.base.iter().chain(&context.other_bases);
    let or = |value: Option<String>, without: &str| value.unwrap_or_else(|| without.to_owned());
    [
        ("the engine", report.engine.to_string()),
        (
            "the platform",
            or(context.platform.as_ref().map(ToString::to_string), "none"),
        ),
        ("the commit", or(context.head.clone(), "no commit")),
        ("the base", or_none(bases)),
        ("the list of paths", or_none(context.paths.iter())),
        ("the list `--include`", or_none(context.include.iter())),
        ("the list `--exclude`", or_none(context.exclude.iter())),
        ("the `--new-only` setting", context.new_only.to_string()),
        (
            "the `--fail-on` level",
            context.fail_on.unwrap_or_default().to_string(),
        ),
        (
            "the policy commit",
            or(context.policy.clone(), "none (the policy of the checkout)"),
        ),
        (
            "the `--max-known` limit",
            or(context.max_known.map(|most| most.to_string()), "not set"),
        ),
        ("the compared report", compared_with),
        (
            "the number of shards",
            or(
                context.shard.map(|shard| shard.total.to_string()),
                "none (not sharded)",
            ),
        ),
    ]
}

/// Joins the values, or returns `none` if there are none.
fn or_none<'v>(values: impl Iterator<Item = &'v String>) -> String {
    let values: Vec<&str> = values.map(String::as_str).collect();
    if values.is_empty() {
        "none".to_owned()
    } else {
        values.join(", ")
    }
}

fn add(whole: &mut Report, report: Report) -> Result<(), MergeError> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for (index, file) in whole.files.iter().enumerate() {
        known.insert(file.path.clone(), index);
    }
    let mut is_twice = false;
    let breaks_consumers = report.breaks_consumers();
    for file in report.files {
        match known.get(&file.path) {
            Some(index) if whole.files[*index] == file => is_twice = true,
            Some(_) => return Err(MergeError::Contradiction(file.path)),
            None => whole.files.push(file),
        }
    }
    whole.excluded_files.extend(report.excluded_files);
    whole.unreviewed_files.extend(report.unreviewed_files);
    whole.gate_changes.extend(report.gate_changes);
    whole.gate_refused |= report.gate_refused;
    whole.failed_without_finding |= report.failed_without_finding;
    whole.failed_batches.extend(report.failed_batches);
    // Each shard reports the same change.
    if whole.compat.is_none() || breaks_consumers {
        whole.compat = report.compat.or(whole.compat.take());
    }
    whole.is_open |= report.is_open;
    for limit in report.limits {
        if !whole.limits.contains(&limit) {
            whole.limits.push(limit);
        }
    }
    for note in report.notes {
        if !whole.notes.contains(&note) {
            whole.notes.push(note);
        }
    }
    for reason in report.reasons {
        if !whole.reasons.contains(&reason) {
            whole.reasons.push(reason);
        }
    }
    if let Some(changes) = report.changes {
        whole.changes.get_or_insert_default().extend(changes);
    }
    whole.fixed_count = match (whole.fixed_count, report.fixed_count) {
        // The files of the fixed findings are unknown, so findings that both may have counted are counted once.
        (Some(one), Some(other)) if is_twice => Some(one.max(other)),
        (Some(one), Some(other)) => Some(one + other),
        _ => None,
    };
    whole.verdict = whole.verdict.max(report.verdict);
    whole.started_at = whole.started_at.min(report.started_at);
    whole.duration = whole.duration.max(report.duration);
    Ok(())
}

fn in_order(whole: &mut Report) {
    whole.files.sort_by(|a, b| a.path.cmp(&b.path));
    whole.unreviewed_files.sort_by(|a, b| a.path.cmp(&b.path));
    whole.unreviewed_files.dedup_by(|a, b| a.path == b.path);
    whole.excluded_files.sort();
    whole.excluded_files.dedup_by(|a, b| a.path == b.path);
    if let Some(changes) = &mut whole.changes {
        changes.sort();
        changes.dedup_by(|a, b| a.path == b.path);
    }
    whole.failed_batches.sort();
    whole.failed_batches.dedup();
    whole.gate_changes.sort();
    whole.gate_changes.dedup_by(|a, b| a.path == b.path);
}

/// Checks that no shard occurs twice, and leaves the verdict open if a shard is missing.
fn check_parts(whole: &mut Report, mut shards: Vec<Shard>) -> Result<(), MergeError> {
    shards.sort_unstable();
    if let Some(pair) = shards.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(MergeError::Twice(pair[0]));
    }
    whole.context.shard = None;
    let total = shards[0].total as usize;
    if shards.len() < total {
        let missing = total - shards.len();
        whole.is_open = true;
        let reason = format!("{missing} of {total} shards of the review are missing");
        whole.notes.push(reason.clone());
        whole.reasons.push(reason);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
    use sluicegate_pipelines::findings::{Severity, Status, Verdict};

    fn part(index: u32, total: u32, path: &str, verdict: Verdict) -> Report {
        let mut report = sample::empty(verdict);
        report.context.shard = Some(Shard { index, total });
        report.files = vec![sample::file(
            path,
            vec![sample::result("r", Status::Passed, vec![])],
        )];
        report
    }

    #[test]
    fn all_parts_are_the_whole() {
        let mut second = part(2, 2, "a", Verdict::Failed);
        second.unreviewed_files = sample::report().unreviewed_files;
        let whole = merge(vec![part(1, 2, "b", Verdict::Passed), second]).unwrap();
        let paths: Vec<&str> = whole.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            (paths, whole.verdict, whole.context.shard),
            (vec!["a", "b"], Verdict::Failed, None)
        );
        assert_eq!(whole.unreviewed_files.len(), 1);
    }

    #[test]
    fn a_missing_part_is_no_pass() {
        let parts = vec![part(1, 3, "a", Verdict::Passed), part(3, 3, "c", Verdict::Passed)];
        let whole = merge(parts).unwrap();
        assert_eq!(whole.verdict, Verdict::Undecided);
        assert_eq!(whole.notes, ["1 of 3 shards of the review are missing"]);
        let alone = merge(vec![part(1, 3, "a", Verdict::Passed)]).unwrap();
        assert_eq!(alone.verdict, Verdict::Undecided);
    }

    #[test]
    fn one_report_stays_as_it_is() {
        assert_eq!(merge(vec![sample::report()]).unwrap(), sample::report());
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let other_commit = {
            let mut report = part(2, 2, "b", Verdict::Passed);
            report.context.head = Some("2e".repeat(20));
            report
        };
        let first = || part(1, 2, "a", Verdict::Passed);
        let refused = |other: Report| merge(vec![first(), other]).unwrap_err().to_string();
        insta::assert_snapshot!(refused(other_commit), @"cannot merge these reports: the commit is 1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f in one and 2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e in another");
        insta::assert_snapshot!(refused(part(1, 2, "b", Verdict::Passed)), @"two reports cover the same shard 1/2");
        insta::assert_snapshot!(refused(part(2, 3, "b", Verdict::Passed)), @"cannot merge these reports: the number of shards is 2 in one and 3 in another");
        insta::assert_snapshot!(refused(sample::empty(Verdict::Passed)), @"cannot merge these reports: the number of shards is 2 in one and none (not sharded) in another");
        let mut contrary = part(2, 2, "a", Verdict::Passed);
        contrary.files[0].results[0].status = Status::Failed(Severity::Error);
        insta::assert_snapshot!(refused(contrary), @"two reports have different results for a");
        assert_eq!(merge(vec![]), Err(MergeError::Nothing));
    }

    #[test]
    fn the_same_report_twice_is_that_report() {
        assert_eq!(
            merge(vec![sample::report(), sample::report()]).unwrap(),
            sample::report()
        );
    }
}
