//! Branches, remote-tracking branches and tags.

use super::{CommitId, GitError, Repository};
use git2::{ErrorCode, Oid, Reference, Remote};

/// A branch of a remote, as this clone last saw it.
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

/// The usual names of a default branch, for clones that do not record one.
const USUAL_DEFAULTS: [&str; 2] = ["main", "master"];

impl Repository {
    /// Returns the branches of remotes that contain the commit: the default branch first, then sorted by name.
    pub fn remote_branches_with(&self, commit: &CommitId) -> Result<Vec<RemoteBranch>, GitError> {
        let wanted = self.commit(commit)?.id();
        let mut holding = Vec::new();
        for branch in self.remote_branches()? {
            let tip = branch.tip.oid().map_err(GitError::library("read a branch"))?;
            if self.descends(tip, wanted)? {
                holding.push(branch);
            }
        }
        let default = self.likely_default_branch()?;
        holding.sort_by_cached_key(|branch| {
            (
                default.as_ref() != Some(branch),
                branch.remote.clone(),
                branch.branch.clone(),
            )
        });
        Ok(holding)
    }

    /// Returns the branches of all remotes, as this clone last saw them.
    ///
    /// Only references that a remote is configured to fetch from its `refs/heads/` count. Hosts also keep pull requests
    /// and merge commits under `refs/remotes/` (`refs/remotes/pull/1/merge` by actions/checkout, `origin/PR-1` by
    /// Jenkins), which are not branches of the remote.
    pub fn remote_branches(&self) -> Result<Vec<RemoteBranch>, GitError> {
        let listing = GitError::library("list the remote-tracking branches");
        let remotes = self.remotes()?;
        let mut found = Vec::new();
        for reference in self.library.references_glob("refs/remotes/*").map_err(&listing)? {
            let reference = reference.map_err(&listing)?;
            found.extend(tracked(&remotes, &reference));
        }
        Ok(found)
    }

    /// Returns whether the commit came from a remote: a reference under `refs/remotes/` contains it, even one that
    /// tracks no branch. Any other commit was created in this clone.
    pub fn was_fetched(&self, commit: &CommitId) -> Result<bool, GitError> {
        let wanted = self.commit(commit)?.id();
        let listing = GitError::library("list the remote-tracking references");
        for reference in self.library.references_glob("refs/remotes/*").map_err(&listing)? {
            if let Some(tip) = commit_of(&reference.map_err(&listing)?)
                && self.descends(tip, wanted)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the full names of the references under `refs/remotes/` that point to the commit.
    pub fn remote_references_at(&self, commit: &CommitId) -> Result<Vec<String>, GitError> {
        let listing = GitError::library("list the remote-tracking references");
        let mut names = Vec::new();
        for reference in self.library.references_glob("refs/remotes/*").map_err(&listing)? {
            let reference = reference.map_err(&listing)?;
            let is_there = commit_of(&reference).is_some_and(|tip| CommitId::new(tip) == *commit);
            names.extend(reference.name().ok().filter(|_| is_there).map(str::to_owned));
        }
        Ok(names)
    }

    /// Returns the branch with this name of the first remote that has it; `origin` comes first.
    pub fn remote_branch(&self, branch: &str) -> Result<Option<RemoteBranch>, GitError> {
        Ok(self.remote_branches_named(branch)?.into_iter().next())
    }

    /// Returns the branch with this name of each remote that has it, `origin` first.
    pub fn remote_branches_named(&self, branch: &str) -> Result<Vec<RemoteBranch>, GitError> {
        // git2 panics if the name of a reference contains a zero byte.
        if branch.contains('\0') {
            return Ok(Vec::new());
        }
        let remotes = self.remotes()?;
        let mut found: Vec<RemoteBranch> = Vec::new();
        for name in remotes.iter().flat_map(|remote| tracking_names(remote, branch)) {
            let reference = self.reference(&name)?;
            let tracked = reference.and_then(|reference| tracked(&remotes, &reference));
            found.extend(tracked.filter(|tracked| tracked.branch == branch && !found.contains(tracked)));
        }
        Ok(found)
    }

    /// Returns the tip of the local branch with exactly this name.
    pub fn local_branch_tip(&self, branch: &str) -> Result<Option<CommitId>, GitError> {
        let reference = self.reference(&format!("refs/heads/{branch}"))?;
        Ok(reference.and_then(|found| commit_of(&found)).map(CommitId::new))
    }

    /// Returns the remote and the branch that a local branch follows, even if the clone has not fetched that
    /// branch.
    pub fn upstream(&self, branch: &str) -> Option<(String, String)> {
        let name = format!("refs/heads/{branch}");
        let remote = self.library.branch_upstream_remote(&name).ok()?;
        let merge = self.library.branch_upstream_merge(&name).ok()?;
        let followed = merge.as_str().ok()?.strip_prefix("refs/heads/")?.to_owned();
        let remote = remote.as_str().ok().filter(|name| *name != ".")?.to_owned();
        Some((remote, followed))
    }

    /// Returns the default branch that `origin/HEAD` records. `git clone` and `git remote set-head` write it; no
    /// push can.
    pub fn told_default_branch(&self) -> Result<Option<RemoteBranch>, GitError> {
        Ok(self.told_default_branches()?.into_iter().next())
    }

    /// Returns the default branch of each remote that the clone records one for, `origin` first.
    pub fn told_default_branches(&self) -> Result<Vec<RemoteBranch>, GitError> {
        let remotes = self.remotes()?;
        let mut branches = Vec::new();
        for remote in &remotes {
            branches.extend(self.remote_head(&remotes, remote)?);
        }
        Ok(branches)
    }

    /// Returns the probable default branch of the remote: [`told_default_branch`](Self::told_default_branch),
    /// otherwise `main` or `master` of the only remote, or `None` if it has both. If a push must not influence what a
    /// change is compared with, use only `told_default_branch`.
    pub fn likely_default_branch(&self) -> Result<Option<RemoteBranch>, GitError> {
        if let Some(told) = self.told_default_branch()? {
            return Ok(Some(told));
        }
        let remotes = self.remotes()?;
        if remotes.len() != 1 {
            return Ok(None);
        }
        let [main, master] = USUAL_DEFAULTS.map(|usual| self.remote_branch(usual));
        match (main?, master?) {
            (Some(_), Some(_)) => Ok(None),
            (main, master) => Ok(main.or(master)),
        }
    }

    fn remote_head(
        &self,
        remotes: &[Remote<'_>],
        remote: &Remote<'_>,
    ) -> Result<Option<RemoteBranch>, GitError> {
        let name = remote.name().ok().flatten().unwrap_or_default();
        let head = self.reference(&format!("refs/remotes/{name}/HEAD"))?;
        let target = head.and_then(|head| head.symbolic_target().ok().flatten().map(str::to_owned));
        let Some(target) = target else { return Ok(None) };
        Ok(self
            .reference(&target)?
            .and_then(|reference| tracked(remotes, &reference)))
    }

    pub(super) fn reference(&self, name: &str) -> Result<Option<Reference<'_>>, GitError> {
        match self.library.find_reference(name) {
            Ok(reference) => Ok(Some(reference)),
            Err(error) if matches!(error.code(), ErrorCode::NotFound | ErrorCode::InvalidSpec) => Ok(None),
            Err(error) => Err(GitError::library("read a reference")(error)),
        }
    }
}

/// Returns the branch that a reference under `refs/remotes/` tracks, or `None` if it tracks none.
fn tracked(remotes: &[Remote<'_>], reference: &Reference<'_>) -> Option<RemoteBranch> {
    if reference.symbolic_target_bytes().is_some() {
        return None;
    }
    let name = reference.name().ok()?;
    let (remote, branch) = remotes.iter().find_map(|remote| branch_on(remote, name))?;
    Some(RemoteBranch {
        remote,
        branch,
        reference: name.to_owned(),
        tip: CommitId::new(commit_of(reference)?),
    })
}

/// Returns the references that may store a remote's branch: the configured destination of a fetch, and the usual
/// name.
fn tracking_names(remote: &Remote<'_>, branch: &str) -> Vec<String> {
    let source = format!("refs/heads/{branch}");
    let configured = remote
        .refspecs()
        .filter(|spec| spec.src_matches(&source))
        .filter_map(|spec| {
            let name = spec.transform(&source).ok()?;
            name.as_str().ok().map(str::to_owned)
        });
    let usual = remote
        .name()
        .ok()
        .flatten()
        .map(|remote| format!("refs/remotes/{remote}/{branch}"));
    configured.chain(usual).collect()
}

fn branch_on(remote: &Remote<'_>, name: &str) -> Option<(String, String)> {
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

fn commit_of(reference: &Reference<'_>) -> Option<Oid> {
    reference.peel_to_commit().ok().map(|commit| commit.id())
}
