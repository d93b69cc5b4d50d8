//! The source of the commit of a run.

/// The party that selects the commit that the run reviews.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CommitSource {
    /// The commit is the one that the CI host names in its event, or a merge of that commit with its target. It is in
    /// the repository of the event, and the base that the host names is valid for it.
    Host,
    /// The job selects another commit: with `--head`, or by checking it out. It may come from another repository. Also
    /// used until the commits are fetched that show whether the commit is the host's.
    Job,
}

impl CommitSource {
    /// Returns the source of a commit, given whether it matches the commit that the host names.
    pub(super) const fn from_match(is_host_match: bool) -> Self {
        if is_host_match { Self::Host } else { Self::Job }
    }

    pub const fn is_host(self) -> bool {
        matches!(self, Self::Host)
    }
}
