//! Lists the files in the head commit or on disk.

use super::{PublishError, Source, Wish};
use sluicegate_git::{CommitId, Content, Doubt, FileKind, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::PipelineKind;
use std::collections::{BTreeMap, BTreeSet};

/// The files of a commit or of the working tree.
pub(super) struct Listing<'a> {
    snapshot: Snapshot<'a>,
    /// The selected files and all pipelines, which are listed in advance.
    known: BTreeMap<String, SnapshotFile>,
    /// Submodules, whose files are not part of the repository.
    pub submodules: Vec<String>,
}

impl<'a> Listing<'a> {
    /// Lists the selected files and all pipelines.
    pub(super) fn new(
        repository: &'a Repository,
        head: &CommitId,
        wish: &Wish<'_>,
    ) -> Result<Self, PublishError> {
        let snapshot = match wish.source {
            Source::Commit => repository.snapshot(head.clone()),
            Source::Worktree => repository.on_disk(None)?,
        };
        let wanted = |path: &str| wish.selects(path) || PipelineKind::from_path(path).is_some();
        let files = snapshot.files(&wanted)?.into_iter();
        let files = files.filter(|file| file.kind != FileKind::Submodule);
        Ok(Self {
            known: files.map(|file| (file.path.clone(), file)).collect(),
            submodules: snapshot.submodules()?,
            snapshot,
        })
    }

    /// Returns the selected files and all pipelines, by path.
    pub(super) const fn known(&self) -> &BTreeMap<String, SnapshotFile> {
        &self.known
    }

    /// Returns the name of the commit or working tree, for messages.
    pub(super) fn place(&self) -> String {
        self.snapshot.name()
    }

    /// Returns the file with this path, whether selected or not.
    pub(super) fn find(&self, path: &str) -> Result<Option<SnapshotFile>, PublishError> {
        match self.known.get(path) {
            Some(found) => Ok(Some(found.clone())),
            None => Ok(self.snapshot.find(path)?),
        }
    }

    /// Returns those of these files that exist, by path.
    pub(super) fn find_all(
        &self,
        paths: &BTreeSet<&str>,
    ) -> Result<BTreeMap<String, SnapshotFile>, PublishError> {
        Ok(self.snapshot.find_all(paths)?)
    }

    /// Returns the names of the directories at the root.
    pub(super) fn root_folders(&self) -> Result<Vec<String>, PublishError> {
        Ok(self.snapshot.root_folders()?)
    }
}

/// Rejects files whose content is uncertain: links may point anywhere, and files that git's index hides may differ on
/// disk from the index.
pub(super) fn refuse_unsure<'a>(
    files: impl Iterator<Item = &'a SnapshotFile> + Clone,
) -> Result<(), PublishError> {
    let links = paths(files.clone(), |file| file.kind == FileKind::Symlink);
    if !links.is_empty() {
        return Err(PublishError::Symlinks(links));
    }
    let is_doubtful =
        |file: &SnapshotFile, doubt| file.doubt == Some(doubt) && matches!(file.content, Content::Disk(_));
    let hidden = paths(files.clone(), |file| is_doubtful(file, Doubt::Hidden));
    if !hidden.is_empty() {
        return Err(PublishError::Hidden(hidden));
    }
    let converted = paths(files, |file| is_doubtful(file, Doubt::Converted));
    if !converted.is_empty() {
        return Err(PublishError::Converted(converted));
    }
    Ok(())
}

fn paths<'a>(
    files: impl Iterator<Item = &'a SnapshotFile>,
    is_meant: impl Fn(&SnapshotFile) -> bool,
) -> Vec<String> {
    let meant = files.filter(|file| is_meant(file));
    meant.map(|file| file.path.clone()).collect()
}
