//! What was there before, where only new findings are to count: the same pipelines at the base, by the rules of the head.

use crate::base::error::Failure;
use crate::base::git::{Change, CommitId, Content, GitError, Repository, Snapshot, SnapshotFile};
use crate::base::text::count;
use crate::commands::Run;
use crate::commands::gate::adoption::Adoption;
use crate::commands::gate::workspace::Workspace;
use crate::gate::{Before, Selected, Tally, mark};
use crate::job::context::Comparison;
use crate::job::settings::{Connection, Revisions, is_pipeline};
use crate::model::findings::FileResults;
use crate::platform::http::ErrorKind;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) struct Past {
    /// The commits, all of which must have a finding for it to be known; no commit: everything counts as new.
    pub(crate) bases: Vec<CommitId>,
    /// Why that one, or why none; for people.
    why: String,
    /// Where the files that changed since then were, where the selection found it out.
    moved: Option<Moved>,
}

/// Paths of files that changed, each with where the file was before; none for a new one. Others were where they are.
type Moved = BTreeMap<String, Option<String>>;

impl Past {
    /// What the change is compared with, where only new findings count: also where all pipelines are judged, if the job
    /// names a base.
    pub(crate) fn of(
        workspace: &Workspace<'_>,
        asked: &Revisions,
        comparison: &Comparison,
        selected: &Selected,
    ) -> Result<Self, Failure> {
        let (bases, why) = match (asked.all, &asked.base) {
            (true, Some(_)) => workspace.base_of_all(comparison, asked)?,
            _ => (comparison.bases.clone(), comparison.base_source.clone()),
        };
        // With several bases a file may have had another path in each.
        let is_known = bases.len() == 1 && bases == selected.since;
        let changes = selected.candidates.iter().map(|candidate| &candidate.change);
        Ok(Self {
            bases,
            why,
            moved: is_known.then(|| moved(changes)),
        })
    }

    /// What was published last: where a review is to be followed by a publish, only what that commit had is known. What an
    /// earlier push brought, reviewed or not, is not. Before the first version it is what the default branch had when it adopted
    /// `new-only`, so that adoption works in one merge.
    pub(crate) fn published(
        run: &Run,
        workspace: &Workspace<'_>,
        connection: &Connection,
        prefix: &str,
        head: &CommitId,
    ) -> Result<Self, Failure> {
        let platform = run.platform(connection)?;
        let past = |base: Option<CommitId>, why| Self {
            bases: base.into_iter().collect(),
            why,
            moved: None,
        };
        let details = match run.requests(platform.artifact_details(prefix, None))? {
            Ok(details) => details.artifact,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let none = format!("no version of {prefix} is enabled");
                return Ok(match workspace.adoption(head)? {
                    Adoption::At(commit) => {
                        let why = format!("the commit {} that adopted `new-only`, as {none}", commit.short());
                        past(Some(commit), why)
                    }
                    Adoption::Nowhere => past(None, none),
                    Adoption::Unknown => past(
                        None,
                        format!(
                            "{none}, and this clone does not have the whole history, which tells since when `new-only` is \
                             in force: fetch it (`fetch-depth: 0`, `GIT_DEPTH: 0`)"
                        ),
                    ),
                });
            }
            // Whether the change may pass all the same is for the review to say, in its reports.
            Err(error) if error.is_unavailable() => {
                let why = format!("what is published cannot be asked for: {}", error.cause());
                return Ok(past(None, why));
            }
            Err(error) => return Err(error.into()),
        };
        let version = details.version_name.as_deref().unwrap_or("without a name");
        let id = details.commit_hash.unwrap_or_default();
        let base = workspace.repo.commit_with_id(&id);
        let why = match base {
            Some(_) => format!("the version {version} of {prefix}, which is published"),
            None => format!("the commit {id:?} of the version {version} of {prefix} is not in this clone"),
        };
        Ok(past(base, why))
    }

    /// Marks what every base has. `judge` returns where the judged files were at one base, and what is found in them there.
    pub(crate) fn compare(
        &self,
        head: &mut Tally,
        mut judge: impl FnMut(&mut Tally, &CommitId) -> Result<(Places, Tally), Failure>,
    ) -> Result<(), Failure> {
        if self.bases.is_empty() {
            head.notes.push(self.none());
            return Ok(());
        }
        let bases = self.bases.iter().map(|base| judge(head, base));
        let bases = bases.collect::<Result<Vec<_>, _>>()?;
        compare(head, &bases);
        Ok(())
    }

    /// Where the judged files were at the base.
    pub(crate) fn places<'f>(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<Places, GitError> {
        let moved = self.moved_since(base, snapshot)?;
        let place = |path: &str| match moved.get(path) {
            Some(from) => from.clone(),
            None => Some(path.to_owned()),
        };
        Ok(Places(files.map(|path| (path.to_owned(), place(path))).collect()))
    }

    /// Like [`Self::places`], for the files that changed since the base and were there.
    pub(crate) fn changed_places<'f>(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<Places, GitError> {
        let moved = self.moved_since(base, snapshot)?;
        let changed = files.filter_map(|path| Some((path.to_owned(), moved.get(path)?.clone())));
        Ok(Places(changed.filter(|(_, was)| was.is_some()).collect()))
    }

    fn moved_since(&self, base: &CommitId, snapshot: &Snapshot<'_>) -> Result<Cow<'_, Moved>, GitError> {
        if let Some(moved) = &self.moved {
            return Ok(Cow::Borrowed(moved));
        }
        let changes = snapshot.changes(std::slice::from_ref(base), &is_pipeline)?;
        Ok(Cow::Owned(moved(changes.iter())))
    }

    /// Everything counts as new, and the report says so.
    fn none(&self) -> String {
        format!(
            "every finding counts as new, as there is nothing to compare with (--new-only): {}",
            self.why
        )
    }
}

/// The paths of head, each with where it was at the base; none for a new one.
pub(crate) struct Places(BTreeMap<String, Option<String>>);

impl Places {
    pub(crate) fn at_base(&self) -> BTreeSet<&str> {
        self.0.values().flatten().map(String::as_str).collect()
    }

    /// Adds those of the other places whose file has results.
    pub(crate) fn add_judged(&mut self, other: Self, judged: &[FileResults]) {
        let judged: BTreeSet<&str> = judged.iter().map(|file| file.path.as_str()).collect();
        let has_results = |was: &Option<String>| was.as_deref().is_some_and(|was| judged.contains(was));
        self.0
            .extend(other.0.into_iter().filter(|(_, was)| has_results(was)));
    }

    /// Where the file was; `None` for a new one, and for one that was not looked for.
    pub(crate) fn of(&self, path: &str) -> Option<String> {
        self.0.get(path).cloned().flatten()
    }
}

/// What one base has, by path.
struct AtBase<'b> {
    places: &'b Places,
    results: BTreeMap<&'b str, &'b FileResults>,
    /// Why files there have no usable results.
    open: BTreeMap<&'b str, &'b str>,
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
        }
    }

    fn before(&self, path: &str) -> Before<'b> {
        match self.places.0.get(path).and_then(Option::as_deref) {
            None => Before::Nothing,
            Some(was) => match (self.open.get(was), self.results.get(was)) {
                (Some(why), _) => Before::Unknown(why),
                (None, Some(found)) => Before::Had(found),
                (None, None) => Before::Unknown("it has no results there"),
            },
        }
    }
}

/// Marks what every base has, too.
fn compare(head: &mut Tally, bases: &[(Places, Tally)]) {
    let bases: Vec<AtBase<'_>> = bases.iter().map(AtBase::new).collect();
    let compared = mark(&mut head.files, |path| {
        bases.iter().map(|base| base.before(path)).collect()
    });
    if let Some((path, why)) = compared.unknown.first() {
        head.notes.push(format!(
            "the base of {} could not be judged, so what of it is new is not known: {path}: {why}",
            count(compared.unknown.len(), "file")
        ));
    }
    head.compared = Some(compared);
}

/// A file that was no pipeline by its name has no past.
fn moved<'c>(changes: impl Iterator<Item = &'c Change>) -> Moved {
    let before = |change: &Change| {
        change
            .path_before()
            .filter(|path| is_pipeline(path))
            .map(str::to_owned)
    };
    changes
        .map(|change| (change.path.clone(), before(change)))
        .collect()
}

/// Whether the base has this rules file of the head, too.
pub(crate) fn same_rules(repo: &Repository, base: &CommitId, rules: &SnapshotFile) -> Result<bool, GitError> {
    let before = repo.find_file(base, &rules.path)?;
    Ok(before.is_some_and(|before| matches!(&rules.content, Content::Blob(blob) if *blob == before.blob)))
}
