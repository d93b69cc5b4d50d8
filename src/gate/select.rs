//! Which files are reviewed: the changed pipelines, or all of them.

use crate::git::{Change, ChangeKind, CommitId, GitError, Snapshot};
use crate::pipelines::RULES_FILE;

/// Where to look and what is wanted.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The files to review.
    pub head: &'a Snapshot<'a>,
    /// The commit to compare with; none takes every pipeline.
    pub base: Option<&'a CommitId>,
    /// Why there is no base, or where it came from, for people.
    pub base_source: &'a str,
    /// The platform's hidden folder, if there is one.
    pub config_dir: Option<&'a str>,
    /// The paths that the policy is read from, with the links that lead there.
    pub policy_files: &'a [String],
    /// Whether a path is a pipeline's by its name.
    pub is_pipeline: &'a dyn Fn(&str) -> bool,
    /// Whether `--include` matches.
    pub includes: &'a dyn Fn(&str) -> bool,
    /// Whether `--exclude` matches.
    pub excludes: &'a dyn Fn(&str) -> bool,
    /// Files and folders that restrict the selection, from the repository root; empty for no restriction.
    pub paths: &'a [String],
}

/// A changed pipeline, and whether it is reviewed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The change.
    pub change: Change,
    /// Whether it is reviewed.
    pub selected: bool,
    /// Why, or why not.
    pub reason: String,
}

/// What was selected, and why.
#[derive(Debug, Clone, Default)]
pub struct Selected {
    /// The files to review, by path.
    pub files: Vec<String>,
    /// Every changed pipeline.
    pub candidates: Vec<Candidate>,
    /// Changed files that change the gate itself.
    pub gate_changes: Vec<String>,
    /// Why unchanged pipelines are taken too, if they are.
    pub all_because: Option<String>,
}

/// Selects the pipelines of `scope`.
pub fn select(scope: &Scope<'_>) -> Result<Selected, GitError> {
    let wanted = |path: &str| (scope.is_pipeline)(path) || (scope.includes)(path) || scope.is_gate_file(path);
    let changes = scope.head.changes(scope.base, &wanted)?;
    let (gate, changes): (Vec<Change>, Vec<Change>) =
        changes.into_iter().partition(|c| scope.touches_gate(c));
    let gate_changes = if scope.base.is_some() { gate } else { Vec::new() };
    let all_because = scope.all_because(&gate_changes);
    let candidates: Vec<Candidate> = changes
        .into_iter()
        .map(|change| scope.judge(change, all_because.as_deref()))
        .collect();
    let files = match all_because {
        Some(_) => scope.all_files()?,
        None => candidates
            .iter()
            .filter(|c| c.selected)
            .map(|c| c.change.path.clone())
            .collect(),
    };
    let gate_changes = gate_changes.into_iter().map(|change| change.path).collect();
    Ok(Selected {
        files,
        candidates,
        gate_changes,
        all_because,
    })
}

impl Scope<'_> {
    fn all_files(&self) -> Result<Vec<String>, GitError> {
        let meant = |path: &str| (self.includes)(path) && !(self.excludes)(path) && self.is_within(path);
        Ok(self
            .head
            .files(&meant)?
            .into_iter()
            .map(|file| file.path)
            .collect())
    }

    fn all_because(&self, gate_changes: &[Change]) -> Option<String> {
        if self.base.is_none() {
            return Some(self.base_source.to_owned());
        }
        let rules = gate_changes
            .iter()
            .find(|change| change.paths().any(|path| self.is_rules_file(path)))?;
        Some(format!("the rules file {} changed", rules.path))
    }

    fn judge(&self, change: Change, all_because: Option<&str>) -> Candidate {
        let path = &change.path;
        let (selected, reason) = if change.kind == ChangeKind::Deleted {
            (false, "deleted".to_owned())
        } else if !(self.includes)(path) {
            (false, "not matched by --include".to_owned())
        } else if (self.excludes)(path) {
            (false, "matched by --exclude".to_owned())
        } else if !self.is_within(path) {
            (false, "outside the given paths".to_owned())
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
        let inside = |wanted: &String| {
            wanted.is_empty()
                || path
                    .strip_prefix(wanted.as_str())
                    .is_some_and(|r| r.is_empty() || r.starts_with('/'))
        };
        self.paths.is_empty() || self.paths.iter().any(inside)
    }

    fn touches_gate(&self, change: &Change) -> bool {
        change.paths().any(|path| self.is_gate_file(path))
    }

    fn is_gate_file(&self, path: &str) -> bool {
        self.policy_files.iter().any(|file| file == path) || self.is_rules_file(path)
    }

    /// Without a known folder (the change may have deleted its last file) any hidden root folder counts.
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
