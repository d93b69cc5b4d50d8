//! A database layout that lets a publish write fewer pages.
//!
//! Versions and events are never removed, so their numbers are consecutive even without `AUTOINCREMENT`, for which
//! SQLite keeps the last number on a separate page. The files of a version are stored as one value, because no request
//! reads a single file. The primary key of shared pipelines is the ID that they are looked up by, so they need no
//! second index.

/// SQL that migrates the previous tables to this layout.
pub(super) const TABLES: &str = "
    CREATE TABLE artifact_anew (
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
    INSERT INTO artifact_anew SELECT artifact.*, CAST(coalesce((
        SELECT group_concat(lower(hex(sha256)) || ' ' || size || ' ' || path || char(0), '' ORDER BY path)
        FROM artifact_file WHERE artifact = number
    ), '') AS BLOB) FROM artifact;
    CREATE TABLE shared_pipeline_anew (
        artifact INTEGER NOT NULL REFERENCES artifact (number),
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        source TEXT NOT NULL,
        description TEXT,
        PRIMARY KEY (artifact, id)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO shared_pipeline_anew SELECT * FROM shared_pipeline;
    DROP TABLE shared_pipeline;
    DROP TABLE artifact_file;
    DROP TABLE artifact;
    ALTER TABLE artifact_anew RENAME TO artifact;
    ALTER TABLE shared_pipeline_anew RENAME TO shared_pipeline;
    CREATE TABLE event_anew (
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
    INSERT INTO event_anew SELECT * FROM event;
    DROP TABLE event;
    ALTER TABLE event_anew RENAME TO event;
    CREATE INDEX event_at ON event (at);
";
