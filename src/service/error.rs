//! Why the local platform could not start.

use super::store::StoreError;
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
