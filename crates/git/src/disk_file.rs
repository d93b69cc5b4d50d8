//! Files on disk: regular files, links, and special files, which must not be read because that could wait forever.

use super::FileKind;
use git2::{ObjectType, Oid};
use std::collections::HashMap;
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Maximum size of a file on disk that is hashed, in bytes. Larger files are treated as changed.
pub(super) const MAX_HASHED_SIZE: u64 = 64 * 1024 * 1024;

/// Reads a file on disk. A symbolic link is not followed: its content is the path of its target, as git stores it.
/// Returns `None` if the file has more than `limit` bytes.
pub fn read_disk_file(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, metadata)) = open_regular_file(path)? else {
        let target = fs::read_link(path)?;
        return Ok(Some(target.into_os_string().into_encoded_bytes()));
    };
    // Room for the complete file and one byte more, so that reaching its end needs no reallocation.
    let expected_size = usize::try_from(metadata.len().min(limit)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(expected_size.saturating_add(1));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// Opens a regular file; returns `None` for a symbolic link. The metadata is that of the opened file, because the
/// path may point to another file a moment later. `O_NOFOLLOW` makes the system refuse a link, and `O_NONBLOCK` opens a
/// pipe without waiting.
#[cfg(unix)]
fn open_regular_file(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match options.open(path) {
        Ok(file) => {
            let metadata = reject_special_file(file.metadata()?)?;
            Ok(Some((file, metadata)))
        }
        Err(error) => {
            let metadata = path.symlink_metadata()?;
            if metadata.is_symlink() {
                return Ok(None);
            }
            // The system refuses to open some special files, for example sockets. The error to report is then that the
            // file is special.
            reject_special_file(metadata)?;
            Err(error)
        }
    }
}

/// Opens a regular file; returns `None` for a symbolic link.
#[cfg(not(unix))]
fn open_regular_file(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Ok(None);
    }
    let metadata = reject_special_file(metadata)?;
    Ok(Some((File::open(path)?, metadata)))
}

/// Returns the metadata of a regular file on disk; anything else is an error.
pub fn read_regular_file_metadata(path: &Path) -> io::Result<Metadata> {
    reject_special_file(path.symlink_metadata()?)
}

/// Returns the metadata of a regular file, and an error for anything else: reading a pipe would block, and a device has
/// no end.
fn reject_special_file(metadata: Metadata) -> io::Result<Metadata> {
    if metadata.is_file() {
        return Ok(metadata);
    }
    let reason = "the path is not a regular file";
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// Returns whether nothing is at the path. If the system does not show what is there, for example because of the
/// permissions of a directory, something may be there.
pub fn is_missing(path: &Path) -> bool {
    path.symlink_metadata()
        .is_err_and(|error| is_missing_file_error(&error))
}

/// Returns whether the error means that there is no file at the path. With any other error, there may be one.
pub fn is_missing_file_error(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Returns the kind of a file on disk; `None` if nothing or a directory is at the path. A pipe, a device, and a path
/// that the system does not show are treated as a regular file that cannot be read, so that the file does not look
/// deleted.
pub(super) fn find_disk_file_kind(path: &Path) -> Option<FileKind> {
    let file_type = match path.symlink_metadata() {
        Ok(metadata) => metadata.file_type(),
        Err(error) if is_missing_file_error(&error) => return None,
        Err(_) => return Some(FileKind::Regular),
    };
    match (file_type.is_dir(), file_type.is_symlink()) {
        (true, _) => None,
        (_, true) => Some(FileKind::Symlink),
        _ => Some(FileKind::Regular),
    }
}

/// The directories of a working tree that are reached through a symbolic link. Each directory is examined only once.
pub(super) struct LinkedDirectories<'r> {
    pub root: &'r Path,
    is_linked_by_path: HashMap<PathBuf, bool>,
}

impl<'r> LinkedDirectories<'r> {
    pub(super) fn new(root: &'r Path) -> Self {
        Self {
            root,
            is_linked_by_path: HashMap::new(),
        }
    }

    /// Returns whether a directory above the file is a symbolic link. The path is relative to the root.
    pub(super) fn contain_file(&mut self, path: &Path) -> bool {
        path.parent().is_some_and(|directory| self.is_linked(directory))
    }

    /// Returns whether the directory, or one above it, is a symbolic link.
    fn is_linked(&mut self, directory: &Path) -> bool {
        if let Some(is_linked) = self.is_linked_by_path.get(directory) {
            return *is_linked;
        }
        let Some(parent) = directory.parent() else {
            return false;
        };
        let is_linked = self.is_linked(parent) || self.root.join(directory).is_symlink();
        self.is_linked_by_path.insert(directory.to_owned(), is_linked);
        is_linked
    }
}

/// Returns the id that git would give to the file's bytes, or `None` if the file is too large or cannot be read.
pub(super) fn hash_disk_file(path: &Path) -> Option<Oid> {
    let bytes = read_disk_file(path, MAX_HASHED_SIZE).ok().flatten()?;
    Oid::hash_object(ObjectType::Blob, &bytes).ok()
}
