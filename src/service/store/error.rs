//! Why the store did not do what was asked.

use std::io;
use std::path::PathBuf;

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
