//! The stored data: an embedded database, on disk or in memory.
//!
//! All work uses one connection, on blocking threads. On disk, the database logs writes ahead (WAL) and syncs on every
//! commit (`synchronous = FULL`), so that acknowledged changes survive a `kill -9`. See
//! <https://www.sqlite.org/wal.html>.

pub(super) mod artifacts;
pub(super) mod connections;
mod data_directory;
pub(super) mod environments;
pub(super) mod events;
pub(super) mod executions;
pub(super) mod projects;
pub(super) mod secrets;
pub(super) mod streaming;
pub(super) mod tasks;
pub(super) mod variables;

use super::error::StoreError;
use data_directory::DataDirectory;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, Params, Row, Transaction, TransactionBehavior};
use sluicegate_base::mutex_lock::lock_mutex;
use std::convert::Infallible;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::task;

/// Number of prepared statements to keep; the modules have about sixty.
const MAX_CACHED_STATEMENTS: usize = 128;

/// The number of the layout, stored as `PRAGMA user_version`; it increases whenever a table changes.
const LAYOUT_VERSION: u32 = 1;

/// The statements that create the tables.
const TABLES: [&str; 10] = [
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
#[derive(Clone)]
pub(super) struct Store {
    connection: Arc<Mutex<Connection>>,
    /// Keeps the directory locked while the connection is open.
    _directory: Option<Arc<DataDirectory>>,
}

impl Store {
    /// Opens the store in `directory`, creating the directory and the database if they are missing. Without a
    /// directory, creates an empty store in memory.
    pub(super) fn open(directory: Option<&Path>) -> Result<Self, StoreError> {
        let directory = directory.map(DataDirectory::lock).transpose()?;
        let connection = match &directory {
            None => prepare_database(Connection::open_in_memory()?)?,
            Some(directory) => directory
                .open_database()
                .and_then(prepare_database)
                .map_err(|error| directory.name_database(error))?,
        };
        Ok(Self {
            connection: Arc::new(Mutex::new(connection)),
            _directory: directory.map(Arc::new),
        })
    }

    /// Runs `work`, which reads data, on the connection. No other request changes the data while `work` runs.
    pub(super) async fn query<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        self.run_blocking(move |connection| Ok(work(connection)?)).await
    }

    /// Runs `work` in a transaction. Its changes, including their audit events, are atomic, and they are durable when
    /// this function returns. While the service runs, only this function and [`Store::try_change`] change data.
    pub(super) async fn change<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    {
        let Ok(value) = self
            .try_change(move |transaction| work(transaction).map(Ok::<T, Infallible>))
            .await?;
        Ok(value)
    }

    /// Runs `work` in a transaction, as [`Store::change`] does. If the inner result of `work` is an error, all its
    /// changes are rolled back.
    pub(super) async fn try_change<T, R, F>(&self, work: F) -> Result<Result<T, R>, StoreError>
    where
        T: Send + 'static,
        R: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<Result<T, R>> + Send + 'static,
    {
        self.run_blocking(move |connection| {
            let transaction = begin_transaction(connection)?;
            let outcome = work(&transaction)?;
            if outcome.is_ok() {
                transaction.commit()?;
            }
            Ok(outcome)
        })
        .await
    }

    /// Runs `work` in a transaction and commits it. Blocks the caller's thread, which is allowed only before the
    /// service accepts requests.
    pub(super) fn change_at_start<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut connection = lock_connection(&self.connection);
        let transaction = begin_transaction(&mut connection)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// Runs `work` on a blocking thread, and returns its result. If `work` panics, its transaction is rolled back, and
    /// the result is an error.
    async fn run_blocking<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let connection = Arc::clone(&self.connection);
        task::spawn_blocking(move || work(&mut lock_connection(&connection)))
            .await
            .map_err(|_| StoreError::Defect)?
    }
}

/// Locks the connection, even if a thread panicked while it held the lock. The data is then consistent, because the
/// thread's transaction was rolled back.
fn lock_connection(connection: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    lock_mutex(connection)
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// Starts a transaction that is rolled back unless it is committed. The transaction locks the database for writing at
/// once, not only at its first change.
fn begin_transaction(connection: &mut Connection) -> rusqlite::Result<Transaction<'_>> {
    connection.transaction_with_behavior(TransactionBehavior::Immediate)
}

/// Statements that are prepared only once. The cache key is the SQL text, which must therefore contain no values.
trait CachedStatements {
    /// Runs a statement, which stays prepared for the next call, and returns the number of changed rows.
    fn execute_cached(&self, sql: &str, values: impl Params) -> rusqlite::Result<usize>;

    /// Runs a statement, which stays prepared for the next call, and reads the first row of its result. Returns an
    /// error if the result is empty.
    fn query_row_cached<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T>;
}

impl CachedStatements for Connection {
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

/// Reads the result row of a `SELECT count(*)`.
fn read_count(row: &Row<'_>) -> rusqlite::Result<u64> {
    row.get::<_, i64>(0).map(i64::unsigned_abs)
}

/// Creates the tables if they are missing, and configures the connection.
fn prepare_database(mut connection: Connection) -> Result<Connection, StoreError> {
    // SQLite's temporary data is confidential too, so it does not go into files that others could read.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    create_tables(&mut connection)?;
    connection.set_prepared_statement_cache_capacity(MAX_CACHED_STATEMENTS);
    // Makes SQLite keep the plan of a cached statement, instead of planning it again for other values
    // (https://www.sqlite.org/queryplanner-ng.html).
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Creates the tables of a new database, and rejects a database with another layout. Also turns on the check of foreign
/// keys, which SQLite leaves off.
fn create_tables(connection: &mut Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "foreign_keys", true)?;
    let transaction = begin_transaction(connection)?;
    let layout_version: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if layout_version == 0 {
        transaction.execute_batch(&TABLES.concat())?;
        transaction.pragma_update(None, "user_version", LAYOUT_VERSION)?;
    } else if layout_version != LAYOUT_VERSION {
        return Err(StoreError::OtherLayout {
            file: transaction.path().unwrap_or_default().into(),
            data_layout: layout_version,
            supported_layout: LAYOUT_VERSION,
        });
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds a repository for a project, which can have only one.
    const INSERT: &str = "INSERT INTO repository VALUES (?, 'x', 'y', 'z')";

    /// Returns the first column of all rows.
    fn column(connection: &Connection, sql: &str) -> Vec<String> {
        let mut statement = connection.prepare(sql).unwrap();
        let data_layout = statement.query_map([], |row| row.get(0)).unwrap();
        data_layout.collect::<Result<_, _>>().unwrap()
    }

    fn setting(store: &Store, name: &str) -> String {
        let connection = store.connection.lock().unwrap();
        let value: rusqlite::types::Value = connection
            .pragma_query_value(None, name, |row| row.get(0))
            .unwrap();
        format!("{value:?}")
    }

    #[test]
    fn store_on_disk_writes_ahead_and_syncs() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(Some(&directory.path().join("new/data"))).unwrap();
        assert_eq!(setting(&store, "journal_mode"), r#"Text("wal")"#);
        assert_eq!(setting(&store, "synchronous"), "Integer(2)");
        assert_eq!(setting(&store, "foreign_keys"), "Integer(1)");
    }

    #[test]
    fn data_in_another_layout_is_left_alone() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(Some(directory.path())).unwrap();
        store
            .connection
            .lock()
            .unwrap()
            .pragma_update(None, "user_version", 99)
            .unwrap();
        drop(store);
        let error = Store::open(Some(directory.path())).unwrap_err();
        assert!(
            matches!(
                error,
                StoreError::OtherLayout {
                    data_layout: 99,
                    supported_layout: LAYOUT_VERSION,
                    ..
                }
            ),
            "{error}"
        );
    }

    #[test]
    fn store_that_is_opened_again_keeps_its_data() {
        let directory = tempfile::tempdir().unwrap();
        let store = Store::open(Some(directory.path())).unwrap();
        store.connection.lock().unwrap().execute(INSERT, ["p"]).unwrap();
        drop(store);
        let store = Store::open(Some(directory.path())).unwrap();
        let connection = store.connection.lock().unwrap();
        assert_eq!(column(&connection, "SELECT project FROM repository"), ["p"]);
    }

    #[tokio::test]
    async fn refused_change_leaves_nothing_in_store() {
        let store = Store::open(None).unwrap();
        let put = |refuse: bool| {
            store.try_change(move |transaction| {
                transaction.execute(INSERT, ["p"])?;
                Ok(if refuse { Err("no") } else { Ok(()) })
            })
        };
        let all = || {
            store.query(|connection| connection.query_row("SELECT count(*) FROM repository", [], read_count))
        };
        assert_eq!(put(true).await.unwrap(), Err("no"));
        assert_eq!(all().await.unwrap(), 0);
        assert_eq!(put(false).await.unwrap(), Ok(()));
        assert_eq!(all().await.unwrap(), 1);
    }
    #[tokio::test]
    async fn work_that_panics_leaves_nothing_behind_and_the_store_goes_on() {
        let store = Store::open(None).unwrap();
        let broken = store.change(|transaction| -> rusqlite::Result<()> {
            transaction.execute(INSERT, ["p"])?;
            panic!("a defect")
        });
        assert!(matches!(broken.await, Err(StoreError::Defect)));
        let put = |project| store.change(move |transaction| transaction.execute(INSERT, [project]));
        assert_eq!(put("q").await.unwrap(), 1);
        assert!(matches!(put("q").await, Err(StoreError::Database(_))));
        let projects = store.query(|connection| Ok(column(connection, "SELECT project FROM repository")));
        assert_eq!(projects.await.unwrap(), ["q"]);
    }

    #[tokio::test]
    async fn where_the_commit_fails_nobody_hears_of_a_success() {
        let store = Store::open(None).unwrap();
        let broken = store.change(|transaction| {
            transaction.pragma_update(None, "defer_foreign_keys", true)?;
            transaction.execute("INSERT INTO shared_pipeline VALUES (7, 0, 'x', 'y', NULL)", [])
        });
        let said = broken.await.unwrap_err().to_string();
        assert_eq!(said, "database: FOREIGN KEY constraint failed");
    }
}
