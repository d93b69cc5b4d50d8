//! Lists the files in the head commit or on disk.

use super::{FileSource, PublishError, PublishRequest};
use sluicegate_git::{CommitId, ContentDoubt, FileContent, FileKind, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::PipelineKind;
use std::collections::{BTreeMap, BTreeSet};

/// The files of a commit or of the working tree.
pub(super) struct FileListing<'a> {
    snapshot: Snapshot<'a>,
    /// The selected files and all pipelines, which are listed in advance.
    listed_files: BTreeMap<String, SnapshotFile>,
    /// Submodules, whose files are not part of the repository.
    pub submodules: Vec<String>,
}

impl<'a> FileListing<'a> {
    /// Lists the selected files and all pipelines of a commit or of the working tree. Pipelines that are not selected
    /// are included, because selected ones may call them.
    pub(super) fn load(
        repository: &'a Repository,
        head: &CommitId,
        request: &PublishRequest<'_>,
    ) -> Result<Self, PublishError> {
        let snapshot = match request.source {
            FileSource::Commit => repository.snapshot(head.clone()),
            FileSource::Worktree => {
                let custom_index = None;
                repository.read_disk_snapshot(custom_index)?
            }
        };
        let files = snapshot.list_content_files(&|path| {
            request.globs.selects_file(path) || PipelineKind::from_path(path).is_some()
        })?;
        Ok(Self {
            listed_files: files.into_iter().map(|file| (file.path.clone(), file)).collect(),
            submodules: snapshot.list_nested_repositories()?,
            snapshot,
        })
    }

    /// Returns the selected files and all pipelines, by path.
    pub(super) const fn listed_files(&self) -> &BTreeMap<String, SnapshotFile> {
        &self.listed_files
    }

    /// Returns the name of the listed commit or of the working tree, for messages.
    pub(super) fn source_name(&self) -> String {
        self.snapshot.name()
    }

    /// Returns the file with this path, whether selected or not.
    pub(super) fn find_file(&self, path: &str) -> Result<Option<SnapshotFile>, PublishError> {
        match self.listed_files.get(path) {
            Some(file) => Ok(Some(file.clone())),
            None => Ok(self.snapshot.find_file(path)?),
        }
    }

    /// Returns the files at `paths` that exist, by path. They may be outside the selected files.
    pub(super) fn find_existing_files(
        &self,
        paths: &BTreeSet<&str>,
    ) -> Result<BTreeMap<String, SnapshotFile>, PublishError> {
        Ok(self.snapshot.find_files_by_path(paths)?)
    }

    /// Returns the paths of all regular files, whether selected or not.
    pub(super) fn list_regular_paths(&self) -> Result<Vec<String>, PublishError> {
        Ok(self.snapshot.list_regular_paths()?)
    }

    /// Returns the names of the directories at the root.
    pub(super) fn list_root_dirs(&self) -> Result<Vec<String>, PublishError> {
        Ok(self.snapshot.list_root_folders()?)
    }
}

/// Fails if the content of a file is uncertain: symbolic links may point anywhere, files that git's index hides may
/// differ on disk, and git may convert files when they are committed.
pub(super) fn reject_uncertain_files<'a>(
    files: impl Iterator<Item = &'a SnapshotFile> + Clone,
) -> Result<(), PublishError> {
    let symlink_paths = select_paths(files.clone(), |file| file.kind == FileKind::Symlink);
    if !symlink_paths.is_empty() {
        return Err(PublishError::Symlinks(symlink_paths));
    }
    let hidden_paths = select_paths(files.clone(), |file| has_doubt(file, ContentDoubt::Hidden));
    if !hidden_paths.is_empty() {
        return Err(PublishError::HiddenByIndex(hidden_paths));
    }
    let converted_paths = select_paths(files, |file| has_doubt(file, ContentDoubt::Converted));
    if !converted_paths.is_empty() {
        return Err(PublishError::ConvertedByGit(converted_paths));
    }
    Ok(())
}

/// Returns whether the content on disk is uncertain for this reason. Content from a commit is always certain.
fn has_doubt(file: &SnapshotFile, doubt: ContentDoubt) -> bool {
    file.doubt == Some(doubt) && matches!(file.content, FileContent::Disk(_))
}

/// Returns the paths of the files for which `is_selected` returns true.
fn select_paths<'a>(
    files: impl Iterator<Item = &'a SnapshotFile>,
    is_selected: impl Fn(&SnapshotFile) -> bool,
) -> Vec<String> {
    files
        .filter(|file| is_selected(file))
        .map(|file| file.path.clone())
        .collect()
}
