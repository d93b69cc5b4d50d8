//! A task's history, read on from where it was left.

use crate::api::Platform;
use crate::http::HttpError;
use serde_json::Value;
use std::collections::HashSet;

/// The most pages that are read at once: each token must lead on.
const MOST_PAGES: usize = 10_000;

/// Knows what of a history was read. At the end there is no token to go on with, so the last page is read again and
/// what was there already is left out.
#[derive(Debug, Clone)]
pub struct Reader {
    limit: usize,
    token: Option<String>,
    seen: usize,
    followed: HashSet<String>,
}

impl Reader {
    /// Reads pages of at most `limit` events, from the beginning.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            token: None,
            seen: 0,
            followed: HashSet::new(),
        }
    }

    /// The events since the last call, to the end of what is there now.
    pub async fn rest(&mut self, platform: &Platform, task: &str) -> Result<Vec<Value>, HttpError> {
        let mut events = Vec::new();
        for _ in 0..MOST_PAGES {
            let page = platform
                .task_messages(task, self.limit, self.token.as_deref())
                .await?
                .value;
            let count = page.results.len();
            events.extend(page.results.into_iter().skip(self.seen));
            match page.more.filter(|token| !token.is_empty()) {
                Some(token) if Some(&token) != self.token.as_ref() => {
                    if !self.followed.insert(token.clone()) {
                        break;
                    }
                    self.token = Some(token);
                    self.seen = 0;
                }
                _ => {
                    self.seen = count.max(self.seen);
                    return Ok(events);
                }
            }
        }
        Err(HttpError::bad_answer(format!(
            "the history of the task {task} has no end: its pages lead round in a circle"
        )))
    }
}
