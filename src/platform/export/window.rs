//! From when to when; the platform keeps 90 days (API document, "Events").

use crate::platform::api::EventWindow;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// How long the platform keeps events.
const KEPT: SignedDuration = SignedDuration::from_hours(90 * 24);

/// A window that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WindowError {
    #[error(
        "{0:?} is no time: it must be like 2026-11-20T09:30:00Z, with an offset, or a date (which begins in UTC)"
    )]
    NoTime(String),
    /// The end is before the beginning.
    #[error("--to {to} is before --from {from}")]
    Backwards { from: Timestamp, to: Timestamp },
    /// The platform has no such events any more.
    #[error(
        "the platform keeps events for 90 days, so none are left from {from}: the earliest time is {earliest}"
    )]
    TooOld {
        /// The time that was asked for.
        from: Timestamp,
        /// The earliest that there can be.
        earliest: Timestamp,
    },
}

/// From when to when; none is without a limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Window {
    pub from: Option<Timestamp>,
    pub to: Option<Timestamp>,
}

/// A time with an offset, or a date.
pub(crate) fn parse_time(text: &str) -> Result<Timestamp, WindowError> {
    let date = || {
        let date: Date = text.parse().ok()?;
        // A time without an offset would parse as its date.
        (text.len() == 10).then_some(())?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    text.parse()
        .ok()
        .or_else(date)
        .ok_or_else(|| WindowError::NoTime(text.to_owned()))
}

/// The earliest time of which events are kept.
pub(super) fn earliest(now: Timestamp) -> Timestamp {
    now.checked_sub(KEPT).unwrap_or(Timestamp::MIN)
}

impl Window {
    /// Checks that there can be events in it.
    pub(crate) fn check(self, now: Timestamp) -> Result<Self, WindowError> {
        let earliest = earliest(now);
        match (self.from, self.to) {
            (Some(from), _) if from < earliest => Err(WindowError::TooOld { from, earliest }),
            (Some(from), Some(to)) if to < from => Err(WindowError::Backwards { from, to }),
            _ => Ok(self),
        }
    }

    pub(super) fn asked(self) -> EventWindow {
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
                Err(WindowError::NoTime(text.to_owned())),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_kept_is_refused() {
        let now = time("2026-11-20T09:30:00Z");
        let window = |from, to| Window { from, to }.check(now);
        assert!(window(Some(time("2026-08-23")), None).is_ok());
        insta::assert_snapshot!(window(Some(time("2026-08-01")), None).unwrap_err(),
            @"the platform keeps events for 90 days, so none are left from 2026-08-01T00:00:00Z: the earliest time is 2026-08-22T09:30:00Z");
        insta::assert_snapshot!(window(Some(time("2026-11-19")), Some(time("2026-11-18"))).unwrap_err(),
            @"--to 2026-11-18T00:00:00Z is before --from 2026-11-19T00:00:00Z");
    }
}
