//! What is kept: an embedded database, on disk or in memory.
//!
//! One connection does all the work, off the async threads. On disk it writes ahead (WAL) and syncs on every commit
//! (`synchronous = FULL`), so that what was acknowledged survives a `kill -9`; it holds the file exclusively, so that
//! two servers cannot share a folder. See <https://www.sqlite.org/wal.html>.

pub mod artifacts;
pub mod connections;
pub mod environments;
pub mod events;
pub mod executions;
pub mod projects;
pub mod secrets;
pub mod streaming;
pub mod tasks;
pub mod variables;

use rusqlite::{Connection, ErrorCode, Row, Transaction, TransactionBehavior};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::task;

/// The database's file in the data folder.
const FILE: &str = "platform.db";

/// How long to wait for a server that is just ending.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// The statements that lead from each version of the layout to the next; `PRAGMA user_version` counts those done.
const MIGRATIONS: [&str; 10] = [
    artifacts::TABLES,
    events::TABLES,
    projects::TABLES,
    connections::TABLES,
    secrets::TABLES,
    environments::TABLES,
    variables::TABLES,
    executions::TABLES,
    streaming::TABLES,
    tasks::TABLES,
];

/// The store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder could not be made.
    #[error("cannot make the data folder {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's words.
        #[source]
        source: io::Error,
    },
    /// Another process has the data folder.
    #[error("the data folder {} is in use by another server", .0.display())]
    Locked(PathBuf),
    /// A newer version of this program wrote the data.
    #[error("the data was written by a newer version (layout {found}; this one knows {known})")]
    Newer {
        /// The layout of the data.
        found: u32,
        /// The newest layout that this program knows.
        known: u32,
    },
    /// The database's own words.
    #[error("database: {0}")]
    Database(#[from] rusqlite::Error),
    /// The work ended in a defect.
    #[error("a defect ended the work on the database")]
    Defect,
}

/// The open store; clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    connection: Arc<Mutex<Connection>>,
}

impl Store {
    /// Opens the store in `folder`, making what is missing; without one, an empty store in memory.
    pub fn open(folder: Option<&Path>) -> Result<Self, StoreError> {
        let mut connection = match folder {
            None => Connection::open_in_memory()?,
            Some(folder) => open_file(folder)?,
        };
        connection.pragma_update(None, "foreign_keys", true)?;
        migrate(&mut connection).map_err(|error| name_lock(error, folder))?;
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
        })
    }

    /// Reads; what `work` sees does not change under it.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.run(move |connection| Ok(work(connection)?)).await
    }

    /// Changes: all of `work` or nothing, and durable when this returns. It is the one way to change anything, so
    /// what must be recorded together with a change goes into the same transaction here.
    pub async fn change<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        self.run(move |connection| commit(connection, work)).await
    }

    /// Changes before anything is served, on the thread of the caller.
    pub fn change_at_start<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        commit(&mut connection, work)
    }

    async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let connection = Arc::clone(&self.connection);
        let work = move || {
            // Work that panicked left no open transaction: that was rolled back on the way out.
            let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
            work(&mut connection)
        };
        task::spawn_blocking(work).await.map_err(|_| StoreError::Defect)?
    }
}

fn commit<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> Result<T, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

/// The number that a `SELECT count(*)` gives.
fn count(row: &Row<'_>) -> rusqlite::Result<u64> {
    row.get::<_, i64>(0).map(i64::unsigned_abs)
}

fn open_file(folder: &Path) -> Result<Connection, StoreError> {
    fs::create_dir_all(folder).map_err(|source| StoreError::Folder {
        path: folder.to_owned(),
        source,
    })?;
    let connection = Connection::open(folder.join(FILE))?;
    connection.busy_timeout(LOCK_WAIT)?;
    let set = |name, value| connection.pragma_update(None, name, value);
    set("locking_mode", "EXCLUSIVE")
        .and_then(|()| set("journal_mode", "WAL"))
        .and_then(|()| set("synchronous", "FULL"))
        .map_err(|error| name_lock(error.into(), Some(folder)))?;
    Ok(connection)
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    let mut known = 0;
    for statements in MIGRATIONS {
        if found <= known {
            transaction.execute_batch(statements)?;
        }
        known += 1;
    }
    if found > known {
        return Err(StoreError::Newer { found, known });
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}

fn name_lock(error: StoreError, folder: Option<&Path>) -> StoreError {
    match (&error, folder) {
        (StoreError::Database(cause), Some(folder))
            if matches!(
                cause.sqlite_error_code(),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
            ) =>
        {
            StoreError::Locked(folder.to_owned())
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(store: &Store, name: &str) -> String {
        let connection = store.connection.lock().unwrap();
        let value: rusqlite::types::Value = connection
            .pragma_query_value(None, name, |row| row.get(0))
            .unwrap();
        format!("{value:?}")
    }

    #[test]
    fn a_store_on_disk_writes_ahead_and_syncs() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Some(&folder.path().join("new/data"))).unwrap();
        assert_eq!(setting(&store, "journal_mode"), r#"Text("wal")"#);
        assert_eq!(setting(&store, "synchronous"), "Integer(2)");
        assert_eq!(setting(&store, "foreign_keys"), "Integer(1)");
    }

    #[test]
    fn a_folder_belongs_to_one_server_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = Store::open(Some(folder.path())).unwrap();
        let second = Store::open(Some(folder.path())).unwrap_err();
        assert!(matches!(second, StoreError::Locked(path) if path == folder.path()));
        drop(first);
        assert!(Store::open(Some(folder.path())).is_ok());
    }

    #[test]
    fn data_of_a_newer_version_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(Some(folder.path())).unwrap();
        store
            .connection
            .lock()
            .unwrap()
            .pragma_update(None, "user_version", 99)
            .unwrap();
        drop(store);
        let error = Store::open(Some(folder.path())).unwrap_err();
        assert!(
            matches!(error, StoreError::Newer { found: 99, known } if known as usize == MIGRATIONS.len()),
            "{error}"
        );
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let error = Store::open(Some(&file.join("data"))).unwrap_err();
        assert!(matches!(error, StoreError::Folder { path, .. } if path == file.join("data")));
    }
}
