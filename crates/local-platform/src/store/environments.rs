//! Environments of projects (API document, "Environment").

use super::CachedStatements as _;
use super::events::{self, Author, EventKind, NewEvent};
use super::read_count;
use crate::page::Page;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// SQL that creates the tables.
pub(crate) const TABLES: &str = "
    CREATE TABLE environment (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        project TEXT NOT NULL,
        name TEXT NOT NULL,
        agent TEXT NOT NULL,
        access_level TEXT NOT NULL,
        definition TEXT NOT NULL,
        UNIQUE (project, name)
    ) STRICT;
    CREATE INDEX environment_agent ON environment (agent);
";

/// An environment in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EnvironmentItem {
    /// The name that other requests use to refer to the environment.
    name: String,
    /// The ID of the default runner.
    #[schema(format = "uuid")]
    default_agent_id: String,
    /// The name of the default runner, derived from the runner's ID.
    default_agent_name: String,
}

/// An environment to be created.
#[derive(Debug)]
pub(crate) struct EnvironmentRecord {
    pub project: Uuid,
    /// The name that other requests use to refer to the environment.
    pub name: String,
    /// The ID of the default runner.
    pub agent: Uuid,
    /// The access level of users added to the project.
    pub access_level: String,
    /// The complete request as JSON.
    pub definition: String,
}

/// Adds an environment and records this in the audit log. Returns false without any change if the project already has
/// an environment with this name.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    environment: &EnvironmentRecord,
    author: &Author,
) -> rusqlite::Result<bool> {
    let EnvironmentRecord {
        project,
        name,
        agent,
        access_level,
        definition,
    } = environment;
    let inserted_count = transaction.execute_cached(
        "INSERT INTO environment (project, name, agent, access_level, definition) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (project, name) DO NOTHING",
        params![
            project.to_string(),
            name,
            agent.to_string(),
            access_level,
            definition
        ],
    )?;
    if inserted_count == 0 {
        return Ok(false);
    }
    let event = NewEvent {
        kind: EventKind::EnvironmentCreated,
        project: Some(*project),
        subject_id: name.clone(),
        subject_name: name,
        information: String::new(),
    };
    events::insert(transaction, author, &event)?;
    Ok(true)
}

/// Returns the default access level of an environment's users, or `None` if the project has no such environment.
pub(crate) fn find_access_level(
    connection: &Connection,
    project: Uuid,
    name: &str,
) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT access_level FROM environment WHERE project = ? AND name = ?")?
        .query_row(params![project.to_string(), name], |row| row.get(0))
        .optional()
}

/// Returns a page of a project's environments, oldest first, and the total number of its environments. The name of each
/// default runner is derived from the runner's ID, because the store contains no names of runners.
pub(crate) fn list_environments(
    connection: &Connection,
    project: Uuid,
    page: Page,
) -> rusqlite::Result<(Vec<EnvironmentItem>, u64)> {
    let project = project.to_string();
    let total = connection.query_row_cached(
        "SELECT count(*) FROM environment WHERE project = ?",
        [&project],
        read_count,
    )?;
    let items = connection
        .prepare_cached(
            "SELECT name, agent FROM environment WHERE project = ? ORDER BY number LIMIT ? OFFSET ?",
        )?
        .query_map(params![project, page.size, page.offset()], |row| {
            let agent: String = row.get(1)?;
            Ok(EnvironmentItem {
                name: row.get(0)?,
                default_agent_name: format!("agent-{}", agent.split('-').next().unwrap_or_default()),
                default_agent_id: agent,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok((items, total))
}
