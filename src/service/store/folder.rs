//! The folder of the database: one server's at a time, and nobody's but the owner's to read, since what is stored there
//! is as confidential as the pipelines and what was told about secrets.

use crate::service::error::StoreError;
use rusqlite::Connection;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The database's file, and what SQLite puts beside it.
const DATABASE: &str = "platform.db";
const BESIDE: [&str; 3] = ["platform.db-wal", "platform.db-shm", "platform.db-journal"];

/// The file that a server has locked while it has the folder; it holds the number of its process.
const LOCK: &str = "platform.lock";

/// How long to wait for a server that is just ending, and between two looks.
const LOCK_WAIT: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// As much of the lock's file as is read.
const HOLDER_LIMIT: u64 = 32;

/// The data folder of this server, another's again when it is dropped.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    _lock: File,
}

impl Folder {
    /// Takes the folder, which is made if it is missing.
    pub(super) fn take(path: &Path) -> Result<Self, StoreError> {
        let fail = |source| StoreError::Folder {
            path: path.to_owned(),
            source,
        };
        make(path).map_err(fail)?;
        let mut lock = open(&path.join(LOCK)).map_err(fail)?;
        if !wait_for(&lock).map_err(fail)? {
            let mut holder = String::new();
            // Who has it is told if it can be.
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

    /// Opens the database, which writes ahead and syncs on every commit.
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

    /// Leaves the database to its owner alone; SQLite gives what it makes beside it the same permissions.
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

/// Whether the lock could be had.
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

/// A file that only the owner reads and writes, made if it is missing.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    restrict(&file)?;
    Ok(file)
}

/// Takes the permissions of others from a file that was there.
#[cfg(unix)]
fn restrict(file: &File) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

/// Elsewhere a file has the permissions of its folder.
#[cfg(not(unix))]
fn restrict(_: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_belongs_to_one_server_at_a_time() {
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
    fn a_folder_that_cannot_be_made_is_named() {
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
        // What an earlier version left readable, after it was killed.
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
