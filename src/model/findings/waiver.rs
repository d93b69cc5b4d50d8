//! What a waiver says of the finding that it is about.

use super::State;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// What a waiver says of the finding that it is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Waiver {
    /// Why the finding is allowed: text from outside.
    pub reason: String,
    pub owner: Option<String>,
    /// The last day on which it holds; none without an end.
    pub until: Option<Date>,
}

impl Waiver {
    /// What it says of a finding in this state, for people: that it is allowed, or since when it is no longer.
    pub fn told(&self, state: Option<State>) -> Option<String> {
        let reason = &self.reason;
        match (state, self.until) {
            (Some(State::Waived), None) => Some(format!("waived: {reason}")),
            (Some(State::Waived), Some(until)) => Some(format!("waived until {until}: {reason}")),
            (_, Some(until)) => {
                let since = until.tomorrow().unwrap_or(until);
                Some(format!("no longer waived since {since}: {reason}"))
            }
            (_, None) => None,
        }
    }
}
