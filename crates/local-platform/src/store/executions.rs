//! Executions of pipelines (API document, "Published pipeline and pipeline execution").
//!
//! The outcome and the end time of an execution are determined when it starts; its current state follows from the time.

use super::CachedStatements as _;
use crate::clock::Moment;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// SQL that creates the tables.
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

/// An execution to be started.
#[derive(Debug)]
pub(crate) struct ExecutionRecord {
    pub id: Uuid,
    /// The project of the pipeline.
    pub project: Uuid,
    pub pipeline: String,
    /// The environment that the pipeline runs in.
    pub environment: String,
    /// A tag that no other running execution of the project can have.
    pub tag: Option<String>,
    /// Start time.
    pub started_at: Moment,
    /// Time at which the execution will end.
    pub ends_at: Moment,
    /// Whether the execution will succeed.
    pub success: bool,
    /// The message about the outcome.
    pub message: String,
}

/// The status of an execution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum ExecutionStatus {
    /// The pipeline is running.
    Running,
    /// The execution succeeded.
    Success,
    /// The execution failed.
    Failed,
    /// The execution was terminated.
    Cancelled,
}

/// The state of an execution in a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExecutionResult {
    /// The current status.
    pub status: ExecutionStatus,
    /// The message about the status.
    pub message: String,
    /// Start time, in UTC.
    #[schema(value_type = String, format = DateTime)]
    pub started_at: Moment,
    /// End time, in UTC; null while the pipeline is running.
    #[schema(value_type = Option<String>, required, format = DateTime)]
    pub finished_at: Option<Moment>,
}

/// Adds an execution. Returns false without any change if an execution with the same tag is running in the project. An
/// execution without a tag is always added.
pub(crate) fn insert(transaction: &Transaction<'_>, execution: &ExecutionRecord) -> rusqlite::Result<bool> {
    let inserted_count = transaction.execute_cached(
        "INSERT INTO execution (id, project, pipeline, environment, tag, started_at, ends_at, success, message)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE NOT EXISTS (
             SELECT 1 FROM execution
             WHERE project = ?2 AND tag = ?5 AND ends_at > ?6 AND cancelled_at IS NULL
         )",
        params![
            execution.id.to_string(),
            execution.project.to_string(),
            execution.pipeline,
            execution.environment,
            execution.tag,
            execution.started_at,
            execution.ends_at,
            execution.success,
            execution.message,
        ],
    )?;
    Ok(inserted_count > 0)
}

/// Returns the current state of an execution, or `None` if the project has no such execution.
pub(crate) fn find_execution(
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
                // The simulated outcome, which is stored from the start but returned only after `ends_at`.
                let (success, message) = (row.get(2)?, row.get(3)?);
                let cancelled_at: Option<Moment> = row.get(4)?;
                let (status, message, finished_at) = match (cancelled_at, success) {
                    (Some(cancelled_at), _) => (
                        ExecutionStatus::Cancelled,
                        "The execution was terminated".to_owned(),
                        Some(cancelled_at),
                    ),
                    (None, _) if now < ends_at => (
                        ExecutionStatus::Running,
                        "The pipeline is running".to_owned(),
                        None,
                    ),
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

/// Terminates an execution if it is still running. An execution that has ended or was terminated before stays
/// unchanged. Returns false if the project has no such execution.
pub(crate) fn terminate(
    transaction: &Transaction<'_>,
    project: Uuid,
    id: Uuid,
    now: Moment,
) -> rusqlite::Result<bool> {
    let changed_count = transaction.execute_cached(
        "UPDATE execution SET cancelled_at = CASE WHEN ends_at > ?1 THEN coalesce(cancelled_at, ?1) ELSE cancelled_at END
         WHERE id = ?2 AND project = ?3",
        params![now, id.to_string(), project.to_string()],
    )?;
    Ok(changed_count > 0)
}
