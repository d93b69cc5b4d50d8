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
use crate::api::{Answer, Event, EventPage, Platform};
use crate::http::HttpError;
use jiff::Timestamp;
use std::collections::HashMap;

/// Maximum number of events of an export; they are sorted in memory.
const MOST_EVENTS: usize = 200_000;

/// Maximum number of times that all pages are read.
const MOST_PASSES: usize = 8;

/// Maximum number of pages in a row without a new event: fewer events than that arrive while one page is read.
const MOST_STALE: usize = 3;

/// Returns the events of the window in chronological order.
pub async fn collect(platform: &Platform, mut window: Window) -> Result<Vec<Answer<Event>>, HttpError> {
    let mut found = Collected::default();
    let mut short = String::new();
    for _ in 0..MOST_PASSES {
        let before = found.events.len();
        let pass = pass(platform, window, &mut found).await?;
        let nothing_new = found.events.len() == before;
        let whole = match pass.total {
            Some(total) => pass.distinct >= total,
            None => pass.pages == 1 || nothing_new,
        };
        if whole && (pass.pages == 1 || head(platform, window).await? == pass.head) {
            return Ok(found.sorted());
        }
        if let Some(total) = pass.total.filter(|_| !whole) {
            short = format!(
                "; it announces {total} events, and its pages contain {}",
                pass.distinct
            );
        }
        window.to = window.to.or(found.newest());
    }
    Err(HttpError::bad_answer(format!(
        "the list of events keeps changing: it was read {MOST_PASSES} times, and each time events moved between \
         its pages{short}"
    ))
    .with_hint("request a shorter period with --from and --to"))
}

/// The events so far, by id.
#[derive(Default)]
struct Collected {
    events: HashMap<String, Answer<Event>>,
    /// The last pass that saw each event, and the event's position in it, counted from the oldest.
    places: HashMap<String, (usize, usize)>,
    passes: usize,
}

/// The result of reading all pages once.
#[derive(Default)]
struct Pass {
    pages: usize,
    /// Number of different events.
    distinct: usize,
    /// The largest total that a page announced.
    total: Option<usize>,
    /// The first event of the first page.
    head: Option<String>,
}

async fn pass(platform: &Platform, window: Window, found: &mut Collected) -> Result<Pass, HttpError> {
    let asked = window.asked();
    let mut pass = Pass::default();
    let (mut ids, mut read, mut stale) = (HashMap::new(), 0, 0);
    let (mut first, mut latest) = (None, None);
    loop {
        let page = platform.events(&asked, pass.pages).await?;
        if pass.pages == 0 {
            pass.head = page.events.first().map(key);
        }
        pass.pages += 1;
        read += page.events.len();
        pass.total = pass.total.max(page.total);
        let last = is_last(&page, read);
        for event in page.events {
            let key = key(&event);
            latest = time(&event).or(latest);
            first = first.or(latest);
            found.events.entry(key.clone()).or_insert(event);
            let place = ids.len();
            ids.entry(key).or_insert(place);
        }
        stale = if ids.len() > pass.distinct { 0 } else { stale + 1 };
        pass.distinct = ids.len();
        if last {
            found.place(ids, first > latest);
            return Ok(pass);
        }
        if stale == MOST_STALE {
            return Err(HttpError::bad_answer(format!(
                "the list of events has no end: {MOST_STALE} pages in a row, up to page {}, repeat earlier events",
                pass.pages - 1
            )));
        }
        if found.events.len() > MOST_EVENTS {
            return Err(
                HttpError::bad_answer(format!("there are more than {MOST_EVENTS} events"))
                    .with_hint("export them in parts, with --from and --to"),
            );
        }
    }
}

fn is_last(page: &EventPage, read: usize) -> bool {
    let full = page.size.unwrap_or(crate::api::EVENT_PAGE);
    page.events.is_empty()
        || match page.total {
            Some(total) => read >= total,
            None => page.events.len() < full,
        }
}

async fn head(platform: &Platform, window: Window) -> Result<Option<String>, HttpError> {
    Ok(platform.events(&window.asked(), 0).await?.events.first().map(key))
}

/// Returns the id of an event, or its complete JSON if it has no id.
pub(super) fn key(event: &Answer<Event>) -> String {
    event.event_id.clone().unwrap_or_else(|| event.raw.to_string())
}

/// Returns the time of an event, if it has a valid one.
pub(super) fn time(event: &Answer<Event>) -> Option<Timestamp> {
    event.event_timestamp.as_deref()?.parse().ok()
}

impl Collected {
    fn newest(&self) -> Option<Timestamp> {
        self.events.values().filter_map(time).max()
    }

    /// Adopts the order of a pass. Events that only an earlier pass had have expired since, so they are older.
    fn place(&mut self, ids: HashMap<String, usize>, newest_first: bool) {
        self.passes += 1;
        let turned = |place| if newest_first { usize::MAX - place } else { place };
        let placed = ids
            .into_iter()
            .map(|(id, place)| (id, (self.passes, turned(place))));
        self.places.extend(placed);
    }

    fn sorted(self) -> Vec<Answer<Event>> {
        let mut events: Vec<_> = self
            .events
            .into_iter()
            .map(|(key, event)| ((time(&event), self.places.get(&key).copied()), event))
            .collect();
        events.sort_by_key(|(order, _)| *order);
        events.into_iter().map(|(_, event)| event).collect()
    }
}
