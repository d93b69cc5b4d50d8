//! The waivers file of the reviewed version, compared with that of the policy.

use jiff::civil::Date;
use sluicegate_pipelines::findings::Finding;
use sluicegate_pipelines::waivers::{WaiverEntry, Waivers};
use std::collections::BTreeSet;

/// The waivers file of the reviewed version, which shows what the change does to the waivers.
pub(super) enum ReviewedWaivers {
    /// The version is that of the policy, or it cannot be read.
    Unchanged,
    /// The change removes the waivers file.
    Removed,
    /// The change started before the policy branch had the waivers file.
    NotMerged { policy_branch: String },
    Present {
        waivers: Waivers,
        /// The waivers, to find one quickly.
        entries: BTreeSet<WaiverEntry>,
        /// The waivers that no base has: those that the change adds.
        added_waivers: Box<Waivers>,
    },
}

impl ReviewedWaivers {
    /// Creates the waivers of the reviewed version, of which the change adds `added_waivers`.
    pub(super) fn new(waivers: Waivers, added_waivers: Waivers) -> Self {
        Self::Present {
            entries: waivers.entries().iter().cloned().collect(),
            waivers,
            added_waivers: Box::new(added_waivers),
        }
    }

    /// Returns whether the reviewed version still has this waiver. If it does not, the change removes or edits the
    /// waiver, or started before the target added it.
    pub(super) fn keeps(&self, entry: &WaiverEntry) -> bool {
        match self {
            Self::Unchanged => true,
            Self::Removed | Self::NotMerged { .. } => false,
            Self::Present { entries, .. } => entries.contains(entry),
        }
    }

    /// Returns whether a waiver of the reviewed version allows this finding at its path.
    pub(super) fn allows(&self, finding: &Finding<'_>, today: Date) -> bool {
        match self {
            Self::Unchanged | Self::Removed | Self::NotMerged { .. } => false,
            Self::Present { waivers, .. } => allows_at_path(waivers, finding, today),
        }
    }

    /// Returns whether a waiver that the change adds allows this finding at its path.
    pub(super) fn adds_waiver_for(&self, finding: &Finding<'_>, today: Date) -> bool {
        match self {
            Self::Unchanged | Self::Removed | Self::NotMerged { .. } => false,
            Self::Present { added_waivers, .. } => allows_at_path(added_waivers, finding, today),
        }
    }

    /// Returns the beginning of the next step if the waivers file must first come to the branch, otherwise an empty
    /// text.
    pub(super) fn describe_first_step(&self) -> String {
        match self {
            Self::NotMerged { policy_branch } => format!("merge `{policy_branch}` into your branch, then "),
            Self::Unchanged | Self::Removed | Self::Present { .. } => String::new(),
        }
    }
}

/// Returns whether one of the waivers is valid today and allows this finding at its path.
pub(super) fn allows_at_path(waivers: &Waivers, finding: &Finding<'_>, today: Date) -> bool {
    let mut entries = waivers.find_valid_entries(finding.path, finding, today);
    entries.next().is_some()
}
