//! The current time for everything that the local platform records or advances.
//!
//! Nothing runs in the background: an operation in progress is stored with its times, and its state is computed when it
//! is requested. A restart therefore does not lose a timer, and a test advances the clock instead of sleeping.

use jiff::Timestamp;
use rusqlite::ToSql;
use rusqlite::types::{FromSql, FromSqlResult, ToSqlOutput, ValueRef};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::ops::Add;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

/// The source of the current time; clones of a stepped clock share their time.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    #[default]
    System,
    /// A clock that moves only through [`Clock::advance`]; its time is in milliseconds since 1970 in UTC.
    Stepped(Arc<AtomicI64>),
}

impl Clock {
    /// Creates a clock that stays at this time until it is advanced.
    pub fn stepped_from(start_time: Timestamp) -> Self {
        Self::Stepped(Arc::new(AtomicI64::new(start_time.as_millisecond())))
    }

    /// Moves a stepped clock forward; has no effect on the system clock.
    pub fn advance(&self, duration: Duration) {
        if let Self::Stepped(millis) = self {
            millis.fetch_add(to_millis(duration), Ordering::SeqCst);
        }
    }

    /// Returns the current time of the system, or the time of the stepped clock.
    pub(super) fn now(&self) -> Moment {
        Moment(match self {
            Self::System => Timestamp::now().as_millisecond(),
            Self::Stepped(millis) => millis.load(Ordering::SeqCst),
        })
    }
}

/// A point in time, in milliseconds since 1970 in UTC; displayed in ISO 8601.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(transparent)]
pub(super) struct Moment(i64);

impl Moment {
    /// Returns the first millisecond that is not before `time`.
    pub(super) fn round_up(time: Timestamp) -> Self {
        let millis = time.as_millisecond();
        let rounded_time = Timestamp::from_millisecond(millis).unwrap_or(time);
        Self(if rounded_time < time { millis + 1 } else { millis })
    }

    /// Returns the last millisecond that is not after `time`.
    pub(super) fn round_down(time: Timestamp) -> Self {
        let millis = time.as_millisecond();
        let rounded_time = Timestamp::from_millisecond(millis).unwrap_or(time);
        Self(if rounded_time > time { millis - 1 } else { millis })
    }

    /// Returns the time `duration` earlier.
    pub(super) fn minus(self, duration: Duration) -> Self {
        Self(self.0.saturating_sub(to_millis(duration)))
    }

    /// Serializes the time as a number of milliseconds since 1970, for stored JSON. [`Serialize`] writes the
    /// human-readable form.
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde defines the signature of this function"
    )]
    pub(super) fn as_number<S: Serializer>(moment: &Self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(moment.0)
    }
}

/// Converts the duration to milliseconds; a longer one than the type can hold becomes the maximum.
fn to_millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(to_millis(duration)))
    }
}

impl From<Timestamp> for Moment {
    /// Converts a time and drops the fraction of a millisecond.
    fn from(time: Timestamp) -> Self {
        Self(time.as_millisecond())
    }
}

impl fmt::Display for Moment {
    /// Writes the time in ISO 8601 with milliseconds.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Timestamp::from_millisecond(self.0) {
            Ok(time) => write!(f, "{time:.3}"),
            // This happens only if a clock was advanced beyond the range of `Timestamp`.
            Err(_) => write!(f, "{:.3}", Timestamp::UNIX_EPOCH),
        }
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl ToSql for Moment {
    /// Converts the time to its number of milliseconds for the database.
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.0.into())
    }
}

impl FromSql for Moment {
    /// Reads the time from its number of milliseconds in the database.
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn stepped_clock_and_its_clones_move_on_request() {
        let clock = Clock::stepped_from(time("2026-11-20T09:30:00Z"));
        let before = clock.now();
        assert_eq!(clock.now(), before);
        clock.clone().advance(Duration::from_millis(1500));
        assert_eq!(clock.now(), before + Duration::from_millis(1500));
        assert_eq!(clock.now().to_string(), "2026-11-20T09:30:01.500Z");
    }

    #[test]
    fn bounds_between_two_milliseconds_are_narrowed() {
        for (text, from, to) in [
            ("2026-11-20T09:30:00.0005Z", ".001Z", ".000Z"),
            ("2026-11-20T09:30:00.002Z", ".002Z", ".002Z"),
        ] {
            assert!(Moment::round_up(time(text)).to_string().ends_with(from));
            assert!(Moment::round_down(time(text)).to_string().ends_with(to));
        }
        let early = time("1969-12-31T23:59:59.9995Z");
        assert_eq!(Moment::round_down(early), Moment(-1));
        assert_eq!(Moment::round_up(early), Moment(0));
    }

    #[test]
    fn time_out_of_all_bounds_is_shown_too() {
        assert_eq!(Moment(i64::MAX).to_string(), "1970-01-01T00:00:00.000Z");
    }
}
