//! Reads a task's history and continues at the last position.

use crate::api::Platform;
use crate::http::HttpError;
use serde_json::Value;
use std::collections::HashSet;

/// Maximum number of pages that are read in a row; each token must lead to a new page.
const MOST_PAGES: usize = 10_000;

/// Tracks the position in a history. The last page has no token to continue with, so it is read again and its known
/// events are skipped.
#[derive(Debug, Clone)]
pub struct MessageReader {
    limit: usize,
    token: Option<String>,
    seen: usize,
    pages: usize,
    followed: HashSet<String>,
}

impl MessageReader {
    /// Creates a reader that starts at the beginning and reads pages of at most `limit` events.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            token: None,
            seen: 0,
            pages: 0,
            followed: HashSet::new(),
        }
    }

    /// Returns the next events, and whether more are available now. Fails if a token repeats, as the pages form a
    /// circle.
    pub async fn next(&mut self, platform: &Platform, task: &str) -> Result<(Vec<Value>, bool), HttpError> {
        let page = platform.task_messages(task, self.limit, self.token.as_deref());
        let page = page.await?.value;
        let count = page.results.len();
        let events = page.results.into_iter().skip(self.seen).collect();
        let more = page.more.filter(|token| !token.is_empty());
        let Some(token) = more else {
            self.seen = count.max(self.seen);
            self.pages = 0;
            return Ok((events, false));
        };
        self.pages += 1;
        if self.pages > MOST_PAGES || !self.followed.insert(token.clone()) {
            return Err(HttpError::bad_answer(format!(
                "the history of the task {task} has no end: its pages form a circle"
            )));
        }
        self.token = Some(token);
        self.seen = 0;
        Ok((events, true))
    }
}
