//! Fetches more history into a clone, when the user asked for it.
//!
//! This is the one thing here that writes into the user's repository and talks to its remote, so it is the git
//! program that does it, with the user's own configuration: the remote's URL, proxies and credentials are theirs.
//! What of that configuration could run something else is switched off (see `program`), submodules and tags are left
//! alone, and a repository that belongs to somebody else is never fetched into, as its settings say what a fetch runs.

use super::{GitError, Repository, program::UPLOAD_PACK};
use git2::{Oid, Reference};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// A branch of the remote, into its remote-tracking branch.
    Branch(&'a str),
    /// A commit by its full id, into no reference.
    Commit(&'a str),
}

impl Repository {
    /// Fetches from the first remote, `depth` commits further back than the clone goes; a clone that is whole stays so.
    ///
    /// A branch that the clone has is deepened from where it is cut; what is new gets a depth of its own, as there is
    /// no cut to go back from and all of its history would come. Afterwards the repository must be opened anew
    /// ([`Repository::reopen`]).
    pub fn fetch_history(&self, wanted: &[Wanted<'_>], depth: u32) -> Result<(), GitError> {
        let (known, new): (Vec<Wanted<'_>>, Vec<Wanted<'_>>) =
            wanted.iter().partition(|one| self.knows(**one));
        self.fetch_group(&new, &format!("--depth={depth}"))?;
        self.fetch_group(&known, &format!("--deepen={depth}"))
    }

    fn fetch_group(&self, wanted: &[Wanted<'_>], depth: &str) -> Result<(), GitError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let remote = self.first_remote()?;
        let what: Vec<String> = wanted
            .iter()
            .map(|one| refspec(&remote, *one))
            .collect::<Result<_, _>>()?;
        let mut arguments = vec![
            "fetch",
            UPLOAD_PACK,
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
        ];
        arguments.extend(self.is_shallow().then_some(depth));
        arguments.extend(["--", &remote]);
        arguments.extend(what.iter().map(String::as_str));
        self.program.talk(self.root(), &arguments).map(drop)
    }

    fn knows(&self, wanted: Wanted<'_>) -> bool {
        match wanted {
            Wanted::Branch(name) => matches!(self.remote_branch(name), Ok(Some(_))),
            Wanted::Commit(id) => self.has_commit(id),
        }
    }

    /// Reads the repository again, as a fetch has changed it.
    pub fn reopen(&self) -> Result<Self, GitError> {
        Self::open(self.root())
    }

    /// Asks the first remote which branch is its default one.
    pub fn ask_default_branch(&self) -> Result<Option<String>, GitError> {
        let remote = self.first_remote()?;
        let arguments = [
            "ls-remote",
            UPLOAD_PACK,
            "--symref",
            "--",
            remote.as_str(),
            "HEAD",
        ];
        let answer = self.program.talk(self.root(), &arguments)?;
        let named = answer
            .lines()
            .find_map(|line| line.strip_prefix("ref: refs/heads/")?.strip_suffix("\tHEAD"));
        Ok(named.map(str::to_owned))
    }

    /// `origin`, or else the first by name.
    fn first_remote(&self) -> Result<String, GitError> {
        let remotes = self.remotes()?;
        let name = remotes.first().and_then(|remote| remote.name().ok().flatten());
        name.map(str::to_owned).ok_or_else(|| GitError::NoRemote {
            root: self.root().to_owned(),
        })
    }
}

/// The argument for git. Names come from the CI host, so nothing but a branch or a commit may come of them.
fn refspec(remote: &str, wanted: Wanted<'_>) -> Result<String, GitError> {
    let refused = |name: &str| GitError::UnknownRevision {
        revision: name.to_owned(),
        why: "it can be no branch and no full commit id".to_owned(),
    };
    match wanted {
        Wanted::Branch(name) => {
            let (source, target) = (
                format!("refs/heads/{name}"),
                format!("refs/remotes/{remote}/{name}"),
            );
            let valid = !name.contains('\0')
                && Reference::is_valid_name(&source)
                && Reference::is_valid_name(&target);
            valid
                .then(|| format!("+{source}:{target}"))
                .ok_or_else(|| refused(name))
        }
        Wanted::Commit(id) => {
            let full = id.len() == 40 && Oid::from_str(id).is_ok();
            full.then(|| id.to_owned()).ok_or_else(|| refused(id))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_from_outside_becomes_a_branch_or_nothing() {
        assert_eq!(
            refspec("origin", Wanted::Branch("a/b-c")).unwrap(),
            "+refs/heads/a/b-c:refs/remotes/origin/a/b-c"
        );
        let commit = "1".repeat(40);
        assert_eq!(refspec("origin", Wanted::Commit(&commit)).unwrap(), commit);
        for name in ["a:b", "*", "a b", "^a", "a..b", "", "a\n", "a~1", "a\0"] {
            assert!(refspec("origin", Wanted::Branch(name)).is_err(), "{name:?}");
        }
        for id in ["--upload-pack=x", "1234", "HEAD", ""] {
            assert!(refspec("origin", Wanted::Commit(id)).is_err(), "{id:?}");
        }
    }
}
