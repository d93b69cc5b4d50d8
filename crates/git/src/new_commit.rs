//! Creates repositories and commits without a working tree and without the git program.

use super::{CommitId, GitError, Repository};
use git2::build::{CheckoutBuilder, RepoBuilder, TreeUpdateBuilder};
use git2::{FileMode, Oid, Repository as Library, RepositoryInitOptions, Signature};
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
        Library::init_opts(folder, &options).map_err(GitError::library("create a repository"))?;
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
        self.write_commit(commit, parent.map(|parent| parent.id()))
            .map(CommitId::new)
            .map_err(GitError::library("create a commit"))
    }

    /// Writes a commit with these files added to the parent's files, and moves the branch to the commit, wherever the
    /// branch was. The author's email address is fixed, because only the demo and the local platform create commits.
    fn write_commit(&self, commit: &NewCommit<'_>, parent: Option<Oid>) -> Result<Oid, git2::Error> {
        // `self.library` may read a stand-in of the repository, and objects that it writes there are lost.
        let store = Library::open_bare(&self.common_dir)?;
        let mut update = TreeUpdateBuilder::new();
        for (path, content) in commit.files {
            update.upsert(*path, store.blob(content.as_bytes())?, FileMode::Blob);
        }
        let parent = parent.map(|parent| store.find_commit(parent)).transpose()?;
        // Without a parent, the files are added to an empty tree.
        let parent_tree = match &parent {
            Some(parent) => parent.tree()?,
            None => store.find_tree(store.treebuilder(None)?.write()?)?,
        };
        let tree = store.find_tree(update.create_updated(&store, &parent_tree)?)?;
        let author = Signature::now(commit.author, "demo@example.invalid")?;
        let reference = format!("refs/heads/{}", commit.branch);
        let parents: Vec<&git2::Commit<'_>> = parent.iter().collect();
        // The branch is moved separately, because libgit2 moves only a branch whose tip is the first parent.
        let id = store.commit(None, &author, &author, commit.message, &tree, &parents)?;
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

    #[test]
    fn commit_in_repository_with_commit_graph_stays_after_the_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("remote.git");
        Repository::create_bare(&path, "main").unwrap();
        // `git gc` writes this file, and libgit2 then reads the objects through a temporary directory.
        std::fs::write(path.join("objects/info/commit-graph"), "").unwrap();
        let make = |parent, files| {
            let remote = Repository::open(&path).unwrap();
            remote
                .commit_files(&NewCommit {
                    branch: "main",
                    parent,
                    files,
                    message: "made",
                    author: "A Tester",
                })
                .unwrap()
        };
        let first = make(None, &[("a/b.txt", "one")]);
        let second = make(Some(&first), &[("c.txt", "two")]);
        let remote = Repository::open(&path).unwrap();
        assert_eq!(remote.resolve("main").unwrap(), second);
        assert!(remote.has_path(&second, "a/b.txt").unwrap() && remote.has_path(&second, "c.txt").unwrap());
    }
}
