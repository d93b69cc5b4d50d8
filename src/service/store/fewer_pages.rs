//! The layout in which a publish writes fewer pages.
//!
//! No version and no event is ever removed, so their numbers follow each other without SQLite keeping the last one on a page
//! of its own (`AUTOINCREMENT`). The files of a version are one value, since nobody asks for one of them alone. Shared
//! pipelines are sorted by the id that they are looked up by, without a second order beside.

/// From the tables before to those that are.
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
