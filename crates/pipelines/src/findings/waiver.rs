//! The data of a waiver that is shown with a finding.

use super::FindingState;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use sluicegate_base::text::format_count;

/// The data of a waiver that is shown with a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Waiver {
    /// The reason why the finding is allowed, as written in the waivers file. Writers must escape it.
    pub reason: String,
    pub owner: Option<String>,
    /// The last day on which it is valid; `None` if it never expires.
    pub until: Option<Date>,
    /// The worst allowed size, only if the size of the finding is worse, so that the waiver does not allow it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exceeded_size: Option<u64>,
}

/// Returns a sentence about this number of findings, whose waivers were valid when the review was made.
pub fn describe_expired_waivers(finding_count: usize) -> String {
    format!(
        "the waivers of {} expired since the review",
        format_count(finding_count, "finding")
    )
}

/// Returns whether the last valid day of a waiver was before `today`. A waiver without a last day never expires.
pub(crate) fn is_waiver_expired(last_day: Option<Date>, today: Date) -> bool {
    last_day.is_some_and(|last_day| last_day < today)
}

impl Waiver {
    /// Returns whether the waiver is no longer valid on this day.
    pub fn is_expired(&self, today: Date) -> bool {
        is_waiver_expired(self.until, today)
    }

    /// Returns a text for a finding with this waiver: that it is waived, or, if its state is not "waived", which size
    /// the waiver allows, or on which day the waiver expired. Returns `None` for a waiver that never expires but
    /// does not waive the finding.
    pub(crate) fn describe(&self, state: Option<FindingState>) -> Option<String> {
        let reason = &self.reason;
        if let Some(allowed_size) = self.exceeded_size {
            return Some(format!("the waiver allows {allowed_size}: {reason}"));
        }
        match (state, self.until) {
            (Some(FindingState::Waived), None) => Some(format!("waived: {reason}")),
            (Some(FindingState::Waived), Some(last_day)) => {
                Some(format!("waived until {last_day}: {reason}"))
            }
            (_, Some(last_day)) => {
                // The waiver is still valid on its last day.
                let expiry_day = last_day.tomorrow().unwrap_or(last_day);
                Some(format!("no longer waived since {expiry_day}: {reason}"))
            }
            (_, None) => None,
        }
    }
}
