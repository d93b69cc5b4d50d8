//! Branches, remote-tracking branches and tags.

use super::{CommitId, GitError, Repository};
use git2::{ErrorCode, Oid, Reference, Remote};

/// A branch of a remote, in the state that this clone fetched last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteBranch {
    /// The remote's name in this clone, such as `origin`.
    pub remote: String,
    /// The branch's name on the remote.
    pub branch: String,
    /// The full name of the local reference that tracks it.
    pub reference: String,
    pub tip: CommitId,
}

/// Maximum length of a reference's full name that libgit2 can read, in bytes.
const MAX_REFERENCE_LENGTH: usize = 1_023;

/// The usual names of a default branch, for clones that do not record one.
pub const USUAL_DEFAULT_BRANCHES: [&str; 2] = ["main", "master"];

impl Repository {
    /// Returns the branches of remotes that contain the commit: the default branch first, then sorted by name.
    pub fn find_remote_branches_with_commit(&self, commit: &CommitId) -> Result<Vec<RemoteBranch>, GitError> {
        let mut branches = self.list_remote_branches()?;
        let tips: Vec<CommitId> = branches.iter().map(|branch| branch.tip.clone()).collect();
        let descendants = self.list_descendants(&tips, commit)?;
        branches.retain(|branch| descendants.contains(&branch.tip));
        let default_branch = self.find_likely_default_branch()?;
        branches.sort_by_cached_key(|branch| {
            (
                default_branch.as_ref() != Some(branch),
                branch.remote.clone(),
                branch.branch.clone(),
            )
        });
        Ok(branches)
    }

    /// Returns the branches of all remotes, in the state that this clone fetched last.
    ///
    /// Hosts also keep pull requests and merge commits under `refs/remotes/`. They are not listed if no remote has such
    /// a name (`refs/remotes/pull/1/merge` by actions/checkout), or if a remote is configured to fetch them from
    /// outside its `refs/heads/` (`origin/PR-1` by Jenkins).
    pub fn list_remote_branches(&self) -> Result<Vec<RemoteBranch>, GitError> {
        let list_error = GitError::library("list the remote-tracking branches");
        let remotes = self.list_remotes()?;
        let mut branches = Vec::new();
        for reference in self
            .library
            .references_glob("refs/remotes/*")
            .map_err(&list_error)?
        {
            branches.extend(self.find_tracked_branch(&remotes, &reference.map_err(&list_error)?));
        }
        Ok(branches)
    }

    /// Returns whether the commit came from a remote: a reference under `refs/remotes/` contains it, even one that
    /// tracks no branch. Any other commit was created in this clone.
    pub fn is_fetched(&self, commit: &CommitId) -> Result<bool, GitError> {
        let list_error = GitError::library("list the remote-tracking references");
        let mut tips = Vec::new();
        for reference in self
            .library
            .references_glob("refs/remotes/*")
            .map_err(&list_error)?
        {
            let tip = self.find_reference_commit(&reference.map_err(&list_error)?);
            tips.extend(tip.map(CommitId::new));
        }
        self.is_in_any_history(commit, &tips)
    }

    /// Returns the full names of the references under `refs/remotes/` that point to the commit.
    pub fn find_remote_references_at(&self, commit: &CommitId) -> Result<Vec<String>, GitError> {
        let list_error = GitError::library("list the remote-tracking references");
        let mut names = Vec::new();
        for result in self
            .library
            .references_glob("refs/remotes/*")
            .map_err(&list_error)?
        {
            let reference = result.map_err(&list_error)?;
            if self
                .find_reference_commit(&reference)
                .is_some_and(|tip| CommitId::new(tip) == *commit)
            {
                names.extend(reference.name().ok().map(str::to_owned));
            }
        }
        Ok(names)
    }

    /// Returns the branch with this name of the first remote that has it; `origin` comes first.
    pub fn find_remote_branch(&self, branch: &str) -> Result<Option<RemoteBranch>, GitError> {
        Ok(self.find_remote_branches_with_name(branch)?.into_iter().next())
    }

    /// Returns the branch with this name of each remote that has it, `origin` first.
    pub fn find_remote_branches_with_name(&self, branch: &str) -> Result<Vec<RemoteBranch>, GitError> {
        // git2 panics if a name that is compared with a refspec contains a zero byte.
        if branch.contains('\0') {
            return Ok(Vec::new());
        }
        let remotes = self.list_remotes()?;
        // A reference may be listed twice, and may track a branch with another name.
        let mut branches: Vec<RemoteBranch> = Vec::new();
        for name in remotes
            .iter()
            .flat_map(|remote| list_tracking_references(remote, branch))
        {
            let Some(reference) = self.find_reference(&name)? else {
                continue;
            };
            self.check_reference(&reference)?;
            if let Some(candidate) = self.find_tracked_branch(&remotes, &reference)
                && candidate.branch == branch
                && !branches.contains(&candidate)
            {
                branches.push(candidate);
            }
        }
        Ok(branches)
    }

    /// Returns the short names of all branches, remote-tracking branches and tags, sorted.
    pub fn list_ref_names(&self) -> Result<Vec<String>, GitError> {
        let list_error = GitError::library("list the branches and tags");
        let mut names = Vec::new();
        for reference in self.library.references().map_err(&list_error)? {
            let reference = reference.map_err(&list_error)?;
            let is_revision = reference.is_branch() || reference.is_remote() || reference.is_tag();
            if let (true, Ok(name)) = (is_revision, reference.shorthand()) {
                names.push(name.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// Returns the tip of the local branch with exactly this name.
    pub fn find_local_branch_tip(&self, branch: &str) -> Result<Option<CommitId>, GitError> {
        let Some(reference) = self.find_reference(&format!("refs/heads/{branch}"))? else {
            return Ok(None);
        };
        self.check_reference(&reference)?;
        Ok(self.find_reference_commit(&reference).map(CommitId::new))
    }

    /// Returns the remote and the branch that a local branch follows, even if the clone has not fetched that
    /// branch. Returns `None` if it follows no branch, or another local branch, which git records as the remote `.`.
    pub fn find_upstream(&self, branch: &str) -> Option<(String, String)> {
        let name = format!("refs/heads/{branch}");
        let remote_name = self.library.branch_upstream_remote(&name).ok()?;
        let merge_reference = self.library.branch_upstream_merge(&name).ok()?;
        let upstream_branch = merge_reference.as_str().ok()?.strip_prefix("refs/heads/")?;
        let remote = remote_name.as_str().ok().filter(|name| *name != ".")?;
        Some((remote.to_owned(), upstream_branch.to_owned()))
    }

    /// Returns the default branch that `origin/HEAD` records, otherwise that of the next remote with such a record.
    /// `git clone` and `git remote set-head` write the record; no push can.
    pub fn find_recorded_default_branch(&self) -> Result<Option<RemoteBranch>, GitError> {
        Ok(self.list_recorded_default_branches()?.into_iter().next())
    }

    /// Returns the default branches that the clone records for its remotes, that of `origin` first.
    pub fn list_recorded_default_branches(&self) -> Result<Vec<RemoteBranch>, GitError> {
        let remotes = self.list_remotes()?;
        let mut branches = Vec::new();
        for remote in &remotes {
            branches.extend(self.find_default_branch_of_remote(&remotes, remote)?);
        }
        Ok(branches)
    }

    /// Returns the probable default branch of the remote: the result of [`Self::find_recorded_default_branch`],
    /// otherwise `main` or `master` of the only remote. Returns `None` if that remote has both, or if there are several
    /// remotes. Anyone who can push can create a branch `main`; if a push must not choose the base of a comparison, use
    /// [`Self::find_recorded_default_branch`] instead.
    pub fn find_likely_default_branch(&self) -> Result<Option<RemoteBranch>, GitError> {
        if let Some(branch) = self.find_recorded_default_branch()? {
            return Ok(Some(branch));
        }
        let remotes = self.list_remotes()?;
        if remotes.len() != 1 {
            return Ok(None);
        }
        let [main, master] = USUAL_DEFAULT_BRANCHES.map(|name| self.find_remote_branch(name));
        match (main?, master?) {
            (Some(_), Some(_)) => Ok(None),
            (main, master) => Ok(main.or(master)),
        }
    }

    /// Returns the default branch that the clone records for this remote, in the reference `refs/remotes/NAME/HEAD`;
    /// `None` if the clone has no such reference, or has not fetched the branch.
    fn find_default_branch_of_remote(
        &self,
        remotes: &[Remote<'_>],
        remote: &Remote<'_>,
    ) -> Result<Option<RemoteBranch>, GitError> {
        let name = remote.name().ok().flatten().unwrap_or_default();
        let head = self.find_reference(&format!("refs/remotes/{name}/HEAD"))?;
        let target = head.and_then(|head| head.symbolic_target().ok().flatten().map(str::to_owned));
        let Some(target) = target else { return Ok(None) };
        let Some(reference) = self.find_reference(&target)? else {
            return Ok(None);
        };
        self.check_reference(&reference)?;
        Ok(self.find_tracked_branch(remotes, &reference))
    }

    /// Returns the reference with exactly this name; `None` if it is missing or the name is invalid or too long.
    pub(super) fn find_reference(&self, name: &str) -> Result<Option<Reference<'_>>, GitError> {
        // git2 returns other errors for a name with a zero byte than for other invalid names.
        if name.len() > MAX_REFERENCE_LENGTH || name.contains('\0') {
            return Ok(None);
        }
        match self.library.find_reference(name) {
            Ok(reference) => Ok(Some(reference)),
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => Ok(None),
            Err(error) => Err(GitError::library("read a reference")(error)),
        }
    }

    /// Returns the branch that a reference under `refs/remotes/` tracks. Returns `None` if it tracks no branch: the
    /// symbolic reference `origin/HEAD`, for example, only names another reference.
    fn find_tracked_branch(&self, remotes: &[Remote<'_>], reference: &Reference<'_>) -> Option<RemoteBranch> {
        if reference.symbolic_target_bytes().is_some() {
            return None;
        }
        let name = reference.name().ok()?;
        let (remote, branch) = remotes
            .iter()
            .find_map(|remote| find_branch_on_remote(remote, name))?;
        Some(RemoteBranch {
            remote,
            branch,
            reference: name.to_owned(),
            tip: CommitId::new(self.find_reference_commit(reference)?),
        })
    }

    /// Returns the commit that the reference points to, directly or through a tag; `None` if it points to no commit, or
    /// to a damaged object, so that a list of references skips it.
    fn find_reference_commit(&self, reference: &Reference<'_>) -> Option<Oid> {
        self.check_reference(reference).ok()?;
        Some(reference.peel_to_commit().ok()?.id())
    }
}

/// Returns the names of the references that may store a remote's branch in this clone: the configured destinations of a
/// fetch, and the usual name `refs/remotes/REMOTE/BRANCH`.
fn list_tracking_references(remote: &Remote<'_>, branch: &str) -> Vec<String> {
    let source = format!("refs/heads/{branch}");
    let configured_names = remote
        .refspecs()
        .filter(|spec| spec.src_matches(&source))
        .filter_map(|spec| {
            let name = spec.transform(&source).ok()?;
            name.as_str().ok().map(str::to_owned)
        });
    let usual_name = remote
        .name()
        .ok()
        .flatten()
        .map(|remote| format!("refs/remotes/{remote}/{branch}"));
    configured_names.chain(usual_name).collect()
}

/// Returns the name of the remote, and that of the branch there, for a remote-tracking reference. The refspecs of the
/// remote decide, because they may rename branches; without a matching one, the usual name `refs/remotes/REMOTE/BRANCH`
/// is read.
fn find_branch_on_remote(remote: &Remote<'_>, name: &str) -> Option<(String, String)> {
    let remote_name = remote.name().ok()??;
    if let Some(spec) = remote.refspecs().find(|spec| spec.dst_matches(name)) {
        let source = spec.rtransform(name).ok()?;
        let branch = source.as_str().ok()?.strip_prefix("refs/heads/")?;
        return Some((remote_name.to_owned(), branch.to_owned()));
    }
    let branch = name
        .strip_prefix("refs/remotes/")?
        .strip_prefix(remote_name)?
        .strip_prefix('/')?;
    Some((remote_name.to_owned(), branch.to_owned()))
}
