//! Executions of pipelines (API document, "Published pipeline and pipeline execution").
//!
//! How an execution ends, and when, is settled as it starts; what it is now follows from the time.

use super::Statements as _;
use crate::service::clock::Moment;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// The tables of this resource.
pub(crate) const TABLES: &str = "
    CREATE TABLE execution (
        id TEXT PRIMARY KEY,
        project TEXT NOT NULL,
        pipeline TEXT NOT NULL,
        environment TEXT NOT NULL,
        tag TEXT,
        started_at INTEGER NOT NULL,
        ends_at INTEGER NOT NULL,
        success INTEGER NOT NULL,
        message TEXT NOT NULL,
        cancelled_at INTEGER
    ) STRICT;
    CREATE INDEX execution_tag ON execution (project, tag, ends_at);
";

/// An execution that starts.
#[derive(Debug)]
pub(crate) struct ExecutionRecord {
    /// Its identifier.
    pub id: Uuid,
    /// The project of the pipeline.
    pub project: Uuid,
    /// The pipeline.
    pub pipeline: String,
    /// Where it runs.
    pub environment: String,
    /// The tag that it holds while it runs.
    pub tag: Option<String>,
    /// When it starts.
    pub started_at: Moment,
    /// When it will end.
    pub ends_at: Moment,
    /// Whether it will succeed.
    pub success: bool,
    /// How it will end, in words.
    pub message: String,
}

/// How an execution is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ExecutionStatus {
    /// It runs.
    Running,
    /// It ended well.
    Success,
    /// It ended badly.
    Failed,
    /// It was terminated.
    Cancelled,
}

/// An execution as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionResult {
    /// How it is.
    pub status: ExecutionStatus,
    /// How it is, in words.
    pub message: String,
    /// When it started, in UTC.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Moment,
    /// When it ended, in UTC; null while it runs.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub finished_at: Option<Moment>,
}

/// Adds an execution; false, and nothing is changed, if one with the same tag runs in the project.
pub(crate) fn insert(transaction: &Transaction<'_>, new: &ExecutionRecord) -> rusqlite::Result<bool> {
    let inserted = transaction.execute_cached(
        "INSERT INTO execution (id, project, pipeline, environment, tag, started_at, ends_at, success, message)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE NOT EXISTS (
             SELECT 1 FROM execution
             WHERE project = ?2 AND tag = ?5 AND ends_at > ?6 AND cancelled_at IS NULL
         )",
        params![
            new.id.to_string(),
            new.project.to_string(),
            new.pipeline,
            new.environment,
            new.tag,
            new.started_at,
            new.ends_at,
            new.success,
            new.message,
        ],
    )?;
    Ok(inserted > 0)
}

/// The execution of a project as it is now; none if there is no such execution.
pub(crate) fn find(
    connection: &Connection,
    project: Uuid,
    id: Uuid,
    now: Moment,
) -> rusqlite::Result<Option<ExecutionResult>> {
    connection
        .query_row_cached(
            "SELECT started_at, ends_at, success, message, cancelled_at FROM execution
             WHERE id = ? AND project = ?",
            params![id.to_string(), project.to_string()],
            |row| {
                let (started_at, ends_at): (Moment, Moment) = (row.get(0)?, row.get(1)?);
                let (success, message) = (row.get(2)?, row.get(3)?);
                let cancelled_at: Option<Moment> = row.get(4)?;
                let (status, message, finished_at) = match (cancelled_at, success) {
                    (Some(at), _) => (
                        ExecutionStatus::Cancelled,
                        "The execution was terminated".to_owned(),
                        Some(at),
                    ),
                    (None, _) if now < ends_at => {
                        (ExecutionStatus::Running, "The pipeline runs".to_owned(), None)
                    }
                    (None, true) => (ExecutionStatus::Success, message, Some(ends_at)),
                    (None, false) => (ExecutionStatus::Failed, message, Some(ends_at)),
                };
                Ok(ExecutionResult {
                    status,
                    message,
                    started_at,
                    finished_at,
                })
            },
        )
        .optional()
}

/// Terminates the execution of a project, if it runs; false if there is no such execution.
pub(crate) fn cancel(
    transaction: &Transaction<'_>,
    project: Uuid,
    id: Uuid,
    now: Moment,
) -> rusqlite::Result<bool> {
    let changed = transaction.execute_cached(
        "UPDATE execution SET cancelled_at = CASE WHEN ends_at > ?1 THEN coalesce(cancelled_at, ?1) ELSE cancelled_at END
         WHERE id = ?2 AND project = ?3",
        params![now, id.to_string(), project.to_string()],
    )?;
    Ok(changed > 0)
}
