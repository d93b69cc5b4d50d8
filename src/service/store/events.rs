//! Audit events (API document, "Audit event record" and "Events").
//!
//! An event is recorded in the transaction of the change that it tells of, so there is never one without the other.

use super::Statements as _;
use super::count;
use crate::service::clock::Moment;
use crate::service::page::Page;
use crate::service::tokens::User;
use rusqlite::{Connection, Row, Transaction, named_params, params};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;

/// The tables of this resource.
pub(crate) const TABLES: &str = "
    CREATE TABLE event (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        name TEXT NOT NULL,
        type TEXT NOT NULL,
        description TEXT NOT NULL,
        at INTEGER NOT NULL,
        project TEXT,
        subject_id TEXT NOT NULL,
        subject_name TEXT NOT NULL,
        subject_type TEXT NOT NULL,
        actor_id TEXT NOT NULL,
        actor_email TEXT NOT NULL,
        information TEXT NOT NULL
    ) STRICT;
    CREATE INDEX event_at ON event (at);
";

/// How long events can be read.
pub(crate) const WINDOW: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// What `eventSource` says of everything that was done through the API.
const SOURCE: &str = "public-api";

/// Who did something, and when.
#[derive(Debug, Clone)]
pub(crate) struct Author {
    /// The user of the token.
    pub user: Arc<User>,
    /// When.
    pub at: Moment,
}

/// The events of the API document's table that this service can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A version was published.
    ArtifactCreated,
    /// A version was disabled.
    ArtifactDisabled,
    /// A secret was stored.
    CredentialsCreated,
    /// A project was made.
    ProjectCreated,
    /// An environment was made.
    EnvironmentCreated,
    /// A streaming pipeline was made.
    StreamingCreated,
    /// A streaming pipeline was told to start.
    StreamingStarted,
    /// A streaming pipeline was told to stop.
    StreamingStopped,
    /// An agent task got an instruction.
    PromptSubmitted,
    /// An agent may sample data.
    SamplingAccepted,
    /// An agent may run a pipeline.
    ExecutionAccepted,
    /// An agent may commit or push.
    GitActionAccepted,
}

impl Kind {
    /// The name as the table has it, and the type of its subject.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::ArtifactCreated => ("Artifact created", "ARTIFACT"),
            Self::ArtifactDisabled => ("Artifact disabled", "ARTIFACT"),
            Self::CredentialsCreated => ("Credentials created", "SECRET"),
            Self::ProjectCreated => ("Project created", "PROJECT"),
            Self::EnvironmentCreated => ("Environment created", "ENVIRONMENT"),
            Self::StreamingCreated => ("Streaming pipeline created", "STREAMING_PIPELINE"),
            Self::StreamingStarted => ("Streaming pipeline started", "STREAMING_PIPELINE"),
            Self::StreamingStopped => ("Streaming pipeline stopped", "STREAMING_PIPELINE"),
            Self::PromptSubmitted => ("Prompt submitted", "AGENT_TASK"),
            Self::SamplingAccepted => ("Sampling permission acceptance", "AGENT_TASK"),
            Self::ExecutionAccepted => ("Pipeline execution permission acceptance", "AGENT_TASK"),
            Self::GitActionAccepted => ("Git action permission acceptance", "AGENT_TASK"),
        }
    }
}

/// What is to be recorded.
#[derive(Debug)]
pub(crate) struct Entry<'e> {
    /// What happened.
    pub kind: Kind,
    /// The project that it happened in.
    pub project: Option<Uuid>,
    /// The identifier of what it happened to.
    pub subject_id: String,
    /// Its name.
    pub subject_name: &'e str,
    /// More about it; may be empty.
    pub information: String,
}

/// An event as it is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditEvent {
    /// Its identifier.
    #[schema(format = "uuid")]
    event_id: String,
    /// Its name in the API document's table.
    event_name: String,
    /// The name in upper case, with underscores.
    event_type: String,
    /// What happened, in words.
    event_description: String,
    /// When, in UTC; never before the event that was recorded before it.
    #[schema(value_type = String, format = DateTime)]
    event_timestamp: Moment,
    /// Through what it was done.
    event_source: &'static str,
    /// The project that it happened in; null for what belongs to the account.
    #[schema(required, format = "uuid")]
    event_project_id: Option<String>,
    /// The identifier of what it happened to.
    event_subject_id: String,
    /// The name of what it happened to.
    event_subject_name: String,
    /// What it happened to.
    event_subject_type: String,
    /// The user of the token.
    #[schema(format = "uuid")]
    actor_id: String,
    /// The address of that user.
    actor_email: String,
    /// More about it; may be empty.
    additional_info: String,
}

/// Records an event.
pub(crate) fn record(
    transaction: &Transaction<'_>,
    author: &Author,
    entry: &Entry<'_>,
) -> rusqlite::Result<()> {
    let (name, subject_type) = entry.kind.words();
    transaction
        .prepare_cached(
            "INSERT INTO event (id, name, type, description, at, project, subject_id, subject_name, subject_type,
                 actor_id, actor_email, information)
             VALUES (?1, ?2, ?3, ?4, max(?5, coalesce((SELECT at FROM event ORDER BY number DESC LIMIT 1), ?5)),
                 ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            Uuid::new_v4().to_string(),
            name,
            name.to_uppercase().replace(' ', "_"),
            format!("{name}: {}", entry.subject_name),
            author.at,
            entry.project.map(|id| id.to_string()),
            entry.subject_id,
            entry.subject_name,
            subject_type,
            author.user.id.to_string(),
            author.user.email,
            entry.information,
        ])?;
    Ok(())
}

/// A page of the events from one time to another, both included, in their order, and how many there are.
pub(crate) fn list(
    connection: &Connection,
    from: Moment,
    to: Option<Moment>,
    page: Page,
) -> rusqlite::Result<(Vec<AuditEvent>, u64)> {
    let chosen = "FROM event WHERE at >= :from AND (:to IS NULL OR at <= :to)";
    let total = connection.query_row_cached(
        &format!("SELECT count(*) {chosen}"),
        named_params! {":from": from, ":to": to},
        count,
    )?;
    let items = connection
        .prepare_cached(&format!(
            "SELECT id, name, type, description, at, project, subject_id, subject_name, subject_type, actor_id,
                 actor_email, information
             {chosen} ORDER BY number LIMIT :size OFFSET :offset"
        ))?
        .query_map(
            named_params! {":from": from, ":to": to, ":size": page.size, ":offset": page.offset()},
            event,
        )?
        .collect::<Result<_, _>>()?;
    Ok((items, total))
}

fn event(row: &Row<'_>) -> rusqlite::Result<AuditEvent> {
    Ok(AuditEvent {
        event_id: row.get(0)?,
        event_name: row.get(1)?,
        event_type: row.get(2)?,
        event_description: row.get(3)?,
        event_timestamp: row.get(4)?,
        event_source: SOURCE,
        event_project_id: row.get(5)?,
        event_subject_id: row.get(6)?,
        event_subject_name: row.get(7)?,
        event_subject_type: row.get(8)?,
        actor_id: row.get(9)?,
        actor_email: row.get(10)?,
        additional_info: row.get(11)?,
    })
}
