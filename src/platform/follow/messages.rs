//! A task's history, read on from where it was left.

use crate::platform::api::Platform;
use crate::platform::http::HttpError;
use serde_json::Value;
use std::collections::HashSet;

/// The most pages that are read at once: each token must lead on.
const MOST_PAGES: usize = 10_000;

/// Knows what of a history was read. At the end there is no token to go on with, so the last page is read again and
/// what was there already is left out.
#[derive(Debug, Clone)]
pub(crate) struct MessageReader {
    limit: usize,
    token: Option<String>,
    seen: usize,
    pages: usize,
    followed: HashSet<String>,
}

impl MessageReader {
    /// Reads pages of at most `limit` events, from the beginning.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            token: None,
            seen: 0,
            pages: 0,
            followed: HashSet::new(),
        }
    }

    /// The next events, and whether there are more now. A token that came before leads round in a circle.
    pub(crate) async fn next(
        &mut self,
        platform: &Platform,
        task: &str,
    ) -> Result<(Vec<Value>, bool), HttpError> {
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
                "the history of the task {task} has no end: its pages lead round in a circle"
            )));
        }
        self.token = Some(token);
        self.seen = 0;
        Ok((events, true))
    }
}
