//! Fetches more history into a clone, if the user requested it.
//!
//! This is the only code here that writes into the user's repository and contacts its remote. The git program does it,
//! with the user's own configuration: URL of the remote, proxies and credentials. Settings that could run other
//! programs are switched off (see `program`), and submodules and tags are not fetched. A repository that belongs to
//! another user is never fetched into, because its settings decide what a fetch runs.

use super::{GitError, Repository, program::UPLOAD_PACK};
use git2::{Oid, Reference};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
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
    pub fn fetch_history(&self, wanted: &[Wanted<'_>], depth: u32) -> Result<(), GitError> {
        self.fetch_history_from(&self.first_remote()?, wanted, depth)
    }

    /// Fetches from this remote; see [`Self::fetch_history`].
    pub fn fetch_history_from(
        &self,
        remote: &str,
        wanted: &[Wanted<'_>],
        depth: u32,
    ) -> Result<(), GitError> {
        let (known, new): (Vec<Wanted<'_>>, Vec<Wanted<'_>>) =
            wanted.iter().partition(|one| self.knows(**one));
        self.fetch_group(remote, &new, &format!("--depth={depth}"))?;
        self.fetch_group(remote, &known, &format!("--deepen={depth}"))
    }

    fn fetch_group(&self, remote: &str, wanted: &[Wanted<'_>], depth: &str) -> Result<(), GitError> {
        if wanted.is_empty() {
            return Ok(());
        }
        let what: Vec<String> = wanted
            .iter()
            .map(|one| refspec(remote, *one))
            .collect::<Result<_, _>>()?;
        let mut arguments = vec![
            "fetch",
            UPLOAD_PACK,
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
        ];
        arguments.extend(self.is_shallow().then_some(depth));
        arguments.extend(["--", remote]);
        arguments.extend(what.iter().map(String::as_str));
        self.program.talk(self.root(), &arguments).map(drop)
    }

    fn knows(&self, wanted: Wanted<'_>) -> bool {
        match wanted {
            Wanted::Branch(name) => matches!(self.remote_branch(name), Ok(Some(_))),
            Wanted::Commit(id) => self.has_commit(id),
        }
    }

    /// Opens the repository again, after a fetch has changed it.
    pub fn reopen(&self) -> Result<Self, GitError> {
        Self::open(self.root())
    }

    /// Queries the remote for its default branch.
    pub fn ask_default_branch(&self, remote: &str) -> Result<Option<String>, GitError> {
        let arguments = ["ls-remote", UPLOAD_PACK, "--symref", "--", remote, "HEAD"];
        let answer = self.program.talk(self.root(), &arguments)?;
        let named = answer
            .lines()
            .find_map(|line| line.strip_prefix("ref: refs/heads/")?.strip_suffix("\tHEAD"));
        Ok(named.map(str::to_owned))
    }

    /// Returns the name of the first remote; `origin` comes first.
    fn first_remote(&self) -> Result<String, GitError> {
        let remotes = self.remotes()?;
        let name = remotes.first().and_then(|remote| remote.name().ok().flatten());
        name.map(str::to_owned).ok_or_else(|| GitError::NoRemote {
            root: self.root().to_owned(),
        })
    }
}

/// Returns the git argument to fetch `wanted`. Names come from the CI host, so only a valid branch name or a full
/// commit id is accepted.
fn refspec(remote: &str, wanted: Wanted<'_>) -> Result<String, GitError> {
    let refused = |name: &str| GitError::UnknownRevision {
        revision: name.to_owned(),
        why: "it is neither a valid branch name nor a full commit id".to_owned(),
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
    fn name_from_outside_becomes_a_branch_or_nothing() {
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
