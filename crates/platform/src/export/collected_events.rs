//! Reads every event of a window, each once.
//!
//! Pages are counted from one end of a list that changes at both: new events are added, old ones expire. Events that
//! move towards the next page are only read twice, and their id reveals that. Events that move away from it are
//! skipped, and that can be detected: fewer events than the platform counts, or another event at the head of the list.
//! Then everything is read again, up to the newest event seen so far, so that new events no longer move the pages.
//!
//! Events of the same time keep the order of the list, reversed if it lists the newest first. The timestamps show its
//! direction; a list whose events all have the same time keeps its order.

use super::Window;
use crate::api::{ApiValue, EVENT_PAGE_SIZE, Event, EventPage, Platform, parse_platform_time};
use crate::http::HttpError;
use jiff::{SignedDuration, Timestamp};
use std::collections::HashMap;

/// Maximum number of events of an export; they are sorted in memory.
const MAX_EVENTS: usize = 200_000;

/// Maximum number of times that all pages are read.
const MAX_PASSES: usize = 8;

/// Maximum difference between the platform's clock and the local clock.
pub(super) const MAX_CLOCK_DIFFERENCE: SignedDuration = SignedDuration::from_mins(15);

/// Maximum number of pages in a row without a new event: fewer events than that arrive while one page is read.
const MAX_STALE_PAGES: usize = 3;

/// Returns the events of the window in chronological order. Events may move between pages while the list grows, so the
/// list is read again until a pass is complete and the list still begins with the same event. Later passes end at the
/// newest known event, so that new events no longer move the pages.
pub async fn collect_events(
    platform: &Platform,
    mut window: Window,
    now: Timestamp,
) -> Result<Vec<ApiValue<Event>>, HttpError> {
    let mut collected_events = CollectedEvents::default();
    let mut incompleteness_note = String::new();
    let mut page_size = Some(EVENT_PAGE_SIZE);
    for _ in 0..MAX_PASSES {
        let earlier_count = collected_events.events.len();
        let pass = read_pages(platform, window, page_size, &mut collected_events).await?;
        page_size = pass.page_size;
        let has_new_events = collected_events.events.len() > earlier_count;
        let is_complete = pass.is_complete(has_new_events);
        // One page shows the list at one moment. Several pages are reliable only if the list still begins with the
        // same event.
        if is_complete
            && (pass.page_count == 1
                || fetch_first_event_key(platform, window, page_size).await? == pass.first_event_key)
        {
            return Ok(collected_events.into_sorted());
        }
        if let Some(total) = pass.total.filter(|_| !is_complete) {
            incompleteness_note = format!(
                "; the list announces {total} events, but its pages contain {}",
                pass.distinct_count
            );
        }
        window.to = window.to.or(newest_time(collected_events.events.values(), now));
    }
    Err(HttpError::bad_response(format!(
        "the list of events keeps changing: it was read {MAX_PASSES} times, and each time events moved between \
         its pages{incompleteness_note}"
    ))
    .with_hint("request a shorter period with --from and --to"))
}

/// The events so far, by id.
#[derive(Default)]
struct CollectedEvents {
    events: HashMap<String, ApiValue<Event>>,
    /// The last pass that saw each event, and the event's position in it, counted from the oldest.
    positions: HashMap<String, (usize, usize)>,
    pass_count: usize,
}

/// The result of reading all pages once.
#[derive(Default)]
struct Pass {
    page_count: usize,
    /// The page size that is requested; `None` if the platform rejected it.
    page_size: Option<usize>,
    /// Number of different events.
    distinct_count: usize,
    /// The largest total that a page announced.
    total: Option<usize>,
    /// Key of the first event on the first page.
    first_event_key: Option<String>,
}

impl Pass {
    /// Returns whether the pages contain as many events as they announce. If they announce no total, several pages are
    /// complete only if the pass found no event that earlier passes had missed.
    const fn is_complete(&self, has_new_events: bool) -> bool {
        match self.total {
            Some(total) => self.distinct_count >= total,
            None => self.page_count == 1 || !has_new_events,
        }
    }
}

/// Reads all pages of the window once and adds their events and positions to `collected_events`. Fails if the list is
/// too long or seems to have no end, see [`check_list_limits`].
async fn read_pages(
    platform: &Platform,
    window: Window,
    page_size: Option<usize>,
    collected_events: &mut CollectedEvents,
) -> Result<Pass, HttpError> {
    let event_window = window.to_event_window();
    let mut pass = Pass {
        page_size,
        ..Pass::default()
    };
    // The position of each event in this pass, in the order of the list.
    let mut positions = HashMap::new();
    let (mut read_count, mut stale_page_count) = (0, 0);
    // The times of the first and the last event that has a valid time.
    let (mut first_time, mut last_time) = (None, None);
    loop {
        let page = platform
            .fetch_event_page(&event_window, pass.page_count, pass.page_size)
            .await?;
        pass.page_size = page.requested_size;
        if pass.page_count == 0 {
            pass.first_event_key = page.events.first().map(event_key);
        }
        pass.page_count += 1;
        read_count += page.events.len();
        reject_small_total(&page, read_count)?;
        pass.total = pass.total.max(page.total);
        let ends_list = is_last_page(&page, read_count);
        // If the platform uses its own page size, nothing shows whether the page is short.
        let is_short = pass.page_size.is_some_and(|size| page.events.len() < size);
        for event in page.events {
            let key = event_key(&event);
            last_time = event_time(&event).or(last_time);
            first_time = first_time.or(last_time);
            collected_events.events.entry(key.clone()).or_insert(event);
            let position = positions.len();
            positions.entry(key).or_insert(position);
        }
        // A page is stale if earlier pages of this pass had all of its events.
        stale_page_count = if positions.len() > pass.distinct_count {
            0
        } else {
            stale_page_count + 1
        };
        pass.distinct_count = positions.len();
        // An endpoint without paging returns its complete list each time.
        let repeats_short_list = page.total.is_none() && is_short && stale_page_count > 0;
        if ends_list || repeats_short_list {
            // Only the times show the direction of the list.
            let is_newest_first = first_time > last_time;
            collected_events.record_positions(positions, is_newest_first);
            return Ok(pass);
        }
        check_list_limits(stale_page_count, pass.page_count, collected_events.events.len())?;
    }
}

/// Fails if [`MAX_STALE_PAGES`] pages in a row contain no new event, because such a list may have no end, or if there
/// are more than [`MAX_EVENTS`] events. `page_count` is the number of pages read so far; pages are counted from 0.
fn check_list_limits(
    stale_page_count: usize,
    page_count: usize,
    event_count: usize,
) -> Result<(), HttpError> {
    if stale_page_count == MAX_STALE_PAGES {
        return Err(HttpError::bad_response(format!(
            "the list of events has no end: {MAX_STALE_PAGES} pages in a row, up to page {}, repeat earlier events",
            page_count - 1
        )));
    }
    if event_count > MAX_EVENTS {
        return Err(
            HttpError::bad_response(format!("there are more than {MAX_EVENTS} events"))
                .with_hint("export the events in parts, with --from and --to"),
        );
    }
    Ok(())
}

/// Fails if a page with events announces fewer events than were read up to its end: with such a total, the export would
/// end too early. Events that expire meanwhile do not cause this, because the list still fills the pages before this
/// one.
fn reject_small_total(page: &EventPage, read_count: usize) -> Result<(), HttpError> {
    match page.total {
        Some(total) if !page.events.is_empty() && total < read_count => {
            Err(HttpError::bad_response(format!(
                "the list of events announces {total} events, but its pages contain at least {read_count}"
            )))
        }
        _ => Ok(()),
    }
}

/// Returns whether this is the last page: it is empty, all events of the total are read or, without a total, it is
/// smaller than the page size in the response. The platform may send smaller pages than requested.
fn is_last_page(page: &EventPage, read_count: usize) -> bool {
    if page.events.is_empty() {
        return true;
    }
    match (page.total, page.size) {
        (Some(total), _) => read_count >= total,
        (None, Some(size)) => page.events.len() < size,
        (None, None) => false,
    }
}

/// Requests the list again and returns the key of its first event, which shows whether events were added meanwhile.
async fn fetch_first_event_key(
    platform: &Platform,
    window: Window,
    page_size: Option<usize>,
) -> Result<Option<String>, HttpError> {
    let first_page = 0;
    Ok(platform
        .fetch_event_page(&window.to_event_window(), first_page, page_size)
        .await?
        .events
        .first()
        .map(event_key))
}

/// Returns the key by which an event is recognized: its id or, without an id, its complete JSON.
pub(super) fn event_key(event: &ApiValue<Event>) -> String {
    event.event_id.clone().unwrap_or_else(|| event.raw.to_string())
}

/// Returns the time of an event, if it has a valid one.
pub(super) fn event_time(event: &ApiValue<Event>) -> Option<Timestamp> {
    parse_platform_time(event.event_timestamp.as_deref()?)
}

/// Returns the latest time of these events; `None` if no event has a valid time. A time in the future is wrong, so it
/// is ignored: later events have earlier times.
pub(super) fn newest_time<'e>(
    events: impl IntoIterator<Item = &'e ApiValue<Event>>,
    now: Timestamp,
) -> Option<Timestamp> {
    events
        .into_iter()
        .filter(|event| !is_in_future(event, now))
        .filter_map(event_time)
        .max()
}

/// Returns whether the time of an event is in the future, even if the clocks of both sides differ a little.
pub fn is_in_future(event: &ApiValue<Event>, now: Timestamp) -> bool {
    event_time(event).is_some_and(|time| time.duration_since(now) > MAX_CLOCK_DIFFERENCE)
}

impl CollectedEvents {
    /// Records each event's position in the latest pass; a newer event gets a larger position. Events that only an
    /// earlier pass contained keep their positions and come first: they have expired since, so they are older.
    fn record_positions(&mut self, positions: HashMap<String, usize>, is_newest_first: bool) {
        self.pass_count += 1;
        for (key, position) in positions {
            let position = if is_newest_first {
                usize::MAX - position
            } else {
                position
            };
            self.positions.insert(key, (self.pass_count, position));
        }
    }

    /// Returns the events sorted by time; events without a valid time come first. Events with the same time, or without
    /// one, keep the order of the list, reversed if it lists the newest first.
    fn into_sorted(self) -> Vec<ApiValue<Event>> {
        let mut events: Vec<_> = self
            .events
            .into_iter()
            .map(|(key, event)| ((event_time(&event), self.positions.get(&key).copied()), event))
            .collect();
        events.sort_by_key(|(order, _)| *order);
        events.into_iter().map(|(_, event)| event).collect()
    }
}
