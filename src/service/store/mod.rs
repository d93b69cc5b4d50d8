//! What is kept: an embedded database, on disk or in memory.
//!
//! One connection does all the work, off the async threads. On disk it writes ahead (WAL) and syncs on every commit
//! (`synchronous = FULL`), so that what was acknowledged survives a `kill -9`. See <https://www.sqlite.org/wal.html>.

pub mod artifacts;
pub mod connections;
pub mod environments;
mod error;
pub mod events;
pub mod executions;
mod folder;
pub mod projects;
pub mod secrets;
pub mod streaming;
pub mod tasks;
pub mod variables;

pub use error::StoreError;

use folder::Folder;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Params, Row, Transaction, TransactionBehavior};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use tokio::task;

/// How many prepared statements are kept; the rooms have about sixty.
const STATEMENTS: usize = 128;

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

/// The open store; clones share it.
#[derive(Debug, Clone)]
pub struct Store {
    connection: Arc<Mutex<Connection>>,
    /// Held for as long as the connection is open.
    _folder: Option<Arc<Folder>>,
}

impl Store {
    /// Opens the store in `folder`, making what is missing; without one, an empty store in memory.
    pub fn open(folder: Option<&Path>) -> Result<Self, StoreError> {
        let folder = folder.map(Folder::take).transpose()?;
        let mut connection = match &folder {
            None => Connection::open_in_memory()?,
            Some(folder) => folder.database()?,
        };
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Without it a statement that is kept is planned again for other values (https://www.sqlite.org/queryplanner-ng.html).
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        migrate(&mut connection)?;
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
            _folder: folder.map(Arc::new),
        })
    }

    /// Reads; what `work` sees does not change under it. Where nobody else is at work it is done at once, since a read
    /// takes less time than the way to another thread and back.
    pub async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        match self.at_once(work) {
            Ok(read) => Ok(read?),
            Err(work) => self.run(move |connection| Ok(work(connection)?)).await,
        }
    }

    /// Does the work on this thread, unless somebody else is at work: then it is given back.
    fn at_once<T, F>(&self, work: F) -> Result<rusqlite::Result<T>, F>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T>,
    {
        match self.connection.try_lock() {
            Ok(free) => Ok(work(&free)),
            Err(TryLockError::Poisoned(free)) => Ok(work(&free.into_inner())),
            Err(TryLockError::WouldBlock) => Err(work),
        }
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

    /// Changes as [`Store::change`] does, unless `work` refuses: then nothing of what it did stays.
    pub async fn attempt<T, R, F>(&self, work: F) -> Result<Result<T, R>, StoreError>
    where
        T: Send + 'static,
        R: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, R>> + Send + 'static,
    {
        self.run(move |connection| {
            let transaction = begin(connection)?;
            let outcome = work(&transaction)?;
            if outcome.is_ok() {
                transaction.commit()?;
            }
            Ok(outcome)
        })
        .await
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
    let transaction = begin(connection)?;
    let value = work(&transaction)?;
    transaction.commit()?;
    Ok(value)
}

/// A transaction that is rolled back unless it is committed.
fn begin(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Statements that are prepared once: they are kept by their text, which therefore holds no values.
trait Statements {
    /// Runs a statement; how many rows it changed.
    fn execute_cached(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize>;

    /// Reads the one row that the statement gives.
    fn query_row_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T>;
}

impl Statements for Connection {
    fn execute_cached(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize> {
        self.prepare_cached(sql)?.execute(values)
    }

    fn query_row_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        self.prepare_cached(sql)?.query_row(values, read)
    }
}

/// The number that a `SELECT count(*)` gives.
fn count(row: &Row<'_>) -> rusqlite::Result<u64> {
    row.get::<_, i64>(0).map(i64::unsigned_abs)
}

fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = begin(connection)?;
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

    #[tokio::test]
    async fn what_is_refused_leaves_nothing_behind() {
        let store = Store::open(None).unwrap();
        let put = |refuse: bool| {
            store.attempt(move |transaction| {
                transaction.execute("INSERT INTO repository VALUES ('p', 'x', 'y', 'z')", [])?;
                Ok(if refuse { Err("no") } else { Ok(()) })
            })
        };
        let all =
            || store.read(|connection| connection.query_row("SELECT count(*) FROM repository", [], count));
        assert_eq!(put(true).await.unwrap(), Err("no"));
        assert_eq!(all().await.unwrap(), 0);
        assert_eq!(put(false).await.unwrap(), Ok(()));
        assert_eq!(all().await.unwrap(), 1);
    }
}
