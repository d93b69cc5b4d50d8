//! The times in the platform's responses.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::time::Duration;

/// Parses an ISO 8601 time, which is in UTC if it has no offset; `None` if the text is not such a time.
pub fn parse_platform_time(text: &str) -> Option<Timestamp> {
    if let Ok(time) = text.parse() {
        return Some(time);
    }
    let time = text
        .parse::<DateTime>()
        .ok()?
        .to_zoned_datetime(TimeZone::UTC)
        .ok()?;
    Some(time.timestamp())
}

/// Returns the time between two times of the platform; `None` if one of them is missing or is not a time, or if the end
/// is before the start.
pub fn measure_duration(start: Option<&str>, end: Option<&str>) -> Option<Duration> {
    let start_time = parse_platform_time(start?)?;
    let end_time = parse_platform_time(end?)?;
    Duration::try_from(end_time.duration_since(start_time)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_an_offset() {
        let expected: Timestamp = "2026-11-20T09:30:00Z".parse().unwrap();
        for text in [
            "2026-11-20T09:30:00Z",
            "2026-11-20T10:30:00+01:00",
            "2026-11-20T09:30:00.000",
        ] {
            assert_eq!(parse_platform_time(text), Some(expected), "{text}");
        }
        for text in ["", "yesterday", "2026-13-01T00:00:00Z"] {
            assert_eq!(parse_platform_time(text), None, "{text}");
        }
    }

    #[test]
    fn duration_needs_both_times_in_order() {
        let (start, end) = ("2026-11-20T09:30:00", "2026-11-20T10:30:02.500+01:00");
        assert_eq!(
            measure_duration(Some(start), Some(end)),
            Some(Duration::from_millis(2500))
        );
        assert_eq!(measure_duration(Some(end), Some(start)), None);
        assert_eq!(measure_duration(None, Some(end)), None);
        assert_eq!(measure_duration(Some(start), Some("later")), None);
    }
}
