//! The revisions that the user requested.

/// The requested revisions, which override the detected ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestedRevisions {
    /// The revision whose merge-base with head is the base.
    pub base: Option<String>,
    pub head: Option<String>,
    /// The branch name to send to the platform.
    pub branch: Option<String>,
    /// Reviews every pipeline of head, changed or not.
    pub all: bool,
    /// Fetches the history that the clone lacks.
    pub deepen: bool,
}

impl RequestedRevisions {
    /// Requests the head of the run alone: all pipelines are reviewed, so the base need not be resolved.
    pub fn for_head_only() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// Returns whether the user selected the commits to review with `--head` or `--base`. A job may set `--all` for all
    /// its events.
    pub(super) const fn has_requested_commits(&self) -> bool {
        self.base.is_some() || self.head.is_some()
    }
}
