//! Checks of objects before libgit2 reads them: see `loose_objects`.
//!
//! Inside of libgit2, a walk through the history and a merge read further objects, which
//! [`Repository::check_history`] and [`Repository::check_tree_files`] check. A packed object may name a loose one,
//! because a fetched pack omits the objects that the clone has.
//!
//! These objects are not checked: those that an entry of a reflog (`HEAD@{1}`), an upstream (`main@{u}`), a search in
//! all messages (`:/text`) or `.gitattributes` in the index names, and the parent's tree in `new_commit`, which only
//! extends repositories that sluicegate made itself.

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
        self.loose_objects.check_object(&self.common_dir, id)
    }

    /// Fails if the object that the reference points to is damaged: a commit, or a tag or the object that it names.
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

    /// Fails if a loose commit or tag is damaged that a walk through the history from `tip` reads. The history is only
    /// searched if the clone has a damaged commit, which may be outside of this history.
    pub(super) fn check_history(&self, tip: Oid) -> Result<(), GitError> {
        self.check_tag(tip)?;
        if !self.has_loose_objects() || !self.loose_objects.has_damaged_commits(&self.common_dir) {
            return Ok(());
        }
        let mut ids = vec![tip];
        let mut visited_ids = HashSet::new();
        while let Some(id) = ids.pop() {
            if self.loose_objects.is_intact_history(id) || !visited_ids.insert(id) {
                continue;
            }
            self.check_object(id)?;
            let Ok(object) = self.library.find_object(id, None) else {
                continue;
            };
            ids.extend(object.as_tag().map(git2::Tag::target_id));
            if let Some(commit) = object.as_commit() {
                ids.extend(commit.parent_ids());
            }
        }
        self.loose_objects.record_intact_histories(visited_ids);
        Ok(())
    }

    /// Fails if the commit of HEAD or its root directory is damaged, which libgit2 reads for the status of all files.
    pub(super) fn check_head(&self) -> Result<(), GitError> {
        self.find_head_tree()?
            .map_or(Ok(()), |tree| self.check_object(tree))
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
        if !self.has_loose_objects() {
            return Ok(());
        }
        let mut ids = trees.to_vec();
        let mut visited_trees = HashSet::new();
        while let Some(id) = ids.pop() {
            if visited_trees.len() == MAX_INTACT_OBJECTS || !visited_trees.insert(id) {
                continue;
            }
            self.check_object(id)?;
            let Ok(tree) = self.library.find_tree(id) else {
                continue;
            };
            for entry in &tree {
                match entry.kind() {
                    Some(ObjectType::Tree) => ids.push(entry.id()),
                    Some(ObjectType::Blob) => self.check_object(entry.id())?,
                    // The commit of a submodule is in another repository.
                    _ => {}
                }
            }
        }
        Ok(())
    }
}
