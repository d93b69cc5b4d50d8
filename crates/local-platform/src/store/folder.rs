//! The directory of the database. One server at a time uses it, and only its owner can read it, because the stored data
//! is as confidential as the pipelines and the information about secrets.

use crate::error::StoreError;
use rusqlite::Connection;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The database file and the files that SQLite creates next to it.
const DATABASE: &str = "platform.db";
const BESIDE: [&str; 3] = ["platform.db-wal", "platform.db-shm", "platform.db-journal"];

/// The file that a server locks while it uses the directory; it contains the server's process ID.
const LOCK: &str = "platform.lock";

/// Time to wait for a server that is just ending, and pause between two attempts.
const LOCK_WAIT: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Maximum number of bytes to read from the lock file.
const HOLDER_LIMIT: u64 = 32;

/// The data directory of this server; dropping it releases the lock.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Locks the directory, creating it if it is missing.
    pub(super) fn take(path: &Path) -> Result<Self, StoreError> {
        let fail = |source| StoreError::Folder {
            path: path.to_owned(),
            source,
        };
        make(path).map_err(fail)?;
        let mut lock = open(&path.join(LOCK)).map_err(fail)?;
        if !wait_for(&lock).map_err(fail)? {
            let mut holder = String::new();
            // The process ID is only for the error message, so a failed read is ignored.
            let _ = lock.take(HOLDER_LIMIT).read_to_string(&mut holder);
            return Err(StoreError::Locked {
                folder: path.to_owned(),
                holder: holder.trim().parse().ok(),
            });
        }
        let number = format!("{}\n", std::process::id());
        lock.set_len(0)
            .and_then(|()| lock.write_all(number.as_bytes()))
            .map_err(fail)?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// Opens the database with write-ahead logging and a sync on every commit.
    pub(super) fn database(&self) -> Result<Connection, StoreError> {
        let file = self.path.join(DATABASE);
        self.protect(&file).map_err(|source| StoreError::Folder {
            path: self.path.clone(),
            source,
        })?;
        let connection = Connection::open(file)?;
        let set = |name, value| connection.pragma_update(None, name, value);
        set("locking_mode", "EXCLUSIVE")?;
        set("journal_mode", "WAL")?;
        set("synchronous", "FULL")?;
        Ok(connection)
    }

    /// Lets only the owner read the database; SQLite creates its other files with the same permissions.
    fn protect(&self, file: &Path) -> io::Result<()> {
        drop(open(file)?);
        for name in BESIDE {
            let beside = self.path.join(name);
            if beside.exists() {
                restrict(&File::open(beside)?)?;
            }
        }
        Ok(())
    }
}

/// Waits for the lock and returns whether it was acquired.
fn wait_for(lock: &File) -> io::Result<bool> {
    let began = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(fs::TryLockError::Error(error)) => return Err(error),
            Err(fs::TryLockError::WouldBlock) if began.elapsed() > LOCK_WAIT => return Ok(false),
            Err(fs::TryLockError::WouldBlock) => sleep(LOCK_PAUSE),
        }
    }
}

fn make(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)
}

/// Opens a file that only its owner can read and write, creating it if it is missing.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    restrict(&file)?;
    Ok(file)
}

/// Removes the permissions of other users from a file.
#[cfg(unix)]
fn restrict(file: &File) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

/// Does nothing: on other systems, a file has the permissions of its directory.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "the same shape as on Unix")]
fn restrict(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_belongs_to_one_server_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = Folder::take(folder.path()).unwrap();
        let second = Folder::take(folder.path()).unwrap_err();
        let me = Some(std::process::id());
        assert!(
            matches!(second, StoreError::Locked { folder: path, holder } if path == folder.path() && holder == me)
        );
        drop(first);
        assert!(Folder::take(folder.path()).is_ok());
    }

    #[test]
    fn folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Folder::take(&file.join("data")).unwrap_err();
        assert!(matches!(error, StoreError::Folder { path, .. } if path == file.join("data")));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_but_the_owner_reads_what_is_stored() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("data");
        let database = Folder::take(&folder).unwrap().database().unwrap();
        database
            .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
            .unwrap();
        assert_eq!(mode(&folder), 0o700);
        let files = || fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        assert!(files().count() > 2);
        assert!(files().all(|file| mode(&file) == 0o600));
        // Files that an earlier version left readable when it was killed.
        let kept = outer.path().join("kept");
        fs::create_dir(&kept).unwrap();
        for file in files() {
            let copy = kept.join(file.file_name().unwrap());
            fs::copy(file, &copy).unwrap();
            fs::set_permissions(&copy, fs::Permissions::from_mode(0o644)).unwrap();
        }
        let _database = Folder::take(&kept).unwrap().database().unwrap();
        assert!(
            fs::read_dir(&kept)
                .unwrap()
                .all(|file| mode(&file.unwrap().path()) == 0o600)
        );
    }
}
