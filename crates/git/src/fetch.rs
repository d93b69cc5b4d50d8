//! Fetches more history into a clone, if the user requested it.
//!
//! Only this module and `missing_blobs` contact the remote. They run the git program with the user's own configuration:
//! URL of the remote, proxies and credentials. Settings that could run other programs are switched off (see
//! `git_program`), and submodules and tags are not fetched. A repository that belongs to another user is never fetched
//! into, because its settings decide what a fetch runs.

use super::{CommitId, GitError, Repository, git_program::UPLOAD_PACK_OPTION};
use git2::{Oid, Reference};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchTarget<'a> {
    /// A branch of the remote, fetched into its remote-tracking branch.
    Branch(&'a str),
    /// A commit by its full id; no reference is written.
    Commit(&'a str),
}

impl Repository {
    /// Fetches from the first remote, `depth` commits further back than the clone reaches; a full clone stays full.
    ///
    /// A branch that the clone already has is deepened from where its history ends. A new branch or commit gets `depth`
    /// commits, because otherwise its full history would be fetched. The repository must be opened again afterwards
    /// ([`Repository::reopen`]).
    pub fn fetch_history(&self, targets: &[FetchTarget<'_>], depth: u32) -> Result<(), GitError> {
        self.fetch_history_from(&self.first_remote_name()?, targets, depth)
    }

    /// Fetches from this remote as [`Self::fetch_history`] does: new targets with `--depth`, which counts from their
    /// tips, and targets that the clone already has with `--deepen`, which counts from where the clone's history ends.
    pub fn fetch_history_from(
        &self,
        remote: &str,
        targets: &[FetchTarget<'_>],
        depth: u32,
    ) -> Result<(), GitError> {
        let (known_targets, new_targets): (Vec<FetchTarget<'_>>, Vec<FetchTarget<'_>>) = targets
            .iter()
            .partition(|target| self.has_target(remote, **target));
        self.fetch_targets(remote, &new_targets, &format!("--depth={depth}"))?;
        self.fetch_targets(remote, &known_targets, &format!("--deepen={depth}"))?;
        if known_targets.is_empty() || !self.has_connectable_edge()? {
            return Ok(());
        }
        // A greater depth than the number of commits in the clone does not make its history shorter.
        let depth_option = format!("--depth={}", self.count_commits()?.saturating_add(depth));
        // Next to the id of a commit, git would not request a branch that it has.
        for target in known_targets {
            self.fetch_targets(remote, &[target], &depth_option)?;
        }
        Ok(())
    }

    /// Returns whether the shallow clone ends at a commit whose parents it has. `git fetch --deepen` never connects the
    /// two, however far back it reaches, but a depth that counts from the tips does.
    fn has_connectable_edge(&self) -> Result<bool, GitError> {
        let repository = self.reopen()?;
        for edge in &repository.shallow {
            let parents = repository.recorded_parents(&CommitId::new(*edge))?;
            if !parents.is_empty()
                && parents
                    .iter()
                    .all(|parent| repository.has_commit(parent.as_str()))
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the number of commits that the references and the checkout of the clone reach.
    fn count_commits(&self) -> Result<u32, GitError> {
        let arguments = ["rev-list", "--count", "--all"];
        let output = self.program.run_locally(self.root(), &arguments, None)?;
        Ok(output.trim().parse().unwrap_or(u32::MAX))
    }

    /// Fetches these targets in one request; an empty list does not cause a request. `depth_option` is passed to git
    /// only in a shallow clone, so that a full clone stays full.
    fn fetch_targets(
        &self,
        remote: &str,
        targets: &[FetchTarget<'_>],
        depth_option: &str,
    ) -> Result<(), GitError> {
        if targets.is_empty() {
            return Ok(());
        }
        let refspecs: Vec<String> = targets
            .iter()
            .map(|target| build_fetch_argument(remote, *target))
            .collect::<Result<_, _>>()?;
        let mut arguments = vec![
            "fetch",
            UPLOAD_PACK_OPTION,
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
        ];
        arguments.extend(self.is_shallow().then_some(depth_option));
        arguments.extend(["--", remote]);
        arguments.extend(refspecs.iter().map(String::as_str));
        self.program.run_with_remote(self.root(), &arguments).map(drop)
    }

    /// Returns whether the clone has the branch or the commit.
    fn has_target(&self, remote: &str, target: FetchTarget<'_>) -> bool {
        match target {
            FetchTarget::Branch(name) => self
                .find_remote_branches_with_name(name)
                .is_ok_and(|branches| branches.iter().any(|branch| branch.remote == remote)),
            FetchTarget::Commit(id) => self.has_commit(id),
        }
    }

    /// Opens the repository again, after a fetch has changed it. The same paths are documents.
    pub fn reopen(&self) -> Result<Self, GitError> {
        Ok(Self::open(self.root())?.with_document_predicate(self.is_document))
    }

    /// Queries the remote for its default branch; `None` if the remote does not name one.
    pub fn query_default_branch(&self, remote: &str) -> Result<Option<String>, GitError> {
        let arguments = ["ls-remote", UPLOAD_PACK_OPTION, "--symref", "--", remote, "HEAD"];
        let output = self.program.run_with_remote(self.root(), &arguments)?;
        let branch = output
            .lines()
            .find_map(|line| line.strip_prefix("ref: refs/heads/")?.strip_suffix("\tHEAD"));
        Ok(branch.map(str::to_owned))
    }

    /// Queries the remote for the newest commits of these branches. A branch that the remote lacks is not in the
    /// result. No reference is written.
    pub fn query_branch_tips(
        &self,
        remote: &str,
        branches: &[&str],
    ) -> Result<BTreeMap<String, CommitId>, GitError> {
        let references: Vec<String> = branches
            .iter()
            .map(|name| build_branch_reference(name))
            .collect::<Result<_, _>>()?;
        let mut arguments = vec!["ls-remote", UPLOAD_PACK_OPTION, "--", remote];
        arguments.extend(references.iter().map(String::as_str));
        let output = self.program.run_with_remote(self.root(), &arguments)?;
        // A pattern of git also matches the end of a longer name, so the names are compared.
        let tips = output.lines().filter_map(|line| {
            let (id, reference) = line.split_once('\t')?;
            let branch = reference.strip_prefix("refs/heads/")?;
            let is_queried = branches.contains(&branch);
            let commit = CommitId::new(Oid::from_str(id).ok().filter(|_| is_queried)?);
            Some((branch.to_owned(), commit))
        });
        Ok(tips.collect())
    }

    /// Returns the name of the first remote; `origin` comes first.
    pub fn first_remote_name(&self) -> Result<String, GitError> {
        let remotes = self.list_remotes()?;
        let name = remotes.first().and_then(|remote| remote.name().ok().flatten());
        name.map(str::to_owned).ok_or_else(|| GitError::NoRemote {
            root: self.root().to_owned(),
        })
    }
}

/// Returns the git argument to fetch `target`. Names come from the CI host, so only a valid branch name or a full
/// commit id is accepted.
fn build_fetch_argument(remote: &str, target: FetchTarget<'_>) -> Result<String, GitError> {
    let (name, argument) = match target {
        FetchTarget::Branch(name) => {
            let source = format!("refs/heads/{name}");
            let destination = format!("refs/remotes/{remote}/{name}");
            let is_valid = !name.contains('\0')
                && Reference::is_valid_name(&source)
                && Reference::is_valid_name(&destination);
            // The plus sign makes git also accept a branch whose history was rewritten.
            (name, is_valid.then(|| format!("+{source}:{destination}")))
        }
        FetchTarget::Commit(id) => {
            let is_full = id.len() == 40 && Oid::from_str(id).is_ok();
            (id, is_full.then(|| id.to_owned()))
        }
    };
    argument.ok_or_else(|| GitError::UnknownRevision {
        revision: name.to_owned(),
        reason: "the name is neither a valid branch name nor a full commit id".to_owned(),
    })
}

/// Returns the full name of a branch on the remote, or an error if it is not a valid name.
fn build_branch_reference(branch: &str) -> Result<String, GitError> {
    let reference = format!("refs/heads/{branch}");
    if branch.contains('\0') || !Reference::is_valid_name(&reference) {
        return Err(GitError::UnknownRevision {
            revision: branch.to_owned(),
            reason: "the name is not a valid branch name".to_owned(),
        });
    }
    Ok(reference)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_name_from_outside_is_not_fetched() {
        assert_eq!(
            build_fetch_argument("origin", FetchTarget::Branch("a/b-c")).unwrap(),
            "+refs/heads/a/b-c:refs/remotes/origin/a/b-c"
        );
        let commit = "1".repeat(40);
        assert_eq!(
            build_fetch_argument("origin", FetchTarget::Commit(&commit)).unwrap(),
            commit
        );
        for name in ["a:b", "*", "a b", "^a", "a..b", "", "a\n", "a~1", "a\0"] {
            assert!(
                build_fetch_argument("origin", FetchTarget::Branch(name)).is_err(),
                "{name:?}"
            );
        }
        for id in ["--upload-pack=x", "1234", "HEAD", ""] {
            assert!(
                build_fetch_argument("origin", FetchTarget::Commit(id)).is_err(),
                "{id:?}"
            );
        }
    }
}
