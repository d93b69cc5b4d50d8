//! What the user asked for.

/// What the user asked for, instead of what is detected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RevisionWish {
    /// The revision to compare with; its merge-base with head is the base.
    pub base: Option<String>,
    pub head: Option<String>,
    /// The branch to name to the platform.
    pub branch: Option<String>,
    /// Every pipeline of head, whatever changed.
    pub all: bool,
}

impl RevisionWish {
    pub(super) const fn names_a_commit(&self) -> bool {
        self.base.is_some() || self.head.is_some() || self.all
    }
}
