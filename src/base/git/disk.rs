//! What stands on disk under one name: a file, a link, or something that must not be waited for.

use super::FileKind;
use git2::{ObjectType, Oid};
use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// Larger files on disk are not hashed: they count as changed.
const HASHED_SIZE: u64 = 64 * 1024 * 1024;

/// The content as git would store it: of a symbolic link its target, which is not followed. None if it has more than
/// `limit` bytes.
pub fn read_on_disk(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some((file, metadata)) = open_regular(path)? else {
        let target = fs::read_link(path)?;
        return Ok(Some(target.into_os_string().into_encoded_bytes()));
    };
    // Room for the whole file and one byte more, so that its end is found without growing.
    let room = usize::try_from(metadata.len().min(limit)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(room.saturating_add(1));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limit).then_some(bytes))
}

/// The file, opened; none for a symbolic link. What was opened is what is looked at: a name may stand for another thing a
/// moment later.
#[cfg(unix)]
fn open_regular(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    match options.open(path) {
        Ok(file) => {
            let metadata = regular(file.metadata()?)?;
            Ok(Some((file, metadata)))
        }
        Err(error) => {
            let metadata = path.symlink_metadata()?;
            if metadata.is_symlink() {
                return Ok(None);
            }
            regular(metadata).and(Err(error))
        }
    }
}

/// The file, opened; none for a symbolic link.
#[cfg(not(unix))]
fn open_regular(path: &Path) -> io::Result<Option<(File, Metadata)>> {
    let metadata = path.symlink_metadata()?;
    if metadata.is_symlink() {
        return Ok(None);
    }
    let metadata = regular(metadata)?;
    Ok(Some((File::open(path)?, metadata)))
}

/// What is known of a regular file on disk; anything else is an error.
pub fn regular_on_disk(path: &Path) -> io::Result<Metadata> {
    regular(path.symlink_metadata()?)
}

/// A pipe would be waited for, and a device has no end.
fn regular(metadata: Metadata) -> io::Result<Metadata> {
    let why = "it is no regular file";
    let is_file = metadata.is_file().then_some(metadata);
    is_file.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// A pipe or a device stands for the file whose place it has, so that it is not taken for a deletion; it cannot be read.
pub(super) fn kind_on_disk(path: &Path) -> Option<FileKind> {
    let kind = path.symlink_metadata().ok()?.file_type();
    match (kind.is_dir(), kind.is_symlink()) {
        (true, _) => None,
        (_, true) => Some(FileKind::Symlink),
        _ => Some(FileKind::Regular),
    }
}

/// The id that git would give to the file's bytes, unless it is too large.
pub(super) fn stored_id(full: &Path) -> Option<Oid> {
    let bytes = read_on_disk(full, HASHED_SIZE).ok().flatten()?;
    Oid::hash_object(ObjectType::Blob, &bytes).ok()
}
