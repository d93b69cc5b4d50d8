//! Secrets of runners (API document, "Secret (request and response)").
//!
//! The secret value is not stored: no operation reads it, so it cannot leak from here.

use super::CachedStatements as _;
use super::events::{self, Author, EventKind, NewEvent};
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use uuid::Uuid;

/// SQL that creates the tables.
pub(crate) const TABLES: &str = "
    CREATE TABLE secret (
        agent TEXT NOT NULL,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        key TEXT NOT NULL,
        PRIMARY KEY (agent, name)
    ) STRICT, WITHOUT ROWID;
";

/// Records in the store and in the audit log that the runner `agent` has a secret. Replaces a secret with the same
/// name. The secret's value is not stored.
pub(crate) fn insert_or_replace(
    transaction: &Transaction<'_>,
    agent: Uuid,
    [name, kind, key]: [&str; 3],
    author: &Author,
) -> rusqlite::Result<()> {
    let agent = agent.to_string();
    let is_replacement = transaction
        .query_row_cached(
            "SELECT 1 FROM secret WHERE agent = ? AND name = ?",
            params![agent, name],
            |_| Ok(()),
        )
        .optional()?
        .is_some();
    transaction.execute_cached(
        "INSERT OR REPLACE INTO secret VALUES (?, ?, ?, ?)",
        params![agent, name, kind, key],
    )?;
    let entry = NewEvent {
        kind: if is_replacement {
            EventKind::CredentialsChanged
        } else {
            EventKind::CredentialsCreated
        },
        project: find_runner_project(transaction, &agent)?,
        subject_id: format!("{agent}/{name}"),
        subject_name: name,
        information: format!("type {kind}"),
    };
    events::insert(transaction, author, &entry)
}

/// Returns whether environments use the runner `agent` by default and all of them belong to projects with the hybrid
/// deployment type, whose runners have no secrets on the platform.
pub(crate) fn is_hybrid_runner(connection: &Connection, agent: Uuid) -> rusqlite::Result<bool> {
    let full_saas = connection.query_row_cached(
        // A project from the command line has no type, so its environments are treated as full SaaS.
        "SELECT max(coalesce(full_saas, 1)) FROM environment
         LEFT JOIN project ON project.id = environment.project WHERE agent = ?",
        [agent.to_string()],
        |row| row.get::<_, Option<bool>>(0),
    )?;
    Ok(full_saas == Some(false))
}

/// Returns the project whose environments use the runner `agent` by default, if there is exactly one. The event about a
/// secret of the runner belongs to this project.
fn find_runner_project(transaction: &Transaction<'_>, agent: &str) -> rusqlite::Result<Option<Uuid>> {
    let id: Option<String> = transaction
        .query_row_cached(
            "SELECT min(project) FROM environment WHERE agent = ? HAVING count(DISTINCT project) = 1",
            [agent],
            |row| row.get(0),
        )
        .optional()?
        .flatten();
    Ok(id.and_then(|id| Uuid::try_parse(&id).ok()))
}
