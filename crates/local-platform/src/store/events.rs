//! Audit events (API document, "Audit event record" and "Events").
//!
//! An event is recorded in the transaction of the change that it describes, so neither exists without the other.

use super::CachedStatements as _;
use super::read_count;
use crate::clock::Moment;
use crate::page::Page;
use crate::tokens::User;
use rusqlite::{Connection, Row, Transaction, named_params, params};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use utoipa::ToSchema;
use uuid::Uuid;

/// SQL that creates the tables. Events are never removed, so their numbers need no `AUTOINCREMENT`.
pub(crate) const TABLES: &str = "
    CREATE TABLE event (
        number INTEGER PRIMARY KEY,
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

/// The period for which events can be read, counted back from now.
pub(crate) const RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The value of `eventSource` for all changes made through the API.
const SOURCE: &str = "public-api";

/// The author and the time of a change.
#[derive(Debug, Clone)]
pub(crate) struct Author {
    /// The user to whom the token of the request belongs.
    pub user: Arc<User>,
    pub time: Moment,
}

/// The events in the API document's table that this service can cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    /// A version was published.
    ArtifactCreated,
    /// A version was disabled.
    ArtifactDisabled,
    /// A secret was stored.
    CredentialsCreated,
    /// A secret was replaced.
    CredentialsChanged,
    /// A project was created.
    ProjectCreated,
    /// An environment was created.
    EnvironmentCreated,
    /// A streaming pipeline was created.
    StreamingCreated,
    /// A streaming pipeline received the command to start.
    StreamingStarted,
    /// A streaming pipeline received the command to stop.
    StreamingStopped,
    /// An agent task received an instruction.
    PromptSubmitted,
    /// An agent was allowed to sample data.
    SamplingAccepted,
    /// An agent was allowed to run a pipeline.
    ExecutionAccepted,
    /// An agent was allowed to commit or push.
    GitActionAccepted,
}

impl EventKind {
    /// Returns the event's name in the API document's table and the type of its subject.
    const fn name_and_subject_type(self) -> (&'static str, &'static str) {
        match self {
            Self::ArtifactCreated => ("Artifact created", "ARTIFACT"),
            Self::ArtifactDisabled => ("Artifact disabled", "ARTIFACT"),
            Self::CredentialsCreated => ("Credentials created", "SECRET"),
            Self::CredentialsChanged => ("Credentials changed in project", "SECRET"),
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

/// An event to be recorded.
#[derive(Debug)]
pub(crate) struct NewEvent<'e> {
    pub kind: EventKind,
    /// The project of the event, or `None` if the event belongs to the account.
    pub project: Option<Uuid>,
    /// The ID of the subject.
    pub subject_id: String,
    /// The name of the subject.
    pub subject_name: &'e str,
    /// Further information; may be empty.
    pub information: String,
}

/// An event in a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AuditEvent {
    #[schema(format = "uuid")]
    event_id: String,
    /// The name of the event in the API document's table.
    event_name: String,
    /// The name in upper case, with underscores.
    event_type: String,
    /// A description of the event.
    event_description: String,
    /// Time of the event, in UTC; never earlier than that of the previously recorded event.
    #[schema(value_type = String, format = DateTime)]
    event_timestamp: Moment,
    /// The source of the change.
    event_source: &'static str,
    /// The project of the event; null if the event belongs to the account.
    #[schema(required, format = "uuid")]
    event_project_id: Option<String>,
    /// The ID of the subject.
    event_subject_id: String,
    /// The name of the subject.
    event_subject_name: String,
    /// The type of the subject.
    event_subject_type: String,
    /// The user to whom the token of the request belongs.
    #[schema(format = "uuid")]
    actor_id: String,
    /// The email address of that user.
    actor_email: String,
    /// Further information; may be empty.
    additional_info: String,
}

/// Inserts an event into the audit log. If the author's time is before the previous event, because the clock was set
/// back, the event gets the time of the previous event.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    author: &Author,
    event: &NewEvent<'_>,
) -> rusqlite::Result<()> {
    let (name, subject_type) = event.kind.name_and_subject_type();
    let event_type = name.to_uppercase().replace(' ', "_");
    let description = format!("{name}: {}", event.subject_name);
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
            event_type,
            description,
            author.time,
            event.project.map(|id| id.to_string()),
            event.subject_id,
            event.subject_name,
            subject_type,
            author.user.id.to_string(),
            author.user.email,
            event.information,
        ])?;
    Ok(())
}

/// Returns a page of the events from `first` to `last`, both included, in the order of recording, and the total number
/// of these events.
pub(crate) fn list_events(
    connection: &Connection,
    first: Moment,
    last: Option<Moment>,
    page: Page,
) -> rusqlite::Result<(Vec<AuditEvent>, u64)> {
    let condition = "FROM event WHERE at >= :from AND (:to IS NULL OR at <= :to)";
    let total = connection.query_row_cached(
        &format!("SELECT count(*) {condition}"),
        named_params! {":from": first, ":to": last},
        read_count,
    )?;
    let items = connection
        .prepare_cached(&format!(
            "SELECT id, name, type, description, at, project, subject_id, subject_name, subject_type, actor_id,
                 actor_email, information
             {condition} ORDER BY number LIMIT :size OFFSET :offset"
        ))?
        .query_map(
            named_params! {":from": first, ":to": last, ":size": page.size, ":offset": page.offset()},
            read_event,
        )?
        .collect::<Result<_, _>>()?;
    Ok((items, total))
}

/// Reads an event from a row of the query in [`list_events`].
fn read_event(row: &Row<'_>) -> rusqlite::Result<AuditEvent> {
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
