//! The commits that the change is compared with, and the reason for them.

use sluicegate_base::text::join_with_and;
use sluicegate_git::CommitId;

/// The commit whose findings and interface are known in a run that selects all pipelines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EarlierCommit {
    /// There is no such commit, for example because the push created the branch.
    None,
    /// The clone and the event do not show whether there is such a commit.
    Unknown,
    /// The earlier commit. After a forced push, there may be several: the merge-bases with the commit before the push.
    Found {
        commits: Vec<CommitId>,
        source: String,
        is_named_by_host: bool,
    },
    /// The shallow clone lacks the commit, or the history that leads to it.
    NotInClone {
        commit: String,
        source: &'static str,
        is_named_by_host: bool,
    },
}

/// Joins the short ids of the commits for a message.
pub(crate) fn join_short_ids(commits: &[CommitId]) -> String {
    join_with_and(commits.iter().map(CommitId::short))
}

/// The commits that head is compared with, and their source. Without a commit, every pipeline is selected.
pub(super) struct Base {
    pub commits: Vec<CommitId>,
    pub earlier_commit: EarlierCommit,
    pub source: String,
    pub warnings: Vec<String>,
    /// The reasons in `source` that the warnings contain.
    pub explained_reasons: Vec<String>,
}

impl Base {
    /// Creates the base of a run that reviews all pipelines: it has no commits. `reason` explains why, for example "all
    /// pipelines were requested".
    pub(super) fn for_all_pipelines(reason: impl Into<String>) -> Self {
        Self {
            commits: Vec::new(),
            earlier_commit: EarlierCommit::None,
            source: reason.into(),
            warnings: Vec::new(),
            explained_reasons: Vec::new(),
        }
    }

    /// Creates a base of these commits. `source` says where they come from, for example "the merge-base with `main`".
    pub(super) fn from_commits(commits: Vec<CommitId>, source: String) -> Self {
        Self {
            commits,
            earlier_commit: EarlierCommit::None,
            source,
            warnings: Vec::new(),
            explained_reasons: Vec::new(),
        }
    }

    /// Creates the base of a run that reviews all pipelines because the base is unknown. `reason` explains why.
    pub(super) fn for_unknown_base(reason: impl Into<String>) -> Self {
        Self::for_all_pipelines(reason).with_earlier_commit(EarlierCommit::Unknown)
    }

    /// Sets the commit whose findings are treated as known in a run that has no base and selects all pipelines.
    pub(super) fn with_earlier_commit(mut self, earlier_commit: EarlierCommit) -> Self {
        self.earlier_commit = earlier_commit;
        self
    }

    /// Appends a reason to the description of the base: why the base that the host names is not used.
    pub(super) fn with_reason(mut self, reason: &str) -> Self {
        self.source = format!("{}; {reason}", self.source);
        self
    }

    pub(super) fn with_warning(mut self, warning: String) -> Self {
        self.warnings.push(warning);
        self
    }

    /// Adds a warning that contains this reason, so that no other message has to repeat it.
    pub(super) fn with_explanation(mut self, reason: &str, warning: String) -> Self {
        self.explained_reasons.push(reason.to_owned());
        self.with_warning(warning)
    }
}
