//! The changes that a version makes for consumers, for reports and receipts.

use super::semantic_version::find_announced_break;
use super::{ChangeClass, InterfaceChange, InterfaceChangeKind};
use serde::{Deserialize, Serialize};
use sluicegate_base::text;

/// How a breaking change is treated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum CompatMode {
    /// Exit with code 1, unless the breaking change is accepted.
    Fail,
    /// Report the breaking change.
    #[default]
    Warn,
    /// Do not compare the interfaces.
    Off,
}

/// The version or commit that consumers currently use.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComparedVersion {
    /// The version; `None` if no version is published, or a commit is meant.
    pub version: Option<String>,
    /// The commit of the version.
    pub commit: Option<String>,
}

/// The changes from one version to another. In a receipt, the first four keys are defined by the contract.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Compatibility {
    /// The version that is compared with; `None` if there is no version.
    pub against: Option<String>,
    /// The class of all changes together; `None` if unknown.
    pub class: Option<ChangeClass>,
    /// The reason why a break is allowed; `None` if there is no break or it is not allowed.
    pub accepted: Option<String>,
    pub changes: Vec<InterfaceChange>,
    /// The commit that is compared with.
    #[serde(default)]
    pub against_commit: Option<String>,
    /// Whether only ids were compared.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ids_only: bool,
    /// Whether a break fails the gate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub refused: bool,
    /// True if the changed files could not be listed. Reports and receipts do not contain such a comparison.
    #[serde(skip)]
    pub lacks_files: bool,
}

impl Compatibility {
    /// Creates the result of a comparison from its changes. The class is that of the most important change.
    pub fn new(against: ComparedVersion, changes: Vec<InterfaceChange>) -> Self {
        let class = changes.iter().map(|change| change.class).max();
        Self {
            against: against.version,
            against_commit: against.commit,
            class: Some(class.unwrap_or(ChangeClass::None).to_comparison_class()),
            accepted: None,
            changes,
            ids_only: false,
            refused: false,
            lacks_files: false,
        }
    }

    /// Records that the changed files could not be listed. Such a change has the class `Content`.
    #[must_use]
    pub fn without_files(mut self) -> Self {
        self.lacks_files = true;
        self.with_missing_changes(ChangeClass::Content)
    }

    /// Records that changes up to this class may be missing. The class of the comparison is then unknown (`None`),
    /// unless a change that was found is at least as important.
    #[must_use]
    fn with_missing_changes(mut self, max_class: ChangeClass) -> Self {
        self.class = self.class.filter(|class| *class >= max_class);
        self
    }

    /// Records whether breaks may be missing, because a file could not be read or does not declare a parameter.
    #[must_use]
    pub fn with_doubt(self, is_doubtful: bool) -> Self {
        if is_doubtful {
            self.with_missing_changes(ChangeClass::Breaking)
        } else {
            self
        }
    }

    /// Compares the ids of the shared pipelines of a version with those that are offered now. Changes to parameters are
    /// not compared, so the class is unknown (`None`) unless an id was removed.
    pub fn from_ids<'a>(
        against: ComparedVersion,
        old_ids: &[String],
        offered_ids: &(impl Iterator<Item = &'a str> + Clone),
    ) -> Self {
        let mut changes = Vec::new();
        for old_id in old_ids {
            if !offered_ids.clone().any(|id| id == old_id) {
                changes.push(InterfaceChange::for_kind(
                    InterfaceChangeKind::PipelineRemoved,
                    old_id,
                ));
            }
        }
        for id in offered_ids.clone() {
            if !old_ids.iter().any(|old_id| old_id == id) {
                changes.push(InterfaceChange::for_kind(InterfaceChangeKind::PipelineAdded, id));
            }
        }
        Self {
            ids_only: true,
            ..Self::new(against, changes).with_missing_changes(ChangeClass::Breaking)
        }
    }

    /// Returns whether this is the first version, so that there was no version or commit to compare with. A comparison
    /// of ids always has an older version, even if its name and commit are unknown.
    pub fn is_first(&self) -> bool {
        self.against.is_none() && self.against_commit.is_none() && !self.ids_only
    }

    /// Returns whether at least one change breaks consumers, so that they must act.
    pub fn is_breaking(&self) -> bool {
        self.class == Some(ChangeClass::Breaking)
    }

    /// Returns the breaking changes.
    pub fn breaking_changes(&self) -> impl Iterator<Item = &InterfaceChange> {
        self.changes
            .iter()
            .filter(|change| change.class == ChangeClass::Breaking)
    }

    /// Records the reason why a breaking change is accepted. Without a breaking change, the reason is ignored.
    #[must_use]
    pub fn with_acceptance(mut self, reason: Option<String>) -> Self {
        self.accepted = reason.filter(|_| self.is_breaking());
        self
    }

    /// Returns the name of the version or commit that is compared with, for messages; `nothing` if there is none. It
    /// has no line breaks.
    pub fn old_name(&self) -> String {
        text::escape_line(&match (&self.against, &self.against_commit) {
            (Some(version), _) => format!("version {version}"),
            (None, Some(commit)) => format!("commit {}", text::short_id(commit)),
            (None, None) => "nothing".to_owned(),
        })
    }
}

/// Returns why the names of the old and the new version allow a breaking change, for example a higher major version.
/// Returns `None` if they do not, or if there is no old version.
pub fn find_acceptance_by_version_names(old: Option<&str>, new: &str) -> Option<String> {
    find_announced_break(old?, new)
}
