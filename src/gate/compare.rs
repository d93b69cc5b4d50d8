//! What is new, known and fixed between two reports: by the same identity as between two commits, without a repository.

use super::{Before, GateDecision, Tally, decide, mark};
use crate::findings::{FileChange, FileResults, Report, RuleResult, State, Status, Verdict, Violation};
use std::collections::{BTreeMap, BTreeSet};

/// What a comparison of two reports left open or did by half.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReportGaps {
    /// Files of which the old report does not tell enough, each with why.
    pub unknown: Vec<(String, String)>,
    /// Only one of the reports says what its findings are about, so their words made them the same.
    pub by_words: bool,
    /// Rules of the old report that the new one did not judge anywhere.
    pub unjudged: BTreeSet<String>,
}

/// Marks the findings of `new` by what `old` has, and decides again with only new ones counting.
pub fn compare(new: &mut Report, mut old: Report) -> ReportGaps {
    let says_why = new.files.iter().flat_map(|file| &file.results);
    let says_why = says_why.into_iter().any(|result| result.fails(new.fail_on()));
    let is_refused = new.gate_refused || new.breaks_consumers();
    let has_cause = says_why || is_refused || new.too_many_known().is_some();
    let tally = Tally {
        // The platform's word, which no finding explains and none excuses. Reports of older versions do not say it, so
        // there a verdict without any other cause is taken for it.
        failed_without_finding: new.failed_without_finding || (new.verdict == Verdict::Failed && !has_cause),
        doubts: (new.is_open || new.verdict == Verdict::Undecided)
            .then(String::new)
            .into_iter()
            .collect(),
        unreviewed: new.unreviewed.clone(),
        ..Tally::default()
    };
    new.forget_known();
    let mut gaps = ReportGaps {
        by_words: (tells(new) && is_silent(&old)) || (is_silent(new) && tells(&old)),
        unjudged: without_judgement(new, &mut old),
        ..ReportGaps::default()
    };
    if gaps.by_words {
        old.files.iter_mut().for_each(forget_about);
    }
    decided(new, &old, tally, &mut gaps);
    new.hold_known();
    gaps
}

/// What breaks a rule in this report.
fn violations(report: &Report) -> impl Iterator<Item = &Violation> {
    let results = report.files.iter().flat_map(|file| &file.results);
    let failed = results.filter(|result| matches!(result.status, Status::Failed(_)));
    failed.flat_map(|result| &result.violations)
}

/// Whether it says of any finding what it is about.
fn tells(report: &Report) -> bool {
    violations(report).any(|violation| violation.about.is_some() || violation.size.is_some())
}

/// Whether it has findings and says of none what it is about, as older reports do.
fn is_silent(report: &Report) -> bool {
    violations(report).next().is_some() && !tells(report)
}

fn forget_about(file: &mut FileResults) {
    for result in &mut file.results {
        result.size = None;
        for violation in &mut result.violations {
            (violation.about, violation.size) = (None, None);
        }
    }
}

/// Takes the rules that `new` did not judge anywhere out of the files that both have: what nobody looked for is not
/// fixed.
fn without_judgement(new: &Report, old: &mut Report) -> BTreeSet<String> {
    let results = new.files.iter().flat_map(|file| &file.results);
    let judged: BTreeSet<&str> = results.map(|result| result.rule.as_str()).collect();
    let there: BTreeSet<&str> = new.files.iter().map(|file| file.path.as_str()).collect();
    let mut unjudged = BTreeSet::new();
    for file in old
        .files
        .iter_mut()
        .filter(|file| there.contains(file.path.as_str()))
    {
        file.results.retain(|result| {
            let is_judged = judged.contains(result.rule.as_str());
            if !is_judged && result.severity().is_some() {
                unjudged.insert(result.rule.clone());
            }
            is_judged
        });
    }
    unjudged
}

fn decided(new: &mut Report, old: &Report, mut tally: Tally, gaps: &mut ReportGaps) {
    let past = OldReport::of(new, old);
    let mut heads = new.files.clone();
    for head in &mut heads {
        head.results.iter_mut().for_each(forget_state);
        if gaps.by_words {
            forget_about(head);
        }
    }
    heads.extend(past.gone.iter().map(|path| FileResults {
        path: (*path).to_owned(),
        results: Vec::new(),
    }));
    let compared = mark(&mut heads, |path| vec![past.before(path)]);
    let states = heads.into_iter().flat_map(|head| head.results);
    let results = new.files.iter_mut().flat_map(|file| &mut file.results);
    results
        .zip(states)
        .for_each(|(result, head)| result.states = head.states);
    new.fixed = Some(compared.fixed);
    gaps.unknown.clone_from(&compared.unknown);
    tally.compared = Some(compared);
    tally.files = std::mem::take(&mut new.files);
    let found = decide(&tally, new.fail_on());
    new.files = tally.files;
    new.is_open = found.undecided;
    let failed = found.failed || new.gate_refused || new.breaks_consumers();
    new.verdict = GateDecision { failed, ..found }.verdict();
}

/// What its own base says of it: another past. What is waived stays so.
fn forget_state(result: &mut RuleResult) {
    let is_waived = |state: &Option<State>| *state == Some(State::Waived);
    if !result.states.iter().any(is_waived) {
        result.states.clear();
    }
    let others = result.states.iter_mut().filter(|state| !is_waived(state));
    others.for_each(|state| *state = None);
}

/// The old report, by path.
struct OldReport<'r> {
    files: BTreeMap<&'r str, &'r FileResults>,
    /// Files without a result there, each with why.
    open: BTreeMap<&'r str, &'r str>,
    is_whole: bool,
    /// Where files of the new report were.
    moved: BTreeMap<&'r str, &'r str>,
    /// Files that the new report would have if they still were there.
    gone: Vec<&'r str>,
}

impl<'r> OldReport<'r> {
    fn of(new: &'r Report, old: &'r Report) -> Self {
        let unreviewed = old.unreviewed.iter();
        let unreviewed = unreviewed.map(|file| (file.path.as_str(), file.reason.as_str()));
        let excluded = old.excluded.iter();
        let excluded = excluded.map(|file| (file.path.as_str(), file.reason.as_str()));
        let mut past = Self {
            files: old.files.iter().map(|file| (file.path.as_str(), file)).collect(),
            open: excluded.chain(unreviewed).collect(),
            is_whole: is_whole(old),
            moved: BTreeMap::new(),
            gone: Vec::new(),
        };
        past.follow(new);
        past.look_for_gone(new);
        past
    }

    /// Takes the former paths that the new report tells: never that of a file which is still there, nor one twice.
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

    fn look_for_gone(&mut self, new: &'r Report) {
        let judged = new.files.iter().map(|file| file.path.as_str());
        let open = new.unreviewed.iter().map(|file| file.path.as_str());
        let excluded = new.excluded.iter().map(|file| file.path.as_str());
        let moved = self.moved.values().copied();
        let there: BTreeSet<&str> = judged.chain(open).chain(excluded).chain(moved).collect();
        let changes = new.changes.iter().flatten();
        let removed = changes.filter(|changed| changed.change == FileChange::Removed);
        let removed: BTreeSet<&str> = removed.map(|changed| changed.path.as_str()).collect();
        let is_gone = |path: &&str| !there.contains(path) && (is_whole(new) || removed.contains(path));
        self.gone = self.files.keys().copied().filter(is_gone).collect();
    }

    fn before(&self, path: &str) -> Before<'r> {
        let was = self.moved.get(path).copied().unwrap_or(path);
        match (self.open.get(was), self.files.get(was)) {
            (Some(why), _) => Before::Unknown(why),
            (None, Some(found)) => Before::Had(found),
            (None, None) if self.is_whole => Before::Nothing,
            (None, None) => Before::Unknown("the old report is not of all pipelines and has no result of it"),
        }
    }
}

/// Whether it is of all pipelines.
fn is_whole(report: &Report) -> bool {
    let context = &report.context;
    context.base.is_none() && context.shard.is_none() && context.paths.is_empty()
}
