//! Finds the commits by which a repository adopted `new-only`: the findings of these commits are known until a first
//! version is published.

use crate::job::context::PolicyRevision;
use crate::job::policy::{self, MAX_CONFIG_BYTES, NamedText};
use crate::job::settings;
use crate::workspace::Workspace;
use sluicegate_git::{BlobId, CommitId, FileContent, GitError};
use std::collections::{HashMap, HashSet};

/// Maximum number of commits that adopt `new-only`. The review evaluates the pipelines of each.
const MAX_ADOPTION_COMMITS: usize = 16;

/// Result of the search for the adoption in the history of the default branch.
pub(crate) enum Adoption {
    /// The commits whose configuration file has `new-only` while no parent's file has it. There are several if a
    /// merged branch adopted it again: a finding is known only if all of them have it.
    AtCommits(Vec<CommitId>),
    /// This commit of the default branch adopted `new-only`, and head does not contain it.
    NotInHead(CommitId),
    /// No commit has `new-only`; the job sets it by a flag or variable.
    NotInHistory,
    /// The commits cannot be determined, for this reason.
    Unknown { reason: String },
}

impl Workspace<'_> {
    /// Searches the history of the default branch for the commits that adopted `new-only` in the configuration file:
    /// their findings are known until a first version is published. Another branch must not decide which of its own
    /// findings are known, so `head` is searched only if it is a commit of the default branch. A user may merge the
    /// default branch into a branch that adopted `new-only` itself, and push the merge, so every parent is searched,
    /// and `head` must contain every adoption. Returns `Unknown` if the clone lacks a part of the history, because
    /// another adoption may be in that part.
    pub(crate) fn find_new_only_adoption(&self, head: &CommitId) -> Result<Adoption, GitError> {
        let Some(config_file) = &self.config_file else {
            return Ok(Adoption::NotInHistory);
        };
        let tip = match &self.target_revision {
            PolicyRevision::Commit { commit, .. } => commit,
            PolicyRevision::Head { .. } => head,
            PolicyRevision::Unknown { reason } => {
                let reason = format!("it is unknown when `new-only` was adopted, because {reason}");
                return Ok(Adoption::Unknown { reason });
            }
        };
        let mut search = AdoptionSearch {
            workspace: self,
            config_file,
            has_new_only_by_blob: HashMap::new(),
        };
        let Some(commits) = search.list_adoption_commits(tip)? else {
            return Ok(Adoption::in_missing_history());
        };
        if commits.len() > MAX_ADOPTION_COMMITS {
            let reason = format!(
                "more than {MAX_ADOPTION_COMMITS} commits of the default branch set `new-only` again"
            );
            return Ok(Adoption::Unknown { reason });
        }
        if commits.is_empty() {
            return Ok(Adoption::NotInHistory);
        }
        for commit in &commits {
            if !self.repo.contains_commit(head, commit)? {
                return Ok(if self.repo.is_shallow() {
                    Adoption::in_missing_history()
                } else {
                    Adoption::NotInHead(commit.clone())
                });
            }
        }
        Ok(Adoption::AtCommits(commits))
    }

    /// Returns whether this version of the configuration file sets `new-only`. A file that is too large or that cannot
    /// be parsed does not. Fails if the version cannot be read, because it may be the adoption.
    fn has_new_only(&self, blob: &BlobId) -> Result<bool, GitError> {
        let bytes = self.repo.read_blob(blob, MAX_CONFIG_BYTES)?;
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

impl Adoption {
    /// Returns the result for a clone that lacks a part of the history.
    fn in_missing_history() -> Self {
        let reason = "this clone lacks the full history, which shows when `new-only` was adopted: fetch the full \
                      history (`fetch-depth: 0`, `GIT_DEPTH: 0`)";
        Self::Unknown {
            reason: reason.to_owned(),
        }
    }
}

/// A search for the commits that adopted `new-only` in the configuration file.
struct AdoptionSearch<'w> {
    workspace: &'w Workspace<'w>,
    /// The path of the configuration file from the repository root.
    config_file: &'w str,
    has_new_only_by_blob: HashMap<BlobId, bool>,
}

impl AdoptionSearch<'_> {
    /// Returns the commits in the history of `tip` that have `new-only` while none of their parents has it. Returns
    /// `None` if the clone lacks a part of the history.
    fn list_adoption_commits(&mut self, tip: &CommitId) -> Result<Option<Vec<CommitId>>, GitError> {
        let mut commits = Vec::new();
        let mut commits_with_new_only = HashSet::new();
        let repo = &self.workspace.repo;
        let is_complete = repo.walk_history(tip, |commit, parents| {
            if self.has_new_only_at(commit)? {
                commits_with_new_only.insert(commit.clone());
                commits.push((commit.clone(), parents.to_vec()));
            }
            Ok(())
        })?;
        if !is_complete {
            return Ok(None);
        }
        commits.retain(|(_, parents)| {
            !parents
                .iter()
                .any(|parent| commits_with_new_only.contains(parent))
        });
        Ok(Some(commits.into_iter().map(|(commit, _)| commit).collect()))
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
