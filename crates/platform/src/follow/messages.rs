//! Reads a task's history and continues at the last position.

use crate::api::Platform;
use crate::http::HttpError;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Maximum number of pages that are read in a row; each token must lead to a new page.
const MAX_PAGES: usize = 10_000;

/// Tracks the position in a history. The last page has no token to continue with, so it is read again and its known
/// events are skipped.
#[derive(Debug, Clone)]
pub struct MessageReader {
    limit: usize,
    page_token: Option<String>,
    seen_count: usize,
    page_count: usize,
    followed_tokens: HashSet<String>,
    /// The fields of the first page without its events and its token; `None` before that page.
    envelope: Option<Map<String, Value>>,
}

impl MessageReader {
    /// Creates a reader that starts at the first event and requests pages of at most `limit` events.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            page_token: None,
            seen_count: 0,
            page_count: 0,
            followed_tokens: HashSet::new(),
            envelope: None,
        }
    }

    /// Returns the other fields of the first page, or an empty map before that page.
    pub fn envelope(&self) -> Map<String, Value> {
        self.envelope.clone().unwrap_or_default()
    }

    /// Requests the next page of the history. Returns its new events, and whether a further page is available now. If
    /// no page follows, the next call requests the same page again and skips the events that were already returned.
    /// Fails if the pages form a circle, or if there are more than `MAX_PAGES`.
    pub async fn fetch_next_events(
        &mut self,
        platform: &Platform,
        task: &str,
    ) -> Result<(Vec<Value>, bool), HttpError> {
        let page = platform
            .fetch_task_messages(task, self.limit, self.page_token.as_deref())
            .await?;
        if self.envelope.is_none() {
            let mut fields = page.raw.as_object().cloned().unwrap_or_default();
            fields.retain(|key, _| !["results", "more"].contains(&key.as_str()));
            self.envelope = Some(fields);
        }
        let page = page.value;
        let count = page.results.len();
        let events = page.results.into_iter().skip(self.seen_count).collect();
        let Some(page_token) = page.more.filter(|token| !token.is_empty()) else {
            self.seen_count = count.max(self.seen_count);
            self.page_count = 0;
            return Ok((events, false));
        };
        self.follow_token(page_token, task)?;
        self.seen_count = 0;
        Ok((events, true))
    }

    /// Continues with the page of this token. Fails if an earlier page had the same token, or if there are more than
    /// `MAX_PAGES`.
    fn follow_token(&mut self, page_token: String, task: &str) -> Result<(), HttpError> {
        self.page_count += 1;
        if self.page_count > MAX_PAGES {
            let message = format!("the history of task {task} has more than {MAX_PAGES} pages");
            return Err(HttpError::bad_response(message).with_hint("read larger pages with a larger --limit"));
        }
        if !self.followed_tokens.insert(page_token.clone()) {
            return Err(HttpError::bad_response(format!(
                "the history of task {task} has no end: its pages link to each other in a circle"
            )));
        }
        self.page_token = Some(page_token);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_PAGES, MessageReader};

    #[test]
    fn long_history_is_not_called_a_circle() {
        let mut reader = MessageReader::new(1);
        for number in 0..MAX_PAGES {
            reader.follow_token(number.to_string(), "t").unwrap();
        }
        let error = reader.follow_token("next".to_owned(), "t").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the history of task t has more than 10000 pages"
        );
        let mut reader = MessageReader::new(1);
        reader.follow_token("a".to_owned(), "t").unwrap();
        let error = reader.follow_token("a".to_owned(), "t").unwrap_err();
        assert!(
            error.to_string().ends_with("link to each other in a circle"),
            "{error}"
        );
    }
}
