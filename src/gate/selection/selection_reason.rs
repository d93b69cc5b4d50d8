//! Why a changed pipeline is or is not selected.

use sluicegate_git::FileKind;
use sluicegate_pipelines::findings::ExcludedFile;
use std::fmt;

/// The reason why a changed pipeline is or is not selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SelectionReason {
    Changed,
    /// All pipelines are selected, for this reason.
    AllSelected(String),
    Deleted,
    NotIncluded,
    Excluded,
    OutsidePaths,
    Submodule,
}

impl SelectionReason {
    /// Returns whether the pipeline is selected.
    pub(crate) const fn is_selected(&self) -> bool {
        matches!(self, Self::Changed | Self::AllSelected(_))
    }

    /// Returns whether the reports list the pipeline as excluded. Deleted pipelines and those outside the paths on the
    /// command line are not listed.
    pub(super) const fn is_reported_exclusion(&self) -> bool {
        matches!(self, Self::NotIncluded | Self::Excluded | Self::Submodule)
    }
}

/// A changed pipeline that is not reviewed, although the change or the command line names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOutFile {
    pub path: String,
    pub reason: SelectionReason,
}

impl LeftOutFile {
    /// Converts the file to an entry of the report.
    pub(crate) fn into_excluded_file(self) -> ExcludedFile {
        ExcludedFile {
            path: self.path,
            reason: self.reason.to_string(),
        }
    }
}

impl fmt::Display for SelectionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed => f.write_str("changed since the base"),
            Self::AllSelected(reason) => write!(f, "all pipelines are selected: {reason}"),
            Self::Deleted => f.write_str("deleted"),
            Self::NotIncluded => f.write_str("not matched by the setting `include`"),
            Self::Excluded => f.write_str("matched by the setting `exclude`"),
            Self::OutsidePaths => f.write_str("outside the paths on the command line"),
            Self::Submodule => f.write_str(FileKind::Submodule.unreadable_reason().unwrap_or_default()),
        }
    }
}
