//! Selects the files to review: the changed pipelines, or all of them.

use crate::gate::selection::lookalike::{self, looks_like_pipeline};
use crate::gate::selection::replaced_directories::{ReplacedDirectory, find_replaced_directories};
use sluicegate_git::{Change, ChangeKind, CommitId, Differences, FileKind, GitError, Snapshot};
use sluicegate_pipelines::findings::{ExcludedFile, GateChange};
use sluicegate_pipelines::pipelines::{RULES_FILE, is_pipeline};
use std::collections::{BTreeMap, BTreeSet};

const NOT_INCLUDED: &str = "not matched by --include";
const EXCLUDED: &str = "matched by --exclude";
/// The reason why a submodule is not reviewed.
pub(crate) const SUBMODULE: &str = match FileKind::Submodule.why_not_read() {
    Some(why) => why,
    None => "",
};

/// The commits to compare and the filters of the selection.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub head: &'a Snapshot<'a>,
    /// The commits to compare with; if empty, every pipeline is selected.
    pub bases: &'a [CommitId],
    /// Human-readable source of the base, or the reason why there is no base.
    pub base_source: &'a str,
    /// The platform's hidden directory, if there is one.
    pub config_dir: Option<&'a str>,
    /// The paths that the policy is read from, including symbolic links to them.
    pub policy_files: &'a [String],
    /// The commits that the host compares with, even if settings select another base. Changes of the gate configuration
    /// are reported relative to these; if empty, no such change is reported.
    pub hosts_bases: &'a [CommitId],
    /// Describes the change of a gate configuration file relative to one base.
    pub words: &'a dyn Fn(&CommitId, &Change) -> Vec<String>,
    /// Returns whether `--include` matches the path.
    pub includes: &'a dyn Fn(&str) -> bool,
    /// Returns whether `--exclude` matches the path.
    pub excludes: &'a dyn Fn(&str) -> bool,
    /// Files and directories that restrict the selection, relative to the repository root; empty for no restriction.
    pub paths: &'a [String],
}

/// A changed pipeline, and whether it is reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub change: Change,
    pub selected: bool,
    /// The reason why the pipeline is or is not selected.
    pub reason: String,
}

/// The changed pipelines that the selection found.
#[derive(Debug, Clone, Default)]
pub(crate) struct ComparedChanges {
    /// The commits that the files were compared with.
    pub since: Vec<CommitId>,
    pub changes: Vec<Change>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Selected {
    /// The files to review, by path.
    pub files: Vec<String>,
    pub candidates: Vec<Candidate>,
    /// The former paths of renamed pipelines that `--include` or `--exclude` keeps from being reviewed.
    pub excluded_former_paths: BTreeSet<String>,
    /// Changes of the gate configuration.
    pub gate_changes: Vec<GateChange>,
    /// Changed pipelines that are not reviewed because of `--include` or `--exclude`, or because they are submodules.
    pub left_out: Vec<ExcludedFile>,
    /// Files whose names only look like a pipeline's.
    pub lookalikes: Vec<String>,
    /// Directories of pipelines that the change replaced with a submodule or a link.
    pub replaced_directories: Vec<ReplacedDirectory>,
    /// The reason why unchanged pipelines are selected, too, if they are.
    pub all_because: Option<String>,
    /// The commits that the candidates were compared with, so that the comparison need not be repeated.
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
        // Without a base, the candidates already include every file.
        let selected = candidates.iter().filter(|c| c.selected);
        selected.map(|c| c.change.path.clone()).collect()
    };
    Ok(Selected {
        files,
        left_out: candidates.iter().filter_map(|c| scope.left_out(c)).collect(),
        excluded_former_paths: scope.excluded_former_paths(&candidates),
        replaced_directories: find_replaced_directories(scope.head, candidates.iter().map(|c| &c.change))?,
        candidates,
        gate_changes: scope.gate_changes(&compared)?,
        lookalikes,
        all_because,
        since: scope.bases.to_vec(),
    })
}

/// Returns whether the change touches any file that does not belong to the gate configuration. A path that is not UTF-8
/// counts as such a file, and so does a pipeline, even if a symbolic link of the gate configuration points to it.
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

/// Returns whether the path is this file or in this directory; the root is an empty string.
pub(crate) fn is_within(path: &str, wanted: &str) -> bool {
    let rest = path.strip_prefix(wanted);
    wanted.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

impl Selected {
    /// Returns whether no file is selected and no pipeline, nor a file whose name looks like one, differs from the
    /// base.
    pub(crate) const fn is_empty(&self) -> bool {
        self.files.is_empty() && self.candidates.is_empty() && self.lookalikes.is_empty()
    }

    /// Returns the path at the base of each renamed pipeline, by its new path.
    pub(crate) fn former_paths(&self) -> BTreeMap<String, String> {
        let changes = self.candidates.iter().map(|candidate| &candidate.change);
        let renamed =
            changes.filter_map(|change| Some((change.path.clone(), change.renamed_from()?.to_owned())));
        renamed.collect()
    }

    /// Returns [`Self::former_paths`] without those at which no finding was enforced.
    pub(crate) fn reviewed_former_paths(&self) -> BTreeMap<String, String> {
        let mut former = self.former_paths();
        former.retain(|_, old| !self.excluded_former_paths.contains(old));
        former
    }

    /// Removes and returns the changes of pipelines, for the list of changes in the reports.
    pub(crate) fn take_changes(&mut self) -> ComparedChanges {
        let candidates = std::mem::take(&mut self.candidates).into_iter();
        ComparedChanges {
            since: self.since.clone(),
            changes: candidates.map(|candidate| candidate.change).collect(),
        }
    }

    /// Moves submodules that have a pipeline's name to the files to review: a local evaluation must report that it
    /// cannot evaluate them.
    pub(crate) fn keep_submodules(&mut self) {
        let left_out = std::mem::take(&mut self.left_out).into_iter();
        let (submodules, left_out): (Vec<_>, Vec<_>) = left_out.partition(|file| file.reason == SUBMODULE);
        self.left_out = left_out;
        self.files.extend(submodules.into_iter().map(|file| file.path));
        self.files.sort();
    }

    /// Returns a sentence about the files whose names only look like a pipeline's, and one about each directory of
    /// pipelines that was replaced.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let directories = self.replaced_directories.iter().map(ReplacedDirectory::describe);
        lookalike::told(&self.lookalikes)
            .into_iter()
            .chain(directories)
            .collect()
    }
}

impl Scope<'_> {
    /// Returns the changes of the gate configuration. `compared` has the differences from the bases, which are reused
    /// if the host has the same bases. A file that differs from several bases is described relative to each of them.
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
            .map(|(path, words)| GateChange {
                path,
                descriptions: words,
            })
            .collect())
    }

    fn excluded_former_paths(&self, candidates: &[Candidate]) -> BTreeSet<String> {
        let former = candidates
            .iter()
            .filter_map(|candidate| candidate.change.renamed_from());
        let excluded = former.filter(|path| !(self.includes)(path) || (self.excludes)(path));
        excluded.map(str::to_owned).collect()
    }

    fn left_out(&self, candidate: &Candidate) -> Option<ExcludedFile> {
        let (path, reason) = (&candidate.change.path, &candidate.reason);
        let is_told = self.is_within(path) && [NOT_INCLUDED, EXCLUDED, SUBMODULE].contains(&reason.as_str());
        is_told.then(|| ExcludedFile {
            path: path.clone(),
            reason: reason.clone(),
        })
    }

    /// Returns the change if it is about a pipeline. A pipeline that is renamed to a lookalike counts as deleted.
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
            (true, format!("all pipelines are selected: {why}"))
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

    /// Returns whether the change is only about the gate configuration. A symbolic link of the gate configuration can
    /// point to any file, and a pipeline may be renamed from one of its files: a possible pipeline is always selected
    /// as one.
    fn is_of_gate_alone(&self, change: &Change) -> bool {
        change.paths().any(|path| self.is_gate_file(path)) && !self.may_be_pipeline(&change.path)
    }

    fn may_be_pipeline(&self, path: &str) -> bool {
        looks_like_pipeline(path) || (self.includes)(path)
    }

    fn is_gate_file(&self, path: &str) -> bool {
        self.policy_files.iter().any(|file| file == path) || self.is_rules_file(path)
    }

    /// Returns whether the path is that of the rules file. If the job does not set the directory, any hidden directory
    /// in the root matches: the change may add or delete one.
    pub(crate) fn is_rules_file(&self, path: &str) -> bool {
        let Some((folder, rest)) = path.split_once('/') else {
            return false;
        };
        rest == RULES_FILE
            && self
                .config_dir
                .map_or_else(|| folder.starts_with('.'), |known| known == folder)
    }
}
