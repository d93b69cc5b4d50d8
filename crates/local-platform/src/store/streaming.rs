//! Streaming pipelines (API document, "Streaming pipeline").
//!
//! Only the start and stop times of a pipeline are stored; its status follows from the time.

use super::CachedStatements as _;
use super::events::{self, Author, EventKind, NewEvent};
use crate::clock::Moment;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;

/// SQL that creates the tables.
pub(crate) const TABLES: &str = "
    CREATE TABLE streaming_pipeline (
        id TEXT PRIMARY KEY,
        project TEXT NOT NULL,
        name TEXT NOT NULL,
        definition TEXT NOT NULL,
        started_at INTEGER,
        stopped_at INTEGER
    ) STRICT;
";

/// Time that a pipeline needs to start, and to stop.
const STARTING_TIME: Duration = Duration::from_secs(2);
const STOPPING_TIME: Duration = Duration::from_secs(1);

/// The status of a streaming pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = StreamingStatus)]
pub(crate) enum StreamingState {
    /// The pipeline received the command to start.
    Starting,
    /// The pipeline is capturing changes.
    Streaming,
    /// The pipeline received the command to stop.
    Stopping,
    /// The pipeline is not running.
    NotRunning,
}

/// A command to a streaming pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamingCommand {
    /// Start the pipeline; a running one continues.
    Start,
    /// Stop the pipeline; has no effect if it is not running.
    Stop,
}

/// A streaming pipeline to be created.
#[derive(Debug)]
pub(crate) struct NewPipeline {
    pub id: Uuid,
    pub project: Uuid,
    pub name: String,
    /// The complete definition as JSON, with the ID.
    pub definition: String,
}

/// Adds a streaming pipeline, which is not running yet, and records this in the audit log.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    pipeline: &NewPipeline,
    author: &Author,
) -> rusqlite::Result<()> {
    transaction.execute_cached(
        "INSERT INTO streaming_pipeline (id, project, name, definition) VALUES (?, ?, ?, ?)",
        params![
            pipeline.id.to_string(),
            pipeline.project.to_string(),
            pipeline.name,
            pipeline.definition
        ],
    )?;
    record_event(
        transaction,
        author,
        EventKind::StreamingCreated,
        pipeline.project,
        pipeline.id,
        &pipeline.name,
    )
}

/// Adds an event about a streaming pipeline to the audit log.
fn record_event(
    transaction: &Transaction<'_>,
    author: &Author,
    kind: EventKind,
    project: Uuid,
    id: Uuid,
    name: &str,
) -> rusqlite::Result<()> {
    let entry = NewEvent {
        kind,
        project: Some(project),
        subject_id: id.to_string(),
        subject_name: name,
        information: String::new(),
    };
    events::insert(transaction, author, &entry)
}

/// Returns the definition of a project's streaming pipeline as JSON, or `None` if the project has no such pipeline.
pub(crate) fn find_definition(
    connection: &Connection,
    project: Uuid,
    id: Uuid,
) -> rusqlite::Result<Option<String>> {
    connection
        .query_row_cached(
            "SELECT definition FROM streaming_pipeline WHERE id = ? AND project = ?",
            params![id.to_string(), project.to_string()],
            |row| row.get(0),
        )
        .optional()
}

/// Returns the current status of a streaming pipeline, or `None` if the project has no such pipeline.
pub(crate) fn find_status(
    connection: &Connection,
    project: Uuid,
    id: Uuid,
    now: Moment,
) -> rusqlite::Result<Option<StreamingState>> {
    connection
        .query_row_cached(
            "SELECT started_at, stopped_at FROM streaming_pipeline WHERE id = ? AND project = ?",
            params![id.to_string(), project.to_string()],
            |row| Ok(state_at(row.get(0)?, row.get(1)?, now)),
        )
        .optional()
}

/// Returns the state at the time `now` of a streaming pipeline that was last started and stopped at these times.
/// Starting and stopping take a while.
fn state_at(started_at: Option<Moment>, stopped_at: Option<Moment>, now: Moment) -> StreamingState {
    match (started_at, stopped_at) {
        (Some(started_at), None) if now < started_at + STARTING_TIME => StreamingState::Starting,
        (Some(_), None) => StreamingState::Streaming,
        (_, Some(stopped_at)) if now < stopped_at + STOPPING_TIME => StreamingState::Stopping,
        _ => StreamingState::NotRunning,
    }
}

/// Starts or stops a streaming pipeline and records the command in the audit log. A command to a pipeline that is
/// already running or already stopped has no effect, but is recorded. Returns false if the project has no such
/// pipeline.
pub(crate) fn apply_command(
    transaction: &Transaction<'_>,
    project: Uuid,
    id: Uuid,
    command: StreamingCommand,
    author: &Author,
) -> rusqlite::Result<bool> {
    // A pipeline is running if it has a start time and no stop time.
    let (change, kind) = match command {
        StreamingCommand::Start => (
            "started_at = CASE WHEN started_at IS NULL OR stopped_at IS NOT NULL THEN ?1 ELSE started_at END,
             stopped_at = NULL",
            EventKind::StreamingStarted,
        ),
        StreamingCommand::Stop => (
            "stopped_at = CASE WHEN started_at IS NULL THEN NULL ELSE coalesce(stopped_at, ?1) END",
            EventKind::StreamingStopped,
        ),
    };
    let name: Option<String> = transaction
        .query_row_cached(
            &format!("UPDATE streaming_pipeline SET {change} WHERE id = ?2 AND project = ?3 RETURNING name"),
            params![author.time, id.to_string(), project.to_string()],
            |row| row.get(0),
        )
        .optional()?;
    let Some(name) = name else {
        return Ok(false);
    };
    record_event(transaction, author, kind, project, id, &name)?;
    Ok(true)
}

/// Restarts the pipelines that were running when the service stopped. Their start time becomes `now`, so that they are
/// `Starting` for a while, as after a command to start.
pub(crate) fn restart_running(transaction: &Transaction<'_>, now: Moment) -> rusqlite::Result<()> {
    transaction.execute_cached(
        "UPDATE streaming_pipeline SET started_at = ? WHERE started_at IS NOT NULL AND stopped_at IS NULL",
        [now],
    )?;
    Ok(())
}
