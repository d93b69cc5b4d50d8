//! Finds the commit by which a repository adopted `new-only`: the findings of that commit are known until a first
//! version is published.

use crate::job::context::PolicyRevision;
use crate::job::policy::{self, MAX_FILE_BYTES, NamedText};
use crate::job::settings;
use crate::workspace::Workspace;
use sluicegate_git::{BlobId, CommitId, FileContent, GitError};
use std::collections::{HashMap, HashSet};

/// Result of the search for the adoption in the history of the default branch.
pub(crate) enum Adoption {
    /// The earliest commits whose configuration file has `new-only`, the earliest first. There are two if the later one
    /// is a merge of a branch that already had it: a finding is known only if both have it.
    AtCommits(Vec<CommitId>),
    /// The default branch has `new-only` since this commit, which head does not contain.
    NotInHead(CommitId),
    /// No commit has `new-only`; the job sets it by a flag or variable.
    NotInHistory,
    /// The clone does not have the full history.
    Unknown,
}

impl Workspace<'_> {
    /// Searches the first-parent history of the default branch for the earliest commit whose configuration file sets
    /// `new-only`: its findings are known until a first version is published. Another branch must not decide which of
    /// its own findings are known, so `head` is searched only if it is a commit of the default branch. Returns
    /// `Unknown` if the clone lacks a part of the history, because an earlier commit may be in that part.
    pub(crate) fn find_new_only_adoption(&self, head: &CommitId) -> Result<Adoption, GitError> {
        let tip = match &self.target_revision {
            PolicyRevision::Commit { commit, .. } => commit,
            PolicyRevision::Head { .. } => head,
            PolicyRevision::Unknown { .. } => return Ok(Adoption::NotInHistory),
        };
        let Some(config_file) = &self.config_file else {
            return Ok(Adoption::NotInHistory);
        };
        let mut search = AdoptionSearch {
            workspace: self,
            config_file,
            has_new_only_by_blob: HashMap::new(),
            visited_commits: HashSet::new(),
            is_history_incomplete: false,
        };
        let mut adoption_commits: Vec<CommitId> = Vec::new();
        let mut next_start = Some(tip.clone());
        while let Some(start) = next_start {
            let Some(commit) = search.find_earliest_commit(&start)? else {
                break;
            };
            // If a user merges the default branch into a branch and pushes the merge (`git pull`), the earlier commits
            // of the default branch are no longer in its first-parent history.
            next_start = search.find_merged_parent(&commit)?;
            // Those between the newest and the earliest commit are not needed.
            adoption_commits.truncate(1);
            adoption_commits.push(commit);
        }
        if search.is_history_incomplete {
            return Ok(Adoption::Unknown);
        }
        let Some(first_commit) = adoption_commits.first().cloned() else {
            return Ok(Adoption::NotInHistory);
        };
        let mut contained_commits = Vec::new();
        for commit in adoption_commits.into_iter().rev() {
            if self.repo.contains_commit(head, &commit)? {
                contained_commits.push(commit);
            }
        }
        if contained_commits.is_empty() {
            return Ok(Adoption::NotInHead(first_commit));
        }
        Ok(Adoption::AtCommits(contained_commits))
    }

    /// Returns whether this version of the configuration file sets `new-only`. A file that is too large or that cannot
    /// be parsed does not. Fails if the version cannot be read, because it may be the adoption.
    fn has_new_only(&self, blob: &BlobId) -> Result<bool, GitError> {
        let bytes = self.repo.read_blob(blob, MAX_FILE_BYTES)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.is_some_and(|text| {
            settings::sets_new_only(&NamedText {
                // The name appears only in error messages, which are not shown here.
                name: String::new(),
                text,
            })
        }))
    }
}

/// A search for the earliest commit whose configuration file sets `new-only`.
struct AdoptionSearch<'w> {
    workspace: &'w Workspace<'w>,
    /// The path of the configuration file from the repository root.
    config_file: &'w str,
    has_new_only_by_blob: HashMap<BlobId, bool>,
    visited_commits: HashSet<CommitId>,
    /// The clone lacks a part of a searched history.
    is_history_incomplete: bool,
}

impl AdoptionSearch<'_> {
    /// Returns the earliest commit with `new-only` in the first-parent history of `start`, without the commits that
    /// were visited before.
    fn find_earliest_commit(&mut self, start: &CommitId) -> Result<Option<CommitId>, GitError> {
        let mut earliest_commit = None;
        let repo = &self.workspace.repo;
        // The walk begins at the newest commit, so the last commit that is set is the earliest one. The closure returns
        // true to continue with the next commit.
        let is_complete = repo.walk_first_parents(start, |commit| {
            if !self.visited_commits.insert(commit.clone()) {
                return Ok(false);
            }
            if self.has_new_only_at(commit)? {
                earliest_commit = Some(commit.clone());
            }
            Ok(true)
        })?;
        self.is_history_incomplete |= !is_complete;
        Ok(earliest_commit)
    }

    /// Returns the first of the other parents of a merge that has `new-only`.
    fn find_merged_parent(&mut self, commit: &CommitId) -> Result<Option<CommitId>, GitError> {
        for parent in self.workspace.repo.parents(commit)?.into_iter().skip(1) {
            if self.has_new_only_at(&parent)? {
                return Ok(Some(parent));
            }
        }
        Ok(None)
    }

    /// Returns whether the configuration file of the commit sets `new-only`.
    fn has_new_only_at(&mut self, commit: &CommitId) -> Result<bool, GitError> {
        let repo = &self.workspace.repo;
        let snapshot = repo.snapshot(commit.clone());
        let resolved_path = policy::follow_links(repo, &snapshot, self.config_file)?;
        let Some(FileContent::Blob(blob)) = resolved_path.file.map(|file| file.content) else {
            return Ok(false);
        };
        if let Some(has_new_only) = self.has_new_only_by_blob.get(&blob) {
            return Ok(*has_new_only);
        }
        let has_new_only = self.workspace.has_new_only(&blob)?;
        self.has_new_only_by_blob.insert(blob, has_new_only);
        Ok(has_new_only)
    }
}
