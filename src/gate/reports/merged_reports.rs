//! Merges the reports of the shards of a review.

use crate::gate::run_findings::{format_files_without_rules_note, is_note_of_files_without_rules};
use crate::gate::shard_selection::is_note_of_empty_shard;
use crate::gate::waivers::today;
use crate::gate::{decide_verdict, find_report_causes};
use jiff::civil::Date;
use sluicegate_pipelines::findings::{
    FindingState, LimitKind, Report, ReviewContext, Shard, describe_expired_waivers, describe_missing_shards,
};
use sluicegate_pipelines::pipelines::CONFIG_FILE;
use std::collections::BTreeMap;

/// The reason why reports cannot be merged.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MergeError {
    #[error("there is no report to merge")]
    NoReport,
    /// The reports differ in the commit, the engine, a setting or the number of shards.
    #[error("cannot merge these reports: {fact} is {first} in one report and {second} in another")]
    Different {
        fact: &'static str,
        /// The value in the first report.
        first: String,
        second: String,
    },
    /// Two reports contain different results for a file.
    #[error("two reports have different results for {0}")]
    Contradiction(String),
    #[error("two reports cover the same shard {0}")]
    DuplicateShard(Shard),
}

/// Merges the reports of the shards of one review. The verdict is the worst of all reports. If a shard is missing, the
/// verdict cannot be passed.
pub(crate) fn merge_reports(reports: Vec<Report>) -> Result<Report, MergeError> {
    let has_several_reports = reports.len() > 1;
    let mut reports = reports.into_iter();
    let mut merged_report = reports.next().ok_or(MergeError::NoReport)?;
    let mut shards: Vec<Shard> = merged_report.context.shard.into_iter().collect();
    // The note of a shard contains only the number of its own known findings. If there are too many in all shards, a
    // note with their number is added below. A single report keeps its note.
    if has_several_reports {
        merged_report.remove_known_limit_note();
    }
    let mut is_rule_applied = has_applied_rule(&merged_report);
    for mut report in reports {
        is_rule_applied |= has_applied_rule(&report);
        reject_other_review(&merged_report, &report)?;
        shards.extend(report.context.shard);
        report.remove_known_limit_note();
        add_report(&mut merged_report, report)?;
    }
    sort_and_deduplicate(&mut merged_report);
    if !shards.is_empty() {
        check_shards(&mut merged_report, shards)?;
    }
    if has_several_reports {
        remove_notes_of_empty_shards(&mut merged_report);
        merge_notes_of_files_without_rules(&mut merged_report, is_rule_applied);
        merged_report.notes.extend(merged_report.check_known_limit());
    }
    end_expired_waivers(&mut merged_report, today());
    // This run has its own exit code.
    remove_excuse(&mut merged_report);
    merged_report.verdict = merged_report
        .verdict
        .max(decide_verdict(&find_report_causes(&merged_report)));
    Ok(merged_report)
}

/// Fails if the reports are not of the same review. The error names the first fact in which they differ.
fn reject_other_review(first: &Report, second: &Report) -> Result<(), MergeError> {
    for ((fact, first_value), (_, second_value)) in list_review_facts(first)
        .into_iter()
        .zip(list_review_facts(second))
    {
        if first_value != second_value {
            return Err(MergeError::Different {
                fact,
                first: first_value,
                second: second_value,
            });
        }
    }
    Ok(())
}

/// Returns the facts that must be the same in all reports of a review, each with its name for an error. Paths and globs
/// are quoted, so that different values never have the same text.
fn list_review_facts(report: &Report) -> [(&'static str, String); 18] {
    let context = &report.context;
    let bases = context.base.iter().chain(&context.other_bases);
    let name_state = |is_off: bool| if is_off { "off" } else { "on" }.to_owned();
    let value_or = |value: Option<String>, absent_text: &str| value.unwrap_or_else(|| absent_text.to_owned());
    [
        ("the engine", report.engine.to_string()),
        (
            "the platform",
            value_or(context.platform.as_ref().map(ToString::to_string), "none"),
        ),
        ("the commit", value_or(context.head.clone(), "no commit")),
        ("the base", join_or_none(bases.cloned())),
        ("the list of paths", join_quoted(&context.paths)),
        ("the `--include` list", join_quoted(&context.include)),
        ("the `--exclude` list", join_quoted(&context.exclude)),
        ("the `--new-only` setting", context.new_only.to_string()),
        (
            "the `--fail-on` level",
            context.fail_on.unwrap_or_default().to_string(),
        ),
        (
            "the policy commit",
            value_or(context.policy.clone(), "none (the policy of the checkout)"),
        ),
        (
            "the `--max-known` limit",
            value_or(context.max_known.map(|limit| limit.to_string()), "not set"),
        ),
        (
            "the rules file",
            value_or(context.rules.as_ref().map(quote), "that of the reviewed files"),
        ),
        ("the configuration file", describe_config_file(context)),
        (
            "the `--config-dir` setting",
            value_or(context.config_dir.as_ref().map(quote), "not set"),
        ),
        (
            "the `--project-checks` setting",
            name_state(context.project_checks_off),
        ),
        (
            "the `--team-rules` setting",
            value_or(
                context.team_rules.as_ref().map(quote),
                &name_state(context.team_rules_off),
            ),
        ),
        ("the compared report", describe_compared_report(context)),
        (
            "the number of shards",
            value_or(
                context.shard.map(|shard| shard.total.to_string()),
                "none (not sharded)",
            ),
        ),
    ]
}

/// Describes the older report that a comparison used.
fn describe_compared_report(context: &ReviewContext) -> String {
    match &context.compared_with {
        Some(older) => format!("a report of {}", older.head.as_deref().unwrap_or("no commit")),
        None => "none".to_owned(),
    }
}

/// Describes the configuration file of the review. One outside the repository is identified by its content, too.
fn describe_config_file(context: &ReviewContext) -> String {
    match (&context.config, &context.config_sha256) {
        (None, _) => CONFIG_FILE.to_owned(),
        (Some(path), None) => quote(path),
        (Some(path), Some(sha256)) => format!("{} with the SHA-256 {sha256}", quote(path)),
    }
}

fn quote(text: &String) -> String {
    format!("{text:?}")
}

/// Joins the values, each in quotes, with commas. Without values, returns the word `none`.
fn join_quoted(values: &[String]) -> String {
    join_or_none(values.iter().map(quote))
}

/// Joins the values with commas. Without values, returns the word `none`.
fn join_or_none(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    if values.is_empty() {
        "none".to_owned()
    } else {
        values.join(", ")
    }
}

/// Adds those of the new values that the list does not contain.
fn add_missing_values<T: PartialEq>(values: &mut Vec<T>, new_values: Vec<T>) {
    for value in new_values {
        if !values.contains(&value) {
            values.push(value);
        }
    }
}

/// Adds those of the new sentences that the list does not contain, each after the sentence that it follows in the new
/// list. Therefore, the sentences of the shards have the order of a run without shards.
fn merge_sentences(sentences: &mut Vec<String>, new_sentences: Vec<String>) {
    // A new sentence before the first common one belongs before that one. Without a common one, all come last.
    let mut next_index = new_sentences
        .iter()
        .find_map(|new_sentence| sentences.iter().position(|sentence| sentence == new_sentence))
        .unwrap_or(sentences.len());
    for new_sentence in new_sentences {
        if let Some(index) = sentences.iter().position(|sentence| *sentence == new_sentence) {
            next_index = index + 1;
        } else {
            sentences.insert(next_index, new_sentence);
            next_index += 1;
        }
    }
}

/// Adds the results of another report: joins the lists, and keeps the worse verdict. Fails if both reports have
/// different results for a file.
fn add_report(merged_report: &mut Report, report: Report) -> Result<(), MergeError> {
    let mut index_by_path: BTreeMap<String, usize> = BTreeMap::new();
    for (index, file) in merged_report.files.iter().enumerate() {
        index_by_path.insert(file.path.clone(), index);
    }
    let mut has_common_file = false;
    let is_merged_report_empty = merged_report.files.is_empty();
    let is_report_empty = report.files.is_empty();
    let breaks_consumers = report.breaks_consumers();
    for file in report.files {
        match index_by_path.get(&file.path) {
            Some(index) if merged_report.files[*index] == file => has_common_file = true,
            Some(_) => return Err(MergeError::Contradiction(file.path)),
            None => merged_report.files.push(file),
        }
    }
    merged_report.excluded_files.extend(report.excluded_files);
    merged_report.unreviewed_files.extend(report.unreviewed_files);
    merged_report.gate_changes.extend(report.gate_changes);
    merged_report.gate_refused |= report.gate_refused;
    add_missing_values(&mut merged_report.gate_faults, report.gate_faults);
    merged_report.faulty_gate_file = merged_report.faulty_gate_file.take().or(report.faulty_gate_file);
    merged_report.failed_without_finding |= report.failed_without_finding;
    merged_report.failed_batches.extend(report.failed_batches);
    // Each shard compares the same interfaces. If the results differ, a break of consumers takes precedence.
    if merged_report.compat.is_none() || breaks_consumers {
        merged_report.compat = report.compat.or(merged_report.compat.take());
    }
    merged_report.is_open |= report.is_open;
    merged_report.context.team_rules_unusable |= report.context.team_rules_unusable;
    add_missing_values(&mut merged_report.limits, report.limits);
    add_missing_values(&mut merged_report.next_steps, report.next_steps);
    merged_report.missing_rules_hint = merged_report
        .missing_rules_hint
        .take()
        .or(report.missing_rules_hint);
    add_missing_values(&mut merged_report.rules_file_errors, report.rules_file_errors);
    merge_sentences(&mut merged_report.notes, report.notes);
    merge_sentences(&mut merged_report.reasons, report.reasons);
    if let Some(changes) = report.changes {
        merged_report.changes.get_or_insert_default().extend(changes);
    }
    merged_report.fixed_count = match (merged_report.fixed_count, report.fixed_count) {
        // The files of the fixed findings are unknown, so findings that both may have counted are counted once.
        (Some(first_count), Some(second_count)) if has_common_file => Some(first_count.max(second_count)),
        (Some(first_count), Some(second_count)) => Some(first_count + second_count),
        // The report of a shard without pipelines has no count.
        (Some(count), None) if is_report_empty => Some(count),
        (None, Some(count)) if is_merged_report_empty => Some(count),
        _ => None,
    };
    merged_report.verdict = merged_report.verdict.max(report.verdict);
    merged_report.started_at = merged_report.started_at.min(report.started_at);
    merged_report.duration = merged_report.duration.max(report.duration);
    Ok(())
}

/// Removes the notes of shards without pipelines, if another shard has some: they are not true of the entire review.
fn remove_notes_of_empty_shards(merged_report: &mut Report) {
    if !merged_report.files.is_empty() || !merged_report.unreviewed_files.is_empty() {
        merged_report.notes.retain(|note| !is_note_of_empty_shard(note));
    }
}

/// Treats findings as new whose waivers expired since the review, and adds a note about them. Without a comparison with
/// a base, a finding that is not waived has no state.
fn end_expired_waivers(report: &mut Report, today: Date) {
    let state_of_new_finding = report.fixed_count.is_some().then_some(FindingState::New);
    let mut expired_count = 0;
    for result in report.files.iter_mut().flat_map(|file| &mut file.results) {
        for mark in result.marks_mut() {
            let is_expired = mark
                .waiver
                .as_ref()
                .is_some_and(|waiver| waiver.is_expired(today));
            if is_expired && mark.state == Some(FindingState::Waived) {
                mark.state = state_of_new_finding;
                expired_count += 1;
            }
        }
    }
    if expired_count > 0 {
        let mut note = describe_expired_waivers(expired_count);
        if state_of_new_finding.is_some() {
            note.push_str(
                ", which did not record whether the base has these findings, so they are treated as new",
            );
        }
        report.notes.push(note);
    }
}

/// Removes the sentence that the run passed although the verdict is undecided: it is true only of the run that the job
/// excused, not of a later run that reads its report.
fn remove_excuse(report: &mut Report) {
    for limit in &report.limits {
        if limit.kind == LimitKind::Excused {
            report.notes.retain(|note| *note != limit.text);
            report.reasons.retain(|reason| *reason != limit.text);
        }
    }
    report.limits.retain(|limit| limit.kind != LimitKind::Excused);
}

/// Returns whether a rule applies to a file of the report.
fn has_applied_rule(report: &Report) -> bool {
    report.files.iter().any(|file| file.is_reviewed)
        && !report
            .notes
            .iter()
            .any(|note| is_note_of_files_without_rules(note))
}

/// Removes the notes of shards in which no rule applies to a file. If this is also true of the entire review, adds the
/// note about all files.
fn merge_notes_of_files_without_rules(merged_report: &mut Report, is_rule_applied: bool) {
    let note_index = merged_report
        .notes
        .iter()
        .position(|note| is_note_of_files_without_rules(note));
    merged_report
        .notes
        .retain(|note| !is_note_of_files_without_rules(note));
    if let Some(index) = note_index.filter(|_| !is_rule_applied) {
        let reviewed_count = merged_report.files.iter().filter(|file| file.is_reviewed).count();
        merged_report
            .notes
            .insert(index, format_files_without_rules_note(reviewed_count));
    }
}

/// Sorts the lists of the merged report, and removes entries that occur in several reports.
fn sort_and_deduplicate(merged_report: &mut Report) {
    merged_report.files.sort_by(|a, b| a.path.cmp(&b.path));
    merged_report.unreviewed_files.sort_by(|a, b| a.path.cmp(&b.path));
    merged_report.unreviewed_files.dedup_by(|a, b| a.path == b.path);
    merged_report.excluded_files.sort();
    merged_report.excluded_files.dedup_by(|a, b| a.path == b.path);
    if let Some(changes) = &mut merged_report.changes {
        changes.sort();
        changes.dedup_by(|a, b| a.path == b.path);
    }
    merged_report.failed_batches.sort();
    merged_report.failed_batches.dedup();
    merged_report.gate_faults.sort();
    merged_report.gate_changes.sort();
    merged_report.gate_changes.dedup_by(|a, b| a.path == b.path);
}

/// Fails if a shard occurs twice. If a shard is missing, leaves the verdict open and adds a note. Afterwards, the
/// merged report is a report without shards.
fn check_shards(merged_report: &mut Report, mut shards: Vec<Shard>) -> Result<(), MergeError> {
    shards.sort_unstable();
    if let Some(pair) = shards.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(MergeError::DuplicateShard(pair[0]));
    }
    merged_report.context.shard = None;
    if let Some(reason) = describe_missing_shards(&shards) {
        merged_report.is_open = true;
        merged_report.notes.push(reason.clone());
        merged_report.reasons.push(reason);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_pipelines::findings::{Severity, Status, Verdict, VerdictLimit};
    use sluicegate_pipelines::interface::{ComparedVersion, Compatibility};
    use sluicegate_test_support::sample_report as sample;

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
    fn team_rules_that_one_shard_cannot_use_are_unusable_in_the_whole() {
        for (first_state, second_state) in [(false, true), (true, false), (false, false)] {
            let mut first = part(1, 2, "a", Verdict::Passed);
            first.context.team_rules_unusable = first_state;
            let mut second = part(2, 2, "b", Verdict::Passed);
            second.context.team_rules_unusable = second_state;
            let whole = merge_reports(vec![first, second]).unwrap();
            assert_eq!(whole.context.team_rules_unusable, first_state || second_state);
        }
    }

    #[test]
    fn sentence_of_one_shard_keeps_its_place_among_those_of_all_shards() {
        for (first, second, merged) in [
            ("ac", "abc", "abc"),
            ("b", "ab", "ab"),
            ("ab", "ab", "ab"),
            ("ab", "cd", "abcd"),
            ("abd", "bcde", "abcde"),
        ] {
            let to_sentences = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
            let mut sentences = to_sentences(first);
            merge_sentences(&mut sentences, to_sentences(second));
            assert_eq!(sentences, to_sentences(merged), "{first} and {second}");
        }
    }

    #[test]
    fn all_parts_are_the_whole() {
        let mut second = part(2, 2, "a", Verdict::Failed);
        second.unreviewed_files = sample::report().unreviewed_files;
        let whole = merge_reports(vec![part(1, 2, "b", Verdict::Passed), second]).unwrap();
        let paths: Vec<&str> = whole.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(
            (paths, whole.verdict, whole.context.shard),
            (vec!["a", "b"], Verdict::Failed, None)
        );
        assert_eq!(whole.unreviewed_files.len(), 1);
    }

    #[test]
    fn merge_without_all_shards_is_undecided() {
        let parts = vec![part(1, 3, "a", Verdict::Passed), part(3, 3, "c", Verdict::Passed)];
        let whole = merge_reports(parts).unwrap();
        assert_eq!(whole.verdict, Verdict::Undecided);
        assert_eq!(whole.notes, ["the report of a shard is missing: 2/3"]);
        let alone = merge_reports(vec![part(1, 3, "a", Verdict::Passed)]).unwrap();
        assert_eq!(alone.verdict, Verdict::Undecided);
        let two_of_six = vec![part(1, 6, "a", Verdict::Passed), part(4, 6, "d", Verdict::Passed)];
        assert_eq!(merge_reports(two_of_six).unwrap().verdict, Verdict::Undecided);
    }

    #[test]
    fn texts_of_several_shards_are_once_in_the_merged_report() {
        let mut first = part(1, 2, "a", Verdict::Failed);
        let mut second = part(2, 2, "b", Verdict::Failed);
        first.notes = vec!["common note".to_owned()];
        first.reasons = vec!["common reason".to_owned()];
        second.notes = vec!["common note".to_owned(), "second note".to_owned()];
        second.reasons = vec!["common reason".to_owned(), "second reason".to_owned()];
        let limit = |text: &str| VerdictLimit {
            kind: LimitKind::StricterTip,
            path: None,
            text: text.to_owned(),
        };
        first.limits = vec![limit("common limit")];
        second.limits = vec![limit("common limit"), limit("second limit")];
        let merged_report = merge_reports(vec![first, second]).unwrap();
        assert_eq!(merged_report.notes, ["common note", "second note"]);
        assert_eq!(merged_report.reasons, ["common reason", "second reason"]);
        assert_eq!(
            merged_report.limits,
            [limit("common limit"), limit("second limit")]
        );
    }

    #[test]
    fn fixed_findings_are_added_unless_shards_have_a_common_file() {
        let with_fixed_count = |index: u32, path: &str, fixed_count: usize| {
            let mut report = part(index, 2, path, Verdict::Passed);
            report.fixed_count = Some(fixed_count);
            report
        };
        let separate = merge_reports(vec![with_fixed_count(1, "a", 2), with_fixed_count(2, "b", 3)]).unwrap();
        assert_eq!(separate.fixed_count, Some(5));
        let common = merge_reports(vec![with_fixed_count(1, "a", 2), with_fixed_count(2, "a", 3)]).unwrap();
        assert_eq!(common.fixed_count, Some(3));
        let mut without_count = part(2, 2, "b", Verdict::Passed);
        without_count.fixed_count = None;
        let partly_known = merge_reports(vec![with_fixed_count(1, "a", 2), without_count]).unwrap();
        assert_eq!(partly_known.fixed_count, None);
    }

    #[test]
    fn points_that_decide_in_one_shard_decide_about_the_review() {
        for affected_index in [1, 2] {
            let [first, second] = [1, 2].map(|index| {
                let is_affected = index == affected_index;
                let mut report = part(index, 2, &format!("{index}"), Verdict::Passed);
                report.gate_refused = is_affected;
                report.failed_without_finding = is_affected;
                report.is_open = is_affected;
                report.compat =
                    is_affected.then(|| Compatibility::new(ComparedVersion::default(), Vec::new()));
                report
            });
            let merged_report = merge_reports(vec![first, second]).unwrap();
            assert!(merged_report.gate_refused && merged_report.failed_without_finding);
            assert!(merged_report.is_open && merged_report.compat.is_some());
        }
    }

    #[test]
    fn one_report_stays_as_it_is() {
        assert_eq!(merge_reports(vec![sample::report()]).unwrap(), sample::report());
    }

    #[test]
    fn reports_of_different_reviews_are_not_merged() {
        let other_commit = {
            let mut report = part(2, 2, "b", Verdict::Passed);
            report.context.head = Some("2e".repeat(20));
            report
        };
        let first = || part(1, 2, "a", Verdict::Passed);
        let refused = |other: Report| merge_reports(vec![first(), other]).unwrap_err().to_string();
        insta::assert_snapshot!(refused(other_commit), @"cannot merge these reports: the commit is 1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f1f in one report and 2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e2e in another");
        insta::assert_snapshot!(refused(part(1, 2, "b", Verdict::Passed)), @"two reports cover the same shard 1/2");
        insta::assert_snapshot!(refused(part(2, 3, "b", Verdict::Passed)), @"cannot merge these reports: the number of shards is 2 in one report and 3 in another");
        insta::assert_snapshot!(refused(sample::empty(Verdict::Passed)), @"cannot merge these reports: the number of shards is 2 in one report and none (not sharded) in another");
        let mut other_rules = part(2, 2, "b", Verdict::Passed);
        other_rules.context.rules = Some("lenient.yaml".to_owned());
        insta::assert_snapshot!(refused(other_rules), @r#"cannot merge these reports: the rules file is that of the reviewed files in one report and "lenient.yaml" in another"#);
        let mut other_team_rules = part(2, 2, "b", Verdict::Passed);
        other_team_rules.context.team_rules = Some("lenient.yaml".to_owned());
        insta::assert_snapshot!(refused(other_team_rules), @r#"cannot merge these reports: the `--team-rules` setting is on in one report and "lenient.yaml" in another"#);
        let mut contrary = part(2, 2, "a", Verdict::Passed);
        contrary.files[0].results[0].status = Status::Failed(Severity::Error);
        insta::assert_snapshot!(refused(contrary), @"two reports have different results for a");
        assert_eq!(merge_reports(vec![]), Err(MergeError::NoReport));
    }

    #[test]
    fn same_report_twice_is_that_report() {
        assert_eq!(
            merge_reports(vec![sample::report(), sample::report()]).unwrap(),
            sample::report()
        );
    }
}
