//! Projects created through the API (API document, "Project").

use super::CachedStatements as _;
use super::events::{self, Author, EventKind, NewEvent};
use super::read_count;
use rusqlite::{Connection, Row, Transaction, params};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

/// SQL that creates the tables.
pub(crate) const TABLES: &str = "
    CREATE TABLE project (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        name TEXT NOT NULL,
        description TEXT NOT NULL,
        warehouse TEXT NOT NULL,
        full_saas INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE repository (
        project TEXT PRIMARY KEY,
        provider TEXT NOT NULL,
        owner TEXT NOT NULL,
        name TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
";

/// A project in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct ProjectItem {
    #[schema(format = "uuid")]
    pub id: String,
    pub name: String,
    /// The project's description; may be empty.
    pub description: String,
}

/// A project to be created.
#[derive(Debug)]
pub(crate) struct ProjectRecord {
    pub id: Uuid,
    pub name: String,
    /// The project's description; may be empty.
    pub description: String,
    /// The warehouse kind, in upper case.
    pub warehouse: String,
    /// Whether the project's runner belongs to the platform.
    pub full_saas: bool,
}

/// Adds a project and records this in the audit log.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    project: &ProjectRecord,
    author: &Author,
) -> rusqlite::Result<()> {
    let ProjectRecord {
        id,
        name,
        description,
        warehouse,
        full_saas,
    } = project;
    transaction.execute_cached(
        "INSERT INTO project (id, name, description, warehouse, full_saas) VALUES (?, ?, ?, ?, ?)",
        params![id.to_string(), name, description, warehouse, full_saas],
    )?;
    let entry = NewEvent {
        kind: EventKind::ProjectCreated,
        project: Some(*id),
        subject_id: id.to_string(),
        subject_name: name,
        information: String::new(),
    };
    events::insert(transaction, author, &entry)
}

/// Returns whether there is a project with this ID.
pub(crate) fn exists(connection: &Connection, id: Uuid) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM project WHERE id = ?")?
        .exists([id.to_string()])
}

/// Returns whether the project has the full SaaS deployment type; false for a project from the command line, which has
/// no type.
pub(crate) fn is_full_saas(connection: &Connection, id: Uuid) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM project WHERE id = ? AND full_saas")?
        .exists([id.to_string()])
}

/// Returns the ID of the project with this name, if there is exactly one; names need not be unique.
pub(crate) fn find_id_by_name(connection: &Connection, name: &str) -> rusqlite::Result<Option<Uuid>> {
    let ids: Vec<String> = connection
        .prepare_cached("SELECT id FROM project WHERE name = ? LIMIT 2")?
        .query_map([name], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    Ok(match ids.as_slice() {
        [id] => Uuid::try_parse(id).ok(),
        _ => None,
    })
}

/// Returns up to `size` projects after the first `offset`, oldest first, and the total number of projects. Omits the
/// projects in `excluded_ids`, a list of IDs in JSON, which SQL can read from a single parameter.
pub(crate) fn list_projects(
    connection: &Connection,
    excluded_ids: &str,
    size: u32,
    offset: i64,
) -> rusqlite::Result<(Vec<ProjectItem>, u64)> {
    let condition = "FROM project WHERE id NOT IN (SELECT value FROM json_each(?1))";
    let total = connection.query_row_cached(
        &format!("SELECT count(*) {condition}"),
        [excluded_ids],
        read_count,
    )?;
    let items = connection
        .prepare_cached(&format!(
            "SELECT id, name, description {condition} ORDER BY number LIMIT ?2 OFFSET ?3"
        ))?
        .query_map(params![excluded_ids, size, offset], read_project_item)?
        .collect::<Result<_, _>>()?;
    Ok((items, total))
}

/// Reads an item of the project list from a row of the query in [`list_projects`].
fn read_project_item(row: &Row<'_>) -> rusqlite::Result<ProjectItem> {
    Ok(ProjectItem {
        id: row.get(0)?,
        name: row.get(1)?,
        description: row.get(2)?,
    })
}

/// The repository of a project.
#[derive(Debug)]
pub(crate) struct RepositoryRecord {
    pub provider: String,
    pub owner: String,
    pub name: String,
}

/// Records the repository of a project. Returns false without any change if the project already has one.
pub(crate) fn insert_repository(
    transaction: &Transaction<'_>,
    project: Uuid,
    repository: &RepositoryRecord,
) -> rusqlite::Result<bool> {
    let inserted_count = transaction.execute_cached(
        "INSERT INTO repository VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        params![
            project.to_string(),
            repository.provider,
            repository.owner,
            repository.name
        ],
    )?;
    Ok(inserted_count > 0)
}
