//! Agent tasks (API document, "Agent task").
//!
//! A task is stored in the state of its last change by a caller. The effects of time since then are computed when the
//! task is read, and stored with the next change.

use super::CachedStatements as _;
use crate::agent::{AgentTask, Message};
use crate::clock::Moment;
use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

/// SQL that creates the tables.
pub(crate) const TABLES: &str = "
    CREATE TABLE task (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        project TEXT NOT NULL,
        branch TEXT NOT NULL,
        description TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        state TEXT NOT NULL
    ) STRICT;
    CREATE TABLE task_message (
        task INTEGER NOT NULL REFERENCES task (number) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        at INTEGER NOT NULL,
        turn TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (task, position)
    ) STRICT, WITHOUT ROWID;
";

/// A stored task.
#[derive(Debug)]
pub(crate) struct StoredTask {
    number: i64,
    pub id: Uuid,
    pub project: Uuid,
    /// The ID of the task's branch.
    pub branch: Uuid,
    pub description: String,
    pub created_at: Moment,
    pub task: AgentTask,
}

#[derive(Debug)]
pub(crate) struct TaskRecord {
    pub id: Uuid,
    pub project: Uuid,
    pub description: String,
    pub created_at: Moment,
    pub task: AgentTask,
}

/// The columns that [`read_task`] reads, in its order.
const COLUMNS: &str = "number, id, project, branch, description, created_at, state";

/// Adds a task with its first messages. Each task works on its own branch, so the ID of the branch is new and random.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    task: &TaskRecord,
    messages: &[Message],
) -> rusqlite::Result<()> {
    transaction.execute_cached(
        "INSERT INTO task (id, project, branch, description, created_at, state) VALUES (?, ?, ?, ?, ?, ?)",
        params![
            task.id.to_string(),
            task.project.to_string(),
            Uuid::new_v4().to_string(),
            task.description,
            task.created_at,
            serialize_task(&task.task)?,
        ],
    )?;
    append_messages(transaction, transaction.last_insert_rowid(), messages)
}

/// Serializes the state of a task as JSON for its database column.
fn serialize_task(task: &AgentTask) -> rusqlite::Result<String> {
    serde_json::to_string(task).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// Stores the state of a task and the messages since it was last stored.
pub(crate) fn update(
    transaction: &Transaction<'_>,
    stored_task: &StoredTask,
    messages: &[Message],
) -> rusqlite::Result<()> {
    transaction.execute_cached(
        "UPDATE task SET state = ? WHERE number = ?",
        params![serialize_task(&stored_task.task)?, stored_task.number],
    )?;
    append_messages(transaction, stored_task.number, messages)
}

/// Adds messages to the history of a task. Positions are counted from 0, so the position of a new message is the number
/// of messages before it.
fn append_messages(
    transaction: &Transaction<'_>,
    task_number: i64,
    messages: &[Message],
) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached(
        "INSERT INTO task_message
         SELECT ?1, count(*), ?2, ?3, ?4 FROM task_message WHERE task = ?1",
    )?;
    for message in messages {
        insert.execute(params![
            task_number,
            message.timestamp,
            message.group_id,
            message.data.to_string()
        ])?;
    }
    Ok(())
}

/// Returns the task with this ID, or `None` if there is no such task. Its state is the stored one, which the caller
/// must advance to the current time.
pub(crate) fn find_task(connection: &Connection, id: Uuid) -> rusqlite::Result<Option<StoredTask>> {
    connection
        .query_row_cached(
            &format!("SELECT {COLUMNS} FROM task WHERE id = ?"),
            [id.to_string()],
            read_task,
        )
        .optional()
}

/// Returns all tasks, newest first, optionally only those of one project or branch. Their state is the stored one,
/// which the caller must advance to the current time.
pub(crate) fn list_tasks(
    connection: &Connection,
    project: Option<Uuid>,
    branch: Option<Uuid>,
) -> rusqlite::Result<Vec<StoredTask>> {
    let project_id = project.map(|id| id.to_string());
    let branch_id = branch.map(|id| id.to_string());
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM task WHERE (?1 IS NULL OR project = ?1) AND (?2 IS NULL OR branch = ?2)
             ORDER BY number DESC"
        ))?
        .query_map(params![project_id, branch_id], read_task)?
        .collect()
}

/// Reads a task from a row with the columns in [`COLUMNS`].
fn read_task(row: &Row<'_>) -> rusqlite::Result<StoredTask> {
    Ok(StoredTask {
        number: row.get(0)?,
        id: read_id(row, 1)?,
        project: read_id(row, 2)?,
        branch: read_id(row, 3)?,
        description: row.get(4)?,
        created_at: row.get(5)?,
        task: parse_column(row, 6)?,
    })
}

/// Reads the UUID in a text column of the row.
fn read_id(row: &Row<'_>, column: usize) -> rusqlite::Result<Uuid> {
    let text: String = row.get(column)?;
    Uuid::try_parse(&text).map_err(|error| column_error(column, error))
}

/// Parses the JSON in a text column of the row.
fn parse_column<T: for<'de> Deserialize<'de>>(row: &Row<'_>, column: usize) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    serde_json::from_str(&text).map_err(|error| column_error(column, error))
}

/// Creates the error for a text column whose value cannot be parsed.
fn column_error(column: usize, error: impl std::error::Error + Send + Sync + 'static) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}

/// Returns up to `limit` stored messages of a task, beginning with position `from`, and the total number of its stored
/// messages.
pub(crate) fn list_messages(
    connection: &Connection,
    stored_task: &StoredTask,
    from: u32,
    limit: u32,
) -> rusqlite::Result<(Vec<Message>, u32)> {
    let total = connection.query_row_cached(
        "SELECT count(*) FROM task_message WHERE task = ?",
        [stored_task.number],
        |row| row.get(0),
    )?;
    let messages = connection
        .prepare_cached(
            "SELECT data, turn, at FROM task_message WHERE task = ? AND position >= ?
             ORDER BY position LIMIT ?",
        )?
        .query_map(params![stored_task.number, from, limit], |row| {
            Ok(Message {
                data: parse_column::<Value>(row, 0)?,
                group_id: row.get(1)?,
                timestamp: row.get(2)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok((messages, total))
}

/// Removes a task. The database then removes the task's messages, too (`ON DELETE CASCADE`).
pub(crate) fn remove(transaction: &Transaction<'_>, stored_task: &StoredTask) -> rusqlite::Result<()> {
    transaction.execute_cached("DELETE FROM task WHERE number = ?", [stored_task.number])?;
    Ok(())
}
