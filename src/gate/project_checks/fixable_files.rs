//! Finds out whether `sluicegate fix` can correct a file on disk.

use super::fixed_file::FixedFile;
use crate::document_content::{NOT_CHECKED_OUT, read_document_on_disk};
use crate::error::Failure;
use crate::gate::run::GateRun;
use crate::job::policy::{self, CheckoutFiles};
use sluicegate_base::input::is_utf_16;
use sluicegate_git::{FileContent, Repository};
use sluicegate_pipelines::project::{DIRECTORY_FIX_HINT, FIX_HINT, STAGED_FIX_HINT};
use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// The reason why a file on disk that is not UTF-8, because of git attributes, is not fixed.
const OTHER_ENCODING: &str = "git attributes convert the file to an encoding other than UTF-8 \
                              (working-tree-encoding in .gitattributes): correct the value in an editor";

/// Returns the reason why the file cannot be changed on disk; `None` if it can.
pub(crate) fn find_disk_obstacle(repo: &Repository, path: &str) -> Option<String> {
    let root = repo.root();
    let full_path = root.join(path);
    if let Some(link) = policy::find_links_in_path(root, &full_path).first() {
        return Some(format!("the file is behind the symbolic link `{link}`"));
    }
    match fs::metadata(&full_path) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            Some(format!("{NOT_CHECKED_OUT}: check out the file first"))
        }
        Err(error) => Some(format!("could not read the file: {error}")),
        Ok(metadata) if metadata.permissions().readonly() => Some("the file is read-only".to_owned()),
        Ok(_) if repo.is_converted(path) && has_other_encoding(&full_path) => Some(OTHER_ENCODING.to_owned()),
        Ok(_) => None,
    }
}

/// Returns whether the file on disk can be read, but is not UTF-8.
fn has_other_encoding(full_path: &Path) -> bool {
    match read_document_on_disk(full_path) {
        Ok(Ok(bytes)) => is_utf_16(&bytes) || std::str::from_utf8(&bytes).is_err(),
        _ => false,
    }
}

impl GateRun<'_> {
    /// Returns the paths of the files that the user can correct with `sluicegate fix`: the file on disk can be changed,
    /// and has the content that was checked.
    pub(super) fn list_fixable_paths(&self, fixed_files: &[FixedFile]) -> Result<BTreeSet<String>, Failure> {
        let repo = &self.subject.workspace.repo;
        let mut paths = BTreeSet::new();
        for file in fixed_files {
            if find_disk_obstacle(repo, &file.path).is_none() && self.has_checked_content_on_disk(file)? {
                paths.insert(file.path.clone());
            }
        }
        if self.is_staged_check() && !paths.is_empty() {
            let index = self.session.hook_index_path();
            let files = repo.list_files_without_unstaged_changes(paths.iter().map(String::as_str), index)?;
            paths = files.into_iter().map(|file| file.path).collect();
        }
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
        Ok(remove_carriage_returns(&bytes) == remove_carriage_returns(&fixed_file.old_bytes))
    }
}

/// Returns the bytes without carriage returns.
fn remove_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|byte| *byte != b'\r').collect()
}
