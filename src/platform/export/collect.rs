//! Every event of a window, each once.
//!
//! Pages are counted from one end of a list that changes at both: new events come in, old ones fall out. What moves
//! towards the page that is read next only comes twice, which is told by the event's id. What moves away from it is
//! skipped, and that shows: fewer events than the platform counts, or another event at the head of the list. Then
//! everything is read again, up to the newest event seen so far, so that new ones no longer move the pages.
//!
//! Events of the same time keep the order of the list, turned round where it has the newest first. Which end it begins
//! at is told by the times; a list whose events are all of one time is taken as it stands.

use super::Window;
use crate::platform::api::{Answer, Event, EventPage, Platform};
use crate::platform::http::HttpError;
use jiff::Timestamp;
use std::collections::HashMap;

/// The most events of one export; they are sorted in memory.
const MOST_EVENTS: usize = 200_000;

/// How often everything is read again.
const MOST_PASSES: usize = 8;

/// How many pages in a row may hold nothing new: so many events do not come in while one page is read.
const MOST_STALE: usize = 3;

/// The events of the window in the order of time.
pub(crate) async fn collect(
    platform: &Platform,
    mut window: Window,
) -> Result<Vec<Answer<Event>>, HttpError> {
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
            short = format!("; it tells {total} events, and its pages hold {}", pass.distinct);
        }
        window.to = window.to.or(found.newest());
    }
    Err(HttpError::bad_answer(format!(
        "the list of events did not hold still: it was read {MOST_PASSES} times, and each time events moved between \
         its pages{short}"
    ))
    .with_hint("ask for a shorter time with --from and --to"))
}

/// The events so far, by their ids.
#[derive(Default)]
struct Collected {
    events: HashMap<String, Answer<Event>>,
    /// Which pass saw each event last, and how many it had before it, counted from the oldest.
    places: HashMap<String, (usize, usize)>,
    passes: usize,
}

/// What one reading of all pages showed.
#[derive(Default)]
struct Pass {
    pages: usize,
    /// How many different events it had.
    distinct: usize,
    /// The largest number of events that a page told.
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
                "the list of events has no end: {MOST_STALE} pages in a row, up to page {}, repeat what was read before",
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
    let full = page.size.unwrap_or(crate::platform::api::EVENT_PAGE);
    page.events.is_empty()
        || match page.total {
            Some(total) => read >= total,
            None => page.events.len() < full,
        }
}

async fn head(platform: &Platform, window: Window) -> Result<Option<String>, HttpError> {
    Ok(platform.events(&window.asked(), 0).await?.events.first().map(key))
}

/// What an event is known by: its id, or all of it where it has none.
pub(super) fn key(event: &Answer<Event>) -> String {
    event.event_id.clone().unwrap_or_else(|| event.raw.to_string())
}

/// When an event happened, if it tells.
pub(super) fn time(event: &Answer<Event>) -> Option<Timestamp> {
    event.event_timestamp.as_deref()?.parse().ok()
}

impl Collected {
    fn newest(&self) -> Option<Timestamp> {
        self.events.values().filter_map(time).max()
    }

    /// Takes the order over from a pass. What an earlier one had besides fell out since, so it is older.
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
