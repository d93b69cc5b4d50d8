//! Checks of objects before libgit2 reads them: see `loose_objects`.
//!
//! Inside of libgit2, a walk through the history, a merge and the status of a file read further objects.
//! [`Repository::check_history`] and [`Repository::check_tree_files`] check what is loose there, from the start to the
//! first packed object, because git packs an object together with everything that the object names. A damaged object
//! behind a packed one is not found, and neither is an object that an entry of a reflog (`HEAD@{1}`) or `.gitattributes`
//! in the index names.

use super::loose_objects::MAX_INTACT_OBJECTS;
use super::{GitError, Repository};
use git2::{ObjectType, Oid, Reference};
use std::collections::HashSet;

impl Repository {
    /// Returns whether the clone has a directory with loose objects. A fresh clone has none, and needs no check.
    pub(super) fn has_loose_objects(&self) -> bool {
        self.loose_objects.has_folders(&self.common_dir)
    }

    /// Fails if the object is loose and its file is damaged.
    pub(super) fn check_object(&self, id: Oid) -> Result<(), GitError> {
        self.loose_objects.check_object(&self.common_dir, id).map(drop)
    }

    /// Fails if the object that the reference points to is damaged, or what that object names as a commit.
    pub(super) fn check_reference(&self, reference: &Reference<'_>) -> Result<(), GitError> {
        let target = reference.resolve().ok().and_then(|direct| direct.target());
        target.map_or(Ok(()), |target| self.check_tag(target))
    }

    /// Fails if the object is damaged or, if it is a tag, the object that it names.
    pub(super) fn check_tag(&self, id: Oid) -> Result<(), GitError> {
        if !self.has_loose_objects() {
            return Ok(());
        }
        let mut next = Some(id);
        while let Some(id) = next {
            self.check_object(id)?;
            next = self.library.find_tag(id).ok().map(|tag| tag.target_id());
        }
        Ok(())
    }

    /// Fails if a loose commit or tag is damaged that a walk through the history from `tip` reads.
    pub(super) fn check_history(&self, tip: Oid) -> Result<(), GitError> {
        if !self.has_loose_objects() {
            return Ok(());
        }
        let mut ids = vec![tip];
        while let Some(id) = ids.pop() {
            let is_loose = self.loose_objects.check_object(&self.common_dir, id)?;
            // A packed tag may name a loose commit.
            if !is_loose && id != tip {
                continue;
            }
            if !self.loose_objects.record_history(id) {
                continue;
            }
            let Ok(object) = self.library.find_object(id, None) else {
                continue;
            };
            ids.extend(object.as_tag().map(git2::Tag::target_id));
            if let Some(commit) = object.as_commit() {
                ids.extend(commit.parent_ids());
            }
        }
        Ok(())
    }

    /// Fails if the commit of HEAD or its root directory is damaged, which libgit2 reads for the status of all files.
    pub(super) fn check_head(&self) -> Result<(), GitError> {
        self.find_head_tree()?
            .map_or(Ok(()), |tree| self.check_object(tree))
    }

    /// Fails if a loose object of the files of HEAD is damaged, which libgit2 reads for the status of a single file.
    pub(super) fn check_head_files(&self) -> Result<(), GitError> {
        let tree = self.find_head_tree()?;
        tree.map_or(Ok(()), |tree| self.check_tree_files(&[tree]))
    }

    /// Returns the tree of the commit of HEAD; `None` if there is no commit, or no loose object to check.
    fn find_head_tree(&self) -> Result<Option<Oid>, GitError> {
        if !self.has_loose_objects() {
            return Ok(None);
        }
        match self.head() {
            Ok(head) => Ok(Some(self.find_commit(&head.commit)?.tree_id())),
            Err(GitError::NoCommit { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Fails if a loose tree or blob in these trees is damaged.
    pub(super) fn check_tree_files(&self, trees: &[Oid]) -> Result<(), GitError> {
        let mut ids = trees.to_vec();
        let mut visited_trees = HashSet::new();
        while let Some(id) = ids.pop() {
            if !self.loose_objects.check_object(&self.common_dir, id)?
                || visited_trees.len() == MAX_INTACT_OBJECTS
                || !visited_trees.insert(id)
            {
                continue;
            }
            let Ok(tree) = self.library.find_tree(id) else {
                continue;
            };
            for entry in &tree {
                // The commit of a submodule is in another repository.
                if entry.kind() != Some(ObjectType::Commit) {
                    ids.push(entry.id());
                }
            }
        }
        Ok(())
    }
}
