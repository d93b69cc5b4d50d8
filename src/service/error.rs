//! Why the local platform could not start, or its store not do what was asked.

use crate::base::git::GitError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use uuid::Uuid;

/// The local platform could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The address is taken, or not one of this machine.
    #[error("cannot listen on {address}")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    /// A project's repository cannot be opened.
    #[error("project {project} has no usable repository at {}", path.display())]
    Repository {
        project: Uuid,
        path: PathBuf,
        /// Why it is not usable.
        #[source]
        source: GitError,
    },
    /// One project cannot have two repositories.
    #[error("project {0} is given more than once")]
    ProjectTwice(Uuid),
    /// A token without a character cannot be sent.
    #[error("a token is empty, or holds characters that a header cannot carry")]
    UnusableToken,
    /// One token cannot have two roles.
    #[error("a token is given more than once")]
    TokenTwice,
    /// The store could not be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The data folder could not be made, or not be written to.
    #[error("cannot make or use the data folder {}", path.display())]
    Folder {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another process has the data folder.
    #[error("the data folder {} is in use by another server{}", folder.display(), told(*.holder))]
    Locked { folder: PathBuf, holder: Option<u32> },
    /// A newer version of this program wrote the data.
    #[error("the data was written by a newer version (layout {found}; this one knows {known})")]
    Newer {
        found: u32,
        /// The newest layout that this program knows.
        known: u32,
    },
    #[error("database: {0}")]
    Database(#[from] rusqlite::Error),
    /// The work ended in a defect.
    #[error("a defect ended the work on the database")]
    Defect,
}

fn told(holder: Option<u32>) -> String {
    holder.map_or_else(String::new, |number| format!(": process {number}"))
}
