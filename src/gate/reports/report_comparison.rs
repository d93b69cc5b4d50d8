//! Compares two reports without a repository: finds new, known and fixed findings by the same identity as between
//! commits.

use crate::error::Failure;
use crate::gate::remote_review::failed_batch::{BatchFiles, list_failed_files, list_unexplained_batches};
use crate::gate::{Before, causes, mark, verdict};
use sluicegate_base::text::count;
use sluicegate_git::short_id;
use sluicegate_pipelines::findings::{ComparedWith, Engine, FileResults, FindingState, Report, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// Hint to merge the shards of a review before a comparison.
const HINT: &str = "merge the shards into a report first: `sluicegate report PART.json… --report json=FILE`";

/// The gaps in a comparison of two reports.
#[derive(Debug, Default, PartialEq, Eq)]
struct ReportGaps {
    /// Files without enough information in the old report, each with the reason.
    unknown: Vec<(String, String)>,
    /// Rules of the old report that have no result in the new one.
    unjudged: BTreeSet<String>,
}

/// Returns an error if the reports cannot be compared.
pub(crate) fn refuse_incomparable(older: &Report, new: &[Report]) -> Result<(), Failure> {
    let [new] = new else {
        let what = format!(
            "--compare requires exactly one new report, but {} are given",
            new.len()
        );
        return Err(Failure::usage(what).hint(HINT));
    };
    if let Some(part) = older.context.shard.or(new.context.shard) {
        let what = format!("cannot compare a report that covers only shard {part}");
        return Err(Failure::usage(what).hint(HINT));
    }
    if new.context.compared_with.is_some() {
        let what = "the new report is itself a comparison of two reports, not a review";
        return Err(Failure::usage(what).hint("compare the report that the review wrote"));
    }
    Ok(())
}

/// Marks the new report's findings and adds notes about the comparison and the files that could not be compared.
pub(crate) fn mark_since_report(new: &mut Report, older: Report) {
    let head = older.context.head.clone();
    let of = head.as_deref().map_or("a working tree", short_id).to_owned();
    let gaps = compare(new, older);
    new.context.compared_with = Some(ComparedWith { head });
    let notes = &mut new.notes;
    notes.push(format!("compared by --compare with a report of {of}"));
    if let Some((path, why)) = gaps.unknown.first() {
        let files = count(gaps.unknown.len(), "file");
        let reason = format!("the old report cannot show which findings are new in {files}: {path}: {why}");
        notes.push(reason.clone());
        if new.verdict == Verdict::Undecided {
            new.reasons.push(reason);
        }
    }
    if !gaps.unjudged.is_empty() {
        let rules: Vec<&str> = gaps.unjudged.iter().map(String::as_str).collect();
        notes.push(format!(
            "these rules were not evaluated, so their earlier findings do not count as fixed: {}",
            rules.join(", ")
        ));
    }
}

/// Marks the findings of `new` as new or known by comparing with `old`, and derives the verdict from the new ones.
fn compare(new: &mut Report, mut old: Report) -> ReportGaps {
    new.remove_known_limit_note();
    // A failure that no finding explains comes from the platform, and no known finding excuses it.
    let has_other_failure = new.verdict == Verdict::Failed && verdict(&causes(new)) != Verdict::Failed;
    new.failed_without_finding |= has_other_failure;
    new.is_open |= new.verdict == Verdict::Undecided;
    let unjudged = without_judgement(new, &mut old);
    let past = OldReport::of(new, &old);
    let mut files = new.files.clone();
    files.iter_mut().for_each(forget_state);
    let unreviewed = new.unreviewed_files.iter().map(|file| file.path.as_str());
    let open: BTreeSet<&str> = unreviewed.collect();
    let mut compared = mark(
        &mut files,
        |path| open.contains(path),
        |path| vec![past.before(path)],
    );
    let failed = files.iter().filter(|file| past.has_failed(&file.path));
    compared.failed_before = failed.map(|file| file.path.clone()).collect();
    new.files = files;
    if !new.failed_batches.is_empty() {
        let has_failed_before = |path: &str| compared.has_failed_before(path);
        let unexplained = list_unexplained_batches(&new.failed_batches, new.files.iter(), has_failed_before);
        new.failed_without_finding = has_other_failure || !unexplained.is_empty();
    }
    new.fixed_count = Some(compared.fixed);
    new.notes.extend(new.check_known_limit());
    let causes = causes(new);
    (new.verdict, new.is_open) = (verdict(&causes), crate::gate::is_open(&causes));
    ReportGaps {
        unknown: compared.unknown,
        unjudged,
    }
}

/// Removes the rules without any result in `new` from the files of `old` that both have, as their findings are not
/// fixed. Returns the removed rules that had findings.
fn without_judgement(new: &Report, old: &mut Report) -> BTreeSet<String> {
    let results = new.files.iter().flat_map(|file| &file.results);
    let judged: BTreeSet<&str> = results.map(|result| result.rule.as_str()).collect();
    let there: BTreeSet<&str> = new.files.iter().map(|file| file.path.as_str()).collect();
    let mut unjudged = BTreeSet::new();
    let both = old
        .files
        .iter_mut()
        .filter(|file| there.contains(file.path.as_str()));
    for file in both {
        let unlooked = file
            .results
            .extract_if(.., |result| !judged.contains(result.rule.as_str()));
        let found = unlooked.filter(|result| result.severity().is_some());
        unjudged.extend(found.map(|result| result.rule));
    }
    unjudged
}

/// Removes the states that come from the report's own base; waived findings stay waived.
fn forget_state(file: &mut FileResults) {
    for result in &mut file.results {
        result
            .states
            .iter_mut()
            .for_each(|state| *state = state.filter(|it| *it == FindingState::Waived));
        if result.states.iter().all(Option::is_none) {
            result.states.clear();
        }
    }
}

/// The old report, prepared for lookups by path.
struct OldReport<'r> {
    files: BTreeMap<&'r str, &'r FileResults>,
    /// Files without results in the old report, each with the reason.
    open: BTreeMap<&'r str, &'r str>,
    is_whole: bool,
    /// The former paths of files of the new report.
    moved: BTreeMap<&'r str, &'r str>,
    /// The files of each batch that failed.
    failed: Vec<BatchFiles>,
}

impl<'r> OldReport<'r> {
    fn of(new: &'r Report, old: &'r Report) -> Self {
        let unreviewed = old.unreviewed_files.iter();
        let unreviewed = unreviewed.map(|file| (file.path.as_str(), file.reason.as_str()));
        let excluded = old.excluded_files.iter();
        let excluded = excluded.map(|file| (file.path.as_str(), file.reason.as_str()));
        let mut past = Self {
            files: old.files.iter().map(|file| (file.path.as_str(), file)).collect(),
            open: excluded.chain(unreviewed).collect(),
            is_whole: is_whole(old),
            moved: BTreeMap::new(),
            failed: match old.engine {
                Engine::Remote => old.failed_batches.clone(),
                Engine::Local => list_failed_files(&old.files),
            },
        };
        past.follow(new);
        past
    }

    /// Adds the former paths from the new report, but not those of files that still exist, and each only once.
    fn follow(&mut self, new: &'r Report) {
        let mut taken: BTreeSet<&str> = new.files.iter().map(|file| file.path.as_str()).collect();
        for changed in new.changes.iter().flatten() {
            let (path, before) = (changed.path.as_str(), changed.previous_path.as_deref());
            let is_there = self.files.contains_key(path) || self.open.contains_key(path);
            if let Some(before) = before.filter(|before| !is_there && taken.insert(before)) {
                self.moved.insert(path, before);
            }
        }
    }

    /// Returns whether the old review of this file of the new report failed.
    fn has_failed(&self, path: &str) -> bool {
        let was = self.moved.get(path).copied().unwrap_or(path);
        self.failed.iter().any(|batch| batch.contains(was))
    }

    fn before(&self, path: &str) -> Before<'r> {
        let was = self.moved.get(path).copied().unwrap_or(path);
        match (self.open.get(was), self.files.get(was)) {
            (Some(why), _) => Before::Unknown(why),
            (None, Some(found)) => Before::Had(found),
            (None, None) if self.is_whole => Before::Nothing,
            (None, None) => Before::Unknown("the old report covers only some pipelines, and not this one"),
        }
    }
}

/// Returns whether the report covers all pipelines.
fn is_whole(report: &Report) -> bool {
    let context = &report.context;
    context.base.is_none() && context.shard.is_none() && context.paths.is_empty()
}
