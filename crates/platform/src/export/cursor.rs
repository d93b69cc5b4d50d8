//! The cursor: the end of the last export.
//!
//! A cursor has the time of the newest event, so that the clocks of both sides need not agree. Only an event in the
//! future does not move it. Events can arrive late, so the next run starts a little earlier and skips, by id, events
//! that were already exported.

use super::collected_events::{MAX_CLOCK_DIFFERENCE, event_key, event_time, newest_time};
use super::window::earliest_time;
use super::{Window, WindowError};
use crate::api::{ApiValue, Event};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use sluicegate_base::named_fields::parse_json;
use sluicegate_base::text::format_path;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Maximum delay with which an event may arrive.
const MAX_DELAY: SignedDuration = SignedDuration::from_mins(15);

const SCHEMA: &str = "sluicegate.cursor/v1";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    schema: String,
    /// The base URL of the platform that the events are from; older versions did not write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    platform: Option<String>,
    /// Time of the newest exported event.
    through: Timestamp,
    /// Time up to which the exports have read all events; older versions did not write it.
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<Timestamp>,
    /// The exported events shortly before that time, with their times.
    seen: BTreeMap<String, Timestamp>,
}

/// A cursor that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CursorError {
    #[error("could not read the cursor file {}: {reason}", format_path(path))]
    Unreadable { path: PathBuf, reason: String },
    #[error(
        "the cursor {} belongs to the platform {cursor_platform}, not to {platform}",
        format_path(path)
    )]
    OtherPlatform {
        path: PathBuf,
        cursor_platform: String,
        platform: String,
    },
    /// The platform no longer has all events that follow the cursor.
    #[error(
        "the cursor {} is too old, so later events are lost: {error}",
        format_path(path)
    )]
    TooOld { path: PathBuf, error: WindowError },
    /// The cursor was written with a wrong clock, or edited: no event is as new, so an export would skip events.
    #[error("the cursor {} is in the future: it ends at {through}", format_path(path))]
    InFuture { path: PathBuf, through: Timestamp },
}

impl Cursor {
    /// Parses a cursor from the content of the file at `path`. Fails for the cursor of another platform than that with
    /// the base URL `platform`.
    pub fn parse(bytes: &[u8], path: &Path, platform: &str) -> Result<Self, CursorError> {
        let reason = match parse_json::<Self>(bytes) {
            Ok(cursor) if cursor.schema == SCHEMA => match cursor.platform {
                Some(cursor_platform) if cursor_platform != platform => {
                    return Err(CursorError::OtherPlatform {
                        path: path.to_owned(),
                        cursor_platform,
                        platform: platform.to_owned(),
                    });
                }
                _ => return Ok(cursor),
            },
            Ok(cursor) => format!("the file's schema is {:?}, not {SCHEMA}", cursor.schema),
            Err(error) => error.to_string(),
        };
        Err(CursorError::Unreadable {
            path: path.to_owned(),
            reason,
        })
    }

    /// Returns the window of an export that continues from this cursor. The window starts earlier by the delay with
    /// which events may arrive, as far as the platform still keeps events. If `to` is before this start, the window
    /// ends at its start. Fails if the platform has already deleted events after the cursor, or if the cursor is later
    /// than `now` by more than clocks differ; the error names the cursor's file, `path`.
    pub fn build_window(
        &self,
        to: Option<Timestamp>,
        now: Timestamp,
        path: &Path,
    ) -> Result<Window, CursorError> {
        if self.through.duration_since(now) > MAX_CLOCK_DIFFERENCE {
            return Err(CursorError::InFuture {
                path: path.to_owned(),
                through: self.through,
            });
        }
        let earliest = earliest_time(now);
        // If no event happened, the newest one may be old although none is lost.
        let read_time = self.through.max(self.read_time(now).unwrap_or(self.through));
        if read_time < earliest {
            return Err(CursorError::TooOld {
                path: path.to_owned(),
                error: WindowError::TooOld {
                    from: read_time,
                    earliest,
                },
            });
        }
        let from = subtract_delay(self.through).max(earliest);
        Ok(Window {
            from: Some(from),
            to: to.map(|to| to.max(from)),
        })
    }

    /// Returns the time up to which the exports have read all events, at most `now`. A time that is later than `now` by
    /// more than clocks differ is wrong, and does not show what was read.
    fn read_time(&self, now: Timestamp) -> Option<Timestamp> {
        self.read
            .filter(|time| time.duration_since(now) <= MAX_CLOCK_DIFFERENCE)
            .map(|time| time.min(now))
    }

    /// Returns the events that no earlier export contained.
    pub fn select_new_events(&self, events: Vec<ApiValue<Event>>) -> Vec<ApiValue<Event>> {
        events
            .into_iter()
            .filter(|event| !self.seen.contains_key(&event_key(event)))
            .collect()
    }

    /// Returns the cursor after an export of these events in `window` from `platform`, or `None` if neither `last` nor
    /// an event has a time. The cursor remembers the ids of the newest events, which the next export reads again. An
    /// event without a time is remembered with the newest time. If all events are in the future, the cursor's time is
    /// `now`.
    pub fn build_next_cursor(
        last: Option<Self>,
        events: &[ApiValue<Event>],
        platform: &str,
        window: Window,
        now: Timestamp,
    ) -> Option<Self> {
        let read_time = window.to.unwrap_or(now).min(now);
        let last_read_time = last.as_ref().and_then(|cursor| cursor.read_time(now));
        let last_time = last.as_ref().map(|cursor| cursor.through);
        let future_fallback = events
            .iter()
            .any(|event| event_time(event).is_some())
            .then_some(now);
        let through = newest_time(events, now).max(last_time).or(future_fallback)?;
        let start = subtract_delay(through);
        let mut seen_events = last.map(|cursor| cursor.seen).unwrap_or_default();
        for event in events {
            seen_events.insert(event_key(event), event_time(event).unwrap_or(through));
        }
        seen_events.retain(|_, time| *time >= start);
        Some(Self {
            schema: SCHEMA.to_owned(),
            platform: Some(platform.to_owned()),
            through,
            read: Some(read_time).max(last_read_time),
            seen: seen_events,
        })
    }

    /// Renders the cursor as the content of its file.
    pub fn render(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// Returns the start of the period before `time` in which late events may still appear.
fn subtract_delay(time: Timestamp) -> Timestamp {
    time.checked_sub(MAX_DELAY).unwrap_or(Timestamp::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PLATFORM: &str = "https://platform.example";

    const WINDOW: Window = Window { from: None, to: None };

    fn event(id: &str, time: &str) -> ApiValue<Event> {
        serde_json::from_value(json!({ "eventId": id, "eventTimestamp": time })).unwrap()
    }

    fn now() -> Timestamp {
        "2026-11-20T12:00:00Z".parse().unwrap()
    }

    #[test]
    fn next_run_begins_earlier_and_leaves_out_what_was_exported() {
        let first = [
            event("a", "2026-11-20T08:00:00Z"),
            event("b", "2026-11-20T09:00:00Z"),
        ];
        let cursor = Cursor::build_next_cursor(None, &first, PLATFORM, WINDOW, now()).unwrap();
        let window = cursor.build_window(None, now(), Path::new("c")).unwrap();
        assert_eq!(window.from.unwrap().to_string(), "2026-11-20T08:45:00Z");
        // The event that arrived late is new, the other one is not.
        let second = vec![
            event("late", "2026-11-20T08:50:00Z"),
            event("b", "2026-11-20T09:00:00Z"),
            event("c", "2026-11-20T09:05:00Z"),
        ];
        let news = cursor.select_new_events(second);
        assert_eq!(news.iter().map(event_key).collect::<Vec<_>>(), ["late", "c"]);
        let next = Cursor::build_next_cursor(Some(cursor), &news, PLATFORM, WINDOW, now()).unwrap();
        assert_eq!(next.through.to_string(), "2026-11-20T09:05:00Z");
        assert_eq!(
            next.seen.keys().map(String::as_str).collect::<Vec<_>>(),
            ["b", "c", "late"]
        );
        let later = Cursor::build_next_cursor(
            Some(next.clone()),
            &[event("d", "2026-11-20T09:19:00Z")],
            PLATFORM,
            WINDOW,
            now(),
        )
        .unwrap();
        assert_eq!(
            later.seen.keys().map(String::as_str).collect::<Vec<_>>(),
            ["c", "d"]
        );
        // Without new events the cursor does not move.
        assert_eq!(
            Cursor::build_next_cursor(Some(next.clone()), &[], PLATFORM, WINDOW, now()),
            Some(next)
        );
        assert_eq!(
            Cursor::build_next_cursor(None, &[], PLATFORM, WINDOW, now()),
            None
        );
    }

    #[test]
    fn event_in_future_does_not_move_cursor_but_is_remembered() {
        let events = [
            event("a", "2026-11-20T11:59:00Z"),
            event("future", "2030-01-01T00:00:00Z"),
        ];
        let cursor = Cursor::build_next_cursor(None, &events, PLATFORM, WINDOW, now()).unwrap();
        assert_eq!(cursor.through.to_string(), "2026-11-20T11:59:00Z");
        assert_eq!(cursor.select_new_events(events.to_vec()), []);
        let cursor = Cursor::build_next_cursor(None, &events[1..], PLATFORM, WINDOW, now()).unwrap();
        assert_eq!(cursor.through, now());
        // The platform's clock may be a little ahead.
        let events = [event("a", "2026-11-20T12:10:00Z")];
        let cursor = Cursor::build_next_cursor(None, &events, PLATFORM, WINDOW, now()).unwrap();
        assert_eq!(cursor.through.to_string(), "2026-11-20T12:10:00Z");
    }

    #[test]
    fn cursor_before_window_reports_lost_events() {
        let cursor = Cursor::build_next_cursor(
            None,
            &[event("a", "2026-06-01T00:00:00Z")],
            PLATFORM,
            WINDOW,
            now(),
        )
        .unwrap();
        // The export itself was long ago, too.
        let later = now() + SignedDuration::from_hours(91 * 24);
        let error = cursor.build_window(None, later, Path::new("c.json")).unwrap_err();
        insta::assert_snapshot!(error, @"the cursor c.json is too old, so later events are lost: the platform keeps events for 90 days: 2026-11-20T12:00:00Z is before the earliest time, 2026-11-21T12:00:00Z");
    }

    #[test]
    fn cursor_without_new_events_is_not_too_old() {
        let quiet_start = "2026-08-23T00:00:00Z";
        let mut cursor =
            Cursor::build_next_cursor(None, &[event("a", quiet_start)], PLATFORM, WINDOW, now()).unwrap();
        let later = now() + SignedDuration::from_hours(24 * 24);
        for _ in 0..10 {
            cursor = Cursor::build_next_cursor(Some(cursor), &[], PLATFORM, WINDOW, later).unwrap();
        }
        assert_eq!(cursor.through.to_string(), quiet_start);
        assert!(cursor.build_window(None, later, Path::new("c")).is_ok());
        // Only what was read is known: an export with an earlier end has read less.
        let to = Some(quiet_start.parse().unwrap());
        let window = Window { from: None, to };
        let cursor =
            Cursor::build_next_cursor(None, &[event("a", quiet_start)], PLATFORM, window, now()).unwrap();
        assert!(cursor.build_window(None, later, Path::new("c")).is_err());
        // A cursor of an older version does not contain this time.
        let old = r#"{ "schema": "sluicegate.cursor/v1", "through": "2026-08-23T00:00:00Z", "seen": {} }"#;
        let cursor = Cursor::parse(old.as_bytes(), Path::new("c"), PLATFORM).unwrap();
        assert!(cursor.build_window(None, now(), Path::new("c")).is_ok());
        assert!(cursor.build_window(None, later, Path::new("c")).is_err());
    }

    #[test]
    fn read_time_of_wrong_clock_does_not_hide_lost_events() {
        let first = [event("a", "2026-11-20T08:00:00Z")];
        let in_future = now() + SignedDuration::from_hours(1000 * 24);
        let cursor = Cursor::build_next_cursor(None, &first, PLATFORM, WINDOW, in_future).unwrap();
        let next = Cursor::build_next_cursor(Some(cursor.clone()), &[], PLATFORM, WINDOW, now()).unwrap();
        assert_eq!(next.read, Some(now()));
        let later = now() + SignedDuration::from_hours(91 * 24);
        assert!(cursor.build_window(None, later, Path::new("c")).is_err());
        assert!(next.build_window(None, later, Path::new("c")).is_err());
        // The clocks of two runners may differ a little.
        let fast_clock = later + SignedDuration::from_mins(5);
        let cursor = Cursor::build_next_cursor(None, &first, PLATFORM, WINDOW, fast_clock).unwrap();
        assert!(cursor.build_window(None, later, Path::new("c")).is_ok());
        let next = Cursor::build_next_cursor(Some(cursor), &[], PLATFORM, WINDOW, later).unwrap();
        assert_eq!(next.read, Some(later));
    }

    #[test]
    fn cursor_is_read_as_it_was_written() {
        let path = Path::new("c.json");
        let cursor = Cursor::build_next_cursor(
            None,
            &[event("a", "2026-11-20T08:00:00Z")],
            PLATFORM,
            WINDOW,
            now(),
        )
        .unwrap();
        assert_eq!(
            Cursor::parse(cursor.render().as_bytes(), path, PLATFORM).unwrap(),
            cursor
        );
        for text in [
            "{}",
            "",
            r#"{ "schema": "other", "through": "2026-11-20T08:00:00Z", "seen": {} }"#,
        ] {
            assert!(Cursor::parse(text.as_bytes(), path, PLATFORM).is_err(), "{text}");
        }
    }
}
