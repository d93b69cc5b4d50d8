//! Creates repositories and commits without a working tree and without the git program.

use super::{CommitId, GitError, Repository};
use git2::build::{CheckoutBuilder, RepoBuilder, TreeUpdateBuilder};
use git2::{FileMode, Oid, RepositoryInitOptions, Signature};
use std::path::Path;

pub struct NewCommit<'a> {
    pub branch: &'a str,
    /// The parent commit; `None` for the first commit of a history.
    pub parent: Option<&'a CommitId>,
    /// Added or changed files, as path and content.
    pub files: &'a [(&'a str, &'a str)],
    pub message: &'a str,
    pub author: &'a str,
}

impl Repository {
    /// Creates a bare repository with the default branch `branch`. Fails if the directory contains a repository
    /// already.
    pub fn create_bare(folder: &Path, branch: &str) -> Result<Self, GitError> {
        let mut options = RepositoryInitOptions::new();
        options
            .bare(true)
            .no_reinit(true)
            .external_template(false)
            .initial_head(branch);
        git2::Repository::init_opts(folder, &options).map_err(GitError::library("create a repository"))?;
        Self::open(folder)
    }

    /// Clones the repository in the directory `source`, with a working tree. Filters, for example for line endings, are
    /// turned off, so that each file has the bytes of the commit.
    pub fn clone_local(source: &Path, folder: &Path) -> Result<Self, GitError> {
        let mut checkout = CheckoutBuilder::new();
        checkout.disable_filters(true);
        let mut clone = RepoBuilder::new();
        clone.with_checkout(checkout);
        let url = source.to_string_lossy();
        clone
            .clone(&url, folder)
            .map_err(GitError::library("clone a repository"))?;
        Self::open(folder)
    }

    /// Creates a commit and moves its branch to it.
    pub fn commit_files(&self, commit: &NewCommit<'_>) -> Result<CommitId, GitError> {
        let parent = commit.parent.map(|parent| self.find_commit(parent)).transpose()?;
        self.write_commit(commit, parent.as_ref())
            .map(CommitId::new)
            .map_err(GitError::library("create a commit"))
    }

    /// Writes a commit with these files added to the parent's files, and moves the branch to the commit, wherever the
    /// branch was. The author's email address is fixed, because only the demo and the local platform create commits.
    fn write_commit(
        &self,
        commit: &NewCommit<'_>,
        parent: Option<&git2::Commit<'_>>,
    ) -> Result<Oid, git2::Error> {
        let mut update = TreeUpdateBuilder::new();
        for (path, content) in commit.files {
            update.upsert(*path, self.library.blob(content.as_bytes())?, FileMode::Blob);
        }
        // Without a parent, the files are added to an empty tree.
        let empty_tree = self.library.treebuilder(None)?.write()?;
        let parent_tree = match parent {
            Some(parent) => parent.tree()?,
            None => self.library.find_tree(empty_tree)?,
        };
        let tree = self
            .library
            .find_tree(update.create_updated(&self.library, &parent_tree)?)?;
        let author = Signature::now(commit.author, "demo@example.invalid")?;
        let reference = format!("refs/heads/{}", commit.branch);
        let parents: Vec<&git2::Commit<'_>> = parent.into_iter().collect();
        // The branch is moved separately, because libgit2 moves only a branch whose tip is the first parent.
        let id = self
            .library
            .commit(None, &author, &author, commit.message, &tree, &parents)?;
        let replaces_branch = true;
        self.library
            .reference(&reference, id, replaces_branch, commit.message)?;
        Ok(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_make_branches_that_a_clone_sees() {
        let folder = tempfile::tempdir().unwrap();
        let remote = Repository::create_bare(&folder.path().join("remote.git"), "main").unwrap();
        let make = |branch, parent, files| {
            let message = "made";
            remote
                .commit_files(&NewCommit {
                    branch,
                    parent,
                    files,
                    message,
                    author: "A Tester",
                })
                .unwrap()
        };
        let first = make("main", None, &[("a/b c.txt", "one")]);
        let second = make("side", Some(&first), &[("d.txt", "two")]);
        let clone = Repository::clone_local(remote.root(), &folder.path().join("work")).unwrap();
        assert_eq!(clone.head().unwrap().commit, first);
        assert_eq!(clone.resolve("origin/side").unwrap(), second);
        assert_eq!(clone.find_merge_bases(&first, &second).unwrap(), [first]);
        assert_eq!(
            std::fs::read_to_string(folder.path().join("work/a/b c.txt")).unwrap(),
            "one"
        );
        assert!(clone.has_path(&second, "a/b c.txt").unwrap() && clone.has_path(&second, "a").unwrap());
        assert!(!clone.has_path(&second, "a/b").unwrap() && !clone.has_path(&second, "d.txt/x").unwrap());
    }
}
