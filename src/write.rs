//! Writes files atomically.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Size of the write buffer, in bytes.
const PIECE: usize = 64 * 1024;

/// Writes a file atomically, so that a reader never sees half of it.
pub(crate) fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    in_pieces(path, |file| file.write_all(bytes))
}

/// Replaces a file atomically and keeps its permissions.
pub(crate) fn in_place(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let permissions = fs::metadata(path)?.permissions();
    let mut begun = Unfinished::create(path)?;
    begun.write_all(bytes)?;
    begun.file.set_permissions(permissions)?;
    begun.finish()
}

/// Like [`whole`], for content that is generated while it is written and so is never in memory at once.
pub(crate) fn in_pieces(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut begun = Unfinished::create(path)?;
    to_the_end(&mut begun, fill)?;
    begun.finish()
}

/// A file that is moved to its path when it is finished; if dropped earlier, it is removed.
#[derive(Debug)]
pub(crate) struct Unfinished {
    path: PathBuf,
    /// The temporary file beside `path`; `None` for a device or a pipe, which is written to and not replaced.
    beside: Option<PathBuf>,
    file: File,
}

impl Unfinished {
    /// Creates the temporary file, and its directory if it is missing.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
            .unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let is_special = path.exists() && !path.is_file();
        let name = || format!(".sluicegate-{}", Uuid::new_v4().simple());
        let beside = (!is_special).then(|| folder.join(name()));
        Ok(Self {
            file: File::create(beside.as_deref().unwrap_or(path))?,
            path: path.to_owned(),
            beside,
        })
    }

    /// Moves the file to its path.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        match &self.beside {
            Some(beside) => fs::rename(beside, &self.path)?,
            None => return Ok(()),
        }
        self.beside = None;
        Ok(())
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(beside) = &self.beside {
            let _ = fs::remove_file(beside);
        }
    }
}

/// Writes the output of `fill` to `stream` through a buffer.
pub(crate) fn to_the_end(
    stream: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut pieces = BufWriter::with_capacity(PIECE, stream);
    fill(&mut pieces)?;
    pieces.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_halfway_leaves_the_old_file_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        whole(&path, b"old").unwrap();
        let broken = in_pieces(&path, |file| {
            file.write_all(&vec![b'x'; 3 * PIECE])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(broken.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
