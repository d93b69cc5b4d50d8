//! The places whose files are listed: the index, the working tree, and a directory without git.

/// The place of listed files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ListedPlace {
    Index,
    WorkingTree,
    /// A directory without git.
    PlainDirectory,
}

impl ListedPlace {
    /// Returns the name of the place for messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Index => "the index",
            Self::WorkingTree => "the working tree",
            Self::PlainDirectory => "the directory",
        }
    }
}
