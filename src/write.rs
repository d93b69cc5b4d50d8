//! Writes files whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;
use uuid::Uuid;

/// So much is written at a time, in bytes.
const PIECE: usize = 64 * 1024;

/// Writes a file so that a reader never meets half of it.
pub fn whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    in_pieces(path, |file| file.write_all(bytes))
}

/// The same with what is made while it is written, so that it is never in memory as a whole.
pub fn in_pieces(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    if path.exists() && !path.is_file() {
        // A device or a pipe is written to, not replaced.
        return to_the_end(File::create(path)?, fill);
    }
    let beside = folder.join(format!(".sluicegate-{}", Uuid::new_v4().simple()));
    let created = File::create(&beside);
    let written = created
        .and_then(|file| to_the_end(file, fill))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        let _ = fs::remove_file(&beside);
    }
    written
}

/// Writes what `fill` gives, many small pieces at a time.
pub fn to_the_end(stream: impl Write, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
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
