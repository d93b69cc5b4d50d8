//! Reads the next large files of an upload while the current one is sent, because git unpacks each on one core.

use super::content_reader::ContentReader;
use super::plan::PlannedFile;
use sluicegate_git::FileContent;
use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Returns the content of a file, and starts to read the next files. Files must be opened in the order of the
    /// upload; if the upload is repeated, they are opened from the first one again.
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

    /// Removes and returns the pending read of this file; `None` if it was not started. Pending reads before it belong
    /// to an earlier attempt of the upload, so they are dropped.
    fn take_pending_read(&self, file_index: usize) -> Option<PendingRead> {
        let mut pending_reads = self.pending_reads.lock().unwrap_or_else(PoisonError::into_inner);
        let position = pending_reads
            .iter()
            .position(|pending_read| pending_read.file_index == file_index);
        if let Some(position) = position {
            return pending_reads.drain(..=position).next_back();
        }
        pending_reads.clear();
        None
    }

    /// Starts a thread for each of the next [`MAX_FILES_AHEAD`] files that is a blob of a suitable size and is not read
    /// yet.
    fn start_next_reads(&self, contents: &Arc<ContentReader>, files: &[PlannedFile], file_index: usize) {
        let mut pending_reads = self.pending_reads.lock().unwrap_or_else(PoisonError::into_inner);
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
