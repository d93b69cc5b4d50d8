//! Finds out whether `sluicegate fix` can correct a file on disk.

use super::fix_destination::FixDestination;
use super::fixed_file::FixedFile;
use crate::document_content::read_document_on_disk;
use crate::error::Failure;
use crate::gate::run::GateRun;
use crate::job::policy::CheckoutFiles;
use sluicegate_git::FileContent;
use sluicegate_pipelines::project::{DIRECTORY_FIX_HINT, FIX_HINT, STAGED_FIX_HINT};
use std::collections::BTreeSet;

impl GateRun<'_> {
    /// Returns the paths of the files that the user can correct with `sluicegate fix`: the file on disk can be changed,
    /// and has the content that was checked.
    pub(super) fn list_fixable_paths(&self, fixed_files: &[FixedFile]) -> Result<BTreeSet<String>, Failure> {
        let mut paths = BTreeSet::new();
        for file in fixed_files {
            if self.has_checked_content_on_disk(file)? {
                paths.insert(file.path.clone());
            }
        }
        let repo = &self.subject.workspace.repo;
        let destination = FixDestination {
            repo,
            index: self.session.hook_index_path(repo),
            is_staged: self.is_staged_check(),
        };
        let path_list: Vec<&str> = paths.iter().map(String::as_str).collect();
        let obstacles = destination.find_obstacles(&path_list)?;
        paths.retain(|path| !obstacles.contains_key(path));
        Ok(paths)
    }

    /// Returns the hint that names the command for such a file.
    pub(super) fn choose_fix_hint(&self) -> &'static str {
        if self.is_staged_check() {
            STAGED_FIX_HINT
        } else if self.subject.workspace.repo.is_plain_directory() {
            DIRECTORY_FIX_HINT
        } else {
            FIX_HINT
        }
    }

    /// Returns whether the staged files are checked.
    const fn is_staged_check(&self) -> bool {
        matches!(self.subject.workspace.local_files, CheckoutFiles::Staged(_))
    }

    /// Returns whether the file on disk has the content that was checked. Line endings may differ, because git may
    /// convert them.
    fn has_checked_content_on_disk(&self, fixed_file: &FixedFile) -> Result<bool, Failure> {
        let file = self.subject.snapshot.find_file(&fixed_file.path)?;
        if file.is_some_and(|file| matches!(file.content, FileContent::Disk(_))) {
            return Ok(true);
        }
        let full_path = self.subject.workspace.repo.root().join(&fixed_file.path);
        let Ok(Ok(bytes)) = read_document_on_disk(&full_path) else {
            return Ok(false);
        };
        Ok(skip_carriage_returns(&bytes).eq(skip_carriage_returns(&fixed_file.old_bytes)))
    }
}

/// Returns the bytes without carriage returns.
fn skip_carriage_returns(bytes: &[u8]) -> impl Iterator<Item = &u8> {
    bytes.iter().filter(|byte| **byte != b'\r')
}
