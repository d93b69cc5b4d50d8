//! Finds the baseline if only new findings count: the same pipelines at the base, evaluated by the rules of the head.

pub(crate) mod adoption;
pub(crate) mod base_results;
pub(crate) mod known;
pub(crate) mod renamed_components;

use crate::error::Failure;
use crate::gate::baseline::adoption::Adoption;
use crate::gate::{Moved, Pairs, Places, Selected, Tally, mark_known, moved};
use crate::job::context::{Comparison, short_ids};
use crate::job::settings::{Connection, Revisions, Selection};
use crate::session::Run;
use crate::workspace::Workspace;
use sluicegate_git::{
    Change, ChangeKind, CommitId, Content, FileKind, GitError, Repository, Snapshot, SnapshotFile,
};
use sluicegate_pipelines::findings::{FileResults, LimitKind, VerdictLimit};
use sluicegate_pipelines::pipelines::{SubjectKind, is_pipeline};
use sluicegate_platform::http::ErrorKind;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

pub(crate) struct Baseline {
    /// The base commits; a finding is known if all of them have it. If empty, every finding is new.
    pub(crate) bases: Vec<CommitId>,
    /// Why this base was chosen, or why there is none; shown to the user.
    why: String,
    /// The note that names the base of a run that selects all pipelines.
    note: Option<String>,
    /// The former paths of the files changed since the base, if the selection found them.
    moved: Option<Moved>,
    /// The selection of the run; `None` if it covers every path.
    selection: Option<Selection>,
}

impl Baseline {
    /// Adds the selection of the run: a finding is not known at a former path that it excludes.
    pub(crate) fn with_selection(self, selection: &Selection) -> Self {
        Self {
            selection: Some(selection.clone()),
            ..self
        }
    }

    fn selects(&self, path: &str) -> bool {
        self.selection
            .as_ref()
            .is_none_or(|selection| selection.selects(path))
    }

    /// Returns the baseline of the change for `new-only`. A base set by the job is used even if all pipelines are
    /// reviewed.
    pub(crate) fn of_change(
        workspace: &Workspace<'_>,
        asked: &Revisions,
        comparison: &Comparison,
        selected: &Selected,
    ) -> Result<Self, Failure> {
        let (bases, why) = match (asked.all, &asked.base) {
            (true, Some(_)) => workspace.base_of_all(comparison, asked)?,
            _ => comparison.baseline_commits()?,
        };
        let is_earlier = comparison.bases.is_empty() && asked.base.is_none();
        // With several bases, a file may have had another path in each.
        Ok(Self {
            note: is_earlier.then(|| earlier_note(&bases, &why)).flatten(),
            why,
            ..Self::at(&bases, selected)
        })
    }

    /// Returns the baseline at these commits, to find the findings that the change introduced.
    pub(crate) fn at(bases: &[CommitId], selected: &Selected) -> Self {
        let is_known = bases.len() == 1 && bases == selected.since;
        let changes = selected.candidates.iter().map(|candidate| &candidate.change);
        Self {
            bases: bases.to_vec(),
            why: String::new(),
            note: None,
            moved: is_known.then(|| moved(changes)),
            selection: None,
        }
    }

    /// Returns the last published commit as the baseline: if a publish follows the review, only findings of that commit
    /// are known. Findings of an earlier push are new, reviewed or not. Before the first version, the baseline is the
    /// commit by which the default branch adopted `new-only`, so that adoption works in one merge.
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
            note: None,
            moved: None,
            selection: None,
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
                            "{none}, and this clone lacks the full history, which shows since when \
                             `new-only` is in force: fetch it (`fetch-depth: 0`, `GIT_DEPTH: 0`)"
                        ),
                    ),
                });
            }
            // The review decides whether the change may pass nonetheless, and reports it.
            Err(error) if error.is_unavailable() => {
                let why = format!("could not query the published version: {}", error.cause());
                return Ok(past(None, why));
            }
            Err(error) => return Err(error.into()),
        };
        let version = details.display_name();
        let id = details.commit_hash.as_deref().unwrap_or_default();
        let base = workspace.repo.commit_with_id(id);
        let why = match base {
            Some(_) => format!("the version {version} of {prefix}, which is published"),
            None => format!("the commit {id:?} of the version {version} of {prefix} is not in this clone"),
        };
        Ok(past(base, why))
    }

    /// Marks the findings that every base has. `judge` returns the paths of the reviewed files at one base, and the
    /// findings in them.
    pub(crate) fn compare(
        &self,
        repo: &Repository,
        snapshot: &Snapshot<'_>,
        head: &mut Tally,
        mut judge: impl FnMut(&mut Tally, &CommitId) -> Result<(Places, Tally), Failure>,
    ) -> Result<(), Failure> {
        if self.bases.is_empty() {
            head.add_limit(VerdictLimit {
                kind: LimitKind::NoBase,
                path: None,
                text: self.none(),
            });
            return Ok(());
        }
        head.notes.extend(self.note.clone());
        let bases = self.bases.iter().map(|base| judge(head, base));
        let mut bases = bases.collect::<Result<Vec<_>, _>>()?;
        for (base, before) in self.bases.iter().zip(&mut bases) {
            let (places, tally) = before;
            self.follow_renamed_components(
                &Pairs {
                    repo,
                    head: snapshot,
                    bases: std::slice::from_ref(base),
                },
                &head.files,
                places,
                &mut tally.files,
            )?;
        }
        mark_known(head, &bases);
        Ok(())
    }

    /// Gives the findings of the base the new names of the components that were renamed since, so that they are known.
    /// Only files whose findings are about other components than before are compared.
    pub(crate) fn follow_renamed_components(
        &self,
        pairs: &Pairs<'_>,
        head: &[FileResults],
        places: &Places,
        before: &mut [FileResults],
    ) -> Result<(), GitError> {
        let [base] = pairs.bases else { return Ok(()) };
        let results: HashMap<&str, &FileResults> =
            before.iter().map(|file| (file.path.as_str(), file)).collect();
        let mut changes = Vec::new();
        let mut paths: HashMap<String, String> = HashMap::new();
        for file in head {
            let Some(was) = places.of(&file.path) else {
                continue;
            };
            let subjects = subjects(file);
            let former = results
                .get(was.as_str())
                .map(|file| self::subjects(file))
                .unwrap_or_default();
            if former.is_subset(&subjects) || subjects.is_subset(&former) {
                continue;
            }
            changes.push(Change {
                path: file.path.clone(),
                kind: if was == file.path {
                    ChangeKind::Modified
                } else {
                    ChangeKind::Renamed { from: was.clone() }
                },
                file: Some(FileKind::Regular),
                base: 0,
            });
            paths.insert(was, file.path.clone());
        }
        let is_changed = |change: &Change, moved: &Moved| moved.contains_key(&change.path);
        if !changes.is_empty() {
            let moved = self.moved_since(base, pairs.head)?;
            changes.retain(|change| is_changed(change, &moved));
        }
        let renamed = pairs.renamed_components(&changes)?;
        for file in before {
            let Some(renamed) = paths.get(&file.path).and_then(|path| renamed.get(path)) else {
                continue;
            };
            let violations = file.results.iter_mut().flat_map(|result| &mut result.violations);
            for violation in
                violations.filter(|violation| violation.about_kind != Some(SubjectKind::Variable))
            {
                let mut names = renamed.iter();
                let new = names.find(|(_, old)| violation.about.as_ref() == Some(old));
                if let Some((new, _)) = new {
                    violation.about = Some(new.clone());
                }
            }
        }
        Ok(())
    }

    /// Returns the paths of the reviewed files at the base.
    pub(crate) fn places<'f>(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<Places, GitError> {
        let places = Places::of_all(files, &*self.moved_since(base, snapshot)?);
        Ok(places.forget_unselected(&|path| self.selects(path)))
    }

    /// Like [`Self::places`], for the files that changed since the base and existed there.
    pub(crate) fn changed_places<'f>(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<Places, GitError> {
        let places = Places::of_changed(files, &*self.moved_since(base, snapshot)?);
        Ok(places.forget_unselected(&|path| self.selects(path)))
    }

    fn moved_since(&self, base: &CommitId, snapshot: &Snapshot<'_>) -> Result<Cow<'_, Moved>, GitError> {
        if let Some(moved) = &self.moved {
            return Ok(Cow::Borrowed(moved));
        }
        let changes = snapshot.changes(std::slice::from_ref(base), &is_pipeline)?;
        Ok(Cow::Owned(moved(changes.iter())))
    }

    /// Returns the note that every finding counts as new.
    fn none(&self) -> String {
        format!(
            "every finding counts as new, because there is no base to compare with (--new-only): {}",
            self.why
        )
    }
}

/// Returns the names that the findings of a file are about.
fn subjects(file: &FileResults) -> BTreeSet<&str> {
    let violations = file.results.iter().flat_map(|result| &result.violations);
    violations
        .filter_map(|violation| violation.about.as_deref())
        .collect()
}

/// Returns the note that names the earlier commit whose findings are known, or `None` without one.
fn earlier_note(bases: &[CommitId], source: &str) -> Option<String> {
    (!bases.is_empty()).then(|| {
        format!(
            "findings are known if they exist at {}: {source}",
            short_ids(bases)
        )
    })
}

/// Returns whether the base has the same rules file as the head.
pub(crate) fn same_rules(repo: &Repository, base: &CommitId, rules: &SnapshotFile) -> Result<bool, GitError> {
    let before = repo.find_file(base, &rules.path)?;
    Ok(before.is_some_and(|before| matches!(&rules.content, Content::Blob(blob) if *blob == before.blob)))
}
