//! Detects directories of pipelines that became a submodule or a symbolic link.
//!
//! Git reports only that the pipelines were deleted, but the new entry may lead to pipelines that no run reviews.

use sluicegate_base::text::format_count;
use sluicegate_git::{Change, ChangeKind, FileKind, GitError, Snapshot};
use std::collections::BTreeMap;

/// A directory that the change replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReplacedDirectory {
    path: String,
    kind: FileKind,
    /// Number of pipelines that were below the directory.
    pipeline_count: usize,
}

impl ReplacedDirectory {
    /// Describes that the pipelines in the directory are not reviewed any more.
    pub(crate) fn describe(&self) -> String {
        let kind = match self.kind {
            FileKind::Submodule => "a submodule",
            // A regular file does not occur, because `find_replaced_directories` omits regular files.
            FileKind::Symlink | FileKind::Regular => "a symbolic link",
        };
        let pipelines = format_count(self.pipeline_count, "pipeline");
        format!(
            "the directory {:?} with {pipelines} is now {kind}: pipelines in it are not reviewed",
            self.path
        )
    }
}

/// Finds the directories that contained deleted pipelines and are now a submodule or a symbolic link. Pipelines behind
/// them cannot be reviewed.
pub(crate) fn find_replaced_directories<'c>(
    head: &Snapshot<'_>,
    changes: impl Iterator<Item = &'c Change>,
) -> Result<Vec<ReplacedDirectory>, GitError> {
    let mut pipeline_counts: BTreeMap<&str, usize> = BTreeMap::new();
    for change in changes.filter(|change| change.kind == ChangeKind::Deleted) {
        for (index, _) in change.path.match_indices('/') {
            *pipeline_counts.entry(&change.path[..index]).or_default() += 1;
        }
    }
    let directories = pipeline_counts.keys().copied().collect();
    let entries = head.find_files(&directories)?;
    let replaced_directories = entries
        .into_iter()
        .filter(|entry| entry.kind != FileKind::Regular)
        .map(|entry| ReplacedDirectory {
            pipeline_count: pipeline_counts
                .get(entry.path.as_str())
                .copied()
                .unwrap_or_default(),
            kind: entry.kind,
            path: entry.path,
        });
    Ok(replaced_directories.collect())
}
