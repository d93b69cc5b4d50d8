//! The result of comparing a plan with a published version.

use super::compared_offer::ComparisonLimit;
use sluicegate_pipelines::interface::{ChangeClass, Compatibility, NextNameError};

/// The result of comparing a plan with a published version.
pub(crate) struct PublishComparison {
    pub(super) compat: Compatibility,
    /// The semantic version after the latest version, or the reason why there is none.
    pub(super) next_version: Result<String, NextNameError>,
    /// True if the plan was compared with the latest version.
    pub(super) is_with_latest: bool,
    pub(super) limit: Option<ComparisonLimit>,
    /// The reason why the version may have other files than its commit shows; `None` if its files are known.
    pub(super) unknown_selection: Option<String>,
    /// The changes since the version before the compared one, if that was published by an earlier run for this commit.
    pub(super) changes_of_first_run: Option<Compatibility>,
}

impl PublishComparison {
    /// Returns the changes to report. A rerun reports the changes of the first run.
    pub(super) fn reported_changes(&self) -> &Compatibility {
        self.changes_of_first_run.as_ref().unwrap_or(&self.compat)
    }

    /// Returns the name and the commit of the version with which the plan is compared; empty texts if unknown.
    pub(super) fn compared_version(&self) -> (&str, &str) {
        let compat = &self.compat;
        (
            compat.against.as_deref().unwrap_or_default(),
            compat.against_commit.as_deref().unwrap_or_default(),
        )
    }

    /// Returns the semantic version after the latest if all changes are known and there are any, otherwise an empty
    /// text.
    pub(super) fn next_version_name(&self) -> String {
        match (&self.next_version, self.compat.class) {
            (Ok(name), Some(_)) if !self.is_latest_unchanged() => name.clone(),
            _ => String::new(),
        }
    }

    /// Returns whether the plan was compared with the latest version and does not differ from it.
    pub(super) fn is_latest_unchanged(&self) -> bool {
        self.is_with_latest && self.has_no_changes() && self.unknown_selection.is_none()
    }

    /// Returns whether the plan was compared with a published version, and no change to its commit was found.
    pub(super) fn has_no_changes(&self) -> bool {
        self.compat.against.is_some() && self.compat.class == Some(ChangeClass::None)
    }
}

/// The changes between a published version and a plan, and what is unknown about them.
pub(super) struct OfferComparison {
    pub(super) compat: Compatibility,
    pub(super) limit: Option<ComparisonLimit>,
    pub(super) unknown_selection: Option<String>,
}
