//! The state at the base commits: the former paths of the reviewed files, and their results there.

use crate::gate::{Before, KnownComparison, Tally, mark};
use sluicegate_git::Change;
use sluicegate_pipelines::findings::FileResults;
use sluicegate_pipelines::pipelines::is_pipeline;
use std::collections::{BTreeMap, BTreeSet};

/// Paths of changed files, each with the former path, or `None` for a new file. Other files kept their path.
pub(crate) type Moved = BTreeMap<String, Option<String>>;

/// Returns the former path of each changed file; `None` if the former name is not a pipeline name.
pub(crate) fn moved<'c>(changes: impl Iterator<Item = &'c Change>) -> Moved {
    let before = |change: &Change| {
        change
            .old_path()
            .filter(|path| is_pipeline(path))
            .map(str::to_owned)
    };
    changes
        .map(|change| (change.path.clone(), before(change)))
        .collect()
}

/// The paths of head, each with the path at the base, or `None` for a new file.
#[derive(Debug, Default)]
pub(crate) struct Places(Moved);

impl Places {
    /// Returns the paths of these files at the base, given the moves since then.
    pub(crate) fn of_all<'f>(files: impl Iterator<Item = &'f str>, moved: &Moved) -> Self {
        let place = |path: &str| match moved.get(path) {
            Some(from) => from.clone(),
            None => Some(path.to_owned()),
        };
        Self(files.map(|path| (path.to_owned(), place(path))).collect())
    }

    /// Like [`Self::of_all`], but only for files that changed since the base and existed there.
    pub(crate) fn of_changed<'f>(files: impl Iterator<Item = &'f str>, moved: &Moved) -> Self {
        let changed = files.filter_map(|path| Some((path.to_owned(), moved.get(path)?.clone())));
        Self(changed.filter(|(_, was)| was.is_some()).collect())
    }

    /// Treats the files as new whose former path was not selected: no run enforced a rule there, so no finding is known.
    pub(crate) fn forget_unselected(mut self, is_selected: &dyn Fn(&str) -> bool) -> Self {
        for (path, former_path) in &mut self.0 {
            if former_path
                .as_ref()
                .is_some_and(|former| former != path && !is_selected(former))
            {
                *former_path = None;
            }
        }
        self
    }

    pub(crate) fn at_base(&self) -> BTreeSet<&str> {
        self.0.values().flatten().map(String::as_str).collect()
    }

    /// Adds the places of other files.
    pub(crate) fn add(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Adds the `other` places whose file at the base has results in `judged`.
    pub(crate) fn add_judged(&mut self, other: Self, judged: &[FileResults]) {
        let judged: BTreeSet<&str> = judged.iter().map(|file| file.path.as_str()).collect();
        let has_results = |was: &Option<String>| was.as_deref().is_some_and(|was| judged.contains(was));
        self.0
            .extend(other.0.into_iter().filter(|(_, was)| has_results(was)));
    }

    /// Returns the path at the base; `None` for a new file and for one that was not looked up.
    pub(crate) fn of(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned().flatten()
    }
}

/// The results at one base, by path.
struct AtBase<'b> {
    places: &'b Places,
    results: BTreeMap<&'b str, &'b FileResults>,
    /// Files without usable results, each with the reason.
    open: BTreeMap<&'b str, &'b str>,
    /// The files of all batches that failed.
    failed: BTreeSet<&'b str>,
}

impl<'b> AtBase<'b> {
    fn new((places, tally): &'b (Places, Tally)) -> Self {
        let results = tally.files.iter().map(|file| (file.path.as_str(), file));
        let unreviewed = tally.unreviewed.iter().map(|file| (&file.path, &file.reason));
        let open = unreviewed.chain(&tally.doubtful);
        Self {
            places,
            results: results.collect(),
            open: open.map(|(path, why)| (path.as_str(), why.as_str())).collect(),
            failed: tally
                .failed_batches
                .iter()
                .flatten()
                .map(String::as_str)
                .collect(),
        }
    }

    /// Returns whether the review of this file of head failed at the base.
    fn has_failed(&self, path: &str) -> bool {
        let was = self.places.0.get(path).and_then(Option::as_deref);
        was.is_some_and(|was| self.failed.contains(was))
    }

    fn before(&self, path: &str) -> Before<'b> {
        match self.places.0.get(path).and_then(Option::as_deref) {
            None => Before::Nothing,
            Some(was) => match (self.open.get(was), self.results.get(was)) {
                (Some(why), _) => Before::Unknown(why),
                (None, Some(found)) => Before::Had(found),
                (None, None) => Before::Unknown("the base has no results for this file"),
            },
        }
    }
}

/// Marks the findings of these files that every base has, too. `is_open` returns whether the review of a file is
/// incomplete.
pub(crate) fn mark_files(
    files: &mut [FileResults],
    is_open: impl Fn(&str) -> bool,
    bases: &[(Places, Tally)],
) -> KnownComparison {
    let bases: Vec<AtBase<'_>> = bases.iter().map(AtBase::new).collect();
    let mut compared = mark(files, is_open, |path| {
        bases.iter().map(|base| base.before(path)).collect()
    });
    let failed = files
        .iter()
        .filter(|file| bases.iter().all(|base| base.has_failed(&file.path)));
    compared.failed_before = failed.map(|file| file.path.clone()).collect();
    compared
}

/// Marks the findings of head that every base has, too, and adds a note if some files could not be compared.
pub(crate) fn mark_known(head: &mut Tally, bases: &[(Places, Tally)]) {
    let unreviewed = head.unreviewed.iter().map(|file| file.path.as_str());
    let doubtful = head.doubtful.keys().map(String::as_str);
    let open: BTreeSet<&str> = unreviewed.chain(doubtful).collect();
    let compared = mark_files(&mut head.files, |path| open.contains(path), bases);
    head.notes.extend(compared.describe_unknown());
    head.compared = Some(compared);
}
