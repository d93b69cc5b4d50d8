//! Default warehouse connections of projects (API document, "Default warehouse connection (request)").

use super::CachedStatements as _;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use uuid::Uuid;

/// SQL that creates the tables.
pub(crate) const TABLES: &str = "
    CREATE TABLE connection (
        project TEXT NOT NULL,
        name TEXT NOT NULL,
        provider TEXT NOT NULL,
        PRIMARY KEY (project, name)
    ) STRICT, WITHOUT ROWID;
";

/// Adds a connection. Returns false without any change if the project already has a connection with this name.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    project: Uuid,
    name: &str,
    provider: &str,
) -> rusqlite::Result<bool> {
    let inserted_count = transaction.execute_cached(
        "INSERT INTO connection VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        params![project.to_string(), name, provider],
    )?;
    Ok(inserted_count > 0)
}

/// Returns the warehouse kind (the `authProvider`) of a connection, in lower case. Returns `None` if the project has no
/// such connection.
pub(crate) fn find_warehouse_kind(
    connection: &Connection,
    project: Uuid,
    name: &str,
) -> rusqlite::Result<Option<String>> {
    connection
        .query_row_cached(
            "SELECT provider FROM connection WHERE project = ? AND name = ?",
            params![project.to_string(), name],
            |row| row.get(0),
        )
        .optional()
}
