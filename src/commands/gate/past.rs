//! What was there before, where only new findings are to count: the same pipelines at the base, by the rules of the head.

use crate::base::error::Failure;
use crate::base::git::{CommitId, Content, GitError, Repository, Snapshot, SnapshotFile};
use crate::commands::Run;
use crate::commands::gate::adoption::Adoption;
use crate::commands::gate::workspace::Workspace;
use crate::gate::{Moved, Places, Selected, Tally, mark_known, moved};
use crate::job::context::Comparison;
use crate::job::settings::{Connection, Revisions};
use crate::model::pipelines::is_pipeline;
use crate::platform::http::ErrorKind;
use std::borrow::Cow;

pub(crate) struct Past {
    /// The commits, all of which must have a finding for it to be known; no commit: everything counts as new.
    pub(crate) bases: Vec<CommitId>,
    /// Why that one, or why none; for people.
    why: String,
    /// Where the files that changed since then were, where the selection found it out.
    moved: Option<Moved>,
}

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
        Ok(Self {
            why,
            ..Self::at(&bases, selected)
        })
    }

    /// What the change is compared with, for whoever has to know what it brought.
    pub(crate) fn at(bases: &[CommitId], selected: &Selected) -> Self {
        let is_known = bases.len() == 1 && bases == selected.since;
        let changes = selected.candidates.iter().map(|candidate| &candidate.change);
        Self {
            bases: bases.to_vec(),
            why: String::new(),
            moved: is_known.then(|| moved(changes)),
        }
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
        mark_known(head, &bases);
        Ok(())
    }

    /// Where the judged files were at the base.
    pub(crate) fn places<'f>(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<Places, GitError> {
        Ok(Places::of_all(files, &*self.moved_since(base, snapshot)?))
    }

    /// Like [`Self::places`], for the files that changed since the base and were there.
    pub(crate) fn changed_places<'f>(
        &self,
        base: &CommitId,
        snapshot: &Snapshot<'_>,
        files: impl Iterator<Item = &'f str>,
    ) -> Result<Places, GitError> {
        Ok(Places::of_changed(files, &*self.moved_since(base, snapshot)?))
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

/// Whether the base has this rules file of the head, too.
pub(crate) fn same_rules(repo: &Repository, base: &CommitId, rules: &SnapshotFile) -> Result<bool, GitError> {
    let before = repo.find_file(base, &rules.path)?;
    Ok(before.is_some_and(|before| matches!(&rules.content, Content::Blob(blob) if *blob == before.blob)))
}
