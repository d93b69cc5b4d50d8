//! Uses git's index to find the files on disk that are unmodified and need not be read.

use super::{BlobId, Repository, index_file::open_index};
use git2::{Index, IndexEntry, IndexTime};
use std::fs::Metadata;
use std::path::Path;

/// The index in the state that git wrote last; empty if there is none.
pub struct IndexState {
    index: Option<Index>,
    /// The time the index was written, in nanoseconds. A file that changed at that moment or later may look
    /// unmodified.
    write_time: i128,
}

impl Repository {
    /// Loads the index of the working tree and the time it was written. Without a readable index, no file is known to
    /// be unmodified.
    pub fn load_index_state(&self) -> IndexState {
        IndexState {
            index: open_index(self, None).ok(),
            write_time: read_write_time(&self.program.git_dir().join("index")),
        }
    }
}

impl IndexState {
    /// Returns whether the file on disk is certainly this blob as git checked it out, possibly through a filter: it has
    /// the size and the times that the index recorded for the blob, and was changed before the index was written
    /// (<https://git-scm.com/docs/racy-git>).
    pub fn is_unmodified_blob(&self, path: &str, blob: &BlobId, on_disk: &Metadata) -> bool {
        let Some(entry) = self
            .index
            .as_ref()
            .and_then(|index| index.get_path(Path::new(path), 0))
        else {
            return false;
        };
        entry.id == blob.oid()
            && index_time_nanoseconds(entry.mtime) < self.write_time
            && matches_recorded_metadata(&entry, on_disk)
    }
}

/// Converts a time of the index to nanoseconds since 1970.
fn index_time_nanoseconds(time: IndexTime) -> i128 {
    to_nanoseconds(time.seconds().into(), time.nanoseconds().into())
}

fn to_nanoseconds(seconds: i64, nanoseconds: i64) -> i128 {
    i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds)
}

/// Returns whether the file on disk still has the size, the times and the inode that the index recorded, so that its
/// content need not be read.
#[cfg(unix)]
fn matches_recorded_metadata(entry: &IndexEntry, on_disk: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    // The index stores only the lower 32 bits of these numbers.
    u64::from(entry.file_size) == on_disk.size() & u64::from(u32::MAX)
        && u64::from(entry.ino) == on_disk.ino() & u64::from(u32::MAX)
        && index_time_nanoseconds(entry.mtime) == to_nanoseconds(on_disk.mtime(), on_disk.mtime_nsec())
        && index_time_nanoseconds(entry.ctime) == to_nanoseconds(on_disk.ctime(), on_disk.ctime_nsec())
}

/// Returns false, so that the content is always read: on this system the index records other metadata than the system
/// reports.
#[cfg(not(unix))]
fn matches_recorded_metadata(_: &IndexEntry, _: &Metadata) -> bool {
    false
}

/// Returns the time at which the index was written, in nanoseconds since 1970. If it cannot be read, returns the
/// earliest time, so that no file is known to be unmodified.
fn read_write_time(index_path: &Path) -> i128 {
    let modification_time = index_path
        .metadata()
        .and_then(|metadata| metadata.modified())
        .ok();
    let unix_time = modification_time.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    unix_time
        .and_then(|time| i128::try_from(time.as_nanos()).ok())
        .unwrap_or(i128::MIN)
}
