//! Shared pipeline artifacts: versions, their files and their shared pipelines (API document, "Shared pipeline
//! artifact").
//!
//! Versions are numbered in the order of publishing. `[Latest]` of a prefix is the enabled version with the highest
//! number, regardless of when it was enabled.

use super::CachedStatements as _;
use super::events::{self, Author, EventKind, NewEvent};
use super::{projects, read_count};
use crate::page::Page;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, named_params, params};
use serde::Serialize;
use std::fmt::Write as _;
use utoipa::ToSchema;
use uuid::Uuid;

/// SQL that creates the tables.
///
/// Versions are never removed, so their numbers are consecutive even without `AUTOINCREMENT`, for which SQLite keeps
/// the last number on a separate page. The files of a version are one value, because no request reads a single file.
/// The primary key of shared pipelines is the ID that they are looked up by, so a second index is not necessary.
pub(crate) const TABLES: &str = "
    CREATE TABLE artifact (
        number INTEGER PRIMARY KEY,
        prefix TEXT NOT NULL,
        version_name TEXT NOT NULL,
        enabled INTEGER NOT NULL,
        commit_hash TEXT,
        branch TEXT,
        created_at TEXT NOT NULL,
        provider TEXT NOT NULL,
        configuration BLOB NOT NULL,
        files BLOB NOT NULL,
        UNIQUE (prefix, version_name)
    ) STRICT;
    CREATE TABLE shared_pipeline (
        artifact INTEGER NOT NULL REFERENCES artifact (number),
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        source TEXT NOT NULL,
        description TEXT,
        PRIMARY KEY (artifact, id)
    ) STRICT, WITHOUT ROWID;
";

/// One version of an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Artifact)]
pub(crate) struct StoredArtifact {
    /// The prefix that groups the version's shared pipelines.
    pub shared_pipeline_id_prefix: String,
    /// The name of the version, which never changes.
    pub version_name: String,
    /// Whether consumers can select the version.
    pub enabled: bool,
    /// Time of publication, in UTC.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// The source of the version.
    pub provider: String,
    /// The hash of the published commit, if the request named it.
    #[schema(required)]
    pub commit_hash: Option<String>,
    /// The branch of the published commit, if the request named the branch.
    #[schema(required)]
    pub branch: Option<String>,
}

/// A shared pipeline of one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SharedPipeline)]
pub(crate) struct StoredSharedPipeline {
    /// The ID of the shared pipeline.
    #[serde(rename = "sharedPipelineId")]
    pub id: String,
    /// The path of the pipeline without its extension.
    pub source_pipeline: String,
    /// The pipeline's description in the shared-pipelines file.
    #[schema(required)]
    pub description: Option<String>,
}

/// A shared pipeline across its versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SharedPipelineItem {
    /// The prefix that the pipeline belongs to.
    pub shared_pipeline_id_prefix: String,
    /// The ID of the shared pipeline.
    pub shared_pipeline_id: String,
    /// The pipeline's description in the latest version.
    #[schema(required)]
    pub description: Option<String>,
    /// The last published enabled version that contains the pipeline; null if there is none.
    #[schema(required)]
    pub latest_version_name: Option<String>,
}

/// The record of a published file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredFile {
    pub path: String,
    /// Size in bytes.
    pub size: u64,
    pub sha256: [u8; 32],
}

/// The contents of a version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArtifactContents {
    /// The shared-pipelines file, byte for byte.
    pub configuration: Vec<u8>,
    /// All accepted files.
    pub files: Vec<StoredFile>,
    /// The shared pipelines, in the order of the shared-pipelines file.
    pub pipelines: Vec<StoredSharedPipeline>,
}

/// The versions to list.
#[derive(Debug, Default)]
pub(crate) struct ArtifactFilter {
    pub prefix: Option<String>,
    pub version_name: Option<String>,
    /// Whether to list only enabled or only disabled versions.
    pub enabled: Option<bool>,
}

/// The columns that [`read_artifact`] reads, in its order.
const COLUMNS: &str = "prefix, version_name, enabled, created_at, provider, commit_hash, branch";

/// Adds a version and records an event about it; for `project`, see [`record_event`]. Returns false without any change
/// if the prefix already has a version with this name.
pub(crate) fn insert(
    transaction: &Transaction<'_>,
    artifact: &StoredArtifact,
    contents: &ArtifactContents,
    author: &Author,
    project: Option<Uuid>,
) -> rusqlite::Result<bool> {
    let inserted_count = transaction.execute_cached(
        &format!(
            "INSERT INTO artifact ({COLUMNS}, configuration, files) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
             ON CONFLICT (prefix, version_name) DO NOTHING"
        ),
        params![
            artifact.shared_pipeline_id_prefix,
            artifact.version_name,
            artifact.enabled,
            artifact.created_at,
            artifact.provider,
            artifact.commit_hash,
            artifact.branch,
            contents.configuration,
            encode_files(&contents.files),
        ],
    )?;
    if inserted_count == 0 {
        return Ok(false);
    }
    insert_pipelines(transaction, transaction.last_insert_rowid(), &contents.pipelines)?;
    record_event(transaction, EventKind::ArtifactCreated, artifact, author, project)?;
    Ok(true)
}

/// Records an event about a version in the audit log. Without `project`, the event belongs to the project whose name is
/// the prefix, if there is exactly one. The platform's design tool publishes with the project's name as the prefix.
fn record_event(
    transaction: &Transaction<'_>,
    kind: EventKind,
    artifact: &StoredArtifact,
    author: &Author,
    project: Option<Uuid>,
) -> rusqlite::Result<()> {
    let StoredArtifact {
        shared_pipeline_id_prefix: prefix,
        version_name,
        ..
    } = artifact;
    let entry = NewEvent {
        kind,
        project: match project {
            None => projects::find_id_by_name(transaction, prefix)?,
            Some(project) => Some(project),
        },
        subject_id: format!("{prefix}/{version_name}"),
        subject_name: version_name,
        information: format!("prefix {prefix}"),
    };
    events::insert(transaction, author, &entry)
}

/// Encodes the hash, the size and the path of each file as text. A NUL, which a path cannot contain, ends each entry.
pub(super) fn encode_files(files: &[StoredFile]) -> Vec<u8> {
    let mut list = String::new();
    for StoredFile { path, size, sha256 } in files {
        // The 32 bytes are written in two halves, because an integer has at most 16. Writing to a string cannot fail.
        let (halves, _) = sha256.as_chunks::<16>();
        for half in halves {
            let _ = write!(list, "{:032x}", u128::from_be_bytes(*half));
        }
        let _ = write!(list, " {size} {path}\0");
    }
    list.into_bytes()
}

/// Inserts the shared pipelines of an artifact, each with its position, so that their order is kept.
fn insert_pipelines(
    transaction: &Transaction<'_>,
    artifact_number: i64,
    pipelines: &[StoredSharedPipeline],
) -> rusqlite::Result<()> {
    let mut insertion = transaction.prepare_cached("INSERT INTO shared_pipeline VALUES (?, ?, ?, ?, ?)")?;
    for (position, pipeline) in (0_u32..).zip(pipelines) {
        let StoredSharedPipeline {
            id,
            source_pipeline,
            description,
        } = pipeline;
        insertion.execute(params![
            artifact_number,
            position,
            id,
            source_pipeline,
            description
        ])?;
    }
    Ok(())
}

/// Returns whether the prefix already has a version with this name.
pub(crate) fn exists(connection: &Connection, prefix: &str, version_name: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM artifact WHERE prefix = ? AND version_name = ?")?
        .exists([prefix, version_name])
}

/// Returns a page of the versions that match the filter, most recent first, and the total number of matching versions.
pub(crate) fn list_artifacts(
    connection: &Connection,
    filter: &ArtifactFilter,
    page: Page,
) -> rusqlite::Result<(Vec<StoredArtifact>, u64)> {
    let condition = "FROM artifact WHERE (:prefix IS NULL OR prefix = :prefix)
        AND (:version IS NULL OR version_name = :version) AND (:enabled IS NULL OR enabled = :enabled)";
    let ArtifactFilter {
        prefix,
        version_name,
        enabled,
    } = filter;
    let total = connection.query_row_cached(
        &format!("SELECT count(*) {condition}"),
        named_params! {":prefix": prefix, ":version": version_name, ":enabled": enabled},
        read_count,
    )?;
    let items = connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} {condition} ORDER BY number DESC LIMIT :size OFFSET :offset"
        ))?
        .query_map(
            named_params! {":prefix": prefix, ":version": version_name, ":enabled": enabled,
            ":size": page.size, ":offset": page.offset()},
            read_artifact,
        )?
        .collect::<Result<_, _>>()?;
    Ok((items, total))
}

/// Reads an artifact from a row that begins with [`COLUMNS`].
fn read_artifact(row: &Row<'_>) -> rusqlite::Result<StoredArtifact> {
    Ok(StoredArtifact {
        shared_pipeline_id_prefix: row.get(0)?,
        version_name: row.get(1)?,
        enabled: row.get(2)?,
        created_at: row.get(3)?,
        provider: row.get(4)?,
        commit_hash: row.get(5)?,
        branch: row.get(6)?,
    })
}

/// Returns a version with its shared pipelines, or `None` if there is no such version. Without a name, returns the
/// prefix's enabled version that was published last.
pub(crate) fn find_artifact(
    connection: &Connection,
    prefix: &str,
    version_name: Option<&str>,
) -> rusqlite::Result<Option<(StoredArtifact, Vec<StoredSharedPipeline>)>> {
    // Two different statements, so that SQLite uses the index to look up a version by name. `?2 IS NULL` is always
    // true; it uses the second parameter, which both statements get.
    let condition = match version_name {
        Some(_) => "version_name = ?2",
        None => "enabled AND ?2 IS NULL",
    };
    let row = connection
        .query_row_cached(
            &format!(
                "SELECT {COLUMNS}, number FROM artifact WHERE prefix = ?1 AND {condition} ORDER BY number DESC LIMIT 1"
            ),
            params![prefix, version_name],
            |row| Ok((read_artifact(row)?, row.get(7)?)),
        )
        .optional()?;
    let Some((artifact, number)) = row else {
        return Ok(None);
    };
    Ok(Some((artifact, list_pipelines(connection, number)?)))
}

/// Returns the shared pipelines of an artifact in the order in which they were published.
fn list_pipelines(
    connection: &Connection,
    artifact_number: i64,
) -> rusqlite::Result<Vec<StoredSharedPipeline>> {
    connection
        .prepare_cached(
            "SELECT id, source, description FROM shared_pipeline WHERE artifact = ? ORDER BY position",
        )?
        .query_map([artifact_number], |row| {
            Ok(StoredSharedPipeline {
                id: row.get(0)?,
                source_pipeline: row.get(1)?,
                description: row.get(2)?,
            })
        })?
        .collect()
}

/// Enables or disables a version and returns its new state, or `None` if there is no such version. Only disabling is
/// recorded as an event, because the API document has no event for enabling; for `project`, see [`record_event`].
pub(crate) fn set_enabled(
    transaction: &Transaction<'_>,
    [prefix, version_name]: [&str; 2],
    is_enabled: bool,
    author: &Author,
    project: Option<Uuid>,
) -> rusqlite::Result<Option<StoredArtifact>> {
    let artifact = transaction
        .query_row_cached(
            &format!(
                "UPDATE artifact SET enabled = ? WHERE prefix = ? AND version_name = ? RETURNING {COLUMNS}"
            ),
            params![is_enabled, prefix, version_name],
            read_artifact,
        )
        .optional()?;
    if !is_enabled && let Some(artifact) = &artifact {
        record_event(
            transaction,
            EventKind::ArtifactDisabled,
            artifact,
            author,
            project,
        )?;
    }
    Ok(artifact)
}

/// Returns a page of the shared pipelines of all prefixes, sorted by prefix and ID, and their total number.
pub(crate) fn list_shared_pipelines(
    connection: &Connection,
    page: Page,
) -> rusqlite::Result<(Vec<SharedPipelineItem>, u64)> {
    let total = connection.query_row_cached(
        "SELECT count(*) FROM (SELECT DISTINCT prefix, id FROM shared_pipeline JOIN artifact ON number = artifact)",
        [],
        read_count,
    )?;
    // Of the versions that contain a pipeline, `latest` is the last published one that is enabled, and `newest` is the
    // last published one, enabled or not. The description is from `latest` or, if no version is enabled, from `newest`.
    let items = connection
        .prepare_cached(
            "WITH pipeline AS (
                 SELECT prefix, id, max(number) AS newest, max(CASE WHEN enabled THEN number END) AS latest
                 FROM shared_pipeline JOIN artifact ON number = artifact
                 GROUP BY prefix, id ORDER BY prefix, id LIMIT ? OFFSET ?
             )
             SELECT pipeline.prefix, pipeline.id, shown.description, artifact.version_name
             FROM pipeline
             JOIN shared_pipeline AS shown
                 ON shown.artifact = coalesce(latest, newest) AND shown.id = pipeline.id
             LEFT JOIN artifact ON artifact.number = latest
             ORDER BY pipeline.prefix, pipeline.id",
        )?
        .query_map(params![page.size, page.offset()], |row| {
            Ok(SharedPipelineItem {
                shared_pipeline_id_prefix: row.get(0)?,
                shared_pipeline_id: row.get(1)?,
                description: row.get(2)?,
                latest_version_name: row.get(3)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok((items, total))
}
