//! Reads both versions of each changed pipeline once, and passes them to a function.

use crate::document_content::{read_document_blob, read_document_on_disk};
use sluicegate_base::overlap;
use sluicegate_git::{
    Change, ChangeKind, CommitId, Content, Doubt, FileKind, GitError, Repository, Snapshot, SnapshotFile,
};
use sluicegate_pipelines::diff::{PipelineDiff, PipelineVersions, compare_versions};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Size that counts for content on disk, which is read later, in bytes.
const ON_DISK: usize = 16 * 1024;

/// A file's content, or the reason why it cannot be read.
type Read = Result<Vec<u8>, String>;

/// The contents of a changed file before and after the change.
pub(crate) struct ChangedContents {
    pub(crate) path: String,
    pub(crate) previous_path: Option<String>,
    pub(crate) before: Option<Read>,
    pub(crate) after: Option<Read>,
}

impl ChangedContents {
    /// Returns whether the path or the content differs; another file mode does not count.
    pub(crate) fn differs(&self) -> bool {
        self.previous_path.is_some() || self.before != self.after
    }

    pub(crate) fn diff(&self) -> PipelineDiff {
        compare_versions(&self.sides())
    }

    pub(crate) fn sides(&self) -> PipelineVersions<'_> {
        PipelineVersions {
            path: &self.path,
            previous_path: self.previous_path.as_deref(),
            base: side(self.before.as_ref()),
            head: side(self.after.as_ref()),
        }
    }
}

fn side(read: Option<&Read>) -> Option<Result<&[u8], &str>> {
    read.map(|read| read.as_deref().map_err(String::as_str))
}

/// The snapshot and the commits whose files are compared.
#[derive(Clone, Copy)]
pub(crate) struct Pairs<'w> {
    pub(crate) repo: &'w Repository,
    pub(crate) head: &'w Snapshot<'w>,
    /// Empty if every file is new.
    pub(crate) bases: &'w [CommitId],
}

/// A change whose blobs have been read; content on disk is read later.
struct BegunPair {
    at: usize,
    contents: ChangedContents,
    on_disk: Option<PathBuf>,
}

type FilesByPath = BTreeMap<String, SnapshotFile>;

struct FoundFiles {
    /// The files of each base.
    bases: Vec<FilesByPath>,
    head: FilesByPath,
}

impl Pairs<'_> {
    /// Returns the results of `make` for the pairs that differ, in order; `make` gets the index of the change.
    pub(crate) fn each<T: Send>(
        &self,
        changes: &[Change],
        make: &(dyn Fn(usize, &ChangedContents) -> T + Sync),
    ) -> Result<Vec<T>, GitError> {
        let found = self.found(changes)?;
        let begun = changes.iter().enumerate().map(|(at, change)| {
            let begun = self.begin(&found, at, change)?;
            let size = begun.size();
            Ok((begun, size))
        });
        let pairs = overlap::computed(begun, &|mut pair: BegunPair| pair.made(make))?;
        Ok(pairs.into_iter().flatten().collect())
    }

    fn found(&self, changes: &[Change]) -> Result<FoundFiles, GitError> {
        let at_base = |(at, base): (usize, &CommitId)| {
            let since = changes.iter().filter(|change| change.base == at);
            let paths = since.filter_map(Change::path_before).collect();
            self.repo.snapshot(base.clone()).find_all(&paths)
        };
        let new: BTreeSet<&str> = changes.iter().map(|change| change.path.as_str()).collect();
        Ok(FoundFiles {
            bases: self
                .bases
                .iter()
                .enumerate()
                .map(at_base)
                .collect::<Result<_, _>>()?,
            head: self.head.find_all(&new)?,
        })
    }

    fn begin(&self, found: &FoundFiles, at: usize, change: &Change) -> Result<BegunPair, GitError> {
        let previous_path = change.renamed_from().map(str::to_owned);
        let after = match change.kind {
            ChangeKind::Deleted => None,
            _ => found.head.get(&change.path),
        };
        let base = found.bases.get(change.base);
        let on_disk = after.and_then(|file| match &file.content {
            Content::Disk(full) if file.doubt.is_none() && file.kind != FileKind::Submodule => {
                Some(full.clone())
            }
            _ => None,
        });
        let contents = ChangedContents {
            path: change.path.clone(),
            before: self.read(base.and_then(|base| base.get(change.path_before()?)))?,
            after: match on_disk {
                Some(_) => None,
                None => self.read(after)?,
            },
            previous_path,
        };
        Ok(BegunPair {
            at,
            contents,
            on_disk,
        })
    }

    /// Reads the file; `None` for a submodule, which is not a file.
    fn read(&self, file: Option<&SnapshotFile>) -> Result<Option<Read>, GitError> {
        let Some(file) = file.filter(|file| file.kind != FileKind::Submodule) else {
            return Ok(None);
        };
        let read = match &file.content {
            Content::Disk(_) => Err(file
                .doubt
                .map_or("the file is only on disk", Doubt::reason)
                .to_owned()),
            Content::Blob(blob) => read_document_blob(self.repo, blob)?.map_err(|why| why.to_string()),
        };
        Ok(Some(read))
    }
}

impl BegunPair {
    /// Returns its size in memory, in bytes.
    fn size(&self) -> usize {
        let sides = [&self.contents.before, &self.contents.after];
        let held: usize = sides.into_iter().flatten().flatten().map(Vec::len).sum();
        held + if self.on_disk.is_some() { ON_DISK } else { 0 }
    }

    fn made<T>(&mut self, make: &(dyn Fn(usize, &ChangedContents) -> T + Sync)) -> Option<T> {
        if let Some(full) = self.on_disk.take() {
            self.contents.after = Some(on_disk(&full));
        }
        self.contents.differs().then(|| make(self.at, &self.contents))
    }
}

fn on_disk(full: &Path) -> Read {
    let read = read_document_on_disk(full).map_err(|why| why.to_string())?;
    read.map_err(|why| why.to_string())
}
