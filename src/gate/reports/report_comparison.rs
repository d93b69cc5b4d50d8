//! Compares two reports without a repository: finds new, known and fixed findings by the same identity as between
//! commits.

use crate::error::Failure;
use crate::gate::baseline::is_earlier_base_note;
use crate::gate::remote_review::failed_batch::{
    FoldEvidence, build_failed_batches, list_unexplained_batches,
};
use crate::gate::{BaseFile, BaseGap, decide_verdict, find_report_causes, mark_new_and_known};
use sluicegate_base::text::format_count;
use sluicegate_git::short_id;
use sluicegate_pipelines::findings::{
    ComparedWith, Engine, FileResults, FindingState, LimitKind, Origin, Report, ReviewContext, ReviewGap,
    UnreviewedFile, Verdict,
};
use std::collections::{BTreeMap, BTreeSet};

/// Hint to merge the shards of a review before a comparison.
const MERGE_SHARDS_HINT: &str =
    "merge the shards into one report first: `sluicegate report PART.json… --report json=FILE`";

/// The gaps in a comparison of two reports.
#[derive(Debug, Default, PartialEq, Eq)]
struct ReportGaps {
    /// Files without enough information in the old report.
    unknown_files: Vec<UnreviewedFile>,
    /// Rules of the old report that have no result in the new one.
    unevaluated_rules: BTreeSet<String>,
}

/// Fails if the reports cannot be compared: there are several new reports, a report covers only a shard, or the new
/// report is itself a comparison.
pub(crate) fn reject_incomparable_reports(older: &Report, newer_reports: &[Report]) -> Result<(), Failure> {
    let [newer] = newer_reports else {
        let message = format!(
            "--compare requires exactly one new report, but {} were given",
            newer_reports.len()
        );
        return Err(Failure::usage(message).with_hint(MERGE_SHARDS_HINT));
    };
    if let Some(shard) = older.context.shard.or(newer.context.shard) {
        let message = format!("cannot compare a report that covers only shard {shard}");
        return Err(Failure::usage(message).with_hint(MERGE_SHARDS_HINT));
    }
    if newer.context.compared_with.is_some() {
        let message = "the new report is itself a comparison of two reports, not a review";
        return Err(Failure::usage(message).with_hint("compare the report that the review wrote"));
    }
    Ok(())
}

/// Marks the findings of the new report as new or known since the older one. Adds notes about files, rules and checks
/// that could not be compared.
pub(crate) fn compare_with_older_report(newer: &mut Report, older: Report) {
    let head = older.context.head.clone();
    remove_base_notes(newer);
    let disabled_check_notes = describe_disabled_checks(&newer.context, &older.context);
    let older_commit = head.as_deref().map_or("a working tree", short_id).to_owned();
    let gaps = mark_new_findings(newer, older);
    newer.context.compared_with = Some(ComparedWith { head });
    let notes = &mut newer.notes;
    notes.push(format!("compared with a report of {older_commit} (--compare)"));
    notes.extend(disabled_check_notes);
    if let Some(first_file) = gaps.unknown_files.first() {
        let reason = format!(
            "the old report cannot show which findings are new in {}: {}: {}",
            format_count(gaps.unknown_files.len(), "file"),
            first_file.path,
            first_file.reason
        );
        notes.push(reason.clone());
        if newer.verdict == Verdict::Undecided {
            newer.reasons.push(reason);
        }
    }
    if !gaps.unevaluated_rules.is_empty() {
        let rules: Vec<&str> = gaps.unevaluated_rules.iter().map(String::as_str).collect();
        notes.push(format!(
            "these rules were not evaluated, so their earlier findings are not treated as fixed: {}",
            rules.join(", ")
        ));
    }
}

/// Removes the notes that say which commit defines the known findings, or that there is none: the older report now
/// defines them.
fn remove_base_notes(newer: &mut Report) {
    let missing_base_limits = newer
        .limits
        .extract_if(.., |limit| limit.kind == LimitKind::NoBase);
    let outdated_notes: BTreeSet<String> = missing_base_limits.map(|limit| limit.text).collect();
    newer
        .notes
        .retain(|note| !outdated_notes.contains(note) && !is_earlier_base_note(note));
}

/// Returns a note for each group of checks that the job turned off for only one of the two reports.
fn describe_disabled_checks(newer: &ReviewContext, older: &ReviewContext) -> Vec<String> {
    let mut notes = Vec::new();
    for (checks, is_off, was_off) in [
        (
            "project checks",
            newer.project_checks_off,
            older.project_checks_off,
        ),
        ("team rules", newer.team_rules_off, older.team_rules_off),
    ] {
        if was_off && !is_off {
            notes.push(format!(
                "the {checks} were turned off for the older report, so all their findings are treated as new"
            ));
        }
        if is_off && !was_off {
            notes.push(format!(
                "the {checks} were turned off for the new report, so their earlier findings are not treated as fixed"
            ));
        }
    }
    notes
}

/// Marks the findings of `newer` as known if `older` has them, too, and otherwise as new. Waived findings, and files
/// that could not be compared, are not marked. Then decides the verdict again, because known findings do not fail the
/// gate. Returns the files and rules that could not be compared.
fn mark_new_findings(newer: &mut Report, mut older: Report) -> ReportGaps {
    // Removed before the findings are marked, because the text of the note contains the number of known findings.
    newer.remove_known_limit_note();
    // The verdict is failed, but the report shows no cause: the failure comes from the platform, and no known finding
    // excuses it.
    let has_unexplained_failure =
        newer.verdict == Verdict::Failed && decide_verdict(&find_report_causes(newer)) != Verdict::Failed;
    let fold_evidence = if newer.failed_without_finding {
        FoldEvidence::Inconclusive
    } else {
        FoldEvidence::Conclusive
    };
    newer.failed_without_finding |= has_unexplained_failure;
    // The verdict is decided again below. An undecided verdict must not become passed.
    newer.is_open |= newer.verdict == Verdict::Undecided;
    let unevaluated_rules = remove_unevaluated_results(newer, &mut older);
    let old_report = OldReport::new(newer, &older);
    let mut files = newer.files.clone();
    files.iter_mut().for_each(remove_base_states);
    let unreviewed_paths: BTreeSet<&str> = newer
        .unreviewed_files
        .iter()
        .map(|file| file.path.as_str())
        .collect();
    let mut comparison = mark_new_and_known(
        &mut files,
        |path| unreviewed_paths.contains(path),
        |path| vec![old_report.find_base_file(path)],
    );
    let failed_files = files.iter().filter(|file| old_report.has_failed(&file.path));
    comparison.failed_before = failed_files.map(|file| file.path.clone()).collect();
    newer.files = files;
    // Whether findings explain a failed batch depends on the base. The run decided the flag for its own base, so it is
    // decided again for `older`.
    if !newer.failed_batches.is_empty() {
        let unexplained_batches =
            list_unexplained_batches(&newer.failed_batches, newer.files.iter(), fold_evidence, |path| {
                comparison.has_failed_before(path)
            });
        newer.failed_without_finding = has_unexplained_failure || !unexplained_batches.is_empty();
    }
    newer.fixed_count = Some(comparison.fixed_count);
    newer.notes.extend(newer.check_known_limit());
    let causes = find_report_causes(newer);
    (newer.verdict, newer.is_open) = (decide_verdict(&causes), crate::gate::has_undecided_cause(&causes));
    ReportGaps {
        unknown_files: comparison.unknown_files,
        unevaluated_rules,
    }
}

/// Removes from `older` the results of rules that have no result in `newer`, because a finding is not fixed if its rule
/// was not evaluated. Changes only files that are in both reports, even if the change renamed them. Returns the removed
/// rules that had findings, without project checks, which have a result only if they find a problem.
fn remove_unevaluated_results(newer: &Report, older: &mut Report) -> BTreeSet<String> {
    let results = newer.files.iter().flat_map(|file| &file.results);
    let evaluated_rules: BTreeSet<&str> = results.map(|result| result.rule.as_str()).collect();
    let mut newer_paths: BTreeSet<&str> = newer.files.iter().map(|file| file.path.as_str()).collect();
    for changed_file in newer.changes.iter().flatten() {
        if newer_paths.contains(changed_file.path.as_str()) {
            newer_paths.extend(changed_file.old_path());
        }
    }
    let mut unevaluated_rules = BTreeSet::new();
    let common_files = older
        .files
        .iter_mut()
        .filter(|file| newer_paths.contains(file.path.as_str()));
    for file in common_files {
        let removed_results = file
            .results
            .extract_if(.., |result| !evaluated_rules.contains(result.rule.as_str()));
        let results_with_findings =
            removed_results.filter(|result| result.severity().is_some() && result.origin != Origin::Project);
        unevaluated_rules.extend(results_with_findings.map(|result| result.rule));
    }
    unevaluated_rules
}

/// Removes the states `new` and `known`, which come from the comparison with the report's own base. The comparison with
/// the older report sets them again. Waived findings stay waived.
fn remove_base_states(file: &mut FileResults) {
    for result in &mut file.results {
        for mark in result.marks_mut() {
            mark.state = mark.state.filter(|state| *state == FindingState::Waived);
        }
    }
}

/// The old report, prepared for lookups by path.
struct OldReport<'r> {
    files: BTreeMap<&'r str, &'r FileResults>,
    /// Files without results in the old report, each with the reason.
    unusable_files: BTreeMap<&'r str, &'r str>,
    covers_all_pipelines: bool,
    /// The old paths of files of the new report.
    old_paths: BTreeMap<&'r str, &'r str>,
    /// The files of all batches that failed.
    failed_paths: BTreeSet<String>,
}

impl<'r> OldReport<'r> {
    /// Indexes the results of the older report by path. Excluded and unreviewed files are unusable.
    fn new(newer: &'r Report, older: &'r Report) -> Self {
        let mut unusable_files = BTreeMap::new();
        for file in &older.excluded_files {
            unusable_files.insert(file.path.as_str(), file.reason.as_str());
        }
        for file in &older.unreviewed_files {
            unusable_files.insert(file.path.as_str(), file.reason.as_str());
        }
        let mut old_report = Self {
            files: older
                .files
                .iter()
                .map(|file| (file.path.as_str(), file))
                .collect(),
            unusable_files,
            covers_all_pipelines: covers_all_pipelines(older),
            old_paths: BTreeMap::new(),
            failed_paths: match older.engine {
                Engine::Remote => older.failed_batches.iter().flatten().cloned().collect(),
                Engine::Local => build_failed_batches(&older.files).into_iter().flatten().collect(),
            },
        };
        old_report.add_old_paths(newer);
        old_report
    }

    /// Adds the old path of each file that the new report lists as renamed, unless the older report has a file with
    /// the new path. Each old path is used once, and not at all if the new report has a file with that path.
    fn add_old_paths(&mut self, newer: &'r Report) {
        let mut used_paths: BTreeSet<&str> = newer.files.iter().map(|file| file.path.as_str()).collect();
        for changed_file in newer.changes.iter().flatten() {
            let (path, old_path) = (changed_file.path.as_str(), changed_file.old_path());
            let exists_in_older = self.files.contains_key(path) || self.unusable_files.contains_key(path);
            if let Some(old_path) = old_path.filter(|path| !exists_in_older && used_paths.insert(path)) {
                self.old_paths.insert(path, old_path);
            }
        }
    }

    /// Returns whether the file's batch failed in the older report. `path` is the path in the new report.
    fn has_failed(&self, path: &str) -> bool {
        let old_path = self.old_paths.get(path).copied().unwrap_or(path);
        self.failed_paths.contains(old_path)
    }

    /// Returns the results of the older report for a file: unknown if that report has no usable results. A file that is
    /// not in a report of all pipelines did not exist then, so it is missing. `path` is the path in the new report.
    fn find_base_file(&self, path: &str) -> BaseFile<'r> {
        let old_path = self.old_paths.get(path).copied().unwrap_or(path);
        match (self.unusable_files.get(old_path), self.files.get(old_path)) {
            (Some(reason), _) => unknown_file(reason),
            (None, Some(file)) => BaseFile::Evaluated(file),
            (None, None) if self.covers_all_pipelines => BaseFile::Missing,
            (None, None) => unknown_file("the old report covers only some pipelines, but not this file"),
        }
    }
}

/// Returns the state of a file without usable results in the old report.
const fn unknown_file(reason: &str) -> BaseFile<'_> {
    BaseFile::Unknown(BaseGap {
        reason,
        gap: ReviewGap::Other,
    })
}

/// Returns whether the report covers all pipelines: it has no base and no restriction to paths. A report of a shard was
/// rejected before, and pipelines that the globs exclude are in the report's list of excluded files.
fn covers_all_pipelines(report: &Report) -> bool {
    let context = &report.context;
    context.base.is_none() && context.paths.is_empty()
}
