//! How commits relate.

use super::{CommitId, GitError, Repository};
use git2::{ErrorClass, ErrorCode, Oid};

impl Repository {
    /// Where two commits parted, or none if they share no history.
    ///
    /// A shallow clone can show a merge-base that is older than the real one, or none where there is one. It is
    /// believed only if neither side reaches the edge of the clone other than through it; otherwise
    /// [`GitError::ShallowHistory`].
    pub fn merge_base(&self, a: &CommitId, b: &CommitId) -> Result<Option<CommitId>, GitError> {
        let (one, other) = (self.commit(a)?.id(), self.commit(b)?.id());
        let base = match self.library.merge_base(one, other) {
            Ok(base) => Some(base),
            Err(error) if error.code() == ErrorCode::NotFound && error.class() == ErrorClass::Merge => None,
            Err(error) => return Err(GitError::library("find the merge-base")(error)),
        };
        if self.reaches_the_edge(&[one, other], base)? {
            return Err(GitError::ShallowHistory {
                one: a.clone(),
                other: b.clone(),
            });
        }
        Ok(base.map(CommitId::new))
    }

    /// Whether `commit` is `tip` or one of its ancestors. A shallow clone can hide that it is.
    pub fn contains(&self, tip: &CommitId, commit: &CommitId) -> Result<bool, GitError> {
        let (tip, commit) = (self.commit(tip)?.id(), self.commit(commit)?.id());
        self.descends(tip, commit)
    }

    /// The commit's parents, the first one first.
    pub fn parents(&self, commit: &CommitId) -> Result<Vec<CommitId>, GitError> {
        Ok(self.commit(commit)?.parent_ids().map(CommitId::new).collect())
    }

    pub(super) fn descends(&self, tip: Oid, commit: Oid) -> Result<bool, GitError> {
        if tip == commit {
            return Ok(true);
        }
        self.library
            .graph_descendant_of(tip, commit)
            .map_err(GitError::library("compare the history of two commits"))
    }

    fn reaches_the_edge(&self, tips: &[Oid], base: Option<Oid>) -> Result<bool, GitError> {
        if self.shallow.is_empty() {
            return Ok(false);
        }
        let walking = GitError::library("walk the history");
        let mut walk = self.library.revwalk().map_err(&walking)?;
        for tip in tips {
            walk.push(*tip).map_err(&walking)?;
        }
        if let Some(base) = base {
            walk.hide(base).map_err(&walking)?;
        }
        for commit in walk {
            if self.shallow.contains(&commit.map_err(&walking)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
