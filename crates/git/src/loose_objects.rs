//! Loose objects whose file is damaged, for example because the disk was full or a fetch was killed.
//!
//! libgit2 reads a loose object whose compressed stream ends too early in a loop without an end, because
//! `git_zstream_get_output` makes no progress and returns no error. Therefore the stream of a loose object is inflated
//! once here before libgit2 reads the object. A fresh clone has only packs, so that nothing is read there. An object
//! that is also in a pack is checked all the same, although libgit2 would read the pack.

use super::{GitError, id::is_full_id};
use flate2::{Decompress, FlushDecompress, Status};
use git2::Oid;
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// Maximum size of the content of an object that is inflated, in bytes. The git program streams a larger one.
const MAX_INFLATED_SIZE: u64 = 256 * 1024 * 1024;

/// Size of the buffer for inflated bytes, which are dropped.
const BUFFER_SIZE: usize = 16 * 1024;

/// Maximum number of objects that are remembered as intact, and maximum number of trees in a walk.
pub(super) const MAX_INTACT_OBJECTS: usize = 200_000;

/// Maximum number of loose objects that are searched for damaged commits. From 6,700 on, git packs them by default.
const MAX_LOOSE_OBJECTS: usize = 10_000;

/// Start of the content of a loose commit, before its size.
const COMMIT_START: [u8; 7] = *b"commit ";

/// Maximum number of directories that `objects/info/alternates` may name.
const MAX_ALTERNATES: usize = 16;

/// The loose objects of a clone and of the object directories that the clone borrows from.
#[derive(Default)]
pub(super) struct LooseObjects {
    /// The directories with two digits, such as `objects/0a`, by these digits. Listed at the first check.
    folders: RefCell<Option<Vec<Vec<PathBuf>>>>,
    /// The objects whose streams are complete.
    intact_objects: RefCell<HashSet<Oid>>,
    /// The commits whose history is intact.
    intact_histories: RefCell<HashSet<Oid>>,
    /// The result of the last search for damaged commits.
    has_damaged_commits: Cell<Option<bool>>,
}

impl LooseObjects {
    /// Lists the directories again at the next check, because a fetch may have created one.
    pub(super) fn forget_folders(&self) {
        self.folders.take();
        self.has_damaged_commits.take();
    }

    /// Returns the directories that may have the file of the object; `None` if there is no such directory.
    fn find_folders(&self, common_dir: &Path, id: Oid) -> Option<Vec<PathBuf>> {
        let mut folders = self.folders.borrow_mut();
        let folders = folders.get_or_insert_with(|| list_folders(common_dir));
        let first_byte = id.as_bytes().first()?;
        let candidates = folders.get(usize::from(*first_byte))?;
        (!candidates.is_empty()).then(|| candidates.clone())
    }

    /// Returns whether the clone has a directory with loose objects.
    pub(super) fn has_folders(&self, common_dir: &Path) -> bool {
        let mut folders = self.folders.borrow_mut();
        let folders = folders.get_or_insert_with(|| list_folders(common_dir));
        folders.iter().any(|folders| !folders.is_empty())
    }

    /// Returns whether a loose object is damaged that is a commit or whose type cannot be read. Returns false without a
    /// search if there are too many loose objects.
    pub(super) fn has_damaged_commits(&self, common_dir: &Path) -> bool {
        if let Some(has_damaged_commits) = self.has_damaged_commits.get() {
            return has_damaged_commits;
        }
        let files = {
            let mut folders = self.folders.borrow_mut();
            list_loose_files(folders.get_or_insert_with(|| list_folders(common_dir)))
        };
        let has_damaged_commits =
            files.len() <= MAX_LOOSE_OBJECTS && files.iter().any(|file| is_damaged_commit(file));
        self.has_damaged_commits.set(Some(has_damaged_commits));
        has_damaged_commits
    }

    /// Returns whether the history of this commit is known to be intact.
    pub(super) fn is_intact_history(&self, id: Oid) -> bool {
        self.intact_histories.borrow().contains(&id)
    }

    /// Records commits whose histories are intact.
    pub(super) fn record_intact_histories(&self, ids: HashSet<Oid>) {
        self.intact_histories.borrow_mut().extend(ids);
    }

    /// Fails if the object is loose and its file is damaged.
    pub(super) fn check_object(&self, common_dir: &Path, id: Oid) -> Result<(), GitError> {
        if self.intact_objects.borrow().contains(&id) {
            return Ok(());
        }
        let Some(folders) = self.find_folders(common_dir, id) else {
            return Ok(());
        };
        let Some((path, file)) = open_loose_file(&folders, id) else {
            return Ok(());
        };
        if !is_complete_stream(BufReader::new(file)).map_err(GitError::io("read", &path))? {
            return Err(GitError::CorruptObject {
                id: id.to_string(),
                reason: format!("the file {} is truncated or damaged", path.display()),
            });
        }
        let mut intact_objects = self.intact_objects.borrow_mut();
        if intact_objects.len() < MAX_INTACT_OBJECTS {
            intact_objects.insert(id);
        }
        Ok(())
    }
}

/// Lists the files of loose objects, but not the temporary ones that a killed git leaves there. Stops when there
/// are too many.
fn list_loose_files(folders: &[Vec<PathBuf>]) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in folders.iter().flatten() {
        let Ok(entries) = fs::read_dir(folder) else {
            continue;
        };
        for entry in entries.flatten() {
            if files.len() > MAX_LOOSE_OBJECTS {
                return files;
            }
            let name = entry.file_name();
            if is_full_id(&format!("00{}", name.display())) {
                files.push(entry.path());
            }
        }
    }
    files
}

/// Returns whether the file is a damaged loose object that is a commit, or whose type cannot be read.
fn is_damaged_commit(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut reader = BufReader::new(file);
    let Ok(input) = reader.fill_buf() else {
        return false;
    };
    let mut start = [0; COMMIT_START.len()];
    let mut inflater = Decompress::new(true);
    let result = inflater.decompress(input, &mut start, FlushDecompress::None);
    // The content of every object has at least as many bytes: `blob 0` and a zero byte for an empty blob.
    let is_type_known = result.is_ok() && inflater.total_out() == COMMIT_START.len() as u64;
    if is_type_known && start != COMMIT_START {
        return false;
    }
    matches!(is_complete_stream(reader), Ok(false))
}

/// Opens the file of the object in one of these directories.
fn open_loose_file(folders: &[PathBuf], id: Oid) -> Option<(PathBuf, File)> {
    let digits = id.to_string();
    folders.iter().find_map(|folder| {
        let path = folder.join(digits.get(2..)?);
        Some((path.clone(), File::open(path).ok()?))
    })
}

/// Lists the directories with loose objects, by the two digits of their names.
fn list_folders(common_dir: &Path) -> Vec<Vec<PathBuf>> {
    let mut folders = vec![Vec::new(); 256];
    for objects in list_object_directories(common_dir.join("objects")) {
        let Ok(entries) = fs::read_dir(&objects) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let digits = name.to_str().filter(|name| name.len() == 2);
            let number = digits.and_then(|digits| usize::from_str_radix(digits, 16).ok());
            if let Some(same_digits) = number.and_then(|number| folders.get_mut(number)) {
                same_digits.push(entry.path());
            }
        }
    }
    folders
}

/// Lists the object directory and the directories that it borrows objects from, one per line of `info/alternates`
/// (<https://git-scm.com/docs/gitrepository-layout>), and so on.
fn list_object_directories(own_directory: PathBuf) -> Vec<PathBuf> {
    let mut directories = vec![own_directory];
    let mut index = 0;
    while let Some(directory) = directories.get(index).cloned() {
        let alternates = fs::read_to_string(directory.join("info/alternates")).unwrap_or_default();
        for line in alternates.lines().filter(|line| !line.is_empty()) {
            let alternate = directory.join(line);
            if directories.len() <= MAX_ALTERNATES && !directories.contains(&alternate) {
                directories.push(alternate);
            }
        }
        index += 1;
    }
    directories
}

/// Returns whether the zlib stream has a valid end. A stream that is longer than the limit is treated as complete.
fn is_complete_stream(mut reader: impl BufRead) -> io::Result<bool> {
    let mut inflater = Decompress::new(true);
    let mut buffer = vec![0; BUFFER_SIZE];
    while inflater.total_out() < MAX_INFLATED_SIZE {
        let input = reader.fill_buf()?;
        let is_input_over = input.is_empty();
        let (old_in, old_out) = (inflater.total_in(), inflater.total_out());
        match inflater.decompress(input, &mut buffer, FlushDecompress::None) {
            Ok(Status::StreamEnd) => return Ok(true),
            Ok(_) if is_input_over && inflater.total_out() == old_out => return Ok(false),
            Ok(_) => {}
            Err(_) => return Ok(false),
        }
        // The buffer has at most 8 KiB of input.
        let consumed_size = inflater.total_in() - old_in;
        reader.consume(usize::try_from(consumed_size).unwrap_or(usize::MAX));
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn compress(content: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn stream_is_complete_only_with_its_end() {
        let content: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        let stream = compress(&content);
        assert!(is_complete_stream(stream.as_slice()).unwrap());
        for length in [0, 1, 2, 60, stream.len() / 2, stream.len() - 1] {
            assert!(
                !is_complete_stream(stream.get(..length).unwrap()).unwrap(),
                "{length}"
            );
        }
        let mut damaged_stream = stream;
        *damaged_stream.last_mut().unwrap() ^= 1;
        assert!(!is_complete_stream(damaged_stream.as_slice()).unwrap());
    }
}
