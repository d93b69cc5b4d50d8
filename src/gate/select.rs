//! Which files are reviewed: the changed pipelines, or all of them.

use super::lookalike::{self, looks_like_pipeline};
use crate::base::git::{Change, ChangeKind, CommitId, Differences, FileKind, GitError, Snapshot};
use crate::model::findings::{Excluded, GateChange};
use crate::model::pipelines::{RULES_FILE, is_pipeline};
use std::collections::BTreeMap;

const NOT_INCLUDED: &str = "not matched by --include";
const EXCLUDED: &str = "matched by --exclude";
/// Why a submodule is not judged.
pub(super) const SUBMODULE: &str = match FileKind::Submodule.why_not_read() {
    Some(why) => why,
    None => "",
};

/// Where to look and what is wanted.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub head: &'a Snapshot<'a>,
    /// The commits to compare with; none takes every pipeline.
    pub bases: &'a [CommitId],
    /// Why there is no base, or where it came from, for people.
    pub base_source: &'a str,
    /// The platform's hidden folder, if there is one.
    pub config_dir: Option<&'a str>,
    /// The paths that the policy is read from, with the links that lead there.
    pub policy_files: &'a [String],
    /// The commits that the host compares with, wherever settings moved the base: changes of the gate configuration are
    /// reported since these. Without them, no change is reported.
    pub hosts_bases: &'a [CommitId],
    /// Describes the change of a file of the gate since one base.
    pub words: &'a dyn Fn(&CommitId, &Change) -> Vec<String>,
    /// Whether `--include` matches.
    pub includes: &'a dyn Fn(&str) -> bool,
    /// Whether `--exclude` matches.
    pub excludes: &'a dyn Fn(&str) -> bool,
    /// Files and folders that restrict the selection, from the repository root; empty for no restriction.
    pub paths: &'a [String],
}

/// A changed pipeline, and whether it is reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub change: Change,
    pub selected: bool,
    /// Why, or why not.
    pub reason: String,
}

/// The changes of pipelines, as the selection found them.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComparedChanges {
    /// The commits that the files differ from.
    pub since: Vec<CommitId>,
    pub changes: Vec<Change>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Selected {
    /// The files to review, by path.
    pub files: Vec<String>,
    pub candidates: Vec<Candidate>,
    /// What the change does to the gate itself.
    pub gate_changes: Vec<GateChange>,
    /// Changed pipelines that are not reviewed because of include and exclude, or because they are no files.
    pub left_out: Vec<Excluded>,
    /// Files whose names only look like a pipeline's.
    pub lookalikes: Vec<String>,
    /// Why unchanged pipelines are taken too, if they are.
    pub all_because: Option<String>,
    /// The commits that the candidates differ from, so that nobody compares with them again.
    pub since: Vec<CommitId>,
}

/// Selects the pipelines of `scope`.
pub(crate) fn select(scope: &Scope<'_>) -> Result<Selected, GitError> {
    let wanted = |path: &str| scope.may_be_pipeline(path) || scope.is_gate_file(path);
    let compared = scope.head.differences(scope.bases, &wanted)?;
    let changes = compared.changes();
    let all_because = scope.all_because(&changes);
    let mut lookalikes = Vec::new();
    let candidates: Vec<Candidate> = changes
        .into_iter()
        .filter(|change| !scope.is_of_gate_alone(change))
        .filter_map(|change| scope.without_lookalike(change, &mut lookalikes))
        .map(|change| scope.judge(change, all_because.as_deref()))
        .collect();
    let files = if all_because.is_some() && !scope.bases.is_empty() {
        scope.all_files()?
    } else {
        // Without a base every file differs, so that none has to be listed again.
        let selected = candidates.iter().filter(|c| c.selected);
        selected.map(|c| c.change.path.clone()).collect()
    };
    Ok(Selected {
        files,
        left_out: candidates.iter().filter_map(|c| scope.left_out(c)).collect(),
        candidates,
        gate_changes: scope.gate_changes(&compared)?,
        lookalikes,
        all_because,
        since: scope.bases.to_vec(),
    })
}

/// Whether a change that touches the gate touches anything else. A name that cannot be read is something else, and so is a
/// pipeline, wherever a link of the gate leads.
pub(crate) fn touches_more(scope: &Scope<'_>) -> Result<bool, GitError> {
    if scope.hosts_bases.is_empty() {
        return Ok(false);
    }
    let is_more = |path: &str| !scope.is_gate_file(path) || looks_like_pipeline(path);
    match scope.head.changes(scope.hosts_bases, &is_more) {
        Ok(others) => Ok(!others.is_empty()),
        Err(GitError::PathNotUtf8 { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Whether the path is this file or in this folder; the root is empty.
pub(crate) fn is_within(path: &str, wanted: &str) -> bool {
    let rest = path.strip_prefix(wanted);
    wanted.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Selected {
    /// Whether nothing is selected, and no pipeline and nothing that looks like one differs from the base.
    pub(crate) const fn is_empty(&self) -> bool {
        self.files.is_empty() && self.candidates.is_empty() && self.lookalikes.is_empty()
    }

    /// The path at the base of each renamed pipeline.
    pub(crate) fn former_paths(&self) -> BTreeMap<String, String> {
        let changes = self.candidates.iter().map(|candidate| &candidate.change);
        let renamed =
            changes.filter_map(|change| Some((change.path.clone(), change.renamed_from()?.to_owned())));
        renamed.collect()
    }

    /// Takes out the changes of pipelines, for whoever tells what changed.
    pub(crate) fn take_changes(&mut self) -> ComparedChanges {
        let candidates = std::mem::take(&mut self.candidates).into_iter();
        ComparedChanges {
            since: self.since.clone(),
            changes: candidates.map(|candidate| candidate.change).collect(),
        }
    }

    /// Counts submodules with the name of a pipeline among the files: whoever judges on this machine cannot judge them, and
    /// has to say so.
    pub(crate) fn keep_submodules(&mut self) {
        let left_out = std::mem::take(&mut self.left_out).into_iter();
        let (submodules, left_out): (Vec<_>, Vec<_>) = left_out.partition(|file| file.reason == SUBMODULE);
        self.left_out = left_out;
        self.files.extend(submodules.into_iter().map(|file| file.path));
        self.files.sort();
    }

    /// A sentence about the files whose names only look like a pipeline's, if there are any.
    pub(crate) fn lookalikes_told(&self) -> Option<String> {
        lookalike::told(&self.lookalikes)
    }
}

impl Scope<'_> {
    /// `compared` has the differences from the bases; mostly they are the host's too, and nothing is walked again. A file
    /// that differs from several bases is described against each of them.
    fn gate_changes(&self, compared: &Differences<'_>) -> Result<Vec<GateChange>, GitError> {
        let is_gate_file = |path: &str| self.is_gate_file(path);
        let since_each = if self.hosts_bases.is_empty() {
            return Ok(Vec::new());
        } else if self.hosts_bases == self.bases {
            compared.changes_of(&is_gate_file)
        } else {
            let compared = self.head.differences(self.hosts_bases, &is_gate_file)?;
            compared.changes_of(&is_gate_file)
        };
        let mut described: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (base, changes) in self.hosts_bases.iter().zip(since_each) {
            for change in changes {
                let words = (self.words)(base, &change);
                let known = described.entry(change.path).or_default();
                let new: Vec<String> = words.into_iter().filter(|word| !known.contains(word)).collect();
                known.extend(new);
            }
        }
        let described = described.into_iter();
        Ok(described
            .map(|(path, words)| GateChange { path, words })
            .collect())
    }

    fn left_out(&self, candidate: &Candidate) -> Option<Excluded> {
        let (path, reason) = (&candidate.change.path, &candidate.reason);
        let is_told = self.is_within(path) && [NOT_INCLUDED, EXCLUDED, SUBMODULE].contains(&reason.as_str());
        is_told.then(|| Excluded {
            path: path.clone(),
            reason: reason.clone(),
        })
    }

    /// The change, if it is about a pipeline. A pipeline that got a name that only looks like one is gone.
    fn without_lookalike(&self, change: Change, lookalikes: &mut Vec<String>) -> Option<Change> {
        let is_meant = |path: &str| is_pipeline(path) || (self.includes)(path);
        if is_meant(&change.path) {
            return Some(change);
        }
        match change.kind {
            ChangeKind::Deleted => None,
            ChangeKind::Renamed { from } if is_meant(&from) => {
                self.note(change.path, lookalikes);
                Some(Change {
                    path: from,
                    kind: ChangeKind::Deleted,
                    file: None,
                    base: change.base,
                })
            }
            _ => {
                self.note(change.path, lookalikes);
                None
            }
        }
    }

    fn note(&self, path: String, lookalikes: &mut Vec<String>) {
        if self.is_within(&path) {
            lookalikes.push(path);
        }
    }

    fn is_meant(&self, path: &str) -> bool {
        (self.includes)(path) && !(self.excludes)(path) && self.is_within(path)
    }

    fn all_files(&self) -> Result<Vec<String>, GitError> {
        let meant = |path: &str| self.is_meant(path);
        Ok(self
            .head
            .files(&meant)?
            .into_iter()
            .filter(|file| file.kind != FileKind::Submodule)
            .map(|file| file.path)
            .collect())
    }

    fn all_because(&self, changes: &[Change]) -> Option<String> {
        if self.bases.is_empty() {
            return Some(self.base_source.to_owned());
        }
        let rules = changes
            .iter()
            .find(|change| change.paths().any(|path| self.is_rules_file(path)))?;
        Some(format!("the rules file {} changed", rules.path))
    }

    fn judge(&self, change: Change, all_because: Option<&str>) -> Candidate {
        let path = &change.path;
        let (selected, reason) = if change.kind == ChangeKind::Deleted {
            (false, "deleted".to_owned())
        } else if !(self.includes)(path) {
            (false, NOT_INCLUDED.to_owned())
        } else if (self.excludes)(path) {
            (false, EXCLUDED.to_owned())
        } else if !self.is_within(path) {
            (false, "outside the given paths".to_owned())
        } else if change.file == Some(FileKind::Submodule) {
            (false, SUBMODULE.to_owned())
        } else if let Some(why) = all_because {
            (true, format!("all pipelines are taken: {why}"))
        } else {
            (true, "changed since the base".to_owned())
        };
        Candidate {
            change,
            selected,
            reason,
        }
    }

    fn is_within(&self, path: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|wanted| is_within(path, wanted))
    }

    /// A link can lead from the gate to any file, and a pipeline may have been renamed from a file of the gate: what may be a
    /// pipeline is looked at as one all the same.
    fn is_of_gate_alone(&self, change: &Change) -> bool {
        change.paths().any(|path| self.is_gate_file(path)) && !self.may_be_pipeline(&change.path)
    }

    fn may_be_pipeline(&self, path: &str) -> bool {
        looks_like_pipeline(path) || (self.includes)(path)
    }

    fn is_gate_file(&self, path: &str) -> bool {
        self.policy_files.iter().any(|file| file == path) || self.is_rules_file(path)
    }

    /// Where the job does not name the folder, any hidden root folder counts: the change may bring or delete one.
    pub(super) fn is_rules_file(&self, path: &str) -> bool {
        let Some((folder, rest)) = path.split_once('/') else {
            return false;
        };
        rest == RULES_FILE
            && self
                .config_dir
                .map_or_else(|| folder.starts_with('.'), |known| known == folder)
    }
}
