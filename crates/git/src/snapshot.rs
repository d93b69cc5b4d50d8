//! The files of a repository in one place: a commit, the index, or the working tree.

use super::disk::stored_id;
use super::entries::{EntrySide, FileKind};
use super::file::{Content, Doubt, SnapshotFile};
use super::listing::{self, Listed};
use super::tree::differences;
use super::{BlobId, Change, CommitId, Differences, GitError, Repository, plain};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// From this number of files on, one walk through a commit is faster than a lookup for each.
const MANY: usize = 32;

pub struct Snapshot<'r> {
    repository: &'r Repository,
    place: SnapshotPlace,
}

enum SnapshotPlace {
    Commit(CommitId),
    /// Sorted by path.
    Listed {
        name: &'static str,
        files: Vec<Listed>,
        has_attributes: bool,
    },
}

impl Repository {
    pub const fn snapshot(&self, commit: CommitId) -> Snapshot<'_> {
        Snapshot {
            repository: self,
            place: SnapshotPlace::Commit(commit),
        }
    }

    /// Returns [`Snapshot::changes`] of a commit.
    pub fn changes(
        &self,
        bases: &[CommitId],
        head: &CommitId,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Change>, GitError> {
        self.snapshot(head.clone()).changes(bases, wanted)
    }

    /// Returns the staged files. `index` is the value of `GIT_INDEX_FILE`, which git sets for its hooks.
    pub fn staged(&self, index: Option<&Path>) -> Result<Snapshot<'_>, GitError> {
        Ok(self.listed("the index", listing::staged(self, index)?, false))
    }

    /// Returns whether git tracks a file with this path, in the checked-out commit or in the index.
    pub fn tracks(&self, path: &str, index: Option<&Path>) -> Result<bool, GitError> {
        let at_head = match self.head() {
            Ok(head) => self.find_file(&head.commit, path)?.is_some(),
            Err(GitError::NoCommit { .. }) => false,
            Err(error) => return Err(error),
        };
        let has_index = !self.is_bare() && !self.is_plain();
        Ok(at_head || (has_index && listing::is_in_index(self, index, path)?))
    }

    /// Returns the files on disk: those that are tracked, and those that are neither tracked nor ignored.
    pub fn on_disk(&self, index: Option<&Path>) -> Result<Snapshot<'_>, GitError> {
        let (name, found) = if self.is_plain() {
            ("the directory", plain::files_below(self.root())?)
        } else {
            ("the working tree", listing::on_disk(self, index)?)
        };
        Ok(self.listed(name, found.files, found.has_attributes))
    }

    const fn listed(&self, name: &'static str, files: Vec<Listed>, has_attributes: bool) -> Snapshot<'_> {
        Snapshot {
            repository: self,
            place: SnapshotPlace::Listed {
                name,
                files,
                has_attributes,
            },
        }
    }
}

impl Repository {
    /// Returns the wanted files of the commit, sorted by path; no file if there is no commit.
    fn sides_at(
        &self,
        commit: Option<&CommitId>,
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<(String, EntrySide)>, GitError> {
        let files = match commit {
            Some(commit) => self.files(commit, wanted)?,
            None => Vec::new(),
        };
        let side = |file: super::TreeFile| {
            let id = file.blob.oid();
            let kind = file.kind;
            (file.path, EntrySide { id, kind })
        };
        Ok(files.into_iter().map(side).collect())
    }
}

impl Snapshot<'_> {
    /// Uses `content` as the file at this path of the working tree or the index; the path may be new.
    pub fn put(&mut self, path: &str, content: PathBuf) {
        if let SnapshotPlace::Listed { files, .. } = &mut self.place {
            let at = files.binary_search_by(|file| file.path.as_slice().cmp(path.as_bytes()));
            let file = Listed::stand_in(path, content);
            match at {
                Ok(at) => {
                    files.splice(at..=at, [file]);
                }
                Err(at) => files.insert(at, file),
            }
        }
    }

    /// Returns the commit, if the files are those of a commit.
    pub const fn commit(&self) -> Option<&CommitId> {
        match &self.place {
            SnapshotPlace::Commit(commit) => Some(commit),
            SnapshotPlace::Listed { .. } => None,
        }
    }

    pub fn name(&self) -> String {
        match &self.place {
            SnapshotPlace::Commit(commit) => format!("the commit {}", commit.short()),
            SnapshotPlace::Listed { name, .. } => (*name).to_owned(),
        }
    }

    /// Returns the wanted files that differ from any of the `bases`, sorted by path; without a base, all wanted
    /// files are added. See [`Differences::changes`].
    pub fn changes(
        &self,
        bases: &[CommitId],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Change>, GitError> {
        Ok(self.differences(bases, wanted)?.changes())
    }

    /// Like [`Self::changes`], for callers that need the changes more than once.
    pub fn differences(
        &self,
        bases: &[CommitId],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Differences<'_>, GitError> {
        let repository = self.repository;
        let each: Vec<Option<&CommitId>> = match bases {
            [] => vec![None],
            bases => bases.iter().map(Some).collect(),
        };
        match &self.place {
            SnapshotPlace::Commit(commit) => {
                let found = each.into_iter();
                let found = found.map(|base| repository.differences(base, commit, wanted));
                let found = found.collect::<Result<_, _>>()?;
                Ok(Differences::new(repository, found, Box::new(|_| None)))
            }
            SnapshotPlace::Listed { files, .. } => {
                let new = self.sides(files, wanted)?;
                let found = each.into_iter();
                let found = found.map(|base| Ok(differences(repository.sides_at(base, wanted)?, &new)));
                let found = found.collect::<Result<_, GitError>>()?;
                let on_disk = |path: &str| {
                    let file = listed(files, path).filter(|file| file.on_disk);
                    file.map(|file| file.place(repository.root()))
                };
                Ok(Differences::new(repository, found, Box::new(on_disk)))
            }
        }
    }

    pub fn files(&self, wanted: &dyn Fn(&str) -> bool) -> Result<Vec<SnapshotFile>, GitError> {
        match &self.place {
            SnapshotPlace::Commit(commit) => {
                let files = self.repository.files(commit, wanted)?;
                Ok(files.into_iter().map(SnapshotFile::from).collect())
            }
            SnapshotPlace::Listed {
                files,
                has_attributes,
                ..
            } => {
                let wanted: Vec<&Listed> = files.iter().filter(|file| wanted(&file.shown_path())).collect();
                let root = self.repository.root();
                let converted = has_attributes
                    .then(|| differing(root, &wanted))
                    .unwrap_or_default();
                let found = wanted.into_iter().filter_map(|file| {
                    let is_converted = *has_attributes && converted.contains(file.path.as_slice());
                    self.file(file, is_converted).transpose()
                });
                found.collect()
            }
        }
    }

    pub fn find(&self, path: &str) -> Result<Option<SnapshotFile>, GitError> {
        match &self.place {
            SnapshotPlace::Commit(commit) => {
                Ok(self.repository.find_file(commit, path)?.map(SnapshotFile::from))
            }
            SnapshotPlace::Listed {
                files,
                has_attributes,
                ..
            } => {
                let Some(file) = listed(files, path) else {
                    return Ok(None);
                };
                let differs = || !differing(self.repository.root(), &[file]).is_empty();
                self.file(file, *has_attributes && differs())
            }
        }
    }

    /// Returns those of these files that exist, by path.
    pub fn find_all(&self, paths: &BTreeSet<&str>) -> Result<BTreeMap<String, SnapshotFile>, GitError> {
        let found = if paths.len() < MANY {
            let found = paths.iter().map(|path| self.find(path));
            found.filter_map(Result::transpose).collect::<Result<_, _>>()?
        } else {
            self.files(&|path| paths.contains(path))?
        };
        Ok(found.into_iter().map(|file| (file.path.clone(), file)).collect())
    }

    /// Returns whether there is a file or a directory with this path.
    pub fn has_path(&self, path: &str) -> Result<bool, GitError> {
        match &self.place {
            SnapshotPlace::Commit(commit) => self.repository.has_path(commit, path),
            SnapshotPlace::Listed { files, .. } => {
                let begin = files.partition_point(|file| file.path.as_slice() < path.as_bytes());
                let folder = format!("{path}/");
                let inside =
                    |file: &Listed| file.path == path.as_bytes() || file.path.starts_with(folder.as_bytes());
                let rest = files.get(begin..).unwrap_or_default();
                Ok(rest
                    .iter()
                    .take_while(|file| file.path.starts_with(path.as_bytes()))
                    .any(inside))
            }
        }
    }

    /// Returns the paths of other repositories within this one: submodules, and on disk also repositories that were not
    /// added. A submodule is not recognizable by its path, so if a commit may have any, all entries are listed.
    pub fn submodules(&self) -> Result<Vec<String>, GitError> {
        let paths: Vec<String> = match &self.place {
            SnapshotPlace::Commit(_) if self.find(".gitmodules")?.is_none() => Vec::new(),
            SnapshotPlace::Commit(commit) => {
                let files = self.repository.files(commit, &|_| true)?.into_iter();
                let files = files.filter(|file| file.kind == FileKind::Submodule);
                files.map(|file| file.path).collect()
            }
            SnapshotPlace::Listed { files, .. } => {
                let is_one = |file: &&Listed| file.known.is_some_and(|side| side.kind == FileKind::Submodule);
                let files = files.iter().filter(is_one);
                files.map(|file| file.shown_path().into_owned()).collect()
            }
        };
        Ok(paths)
    }

    /// Returns the names of the directories at the root.
    pub fn root_folders(&self) -> Result<Vec<String>, GitError> {
        match &self.place {
            SnapshotPlace::Commit(commit) => self.repository.root_folders(commit),
            SnapshotPlace::Listed { files, .. } => {
                let folder = |file: &Listed| {
                    let end = file.path.iter().position(|byte| *byte == b'/')?;
                    String::from_utf8(file.path.get(..end)?.to_vec()).ok()
                };
                let folders: BTreeSet<String> = files.iter().filter_map(folder).collect();
                Ok(folders.into_iter().collect())
            }
        }
    }

    /// Returns the names of the symbolic links at the root.
    pub fn root_links(&self) -> Result<Vec<String>, GitError> {
        match &self.place {
            SnapshotPlace::Commit(commit) => self.repository.root_links(commit),
            SnapshotPlace::Listed { files, .. } => {
                let at_root = files.iter().filter(|file| !file.path.contains(&b'/'));
                let is_link = |file: &&Listed| file.kind(self.repository.root()) == Some(FileKind::Symlink);
                let names = at_root.filter(is_link).map(|file| file.shown_path().into_owned());
                Ok(names.collect())
            }
        }
    }

    /// Returns `None` if the file or link no longer exists on disk. If an unmodified file has other bytes on disk than
    /// git stores (`differs`), it is read as stored: attributes of the change must not show other content to the gate.
    fn file(&self, file: &Listed, differs: bool) -> Result<Option<SnapshotFile>, GitError> {
        let path = file.utf8_path()?;
        let hidden = file.hidden.then_some(Doubt::Hidden);
        if let Some(side) = file.known.filter(|_| !file.on_disk || differs) {
            return Ok(Some(SnapshotFile {
                path,
                kind: side.kind,
                content: Content::Blob(BlobId::new(side.id)),
                doubt: hidden,
            }));
        }
        if !file.on_disk {
            return Ok(None);
        }
        let full = file.place(self.repository.root());
        let kind = file.kind(self.repository.root());
        let is_converted =
            || file.known.is_none() && self.has_attributes() && self.repository.is_converted(&path);
        let doubt = hidden.or_else(|| is_converted().then_some(Doubt::Converted));
        Ok(kind.map(|kind| SnapshotFile {
            path,
            kind,
            content: Content::Disk(full),
            doubt,
        }))
    }

    const fn has_attributes(&self) -> bool {
        matches!(
            self.place,
            SnapshotPlace::Listed {
                has_attributes: true,
                ..
            }
        )
    }

    fn sides(
        &self,
        files: &[Listed],
        wanted: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<(String, EntrySide)>, GitError> {
        let mut sides = Vec::new();
        for file in files.iter().filter(|file| wanted(&file.shown_path())) {
            let path = file.utf8_path()?;
            sides.extend(file.side(self.repository.root()).map(|side| (path, side)));
        }
        Ok(sides)
    }
}

/// Returns the paths of the unmodified files whose bytes on disk differ from those that git stores.
fn differing<'f>(root: &Path, files: &[&'f Listed]) -> HashSet<&'f [u8]> {
    let files = files.par_iter().filter_map(|file| {
        let side = file.known.filter(|_| file.on_disk)?;
        let full = root.join(std::str::from_utf8(&file.path).ok()?);
        (stored_id(&full) != Some(side.id)).then_some(file.path.as_slice())
    });
    files.collect()
}

fn listed<'f>(files: &'f [Listed], path: &str) -> Option<&'f Listed> {
    let at = files.binary_search_by(|file| file.path.as_slice().cmp(path.as_bytes()));
    files.get(at.ok()?)
}
