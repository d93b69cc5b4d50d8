//! Merges two commits in memory, to compare the result with an existing merge.

use super::{CommitId, GitError, Repository};
use git2::{Config, ErrorClass, ErrorCode, MergeOptions, Odb};

/// The priority of the objects in memory: above those on disk, so that nothing is written to the clone.
const IN_MEMORY_PRIORITY: i32 = 1_000;

impl Repository {
    /// Returns whether the commit has two parents and exactly the files that their merge has, without a conflict. Such
    /// a commit adds nothing to its parents. Returns false if the parents have several merge-bases, because the merge
    /// then depends on their order. Attributes and merge drivers of the repository are not used.
    pub fn is_clean_merge(&self, commit: &CommitId) -> Result<bool, GitError> {
        let parents = self.recorded_parents(commit)?;
        let [first, second] = parents.as_slice() else {
            return Ok(false);
        };
        let bases = self.find_merge_bases(first, second)?;
        let [base] = bases.as_slice() else {
            return Ok(false);
        };
        let commit_tree = self.find_commit(commit)?.tree_id();
        let mut merged_trees = Vec::new();
        for input in [base, first, second] {
            merged_trees.push(self.find_commit(input)?.tree_id());
        }
        self.check_tree_files(&merged_trees)?;
        match self.merge_in_memory(base, first, second) {
            Ok(merged_tree) => Ok(merged_tree == commit_tree),
            Err(error) if error.code() == ErrorCode::MergeConflict => Ok(false),
            Err(error) if error.code() == ErrorCode::NotFound && error.class() == ErrorClass::Odb => {
                Err(self.missing_object_error("tree or blob of merge commit", commit))
            }
            Err(error) => Err(GitError::library("merge two commits")(error)),
        }
    }

    /// Merges two commits without writing to the clone, and returns the id of the merged tree. The tree itself is
    /// dropped: its id is enough to compare it with another one. A conflict is an error.
    fn merge_in_memory(
        &self,
        base: &CommitId,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<git2::Oid, git2::Error> {
        let objects = Odb::new()?;
        let objects_folder = self.library.commondir().join("objects");
        objects.add_disk_alternate(&objects_folder.to_string_lossy())?;
        objects.add_new_mempack_backend(IN_MEMORY_PRIORITY)?;
        let memory_repo = git2::Repository::from_odb(objects)?;
        // With an empty configuration, no merge driver of the repository is used.
        memory_repo.set_config(&Config::new()?)?;
        let find_tree = |commit: &CommitId| memory_repo.find_commit(commit.oid()?)?.tree();
        let mut options = MergeOptions::new();
        options.fail_on_conflict(true);
        let mut merged_index = memory_repo.merge_trees(
            &find_tree(base)?,
            &find_tree(ours)?,
            &find_tree(theirs)?,
            Some(&options),
        )?;
        merged_index.write_tree_to(&memory_repo)
    }
}
