//! The two sides of a comparison.

use std::fmt;

/// One of the two versions that a comparison reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum VersionSide {
    Base,
    Head,
}

impl fmt::Display for VersionSide {
    /// Writes the name for messages, in which the head is the new version, because it may be the working tree.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "base",
            Self::Head => "new version",
        })
    }
}
