//! The fixes of a project: the scope of the wanted fixes, and the proven and rejected fixes.

use super::fixed_file::{FixedFile, FixedValue};
use super::halving_search::RejectedGroup;
use crate::document_content::{read_document, read_document_on_disk};
use crate::error::Failure;
use sluicegate_git::{Repository, SnapshotFile};
use sluicegate_yaml::DocumentError;
use std::collections::{BTreeMap, BTreeSet};

/// Number of files whose fixes are proven for each finding that the log can list: more than one, because the log may
/// list the findings in another order, by the lines that a change touched.
const FILES_PER_LISTED_FINDING: usize = 4;

/// Finds the files that cannot be changed, each with the reason.
pub(crate) type FindObstacles<'f> = dyn Fn(&[&str]) -> Result<BTreeMap<String, String>, Failure> + 'f;

/// The files to fix, and where they are read.
pub(crate) struct FixScope<'s> {
    /// Returns whether the fixes in the file at this path are wanted.
    pub(crate) is_wanted: &'s dyn Fn(&str) -> bool,
    /// Returns those of the files at these paths that cannot be changed, each with the reason.
    pub(crate) find_obstacles: &'s FindObstacles<'s>,
    pub(crate) content: FixSource,
    /// Maximum number of files whose fixes are proven; `None` if all are needed.
    pub(crate) max_files: Option<usize>,
}

/// The content in which values are replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FixSource {
    /// The content that the run checked.
    CheckedFile,
    /// The file on disk, whose content git may have converted.
    DiskFile,
}

impl FixScope<'_> {
    /// The scope of a run that reports fixes and does not make them.
    pub(crate) const ALL: FixScope<'static> = FixScope {
        is_wanted: &|_| true,
        find_obstacles: &|_| Ok(BTreeMap::new()),
        content: FixSource::CheckedFile,
        max_files: None,
    };

    /// Returns the scope of the fixes if the only output is a log that lists at most `max_findings` findings. Limits
    /// the number of files, because the user would not see most of the fixes.
    pub(crate) const fn for_log(max_findings: usize) -> FixScope<'static> {
        FixScope {
            max_files: Some(max_findings.saturating_mul(FILES_PER_LISTED_FINDING)),
            ..FixScope::ALL
        }
    }

    /// Reads the content to fix: the content that the run checked, or the content on disk if the command `fix` rewrites
    /// the file. The inner error is the reason why the content cannot be read.
    pub(super) fn read_content(
        &self,
        repo: &Repository,
        file: &SnapshotFile,
    ) -> Result<Result<Vec<u8>, DocumentError>, Failure> {
        match self.content {
            FixSource::CheckedFile => Ok(read_document(repo, file)?),
            FixSource::DiskFile => {
                let content = read_document_on_disk(&repo.root().join(&file.path));
                Ok(content.unwrap_or_else(|error| Err(DocumentError::for_document(error.to_string()))))
            }
        }
    }
}

/// The fixes of a run: those that are proven, and those that are not.
#[derive(Debug, Default)]
pub(crate) struct FixProof {
    /// The files with proven fixes, by path.
    pub(crate) fixed_files: Vec<FixedFile>,
    /// The proposed fixes that are not made.
    pub(crate) rejected_fixes: Vec<RejectedFix>,
    /// The paths of the fixed files that `sluicegate fix` can correct on disk.
    pub(super) fixable_paths: BTreeSet<String>,
}

/// A proposed fix that is not made.
#[derive(Debug)]
pub(crate) struct RejectedFix {
    pub(crate) path: String,
    pub(crate) value: FixedValue,
    pub(crate) reason: String,
}

impl FixProof {
    /// Records that the fixes of these values were rejected for this reason.
    pub(crate) fn reject(&mut self, path: &str, values: Vec<FixedValue>, reason: &str) {
        self.rejected_fixes
            .extend(values.into_iter().map(|value| RejectedFix {
                path: path.to_owned(),
                value,
                reason: reason.to_owned(),
            }));
    }

    /// Records that the fixes of a group of values in a file were rejected.
    pub(super) fn reject_group(&mut self, path: &str, group: RejectedGroup<FixedValue>) {
        let reason = group.item_reason().to_owned();
        self.reject(path, group.items, &reason);
    }
}
