//! Errors at startup of the local platform and in its store.

use rusqlite::ErrorCode;
use sluicegate_base::text::format_path;
use sluicegate_git::GitError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use uuid::Uuid;

/// An error that prevents the local platform from starting.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The address is in use, or does not belong to this machine.
    #[error("could not listen on {address}")]
    Listen {
        /// The requested address.
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// A project's repository cannot be opened.
    #[error("could not open the repository of project {project} at {}", format_path(path))]
    Repository {
        project: Uuid,
        path: PathBuf,
        #[source]
        source: GitError,
    },
    /// A project was passed more than once.
    #[error("the project {0} is listed more than once")]
    DuplicateProject(Uuid),
    /// An empty token, or one with unprintable characters, cannot be sent.
    #[error("a token is empty or contains characters that an HTTP header cannot carry")]
    UnusableToken,
    /// A token was passed more than once.
    #[error("a token is listed more than once")]
    DuplicateToken,
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// An error in the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data directory could not be created or written to.
    #[error("could not create or use the data directory {}", format_path(path))]
    DataDirectory {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another process uses the data directory.
    #[error("the data directory {} is in use by another server{}", format_path(directory), describe_holder(*.holder))]
    Locked { directory: PathBuf, holder: Option<u32> },
    /// The data is in the layout of another version of this program.
    #[error(
        "another version of sluicegate wrote the database {} (layout {data_layout}; this version supports \
         {supported_layout})",
        format_path(file)
    )]
    OtherLayout {
        file: PathBuf,
        data_layout: u32,
        supported_layout: u32,
    },
    /// The database file could not be opened, for example because it is damaged.
    #[error("could not open the database {}: {reason}", format_path(file))]
    DatabaseFile {
        file: PathBuf,
        /// Not the source of this error, because its own source has the same text.
        reason: rusqlite::Error,
    },
    #[error("database: {0}")]
    Database(#[from] rusqlite::Error),
    /// The operation on the database panicked.
    #[error("an operation on the database stopped because of a bug in the local platform")]
    Defect,
}

impl ServiceError {
    /// Returns a hint on how to correct the cause, if there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Store(error) if error.is_about_unusable_data() => Some(
                "pass another directory with --data, or remove this one to start without data".to_owned(),
            ),
            Self::Store(StoreError::Locked { .. }) => {
                Some("stop the other server, or pass another directory with --data".to_owned())
            }
            Self::Store(StoreError::DataDirectory { .. }) => {
                Some("pass a directory with --data that you can read and write".to_owned())
            }
            Self::Listen { source, .. } if source.kind() == io::ErrorKind::AddrInUse => {
                Some("choose another port, or port 0 for a free one".to_owned())
            }
            Self::Repository { project, .. } => Some(format!(
                "pass the path of an existing git repository: `--project {project}=PATH`"
            )),
            _ => None,
        }
    }
}

impl StoreError {
    /// Returns whether the data can never be used, because it is damaged or has another layout. After any other
    /// failure, for example on a full disk, the data may be intact.
    fn is_about_unusable_data(&self) -> bool {
        match self {
            Self::OtherLayout { .. } => true,
            Self::DatabaseFile { reason, .. } => matches!(
                reason.sqlite_error_code(),
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt)
            ),
            _ => false,
        }
    }
}

/// Returns the end of the message that the data directory is locked: the process that holds the lock. The text is empty
/// if the process is unknown.
fn describe_holder(process_id: Option<u32>) -> String {
    process_id.map_or_else(String::new, |process_id| format!(": process {process_id}"))
}
