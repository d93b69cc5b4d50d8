//! The time window of an export; the platform keeps events for 90 days (API document, "Events").

use crate::api::EventWindow;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Time for which the platform keeps events.
const RETENTION: SignedDuration = SignedDuration::from_hours(90 * 24);

/// A time or window that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    #[error(
        "{0:?} is not a valid time: use a time with an offset like 2026-11-20T09:30:00Z, or a date (0:00 UTC)"
    )]
    InvalidTime(String),
    /// The end is before the start.
    #[error("--to {to} is before --from {from}")]
    Backwards { from: Timestamp, to: Timestamp },
    /// The platform no longer has such events.
    #[error("the platform keeps events for 90 days: {from} is before the earliest time, {earliest}")]
    TooOld {
        /// The requested time.
        from: Timestamp,
        /// The time of the earliest event that the platform keeps.
        earliest: Timestamp,
    },
}

/// A time window; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// Parses a time with an offset, or a date, which is its first moment in UTC.
pub fn parse_time(text: &str) -> Result<Timestamp, WindowError> {
    text.parse()
        .ok()
        .or_else(|| parse_date(text))
        .ok_or_else(|| WindowError::InvalidTime(text.to_owned()))
}

/// Parses a date as its first moment in UTC; `None` if the text is not a date.
fn parse_date(text: &str) -> Option<Timestamp> {
    // A time without an offset would parse as its date.
    if text.len() != 10 {
        return None;
    }
    let date: Date = text.parse().ok()?;
    Some(date.to_zoned_datetime(TimeZone::UTC).ok()?.timestamp())
}

/// Returns the time before which the platform no longer keeps events.
pub(super) fn earliest_time(now: Timestamp) -> Timestamp {
    now.checked_sub(RETENTION).unwrap_or(Timestamp::MIN)
}

impl Window {
    /// Returns the window unchanged. Fails if it starts before the earliest time for which the platform still keeps
    /// events, or if it ends before it starts.
    pub fn validate(self, now: Timestamp) -> Result<Self, WindowError> {
        let earliest = earliest_time(now);
        match (self.from, self.to) {
            (Some(from), _) if from < earliest => Err(WindowError::TooOld { from, earliest }),
            (Some(from), Some(to)) if to < from => Err(WindowError::Backwards { from, to }),
            _ => Ok(self),
        }
    }

    /// Converts the window to the query parameters of a request.
    pub(super) fn to_event_window(self) -> EventWindow {
        EventWindow {
            from: self.from.map(|time| time.to_string()),
            to: self.to.map(|time| time.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        parse_time(text).unwrap()
    }

    #[test]
    fn times_have_an_offset_or_are_dates() {
        assert_eq!(time("2026-11-20").to_string(), "2026-11-20T00:00:00Z");
        assert_eq!(
            time("2026-11-20T10:30:00+01:00").to_string(),
            "2026-11-20T09:30:00Z"
        );
        for text in ["2026-11-20T10:30:00", "yesterday", "", "2026-13-01"] {
            assert_eq!(
                parse_time(text),
                Err(WindowError::InvalidTime(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn window_before_retention_is_refused() {
        let now = time("2026-11-20T09:30:00Z");
        let window = |from, to| Window { from, to }.validate(now);
        assert!(window(Some(time("2026-08-23")), None).is_ok());
        insta::assert_snapshot!(window(Some(time("2026-08-01")), None).unwrap_err(),
            @"the platform keeps events for 90 days: 2026-08-01T00:00:00Z is before the earliest time, 2026-08-22T09:30:00Z");
        insta::assert_snapshot!(window(Some(time("2026-11-19")), Some(time("2026-11-18"))).unwrap_err(),
            @"--to 2026-11-18T00:00:00Z is before --from 2026-11-19T00:00:00Z");
    }
}
