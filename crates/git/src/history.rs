//! The history of commits: merge-bases, ancestors, parents.

use super::{CommitId, GitError, Repository, git_program::NO_COMMIT_GRAPH};
use git2::{ErrorClass, ErrorCode, Oid, Revwalk};
use std::collections::HashSet;

/// Maximum number of merge-bases of two commits. Criss-cross merges of real branches have two or three; a history
/// that was built to have hundreds would multiply the work of every comparison.
const MAX_MERGE_BASES: usize = 16;

/// Maximum number of commits of a history that are visited.
const MAX_VISITED_COMMITS: usize = 100_000;

impl Repository {
    /// Returns the best common ancestors of two commits, as `git merge-base --all` does: one in most histories,
    /// several after criss-cross merges, and no commit if the two share no history.
    ///
    /// A shallow clone can yield a merge-base that is older than the real one, or hide it. Therefore, if the history of
    /// either commit reaches the edge of the clone on a path without a merge-base, the result is
    /// [`GitError::ShallowHistory`]. Too many merge-bases are an error, too.
    pub fn find_merge_bases(&self, first: &CommitId, second: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let tips = [self.find_commit(first)?.id(), self.find_commit(second)?.id()];
        for tip in tips {
            self.check_history(tip)?;
        }
        let bases: Vec<Oid> = match self.library.merge_bases(tips[0], tips[1]) {
            Ok(bases) => bases.to_vec(),
            // libgit2 reports this error if the two commits share no history.
            Err(error) if error.code() == ErrorCode::NotFound && error.class() == ErrorClass::Merge => {
                Vec::new()
            }
            Err(error) if error.class() == ErrorClass::Invalid => self.find_merge_bases_with_program(tips)?,
            Err(error) => return Err(GitError::library("find the merge-base")(error)),
        };
        if self.reaches_shallow_commit(&tips, &bases)? {
            return Err(GitError::ShallowHistory {
                first: first.clone(),
                second: second.clone(),
            });
        }
        if bases.len() > MAX_MERGE_BASES {
            return Err(GitError::TooManyMergeBases {
                first: first.clone(),
                second: second.clone(),
                count: bases.len(),
            });
        }
        Ok(bases.into_iter().map(CommitId::new).collect())
    }

    /// Returns the merge-bases that the git program finds. Git also reads a commit with a malformed author line, which
    /// another program wrote and libgit2 rejects.
    fn find_merge_bases_with_program(&self, tips: [Oid; 2]) -> Result<Vec<Oid>, GitError> {
        self.verify_history(&tips)?;
        // Git excludes the merge-bases from this range. Unlike `git merge-base`, this also succeeds if there are none.
        let range = format!("{}...{}", tips[0], tips[1]);
        let arguments = ["-c", NO_COMMIT_GRAPH, "rev-parse", range.as_str()];
        let output = self.program.run_locally(self.root(), &arguments, None)?;
        let bases: Result<Vec<Oid>, git2::Error> = output
            .lines()
            .filter_map(|line| line.strip_prefix('^'))
            .map(Oid::from_str)
            .collect();
        bases.map_err(GitError::library("find the merge-base"))
    }

    /// Returns whether `commit` is `tip` or one of its ancestors. A shallow clone can hide that it is.
    pub fn contains_commit(&self, tip: &CommitId, commit: &CommitId) -> Result<bool, GitError> {
        self.is_ancestor(self.find_commit(tip)?.id(), self.find_commit(commit)?.id())
    }

    /// Returns whether the commit is one of these tips or one of their ancestors. A shallow clone can hide that it is.
    pub fn is_in_any_history(&self, commit: &CommitId, tips: &[CommitId]) -> Result<bool, GitError> {
        if tips.contains(commit) {
            return Ok(true);
        }
        if let Ok(descendants) = self.list_descendants(tips, commit) {
            return Ok(tips.iter().any(|tip| descendants.contains(tip)));
        }
        // The history of one tip may be broken, while that of another one has the commit.
        let mut result = Ok(false);
        for tip in tips {
            match self.contains_commit(tip, commit) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(error) => result = Err(error),
            }
        }
        result
    }

    /// Returns whether `tip` has commits that neither are in the history of `base` nor descend from it, such as those
    /// of a branch into which `base` was merged. A shallow clone can hide them.
    pub fn has_side_history(&self, tip: &CommitId, base: &CommitId) -> Result<bool, GitError> {
        let (tips, bases) = ([self.find_commit(tip)?.id()], [self.find_commit(base)?.id()]);
        let descendants = self.list_descendants(std::slice::from_ref(tip), base)?;
        let walk = self.walk_commits(&tips, &bases).and_then(Iterator::collect);
        let new_commits: Vec<Oid> = match walk {
            Err(error) if error.class() == ErrorClass::Invalid => {
                self.list_commits_with_program(&[], &tips, &bases)?
            }
            result => result.map_err(GitError::library("walk the history"))?,
        };
        Ok(new_commits
            .into_iter()
            .any(|commit| !descendants.contains(&CommitId::new(commit))))
    }

    /// Returns the commit's parents, the first parent first.
    pub fn parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        Ok(self
            .find_commit(commit)?
            .parent_ids()
            .map(CommitId::new)
            .collect())
    }

    /// Visits the commit and all its ancestors, each once, with its parents. Returns false if the history was cut off
    /// by a shallow clone or by the limit of visited commits.
    pub fn walk_history(
        &self,
        commit: &CommitId,
        mut visit: impl FnMut(&CommitId, &[CommitId]) -> Result<(), GitError>,
    ) -> Result<bool, GitError> {
        let mut is_complete = true;
        let mut visited_commits = HashSet::from([commit.clone()]);
        let mut pending = vec![commit.clone()];
        while let Some(commit) = pending.pop() {
            if visited_commits.len() > MAX_VISITED_COMMITS {
                return Ok(false);
            }
            is_complete &= !commit.oid().is_ok_and(|oid| self.shallow.contains(&oid));
            let parents = self.parents(&commit)?;
            visit(&commit, &parents)?;
            for parent in parents {
                if visited_commits.insert(parent.clone()) {
                    pending.push(parent);
                }
            }
        }
        Ok(is_complete)
    }

    /// Returns the parents that the commit records, even if a shallow clone does not have them.
    pub fn recorded_parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        let commit = self.find_commit(commit)?;
        Ok(parse_parents(commit.raw_header_bytes())
            .map(CommitId::new)
            .collect())
    }

    /// Returns the commit and its descendants in the histories of these tips, as far as the clone shows. One walk visits
    /// each commit once, because a clone may have thousands of branches.
    pub(super) fn list_descendants(
        &self,
        tips: &[CommitId],
        commit: &CommitId,
    ) -> Result<HashSet<CommitId>, GitError> {
        let ancestor = self.find_commit(commit)?;
        self.check_history(ancestor.id())?;
        let mut other_tips = Vec::new();
        for tip in tips.iter().filter(|tip| *tip != commit) {
            let id = self.find_commit(tip)?.id();
            self.check_history(id)?;
            other_tips.push(id);
        }
        let excluded_tips: Vec<Oid> = ancestor.parent_ids().collect();
        let mut steps = match self.list_parents(&other_tips, &excluded_tips) {
            Err(error) if error.class() == ErrorClass::Invalid => {
                return self.list_descendants_with_program(&other_tips, ancestor.id());
            }
            result => result.map_err(GitError::library("walk the history"))?,
        };
        steps.sort_unstable();
        let mut descendants = HashSet::from([ancestor.id()]);
        let mut pending = vec![ancestor.id()];
        while let Some(id) = pending.pop() {
            let first_index = steps.partition_point(|step| step.0 < id);
            let children = steps[first_index..].iter().take_while(|step| step.0 == id);
            pending.extend(
                children
                    .map(|step| step.1)
                    .filter(|child| descendants.insert(*child)),
            );
        }
        Ok(descendants.into_iter().map(CommitId::new).collect())
    }

    /// Returns the pairs of a parent and its child in the histories of these tips, without the ancestors of
    /// `excluded_tips`.
    fn list_parents(&self, tips: &[Oid], excluded_tips: &[Oid]) -> Result<Vec<(Oid, Oid)>, git2::Error> {
        let mut pairs = Vec::new();
        for child in self.walk_commits(tips, excluded_tips)? {
            let child = child?;
            let commit = self.library.find_commit(child)?;
            pairs.extend(commit.parent_ids().map(|parent| (parent, child)));
        }
        Ok(pairs)
    }

    /// Returns the commits in the histories of these tips, without `excluded_tips` and their ancestors.
    fn walk_commits(&self, tips: &[Oid], excluded_tips: &[Oid]) -> Result<Revwalk<'_>, git2::Error> {
        let mut walk = self.library.revwalk()?;
        for tip in tips {
            walk.push(*tip)?;
        }
        for tip in excluded_tips {
            walk.hide(*tip)?;
        }
        Ok(walk)
    }

    /// Returns the commits that the git program lists, see [`Self::find_merge_bases_with_program`].
    fn list_commits_with_program(
        &self,
        options: &[&str],
        tips: &[Oid],
        excluded_tips: &[Oid],
    ) -> Result<Vec<Oid>, GitError> {
        self.verify_history(&[tips, excluded_tips].concat())?;
        self.program
            .list_commits(self.root(), options, tips, excluded_tips)
    }

    /// Fails if the content of a commit in the histories of these tips does not match its id. Unlike libgit2, the git
    /// program does not check that, so that a commit which an earlier job left in a reused checkout could have other
    /// parents.
    fn verify_history(&self, tips: &[Oid]) -> Result<(), GitError> {
        let odb = self.open_odb()?;
        let mut visited_commits = HashSet::new();
        let mut pending = tips.to_vec();
        while let Some(id) = pending.pop() {
            if self.verified_commits.borrow().contains(&id) || !visited_commits.insert(id) {
                continue;
            }
            let commit = odb.read(id).map_err(GitError::library("read a commit"))?;
            if !self.shallow.contains(&id) {
                pending.extend(parse_parents(commit.data()));
            }
        }
        self.verified_commits.borrow_mut().extend(visited_commits);
        Ok(())
    }

    /// Returns the commit and those of its descendants that the git program finds in the histories of these tips, see
    /// [`Self::find_merge_bases_with_program`].
    fn list_descendants_with_program(
        &self,
        tips: &[Oid],
        commit: Oid,
    ) -> Result<HashSet<CommitId>, GitError> {
        let descendants = self.list_commits_with_program(&["--ancestry-path"], tips, &[commit])?;
        Ok(descendants
            .into_iter()
            .chain([commit])
            .map(CommitId::new)
            .collect())
    }

    /// Returns whether `commit` is `tip` or one of its ancestors, as far as the clone shows.
    pub(super) fn is_ancestor(&self, tip: Oid, commit: Oid) -> Result<bool, GitError> {
        if tip == commit {
            return Ok(true);
        }
        self.check_history(tip)?;
        self.check_history(commit)?;
        match self.library.graph_descendant_of(tip, commit) {
            Err(error) if error.class() == ErrorClass::Invalid => self.is_ancestor_by_program(tip, commit),
            result => result.map_err(GitError::library("compare the history of two commits")),
        }
    }

    /// Returns whether the git program finds that `commit` is an ancestor of `tip`, see
    /// [`Self::find_merge_bases_with_program`].
    fn is_ancestor_by_program(&self, tip: Oid, commit: Oid) -> Result<bool, GitError> {
        let missing_commits = self.list_commits_with_program(&["--max-count=1"], &[commit], &[tip])?;
        Ok(missing_commits.is_empty())
    }

    /// Returns whether one of the commits between these tips and bases is at the edge of a shallow clone, which lacks
    /// its parents and so may lack a common ancestor of the tips.
    fn reaches_shallow_commit(&self, tips: &[Oid], bases: &[Oid]) -> Result<bool, GitError> {
        if self.shallow.is_empty() {
            return Ok(false);
        }
        match self.finds_shallow_commit(tips, bases) {
            Err(error) if error.class() == ErrorClass::Invalid => {
                // Git shows a commit at the edge of the clone without parents.
                let roots = self.list_commits_with_program(&["--max-parents=0"], tips, bases)?;
                Ok(roots.iter().any(|root| self.shallow.contains(root)))
            }
            result => result.map_err(GitError::library("walk the history")),
        }
    }

    /// Returns whether libgit2 finds a commit at the edge of a shallow clone, see [`Self::reaches_shallow_commit`].
    fn finds_shallow_commit(&self, tips: &[Oid], bases: &[Oid]) -> Result<bool, git2::Error> {
        for commit in self.walk_commits(tips, bases)? {
            if self.shallow.contains(&commit?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the parents in the header of a commit, which an empty line ends.
fn parse_parents(commit: &[u8]) -> impl Iterator<Item = Oid> {
    commit
        .split(|byte| *byte == b'\n')
        .take_while(|line| !line.is_empty())
        .filter_map(|line| std::str::from_utf8(line).ok()?.strip_prefix("parent "))
        .filter_map(|id| Oid::from_str(id.trim()).ok())
}
