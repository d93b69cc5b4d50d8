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
const DATABASE_FILE: &str = "platform.db";
const DATABASE_SIDE_FILES: [&str; 3] = ["platform.db-wal", "platform.db-shm", "platform.db-journal"];

/// The file that a server locks while it uses the directory; it contains the server's process ID.
const LOCK_FILE: &str = "platform.lock";

/// Time to wait for a server that is just ending, and pause between two attempts.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Maximum number of bytes to read from the lock file.
const MAX_LOCK_SIZE: u64 = 32;

/// The data directory of this server; dropping it releases the lock.
#[derive(Debug)]
pub(super) struct DataDirectory {
    path: PathBuf,
    _lock: File,
}

impl DataDirectory {
    /// Locks the directory for this process, creating the directory if it is missing. If another process holds the
    /// lock, the error contains the ID of that other process, if the ID can be read.
    pub(super) fn lock(path: &Path) -> Result<Self, StoreError> {
        create_directory(path).map_err(directory_error(path))?;
        let mut lock = open_private_file(&path.join(LOCK_FILE)).map_err(directory_error(path))?;
        if !wait_for_lock(&lock).map_err(directory_error(path))? {
            let mut holder = String::new();
            // The process ID is only for the error message, so a failed read is ignored.
            let _ = lock.take(MAX_LOCK_SIZE).read_to_string(&mut holder);
            return Err(StoreError::Locked {
                directory: path.to_owned(),
                holder: holder.trim().parse().ok(),
            });
        }
        let process_id = format!("{}\n", std::process::id());
        lock.set_len(0)
            .and_then(|()| lock.write_all(process_id.as_bytes()))
            .map_err(directory_error(path))?;
        Ok(Self {
            path: path.to_owned(),
            _lock: lock,
        })
    }

    /// Opens the database for this process only, with write-ahead logging and a sync on every commit, so that no
    /// acknowledged change is lost.
    pub(super) fn open_database(&self) -> Result<Connection, StoreError> {
        let file = self.path.join(DATABASE_FILE);
        self.restrict_database_files(&file)
            .map_err(directory_error(&self.path))?;
        let connection = Connection::open(file)?;
        connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        Ok(connection)
    }

    /// Adds the path of the database to an error about its content.
    pub(super) fn name_database(&self, error: StoreError) -> StoreError {
        match error {
            StoreError::Database(reason) => StoreError::DatabaseFile {
                file: self.path.join(DATABASE_FILE),
                reason,
            },
            error => error,
        }
    }

    /// Lets only the owner read the database and its side files. Creates an empty database file if it is missing,
    /// because SQLite creates new side files with the same permissions as the database.
    fn restrict_database_files(&self, file: &Path) -> io::Result<()> {
        drop(open_private_file(file)?);
        for name in DATABASE_SIDE_FILES {
            let path = self.path.join(name);
            if path.exists() {
                restrict_permissions(&File::open(path)?)?;
            }
        }
        Ok(())
    }
}

/// Returns a function, for `map_err`, that converts an I/O error to an error about this directory.
fn directory_error(path: &Path) -> impl Fn(io::Error) -> StoreError {
    move |source| StoreError::DataDirectory {
        path: path.to_owned(),
        source,
    }
}

/// Waits at most [`LOCK_TIMEOUT`] for the lock and returns whether it was acquired.
fn wait_for_lock(lock: &File) -> io::Result<bool> {
    let start = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(fs::TryLockError::Error(error)) => return Err(error),
            Err(fs::TryLockError::WouldBlock) if start.elapsed() > LOCK_TIMEOUT => return Ok(false),
            Err(fs::TryLockError::WouldBlock) => sleep(LOCK_PAUSE),
        }
    }
}

/// Creates the directory and its missing parents so that only the user can read them, because they contain a service's
/// data.
fn create_directory(directory: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.recursive(true).create(directory) {
        // The system's message for a file in place of the directory is "File exists".
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(io::Error::new(
            io::ErrorKind::NotADirectory,
            "it is not a directory",
        )),
        result => result,
    }
}

/// Opens a file that only its owner can read and write, creating it if it is missing.
fn open_private_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    restrict_permissions(&file)?;
    Ok(file)
}

/// Removes the permissions of other users from a file.
#[cfg(unix)]
fn restrict_permissions(file: &File) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

/// Does nothing: on other systems, a file has the permissions of its directory.
#[cfg(not(unix))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "the function has the same signature as on Unix"
)]
fn restrict_permissions(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_belongs_to_one_server_at_a_time() {
        let directory = tempfile::tempdir().unwrap();
        let first = DataDirectory::lock(directory.path()).unwrap();
        let second = DataDirectory::lock(directory.path()).unwrap_err();
        let me = Some(std::process::id());
        assert!(
            matches!(second, StoreError::Locked { directory: path, holder } if path == directory.path() && holder == me)
        );
        drop(first);
        assert!(DataDirectory::lock(directory.path()).is_ok());
    }

    #[test]
    fn directory_that_cannot_be_made_is_named() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "").unwrap();
        let error = DataDirectory::lock(&file.join("data")).unwrap_err();
        assert!(matches!(error, StoreError::DataDirectory { path, .. } if path == file.join("data")));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_but_the_owner_reads_what_is_stored() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let outer = tempfile::tempdir().unwrap();
        let directory = outer.path().join("data");
        let database = DataDirectory::lock(&directory).unwrap().open_database().unwrap();
        database
            .execute_batch("CREATE TABLE t (a); INSERT INTO t VALUES (1);")
            .unwrap();
        assert_eq!(mode(&directory), 0o700);
        let files = || {
            fs::read_dir(&directory)
                .unwrap()
                .map(|entry| entry.unwrap().path())
        };
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
        let _database = DataDirectory::lock(&kept).unwrap().open_database().unwrap();
        assert!(
            fs::read_dir(&kept)
                .unwrap()
                .all(|file| mode(&file.unwrap().path()) == 0o600)
        );
    }
}
