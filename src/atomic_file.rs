//! Writes files atomically.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// Size of the write buffer, in bytes.
const BUFFER_BYTES: usize = 64 * 1024;
/// Maximum number of links that are followed from one path, as in Linux.
const MAX_LINKS: usize = 40;

/// The temporary files that exist now. A signal ends the run while the command's thread still owns its files, which are
/// then not dropped.
static TEMPORARY_PATHS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes a file atomically, so that a reader never sees half of it. A file that exists keeps its permissions.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.finish()
}

/// Creates a file atomically, so that a run that ends early leaves no empty file, which the next run would treat as the
/// user's. Fails if something is at the path, even a broken link.
pub(crate) fn create_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.finish_new()
}

/// Replaces the content of a file that was read before; a missing file is empty. Fails if the file has another content
/// now, because the edit of another program would be lost.
pub(crate) fn replace_file(path: &Path, old_bytes: &[u8], new_bytes: &[u8]) -> io::Result<()> {
    let current_bytes = match fs::read(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        result => result?,
    };
    if current_bytes != old_bytes {
        return Err(io::Error::other("the file changed while the command ran"));
    }
    write_file(path, new_bytes)
}

/// Writes a file atomically, with content that is generated while it is written and so is never in memory at once. A
/// file that exists keeps its permissions.
pub(crate) fn write_file_with(
    path: &Path,
    write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = AtomicFile::create(path)?;
    write_buffered(&mut file, write_content)?;
    file.finish()
}

/// Removes the file that [`AtomicFile`] would replace. A link to it stays.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    fs::remove_file(follow_links(path))
}

/// Fails if [`AtomicFile`] cannot write to this path. Creates its directory if it is missing, but no file. A device or
/// a pipe is not opened, because its reader would see the end of the data when it is closed.
pub(crate) fn check_writable(path: &Path) -> io::Result<()> {
    if is_stream(path) {
        return Ok(());
    }
    AtomicFile::create(path).map(drop)
}

/// Returns whether the path is a device, a pipe or an open file of this process, such as `/dev/stdout`.
pub(crate) fn is_stream(path: &Path) -> bool {
    is_open_file(&follow_links(path)) || (path.exists() && !path.is_file() && !path.is_dir())
}

/// Returns whether the path names an open file of this process by its number.
fn is_open_file(path: &Path) -> bool {
    path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

/// Opens the open file of this process that the path names. Standard output and standard error are not opened again:
/// two positions in the same file would overwrite each other.
fn open_again(path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd as _;
        if path.ends_with("1") {
            return Ok(io::stdout().as_fd().try_clone_to_owned()?.into());
        }
        if path.ends_with("2") {
            return Ok(io::stderr().as_fd().try_clone_to_owned()?.into());
        }
    }
    File::options().append(true).open(path)
}

/// Returns the path to which the links at this path lead, or the name of an open file of this process. Its target has
/// no name under which it could be replaced.
fn follow_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) if !is_open_file(&path) => path = parent_of(&path).join(target),
            _ => break,
        }
    }
    path
}

/// Returns the directory of the file.
fn parent_of(path: &Path) -> &Path {
    path.parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."))
}

/// A file that is moved to its path when it is finished; if dropped earlier, it is removed.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    path: PathBuf,
    /// The temporary file in the directory of `path`; `None` for a device or a pipe, which is written to and not
    /// replaced.
    temporary_path: Option<PathBuf>,
    file: File,
}

impl AtomicFile {
    /// Creates the temporary file next to `path`, and the directory if it is missing. If `path` is a link, the link
    /// stays, and the file to which it leads is replaced. A device, a pipe or an open file of this process, which
    /// cannot be replaced, is written to directly. The temporary file has the permissions of the file that it replaces
    /// before it has content, so that nobody else can read a private file in between.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let path = follow_links(path);
        let is_open = is_open_file(&path);
        if is_open || (path.exists() && !path.is_file()) {
            return Ok(Self {
                file: if is_open {
                    open_again(&path)
                } else {
                    File::create(&path)
                }?,
                path,
                temporary_path: None,
            });
        }
        let parent = parent_of(&path);
        fs::create_dir_all(parent)?;
        let temporary_path = parent.join(format!(".sluicegate-{}", Uuid::new_v4().simple()));
        let mut temporary_paths = lock_temporary_paths();
        let file = File::create(&temporary_path)?;
        temporary_paths.push(temporary_path.clone());
        drop(temporary_paths);
        let atomic_file = Self {
            file,
            path,
            temporary_path: Some(temporary_path),
        };
        if let Ok(old_metadata) = fs::metadata(&atomic_file.path) {
            atomic_file.file.set_permissions(old_metadata.permissions())?;
        }
        Ok(atomic_file)
    }

    /// Moves the temporary file to its path. A device or a pipe has been written to directly, so nothing is moved.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        let Some(temporary_path) = &self.temporary_path else {
            return Ok(());
        };
        let mut temporary_paths = lock_temporary_paths();
        fs::rename(temporary_path, &self.path)?;
        temporary_paths.retain(|path| path != temporary_path);
        self.temporary_path = None;
        Ok(())
    }

    /// Moves the temporary file to its path as [`Self::finish`] does, but fails if a file is there. The list stays
    /// locked meanwhile, so that a signal cannot end the run after the first step.
    fn finish_new(mut self) -> io::Result<()> {
        let Some(temporary_path) = &self.temporary_path else {
            return Ok(());
        };
        let mut temporary_paths = lock_temporary_paths();
        drop(File::create_new(&self.path)?);
        fs::rename(temporary_path, &self.path).inspect_err(|_| {
            let _ = fs::remove_file(&self.path);
        })?;
        temporary_paths.retain(|path| path != temporary_path);
        self.temporary_path = None;
        Ok(())
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    /// Removes the temporary file if it was not moved to its path.
    fn drop(&mut self) {
        if let Some(temporary_path) = &self.temporary_path {
            let mut temporary_paths = lock_temporary_paths();
            let _ = fs::remove_file(temporary_path);
            temporary_paths.retain(|path| path != temporary_path);
        }
    }
}

/// Removes the temporary files, because the run ends now. Afterwards, this process creates and moves no file any more:
/// a thread that tries to waits for the end of the process.
pub(crate) fn remove_unfinished_files() {
    let temporary_paths = lock_temporary_paths();
    for path in temporary_paths.iter() {
        let _ = fs::remove_file(path);
    }
    mem::forget(temporary_paths);
}

fn lock_temporary_paths() -> MutexGuard<'static, Vec<PathBuf>> {
    TEMPORARY_PATHS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the output of `write_content` to `stream` through a buffer.
pub(crate) fn write_buffered(
    stream: impl Write,
    write_content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, stream);
    write_content(&mut writer)?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_file_replaces_neither_file_nor_link() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sub/new");
        create_file(&path, b"first").unwrap();
        let error = create_file(&path, b"second").unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        // Another program may create the file after the first look.
        let file = AtomicFile::create(&path).unwrap();
        assert!(file.finish_new().is_err());
        assert_eq!(fs::read(&path).unwrap(), b"first");
        assert_eq!(fs::read_dir(folder.path().join("sub")).unwrap().count(), 1);
    }

    #[test]
    fn file_that_changed_since_it_was_read_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main.orch.yaml");
        fs::write(&path, "edited").unwrap();
        let error = replace_file(&path, b"read", b"fixed").unwrap_err();
        assert_eq!(error.to_string(), "the file changed while the command ran");
        replace_file(&path, b"", b"fixed").unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"edited");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn file_that_is_as_it_was_read_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("main.orch.yaml");
        replace_file(&path, b"", b"first").unwrap();
        replace_file(&path, b"first", b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn interrupted_write_leaves_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("report.json");
        write_file(&path, b"old").unwrap();
        let broken = write_file_with(&path, |file| {
            file.write_all(&vec![b'x'; 3 * BUFFER_BYTES])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert_eq!(broken.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn private_file_stays_private_in_each_kind_of_write() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("receipt.json");
        let read_mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write_file_with(&path, |file| {
            let entries = fs::read_dir(folder.path())?;
            for entry in entries {
                assert_eq!(read_mode(&entry?.path()), 0o600);
            }
            file.write_all(b"new")
        })
        .unwrap();
        assert_eq!(read_mode(&path), 0o600);
        write_file(&path, b"newer").unwrap();
        assert_eq!(read_mode(&path), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        write_file_with(&path, |file| file.write_all(b"newest")).unwrap();
        assert_eq!(read_mode(&path), 0o644);
    }
}
