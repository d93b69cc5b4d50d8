//! Reads the next large files of an upload while the current one is sent, because git unpacks each on one core.

use super::content_reader::ContentReader;
use super::plan::PlannedFile;
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_git::FileContent;
use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Maximum number of files that are read ahead while another file is sent.
const MAX_FILES_AHEAD: usize = 2;
/// Size of the files that are read ahead, in bytes. A thread does not pay off for smaller files; larger files would
/// need too much memory.
const READ_AHEAD_SIZES: std::ops::RangeInclusive<u64> = 1024 * 1024..=32 * 1024 * 1024;

/// The contents of the next files, in the order of the upload.
#[derive(Default)]
pub(super) struct ReadAhead {
    pending_reads: Mutex<VecDeque<PendingRead>>,
}

/// A file that a thread reads.
struct PendingRead {
    file_index: usize,
    reader: JoinHandle<io::Result<Vec<u8>>>,
}

impl ReadAhead {
    /// Returns the content of a file, and starts to read the next large files, so that they are read while this one is
    /// sent. Files must be opened in the order of the upload; if the upload is repeated, they are opened from the first
    /// one again.
    pub(super) fn open_file(
        &self,
        contents: &Arc<ContentReader>,
        files: &[PlannedFile],
        file_index: usize,
    ) -> io::Result<Box<dyn Read + Send>> {
        let file = files.get(file_index).ok_or(io::ErrorKind::NotFound)?;
        let pending_read = self.take_pending_read(file_index);
        self.start_next_reads(contents, files, file_index);
        match pending_read {
            Some(pending_read) => {
                let bytes = pending_read
                    .reader
                    .join()
                    .map_err(|_| io::Error::other("the thread that reads the file ended unexpectedly"))??;
                Ok(Box::new(Cursor::new(bytes)))
            }
            None => contents
                .open_content(&file.content, file.bytes)
                .map_err(io::Error::other),
        }
    }

    /// Removes and returns the pending read of this file; `None` if it was not started. Keeps only the pending reads of
    /// the next files: an earlier attempt of the upload may have left others.
    fn take_pending_read(&self, file_index: usize) -> Option<PendingRead> {
        let mut pending_reads = lock_mutex(&self.pending_reads);
        let position = pending_reads
            .iter()
            .position(|pending_read| pending_read.file_index == file_index);
        let pending_read = position.and_then(|position| pending_reads.remove(position));
        let next_files = file_index + 1..=file_index + MAX_FILES_AHEAD;
        pending_reads.retain(|pending_read| next_files.contains(&pending_read.file_index));
        pending_read
    }

    /// Starts a thread for each of the next [`MAX_FILES_AHEAD`] files, unless a thread already reads it. Skips files on
    /// disk, which git need not unpack, and files whose size is not in [`READ_AHEAD_SIZES`].
    fn start_next_reads(&self, contents: &Arc<ContentReader>, files: &[PlannedFile], file_index: usize) {
        let mut pending_reads = lock_mutex(&self.pending_reads);
        for (index, file) in files
            .iter()
            .enumerate()
            .skip(file_index + 1)
            .take(MAX_FILES_AHEAD)
        {
            let is_suitable =
                matches!(file.content, FileContent::Blob(_)) && READ_AHEAD_SIZES.contains(&file.bytes);
            let is_pending = pending_reads
                .iter()
                .any(|pending_read| pending_read.file_index == index);
            if is_suitable && !is_pending {
                let (contents, file) = (Arc::clone(contents), file.clone());
                pending_reads.push_back(PendingRead {
                    file_index: index,
                    reader: thread::spawn(move || read_planned_file(&contents, &file)),
                });
            }
        }
    }
}

/// Reads a file completely. If it has more bytes than planned, one more byte than planned is read, so that the upload
/// notices the difference.
fn read_planned_file(contents: &ContentReader, file: &PlannedFile) -> io::Result<Vec<u8>> {
    let content = contents
        .open_content(&file.content, file.bytes)
        .map_err(io::Error::other)?;
    let mut bytes = Vec::with_capacity(usize::try_from(file.bytes).unwrap_or_default());
    content.take(file.bytes + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_git::Repository;
    use sluicegate_test_support::World;
    use std::thread::ThreadId;

    fn list_reader_ids(read_ahead: &ReadAhead) -> Vec<ThreadId> {
        let pending_reads = read_ahead.pending_reads.lock().unwrap();
        pending_reads
            .iter()
            .map(|pending_read| pending_read.reader.thread().id())
            .collect()
    }

    #[test]
    fn large_file_after_small_file_is_read_once() {
        let world = World::new();
        let large_text = "a".repeat(1024 * 1024);
        for (path, text) in [("1", large_text.as_str()), ("2", "small"), ("3", &large_text)] {
            world.write(path, text);
        }
        world.commit("first");
        let repository = Repository::open(&world.work()).unwrap();
        let head = repository.resolve("HEAD").unwrap();
        let files: Vec<PlannedFile> = repository
            .list_files(&head, &|_| true)
            .unwrap()
            .into_iter()
            .map(|file| PlannedFile {
                bytes: repository.read_blob_size(&file.blob).unwrap(),
                path: file.path,
                content: FileContent::Blob(file.blob),
                checked_hash: None,
            })
            .collect();
        let contents = Arc::new(ContentReader::reading_once(world.work()));
        let read_ahead = ReadAhead::default();
        read_ahead.open_file(&contents, &files, 0).unwrap();
        let started_readers = list_reader_ids(&read_ahead);
        assert_eq!(started_readers.len(), 1);
        read_ahead.open_file(&contents, &files, 1).unwrap();
        assert_eq!(list_reader_ids(&read_ahead), started_readers);
        // A repeated upload starts with the first file. The third file is still one of the next two.
        read_ahead.open_file(&contents, &files, 0).unwrap();
        assert_eq!(list_reader_ids(&read_ahead), started_readers);
        let mut text = String::new();
        let mut third_file = read_ahead.open_file(&contents, &files, 2).unwrap();
        third_file.read_to_string(&mut text).unwrap();
        assert_eq!(text, large_text);
        assert_eq!(list_reader_ids(&read_ahead), []);
    }
}
